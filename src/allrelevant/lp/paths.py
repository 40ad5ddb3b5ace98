"""The penalised problem ``min norm + C · loss`` by the interior-point method, for many penalties and programs at once.

It is the bound problem with the multipliers of the budgets given, ``ν = 1`` and ``λ = C``, so the pairs are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.backend import BATCH_BYTES, NumpyBackend, diagonal
from allrelevant.lp.lockstep import COARSE, QUIET, Lockstep, numbers_per_target
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.newton import PenaltySystem
from allrelevant.lp.program import Budget, Program, Slacks
from allrelevant.lp.rows import Batch, Rows, StackedRows, State
from allrelevant.lp.targets import Duals

__all__ = ["InteriorPaths", "problems_at_once"]

#: Stop when the complementarity of a target, and what its residuals cost, are below these shares of its objective, and
#: its multipliers exceed what the norm allows by no more than the last of them: that is what the proof goes by.
GAP, RESIDUAL, EXCESS = 1e-7, 1e-6, 1e-6
#: Products of pairs of columns pay up to this size: few targets share the rows of a fold.
PACKED_BYTES = 2**22
#: How much the problems of one path may take, at most.
PATH_BYTES = 2**27
#: With fewer rows the simplex method is faster.
LEAST_ROWS = 200
#: Share of the gap that rounding may cost in single precision.
LOST = 0.3
#: The start: how far beyond their right sides rows shall be, the share of its matrix that is added for the weights to
#: be small, and how far inside everything is, as a share of the mean and at least.
BEYOND, RIDGE, INSIDE, LEAST = 0.5, 1e-3, 0.25, 1e-3


class InteriorPaths(Lockstep):
    """Optima of the penalised problem for several `C` and several programs, such as those of folds, as one batch.

    Parameters
    ----------
    programs : sequence of Program
        Programs of as many weights, offsets and hard rows, with arrays of rows, no fewer than weights and offsets, each
        of which has a slack of its own.
    values : sequence of ndarray
        Values of `C` of every program.
    """

    def __init__(self, programs: Sequence[Program], values: Sequence[Array]) -> None:
        self.programs, self.values = programs, values
        self._C = np.concatenate(values)
        self._n_values = [len(some) for some in values]
        n = max(program.n_rows for program in programs)
        each: list[Rows] = []
        ends: list[int] = []
        padded = [_padded(program, n) for program in programs]
        for end, program in enumerate(padded, 1):
            if each and _same_left(each[-1].program, program):
                ends[-1] = end
                continue
            # No budget limits anything; its unit is that of objectives.
            each.append(Rows(program, Budget(1.0, 1.0), NumpyBackend(), packed_bytes=PACKED_BYTES))
            ends.append(end)

        def stacked(*parts: str) -> Array:
            return np.array([np.concatenate([getattr(program, part) for part in parts]) for program in padded])

        self._s, right = stacked("s"), stacked("r", "h")
        self._programs_rows = StackedRows(each, np.array(ends), right)
        ends_of_targets = np.append(0, np.cumsum(self._n_values))[ends]
        super().__init__(StackedRows(each, ends_of_targets, self._repeated(right)), PenaltySystem)
        self._batch = Batch(
            np.zeros((len(self._C), self._rows.d)),
            None,
            None,
            self._repeated(stacked("u", "v")),
            self._repeated(self._s),
        )

    def _repeated(self, parts: Array) -> Array:
        """What programs have, for every target."""
        return np.repeat(parts, self._n_values, axis=0)

    def solve(self) -> list[tuple[Array, Array, Duals]]:
        """Minimise; what did not converge shows in its gap, not here."""
        loss, batch = self._part[-2], self._batch
        with np.errstate(**QUIET):
            state = self._starts()
            self._approach(state, batch, self._near, 0.0)
            state.Z[:, loss] = self._C[:, None]  # not as single precision has it
            w, b, alpha, beta, _ = self._finish(self._rows, state, batch, self._solved, 0.0)
        out, start = [], 0
        for program, C in zip(self.programs, self.values, strict=True):
            own = slice(start, start := start + len(C))
            out.append((w[own], b[own], Duals(alpha[own, : program.n_rows], beta[own], C)))
        return out

    def _missing(self, rows: Rows, state: State, batch: Batch, gap: Array) -> tuple[Array, Array, Array]:
        """Gaps, and what residuals of the multipliers cost, as shares of the objectives; and the largest residuals."""
        wp, wm, xi, _, _, loss, _ = rows.parts
        P, Z, gamma = state.P, state.Z, rows.gamma
        norm = (P[:, wp] + P[:, wm]) @ gamma
        x = np.concatenate([P[:, wp] - P[:, wm], state.b], axis=1)
        spent = (batch.s * P[:, xi]).sum(axis=1) + (batch.linear * x).sum(axis=1) + rows.spent
        objective = norm + Z[:, loss][:, 0] * spent
        pull = (rows.adjoint(Z[:, rows.rows], None) - Z[:, loss] * batch.linear)[:, : rows.d]
        off = np.maximum(np.abs(gamma - pull - Z[:, wp]), np.abs(gamma + pull - Z[:, wm])) / gamma
        most = off.max(axis=1)
        return gap / objective, norm * most / objective, most

    def _near(self, rows: Rows, _: Indices, state: State, batch: Batch, gap: Array) -> NDArray[np.bool_]:
        """Whether single precision has done its part: with a large `C` it does not get far, and must not go on."""
        share, cost = self._missing(rows, state, batch, gap)[:2]
        return np.asarray((share <= COARSE) | (cost >= LOST * share))

    def _solved(self, rows: Rows, _: Indices, state: State, batch: Batch, gap: Array) -> NDArray[np.bool_]:
        share, cost, most = self._missing(rows, state, batch, gap)
        return np.asarray((share <= GAP) & (cost <= RESIDUAL) & (most <= EXCESS))

    def _starts(self) -> State:
        """Start of every target: near the least squares, with multipliers that the norm bears."""
        rows, s, gamma = self._programs_rows, self._s, self.programs[0].gamma
        wp, wm, xi, surplus, hard, loss, norm = self._part
        P, Z = np.ones((2, len(s), norm.stop))
        x = self._least_squares()
        beyond = rows.forward(x, None) - rows.right
        for plus, minus, values in ((wp, wm, x[:, : rows.d]), (surplus, xi, beyond[:, : rows.n])):
            inside = INSIDE * np.abs(values).mean(axis=1, keepdims=True) + LEAST
            P[:, plus], P[:, minus] = np.maximum(values, 0.0) + inside, np.maximum(-values, 0.0) + inside
        P[:, hard] = np.maximum(beyond[:, rows.n :], INSIDE)
        # Half of the weight of every slack, or as much as the norm bears.
        half = np.zeros((len(s), rows.n + rows.m))
        half[:, : rows.n] = 0.5 * s
        pull = rows.adjoint(half, None)[:, : rows.d]
        greatest = np.maximum(np.max(np.abs(pull) / gamma, axis=1), 1e-30)
        P, Z, s, pull, greatest = (self._repeated(part) for part in (P, Z, s, pull, greatest))
        C = self._C[:, None]
        bearable = np.minimum(C, 0.9 / greatest[:, None])
        Z[:, surplus] = 0.5 * bearable * s
        Z[:, xi] = C * s - Z[:, surplus]
        Z[:, wp], Z[:, wm] = gamma - bearable * pull, gamma + bearable * pull
        Z[:, loss], Z[:, norm] = C, 1.0
        return State(P, Z, self._repeated(x[:, rows.d :]), np.ones(len(C)))

    def _least_squares(self) -> Array:
        """Points ``(w, b)`` that bring all rows of a program to, or a little beyond, their right sides."""
        rows, backend = self._programs_rows, self.backend
        weights, goal = np.zeros((2, len(self._s), rows.n + rows.m))
        weights[:, : rows.n], goal[:, : rows.n] = self._s, rows.right[:, : rows.n] + BEYOND
        x: Array = rows.adjoint(weights * goal, None)
        for each, some in rows.places:
            matrix = each.gram(weights[some][:1])
            main = diagonal(matrix)
            main += RIDGE * main.mean() + LEAST
            x[some] = backend.solve(backend.factor(matrix), x[None, some])[0]
        return x


def problems_at_once(program: Program, least: int = 1) -> int:
    """How many penalised problems over the rows of a program, or half as many, make a batch; 0 if HiGHS is faster.

    At least as many as asked for, those of a path, unless even these would take too much memory.
    """
    rows, size = program.n_rows + program.n_hard, program.n_weights + program.n_offsets
    if program.is_sparse or program.slacks.shared or program.u.any() or program.v.any() or rows < LEAST_ROWS:
        return 0
    each = 8 * numbers_per_target(size, rows)
    return 0 if rows < 2 * size or least * each > PATH_BYTES else max(BATCH_BYTES // each, least)


def _same_left(one: Program, other: Program) -> bool:
    """Whether two programs differ at most in right sides, weights of the slacks and linear loss."""
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("B", "H", "A", "G"))


def _padded(program: Program, n: int) -> Program:
    """The program with more rows, which ask for nothing."""
    more = n - program.n_rows
    if not more:
        return program
    return replace(
        program,
        A=np.vstack([program.A, np.zeros((more, program.n_weights))]),
        B=np.vstack([program.B, np.zeros((more, program.n_offsets))]),
        r=np.append(program.r, np.full(more, -1.0)),
        s=np.append(program.s, np.ones(more)),
        slacks=Slacks(n, n),
    )

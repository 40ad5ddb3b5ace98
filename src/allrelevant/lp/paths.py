"""The penalised problem ``min norm + C · loss`` by the interior-point method, for many penalties and programs at once.

It is the bound problem with the multipliers of the budgets given, ``ν = 1`` and ``λ = C``, so the pairs are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.backend import BATCH_BYTES, NumpyBackend, diagonal
from allrelevant.lp.band import BAND, ROWS, SmoothPenaltySystem, band_width, few_pairs, rounding
from allrelevant.lp.iterates import Batch, State
from allrelevant.lp.lockstep import MANY, QUIET, Lockstep, numbers_per_target
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.nearest import Start
from allrelevant.lp.newton import PenaltySystem
from allrelevant.lp.program import Budget, Program, Slacks
from allrelevant.lp.rows import Rows, StackedRows
from allrelevant.lp.smooth import Smoothed
from allrelevant.lp.targets import Duals

__all__ = ["InteriorPaths", "problems_at_once"]

#: Stop when the complementarity of a target, and what its residuals cost, are below these shares of its objective, and
#: its multipliers exceed what the norm allows by no more than the last of them: that is what the proof goes by.
GAP, RESIDUAL, EXCESS = 1e-6, 1e-5, 1e-5
#: Products of pairs of columns pay up to this size: few targets share the rows of a fold.
PACKED_BYTES = 2**22
#: How much the problems of one path may take, at most.
PATH_BYTES = 2**27
#: With fewer rows the simplex method is faster.
LEAST_ROWS = 200
#: Share of the objective above which single precision will do, and share of the gap that rounding may cost there.
NEAR, LOST = 3e-2, 0.3
#: The start: how far beyond their right sides rows shall be, the share of its matrix that is added for the weights to
#: be small, and how far inside everything is, as a share of the mean and at least.
BEYOND, RIDGE, INSIDE, LEAST = 0.5, 1e-3, 0.25, 1e-3
#: What rounding off the hinges may add to the loss of the least squares, as a multiple of it, and how many times their
#: norm that loss may weigh, for a smooth problem to be near.
ROUNDED, HEAVY = 5.0, 100.0


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
        padded, self._places = _all_padded(programs, n)
        first = [k for k in range(len(padded)) if not k or not padded[k - 1].same_left(padded[k])]
        ends = np.array([*first[1:], len(padded)])

        def rows_of(k: int, mirrors: bool) -> Rows:
            # No budget limits anything; its unit is that of objectives.
            return Rows(padded[k], Budget(1.0, 1.0), NumpyBackend(), packed_bytes=PACKED_BYTES, mirrors=mirrors)

        each = [rows_of(k, mirrors=True) for k in first]
        if len({rows.mirrored for rows in each}) > 1:
            each = [rows_of(k, mirrors=False) for k in first]

        def stacked(*parts: str) -> Array:
            return np.array([np.concatenate([getattr(program, part) for part in parts]) for program in padded])

        self._s, right = stacked("s"), stacked("r", "h")
        self._programs_rows = StackedRows(each, ends, right)
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
        with np.errstate(**QUIET):
            start = self._approached()
            w, b, alpha, beta, _ = self._finish(self._rows, start, self._batch, self._solved, 0.0)
        out, end = [], 0
        for place, C in zip(self._places, self.values, strict=True):
            own = slice(end, end := end + len(C))
            out.append((w[own], b[own], Duals(alpha[own][:, place], beta[own], C)))
        return out

    def _missing(self, rows: Rows, state: State, batch: Batch, gap: Array) -> tuple[Array, Array, Array]:
        """Gaps, and what residuals of the multipliers cost, as shares of the objectives; and the largest residuals."""
        wp, wm, xi, _, _, loss, _ = rows.parts
        P, Z, gamma = state.P, state.Z, rows.gamma
        norm = (P[:, wp] + P[:, wm]) @ gamma
        spent = (batch.s * P[:, xi]).sum(axis=1) + (batch.linear * state.x(rows)).sum(axis=1) + rows.spent
        objective = norm + Z[:, loss][:, 0] * spent
        pull = (rows.adjoint(Z[:, rows.rows], None) - Z[:, loss] * batch.linear)[:, : rows.d]
        off = np.maximum(np.abs(gamma - pull - Z[:, wp]), np.abs(gamma + pull - Z[:, wm])) / gamma
        most = off.max(axis=1)
        return gap / objective, norm * most / objective, most

    def _near(self, rows: Rows, _: Indices, state: State, batch: Batch, gap: Array) -> NDArray[np.bool_]:
        """Whether single precision has done its part: with a large `C` it does not get far, and must not go on."""
        share, cost = self._missing(rows, state, batch, gap)[:2]
        return np.asarray((share <= NEAR) | (cost >= LOST * share))

    def _solved(self, rows: Rows, _: Indices, state: State, batch: Batch, gap: Array) -> NDArray[np.bool_]:
        share, cost, most = self._missing(rows, state, batch, gap)
        return np.asarray((share <= GAP) & (cost <= RESIDUAL) & (most <= EXCESS))

    def _approached(self) -> Start:
        """Start near the optima: by way of smooth problems where these are near, elsewhere by single precision."""
        rows, batch, coarse = self._rows, self._batch, self._coarse
        x = self._least_squares()
        beyond = self._programs_rows.forward(x, None) - self._programs_rows.right
        arrived = np.zeros(len(self._C), dtype=bool)
        smooth = np.flatnonzero(self._is_smooth(x, beyond))
        if len(smooth) >= MANY:
            at = Smoothed.penalised(coarse, self._repeated(x), self._repeated(beyond), self._C)
            some = at.take(smooth)
            few = batch.take(smooth).on(coarse.backend)
            arrived[smooth] = some.follow(coarse.take(smooth), few, SmoothPenaltySystem)
            at.put(smooth, some)
            at = at.on(self.backend)
            at.Z[:, few_pairs(rows).parts[-2]] = self._C[:, None]  # not as single precision has it
            if arrived.all():
                return at
        late = np.flatnonzero(~arrived)
        others = self._starts(x, beyond).take(late)
        self._approach(others, batch.take(late), self._near, 0.0, late)
        others.Z[:, self._part[-2]] = self._C[late, None]
        if not arrived.any():
            return others
        state = at.begin(rows, batch)
        state.put(late, others)
        return state

    def _is_smooth(self, x: Array, beyond: Array) -> NDArray[np.bool_]:
        """For which targets a smooth problem should be near: those that are left with a loss worth the name.

        That is known beforehand where rows have two sides: the loss of the least squares is nearly the least. With one
        side it is not, and a large penalty may leave nothing of it.
        """
        rows, s, margin = self._programs_rows, self._s, beyond[:, : self._rows.n]
        if not rows.mirrored or rows.n < ROWS * rows.twins * (rows.d + rows.p):
            return np.zeros(len(self._C), dtype=bool)
        loss = (s * np.maximum(-margin, 0.0)).sum(axis=1)
        norm = np.abs(x[:, : rows.d]) @ rows.gamma
        cost = rounding(margin, band_width(margin, rows, BAND)[:, None], s)
        heaviest = np.where(cost <= ROUNDED * loss, HEAVY * norm / loss, 0.0)
        return np.asarray(self._repeated(heaviest) >= self._C)

    def _starts(self, x: Array, beyond: Array) -> State:
        """Start of every target: near the least squares, with multipliers that the norm bears."""
        rows, s, gamma = self._programs_rows, self._s, self.programs[0].gamma
        wp, wm, xi, surplus, hard, loss, norm = self._part
        P, Z = np.ones((2, len(s), norm.stop))
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


def _all_padded(programs: Sequence[Program], n: int) -> tuple[list[Program], list[Any]]:
    """Programs with more rows, as :func:`_padded` has them; those that differ in right sides only share the others."""
    padded: list[Program] = []
    places: list[Any] = []
    for k, program in enumerate(programs):
        if k and program.restates(programs[k - 1]):
            right = np.full(n, -1.0)
            right[places[-1]] = program.r
            padded.append(replace(padded[-1], r=right))
            places.append(places[-1])
        else:
            one, place = _padded(program, n)
            padded.append(one)
            places.append(place)
    return padded, places


def _padded(program: Program, n: int) -> tuple[Program, Any]:
    """The program with more rows, which ask for nothing, and the places of its own; halves of mirror images stay so."""
    have = program.n_rows
    if have == n:
        return program, slice(None)
    half, odd = divmod(have, 2)
    mirrors = not (odd or n % 2) and all(np.array_equal(left[half:], -left[:half]) for left in (program.A, program.B))
    halves = 2 if mirrors else 1
    place = np.concatenate([np.arange(have // halves) + k * (n // halves) for k in range(halves)])

    def filled(values: Array, rest: float) -> Array:
        out = np.full((n, *values.shape[1:]), rest)
        out[place] = values
        return out

    A, B, r, s = filled(program.A, 0.0), filled(program.B, 0.0), filled(program.r, -1.0), filled(program.s, 1.0)
    return replace(program, A=A, B=B, r=r, s=s, slacks=Slacks(n, n)), place

"""Very many rows: a sample of them shows where an optimum is, and the rows near their margin there decide it.

A row that is far from its margin at the optimum of a target could as well be dropped or be linear for this target.
Which ones these are is not known before, but an optimum over a sample of the rows is close enough to tell for a larger
sample, and that for a still larger one, up to all. So every target gets a small program of its own, and its certificate
on all rows is the test. What is not proven is repeated with more rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product

import numpy as np

from allrelevant.errors import SolverError
from allrelevant.lp.certificate import certify
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.interior import InteriorBounds
from allrelevant.lp.matrix import MANY_ROWS, Array, Indices
from allrelevant.lp.penalised import HighsPenalised
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.reduction import nearest_rows
from allrelevant.lp.targets import Columns, Duals, Targets

__all__ = ["TallBounds", "is_tall", "tall_penalised"]

#: Rows of the smallest sample, at least; every larger one has so many times as many.
SAMPLE = 10_000
GROWTH = 8
#: Rows that a target keeps; more where they turn out to be too few.
KEPT = 20_000, 60_000, 180_000
#: Share of the norm budget that a proof on the rows kept may leave open, and share of the objective that rows may have
#: as loss that were taken to have none or to be linear.
PROVEN = 5e-7
MISSED = 1e-8
UNLIMITED = Budget(np.inf, np.inf)


def is_tall(program: Program) -> bool:
    """Whether the rows are better looked at target by target; not where they share slacks."""
    return program.n_rows > MANY_ROWS and program.n_weights > 0 and not program.slacks.shared


def _samples(program: Program) -> list[tuple[Program, Indices]]:
    """Larger and larger samples of the rows, evenly spaced, with the weight of all; one at least, but not all rows."""
    n = program.n_rows
    out: list[tuple[Program, Indices]] = []
    step = min(GROWTH, n // SAMPLE)
    while n // step >= SAMPLE:
        chosen = np.arange(0, n, step)
        slacks, _ = program.slacks.take(chosen)
        s = program.s[chosen] * (program.s.sum() / program.s[chosen].sum())
        rows = {"A": program.A[chosen], "B": program.B[chosen], "r": program.r[chosen]}
        out.append((replace(program, **rows, s=s, slacks=slacks), chosen))
        step *= GROWTH
    return out[::-1]


class TallBounds:
    """Bounds of weights over the budget, by programs of the targets' own.

    Parameters
    ----------
    program, budget : Program, Budget
        What to solve.
    start : tuple of ndarray
        A point ``(w, b)`` within the budget.
    """

    def __init__(self, program: Program, budget: Budget, start: tuple[Array, Array]) -> None:
        self.program, self.budget, self._start = program, budget, start
        self._loss = float(program.loss(*start))
        self._samples = [(part, self._budget(part), chosen) for part, chosen in _samples(program)]

    def _budget(self, sample: Program) -> Budget:
        """The sample's loss differs; the room that the start has left shall not."""
        return self.budget.less_loss(self._loss - float(sample.loss(*self._start)))

    @cached_property
    def _first(self) -> InteriorBounds:
        sample, budget, _ = self._samples[0]
        return InteriorBounds(sample, budget, self._start)

    def solve(self, targets: Targets) -> tuple[Array, Array, Duals]:
        """Maximise every target over the rows near their margin at its optimum over a sample."""
        program, t = self.program, len(targets)
        w, b = self._guess(targets)
        alpha, beta, lam = np.zeros((t, program.n_rows)), np.zeros((t, program.n_hard)), np.zeros(t)
        for k in range(t):
            if time_is_up():
                break
            one = targets.take(np.array([k]))
            guess = w[[k]], b[[k]]
            for kept, again in product(KEPT, (False, True)):
                point = (w[[k]], b[[k]]) if again else guess
                (w[[k]], b[[k]], duals), solved = self._near(program, self.budget, one, point, kept)
                alpha[k], beta[k], lam[k] = duals.alpha[0], duals.beta[0], duals.lam[0]
                del duals
                # The certificate on all rows would tell as well, but at a higher price.
                room = self.budget.room(program.norm(w[k]), program.loss(w[[k]], b[[k]], one.columns)[0])
                if solved and room >= -MISSED * (program.norm(w[k]) + self._loss):
                    break
        return w, b, Duals(alpha, beta, lam)

    def _guess(self, targets: Targets) -> tuple[Array, Array]:
        """Points near the optima, from the samples."""
        w, b = (np.repeat(part[None], len(targets), axis=0) for part in self._start)
        for number, (sample, budget, chosen) in enumerate(self._samples):
            part, columns = targets, targets.columns
            if columns is not None:
                part = replace(targets, columns=Columns(columns.A[:, :, chosen], columns.G, columns.u))
            if number == 0:
                w, b, _ = self._first.solve(part)
                continue
            for k in range(len(targets)):
                if time_is_up():
                    break
                one = part.take(np.array([k]))
                (w[[k]], b[[k]], _), _ = self._near(sample, budget, one, (w[[k]], b[[k]]), KEPT[0])
        return w, b

    def _near(
        self, program: Program, budget: Budget, target: Targets, point: tuple[Array, Array], kept: int
    ) -> tuple[tuple[Array, Array, Duals], bool]:
        """Maximise one target over so many rows near their margin at a point; say whether that is proven for them."""
        if not all(np.isfinite(part).all() for part in point):
            point = self._start[0][None], self._start[1][None]
        margin = program.rows(*point, target.columns)[0] - program.r
        reduction = nearest_rows(program, budget, margin, kept)
        del margin
        engine = InteriorBounds(reduction.program, reduction.budget, self._start)
        target = reduction.targets(target)
        w, b, duals = engine.solve(target)
        proof = certify(reduction.program, reduction.budget, target, w, b, duals, engine.centre)
        # From one purse, rows that count as linear may spend more than there is, and nothing is proven: then what is
        # attained lies beyond the bound.
        solved = bool(np.abs(proof.upper[0] - proof.lower[0]) <= PROVEN * budget.norm)
        return (w, b, reduction.duals(duals)), solved


def tall_penalised(program: Program, values: Array) -> Iterator[Iterator[tuple[Array, Array, Duals]]]:
    """For every `C`, ascending, points and multipliers that come closer and closer to the optimum."""
    (first, _), *others = _samples(program)
    w, b, _ = HighsPenalised(first).path(values)
    for k, C in enumerate(values):
        point = w[k], b[k]
        for sample, _ in others:
            found = next(_closer(sample, C, *point), None)
            point = point if found is None else found[:2]
        yield _closer(program, C, *point)


def _closer(program: Program, C: float, w: Array, b: Array) -> Iterator[tuple[Array, Array, Duals]]:
    for kept in (KEPT[0], *KEPT):
        margin = program.rows(w, b) - program.r
        reduction = nearest_rows(program, UNLIMITED, margin, kept)
        try:
            w, b, duals = HighsPenalised(reduction.program).solve(C)
        except SolverError:  # rows that hold the point have been left out: more of them may do
            continue
        extended = reduction.duals(duals)
        del margin, reduction, duals  # they would wait here while the proof is made
        yield w, b, extended

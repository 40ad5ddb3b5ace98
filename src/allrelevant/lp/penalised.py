"""Optima of the penalised problem ``min norm + C · loss`` with proofs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from allrelevant.errors import SolverError
from allrelevant.lp.certificate import GAP_LIMIT, penalised_gap
from allrelevant.lp.deadline import check_time
from allrelevant.lp.failures import NUMERICAL, as_solver_error, warn_of
from allrelevant.lp.highs import HighsPenalised
from allrelevant.lp.matrix import Array, reach
from allrelevant.lp.program import Duals, Program

if TYPE_CHECKING:
    from allrelevant.lp.kernel import Kernel

__all__ = ["PenalisedSolver", "best_offset", "penalised_paths"]

NOT_FOUND = "the baseline model was not found"
#: Weights below this share of the norm are 0 where that is as good.
NO_WEIGHT = 1e-7
#: Weights that move no row by more than this are 0; margins are 1.
NO_MOVE = 1e-9


class PenalisedSolver:
    """Proven optima of ``min norm + C · loss`` for some values of `C`."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def _kernel(self) -> Kernel:
        from allrelevant.lp.kernel import Kernel

        return Kernel(self.program)

    @cached_property
    def _reach(self) -> Array:
        """By how much a unit of every weight moves a row, at most."""
        program = self.program
        return np.maximum(np.maximum(reach(program.A), reach(program.G)), np.abs(program.u))

    def solve(self, C: float, near: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Return the optimal point ``(w, b)``, proven to a relative gap of :data:`GAP_LIMIT`.

        A point that should be near, such as the optimum for some of the samples, saves time.

        Raises
        ------
        SolverError
            If the optimum cannot be proven.
        """
        w, b = self.path(np.array([C]), GAP_LIMIT, near)
        return w[0], b[0]

    def path(self, values: Array, limit: float, near: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Return the optimal points for several `C`, ascending, proven to the given relative gap.

        Each is found from the one before.
        """
        program, count = self.program, len(values)
        d, n, m = program.n_weights, program.n_rows, program.n_hard
        x = np.zeros(d + program.n_offsets)
        if near is not None:
            x = np.concatenate(near)
        elif program.n_offsets == 1:
            x[d:] = best_offset(program)
        points, duals = np.zeros((count, len(x))), Duals(np.zeros((count, n)), np.zeros((count, m)), values)
        failures: list[Exception] = []
        for k, C in enumerate(values):
            check_time()
            try:
                found = self._kernel.penalised(C, x)
            except NUMERICAL as error:
                failures.append(error)
                continue
            points[k], duals.alpha[k], duals.beta[k] = found.x, found.alpha, found.beta
            if np.isfinite(found.x).all():
                x = found.x
        if failures:
            warn_of(failures[0], f"{len(failures)} of {count} models")
        with as_solver_error(NOT_FOUND):
            w, b = points[:, :d], points[:, d:]
            w[np.abs(w) * self._reach <= NO_MOVE] = 0.0
            small = np.abs(w) * program.gamma <= NO_WEIGHT * program.norm(w)[:, None]
            sparser = np.where(small, 0.0, w)
            gap = penalised_gap(program, values, sparser, b, duals)
            again = ~(gap <= limit)
            if again.any():
                kept = penalised_gap(program, values[again], w[again], b[again], duals.take(again))
                sparser[again], gap[again] = w[again], kept
            for worst in np.flatnonzero(~(gap <= limit)):
                sparser[worst], b[worst] = self._by_reference(values[worst], limit)
        return sparser, b

    def _by_reference(self, C: float, limit: float) -> tuple[Array, Array]:
        w, b, duals = HighsPenalised(self.program).solve(C, cold=True)
        gap = float(penalised_gap(self.program, np.array([C]), w[None], b[None], duals)[0])
        if not gap <= limit:
            raise SolverError(
                f"the baseline model for C={C:g} was not proven optimal: relative gap {gap:.2g} (limit {limit:g}); "
                "better scaled data or another C may help"
            )
        return w, b


def best_offset(program: Program) -> Array:
    """The one offset that is best without weights: a weighted quantile, as the loss is convex in it."""
    slope = program.row_weight * program.B[:, 0]
    rows = np.flatnonzero(slope)
    if not len(rows):
        return np.zeros(1)
    # The slope of the loss changes where rows are at their margin.
    places = program.r[rows] / program.B[rows, 0]
    order = np.argsort(places, kind="stable")
    rise = np.cumsum(np.abs(slope[rows[order]]))
    first = int(np.searchsorted(rise, np.maximum(slope, 0.0).sum()))
    return np.asarray(places[order[[min(first, len(rows) - 1)]]])


def penalised_paths(programs: Sequence[Program], values: Sequence[Array], limit: float) -> list[tuple[Array, Array]]:
    """Return the optimal points of several programs, such as those of folds, for several ascending `C` each."""
    return [PenalisedSolver(program).path(some, limit) for program, some in zip(programs, values, strict=True)]

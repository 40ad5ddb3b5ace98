"""Optima of the penalised problem with proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from allrelevant.errors import SolverError
from allrelevant.lp.certificate import GAP_LIMIT, penalised_gap
from allrelevant.lp.failures import as_solver_error, warn_of
from allrelevant.lp.matrix import Array
from allrelevant.lp.paths import InteriorPaths
from allrelevant.lp.penalised import HighsPenalised
from allrelevant.lp.program import Program
from allrelevant.lp.reduction import nearest_rows
from allrelevant.lp.simplex import TOLERANCE
from allrelevant.lp.tall import UNLIMITED, is_tall, tall_penalised
from allrelevant.lp.targets import Duals

__all__ = ["PenalisedSolver", "penalised_paths"]

NOT_FOUND = "the baseline model was not found"
#: Rows per weight and offset that are tried first where a point near the optimum is known, and how many times as many
#: there must be for that to pay.
NEAREST, FEWER = 8, 1.5


class PenalisedSolver:
    """Proven optima of ``min norm + C · loss`` for some values of `C`."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def _highs(self) -> HighsPenalised:
        return HighsPenalised(self.program)

    def solve(self, C: float, near: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Return the optimal point ``(w, b)``, proven to a relative gap of :data:`GAP_LIMIT`.

        A point that should be near, such as the optimum for some of the samples, saves time.

        Raises
        ------
        SolverError
            If the optimum cannot be proven.
        """
        with as_solver_error(NOT_FOUND):
            if near is not None and not is_tall(self.program):
                point = self._by_nearest(C, *near)
                if point is not None:
                    return point
                self._highs.begin(C, *near)
        w, b = self.path(np.array([C]), GAP_LIMIT)
        return w[0], b[0]

    def _by_nearest(self, C: float, w: Array, b: Array) -> tuple[Array, Array] | None:
        """Return the optimal point if the rows near their margin at a point decide it; None if not."""
        program = self.program
        kept = NEAREST * (program.n_weights + program.n_offsets)
        if program.slacks.shared or FEWER * kept > program.n_rows:
            return None
        margin = program.rows(w, b) - program.r
        reduction = nearest_rows(program, UNLIMITED, margin, kept)
        highs = HighsPenalised(reduction.program)
        highs.begin(C, w, b)
        try:
            w, b, duals = highs.solve(C)
        except SolverError:  # rows that hold the point have been left out
            return None
        beyond = np.sign(margin) * (program.rows(w, b) - program.r)
        beyond[reduction.kept] = 0.0
        decided = float(beyond.min()) >= -TOLERANCE
        return (w, b) if decided and self._gap(C, w, b, reduction.duals(duals)) <= GAP_LIMIT else None

    def path(self, values: Array, limit: float) -> tuple[Array, Array]:
        """Return the optimal points for several `C`, ascending, proven to the given relative gap."""
        with as_solver_error(NOT_FOUND):
            return self._tall_path(values, limit) if is_tall(self.program) else self._path(values, limit)

    def _path(self, values: Array, limit: float) -> tuple[Array, Array]:
        w, b, duals = self._highs.path(values)
        return self.proven(values, w, b, penalised_gap(self.program, values, w, b, duals), limit)

    def proven(self, values: Array, w: Array, b: Array, gap: Array, limit: float) -> tuple[Array, Array]:
        """Return points claimed to be optimal where their gaps show it, and optimal ones in the place of the others."""
        for k in np.flatnonzero(~(gap <= limit)):
            w[k], b[k], own = self._highs.solve(values[k], cold=True)
            self._check(values[k], w[k], b[k], own, limit)
        return w, b

    def _tall_path(self, values: Array, limit: float) -> tuple[Array, Array]:
        points = []
        for C, closer in zip(values, tall_penalised(self.program, values), strict=True):
            for w, b, duals in closer:
                if self._gap(C, w, b, duals) <= limit:
                    break
            else:
                w, b, duals = self._highs.solve(C)
                self._check(C, w, b, duals, limit)
            points.append((w, b))
        return np.stack([w for w, _ in points]), np.stack([b for _, b in points])

    def _gap(self, C: float, w: Array, b: Array, duals: Duals) -> float:
        return float(penalised_gap(self.program, np.array([C]), w[None], b[None], duals)[0])

    def _check(self, C: float, w: Array, b: Array, duals: Duals, limit: float) -> None:
        gap = self._gap(C, w, b, duals)
        if not gap <= limit:
            raise SolverError(
                f"the baseline model for C={C:g} was not proven optimal: relative gap {gap:.2g} (limit {limit:g}); "
                "better scaled data or another C may help"
            )


def penalised_paths(
    programs: Sequence[Program], values: Sequence[Array], limit: float, *, at_once: bool
) -> list[tuple[Array, Array]]:
    """Return the optimal points of several programs, such as those of folds, for several ascending `C` each.

    At once they are a batch of the interior-point method, for which they must have as many weights, offsets and hard
    rows each; what that does not prove to the given relative gap is left to HiGHS, and so are all if none has as many
    rows as weights and offsets.
    """
    at_once &= any(p.n_rows + p.n_hard >= p.n_weights + p.n_offsets for p in programs)
    one_by_one = zip(map(PenalisedSolver, programs), values, strict=True)
    with as_solver_error(NOT_FOUND):
        try:
            found = InteriorPaths(programs, values).solve() if at_once else None
        except Exception as error:  # noqa: BLE001 - whatever it is, HiGHS needs nothing of it
            warn_of(error)
            found = None
        if found is None:
            return [solver.path(C, limit) for solver, C in one_by_one]
        gaps = _gaps(programs, values, found)
        return [
            solver.proven(C, w, b, gap, limit)
            for (solver, C), (w, b, _), gap in zip(one_by_one, found, gaps, strict=True)
        ]


def _gaps(
    programs: Sequence[Program], values: Sequence[Array], found: Sequence[tuple[Array, Array, Duals]]
) -> list[Array]:
    """Gaps of claimed optima, those of neighbours that differ in right sides only at once."""
    out: list[Array] = []
    while len(out) < len(programs):
        first, some = programs[len(out)], list(range(len(out), len(programs)))
        alike = [k == some[0] or programs[k].restates(first) for k in some]
        some = some[: [*alike, False].index(False)]
        counts = [len(values[k]) for k in some]
        w, b, duals = zip(*(found[k] for k in some), strict=True)
        gap = penalised_gap(
            replace(first, r=np.repeat([programs[k].r for k in some], counts, axis=0)),
            np.concatenate([values[k] for k in some]),
            np.concatenate(w),
            np.concatenate(b),
            Duals(*(np.concatenate([getattr(each, name) for each in duals]) for name in ("alpha", "beta", "lam"))),
        )
        out += np.split(gap, np.cumsum(counts)[:-1])
    return out

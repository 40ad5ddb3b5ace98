"""Bounds with proofs: the kernel proposes, the certificate disposes, the reference engine stands by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.certificate import GAP_LIMIT, Certified, certify
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.failures import NUMERICAL, as_solver_error, unproven_bound, warn_of
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.program import Budget, Duals, Program, Targets

if TYPE_CHECKING:
    from allrelevant.lp.kernel import Kernel, QuadraticModel

__all__ = ["BoundSolver", "Bounds"]

#: Numbers that a target takes per row and weight, in its proof.
NUMBERS = 12


@dataclass(frozen=True, eq=False)
class Bounds:
    """Proven bounds of a batch of targets.

    Attributes
    ----------
    value : ndarray of shape (t,)
        The greatest objective, attained by a feasible point; of the lesser of a pair, what was attained.
    gap : float
        Largest distance from the attained value to the proven bound, as a share of the norm budget.
    n_reference : int
        Targets that only the reference engine could prove.
    upper : ndarray of shape (t,)
        Proven never to be exceeded.
    open : ndarray of shape (t,)
        Where time ran out before the two came together; the gap is that of the others.
    points : ndarray of shape (t, d) or None
        Where the objectives are attained, if that was asked for.
    """

    value: Array
    gap: float
    n_reference: int
    upper: Array
    open: NDArray[np.bool_]
    points: Array | None = None

    @property
    def outer(self) -> Array:
        """The value or, where that is open, what is proven never to be exceeded."""
        return np.where(self.open, self.upper, self.value)

    def take(self, some: slice) -> Bounds:
        """Return those of some of the targets, with the largest gap of all."""
        points = None if self.points is None else self.points[some]
        return Bounds(self.value[some], self.gap, self.n_reference, self.upper[some], self.open[some], points)

    @classmethod
    def join(cls, parts: Sequence[Bounds]) -> Bounds:
        """Put the bounds of several batches, or of none, together."""
        return cls(
            value=np.concatenate([np.empty(0), *(part.value for part in parts)]),
            gap=max((part.gap for part in parts), default=0.0),
            n_reference=sum(part.n_reference for part in parts),
            upper=np.concatenate([np.empty(0), *(part.upper for part in parts)]),
            open=np.concatenate([np.empty(0, dtype=bool), *(part.open for part in parts)]),
        )


class BoundSolver:
    """Solver of bounds over one program and one budget; safe to call from several threads.

    Parameters
    ----------
    program : Program
        The rows.
    budget : Budget
        What points may spend.
    start : tuple of ndarray
        A point ``(w, b)`` within the budget.
    """

    def __init__(self, program: Program, budget: Budget, start: tuple[Array, Array]) -> None:
        self.program, self.budget, self._start = program, budget, start
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[BoundSolver], tuple[Any, ...]]:
        # What is prepared is prepared anew elsewhere.
        return BoundSolver, (self.program, self.budget, self._start)

    @property
    def numbers_per_target(self) -> int:
        """Floating-point numbers that a target takes while it is being solved and proven, roughly."""
        return NUMBERS * (self.program.n_rows + self.program.n_weights)

    @cached_property
    def _kernel(self) -> Kernel:
        from allrelevant.lp.kernel import Kernel

        return Kernel(self.program, np.concatenate(self._start))

    @cached_property
    def _model(self) -> QuadraticModel:
        from allrelevant.lp.kernel import QuadraticModel

        return QuadraticModel(self.program, self.budget, *self._start)

    @cached_property
    def _anchor(self) -> tuple[Array, Array]:
        """A point with room on all sides, where there is one: towards it infeasible points are mended."""
        program, budget = self.program, self.budget
        anchor = _stretched(program, budget, self._start)
        if not (program.n_hard or program.boxed.any()) and _has_room(program, budget, *anchor):
            return anchor
        try:
            found = self._kernel.centre(budget, np.concatenate(self._start))
        except NUMERICAL:
            return anchor
        centre = found[: program.n_weights], found[program.n_weights :]
        return centre if _has_room(program, budget, *centre) else anchor

    def unsolved(self, targets: Targets) -> Bounds:
        """Return what is known of targets that nobody has looked at: by the norm budget, and at the start."""
        return self._bounds(targets, np.full(len(targets), -np.inf), np.full(len(targets), np.inf), None, 0, None)

    def _bounds(
        self, targets: Targets, value: Array, upper: Array, gap: Array | None, n_reference: int, points: Array | None
    ) -> Bounds:
        """Put together what is proven; without gaps, or where they are too large, with what is known anyway."""
        is_open = np.ones(len(targets), dtype=bool) if gap is None else ~(gap <= GAP_LIMIT)
        greatest = 0.0 if gap is None else float(np.max(gap, where=~is_open, initial=0.0))
        if is_open.any():
            reach = np.abs(targets.coefficient) / self.program.gamma[targets.index]
            start = np.broadcast_to(self._start[0], (len(targets), self.program.n_weights))
            # No weight can use more than the whole norm; repeated weights of padded targets have coefficient 0.
            value = np.where(is_open, np.maximum(value, targets.value(start)), value)
            upper = np.where(is_open, np.minimum(upper, self.budget.norm * reach.max(axis=1)), upper)
        return Bounds(value, greatest, n_reference, upper, is_open, points)

    def solve(self, targets: Targets, *, points: bool = False) -> Bounds:
        """Solve and prove all targets: by the kernel, and by the reference engine what that does not prove.

        With `points` the points that attain the objectives are returned too. What time runs out for is returned as far
        as it is proven.

        Raises
        ------
        SolverError
            If a target can be proven by neither.
        """
        proof, failure = self._by_kernel(targets)
        gap = self._gap(targets, proof)
        rest = np.flatnonzero(~(gap <= GAP_LIMIT))
        n_reference = 0
        if len(rest) and not time_is_up():
            n_reference = len(rest)
            proof = self._by_reference(targets, rest, proof)
            gap = self._gap(targets, proof)
            rest = rest[~(gap[rest] <= GAP_LIMIT)]
            if len(rest) and not time_is_up():
                raise unproven_bound(int(targets.index[rest[0], 0]), gap[rest[0]], GAP_LIMIT, failure) from failure
        return self._bounds(targets, proof.lower, proof.upper, gap, n_reference, proof.w if points else None)

    def _gap(self, targets: Targets, proof: Certified) -> Array:
        with np.errstate(invalid="ignore"):
            gap = (proof.upper - proof.lower) / self.budget.norm
        return np.where(targets.outdone(proof.lower, proof.upper), 0.0, gap)

    def _by_kernel(self, targets: Targets) -> tuple[Certified, Exception | None]:
        """What the kernel finds, with proofs; numerical failures prove nothing, and are told of."""
        program, t = self.program, len(targets)
        w, b = np.zeros((t, program.n_weights)), np.zeros((t, program.n_offsets))
        duals = Duals(np.zeros((t, program.n_rows)), np.zeros((t, program.n_hard)), np.zeros(t))
        try:
            with self._lock:  # what is prepared is prepared once
                model, _ = self._model, self._anchor
            d = program.n_weights
            goals = targets.spread(targets.coefficient, d)
            charges = np.zeros_like(goals) if targets.charge is None else targets.spread(targets.charge, d)
            sign = np.sign(self._start[0])
            for pair in _pairs(targets):
                if time_is_up():
                    break
                starts = {k: model.start(goals[k] - charges[k] * sign) for k in pair}
                beat = -np.inf
                # The side that seems to reach farther comes first.
                for k in sorted(pair, key=lambda k: -float(goals[k] @ starts[k][0][:d])):
                    found = self._kernel.bound(self.budget, goals[k], charges[k], *starts[k], beat)
                    beat = found.value
                    w[k], b[k] = found.x[:d], found.x[d:]
                    duals.alpha[k], duals.beta[k], duals.lam[k] = found.alpha, found.beta, found.lam
            return certify(program, self.budget, targets, w, b, duals, self._anchor), None
        except NUMERICAL as error:
            warn_of(error, f"{t} bounds")
            return Certified(np.full(t, -np.inf), np.full(t, np.inf), w), error

    def _by_reference(self, targets: Targets, rest: Indices, proof: Certified) -> Certified:
        """The same with what HiGHS finds for some of the targets, each from scratch."""
        part = targets.take(rest)
        with as_solver_error("the bounds were not found"):
            claim = HighsBounds(self.program, self.budget).solve(part, cold=True)
            anchor = self._anchor
            if not _has_room(self.program, self.budget, *anchor):  # between optima there may be some
                middle = claim[0].mean(axis=0), claim[1].mean(axis=0)
                anchor = middle if _has_room(self.program, self.budget, *middle) else anchor
            more = certify(self.program, self.budget, part, *claim, anchor)
        better = more.lower > proof.lower[rest]
        proof.lower[rest[better]], proof.w[rest[better]] = more.lower[better], more.w[better]
        proof.upper[rest] = np.minimum(proof.upper[rest], more.upper)
        return proof


def _pairs(targets: Targets) -> list[range]:
    """Places of the targets, both sides of a magnitude together."""
    ends = [*range(0, targets.paired, 2), *range(targets.paired, len(targets) + 1)]
    return [range(k, end) for k, end in pairwise(ends)]


def _has_room(program: Program, budget: Budget, w: Array, b: Array) -> bool:
    rooms = program.hard_rooms(w, b)
    fixed = program.lower == program.upper if program.boxed.any() else np.zeros(0, dtype=bool)
    inside = np.concatenate([rooms[: program.n_hard] > 0.0, (rooms[program.n_hard :] > 0.0) | np.tile(fixed, 2)])
    return bool(budget.room(program.norm(w), program.loss(w, b)) > 0 and inside.all() and rooms.min(initial=0.0) >= 0.0)


def _stretched(program: Program, budget: Budget, start: tuple[Array, Array]) -> tuple[Array, Array]:
    """Stretch a point into the room that the norm has left, if the loss allows it.

    Stretching raises every margin, which is the only room there is when the loss budget is close to nothing.
    """
    w, b = start
    norm = float(program.norm(w))
    stretch = 1.0 if norm == 0.0 else 0.5 * (1.0 + budget.norm / norm)
    for factor in (stretch, 0.5 * (1.0 + stretch)):
        room = budget.room(program.norm(factor * w), program.loss(factor * w, factor * b))
        if room > 0.0 and program.hard_violation(factor * w, factor * b) <= 0.0:
            return factor * w, factor * b
    return w, b

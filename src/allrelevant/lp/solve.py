"""Bounds with proofs: an engine proposes, the certificate disposes, the reference engine stands by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.backend import get_backend, has_gpu
from allrelevant.lp.certificate import GAP_LIMIT, Certified, certify
from allrelevant.lp.copies import FewerCopies
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.failures import is_shortage, unproven_bound, warn_of
from allrelevant.lp.generation import solve_by_generation
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.interior import InteriorBounds
from allrelevant.lp.matrix import Array
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.reduction import Reduction, reduce_rows
from allrelevant.lp.tall import TallBounds, is_tall
from allrelevant.lp.targets import Duals, Targets

__all__ = [
    "DEVICES",
    "ENGINES",
    "BoundSolver",
    "Bounds",
    "choose_device",
    "choose_engine",
]

ENGINES = ("auto", "highs", "interior")
DEVICES = ("auto", "cpu", "cuda")
#: "auto" takes a GPU where the bounds of all weights would take the CPU this many operations.
GPU_OPERATIONS = 1e12
#: "auto" chooses the interior engine as long as the matrix that it factors, of the size of the rows or of weights and
#: offsets, whichever are fewer, is at most this large.
INTERIOR_SIZE = 2000
#: The interior engine makes an array, and four copies of it, of the rows that the reduction keeps of a sparse program.
#: It takes such a program as long as all its rows would be an array of at most so many numbers (2 GiB in four copies).
DENSE_NUMBERS = 2**26

#: How many times as far from their right side rows are kept at first, by device, and for targets that need more. On a
#: GPU a few more rows cost next to nothing, but a few targets that are solved again as much as all of them.
FIRST, WIDER = {"cpu": 1.0, "cuda": 1.25}, 2.0
#: With more weights per row than this the reference engine generates them.
GENERATE = 3

Proposal = tuple[Array, Array, Duals]


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
        Targets that only the last engine asked could prove.
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


def choose_engine(program: Program, engine: str) -> str:
    """Resolve ``"auto"``: the interior engine for programs that are not large in both directions.

    Raises
    ------
    ValueError
        If the engine is unknown, or the interior engine is asked for and the program is sparse and would be too large
        an array.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r} is unknown; choose one of {', '.join(map(repr, ENGINES))}")
    if engine == "interior" and not _fits(program):
        raise ValueError(
            f"engine='interior' needs the sparse program of {program.n_rows} rows and {program.n_weights} weights as "
            f"an array, which would be more than {DENSE_NUMBERS} numbers; use engine='auto' or engine='highs'"
        )
    if engine != "auto":
        return engine
    return "interior" if _small(program) else "highs"


def choose_device(program: Program, device: str) -> str:
    """Resolve ``"auto"``: a GPU, where there is one, for programs that would keep the CPU busy for long."""
    if device not in DEVICES:
        raise ValueError(f"device={device!r} is unknown; choose one of {', '.join(map(repr, DEVICES))}")
    if device != "auto":
        return device
    weights, rows = program.n_weights + program.n_offsets, program.n_rows + program.n_hard
    operations = 2.0 * program.n_weights * 20 * weights * rows * min(weights, rows)
    return "cuda" if operations > GPU_OPERATIONS and has_gpu() else "cpu"


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
    engine : {"highs", "interior"}
        Engine that is asked first.
    device : {"cpu", "cuda"}
        Where the interior engine computes.
    """

    def __init__(
        self, program: Program, budget: Budget, start: tuple[Array, Array], engine: str, device: str = "cpu"
    ) -> None:
        self.program, self.budget, self.engine = program, budget, engine
        self.device = device if engine == "interior" else "cpu"
        self._start = start
        self._backend = get_backend(self.device)
        self._lock, self._is_ready = Lock(), False
        self._fewer = None if is_tall(program) else FewerCopies.of(program)
        if self._fewer is None:
            self._prepare()
        else:
            point = self._fewer.weights(start[0]), start[1]
            self._smaller = BoundSolver(self._fewer.program, budget, point, engine, device)

    def _prepare(self) -> None:
        """Set up the engines for the program as it is, unless that has been done."""
        with self._lock:
            if not self._is_ready:
                self._set_up()
                self._is_ready = True

    def _set_up(self) -> None:
        program, budget, start, engine = self.program, self.budget, self._start, self.engine
        self._anchor = _deep_point(program, budget, start)
        self._reduced: InteriorBounds | None = None
        self._wider: InteriorBounds | None = None
        self._tall: TallBounds | None = None
        if engine == "interior" and self.device == "cpu" and is_tall(program):
            self._tall = TallBounds(program, budget, start)
            return
        # Rows that a free offset needs may all be dropped: then the centre of the reduced program is nowhere.
        self._reduction = reduce_rows(program, budget, *start, times=FIRST[self.device])
        if engine == "interior":
            reduced = self._interior(self._reduction)
            if reduced is not None and _is_deep(program, budget, self._anchor, start):
                self._reduced = reduced
            elif reduced is not None and _has_room(program, budget, *reduced.centre):
                self._reduced, self._anchor = reduced, reduced.centre
        if (
            self._reduced is None
            and _small(program)
            and (program.n_hard or not _has_room(program, budget, *self._anchor))
        ):
            # Hard rows that are tight at the start leave no room in any direction along it.
            whole = self._interior()
            if whole is not None and _has_room(program, budget, *whole.centre):
                self._anchor = whole.centre

    def __reduce__(self) -> tuple[type[BoundSolver], tuple[Any, ...]]:
        # Models of HiGHS and tables on a GPU stay where they are: a copy elsewhere is built anew.
        return BoundSolver, (self.program, self.budget, self._start, self.engine, self.device)

    @property
    def numbers_per_target(self) -> int:
        """Floating-point numbers that a target takes while it is being solved, roughly."""
        if self._fewer is not None:
            return self._smaller.numbers_per_target
        # Multipliers of all rows, and up to three copies of columns of the target's own.
        proof = 4 * self.program.n_rows
        if self._reduced is not None:
            return self._reduced.numbers_per_target + proof
        if self._tall is not None:
            # Their programs come one at a time; the proofs of all of them together, with margins and repairs.
            return 24 * self.program.n_rows
        # The reference engine solves one at a time.
        return 8 * (self.program.n_weights + self.program.n_rows) + proof

    @property
    def batch_bytes(self) -> int:
        """How much a batch of targets should take."""
        return self._backend.batch_bytes

    def _interior(self, reduction: Reduction | None = None) -> InteriorBounds | None:
        """Build the interior engine; without it there are others."""
        try:
            return InteriorBounds(self.program, self.budget, self._start, self._backend, reduction=reduction)
        except Exception as error:  # noqa: BLE001 - whatever it is, the reference engine needs nothing of it
            warn_of(error)
            return None

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
            # No weight can use more than the whole norm; repeated weights of padded targets have coefficient 0.
            value = np.where(is_open, np.maximum(value, targets.value(self._starts(targets))), value)
            upper = np.where(is_open, np.minimum(upper, self.budget.norm * reach.max(axis=1)), upper)
        return Bounds(value, greatest, n_reference, upper, is_open, points)

    def _starts(self, targets: Targets) -> Array:
        return np.broadcast_to(self._start[0], (len(targets), self.program.n_weights))

    def solve(self, targets: Targets, *, points: bool = False) -> Bounds:
        """Solve and prove all targets: by the engine asked first, and what that does not prove by the next.

        With `points` the points that attain the objectives are returned too. An engine that fails proves nothing. What
        time runs out for is returned as far as it is proven.

        Raises
        ------
        SolverError
            If a target can be proven by none.
        """
        if self._fewer is not None:
            restated = self._fewer.targets(targets)
            if restated is not None:
                found = self._smaller.solve(restated, points=points)
                return (
                    found if found.points is None else replace(found, points=self._fewer.points(found.points, targets))
                )
            self._prepare()
        t = len(targets)
        value, upper, gap = np.full(t, -np.inf), np.full(t, np.inf), np.full(t, np.inf)
        hints = self._starts(targets)
        attained = hints.copy() if points else None
        rest, n_reference = np.arange(t), 0
        failure: Exception | None = None
        for propose in self._engines():
            if time_is_up():
                break
            part = targets.take(rest)
            if failure is not None:
                warn_of(failure)
            try:
                claimed, proof = self._proven(propose, part, hints)
                failure = None
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing is proven, and the next is asked
                failure, n_reference = error, len(rest)
                continue
            upper[rest] = np.minimum(upper[rest], proof.upper)
            better = proof.lower > value[rest]
            value[rest[better]] = proof.lower[better]
            if attained is not None:
                attained[rest[better]] = proof.w[better]
            gap = np.where(targets.outdone(value, upper), 0.0, (upper - value) / self.budget.norm)
            unproven = ~(gap[rest] <= GAP_LIMIT)
            rest, hints = rest[unproven], claimed[unproven]
            if not len(rest):
                break
            n_reference = len(rest)
        if len(rest) and not time_is_up():
            raise unproven_bound(int(targets.index[rest[0], 0]), gap[rest[0]], GAP_LIMIT, failure) from failure
        return self._bounds(targets, value, upper, gap, n_reference, attained)

    def _proven(
        self, propose: Callable[[Targets, Array], Proposal], targets: Targets, hints: Array
    ) -> tuple[Array, Certified]:
        """Return the points that an engine claims and what is proven of them; half by half if memory is short."""
        try:
            claim = propose(targets, hints)
            return claim[0], certify(self.program, self.budget, targets, *claim, self._anchor)
        except Exception as error:
            if len(targets) <= 2 or not is_shortage(error):
                raise
        half = max(2, 2 * (len(targets) // 4))  # pairs stay together
        parts = [
            self._proven(propose, targets.take(some), hints[some])
            for some in (np.arange(half), np.arange(half, len(targets)))
        ]
        proofs = [proof for _, proof in parts]
        lower, upper, w = (np.concatenate([getattr(one, name) for one in proofs]) for name in ("lower", "upper", "w"))
        return np.concatenate([claimed for claimed, _ in parts]), Certified(lower, upper, w)

    def _engines(self) -> Iterator[Callable[[Targets, Array], Proposal]]:
        """Ways to solve targets, given also the points last claimed to be optimal, one after the other."""
        if self._tall is not None:
            tall = self._tall
            yield lambda targets, _: tall.solve(targets)
        reduced, done = self._reduced, False
        if reduced is not None:
            yield lambda targets, _: reduced.solve(targets)
            if len(self._reduction.kept) < self.program.n_rows:
                yield self._solve_wider
            else:
                done = not reduced.mixed  # with all rows and in double precision already
        if self.engine == "interior" and not done:
            yield self._solve_whole
        if self.program.n_weights > GENERATE * (self.program.n_rows + self.program.n_hard):
            yield self._generate
        reference = cache(lambda: HighsBounds(self.program, self.budget))
        if self.engine == "highs":
            yield lambda targets, _: reference().solve(targets)
            if _small(self.program):
                yield self._solve_whole
        yield lambda targets, _: reference().solve(targets, cold=True)

    def _solve_wider(self, targets: Targets, _: Array) -> Proposal:
        """Solve with more of the rows, for the few targets that reach farther than the others."""
        wider = self._wider
        if wider is None:
            reduction = reduce_rows(self.program, self.budget, *self._start, times=WIDER)
            wider = InteriorBounds(self.program, self.budget, self._start, self._backend, reduction=reduction)
            if self.device == "cpu":  # where memory is scarcer, the tables of one engine must do
                self._wider = wider
        return wider.solve(targets)

    def _solve_whole(self, targets: Targets, _: Array) -> Proposal:
        """Solve with all rows, and in double precision throughout: for targets that resisted so far."""
        return InteriorBounds(self.program, self.budget, self._start, self._backend).solve(targets, exact=True)

    def _generate(self, targets: Targets, points: Array) -> Proposal:
        return solve_by_generation(self.program, self.budget, targets, points, self._start[0])


def _small(program: Program) -> bool:
    """Whether the interior engine can take the program at all."""
    size = min(program.n_weights + program.n_offsets, program.n_rows + program.n_hard)
    return size <= INTERIOR_SIZE and _fits(program)


def _fits(program: Program) -> bool:
    """Whether the program is an array, or may be made one."""
    return not program.is_sparse or program.n_rows * program.n_weights <= DENSE_NUMBERS


def _has_room(program: Program, budget: Budget, w: Array, b: Array) -> bool:
    return bool(budget.room(program.norm(w), program.loss(w, b)) > 0 and program.hard_violation(w, b) <= 0)


def _is_deep(program: Program, budget: Budget, point: tuple[Array, Array], start: tuple[Array, Array]) -> bool:
    """Whether a point has at least a quarter of the room of the start in both budgets; False with other limits."""
    if budget.price is not None or program.n_hard or program.boxed.any():
        return False
    here, there = ((budget.norm - program.norm(w), budget.loss - program.loss(w, b)) for w, b in (point, start))
    return all(float(room) >= 0.25 * float(most) > 0.0 for room, most in zip(here, there, strict=True))


def _deep_point(program: Program, budget: Budget, start: tuple[Array, Array]) -> tuple[Array, Array]:
    """Find a point with room on all sides: the start, stretched into the room of the norm if the loss allows it.

    Stretching raises every margin, which is the only room there is when the loss budget is close to nothing.
    """
    w, b = start
    norm = float(program.norm(w))
    stretch = 1.0 if norm == 0.0 else 0.5 * (1.0 + budget.norm / norm)
    for factor in (stretch, 0.5 * (1.0 + stretch)):
        if _has_room(program, budget, factor * w, factor * b):
            return factor * w, factor * b
    return w, b

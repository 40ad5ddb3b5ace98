"""Relevance intervals: how little and how much weight any near-optimal model gives a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from allrelevant._progress import Progress
from allrelevant.lp import Array, Bounds, BoundSolver, Targets, choose_engine
from allrelevant.lp.program import Indices
from allrelevant.relevance.nearoptimal import NearOptimalSet

__all__ = ["Intervals", "relevance_intervals", "solve_targets"]

#: Targets per task, fewer where their matrices would not fit in so many numbers. The number of workers has no say in
#: it, so that it cannot change any answer.
CHUNK = 50
CHUNK_NUMBERS = 2**25


@dataclass(frozen=True, eq=False)
class Intervals:
    """Relevance intervals in units of the baseline's norm.

    Attributes
    ----------
    minimum, maximum : ndarray of shape (d,)
        Least and most ``|w_k| / μ`` over the near-optimal set.
    gap : float
        Largest certified gap of a bound.
    n_programs : int
        Linear programs solved.
    engine : str
        Engine that was asked first.
    """

    minimum: Array
    maximum: Array
    gap: float
    n_programs: int
    engine: str


def relevance_intervals(
    near: NearOptimalSet,
    *,
    engine: str,
    n_jobs: int | None,
    progress: Progress,
    only: Sequence[int] | None = None,
) -> Intervals:
    """Bound weights from both sides by two linear programs each, fewer where the answer is already known.

    The near-optimal set is convex, so a weight ranges over one interval ``[low, high]`` and its magnitude over
    ``[max(0, low, −high), max(−low, high)]``. What needs no program: a column that equals another one
    or its negative; and the less likely side of a weight once a visited point shows that the weight can vanish and the
    multipliers of the likelier side prove that this side reaches further. A weight whose column is 0 is part of no
    model; it is given the interval [0, 0], not the norm that happens to be left over for it.

    Parameters
    ----------
    near : NearOptimalSet
        The set.
    engine, n_jobs, progress
        How to solve.
    only : sequence of int, optional
        Weights to bound; all by default.
    """
    program = near.program
    wanted = np.arange(program.n_weights) if only is None else np.asarray(only, dtype=np.intp)
    engine = choose_engine(program, engine)
    if near.mu == 0.0:
        return Intervals(np.zeros(len(wanted)), np.zeros(len(wanted)), 0.0, 0, engine)
    columns = np.vstack([program.A[:, wanted], program.G[:, wanted], program.u[wanted], program.gamma[wanted]])
    place = _representatives(columns)
    chosen, position = np.unique(place[place >= 0], return_inverse=True)
    index = wanted[chosen]
    sign = np.where(near.w[index] < 0, -1.0, 1.0)
    solver = BoundSolver(program, near.budget, (near.w, near.b), engine)

    with progress.stage("intervals", 2 * len(index)):
        likely = solve_targets(solver, Targets(index, sign), n_jobs=n_jobs, progress=progress)
        least, most = np.minimum(likely.least, near.w), np.maximum(likely.most, near.w)
        vanishes = np.where(sign > 0, least[index] <= 0, most[index] >= 0)
        settled = vanishes & (likely.opposite <= likely.value)
        progress.step(int(settled.sum()))
        rest = np.flatnonzero(~settled)
        other = solve_targets(solver, Targets(index[rest], -sign[rest]), n_jobs=n_jobs, progress=progress)
    # In the direction of the likelier side a weight ranges over [low, likely.value].
    low = np.zeros(len(index))
    low[rest] = -other.value
    gap = max(likely.gap, other.gap)
    minimum = np.maximum(np.maximum(low, -likely.value), 0.0)
    maximum = np.maximum(likely.value, -low)
    # What a proof cannot tell from 0 is 0.
    minimum[minimum <= gap * near.budget.norm] = 0.0

    spread = np.zeros((2, len(wanted)))
    spread[:, place >= 0] = np.stack([minimum, maximum])[:, position] / near.mu
    return Intervals(spread[0], spread[1], gap, len(index) + len(rest), engine)


def solve_targets(solver: BoundSolver, targets: Targets, *, n_jobs: int | None, progress: Progress) -> Bounds:
    """Solve targets in chunks, in as many threads as asked."""

    def solve(part: Targets) -> Bounds:
        bounds = solver.solve(part)
        progress.step(len(part))
        return bounds

    width = int(np.clip(CHUNK_NUMBERS // solver.program.n_weights**2, 1, CHUNK))
    chunks = [np.arange(k, min(k + width, len(targets))) for k in range(0, len(targets), width)]
    parts = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(solve)(targets.take(chunk)) for chunk in chunks)
    return Bounds.join(list(parts))


def _representatives(columns: Array) -> Indices:
    """For each column the first that equals it, up to the sign of all but the last entry; -1 for columns of zeros."""
    first: dict[bytes, int] = {}
    out = np.empty(columns.shape[1], dtype=np.intp)
    for k, column in enumerate((columns + 0.0).T):
        leading = column[:-1][np.argmax(column[:-1] != 0.0)]
        key = (column[:-1] * np.sign(leading) + 0.0).tobytes() + column[-1:].tobytes()
        out[k] = first.setdefault(key, k) if leading else -1
    return out

"""How the linear programs are solved: in batches, by how many workers, and who is told."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from allrelevant._progress import Progress
from allrelevant.errors import ClusterLost
from allrelevant.lp import Array, Bounds, BoundSolver, Budget, Program, Targets
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.matrix import Indices
from allrelevant.relevance.workers import LOST, Parcel, Solved, has_workers, in_processes, in_threads, on_cluster

__all__ = ["Solving"]

#: Targets per batch, and bytes that it may take, at most. The number of workers has no say in it.
BATCH, BATCH_BYTES = 64, 2**28


@dataclass(frozen=True)
class Solving:
    """The means by which bounds are found.

    Attributes
    ----------
    n_jobs : int or None
        Threads, each with batches of its own. Where joblib has another backend active, its workers.
    progress : Progress
        Who is told.
    """

    n_jobs: int | None = 1
    progress: Progress = field(default_factory=Progress)
    _sent: MutableMapping[BoundSolver, Any] = field(default_factory=WeakKeyDictionary, repr=False, compare=False)

    def solver(self, program: Program, budget: Budget, start: tuple[Array, Array]) -> BoundSolver:
        """Return the solver of a program."""
        return BoundSolver(program, budget, start)

    def solve(self, solver: BoundSolver, targets: Targets) -> Bounds:
        """Solve targets in batches, by as many workers as asked; as far as time allows."""
        width = self.width(solver)
        parts = [np.arange(k, min(k + width, len(targets))) for k in range(0, len(targets), width)]
        found, batches = {}, _Parts(targets, parts)
        if not time_is_up():
            for k, bounds, elsewhere in self._batches(solver, batches):
                found[k] = bounds
                self.progress.step(len(parts[k]), elsewhere)
        return Bounds.join([found[k] if k in found else solver.unsolved(batches[k]) for k in range(len(parts))])

    def width(self, solver: BoundSolver) -> int:
        """Return how many targets are solved at a time; an even number, as they come in pairs that stay together."""
        width = int(np.clip(BATCH_BYTES // (8 * solver.numbers_per_target), 1, BATCH))
        return width + width % 2

    def _batches(self, solver: BoundSolver, parts: Sequence[Targets]) -> Iterator[Solved]:
        """Solve batches where joblib has them solved, by default in threads."""
        backend, _ = get_active_backend(prefer="threads")
        if hasattr(backend, "client"):  # of a Dask cluster
            return on_cluster(self._sent.get(solver), partial(self._send, solver, backend), parts, backend)
        if getattr(backend, "supports_sharedmem", False) or effective_n_jobs(self.n_jobs) == 1:
            return in_threads(solver, parts, self.n_jobs)
        if solver not in self._sent:
            self._sent[solver] = Parcel(solver)
        return in_processes(self._sent[solver], parts, self.n_jobs, backend)

    def _send(self, solver: BoundSolver, backend: Any) -> Any:
        """Send a program to all workers of a cluster."""
        if not has_workers(backend.client, wait=False):
            backend.effective_n_jobs(-1)  # waits for the first one, or says what to do
        try:
            self._sent[solver] = backend.client.scatter(Parcel(solver), broadcast=True, hash=False)
        except OSError as error:
            raise ClusterLost(LOST) from error
        return self._sent[solver]


class _Parts(Sequence[Targets]):
    """Batches of targets, taken when their turn comes: columns of the targets' own are as long as the data."""

    def __init__(self, targets: Targets, parts: Sequence[Indices]) -> None:
        self._targets, self._parts = targets, parts

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, k: Any) -> Any:
        return self._targets.take(self._parts[k])

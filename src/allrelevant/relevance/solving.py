"""How the linear programs are solved: by which engine, where, in how many threads and how much memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed

from allrelevant._progress import Progress
from allrelevant.lp import Array, Bounds, BoundSolver, Budget, Program, Targets, choose_device, choose_engine

__all__ = ["Solving"]

#: Targets per batch, at most, and bytes that a batch may take, by device. The number of workers has no say in it, so
#: that it cannot change any answer.
BATCH = {"cpu": 100, "cuda": 4096}
MEMORY = {"cpu": 2**28, "cuda": 2**32}


@dataclass(frozen=True)
class Solving:
    """The means by which bounds are found.

    Attributes
    ----------
    engine : {"auto", "highs", "interior"}
        Engine that is asked first.
    device : {"auto", "cpu", "cuda"}
        Where the interior engine computes.
    n_jobs : int or None
        Threads, each with batches of its own. They share a GPU, and prove on the CPU what it returns.
    memory_limit : int or None
        Bytes that a batch may take, roughly; None for a default.
    progress : Progress
        Who is told.
    """

    engine: str = "auto"
    device: str = "cpu"
    n_jobs: int | None = 1
    memory_limit: int | None = None
    progress: Progress = field(default_factory=Progress)

    def solver(self, program: Program, budget: Budget, start: tuple[Array, Array]) -> BoundSolver:
        """Return the solver of a program."""
        engine = choose_engine(program, self.engine)
        return BoundSolver(program, budget, start, engine, choose_device(program, self.device))

    def solve(self, solver: BoundSolver, targets: Targets) -> Bounds:
        """Solve targets in batches, in as many threads as asked."""

        def solve(part: Targets) -> Bounds:
            bounds = solver.solve(part)
            self.progress.step(len(part))
            return bounds

        memory = MEMORY[solver.device] if self.memory_limit is None else self.memory_limit
        width = int(np.clip(memory // (8 * solver.numbers_per_target), 1, BATCH[solver.device]))
        width += width % 2  # pairs stay together
        parts = [targets.take(np.arange(k, min(k + width, len(targets)))) for k in range(0, len(targets), width)]
        run = Parallel(n_jobs=self.n_jobs, require="sharedmem")
        return Bounds.join(list(run(delayed(solve)(part) for part in parts)))

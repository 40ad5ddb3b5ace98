"""The reference engine alone, for tests that compare the compiled kernel with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np
import pytest

from allrelevant.lp import BoundSolver, Targets
from allrelevant.lp.certificate import Certified

__all__ = ["ENGINES", "only_reference", "solved_by"]

#: By whom bounds are solved: as always, or by HiGHS alone.
ENGINES = ("kernel", "reference")


def _nothing(self: BoundSolver, targets: Targets) -> tuple[Certified, None]:
    """What a kernel would return that neither proves anything nor fails."""
    count = len(targets)
    return Certified(np.full(count, -np.inf), np.full(count, np.inf), np.zeros((count, self.program.n_weights))), None


@contextmanager
def only_reference() -> Iterator[None]:
    """Let HiGHS solve all bounds, without a warning; baseline models are found as always.

    It holds for this process and its threads, not for other processes.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoundSolver, "_by_kernel", _nothing)
        yield


def solved_by(engine: str) -> AbstractContextManager[None]:
    """Let bounds be solved by one of :data:`ENGINES`."""
    return {"kernel": nullcontext, "reference": only_reference}[engine]()

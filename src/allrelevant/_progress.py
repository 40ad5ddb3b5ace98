"""Progress of long work, for people at a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Progress", "watched"]

_watcher: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Callable[[str, int, int], None]) -> Iterator[None]:
    """Tell `watcher` the stage, how many of its steps are done and how many there are, of all work begun inside.

    It is called from whichever thread did the step, so it should return soon.
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


class Progress:
    """Says on standard error which stage is running and how far it is, and keeps the CPU seconds of every stage.

    Parameters
    ----------
    verbose : int
        0 says nothing, 1 one line per stage, 2 also how far a stage is, twice a second at most.
    """

    def __init__(self, verbose: int = 0) -> None:
        self.verbose = verbose
        self.cpu_seconds: dict[str, float] = {}
        self._lock = threading.Lock()
        self._stage, self._total, self._done = "", 0, 0
        self._elsewhere = 0.0
        self._began = self._said = 0.0
        self._watcher = _watcher.get()

    @contextmanager
    def stage(self, name: str, total: int) -> Iterator[None]:
        """Count what happens inside as one stage of `total` steps."""
        cpu = self._cpu()
        self._stage, self._total, self._done = name, total, 0
        self._began = self._said = time.monotonic()
        self._tell()
        try:
            yield
        finally:
            self.cpu_seconds[name] = self.cpu_seconds.get(name, 0.0) + self._cpu() - cpu
        if self.verbose:
            self._say(f"[allrelevant] {name}: {self._done} done in {time.monotonic() - self._began:.1f} s\n")

    def step(self, count: int = 1, elsewhere: float = 0.0) -> None:
        """Count steps of the running stage as done, and CPU seconds that other processes spent on them."""
        with self._lock:
            self._done += count
            self._elsewhere += elsewhere
            self._tell()
            now = time.monotonic()
            if self.verbose < 2 or now - self._said < 0.5:
                return
            self._said = now
            left = (now - self._began) * (self._total / max(self._done, 1) - 1.0)
            self._say(f"[allrelevant] {self._stage}: {self._done} of {self._total}, about {left:.0f} s left\n")

    def include(self, part: Progress) -> None:
        """Count the CPU seconds that other processes spent on a part that had steps of its own."""
        with self._lock:
            self._elsewhere += part._elsewhere

    def _tell(self) -> None:
        if self._watcher is not None:
            self._watcher(self._stage, self._done, self._total)

    def _cpu(self) -> float:
        return time.process_time() + self._elsewhere

    @staticmethod
    def _say(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

"""Progress of long work, for people at a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Progress"]


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
        self._began = self._said = 0.0

    @contextmanager
    def stage(self, name: str, total: int) -> Iterator[None]:
        """Count what happens inside as one stage of `total` steps."""
        cpu = time.process_time()
        self._stage, self._total, self._done = name, total, 0
        self._began = self._said = time.monotonic()
        try:
            yield
        finally:
            spent = time.process_time() - cpu
            self.cpu_seconds[name] = self.cpu_seconds.get(name, 0.0) + spent
        if self.verbose:
            self._say(f"[allrelevant] {name}: {self._done} done in {time.monotonic() - self._began:.1f} s\n")

    def step(self, count: int = 1) -> None:
        """Count steps of the running stage as done; safe from several threads."""
        with self._lock:
            self._done += count
            now = time.monotonic()
            if self.verbose < 2 or now - self._said < 0.5:
                return
            self._said = now
            left = (now - self._began) * (self._total / max(self._done, 1) - 1.0)
            self._say(f"[allrelevant] {self._stage}: {self._done} of {self._total}, about {left:.0f} s left\n")

    @staticmethod
    def _say(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

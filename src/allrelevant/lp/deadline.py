"""How long work may take: a moment that engines look at between two steps, and stop where they are."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from allrelevant.errors import TimeLimitReached

__all__ = ["Deadline", "check_time", "current_deadline", "seconds_left", "time_is_up"]


class Deadline:
    """A moment so many seconds from now.

    It holds for what is done in :meth:`watched`, in this thread; other threads and processes are handed it. A clock
    that counts seconds means nothing on another machine: what arrives there is the time that was left when it was sent.

    Parameters
    ----------
    seconds : float or None
        How long; for ever if None.

    Examples
    --------
    >>> from allrelevant.lp.deadline import Deadline, time_is_up
    >>> with Deadline(0.0).watched():
    ...     time_is_up()
    True
    >>> time_is_up()
    False
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def end(self) -> float:
        """The moment, as the monotonic clock of this machine has it; infinite without a limit."""
        return self._end

    @property
    def left(self) -> float:
        """Seconds left, at least 0; infinite without a limit."""
        return max(self._end - time.monotonic(), 0.0)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let all that is done inside, by this thread, end in time."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def __getstate__(self) -> tuple[float | None, float, float, str]:
        return self.seconds, self._end, self.left, platform.node()

    def __setstate__(self, state: tuple[float | None, float, float, str]) -> None:
        self.seconds, self._end, left, node = state
        if node != platform.node():
            self._end = time.monotonic() + left


_NEVER = Deadline()
_current: ContextVar[Deadline] = ContextVar("deadline", default=_NEVER)


def current_deadline() -> Deadline:
    """Return the deadline of what this thread does."""
    return _current.get()


def seconds_left() -> float:
    """Return how long this thread may go on."""
    return _current.get().left


def time_is_up() -> bool:
    """Say whether this thread should stop."""
    return _current.get().left <= 0.0


def check_time() -> None:
    """Stop, where there is nothing yet to return.

    Raises
    ------
    TimeLimitReached
        If time is up.
    """
    deadline = _current.get()
    if deadline.left <= 0.0:
        raise TimeLimitReached(
            f"time_limit={deadline.seconds:g} (seconds) was reached before the baseline model was found, without which "
            "nothing can be bounded; allow more time, or give C to do without the search for it"
        )

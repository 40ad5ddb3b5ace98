"""What a fit may not leave behind."""

from __future__ import annotations

import os
import threading
import time


def check_threads(before):
    """No more threads may run than before; one needs a moment to end."""
    for _ in range(100):
        if threading.active_count() <= before:
            return
        time.sleep(0.05)
    raise AssertionError(f"left running: {threading.enumerate()}")


def check_session(leader):
    """No process may be left of the session that a process has led, which has ended."""
    for _ in range(200):
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"processes of the group {leader} are left")

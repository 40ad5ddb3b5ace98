"""What a fit may not leave behind."""

from __future__ import annotations

import threading
import time


def check_threads(before):
    """No more threads may run than before; one needs a moment to end."""
    for _ in range(100):
        if threading.active_count() <= before:
            return
        time.sleep(0.05)
    raise AssertionError(f"left running: {threading.enumerate()}")

"""One thread for the numerical libraries, where workers of our own keep the cores busy."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


def one_thread(user_api: str | None = "blas") -> Any:
    """Limit libraries to one thread until the context that is returned is left; all of them if None."""
    return _libraries(len(sys.modules)).limit(limits=1, user_api=user_api)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Look for the libraries, again when modules were loaded: that takes milliseconds, as much as a small batch."""
    return ThreadpoolController()

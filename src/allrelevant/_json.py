"""Values that JSON can hold, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["plain", "restored"]

_WORDS = ("nan", "inf", "-inf")


def plain(value: Any) -> Any:
    """Turn NumPy scalars and non-finite floats into what JSON can hold."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


def restored(value: Any) -> Any:
    """Turn what :func:`plain` made of non-finite floats back into these."""
    if isinstance(value, dict):
        # Features may be called "float", too: their values are no words.
        if set(value) == {"float"} and value["float"] in _WORDS:
            return float(value["float"])
        return {key: restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [restored(item) for item in value]
    return value

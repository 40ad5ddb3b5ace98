"""Checks of generator arguments; every message names the argument, the value received and what to pass."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np


def check_count(name: str, value: object, *, minimum: int = 0) -> int:
    """Return `value` as an int of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; pass an integer >= {minimum}")
    if value < minimum:
        raise ValueError(f"{name}={value!r} is too small; pass an integer >= {minimum}")
    return int(value)


def check_real(name: str, value: object, *, minimum: float = 0.0, below: float = math.inf) -> float:
    """Return `value` as a float of the half-open range from `minimum` to `below`."""
    wanted = f"pass a number in [{minimum:g}, {below:g})"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; {wanted}")
    number = float(value)
    if not minimum <= number < below:  # also refuses nan
        raise ValueError(f"{name}={value!r} is out of range; {wanted}")
    return number


def check_flag(name: str, value: object) -> bool:
    """Return `value` as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; pass True or False")
    return bool(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of the strings `choices`."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(known)}")
    return value

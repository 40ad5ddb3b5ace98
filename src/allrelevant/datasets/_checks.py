"""Checks of generator arguments; every message names the argument, the value received and what to pass."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray


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


def check_both_classes(y: NDArray[np.int64], *, random_state: object) -> None:
    """Refuse labels -1 and +1 that are all the same."""
    if np.all(y == y[0]):
        raise ValueError(
            f"n_samples={len(y)} and random_state={random_state!r} gave labels of one class only, "
            f"{y[0]:+d}; raise n_samples or pass another random_state"
        )


def check_class_count(n_classes: object, *, n_samples: int) -> int:
    """Return `n_classes` as an int of at least 2 and at most `n_samples`."""
    n_classes = check_count("n_classes", n_classes, minimum=2)
    if n_samples < n_classes:
        raise ValueError(
            f"n_samples={n_samples} leaves some of n_classes={n_classes} without a sample; "
            "raise n_samples or lower n_classes"
        )
    return n_classes

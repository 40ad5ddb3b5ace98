"""Tables with categories and missing values as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Categories", "encode", "mark_categories"]

#: Values of the categorical columns, in the order of their codes, by position of the column.
Categories = dict[int, list[Any]]


def encode(X: Any, known: Categories | None = None) -> tuple[Any, Categories]:
    """Replace the categories of a data frame by their codes; values that are not `known` count as missing.

    What is not a data frame of pandas' kind is returned as it is.
    """
    if not hasattr(X, "dtypes") or not hasattr(X, "isetitem"):
        return X, {}
    if known is None:
        known = {k: list(kind.categories) for k, kind in enumerate(X.dtypes) if hasattr(kind, "categories")}
    encoded = X.copy(deep=False)
    for k in (k for k in known if k < X.shape[1]):
        encoded.isetitem(k, _codes(X.iloc[:, k], known[k]))
    return encoded, known


def _codes(column: Any, values: list[Any]) -> NDArray[np.float64]:
    place = {value: float(k) for k, value in enumerate(values)}
    return np.array([place.get(value, np.nan) for value in column])


def mark_categories(given: Any, names: list[str], found: Categories) -> NDArray[np.bool_]:
    """Which columns hold categories: those found, or those `given` by position, name or mask."""
    mask = np.zeros(len(names), dtype=bool)
    if isinstance(given, str) and given == "from_dtype":
        mask[list(found)] = True
        return mask
    if given is None:
        return mask
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(
            f"categorical_features={given!r}; give 'from_dtype', None, or a list of columns by position, name or mask"
        )
    chosen = list(given)
    if len(chosen) == len(names) and all(isinstance(value, bool | np.bool_) for value in chosen):
        return np.array(chosen, dtype=bool)
    for column in chosen:
        if isinstance(column, Integral) and -len(names) <= int(column) < len(names):
            mask[int(column)] = True
        elif isinstance(column, str) and column in names:
            mask[names.index(column)] = True
        else:
            raise ValueError(
                f"categorical_features names column {column!r}, which X does not have; its columns are 0 to "
                f"{len(names) - 1}" + (f", such as {names[0]!r}" if names else "")
            )
    return mask

"""Checks of what is particular to relevance estimators: privileged features, and columns that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, _num_samples

from allrelevant.lp import Array
from allrelevant.lp.matrix import Matrix

__all__ = ["STORAGE", "Member", "Samples", "check_privileged", "resolve_groups"]

#: Data of any of these kinds.
Samples: TypeAlias = ArrayLike | Matrix
#: How data may be stored, for scikit-learn's validation; all else is converted. All computing is done in double
#: precision, where numbers of single precision are exact: converting only what is worked on saves a copy of the whole.
STORAGE: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

#: Name of a feature and its columns.
Member = tuple[str, NDArray[np.intp]]


def check_privileged(X_privileged: Any, n_samples: int) -> tuple[Array, list[str]]:
    """Return privileged features as numbers, and their names."""
    if sparse.issparse(X_privileged):
        raise TypeError(
            f"X_privileged is a {type(X_privileged).__name__}, but privileged features must be dense; give "
            "X_privileged.toarray()"
        )
    if not hasattr(X_privileged, "__array__"):
        X_privileged = np.asarray(X_privileged)
    rows = _num_samples(X_privileged)
    if rows != n_samples:
        raise ValueError(
            f"X_privileged has {rows} rows but X has {n_samples}; give the privileged features of the same samples, in "
            "the same order"
        )
    names = _get_feature_names(X_privileged)
    values = check_array(X_privileged, dtype=np.float64, input_name="X_privileged")
    return values, [f"p{k}" for k in range(values.shape[1])] if names is None else [str(name) for name in names]


def resolve_groups(feature_groups: Any, names: Sequence[str]) -> list[Member]:
    """Return all features, groups and single columns, in the order of their first columns."""
    group_of: dict[int, str] = {}
    groups: dict[str, list[int]] = {}
    for label, columns in _named(feature_groups):
        if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
            raise TypeError(
                f"feature_groups: group {label!r} is {columns!r}; give a list of columns, by position or by name"
            )
        found = [_position(column, label, names) for column in columns]
        if not found:
            raise ValueError(f"feature_groups: group {label!r} is empty; leave it out or name its columns")
        for k in found:
            if k in group_of:
                where = f"in group {label!r} twice" if group_of[k] == label else f"in {group_of[k]!r} and in {label!r}"
                raise ValueError(
                    f"feature_groups: column {names[k]!r} is {where}; groups must not overlap, so leave it in one place"
                )
            group_of[k] = label
        groups[label] = sorted(found)
    members = [(label, np.array(columns, dtype=np.intp)) for label, columns in groups.items()]
    members += [(names[k], np.array([k], dtype=np.intp)) for k in range(len(names)) if k not in group_of]
    return sorted(members, key=lambda member: int(member[1][0]))


def _named(feature_groups: Any) -> list[tuple[str, Any]]:
    if feature_groups is None:
        return []
    if isinstance(feature_groups, Mapping):
        return [(str(label), columns) for label, columns in feature_groups.items()]
    if isinstance(feature_groups, str | bytes) or not isinstance(feature_groups, Iterable):
        raise TypeError(
            f"feature_groups is {feature_groups!r}; give a dictionary of names and lists of columns, or a list of lists"
        )
    return [(f"group{k}", columns) for k, columns in enumerate(feature_groups)]


def _position(column: Any, label: str, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"feature_groups: column {column!r} of group {label!r} is none of the features of X")
        return list(names).index(column)
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if not 0 <= column < len(names):
            raise ValueError(
                f"feature_groups: column {column} of group {label!r} is out of range; the columns of X are 0 to "
                f"{len(names) - 1}"
            )
        return int(column)
    raise TypeError(f"feature_groups: column {column!r} of group {label!r} is neither a position nor a name")

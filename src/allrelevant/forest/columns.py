"""Columns that a forest cannot tell apart, and an order of columns that does not depend on how they were given."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from allrelevant.forest.learner import Array, Indices

__all__ = ["distinct"]


def distinct(X: Array, categorical: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Find columns that order the samples alike, or in the opposite order: to a tree these are one feature.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Values, NaN where they are missing.
    categorical : ndarray of shape (n_features,)
        Which columns hold categories; they are only one feature if their codes are the same.

    Returns
    -------
    first : ndarray of shape (n_distinct,)
        One column of each kind, in an order that depends on what the columns hold alone.
    member : ndarray of shape (n_features,)
        Position in `first` of the column that stands for each.
    """
    described = [_describe(X[:, k], bool(categorical[k])) for k in range(X.shape[1])]
    _, first, member = np.unique(np.array(described), return_index=True, return_inverse=True)
    return first, member.reshape(-1)


def _describe(column: Array, categorical: bool) -> bytes:
    known = np.isfinite(column)
    values = column if categorical else rankdata(column, nan_policy="omit")
    choices = [values] if categorical else [values, known.sum() + 1.0 - values]
    digests = (hashlib.blake2b(np.where(known, choice, -1.0).tobytes(), digest_size=16) for choice in choices)
    return bytes([categorical]) + min(digest.digest() for digest in digests) + b"."

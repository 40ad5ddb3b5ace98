"""Columns that are scaled and shifted copies of each other are the same once standardised, but for rounding."""

from __future__ import annotations

import numpy as np

from allrelevant.lp import Array

__all__ = ["unite_copies"]

#: Differences that rounding makes, in units of the precision of the greatest number it was made of.
ROUNDING = 32.0


def unite_copies(X: Array, distance: Array) -> None:
    """Let columns that differ from another one, or from its negative, by rounding only, be the same; in place.

    Then they share their programs, as columns do that were the same when they were given.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Standardised columns.
    distance : ndarray of shape (d,)
        How far they were from 0 before they were shifted, in units of what they were divided by.
    """
    n = len(X)
    if not X.size:
        return
    # Copies have the same product with any vector, up to the sign; others with this one as good as never.
    direction = np.cos(np.arange(n) + 0.5)
    product = np.abs(direction @ X)
    rounding = ROUNDING * np.finfo(X.dtype).eps * (np.sqrt(n) + distance)
    order = np.argsort(product, kind="stable")
    close = np.diff(product[order]) <= n * np.maximum(rounding[order[1:]], rounding[order[:-1]])
    # Runs of columns, each as close to the next.
    for run in np.split(order, np.flatnonzero(~close) + 1):
        if len(run) > 1 and product[run].any():
            _unite(X, np.sort(run), rounding)


def _unite(X: Array, some: Array, rounding: Array) -> None:
    """Compare columns with the first ones that are unlike each other."""
    first: list[int] = []
    for k in some.tolist():
        for j in first:
            limit = max(rounding[j], rounding[k])
            # Either they agree everywhere or they are each other's negatives.
            sign = 1.0 if X[:, j] @ X[:, k] >= 0.0 else -1.0
            if np.abs(X[:, k] - sign * X[:, j]).max() <= limit:
                X[:, k] = sign * X[:, j]
                break
        else:
            first.append(k)

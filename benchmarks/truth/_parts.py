"""Columns and targets that designs are put together from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.truth.record import NEEDED, NOISE, REDUNDANT

Shape = Callable[[np.ndarray], np.ndarray]
#: Spread of the error of a target, as a share of that of what the columns tell.
ERROR = 0.4


def mixture(
    rng: np.random.Generator,
    n: int,
    *,
    needed: int = 6,
    copies: Sequence[int] = (3, 3),
    noise: int = 18,
    jitter: float = 0.1,
    shape: Shape = np.asarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw needed columns, groups of copies of a hidden one, and noise, all with a little measurement error.

    All are standard normal and then bent by `shape`: the hidden ones and, after the error, the columns.

    Returns
    -------
    X : ndarray of shape (n, needed + sum(copies) + noise)
        The columns.
    truth : ndarray
        Their grades.
    score : ndarray of shape (n,)
        Sum of the needed and the hidden columns before the error, each of which has variance 1.
    """
    hidden = rng.standard_normal((n, needed + len(copies)))
    X = np.hstack([np.repeat(hidden, [1] * needed + list(copies), axis=1), rng.standard_normal((n, noise))])
    X += jitter * rng.standard_normal(X.shape)
    truth = np.repeat([NEEDED, REDUNDANT, NOISE], [needed, sum(copies), noise])
    bent = shape(hidden)
    return shape(X), truth, (bent / bent.std(axis=0)).sum(axis=1)


def two_classes(
    score: np.ndarray, rng: np.random.Generator, *, positive: float = 0.5, flipped: float = 0.0
) -> np.ndarray:
    """Cut a score where the share `positive` lies above, and flip a share of the labels, exactly so many."""
    n = len(score)
    y = -np.ones(n, dtype=int)
    y[np.argsort(score)[n - round(positive * n) :]] = 1
    y[rng.choice(n, round(flipped * n), replace=False)] *= -1
    return y


def measured(score: np.ndarray, rng: np.random.Generator, *, error: float = ERROR) -> np.ndarray:
    """Add normal error to a score, `error` times as spread as the score."""
    return score / score.std() + error * rng.standard_normal(len(score))


def labelled(
    kind: str,
    score: np.ndarray,
    rng: np.random.Generator,
    *,
    error: float = ERROR,
) -> np.ndarray:
    """Target of a kind: the score with normal error, or the halves of that."""
    y = measured(score, rng, error=error)
    return y if kind == "regression" else two_classes(y, rng)


def factor_columns(
    rng: np.random.Generator, n: int, d: int, n_factors: int, *, own: float = 0.6
) -> tuple[np.ndarray, np.ndarray]:
    """Draw `d` columns of variance 1 that load on common factors; `own` is the spread of what is a column's own.

    Returns
    -------
    X : ndarray of shape (n, d)
        The columns.
    factors : ndarray of shape (n, n_factors)
        The factors.
    """
    loadings = rng.standard_normal((n_factors, d))
    loadings *= np.sqrt(1 - own**2) / np.linalg.norm(loadings, axis=0)
    factors = rng.standard_normal((n, n_factors))
    return factors @ loadings + own * rng.standard_normal((n, d)), factors


def chain(rng: np.random.Generator, n: int, d: int, r: float) -> np.ndarray:
    """Draw columns of variance 1 each of which has correlation `r` with the one before it and depends on no other."""
    X = rng.standard_normal((n, d))
    for k in range(1, d):
        X[:, k] = r * X[:, k - 1] + np.sqrt(1 - r**2) * X[:, k]
    return X


def near_copies(rng: np.random.Generator, n: int, sizes: Sequence[int], r: float) -> np.ndarray:
    """Draw blocks of columns of variance 1 whose pairs have correlation `r` within a block."""
    hidden = np.repeat(rng.standard_normal((n, len(sizes))), sizes, axis=1)
    return np.sqrt(r) * hidden + np.sqrt(1 - r) * rng.standard_normal(hidden.shape)

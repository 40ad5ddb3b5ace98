"""Evidence of a feature alone: its dependence on the target, whatever the other features say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from allrelevant.inference.pvalues import NullSample

__all__ = ["N_PERMUTATIONS", "alone_pvalues", "companions"]

Array = NDArray[np.float64]

#: Permutations of the rows that a feature's statistic is compared with.
N_PERMUTATIONS = 1000
#: Numbers in the permuted scores that are multiplied at a time.
AT_ONCE = 2**20
#: Shares of the variance are kept this far from 0 and 1.
TINY = 1e-12
#: Columns whose values differ by less than this share of the greatest are constant.
ROUNDING = 1e-12
#: Columns of which no more than this share is left are functions of what is given.
EXPLAINED = 1e-9
#: Statistics that differ by less than this share of the greatest are the same.
SAME = 1e-9


def alone_pvalues(
    X: Array,
    scores: Array,
    permutations: Iterable[NDArray[np.intp]],
    *,
    sample_weight: Array | None = None,
    given: Array | None = None,
    members: Sequence[NDArray[np.intp]] | None = None,
) -> Array:
    """Return p-values of the dependence of every feature on the target, by permutation of the rows.

    The statistic is the share of a column's variance that the scores of the target explain, ``R²``, the score test of a
    model without features: the correlation for one column of scores, the analysis of variance for several. It is taken
    of the values and of their ranks, and the greater counts. Its distribution is that over permutations of the rows,
    whatever the distribution of the values.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        The columns.
    scores : ndarray of shape (n_samples, n_scores)
        Scores of the target: the gradient of the loss at a model without features; for two classes their labels.
    permutations : iterable of ndarray of shape (n_samples,)
        Permutations of the rows under which they are exchangeable.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples in the gradient.
    given : ndarray of shape (n_samples, n_given), default=None
        What is known of the samples: only what it leaves of scores and columns counts (partial correlation).
    members : sequence of ndarray, default=None
        Columns of every feature, where features have several; the greatest share of a column counts. By default every
        column is a feature.

    Returns
    -------
    ndarray of shape (n_features,)
        The p-values; 1 for constant features.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.inference import alone_pvalues
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X[:, :1] + rng.normal(size=(50, 1))
    >>> alone_pvalues(X, y, (rng.permutation(50) for _ in range(1000))) < 0.01
    array([ True, False, False])
    """
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else sample_weight
    known = np.zeros((n, 0)) if given is None else given
    X = np.where(_constant(X), 0.0, X)  # rounding has ranks
    kinds = []
    for convert in (np.asarray, _ranks):
        values, basis = _unit(_left(convert(X), convert(known))), _basis(convert(scores), convert(known), weight)
        kinds.append((values, basis))
    n_scores = kinds[0][1].shape[1]
    if not n_scores or kinds[1][1].shape[1] != n_scores:
        return np.ones(d if members is None else len(members))
    observed = [basis.T @ values for values, basis in kinds]
    drawn: list[list[Array]] = [[], []]
    source = iter(permutations)
    while some := list(islice(source, max(1, AT_ONCE // (n * n_scores)))):
        rows = np.stack(some)
        for k, (values, basis) in enumerate(kinds):
            permuted = basis[rows].transpose(0, 2, 1).reshape(-1, n)
            drawn[k].append((permuted @ values).reshape(len(rows), n_scores, d))
    share = np.zeros((sum(len(part) for part in drawn[0]) + 1, d))
    for first, parts in zip(observed, drawn, strict=True):
        products = np.concatenate([first[None], *parts])
        # Under restricted permutations the mean is not 0: it is taken from the permutations.
        products -= products[1:].mean(axis=0)
        share = np.maximum(share, (products**2).sum(axis=1))
    if members is not None:
        share = np.column_stack([share[:, columns].max(axis=1) for columns in members])
    surprise = _surprise(np.minimum(share, 1.0), n_scores, n)
    # Where values repeat many arrangements are equal, and whether they are must not be a matter of rounding.
    surprise[0] -= SAME * np.abs(surprise).max(axis=0)
    pvalues = np.array([NullSample.of(one[1:]).pvalues(one[:1])[0] for one in surprise.T])
    return np.where(share.max(axis=0) > TINY, pvalues, 1.0)


def companions(X: Array, scores: Array, feature: int, others: NDArray[np.intp], count: int = 3) -> NDArray[np.intp]:
    """Return the columns beside which one tells most more of the target than alone, the first being the best.

    The share of the target's scores that the column explains is compared with the share that it explains of what one
    other column leaves of them (the partial correlation).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        The columns.
    scores : ndarray of shape (n_samples, n_scores)
        Scores of the target.
    feature : int
        The column.
    others : ndarray of int
        The columns that may be its companions.
    count : int, default=3
        How many to name, at most.
    """
    basis = _basis(scores, np.zeros((len(X), 0)), np.ones(len(X)))
    unit = _unit(X[:, [feature, *others]])
    together = basis.T @ unit
    between = unit[:, 1:].T @ unit[:, 0]
    share = (together**2).sum(axis=0)
    left = together[:, :1] - together[:, 1:] * between
    room = (1.0 - between**2) * (1.0 - share[1:])
    partial = (left**2).sum(axis=0) / np.maximum(room, TINY)
    order = np.argsort(-partial, kind="stable")
    return np.asarray(others[order[partial[order] > 2.0 * share[0]][:count]], dtype=np.intp)


def _constant(values: Array) -> NDArray[np.bool_]:
    return np.asarray(np.ptp(values, axis=0) <= ROUNDING * np.abs(values).max(axis=0, initial=0.0))


def _ranks(values: Array) -> Array:
    return np.asarray(rankdata(values, axis=0)) if values.shape[1] else values


def _left(values: Array, given: Array) -> Array:
    """What a linear function of what is given leaves of every column; constant columns are exactly 0."""
    left = values - values.mean(axis=0)
    left[:, _constant(values)] = 0.0
    if given.shape[1]:
        known, before = given - given.mean(axis=0), np.linalg.norm(left, axis=0)
        left -= known @ np.linalg.lstsq(known, left, rcond=None)[0]
        left[:, np.linalg.norm(left, axis=0) <= EXPLAINED * before] = 0.0
    return np.asarray(left)


def _unit(left: Array) -> Array:
    """Columns with mean 0 brought to length 1."""
    length = np.sqrt((left**2).sum(axis=0))
    return np.asarray(left / np.where(length > 0.0, length, 1.0))


def _basis(scores: Array, given: Array, weight: Array) -> Array:
    """An orthonormal basis of the weighted scores less their weighted mean, which is the gradient of a squared loss."""
    mean = weight @ scores / weight.sum()
    gradient = _left(weight[:, None] * (scores - mean), given)
    basis, sizes, _ = np.linalg.svd(gradient, full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)])


def _surprise(share: Array, n_scores: int, n: int) -> Array:
    """Minus the logarithm of the chance of at least such a share of the variance by the law of normal values.

    Such a share follows a beta distribution, of which this is the leading term (but for a constant) above its mode. The
    statistic is thereby brought to the scale of an exponential distribution, where tails are easy to fit.
    """
    a, b = 0.5 * n_scores, max(0.5 * (n - 1 - n_scores), 0.5)
    share = np.clip(share, max((a - 1.0) / (a + b), TINY), 1.0 - TINY)
    return np.asarray(-b * np.log1p(-share) - (a - 1.0) * np.log(share))

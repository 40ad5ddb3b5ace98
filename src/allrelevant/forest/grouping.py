"""Relevant features that do the same work: how much of a feature's work is lost if another one has to tell its values.

The values of a feature are drawn anew from samples that are alike in another feature, and a forest predicts unseen
samples with these. What the other feature tells of it is kept, everything else is permuted. Beside what is lost when
nothing is kept this is a distance from 0 to 1 that does not depend on how many copies of a feature there are, that sees
what is no correlation, and that counts little of what two features share but the target does not need.
benchmarks/papers/forest_groups.py compares it with others.
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed

from allrelevant._progress import Progress
from allrelevant.forest.decomposition import FOLDS, SHARE
from allrelevant.forest.learner import Array, Forest, Grown, Indices, Rows, Sample, folds

__all__ = ["alike", "lost_shares", "lost_work"]

#: Times that a feature is drawn anew.
DRAWS = 5
#: Samples on either side that are alike in a feature: a share of all, but at least a number of them.
ALIKE, FEWEST = 0.01, 2
#: Numbers that are predicted from at a time.
BATCH = 2**22


def lost_work(sample: Sample, forest: Forest, *, seed: int, n_jobs: int | None, progress: Progress) -> Array:
    """Share of the work of two features, on average of both, that is lost if the other one has to tell their values.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        Symmetric, from 0 to 1; 0 on the diagonal.
    """
    moved, missed = lost_shares(sample, forest, seed=seed, n_jobs=n_jobs, progress=progress)
    share = (moved + missed) / 2.0
    return np.asarray((share + share.T) / 2.0)


def lost_shares(
    sample: Sample, forest: Forest, *, seed: int, n_jobs: int | None, progress: Progress
) -> tuple[Array, Array]:
    """Share of the work of every feature that is lost if each of the others has to tell its values.

    Work is what a feature adds to predictions of unseen samples. How much of it is lost is measured twice.

    Returns
    -------
    moved : ndarray of shape (n_features, n_features)
        By how far the predictions move. This is certain, but it also counts what is of no use.
    missed : ndarray of shape (n_features, n_features)
        By how much less they have to do with the target. This counts what is of use alone, but it is uncertain where
        that is little.
    """
    n, d = sample.X.shape
    if d < 2:
        return np.zeros((d, d)), np.zeros((d, d))
    rng = np.random.default_rng([seed, 7])
    # Equal values in random order.
    orders = [np.lexsort(np.array([rng.random(n), sample.X[:, k]])) for k in range(d)]
    parts = [(train, test, int(rng.integers(2**31))) for train, test in folds(sample, FOLDS, rng)]
    prepared = forest.prepared(sample)
    parallel = Parallel(n_jobs=n_jobs, require="sharedmem")
    grown = parallel(delayed(forest.grow)(prepared, train, number, SHARE) for train, _, number in parts)
    with progress.stage("features told by others", d):

        def one(k: int) -> Array:
            draw = np.random.default_rng([seed, 8, k])
            found = np.zeros((2, d))
            for (train, test, _), part in zip(parts, grown, strict=True):
                found += _lost(part, sample, orders, k, train, test, draw)
            progress.step()
            return found

        lost = np.array(parallel(delayed(one)(k) for k in range(d))).transpose(1, 0, 2)
    whole = np.diagonal(lost, axis1=1, axis2=2)
    moved, missed = np.clip(lost / np.where(whole > 0.0, whole, 1.0)[:, :, None], 0.0, 1.0)
    # A feature that does no work loses all of it; one whose work is of no use is judged by the work alone.
    moved[whole[0] <= 0.0] = 1.0
    missed[whole[1] <= 0.0] = moved[whole[1] <= 0.0]
    np.fill_diagonal(moved, 0.0)
    np.fill_diagonal(missed, 0.0)
    return moved, missed


def _lost(
    grown: Grown, sample: Sample, orders: list[Indices], k: int, train: Rows, rows: Rows, rng: np.random.Generator
) -> Array:
    """How far predictions move, and how much less they have to do with the target: shape (2, n_features), row sums.

    With feature `k` drawn from samples that are alike in each of the features; at `k` itself, from all samples.
    """
    n, d = sample.X.shape
    X, weight = sample.X[rows], sample.weight[rows, None]
    before = grown.predict(X)
    residuals = weight * sample.target.residuals(rows, train, sample.weight)
    reach = min(max(FEWEST, round(ALIKE * n)), n // 2)
    # One draw for all, so that they differ by what the features tell alone.
    away = rng.integers(1, reach + 1, (DRAWS, len(rows))) * rng.choice([-1, 1], (DRAWS, len(rows)))
    anywhere = rng.permuted(np.tile(np.arange(n), (DRAWS, 1)), axis=1)[:, rows]
    found = np.empty((2, d))
    size = max(1, BATCH // (DRAWS * X.size))
    for start in range(0, d, size):
        others = range(start, min(start + size, d))
        drawn = np.array([anywhere if j == k else alike(orders[j], rows, away) for j in others])
        changed = np.tile(X, (drawn.size // len(rows), 1))
        changed[:, k] = sample.X[drawn.ravel(), k]
        move = before - grown.predict(changed).reshape(*drawn.shape, -1)
        found[0, others] = (weight * (move**2).mean(axis=1)).sum(axis=(1, 2))
        found[1, others] = (residuals * move.mean(axis=1)).sum(axis=(1, 2))
    return found


def alike(order: Indices, rows: Rows, away: Indices) -> Indices:
    """Samples so many places away from each of the rows; on the other side, where there are no more."""
    n = len(order)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    there = place[rows] + away
    return order[np.where((there < 0) | (there >= n), place[rows] - away, there)]

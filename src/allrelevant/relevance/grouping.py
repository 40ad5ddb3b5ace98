"""Features that play the same part: grouped by what happens to all others when each is held at its extremes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from allrelevant.errors import SolverError
from allrelevant.formulations import Feature
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices
from allrelevant.relevance.intervals import Intervals, representatives
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.presets import Limit, bounded_intervals
from allrelevant.relevance.solving import Solving

__all__ = ["context_distances", "contexts", "data_driven_cut", "flat_groups", "height_between", "tree"]

#: How much further than typical companions features of one group may be apart, and share of the largest distance that
#: separates nothing. Found by experiment on groups of identical and of noisy copies.
CLOSE, NEXT_TO_NOTHING = 1.2, 0.05
#: Contexts that differ by less than this, in units of relevance, are the same.
SAME = 1e-4


def contexts(
    near: NearOptimalSet,
    features: Sequence[Feature],
    chosen: Sequence[int],
    ends: Intervals,
    solving: Solving,
) -> tuple[Array, int]:
    """Change of the intervals of the chosen features when each of them is held at its least and at its most relevance.

    Features with the same columns, or their negatives, play the same part: what is found for one is exchanged for the
    others. A feature that no near-optimal model uses moves nothing.

    Returns
    -------
    changes : ndarray of shape (n_chosen, 2, n_chosen, 2)
        First axes: the feature held, at its least and at its most. Last axes: the change of ``minRel`` and ``maxRel``.
        What a feature does to itself is left out, as 0.
    n_programs : int
        Linear programs solved.
    """
    some = [features[k] for k in chosen]
    place = representatives(near.program, some)
    out, n_programs = np.zeros((len(some), 2, len(some), 2)), 0
    first = [i for i in range(len(some)) if place[i] == i and ends.maximum[chosen[i]] > 0.0]
    with solving.progress.stage("contexts", 2 * len(first)):
        for i in first:
            for side, value in enumerate((ends.minimum[chosen[i]], ends.maximum[chosen[i]])):
                out[i, side], solved = _change(near, features, chosen, i, float(value), ends, solving)
                n_programs += solved
                solving.progress.step()
    for i, k in enumerate(place):
        if 0 <= k != i:
            out[i] = out[k]
            out[i][:, [i, k]] = out[k][:, [k, i]]
    return out, n_programs


def _change(
    near: NearOptimalSet,
    features: Sequence[Feature],
    chosen: Sequence[int],
    i: int,
    value: float,
    ends: Intervals,
    solving: Solving,
) -> tuple[Array, int]:
    quiet = Solving(solving.n_jobs)
    held = {chosen[i]: Limit(value, value)}
    found = bounded_intervals(near, features, held, ends, quiet, wanted=chosen)
    if found is None:
        raise SolverError(
            f"no near-optimal model was found in which a feature has the end {value:.6g} of its own interval; better "
            "scaled data may help"
        )
    out = np.column_stack([found.minimum - ends.minimum, found.maximum - ends.maximum])[list(chosen)]
    out[i] = 0.0
    return np.asarray(out), found.n_programs


def context_distances(changes: Array) -> Array:
    """Euclidean distance of every two contexts, without what the two features do to each other and to themselves."""
    count = len(changes)
    flat = changes.transpose(0, 2, 1, 3).reshape(count, count, 4)
    out = np.zeros((count, count))
    for i in range(count):
        apart = ((flat[i] - flat) ** 2).sum(axis=2)
        apart[:, i] = 0.0
        np.fill_diagonal(apart, 0.0)
        out[i] = np.sqrt(apart.sum(axis=1))
    return np.maximum(out, out.T)


def tree(distances: Array, method: str) -> Array:
    """Agglomerative clustering, as SciPy writes it."""
    if len(distances) < 2:
        return np.zeros((0, 4))
    return np.asarray(linkage(squareform(distances, checks=False), method=method))


def data_driven_cut(distances: Array, largest: float) -> float:
    """Height at which to cut a tree of redundant features, by how far these are from their companions.

    A redundant feature has at least one that plays the same part. So features are of one group that are about as close
    as a feature typically is to the nearest other one; and a distance that is next to nothing beside the largest one,
    of features of any class, separates nothing.
    """
    if len(distances) < 2:
        return 0.0
    nearest = np.where(np.eye(len(distances), dtype=bool), np.inf, distances).min(axis=1)
    return float(max(CLOSE * np.median(nearest) + NEXT_TO_NOTHING * largest, SAME))


def height_between(links: Array, n_groups: int) -> float:
    """Height that cuts a tree into so many groups; into fewer where links of the same height leave no such cut."""
    heights = np.concatenate([[0.0], np.sort(links[:, 2]), [np.inf]])
    low, high = heights[len(links) + 1 - n_groups], heights[len(links) + 2 - n_groups]
    return float(low if high == low else (low + high) / 2 if np.isfinite(high) else 1.1 * low)


def flat_groups(links: Array, count: int, height: float) -> Indices:
    """Cut a tree of so many features at a height; numbers start at 0 in order of appearance."""
    if not len(links):
        return np.zeros(count, dtype=np.intp)
    labels = fcluster(links, height, criterion="distance")
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[place.reshape(-1)], dtype=np.intp)

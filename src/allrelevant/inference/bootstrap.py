"""Samples drawn again, to see what of a result depends on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bootstrap"]


def bootstrap(
    weight: NDArray[np.float64],
    strata: NDArray[Any] | None,
    rng: np.random.RandomState,
    groups: NDArray[np.intp] | None = None,
    least: int = 1,
) -> NDArray[np.float64]:
    """Return how often every sample is drawn, as many in all as there are, within strata.

    Groups, which have numbers from 0, are drawn as a whole, as many as there are: among those with samples of the same
    strata. The weights of their samples are kept. A draw of a stratum that has fewer than `least` different samples or
    groups is drawn again, unless there are no more.
    """
    labels = np.zeros(len(weight)) if strata is None else strata
    if groups is not None:
        numbers = np.unique(labels, return_inverse=True)[1].reshape(-1)
        held = np.zeros((int(groups.max()) + 1, int(numbers.max()) + 1), dtype=bool)
        held[groups, numbers] = True
        of_group = np.unique(held, axis=0, return_inverse=True)[1].reshape(-1)
        return np.asarray(weight * bootstrap(np.ones(len(held)), of_group, rng, least=least)[groups])
    counts = np.zeros(len(weight))
    for group in (np.flatnonzero(labels == label) for label in np.unique(labels)):
        total = max(round(float(weight[group].sum())), 1)
        while (counts[group] > 0).sum() < min(least, len(group), total):
            counts[group] = rng.multinomial(total, weight[group] / weight[group].sum())
    return counts

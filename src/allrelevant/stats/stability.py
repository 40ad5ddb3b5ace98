"""Samples drawn again, to see what of a result depends on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp import Array

__all__ = ["bootstrap"]


def bootstrap(weight: Array, strata: NDArray[Any] | None, rng: np.random.RandomState, least: int = 1) -> Array:
    """Return how often every sample is drawn, as many in all as there are, within strata.

    A draw of a stratum that has fewer than `least` different samples is drawn again, unless there are no more.
    """
    counts = np.zeros(len(weight))
    labels = np.zeros(len(weight)) if strata is None else strata
    for group in (np.flatnonzero(labels == label) for label in np.unique(labels)):
        total = max(round(float(weight[group].sum())), 1)
        while (counts[group] > 0).sum() < min(least, len(group), total):
            counts[group] = rng.multinomial(total, weight[group] / weight[group].sum())
    return counts

"""Samples drawn again, to see what of a result depends on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bootstrap"]


def bootstrap(
    weight: NDArray[np.float64], strata: NDArray[Any] | None, rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Return how often every sample is drawn, as many in all as there are, within strata."""
    counts = np.zeros(len(weight))
    labels = np.zeros(len(weight)) if strata is None else strata
    for group in (np.flatnonzero(labels == label) for label in np.unique(labels)):
        total = max(round(float(weight[group].sum())), 1)
        counts[group] = rng.multinomial(total, weight[group] / weight[group].sum())
    return counts

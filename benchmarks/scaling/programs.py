"""Data that the benchmarks of scaling share."""

from __future__ import annotations

import numpy as np

from benchmarks._common import standardised


def make(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features, and labels by a noisy linear signal."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    X[:, 5] = X[:, 4] + 0.1 * rng.normal(size=n)
    y = np.where(X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return standardised(X), y

"""Small random classification problems of every kind that is known to make trouble."""

from __future__ import annotations

import numpy as np

KINDS = ("plain", "wide", "duplicate", "negated", "constant", "separable", "noisy", "weighted", "ties", "binary")


def problem(kind: str, seed: int):
    """Return X, labels of ±1 and sample weights."""
    rng = np.random.RandomState(seed)
    n, d = rng.randint(12, 40), rng.randint(2, 7)
    if kind == "wide":
        n, d = rng.randint(8, 14), rng.randint(15, 25)
    X = rng.normal(size=(n, d))
    if kind == "ties":
        X = np.round(X)
    if kind == "binary":
        X = (X > 0).astype(float)
    signal = X @ rng.normal(size=d)
    if kind == "noisy":
        signal += 2 * np.abs(signal).max() * rng.normal(size=n)
    elif kind != "separable":
        signal += 0.5 * signal.std() * rng.normal(size=n)
    y = np.where(signal > np.median(signal), 1.0, -1.0)
    y[:2] = -1.0, 1.0
    if kind == "duplicate":
        X = np.hstack([X, X[:, :1]])
    if kind == "negated":
        X = np.hstack([X, -X[:, :1]])
    if kind == "constant":
        X = np.hstack([X, np.full((n, 1), 3.0)])
    weight = rng.choice([0.5, 1.0, 2.0], size=n) if kind == "weighted" else np.ones(n)
    return X, y, weight

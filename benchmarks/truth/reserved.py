"""Designs kept out of every choice: no default may be taken for what it does here.

Some are hard on purpose, for linear models (``xor``, ``even``) or for any test by permuted rows (``time``).
"""

from __future__ import annotations

import numpy as np

from benchmarks.truth._parts import chain, factor_columns, measured, mixture, near_copies, two_classes
from benchmarks.truth.record import NEEDED, NOISE, REDUNDANT, UNGRADED, Record, design


@design("heteroscedastic", reserved=True)
def heteroscedastic(rng: np.random.Generator) -> Record:
    """Regression, 200 rows: 5 of 30 columns; the error is as spread as exp of a needed column and of one ungraded."""
    X = rng.standard_normal((200, 30))
    y = X[:, :5].sum(axis=1) + np.exp(0.7 * (X[:, 0] + X[:, 5])) * rng.standard_normal(200)
    return Record(X, y, "regression", np.repeat([NEEDED, UNGRADED, NOISE], [5, 1, 24]))


@design("xor", reserved=True)
def xor(rng: np.random.Generator) -> Record:
    """Two classes by the sign of a product of two columns, 300 rows of 20: no linear model can see it."""
    X = rng.standard_normal((300, 20))
    return Record(X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1), "classification", np.repeat([NEEDED, NOISE], [2, 18]))


@design("even", reserved=True)
def even(rng: np.random.Generator) -> Record:
    """Regression on two columns and the squares of two others, 200 rows of 30, R² .8."""
    X = rng.standard_normal((200, 30))
    score = X[:, 0] + X[:, 1] + (X[:, 2] ** 2 + X[:, 3] ** 2) / np.sqrt(2)
    return Record(X, measured(score, rng, error=0.5), "regression", np.repeat([NEEDED, NOISE], [4, 26]))


@design("time", family="noise", reserved=True, exchangeable=False)
def time(rng: np.random.Generator) -> Record:
    """Regression, 200 rows in time: 20 columns of noise and the target, each a series of AR(.9)."""
    X = chain(rng, 21, 200, 0.9).T
    return Record(X[:, :20], X[:, 20], "regression", np.full(20, NOISE))


@design("time_signal", reserved=True, exchangeable=False)
def time_signal(rng: np.random.Generator) -> Record:
    """Regression, 200 rows in time: 3 of 20 columns of AR(.9), with an error of AR(.9)."""
    X = chain(rng, 21, 200, 0.9).T
    return Record(X[:, :20], X[:, :3].sum(axis=1) + X[:, 20], "regression", np.repeat([NEEDED, NOISE], [3, 17]))


@design("cauchy", reserved=True)
def cauchy(rng: np.random.Generator) -> Record:
    """Regression, 200 rows of 30 columns without a mean: 4 needed by their arctangents, R² .8."""
    X = rng.standard_cauchy((200, 30))
    y = measured(np.arctan(X[:, :4]).sum(axis=1), rng, error=0.5)
    return Record(X, y, "regression", np.repeat([NEEDED, NOISE], [4, 26]))


@design("chain", reserved=True)
def causal_chain(rng: np.random.Generator) -> Record:
    """Two classes by the last of 6 columns that cause each other, r = .7; four such chains are noise; 250 rows."""
    chains = [chain(rng, 250, 6, 0.7) for _ in range(5)]
    y = two_classes(measured(chains[0][:, -1], rng, error=0.6), rng)
    truth = np.full(30, NOISE)
    # Correlation with the target before it is cut: .86, .60, .42, .29, .21, .14.
    truth[:6] = [UNGRADED, UNGRADED, UNGRADED, REDUNDANT, REDUNDANT, NEEDED]
    return Record(np.hstack(chains), y, "classification", truth)


@design("mixed", reserved=True)
def mixed(rng: np.random.Generator) -> Record:
    """Two classes, 250 rows of 32 columns: normal, 0 and 1, five steps, exponential; 2 of 8 of each needed; scales."""
    normal = rng.standard_normal((250, 8))
    cut = (rng.random((250, 8)) < 0.3).astype(float)
    steps = rng.integers(0, 5, (250, 8)).astype(float)
    tails = rng.exponential(size=(250, 8))
    X = np.hstack([normal, cut, steps, tails])
    needed = np.tile(np.arange(8) < 2, 4)
    score = (X / X.std(axis=0))[:, needed].sum(axis=1)
    y = two_classes(measured(score, rng), rng)
    return Record(X * 10.0 ** rng.integers(-3, 4, 32), y, "classification", np.where(needed, NEEDED, NOISE))


@design("collider", reserved=True)
def collider(rng: np.random.Generator) -> Record:
    """Regression, 200 rows: 2 causes; 2 effects, each with another cause that tells only beside it; 24 noise."""
    causes, others = rng.standard_normal((200, 2)), rng.standard_normal((200, 2))
    y = measured(causes.sum(axis=1), rng, error=0.7)
    effects = y[:, None] + others + 0.4 * rng.standard_normal((200, 2))
    X = np.hstack([causes, effects, others, rng.standard_normal((200, 24))])
    return Record(X, y, "regression", np.repeat([NEEDED, NOISE], [6, 24]))


@design("many_weak", reserved=True)
def many_weak(rng: np.random.Generator) -> Record:
    """Regression, 300 rows: 20 of 60 columns on 4 factors are needed a little, R² .6; 40 of noise on 4 others."""
    signal, _ = factor_columns(rng, 300, 20, 4, own=0.8)
    noise, _ = factor_columns(rng, 300, 40, 4, own=0.8)
    signs = rng.choice([-1.0, 1.0], 20)
    y = measured(signal @ signs, rng, error=0.8)
    return Record(np.hstack([signal, noise]), y, "regression", np.repeat([NEEDED, NOISE], [20, 40]))


@design("ordinal_copies", reserved=True)
def ordinal_copies(rng: np.random.Generator) -> Record:
    """Four ordered classes of unequal size by 4 columns, 250 rows; noise in 5 blocks of 4 near-copies, r = .95."""
    X, truth, score = mixture(rng, 250, needed=4, copies=(), noise=0)
    y = np.digitize(measured(score, rng), [-0.8, 0.2, 1.5])
    X = np.hstack([X, near_copies(rng, 250, [4] * 5, 0.95)])
    return Record(X, y, "ordinal", np.append(truth, np.full(20, NOISE)))


@design("multiclass_factors", reserved=True)
def multiclass_factors(rng: np.random.Generator) -> Record:
    """Four classes of unequal size, 300 rows: means differ in 5 columns; 25 of noise on 3 factors."""
    y = rng.choice(4, 300, p=[0.4, 0.3, 0.2, 0.1])
    means = 0.8 * rng.standard_normal((4, 5))
    noise, _ = factor_columns(rng, 300, 25, 3)
    X = np.hstack([means[y] + rng.standard_normal((300, 5)), noise])
    return Record(X, y, "multiclass", np.repeat([NEEDED, NOISE], [5, 25]))

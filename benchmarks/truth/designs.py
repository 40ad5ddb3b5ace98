"""Designs of rows that are exchangeable, as far as they may be used for choosing.

Where nothing else is said there are 200 rows of 30 columns: 6 needed, two groups of 3 copies of a column that is not
there itself, and 18 of noise; all have a measurement error of .1. The target is made from the sum of the eight columns
behind them with an error of .4 times its spread (R² .86); two classes are its halves.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, poisson, t

from allrelevant.datasets import make_relevance_privileged, make_simulation
from benchmarks.truth._parts import (
    ERROR,
    Shape,
    chain,
    factor_columns,
    labelled,
    measured,
    mixture,
    near_copies,
    two_classes,
)
from benchmarks.truth.record import NEEDED, NOISE, REDUNDANT, UNGRADED, Record, design


def _binary(x: np.ndarray) -> np.ndarray:
    return (x > 0).astype(float)


def _rare(x: np.ndarray) -> np.ndarray:
    return (x > 1.55).astype(float)


def _t3(x: np.ndarray) -> np.ndarray:
    return t.ppf(norm.cdf(x), 3)


def _counts(x: np.ndarray) -> np.ndarray:
    return poisson.ppf(norm.cdf(x), 0.7)


@design("t3", shape=_t3, about="plain, columns of Student's t with 3 degrees of freedom")
@design("lognormal", shape=np.exp, about="plain, columns are exp(x)")
@design("counts", shape=_counts, about="plain, columns are counts of mean .7: mostly ties")
@design("rare", shape=_rare, about="plain, columns of 0 and 1, 6 % ones")
@design("binary", shape=_binary, about="plain, columns of 0 and 1, half each")
@design("n40", n=40, about="plain, 40 rows")
@design("imb20", positive=0.2, about="plain, the highest 20 % positive")
@design("imb10", positive=0.1, about="plain, the highest 10 % positive")
@design("flip20", flipped=0.2, about="plain, 20 % of the labels flipped")
@design("flip10", flipped=0.1, about="plain, 10 % of the labels flipped")
@design("plain", about="two classes of equal size")
def plain(
    rng: np.random.Generator, n: int = 200, positive: float = 0.5, flipped: float = 0.0, shape: Shape = np.asarray
) -> Record:
    """Two classes: the upper share of a sum of columns."""
    X, truth, score = mixture(rng, n, shape=shape)
    y = two_classes(measured(score, rng), rng, positive=positive, flipped=flipped)
    return Record(X, y, "classification", truth)


@design("regression_lognormal", shape=np.exp, about="regression, columns are exp(x)")
@design("regression", about="the sum itself as the target")
def regression(rng: np.random.Generator, shape: Shape = np.asarray) -> Record:
    """Regression on a sum of columns."""
    X, truth, score = mixture(rng, 200, shape=shape)
    return Record(X, measured(score, rng), "regression", truth)


@design("regression_outliers", kind="regression", about="regression, 1 % of the entries times 10")
@design("outliers", kind="classification", about="plain, 1 % of the entries times 10")
def outliers(rng: np.random.Generator, kind: str) -> Record:
    """Wild values among the features, drawn apart from everything else."""
    X, truth, score = mixture(rng, 200)
    X[rng.random(X.shape) < 0.01] *= 10
    return Record(X, labelled(kind, score, rng), kind, truth)


@design("ordinal")
def ordinal(rng: np.random.Generator) -> Record:
    """Five ordered classes of equal size, cut from the sum with its error."""
    X, truth, score = mixture(rng, 200)
    return Record(X, np.argsort(np.argsort(measured(score, rng))) * 5 // len(score), "ordinal", truth)


@design("multiclass")
def multiclass(rng: np.random.Generator) -> Record:
    """Three classes, the greatest of three scores; 300 rows, each score has two of six needed columns and 3 copies."""
    n = 300
    hidden = rng.standard_normal((n, 9))
    X = np.hstack([np.repeat(hidden, [1] * 6 + [3] * 3, axis=1), rng.standard_normal((n, 15))])
    X += 0.1 * rng.standard_normal(X.shape)
    scores = hidden[:, :3] + hidden[:, 3:6] + hidden[:, 6:]
    truth = np.repeat([NEEDED, REDUNDANT, NOISE], [6, 9, 15])
    return Record(X, scores.argmax(axis=1), "multiclass", truth)


@design("privileged")
def privileged(rng: np.random.Generator) -> Record:
    """Two classes, 200 rows, 4 needed, 4 redundant and 12 of noise; the same again, measured better, as privileged."""
    data = make_relevance_privileged(
        "classification", 200, n_strong=4, n_weak=4, n_irrelevant=12, random_state=int(rng.integers(2**31))
    )
    return Record(data.X, data.y, "classification", data.relevance, None, data.X_privileged, data.relevance_privileged)


@design("regression_ar", kind="regression", about="regression on 3 of 15 columns of AR(.9); another chain as noise")
@design("ar", kind="classification", about="two classes by 3 of 15 columns of AR(.9); another chain of 15 as noise")
def ar(rng: np.random.Generator, kind: str) -> Record:
    """Neighbours are correlated; a column is redundant if its correlation with the target is at least .3."""
    d, where = 15, np.array([2, 7, 12])
    X = np.hstack([chain(rng, 200, d, 0.9), chain(rng, 200, d, 0.9)])
    apart = 0.9 ** np.abs(np.arange(d)[:, None] - where)
    among = 0.9 ** np.abs(where[:, None] - where)
    spread = np.sqrt(among.sum() * (1 + ERROR**2))
    truth = np.full(2 * d, NOISE)
    truth[:d] = np.where(apart.sum(axis=1) / spread >= 0.3, REDUNDANT, UNGRADED)
    truth[where] = NEEDED
    return Record(X, labelled(kind, X[:, where].sum(axis=1), rng), kind, truth)


@design("regression_blocks", kind="regression", about="regression on 3 of 6 blocks of 7 columns, r = .7 within, R² .5")
@design("blocks", kind="classification", about="two classes by 3 of 6 blocks of 7 columns, r = .7 within, R² .5")
def blocks(rng: np.random.Generator, kind: str) -> Record:
    """The target depends on what is common to all columns of a block, with error as spread as that."""
    hidden = rng.standard_normal((200, 6))
    X = np.sqrt(0.7) * np.repeat(hidden, 7, axis=1) + np.sqrt(0.3) * rng.standard_normal((200, 42))
    truth = np.repeat([REDUNDANT, NOISE], 21)
    return Record(X, labelled(kind, hidden[:, :3].sum(axis=1), rng, error=1.0), kind, truth)


@design("regression_factors", kind="regression", about="regression on 8 columns on 2 factors; 22 of noise on 3 others")
@design("factors", kind="classification", about="two classes by 8 columns on 2 factors; 22 of noise on 3 others")
def factors(rng: np.random.Generator, kind: str) -> Record:
    """Columns that share factors: those the target depends on and, with others, those of noise; own spread .6."""
    signal, _ = factor_columns(rng, 200, 8, 2)
    noise, _ = factor_columns(rng, 200, 22, 3)
    truth = np.repeat([NEEDED, NOISE], [8, 22])
    return Record(np.hstack([signal, noise]), labelled(kind, signal.sum(axis=1), rng), kind, truth)


@design("noise_copies")
def noise_copies(rng: np.random.Generator) -> Record:
    """Two classes by 4 needed columns; noise in 13 pairs of near-copies, r = .98."""
    X, _, score = mixture(rng, 200, needed=4, copies=(), noise=0)
    X = np.hstack([X, near_copies(rng, 200, [2] * 13, 0.98)])
    return Record(X, two_classes(measured(score, rng), rng), "classification", np.repeat([NEEDED, NOISE], [4, 26]))


@design("regression_suppressors", kind="regression", about="regression on differences of 3 pairs of columns, r = .9")
@design("suppressors", kind="classification", about="two classes by the differences of 3 pairs of columns, r = .9")
def suppressors(rng: np.random.Generator, kind: str) -> Record:
    """Columns of opposite weight hide each other: alone each has a correlation of .13 at most; 24 of noise."""
    pairs = near_copies(rng, 200, [2, 2, 2], 0.9)
    X = np.hstack([pairs, rng.standard_normal((200, 24))])
    score = (pairs[:, ::2] - pairs[:, 1::2]).sum(axis=1)
    return Record(X, labelled(kind, score, rng), kind, np.repeat([NEEDED, NOISE], [6, 24]))


@design("wide")
def wide(rng: np.random.Generator) -> Record:
    """Two classes, 80 rows of 200 columns: 4 needed, none redundant."""
    X, truth, score = mixture(rng, 80, needed=4, copies=(), noise=196)
    return Record(X, two_classes(measured(score, rng), rng), "classification", truth)


@design("sim5", name="sim5", about="the thesis' Sim5, 500 rows of 30 columns: 20 redundant")
@design("sim4", name="sim4", about="the thesis' Sim4, 500 rows of 30 columns: 18 needed")
@design("sim3", name="sim3", about="the thesis' Sim3, 500 rows of 30 columns: 4 needed")
@design("sim2", name="sim2", about="the thesis' Sim2, 500 rows of 30 columns: 12 needed, 8 redundant")
@design("sim1", name="sim1", about="the thesis' Sim1, 500 rows of 30 columns: 4 needed, 4 redundant")
def simulation(rng: np.random.Generator, name: str) -> Record:
    """One of the thesis' sets."""
    data = make_simulation(name, random_state=int(rng.integers(2**31)))
    return Record(data.X, data.y, "classification", data.relevance)

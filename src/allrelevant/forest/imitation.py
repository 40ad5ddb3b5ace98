"""Features imitated by the others: what they tell of a feature, and draws of the rest of it.

Numbers are predicted by a ridge regression, and what it leaves by a forest; categories by a forest. Both halves of the
samples are predicted by what was learnt from the other half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from allrelevant._progress import Progress
from allrelevant.forest.learner import Array, Rows, Sample, Target
from allrelevant.forest.light import LightForest

__all__ = ["Imitation", "imitate"]

#: The forests that imitate.
IMITATOR = LightForest(n_estimators=30, feature_fraction=0.8)
#: Ridge penalty, and its part that grows with features per sample, for features of variance 1.
PENALTY = 1e-3
PENALTY_PER_SHARE = 0.1
#: Powers of probabilities that are tried.
POWERS = (1.0, 2.0, 4.0, 8.0)


class Imitation(Protocol):
    """What the others tell of a feature."""

    @property
    def share(self) -> float:
        """How much of it they tell, from 0 to 1."""

    def draw(self, rows: Rows, order: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Values for `rows`, once for every line of `order`, by which their residuals are permuted."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Imitation of a number: prediction, and residuals to be permuted (NaN where the value is missing)."""

    share: float
    predicted: Array
    residual: Array

    def draw(self, rows: Rows, order: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Predictions with permuted residuals."""
        return np.asarray(self.predicted[rows] + self.residual[rows][order])


@dataclass(frozen=True, eq=False)
class Categories:
    """Imitation of a category: probabilities of its codes."""

    share: float
    codes: Array
    probabilities: Array

    def draw(self, rows: Rows, order: NDArray[np.intp], rng: np.random.Generator) -> Array:
        """Codes drawn by their probabilities."""
        bounds = np.cumsum(self.probabilities[rows], axis=1)
        at = (rng.random(order.shape)[:, :, None] > bounds[None, :, :-1]).sum(axis=2)
        return np.asarray(self.codes[at])


def imitate(sample: Sample, *, seed: int, n_jobs: int | None, progress: Progress) -> list[Imitation]:
    """Imitate every feature by all others."""
    n, d = sample.X.shape
    rng = np.random.default_rng([seed, 5])
    side = rng.permutation(n) % 2
    halves = [(np.flatnonzero(side != k), np.flatnonzero(side == k)) for k in range(2)]
    Z, mean, scale = _standardised(sample.X)
    linear = np.zeros((2, n, d))
    if d > 1:
        # Of the rows that a half learns from, and of those that it predicts: columns by all others at once.
        for k, (train, _) in enumerate(halves):
            linear[k] = Z @ _ridge(Z[train][:, ~sample.categorical], sample.categorical)
    with progress.stage("imitations", d):

        def one(k: int) -> Imitation:
            made: Imitation
            if sample.categorical[k]:
                made = _categories(sample, k, halves, seed)
            else:
                made = _numbers(sample, k, halves, Z[:, k], linear[:, :, k], mean[k], scale[k], seed)
            progress.step()
            return made

        return list(Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(one)(k) for k in range(d)))


def _standardised(X: Array) -> tuple[Array, Array, Array]:
    """Columns with mean 0 and variance 1, missing values at the mean."""
    known = np.isfinite(X)
    count = np.maximum(known.sum(axis=0), 1)
    X = np.where(known, X, 0.0)
    # In units, powers of two, in which no square leaves the range of numbers.
    unit = np.exp2(np.frexp(np.abs(X).max(axis=0, initial=0.0))[1].clip(-1000, 1000).astype(float))
    X /= unit
    mean = X.sum(axis=0) / count
    Z = np.where(known, X - mean, 0.0)
    scale = np.sqrt((Z**2).sum(axis=0) / count)
    scale[scale == 0.0] = 1.0
    return Z / scale, unit * mean, unit * scale


def _ridge(Z: Array, categorical: NDArray[np.bool_]) -> Array:
    """Weights that predict every number by all other numbers; 0 for categories. One inverse gives all of them."""
    n, d = Z.shape
    weights = np.zeros((len(categorical), len(categorical)))
    if d < 2:
        return weights
    penalty = PENALTY + PENALTY_PER_SHARE * d / n
    inverse = np.linalg.inv(Z.T @ Z / n + penalty * np.eye(d))
    found = -inverse / np.diag(inverse)
    np.fill_diagonal(found, 0.0)
    numbers = np.flatnonzero(~categorical)
    weights[np.ix_(numbers, numbers)] = found
    return weights


def _numbers(
    sample: Sample,
    k: int,
    halves: list[tuple[Rows, Rows]],
    values: Array,
    linear: Array,
    mean: float,
    scale: float,
    seed: int,
) -> Numbers:
    others = np.delete(np.arange(sample.X.shape[1]), k)
    known = np.isfinite(sample.X[:, k])
    predicted = np.zeros(len(values))
    for part, (train, test) in enumerate(halves):
        predicted[test] = linear[part, test]
        train = train[known[train]]
        if not len(others) or len(train) < 2:
            continue
        left = Target(values - linear[part])
        rest = Sample(sample.X[:, others], left, sample.weight, sample.categorical[others])
        grown = IMITATOR.grow(IMITATOR.prepared(rest), train, _seed(seed, k, part))
        predicted[test] += grown.predict(sample.X[np.ix_(test, others)])[:, 0]
    # Shrunk as the samples ask for: an imitation must not be worse than none.
    power = predicted[known] @ predicted[known]
    predicted *= np.clip(predicted[known] @ values[known] / power, 0.0, 1.0) if power > 0.0 else 0.0
    residual = np.where(known, values - predicted, np.nan)
    total = values[known] @ values[known]
    share = 1.0 - np.nansum(residual**2) / total if total > 0.0 else 0.0
    return Numbers(float(np.clip(share, 0.0, 1.0)), mean + scale * predicted, scale * residual)


def _categories(sample: Sample, k: int, halves: list[tuple[Rows, Rows]], seed: int) -> Categories:
    """Missing values are a category of their own."""
    others = np.delete(np.arange(sample.X.shape[1]), k)
    codes, numbers = np.unique(sample.X[:, k], return_inverse=True)
    counts = np.bincount(numbers, minlength=len(codes)) / len(numbers)
    probabilities = np.tile(counts, (len(numbers), 1))
    if len(codes) < 2 or not len(others):
        return Categories(0.0, codes, probabilities)
    target = Target(numbers.astype(float), len(codes))
    entropy = float(np.mean(target.losses(np.arange(len(numbers)), _outputs(probabilities, target))))
    rest = Sample(sample.X[:, others], target, sample.weight, sample.categorical[others])
    prepared = IMITATOR.prepared(rest)
    told = probabilities.copy()
    for part, (train, test) in enumerate(halves):
        if len(np.unique(numbers[train])) < len(codes):
            continue  # a code that one half has not seen
        found = IMITATOR.grow(prepared, train, _seed(seed, k, part)).predict(sample.X[np.ix_(test, others)])
        told[test] = np.hstack([1.0 - found, found]) if found.shape[1] == 1 else found
    # Forests are too cautious: as certain as the samples ask for.
    choices = [told**power / (told**power).sum(axis=1, keepdims=True) for power in POWERS]
    losses = [float(np.mean(target.losses(np.arange(len(numbers)), _outputs(one, target)))) for one in choices]
    best = int(np.argmin(losses))
    share = 1.0 - losses[best] / entropy
    return Categories(float(np.clip(share, 0.0, 1.0)), codes, choices[best] if share > 0.0 else probabilities)


def _outputs(probabilities: Array, target: Target) -> Array:
    return probabilities[:, 1:] if target.n_outputs == 1 else probabilities


def _seed(*parts: int) -> int:
    return int(np.random.default_rng(list(parts)).integers(2**31 - 1))

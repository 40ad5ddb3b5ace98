"""Forests, and what they say about features: losses on unseen samples, and importances.

A forest is grown in parts, each without one fold of the samples, so that every sample is judged by trees that have not
seen it. All parts together have as many trees as one forest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allrelevant.inference.exchange import Exchangeability, exchangeability

__all__ = [
    "IMPORTANCES",
    "Array",
    "Forest",
    "Grown",
    "Indices",
    "Predictor",
    "Rows",
    "Sample",
    "Target",
    "folds",
    "importances",
]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Rows = NDArray[np.intp]

#: What counts as importance; gain and split are of the samples that a forest has seen, the others of those it has not.
IMPORTANCES = ("held_out", "gain", "split", "permutation", "shap")
#: Probabilities are kept this far from 0 and 1 in log losses.
SURE = 1e-6
#: Times that a feature is permuted for its permutation importance.
PERMUTATIONS = 3


@dataclass(frozen=True, eq=False)
class Target:
    """What is predicted: numbers, or codes of classes.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        The numbers or codes.
    n_classes : int
        Number of classes; 0 if the values are numbers.
    """

    values: Array
    n_classes: int = 0

    @property
    def n_outputs(self) -> int:
        """Trees grown at a time."""
        return self.n_classes if self.n_classes > 2 else 1

    def mean(self, rows: Rows, weight: Array) -> Array:
        """Mean of numbers, share of the second of two classes, or shares of all: shape (n_outputs,)."""
        values, weight = self.values[rows], weight[rows]
        if self.n_outputs == 1:
            return np.array([np.average(values, weights=weight)])
        return np.asarray(np.bincount(values.astype(int), weight, self.n_classes) / weight.sum())

    def residuals(self, rows: Rows, seen: Rows, weight: Array) -> Array:
        """Difference of `rows` to the mean of the rows `seen`; of every class, if there are more than two."""
        values = self.values[rows]
        told = values[:, None] if self.n_outputs == 1 else np.eye(self.n_classes)[values.astype(int)]
        return np.asarray(told - self.mean(seen, weight))

    def losses(self, rows: Rows, predicted: Array) -> Array:
        """Loss of every row: the squared error of numbers, the negative log likelihood of classes.

        `predicted` may hold several predictions of the rows, one after the other.
        """
        repeats = len(predicted) // len(rows)
        values = np.tile(self.values[rows], repeats)
        if not self.n_classes:
            return np.asarray((predicted[:, 0] - values) ** 2)
        if predicted.shape[1] == 1:
            predicted = np.hstack([1.0 - predicted, predicted])
        likelihood = predicted[np.arange(len(values)), values.astype(int)]
        return np.asarray(-np.log(np.clip(likelihood, SURE, 1.0)))


@dataclass(frozen=True, eq=False)
class Sample:
    """Data that a forest is grown on.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Values, NaN where they are missing, codes of categories.
    target : Target
        What is predicted.
    weight : ndarray of shape (n_samples,)
        Weights of the samples, all positive.
    categorical : ndarray of shape (n_features,)
        Which columns hold categories.
    rows : Exchangeability or None
        Which samples may change places.
    """

    X: Array
    target: Target
    weight: Array
    categorical: NDArray[np.bool_]
    rows: Exchangeability | None = None

    @property
    def n_permutations(self) -> float:
        """Different ways to assign the targets to the samples by the permutations that are allowed."""
        rows = exchangeability(len(self.X), self.target.values) if self.rows is None else self.rows
        return rows.n_permutations

    def with_columns(self, X: Array, categorical: NDArray[np.bool_]) -> Sample:
        """Return the samples with other features."""
        return replace(self, X=X, categorical=categorical)

    def select(self, columns: Indices) -> Sample:
        """Return the samples with some of their features."""
        return self.with_columns(self.X[:, columns], self.categorical[columns])


class Predictor(Protocol):
    """What predicts."""

    def predict(self, X: Array) -> Array:
        """Numbers, probabilities of the second of two classes, or of all: shape (n_samples, n_outputs)."""


class Grown(Predictor, Protocol):
    """A forest."""

    def seen(self, kind: str) -> Array:
        """Importances by what the trees have seen: ``"gain"`` or ``"split"``."""

    def unseen(self, kind: str, X: Array, residuals: Array) -> Array:
        """Importances by samples not seen: ``"held_out"`` or ``"shap"``, summed over the samples."""


class Forest(Protocol):
    """A way to grow forests."""

    def prepared(self, sample: Sample) -> Any:
        """Return what several calls of :meth:`grow` on one sample can share."""

    def grow(self, prepared: Any, rows: Rows | None, seed: int, share: float = 1.0) -> Grown:
        """Grow a forest on some rows, or all, with a share of the trees."""


def folds(sample: Sample, count: int, rng: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows to learn from and rows to judge by; every class is spread over all folds, groups stay whole."""
    target = sample.target
    group = np.arange(len(target.values)) if sample.rows is None else sample.rows.groups
    # A group counts as of the class of its first row.
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    strata = target.values[first] if target.n_classes else np.zeros(len(first))
    fold = np.empty(len(first), dtype=np.intp)
    start = 0
    for label in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == label))
        fold[members] = (start + np.arange(len(members))) % count
        start += len(members)
    fold = fold[group.reshape(-1)]
    for k in range(min(count, len(first))):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def importances(forest: Forest, sample: Sample, kind: str, n_folds: int, rng: np.random.Generator) -> Array:
    """Importance of every feature in one forest, per sample."""
    prepared = forest.prepared(sample)
    if kind in ("gain", "split"):
        return forest.grow(prepared, None, _seed(rng)).seen(kind)
    found = np.zeros(sample.X.shape[1])
    for train, test in folds(sample, n_folds, rng):
        grown = forest.grow(prepared, train, _seed(rng), 1.0 / n_folds)
        weight = sample.weight[test]
        if kind == "permutation":
            found += weight @ permutation_losses(grown, sample, test, rng)
        else:
            residuals = sample.target.residuals(test, train, sample.weight) * weight[:, None]
            found += grown.unseen(kind, sample.X[test], residuals)
    return np.asarray(found / sample.weight.sum())


def permutation_losses(grown: Grown, sample: Sample, rows: Rows, rng: np.random.Generator) -> Array:
    """Rise of the loss of every row when a feature is permuted among the rows: shape (n_rows, n_features)."""
    X = sample.X[rows]
    before = sample.target.losses(rows, grown.predict(X))
    found = np.empty((len(rows), X.shape[1]))
    for k in range(X.shape[1]):
        changed = np.tile(X, (PERMUTATIONS, 1))
        changed[:, k] = rng.permuted(np.tile(X[:, k], (PERMUTATIONS, 1)), axis=1).ravel()
        after = sample.target.losses(rows, grown.predict(changed))
        found[:, k] = after.reshape(PERMUTATIONS, -1).mean(axis=0) - before
    return found


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(np.iinfo(np.int32).max))

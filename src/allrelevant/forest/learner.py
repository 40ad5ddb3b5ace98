"""Forests, and what they say about features: losses on unseen samples, and importances.

A forest is grown in parts, each without one fold of the samples, so that every sample is judged by trees that have not
seen it. All parts together have as many trees as one forest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone

from allrelevant.errors import AllRelevantError, MissingExtra

__all__ = [
    "IMPORTANCES",
    "Forest",
    "Grown",
    "LightForest",
    "Sample",
    "ScikitForest",
    "Target",
    "folds",
    "importances",
    "upper_limit",
]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Rows = NDArray[np.intp]

#: What counts as importance; the first two of the samples that a forest has seen, the others of those that it has not.
IMPORTANCES = ("held_out", "gain", "split", "permutation", "shap")
#: Bins of a feature's values; more make trees slower and, with so few trees per sample, no better.
BINS = 31
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

    def residuals(self, rows: Rows, seen: Rows, weight: Array) -> Array:
        """Difference of `rows` to the mean of the rows `seen`; of every class, if there are more than two."""
        if self.n_outputs == 1:
            return np.asarray(self.values[rows] - np.average(self.values[seen], weights=weight[seen]))[:, None]
        shares = np.bincount(self.values[seen].astype(int), weight[seen], self.n_classes) / weight[seen].sum()
        return np.asarray(np.eye(self.n_classes)[self.values[rows].astype(int)] - shares)

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
    """

    X: Array
    target: Target
    weight: Array
    categorical: NDArray[np.bool_]

    def with_columns(self, X: Array, categorical: NDArray[np.bool_]) -> Sample:
        """Return the samples with other features."""
        return replace(self, X=X, categorical=categorical)

    def select(self, columns: Indices) -> Sample:
        """Return the samples with some of their features."""
        return self.with_columns(self.X[:, columns], self.categorical[columns])


class Grown(Protocol):
    """A forest."""

    def predict(self, X: Array) -> Array:
        """Numbers, probabilities of the second of two classes, or of all: shape (n_samples, n_outputs)."""

    def seen(self, kind: str) -> Array:
        """Importances by what the trees have seen: ``"gain"`` or ``"split"``."""

    def unseen(self, kind: str, X: Array, residuals: Array) -> Array:
        """Importances by samples not seen: ``"held_out"`` or ``"shap"``, summed over the samples."""


class Forest(Protocol):
    """A way to grow forests."""

    def importances(self) -> tuple[str, ...]:
        """Return the kinds of importance that its forests can tell."""

    def prepared(self, sample: Sample) -> Any:
        """Return what several calls of :meth:`grow` on one sample can share."""

    def grow(self, prepared: Any, rows: Rows | None, seed: int, share: float = 1.0) -> Grown:
        """Grow a forest on some rows, or all, with a share of the trees."""


@dataclass(frozen=True)
class LightForest:
    """Random forests by LightGBM, one thread each.

    Attributes
    ----------
    n_estimators, max_depth, feature_fraction, bagging_fraction, min_samples_leaf
        Trees of a forest, their greatest depth, share of features and samples that a tree may see, samples of a leaf.
    """

    n_estimators: int = 100
    max_depth: int = 5
    feature_fraction: float = 0.8
    bagging_fraction: float = 0.632
    min_samples_leaf: int = 20

    def importances(self) -> tuple[str, ...]:
        """Return the kinds of importance that its forests can tell."""
        return IMPORTANCES

    def prepared(self, sample: Sample) -> tuple[Any, Sample]:
        """Return the sample in LightGBM's bins."""
        lightgbm = _lightgbm()
        data = lightgbm.Dataset(
            sample.X,
            sample.target.values,
            weight=sample.weight,
            categorical_feature=[int(k) for k in np.flatnonzero(sample.categorical)],
            params={"verbose": -1, "num_threads": 1, "max_bin": BINS, "feature_pre_filter": False},
            free_raw_data=False,
        )
        return data.construct(), sample

    def grow(self, prepared: tuple[Any, Sample], rows: Rows | None, seed: int, share: float = 1.0) -> LightGrown:
        """Grow a forest on some rows, or all, with a share of the trees."""
        data, sample = prepared
        target = sample.target
        objective = {0: "regression", 2: "binary"}.get(target.n_classes, "multiclass")
        parameters = {
            "objective": objective,
            "boosting": "rf",
            "bagging_fraction": self.bagging_fraction,
            "bagging_freq": 1,
            "feature_fraction": self.feature_fraction,
            "max_depth": self.max_depth,
            "num_leaves": 2**self.max_depth,
            "min_data_in_leaf": self.min_samples_leaf,
            "min_data_per_group": self.min_samples_leaf,
            "num_threads": 1,
            "deterministic": True,
            "force_col_wise": True,
            "feature_pre_filter": False,
            "max_bin": BINS,
            "seed": seed,
            "verbose": -1,
        }
        if target.n_classes > 2:
            parameters["num_class"] = target.n_classes
        part = data if rows is None else data.subset(rows)
        trees = max(1, round(self.n_estimators * share))
        # Otherwise LightGBM writes the forest as text and reads it again.
        booster = _lightgbm().train(parameters, part, num_boost_round=trees, keep_training_booster=True)
        return LightGrown(booster, sample.X.shape[1], target.n_outputs)


@dataclass(frozen=True, eq=False)
class LightGrown:
    """A forest grown by LightGBM."""

    booster: Any
    n_features: int
    n_outputs: int

    def predict(self, X: Array) -> Array:
        """Numbers, probabilities of the second of two classes, or of all: shape (n_samples, n_outputs)."""
        return np.asarray(self.booster.predict(X, num_threads=1)).reshape(len(X), -1)

    def seen(self, kind: str) -> Array:
        """Importances by what the trees have seen."""
        return np.asarray(self.booster.feature_importance(kind), dtype=float)

    def unseen(self, kind: str, X: Array, residuals: Array) -> Array:
        """Importances by samples not seen, summed over the samples."""
        if kind == "held_out":
            return self._trees.covariance(self._leaves(X), residuals, self.n_features)
        values = np.asarray(self.booster.predict(X, pred_contrib=True, num_threads=1))
        return np.asarray(np.abs(values).reshape(len(X), self.n_outputs, -1)[:, :, :-1].sum(axis=(0, 1)))

    def _leaves(self, X: Array) -> NDArray[np.intp]:
        return np.asarray(self.booster.predict(X, pred_leaf=True, num_threads=1), dtype=np.intp).reshape(len(X), -1)

    @cached_property
    def _trees(self) -> _Trees:
        return _Trees.read(self.booster.model_to_string())


_FIELDS = re.compile(r"^(num_leaves|split_feature|left_child|right_child|leaf_value|internal_value)=(.*)$", re.M)


@dataclass(frozen=True, eq=False)
class _Trees:
    """The nodes of all trees, one tree after the other: first those that split, then the leaves.

    Attributes
    ----------
    first_leaf : ndarray of shape (n_trees,)
        Number of leaves of the trees before.
    feature : ndarray of shape (n_splits,)
        Feature that a node splits by.
    children : ndarray of shape (2, n_splits)
        Nodes below it.
    value : ndarray of shape (n_splits + n_leaves,)
        Prediction of every node.
    """

    first_leaf: Indices
    feature: Indices
    children: Indices
    value: Array

    @classmethod
    def read(cls, text: str) -> _Trees:
        """Read LightGBM's own format."""
        found: dict[str, list[str]] = {}
        for name, line in _FIELDS.findall(text[: text.index("end of trees")]):
            found.setdefault(name, []).append(line)

        def numbers(name: str, kind: type) -> NDArray[Any]:
            return np.array(" ".join(found.get(name, [])).split(), dtype=kind)

        leaves = numbers("num_leaves", int)
        splits = leaves - 1
        first_split, first_leaf = (np.cumsum(counts) - counts for counts in (splits, leaves))
        n_splits = int(splits.sum())
        tree = np.repeat(np.arange(len(leaves)), splits)
        children = np.array([numbers("left_child", int), numbers("right_child", int)])
        children = np.where(children >= 0, children + first_split[tree], n_splits + ~children + first_leaf[tree])
        value = np.concatenate([numbers("internal_value", float), numbers("leaf_value", float)])
        return cls(first_leaf, numbers("split_feature", int), children, value)

    def covariance(self, leaves: Indices, residuals: Array, n_features: int) -> Array:
        """Sum over samples of the residual times what the splits by each feature add to the prediction.

        What a split adds to a prediction is the value of the node it leads to less that of the node it comes from. On
        samples not seen this has mean 0 for a feature that says nothing, however often trees split by it.
        """
        n_splits = len(self.feature)
        if not n_splits:
            return np.zeros(n_features)
        output = np.arange(leaves.shape[1]) % residuals.shape[1]
        sums = np.zeros(len(self.value))
        sums[n_splits:] = np.bincount(
            (leaves + self.first_leaf).ravel(), residuals[:, output].ravel(), len(self.value) - n_splits
        )
        below = np.zeros(len(self.value), dtype=bool)
        below[self.children] = True
        level, levels = np.flatnonzero(~below[:n_splits]), []
        while len(level):
            levels.append(level)
            level = self.children[:, level].ravel()
            level = level[level < n_splits]
        for level in reversed(levels):
            sums[level] = sums[self.children[:, level]].sum(axis=0)
        added = (sums[self.children] * (self.value[self.children] - self.value[:n_splits])).sum(axis=0)
        return np.asarray(np.bincount(self.feature, added, n_features) / leaves.shape[1])


@dataclass(frozen=True, eq=False)
class ScikitForest:
    """Any estimator of scikit-learn's kind that has ``feature_importances_`` once it is fitted."""

    estimator: Any

    def importances(self) -> tuple[str, ...]:
        """Return the kinds of importance that its forests can tell."""
        return ("gain", "permutation")

    def prepared(self, sample: Sample) -> Sample:
        """Return the sample."""
        return sample

    def grow(self, prepared: Sample, rows: Rows | None, seed: int, share: float = 1.0) -> ScikitGrown:
        """Fit a clone on some rows, or all, with a share of the trees, if it has a number of them."""
        known = self.estimator.get_params()
        given: dict[str, Any] = {"random_state": seed} if "random_state" in known else {}
        if share < 1.0 and isinstance(known.get("n_estimators"), int):
            given["n_estimators"] = max(1, round(known["n_estimators"] * share))
        model = clone(self.estimator).set_params(**given)
        part = slice(None) if rows is None else rows
        X, y, weight = prepared.X[part], prepared.target.values[part], prepared.weight[part]
        if np.all(weight == weight[0]):
            model.fit(X, y)
        else:
            model.fit(X, y, sample_weight=weight)
        return ScikitGrown(model, prepared.target)


@dataclass(frozen=True, eq=False)
class ScikitGrown:
    """A fitted estimator of scikit-learn's kind."""

    model: Any
    target: Target

    def predict(self, X: Array) -> Array:
        """Numbers, probabilities of the second of two classes, or of all: shape (n_samples, n_outputs)."""
        if not self.target.n_classes:
            return np.asarray(self.model.predict(X), dtype=float).reshape(-1, 1)
        found = np.zeros((len(X), self.target.n_classes))
        found[:, np.asarray(self.model.classes_, dtype=int)] = self.model.predict_proba(X)
        return found[:, 1:] if self.target.n_classes == 2 else found

    def seen(self, kind: str) -> Array:
        """Importances as the estimator defines them."""
        return np.asarray(self.model.feature_importances_, dtype=float)

    def unseen(self, kind: str, X: Array, residuals: Array) -> Array:
        """Not known of an estimator whose trees are not known."""
        raise NotImplementedError(kind)


def folds(target: Target, count: int, rng: np.random.Generator) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows to learn from and rows to judge by; every class is spread over all folds."""
    n = len(target.values)
    strata = target.values if target.n_classes else np.zeros(n)
    fold = np.empty(n, dtype=np.intp)
    start = 0
    for label in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == label))
        fold[members] = (start + np.arange(len(members))) % count
        start += len(members)
    for k in range(min(count, n)):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def importances(forest: Forest, sample: Sample, kind: str, n_folds: int, rng: np.random.Generator) -> Array:
    """Importance of every feature in one forest, per sample."""
    prepared = forest.prepared(sample)
    if kind in ("gain", "split"):
        return forest.grow(prepared, None, _seed(rng)).seen(kind)
    found = np.zeros(sample.X.shape[1])
    for train, test in folds(sample.target, n_folds, rng):
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


def upper_limit(values: Array, chance: float) -> float:
    """Upper end of the prediction interval of one more value, if they are normal."""
    n = len(values)
    spread = values.std(ddof=1) * np.sqrt(1.0 + 1.0 / n)
    return float(values.mean() + stats.t.isf(chance, n - 1) * spread)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(np.iinfo(np.int32).max))


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtra("lightgbm", "forest", "a forest of LightGBM's") from error
    except OSError as error:
        raise AllRelevantError(
            f"LightGBM is installed, but the system lacks a library of OpenMP that it needs ({error}): "
            "apt install libgomp1 on Debian and Ubuntu, brew install libomp on macOS"
        ) from error
    return lightgbm

"""Random forests by LightGBM, and what their trees do with samples that they have not seen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.errors import AllRelevantError, MissingExtra
from allrelevant.forest.learner import Array, Indices, Rows, Sample

__all__ = ["LightForest", "leaf_size"]

#: Bins of a feature's values; more make trees slower and, with so few trees per sample, no better.
BINS = 31
#: Samples of a bin, unless a leaf may have fewer.
BIN_SIZE = 3
#: Where nothing is given, a leaf has one of so many parts of the samples, but no fewer and no more than this.
LEAVES, SMALLEST_LEAF, LARGEST_LEAF = 20, 2, 20
#: Where trees use fewer features, as samples are few, there are more trees: a feature is used by no less than one of so
#: many of the trees that would use it otherwise.
SELDOM = 3
#: Least share of a class, as LightGBM has it.
LEAST = 1e-15


def leaf_size(n_samples: int) -> int:
    """Samples that a leaf has at least, such that a few dozen samples can be split, and many are not overfitted.

    Examples
    --------
    >>> from allrelevant.forest.light import leaf_size
    >>> [leaf_size(n) for n in (10, 60, 200, 1000)]
    [2, 3, 10, 20]
    """
    return min(max(n_samples // LEAVES, SMALLEST_LEAF), LARGEST_LEAF)


@dataclass(frozen=True)
class LightForest:
    """Random forests by LightGBM, one thread each.

    Attributes
    ----------
    n_estimators, max_depth, feature_fraction, bagging_fraction, min_samples_leaf
        Trees of a forest, their greatest depth, share of features and samples that a tree may see, samples of a leaf at
        least. Where there are more features than samples, a tree sees no more features than samples, and there are more
        trees. None for a number that goes with the samples (:func:`leaf_size`).
    """

    n_estimators: int = 100
    max_depth: int = 5
    feature_fraction: float = 0.8
    bagging_fraction: float = 0.632
    min_samples_leaf: int | None = None

    def prepared(self, sample: Sample) -> tuple[Any, Sample]:
        """Return the sample in LightGBM's bins."""
        lightgbm = _lightgbm()
        data = lightgbm.Dataset(
            sample.X,
            sample.target.values,
            weight=sample.weight,
            categorical_feature=[int(k) for k in np.flatnonzero(sample.categorical)],
            params={
                "verbose": -1,
                "num_threads": 1,
                "max_bin": BINS,
                "min_data_in_bin": min(BIN_SIZE, self._leaf(sample)),
                "feature_pre_filter": False,
            },
            free_raw_data=False,
        )
        return data.construct(), sample

    def grow(self, prepared: tuple[Any, Sample], rows: Rows | None, seed: int, share: float = 1.0) -> LightGrown:
        """Grow a forest on some rows, or all, with a share of the trees."""
        data, sample = prepared
        target = sample.target
        objective = {0: "regression", 2: "binary"}.get(target.n_classes, "multiclass")
        n = len(sample.X) if rows is None else len(rows)
        leaf = self._leaf(sample)
        trees, fraction = self._trees(sample)
        parameters = {
            "objective": objective,
            "boosting": "rf",
            # A tree needs a sample to grow on.
            "bagging_fraction": max(self.bagging_fraction, (1.0 + 1e-6) / n),
            "bagging_freq": 1,
            "feature_fraction": fraction,
            "max_depth": self.max_depth,
            "num_leaves": 2**self.max_depth,
            "min_data_in_leaf": leaf,
            "min_data_per_group": leaf,
            "cat_smooth": leaf / 2.0,
            "cat_l2": leaf / 2.0,
            "num_threads": 1,
            "deterministic": True,
            "force_col_wise": True,
            "feature_pre_filter": False,
            "max_bin": BINS,
            "min_data_in_bin": min(BIN_SIZE, leaf),
            "seed": seed,
            "verbose": -1,
        }
        if target.n_classes > 2:
            parameters["num_class"] = target.n_classes
        part = data if rows is None else data.subset(rows)
        # Otherwise LightGBM writes the forest as text and reads it again.
        booster = _lightgbm().train(
            parameters, part, num_boost_round=max(1, round(trees * share)), keep_training_booster=True
        )
        return LightGrown(booster, sample.X.shape[1], target.n_outputs, _start(sample, rows))

    def _trees(self, sample: Sample) -> tuple[int, float]:
        """Trees of a forest, and the share of the features that each may use: no more features than samples."""
        n, d = sample.X.shape
        fraction = min(self.feature_fraction, n / max(d, 1))
        return max(self.n_estimators, round(self.n_estimators * self.feature_fraction / fraction / SELDOM)), fraction

    def _leaf(self, sample: Sample) -> int:
        return leaf_size(len(sample.X)) if self.min_samples_leaf is None else self.min_samples_leaf


@dataclass(frozen=True, eq=False)
class LightGrown:
    """A forest grown by LightGBM."""

    booster: Any
    n_features: int
    n_outputs: int
    start: Array

    def predict(self, X: Array) -> Array:
        """Numbers, probabilities of the second of two classes, or of all: shape (n_samples, n_outputs)."""
        return np.asarray(self._mended.predict(X, num_threads=1)).reshape(len(X), -1)

    @cached_property
    def _mended(self) -> Any:
        """The forest, after its trees without a split were told what to predict: LightGBM leaves anything there."""
        for tree in np.flatnonzero(self._trees.n_leaves == 1):
            self.booster.set_leaf_output(int(tree), 0, float(self.start[tree % self.n_outputs]))
        return self.booster

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
    n_leaves, first_leaf : ndarray of shape (n_trees,)
        Number of leaves of the trees, and of the trees before.
    feature : ndarray of shape (n_splits,)
        Feature that a node splits by.
    children : ndarray of shape (2, n_splits)
        Nodes below it.
    value : ndarray of shape (n_splits + n_leaves,)
        Prediction of every node.
    """

    n_leaves: Indices
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
        return cls(leaves, first_leaf, numbers("split_feature", int), children, value)

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


def _start(sample: Sample, rows: Rows | None) -> Array:
    """What trees of LightGBM add to: the mean of numbers, or the logarithms of odds or shares of classes."""
    mean = sample.target.mean(np.arange(len(sample.X)) if rows is None else rows, sample.weight)
    if not sample.target.n_classes:
        return mean
    share = np.maximum(mean, LEAST)
    return np.asarray(np.log(share / np.maximum(1.0 - mean, LEAST)) if len(mean) == 1 else np.log(share))


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

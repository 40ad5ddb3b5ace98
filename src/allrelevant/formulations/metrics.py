"""Scores of predictions, under scikit-learn's names.

They are the numbers of scikit-learn's functions, whose checks of their input would cost more than the linear programs
of the search. All are greater for better predictions: errors are negative, as there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from allrelevant.lp import Array

__all__ = [
    "CLASSES",
    "ORDERED",
    "REAL",
    "ROUNDING",
    "SEVERAL_CLASSES",
    "TWO_CLASSES",
    "Metric",
    "macro_absolute_error",
    "weighted_f1",
]

#: Decisions that differ by less are the same: neither a predicted class nor a rank must depend on rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Metric:
    """A score.

    Attributes
    ----------
    label : str
        Its name for people.
    function : callable
        From targets, what was predicted of them, and weights to the score; greater is better.
    of_decisions : bool
        Whether it judges decision values, not predictions.
    is_error : bool
        Whether people read its negative, an error.
    """

    label: str
    function: Callable[[Array, Array, Array], float]
    of_decisions: bool = False
    is_error: bool = False


def _f1(target: Array, prediction: Array, sample_weight: Array, label: float) -> tuple[float, float]:
    """F1 of one class, and its weight."""
    found = prediction == label
    true = sample_weight * (target == label)
    size = float(true.sum() + sample_weight @ found)
    return 2 * float(true @ found) / size if size else 0.0, float(true.sum())


def weighted_f1(target: Array, prediction: Array, sample_weight: Array) -> float:
    """F1 of every class, averaged by their weight."""
    parts = [_f1(target, prediction, sample_weight, label) for label in np.unique(target)]
    return sum(f1 * size for f1, size in parts) / float(sample_weight.sum())


def _macro_f1(target: Array, prediction: Array, sample_weight: Array) -> float:
    labels = np.union1d(target, prediction)
    return float(np.mean([_f1(target, prediction, sample_weight, label)[0] for label in labels]))


def _accuracy(target: Array, prediction: Array, sample_weight: Array) -> float:
    return float(sample_weight @ (target == prediction)) / float(sample_weight.sum())


def _by_class(target: Array, values: Array, sample_weight: Array) -> float:
    """Mean over the classes present of the mean of their values."""
    code = np.unique(target, return_inverse=True)[1].reshape(-1)
    size = np.bincount(code, sample_weight)
    return float(np.mean(np.bincount(code, sample_weight * values)[size > 0.0] / size[size > 0.0]))


def _balanced_accuracy(target: Array, prediction: Array, sample_weight: Array) -> float:
    return _by_class(target, (target == prediction).astype(float), sample_weight)


def _auc(positive: Array, decision: Array, sample_weight: Array) -> float:
    """Chance that a positive sample has a greater decision value than a negative one; 1/2 if one of them is missing."""
    order = np.argsort(decision, kind="stable")
    ascending = decision[order]
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.cumsum(np.diff(ascending, prepend=ascending[0]) > ROUNDING)
    above = np.bincount(rank, sample_weight * positive)
    below = np.bincount(rank, sample_weight * (1.0 - positive))
    pairs = float(above.sum() * below.sum())
    return float(above @ (np.cumsum(below) - below / 2)) / pairs if pairs else 0.5


def _two_class_auc(target: Array, decision: Array, sample_weight: Array) -> float:
    return _auc((target > 0).astype(float), decision, sample_weight)


def _one_against_rest_auc(target: Array, decision: Array, sample_weight: Array) -> float:
    labels = np.unique(target)
    return float(np.mean([_auc((target == k).astype(float), decision[:, int(k)], sample_weight) for k in labels]))


def macro_absolute_error(target: Array, prediction: Array, sample_weight: Array) -> float:
    """Negative mean absolute error, averaged over the classes present."""
    return -_by_class(target, np.abs(target - prediction), sample_weight)


def _absolute_error(target: Array, prediction: Array, sample_weight: Array) -> float:
    return -float(sample_weight @ np.abs(target - prediction)) / float(sample_weight.sum())


def _squared_error(target: Array, prediction: Array, sample_weight: Array) -> float:
    return -float(sample_weight @ (target - prediction) ** 2) / float(sample_weight.sum())


def _median_absolute_error(target: Array, prediction: Array, sample_weight: Array) -> float:
    error = np.abs(target - prediction)
    order = np.argsort(error)
    reached = np.cumsum(sample_weight[order])
    half = reached[-1] / 2
    # The mean of both in the middle, if the halves are equally heavy.
    sides = [int(np.searchsorted(reached, half * (1 + step))) for step in (-ROUNDING, ROUNDING)]
    return -float(error[order[np.minimum(sides, len(order) - 1)]].mean())


def _explained_variance(target: Array, prediction: Array, sample_weight: Array) -> float:
    """R²; 0 where there is no variance to explain."""
    mean = sample_weight @ target / sample_weight.sum()
    total = float(sample_weight @ (target - mean) ** 2)
    return 1.0 - float(sample_weight @ (target - prediction) ** 2) / total if total > 0 else 0.0


#: Scores of classes, the default first; with two classes and with several also that of decision values.
CLASSES = {
    "f1_weighted": Metric("weighted F1", weighted_f1),
    "f1_macro": Metric("macro F1", _macro_f1),
    "accuracy": Metric("accuracy", _accuracy),
    "balanced_accuracy": Metric("balanced accuracy", _balanced_accuracy),
}
TWO_CLASSES = {**CLASSES, "roc_auc": Metric("area under the ROC curve", _two_class_auc, of_decisions=True)}
SEVERAL_CLASSES = {
    **CLASSES,
    "roc_auc_ovr": Metric("area under the ROC curves, one class against the rest", _one_against_rest_auc, True),
}
#: Scores of ordered classes; errors are in ranks.
ORDERED = {
    "neg_macro_mean_absolute_error": Metric("macro-averaged mean absolute error", macro_absolute_error, is_error=True),
    "neg_mean_absolute_error": Metric("mean absolute error", _absolute_error, is_error=True),
    "accuracy": CLASSES["accuracy"],
    "balanced_accuracy": CLASSES["balanced_accuracy"],
}
#: Scores of numbers; targets are of unit variance.
REAL = {
    "r2": Metric("R²", _explained_variance),
    "neg_mean_squared_error": Metric("mean squared error, by the target's variance", _squared_error, is_error=True),
    "neg_mean_absolute_error": Metric(
        "mean absolute error, by the target's standard deviation", _absolute_error, is_error=True
    ),
    "neg_median_absolute_error": Metric(
        "median absolute error, by the target's standard deviation", _median_absolute_error, is_error=True
    ),
}

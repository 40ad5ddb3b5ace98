"""Two classes, hinge loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations.base import Formulation
from allrelevant.lp import Array, Program
from allrelevant.lp.matrix import Indices, Matrix, scale_rows

__all__ = ["Classification", "weighted_f1"]


def weighted_f1(target: Array, prediction: Array, sample_weight: Array, labels: Iterable[float]) -> float:
    """F1 of the classes with these labels, averaged by their weight.

    The same number as scikit-learn's ``f1_score(average="weighted")``, whose checks of its input would cost more
    than the linear programs of the search.
    """
    total = 0.0
    for label in labels:
        found = prediction == label
        true = sample_weight * (target == label)
        size = float(true.sum() + sample_weight @ found)
        total += float(true.sum()) * (2 * float(true @ found) / size if size else 0.0)
    return total / float(sample_weight.sum())


@dataclass(frozen=True)
class Classification(Formulation):
    """Rows ``y (x·w − b) + ξ ≥ 1`` for targets ``y`` of −1 and +1; the score is the weighted F1."""

    name: ClassVar[str] = "classification"
    metric: ClassVar[str] = "weighted F1"
    nominal: ClassVar[bool] = True
    needs_every_stratum: ClassVar[bool] = True

    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program."""
        return Program.build(scale_rows(X, target), -target[:, None], np.ones(len(target)), s=sample_weight)

    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """Signed distance to the separating plane, in units of the margin."""
        return np.asarray(X @ w - b[0])

    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict −1 or +1."""
        return np.where(self.decision(X, w, b) > 0, 1.0, -1.0)

    def score(self, target: Array, prediction: Array, sample_weight: Array) -> float:
        """F1 of both classes, averaged by their weight."""
        return weighted_f1(target, prediction, sample_weight, (-1.0, 1.0))

    def strata(self, target: Array) -> NDArray[Any] | None:
        """The classes."""
        return target

    def relabelled(self, weights: Array, offsets: Array, classes: Indices) -> tuple[Array, Array]:
        """The other side of the plane, if the classes change places."""
        return (weights, offsets) if classes[0] == 0 else (-weights, -offsets)

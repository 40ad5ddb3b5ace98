"""Two classes, hinge loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations.base import Formulation
from allrelevant.formulations.metrics import ROUNDING, TWO_CLASSES, Metric
from allrelevant.lp import Array, Program
from allrelevant.lp.matrix import Indices, Matrix, scale_rows

__all__ = ["Classification"]


@dataclass(frozen=True)
class Classification(Formulation):
    """Rows ``y (x·w − b) + ξ ≥ 1`` for targets ``y`` of −1 and +1."""

    scoring: str | None = None

    name: ClassVar[str] = "classification"
    metrics: ClassVar[Mapping[str, Metric]] = TWO_CLASSES
    nominal: ClassVar[bool] = True
    needs_every_stratum: ClassVar[bool] = True

    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program."""
        return Program.build(scale_rows(X, target), -target[:, None], np.ones(len(target)), s=sample_weight)

    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """Signed distance to the separating plane, in units of the margin."""
        return np.asarray(X @ w - b[0])

    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict −1 or +1; samples on the plane, but for rounding, are −1."""
        return np.where(self.decision(X, w, b) > ROUNDING, 1.0, -1.0)

    def strata(self, target: Array) -> NDArray[Any] | None:
        """The classes."""
        return target

    def relabelled(self, weights: Array, offsets: Array, classes: Indices) -> tuple[Array, Array]:
        """The other side of the plane, if the classes change places."""
        return (weights, offsets) if classes[0] == 0 else (-weights, -offsets)

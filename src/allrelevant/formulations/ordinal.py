"""Ordered classes, one direction and a threshold between every two neighbours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations.base import Formulation
from allrelevant.formulations.metrics import ORDERED, ROUNDING, Metric
from allrelevant.lp import Array, Program
from allrelevant.lp.matrix import Indices, Matrix, scale_rows, some_rows

__all__ = ["OrdinalExplicit", "OrdinalImplicit"]


@dataclass(frozen=True)
class _Ordinal(Formulation):
    """Classes ``0 … n_classes − 1`` along ``x·w``, separated by thresholds ``b_0 ≤ b_1 ≤ …``.

    A sample of class ``q`` against threshold ``j`` is the row ``b_j − x·w + ξ ≥ 1`` if it belongs below (``q ≤ j``) and
    ``x·w − b_j + ξ ≥ 1`` if it belongs above. The variants differ in which pairs they state.

    Parameters
    ----------
    n_classes : int
        Number of classes; one may be absent from the samples, as happens in folds.
    scoring : str or None
        Name of the score.
    """

    n_classes: int = 2
    scoring: str | None = None

    states_order: ClassVar[bool]
    metrics: ClassVar[Mapping[str, Metric]] = ORDERED
    n_slacks: ClassVar[int] = 2

    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program."""
        sample, threshold = np.nonzero(self._pairs(target))
        side = np.where(target[sample] > threshold, 1.0, -1.0)
        offsets = np.zeros((len(sample), self.n_classes - 1))
        offsets[np.arange(len(sample)), threshold] = -side
        steps = np.diff(np.eye(self.n_classes - 1), axis=0) if self.states_order else np.zeros((0, self.n_classes - 1))
        return Program.build(
            scale_rows(some_rows(X, sample), side),
            offsets,
            np.ones(len(sample)),
            s=sample_weight[sample],
            G=np.zeros((len(steps), X.shape[1])),
            H=steps,
            h=np.zeros(len(steps)),
        )

    @abstractmethod
    def _pairs(self, target: Array) -> NDArray[np.bool_]:
        """Mask of shape (n_samples, n_classes - 1): which samples are stated against which thresholds."""

    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """Place along the direction, seen from the middle of the thresholds."""
        return np.asarray(X @ w - b.mean())

    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict the number of thresholds below ``x·w``, by more than rounding."""
        return np.asarray(np.searchsorted(np.sort(b), X @ w - ROUNDING, side="left"), dtype=float)

    def strata(self, target: Array) -> NDArray[Any] | None:
        """The classes."""
        return target

    def slacks(self, target: Array) -> tuple[Indices, Indices]:
        """Samples that belong below a threshold, and samples that belong above."""
        sample, threshold = np.nonzero(self._pairs(target))
        return sample, (target[sample] > threshold).astype(np.intp)

    def details(self, target: Array, prediction: Array, sample_weight: Array) -> dict[str, float]:
        """Mean zero-one error and mean absolute error."""
        error = np.abs(target - prediction)
        return {
            "mean zero-one error": float(np.average(error > 0, weights=sample_weight)),
            "mean absolute error": float(np.average(error, weights=sample_weight)),
        }


@dataclass(frozen=True)
class OrdinalExplicit(_Ordinal):
    """Every sample against the thresholds next to its class; the order of the thresholds is stated."""

    name: ClassVar[str] = "ordinal regression, explicit order"
    states_order: ClassVar[bool] = True

    def _pairs(self, target: Array) -> NDArray[np.bool_]:
        thresholds = np.arange(self.n_classes - 1)
        return np.asarray((thresholds == target[:, None]) | (thresholds == target[:, None] - 1))


@dataclass(frozen=True)
class OrdinalImplicit(_Ordinal):
    """Every sample against every threshold, which puts the thresholds in order by itself."""

    name: ClassVar[str] = "ordinal regression, implicit order"
    states_order: ClassVar[bool] = False

    def _pairs(self, target: Array) -> NDArray[np.bool_]:
        return np.ones((len(target), self.n_classes - 1), dtype=bool)

"""More than two classes, one weight vector each, hinge loss against the worst rival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations.base import Feature, Formulation
from allrelevant.formulations.metrics import ROUNDING, SEVERAL_CLASSES, Metric
from allrelevant.lp import Array, Program
from allrelevant.lp.matrix import Indices, Matrix, spread_columns

__all__ = ["MultiClass"]


@dataclass(frozen=True)
class MultiClass(Formulation):
    """Rows ``x·(w_c − w_k) + b_c − b_k + ξ ≥ 1`` for every sample of class ``c`` and every other class ``k``.

    All rows of a sample share one slack: its loss is that against its worst rival, as Crammer and Singer have it. All
    weight vectors share one norm.

    Adding the same number to the weights of a feature in all classes changes no prediction, so single weights mean
    little. What counts is the weight of a class less the mean of the other classes': it tells the class from the rest.

    Parameters
    ----------
    n_classes : int
        Number of classes; targets are ``0 … n_classes − 1``. The offset of the last one is 0.
    scoring : str or None
        Name of the score.
    """

    n_classes: int = 3
    scoring: str | None = None

    name: ClassVar[str] = "multi-class classification"
    metrics: ClassVar[Mapping[str, Metric]] = SEVERAL_CLASSES
    nominal: ClassVar[bool] = True
    needs_every_stratum: ClassVar[bool] = True
    n_slacks: ClassVar[int] = 0

    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program."""
        own = target.astype(int)
        sample, rival = np.nonzero(own[:, None] != np.arange(self.n_classes))
        one = np.eye(self.n_classes)
        difference = one[own[sample]] - one[rival]
        return Program.build(
            spread_columns(X[sample], difference),
            difference[:, :-1],
            np.ones(len(sample)),
            s=sample_weight,
            slack=sample,
        )

    def feature(self, k: int, n_columns: int) -> Feature:
        """One weight per class; each class against the others."""
        c = self.n_classes
        return Feature(k * c + np.arange(c), (c * np.eye(c) - 1.0) / (c - 1))

    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """Score of every class."""
        return np.asarray(X @ w.reshape(-1, self.n_classes) + np.append(b, 0.0))

    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict the class of the highest score; the first of those that tie, but for rounding."""
        decision = self.decision(X, w, b)
        return np.asarray(np.argmax(decision >= decision.max(axis=1, keepdims=True) - ROUNDING, axis=1), dtype=float)

    def scores(self, target: Array, privileged: bool) -> Array:
        """Each class against the others."""
        return np.asarray(target[:, None] == np.arange(self.n_classes), dtype=float)

    def strata(self, target: Array) -> NDArray[Any] | None:
        """The classes."""
        return target

    def relabelled(self, weights: Array, offsets: Array, classes: Indices) -> tuple[Array, Array]:
        """Exchange the weight vectors; the offset of the last class is 0 again."""
        own, all_offsets = np.empty_like(weights), np.empty(self.n_classes)
        own[classes], all_offsets[classes] = weights, np.append(offsets, 0.0)
        return own, all_offsets[:-1] - all_offsets[-1]

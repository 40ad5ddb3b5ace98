"""What a problem type has to say about itself; nothing else may depend on the problem type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations.metrics import Metric
from allrelevant.lp import Array, Program
from allrelevant.lp.matrix import Indices, Matrix

__all__ = ["Feature", "Formulation"]


@dataclass(frozen=True, eq=False)
class Feature:
    """The weights that a feature has in a program, and what of them counts as its relevance.

    Attributes
    ----------
    weights : ndarray of shape (m,)
        Its weights.
    contrasts : ndarray of shape (c, m)
        Combinations of the weights. The relevance of a feature is the greatest magnitude of a contrast: ``minRel`` is
        the maximum over the contrasts of their least magnitudes, ``maxRel`` of their greatest.
    total : bool
        If true there is one contrast, of positive numbers, and what counts is the sum of the magnitudes of the weights
        with these factors.
    """

    weights: Indices
    contrasts: Array
    total: bool = False

    @classmethod
    def join(cls, features: Sequence[Feature], gamma: Array) -> Feature:
        """Several columns as one feature, whose relevance is the norm of all its weights."""
        weights = np.concatenate([feature.weights for feature in features])
        return cls(weights, gamma[weights][None], total=True)


class Formulation(ABC):
    """A problem type: its rows, its predictions, its score.

    A formulation is a frozen dataclass. Targets arrive encoded as numbers;
    :class:`~allrelevant.formulations.Classification` shows the whole of what a new problem type needs.
    """

    #: Name in the registry and in results.
    name: ClassVar[str]
    #: Scores that predictions may be judged by, the default first, under scikit-learn's names where it has them.
    metrics: ClassVar[Mapping[str, Metric]] = {}
    #: Which one the search goes by; None for the default. A field of the dataclass, if there is a choice.
    scoring: str | None = None
    #: Settings of the own hyperparameters after which :meth:`next_gain` is known; 0 where it never is.
    foreseeable: ClassVar[int] = 0
    #: Whether targets are names of classes without an order: no answer may depend on them.
    nominal: ClassVar[bool] = False
    #: Whether the training part of every fold must hold samples of every stratum.
    needs_every_stratum: ClassVar[bool] = False
    #: Number of kinds of slacks; 0 if privileged features cannot explain them.
    n_slacks: ClassVar[int] = 1
    #: Whether all columns are features alike, so that one of several equal ones will do.
    alike: ClassVar[bool] = True
    #: Whether the search may decide for no weights at all.
    may_be_empty: ClassVar[bool] = False

    @abstractmethod
    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program for data of shape (n_samples, n_features).

        The weights of column ``k`` of `X` stand together, after those of column ``k - 1``, and their columns in the
        rows may depend on column ``k`` of `X`, the target and the weights only: copies rely on it.
        """

    def feature(self, k: int, n_columns: int) -> Feature:
        """Return the weights of column ``k`` of `X`, which has so many, and what of them counts."""
        return Feature(np.array([k], dtype=np.intp), np.ones((1, 1)))

    def predictive(self, n_columns: int) -> slice:
        """Return the weights that predictions depend on."""
        return slice(None)

    def slacks(self, target: Array) -> tuple[Indices, Indices]:
        """Return the sample of every hinge row, and the kind of its slack, such as above and below.

        Privileged features explain the slacks, each kind by a function of its own.
        """
        return np.arange(len(target)), np.zeros(len(target), dtype=np.intp)

    def beside(self, n_columns: int, count: int, privileged: bool) -> tuple[Formulation, int]:
        """Return what states so many more columns, of regular or of privileged features, and where they stand."""
        return self, n_columns

    def scores(self, target: Array, privileged: bool) -> Array | None:
        """Return what a feature alone, regular or privileged, is compared with, of shape (n_samples, n_scores).

        It is the gradient of the loss at a model without features, up to what is the same for all samples. None if a
        feature alone says nothing of its relevance.
        """
        return target[:, None]

    @abstractmethod
    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """Values that predictions are made from."""

    @abstractmethod
    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict encoded targets with a point of the program."""

    @property
    def metric(self) -> Metric:
        """The score that the search goes by."""
        return self.metrics[self.scoring or next(iter(self.metrics))]

    def scored_by(self, scoring: str | None) -> Self:
        """Return the same formulation with another score.

        Raises
        ------
        ValueError
            If it has no such score.
        """
        if scoring is not None and scoring not in self.metrics:
            raise ValueError(
                f"scoring={scoring!r} is not a score for {self.name}; choose one of "
                f"{', '.join(map(repr, self.metrics))}, or None for the first of them"
            )
        return self if scoring is None else replace(self, scoring=scoring)  # type: ignore[type-var]

    def score(self, X: Matrix, target: Array, sample_weight: Array, w: Array, b: Array) -> float:
        """Score a point of the program on samples; greater is better."""
        output = self.decision(X, w, b) if self.metric.of_decisions else self.predict(X, w, b)
        return self.metric.function(target, output, sample_weight)

    @abstractmethod
    def strata(self, target: Array) -> NDArray[Any] | None:
        """Return labels that cross-validation keeps in proportion, or None."""

    def resolution(self, n_samples: int) -> float:
        """Return the difference up to which two scores on so many samples are a tie: one sample's share."""
        return 1.0 / n_samples

    def candidates(self, target: Array) -> Sequence[Self]:
        """Return the settings of the own hyperparameters that the baseline search tries, the simplest first."""
        return [self]

    def restated(self, program: Program, target: Array) -> Program | None:
        """Return the program of another candidate's samples as this one states it, or None: it is stated anew then."""
        return None

    def next_gain(self, candidates: Sequence[Formulation], scores: Sequence[float]) -> float:
        """Return by how much the next candidate may beat the last one, given the best scores of those tried."""
        return np.inf

    def relabelled(self, weights: Array, offsets: Array, classes: Indices) -> tuple[Array, Array]:
        """Return a model for other names of the classes: class ``k`` is to be called ``classes[k]``.

        The weights of the columns of `X`, of shape (c, ...), and the offsets; only nominal targets need it.
        """
        return weights, offsets

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The own hyperparameters, other than `C`."""
        return {}

    def details(self, target: Array, prediction: Array, sample_weight: Array) -> dict[str, float]:
        """Return further scores for the report, by name."""
        return {}

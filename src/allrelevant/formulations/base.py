"""What a problem type has to say about itself; nothing else may depend on the problem type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from allrelevant.lp import Array, Program

__all__ = ["Formulation"]


class Formulation(ABC):
    """A problem type: its rows, its predictions, its score.

    A formulation is a frozen dataclass. Targets arrive encoded as numbers;
    :class:`~allrelevant.formulations.Classification` shows the whole of what a new problem type needs.
    """

    #: Name in the registry and in results.
    name: ClassVar[str]
    #: Name of the score, for people.
    metric: ClassVar[str]
    #: Whether people read the score, or its negative (an error), as :attr:`metric`.
    is_error: ClassVar[bool] = False
    #: Whether the training part of every fold must hold samples of every stratum.
    needs_every_stratum: ClassVar[bool] = False

    @abstractmethod
    def program(self, X: Array, target: Array, sample_weight: Array) -> Program:
        """State the program for data of shape (n_samples, n_features).

        Column ``k`` of the rows may depend on column ``k`` of `X`, the target and the weights only: probes rely on it.
        """

    @abstractmethod
    def predict(self, X: Array, w: Array, b: Array) -> Array:
        """Predict encoded targets with a point of the program."""

    @abstractmethod
    def score(self, target: Array, prediction: Array, sample_weight: Array) -> float:
        """Score predictions; greater is better."""

    @abstractmethod
    def strata(self, target: Array) -> NDArray[Any] | None:
        """Return labels that cross-validation keeps in proportion, or None."""

    def resolution(self, n_samples: int) -> float:
        """Return the difference up to which two scores on so many samples are a tie: one sample's share."""
        return 1.0 / n_samples

    def candidates(self, target: Array) -> Sequence[Self]:
        """Return the settings of the own hyperparameters that the baseline search tries, the simplest first."""
        return [self]

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The own hyperparameters, other than `C`."""
        return {}

    def details(self, target: Array, prediction: Array, sample_weight: Array) -> dict[str, float]:
        """Return further scores for the report, by name."""
        return {}

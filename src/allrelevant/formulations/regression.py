"""Real targets, ε-insensitive loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations.base import Formulation
from allrelevant.formulations.metrics import REAL, Metric
from allrelevant.lp import Array, Program
from allrelevant.lp.matrix import Indices, Matrix, with_negative

__all__ = ["Regression"]

#: Widths that the search tries, for targets of unit variance; the widest, which needs the least model, first.
WIDTHS = (0.3, 0.1, 0.03, 0.0)


@dataclass(frozen=True)
class Regression(Formulation):
    """Rows ``±(y − x·w − b) ≤ ε + ξ``, two per sample.

    Parameters
    ----------
    epsilon : float or None
        Half-width of the tube within which errors cost nothing; None to search for it.
    scoring : str or None
        Name of the score.
    """

    epsilon: float | None = None
    scoring: str | None = None

    name: ClassVar[str] = "regression"
    metrics: ClassVar[Mapping[str, Metric]] = REAL
    foreseeable: ClassVar[int] = 2
    n_slacks: ClassVar[int] = 2

    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program."""
        ones = np.ones((len(target), 1))
        return Program.build(
            with_negative(X),
            np.vstack([ones, -ones]),
            self._right(target),
            s=np.concatenate([sample_weight, sample_weight]),
        )

    def _right(self, target: Array) -> Array:
        """Right sides of the rows."""
        epsilon = WIDTHS[-1] if self.epsilon is None else self.epsilon
        return np.concatenate([target - epsilon, -target - epsilon])

    def restated(self, program: Program, target: Array) -> Program:
        """Return the program of the same samples with another width: only the right sides differ."""
        return replace(program, r=self._right(target))

    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """The prediction."""
        return np.asarray(X @ w + b[0])

    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict the target."""
        return self.decision(X, w, b)

    def strata(self, target: Array) -> NDArray[Any] | None:
        """None."""
        return None

    def slacks(self, target: Array) -> tuple[Indices, Indices]:
        """Two rows per sample: predictions too low, and too high."""
        every = np.arange(len(target))
        return np.concatenate([every, every]), np.repeat([0, 1], len(target))

    def candidates(self, target: Array) -> Sequence[Regression]:
        """The given ε, or the widths worth trying.

        Errors within a tube leave no more of the variance than its width squared: if that is a tie, none is narrower.
        """
        if self.epsilon is not None:
            return [self]
        last = next(k for k, width in enumerate(WIDTHS) if width**2 <= self.resolution(len(target)) * (1 + 1e-9))
        return [replace(self, epsilon=width) for width in WIDTHS[: last + 1]]

    def next_gain(self, candidates: Sequence[Any], scores: Sequence[float]) -> float:
        """Return by how much the next narrower tube may beat the last one.

        What a tube hides of the squared errors grows with its width squared, and with that what a narrower one gains.
        """
        if self.scoring not in (None, "r2", "neg_mean_squared_error") or not 2 <= len(scores) < len(candidates):
            return np.inf
        wider, last, following = (each.epsilon**2 for each in candidates[len(scores) - 2 : len(scores) + 1])
        return float((scores[-1] - scores[-2]) * (last - following) / (wider - last))

    @property
    def hyperparameters(self) -> dict[str, float]:
        """``epsilon``."""
        return {} if self.epsilon is None else {"epsilon": self.epsilon}

"""Features that only training sees: three ways in which they may explain what the regular ones leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations.base import Feature, Formulation
from allrelevant.formulations.metrics import Metric
from allrelevant.lp import Array, Program
from allrelevant.lp.matrix import Indices, Matrix

__all__ = ["PRIVILEGED_FORMS", "ExplainedSlack", "Residual"]

PRIVILEGED_FORMS = ("residual", "kept", "replaced")
#: Weights of the privileged part of the norm that the search tries; the heaviest, which needs the least of it, first.
GAMMAS = tuple(10.0**power for power in range(4, -4, -1))
#: What an own slack costs beside one that the privileged features explain.
OWN_SLACK = 2.0


@dataclass(frozen=True)
class _Wrapper(Formulation):
    """A formulation that changes the rows of another one, and nothing else."""

    base: Formulation

    alike: ClassVar[bool] = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the problem type."""
        return self.base.name

    @property
    def metric(self) -> Metric:
        """The score that the search goes by."""
        return self.base.metric

    @property
    def nominal(self) -> bool:  # type: ignore[override]
        """Whether targets are names of classes."""
        return self.base.nominal

    @property
    def needs_every_stratum(self) -> bool:  # type: ignore[override]
        """Whether folds need samples of every stratum."""
        return self.base.needs_every_stratum

    def strata(self, target: Array) -> NDArray[Any] | None:
        """Labels that cross-validation keeps in proportion."""
        return self.base.strata(target)

    def scores(self, target: Array, privileged: bool) -> Array | None:
        """What a feature alone is compared with."""
        return self.base.scores(target, privileged)

    def resolution(self, n_samples: int) -> float:
        """What is a tie."""
        return self.base.resolution(n_samples)

    def relabelled(self, weights: Array, offsets: Array, classes: Indices) -> tuple[Array, Array]:
        """Return a model for other names of the classes."""
        return self.base.relabelled(weights, offsets, classes)

    def details(self, target: Array, prediction: Array, sample_weight: Array) -> dict[str, float]:
        """Further scores."""
        return self.base.details(target, prediction, sample_weight)


@dataclass(frozen=True)
class Residual(_Wrapper):
    """The rows of another formulation, with the decisions of a model at hand: what is left to explain?

    The first column of `X` holds decision values ``f``; the others are the privileged features. The decision is
    ``a f + p(x*)`` with a free factor ``a``, one more offset, and ``p(x*) = w*·x* + d``. No weights at all are an
    answer: nothing is left that the privileged features could explain.
    """

    may_be_empty = True

    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program."""
        rows = self.base.program(X[:, 1:], target, sample_weight)
        given = self.base.program(X[:, :1], target, sample_weight)
        return replace(
            rows, B=np.hstack([rows.B, given.A]), H=np.hstack([rows.H, given.G]), v=np.append(rows.v, given.u)
        )

    def feature(self, k: int, n_columns: int) -> Feature:
        """The weights of privileged features; the first column has none."""
        return self.base.feature(k - 1, n_columns - 1)

    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """The decisions at hand, corrected."""
        return self.base.decision(X, np.append(b[-1], w), b[:-1])

    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict from the decisions at hand and the correction."""
        return self.base.predict(X, np.append(b[-1], w), b[:-1])

    def candidates(self, target: Array) -> Sequence[Residual]:
        """Those of the other formulation."""
        return [replace(self, base=base) for base in self.base.candidates(target)]

    @property
    def hyperparameters(self) -> dict[str, float]:
        """Those of the other formulation."""
        return self.base.hyperparameters


@dataclass(frozen=True)
class ExplainedSlack(_Wrapper):
    """The rows of another formulation, whose slacks are functions ``p(x*) = w*·x* + d ≥ 0`` of privileged features.

    There is one function per kind of slack. The loss is the sum of the functions' values, and of twice the own slacks
    where these are kept.

    Parameters
    ----------
    base : Formulation
        The other formulation, of one weight per column.
    keeps : bool
        Whether a row keeps a slack of its own beside the function.
    n_privileged : int
        Number of privileged features; they are the last columns of `X`.
    gamma : float or None
        Weight of their part of the norm; None to search for it.
    """

    keeps: bool = True
    n_privileged: int = 0
    gamma: float | None = None

    @property
    def _price(self) -> float:
        """Price of a privileged weight; the greatest until one has been chosen."""
        return GAMMAS[0] if self.gamma is None else self.gamma

    def program(self, X: Matrix, target: Array, sample_weight: Array) -> Program:
        """State the program."""
        d, q, kinds = X.shape[1] - self.n_privileged, self.n_privileged, self.base.n_slacks
        rows = self.base.program(X[:, :d], target, sample_weight)
        sample, kind = self.base.slacks(target)
        n, p = len(sample), rows.n_offsets
        explained = np.zeros((n, q, kinds))
        explained[np.arange(n), :, kind] = X[sample][:, d:]
        weights = np.hstack([np.zeros((n, d)), explained.reshape(n, q * kinds)])
        offsets = np.hstack([np.zeros((n, p)), np.eye(kinds)[kind]])
        A = np.hstack([rows.A, np.zeros((n, q * kinds))]) + weights
        B = np.hstack([rows.B, np.zeros((n, kinds))]) + offsets
        # The functions are not negative; rows of one sample and kind say so once.
        _, once = np.unique(sample * kinds + kind, return_index=True)
        G = [np.hstack([rows.G, np.zeros((rows.n_hard, q * kinds))]), weights[once]]
        H = [np.hstack([rows.H, np.zeros((rows.n_hard, kinds))]), offsets[once]]
        h = [rows.h, np.zeros(len(once))]
        keep = slice(None) if self.keeps else slice(0, 0)
        if not self.keeps:
            G, H, h = [*G, A], [*H, B], [*h, rows.r]
        return Program.build(
            A[keep],
            B[keep],
            rows.r[keep],
            s=OWN_SLACK * rows.s[keep],
            G=np.vstack(G),
            H=np.vstack(H),
            h=np.concatenate(h),
            gamma=np.concatenate([rows.gamma, np.full(q * kinds, self._price)]),
            u=np.concatenate([rows.u, np.zeros(q * kinds)]) + rows.s @ weights,
            v=np.concatenate([rows.v, np.zeros(kinds)]) + rows.s @ offsets,
        )

    def feature(self, k: int, n_columns: int) -> Feature:
        """The weight of a regular feature; those of a privileged one, one per kind of slack, as shares of the norm."""
        d, kinds = n_columns - self.n_privileged, self.base.n_slacks
        if k < d:
            return self.base.feature(k, d)
        return Feature(d + (k - d) * kinds + np.arange(kinds), self._price * np.eye(kinds))

    def predictive(self, n_columns: int) -> slice:
        """The weights of the regular features."""
        return slice(0, n_columns - self.n_privileged)

    def decision(self, X: Matrix, w: Array, b: Array) -> Array:
        """Decide from the regular features alone."""
        d = X.shape[1] - self.n_privileged
        return self.base.decision(X[:, :d], w[:d], b[: len(b) - self.base.n_slacks])

    def predict(self, X: Matrix, w: Array, b: Array) -> Array:
        """Predict from the regular features alone."""
        d = X.shape[1] - self.n_privileged
        return self.base.predict(X[:, :d], w[:d], b[: len(b) - self.base.n_slacks])

    def beside(self, n_columns: int, count: int, privileged: bool) -> tuple[Formulation, int]:
        """Privileged features stand last."""
        if privileged:
            return replace(self, n_privileged=self.n_privileged + count), n_columns
        return self, n_columns - self.n_privileged

    def scores(self, target: Array, privileged: bool) -> Array | None:
        """Privileged features explain slacks, not the target: alone they say nothing."""
        return None if privileged else self.base.scores(target, privileged)

    def candidates(self, target: Array) -> Sequence[ExplainedSlack]:
        """Those of the other formulation, each with all values of gamma worth trying."""
        gammas = GAMMAS if self.gamma is None else (self.gamma,)
        bases = self.base.candidates(target)
        return [replace(self, base=base, gamma=gamma) for gamma in gammas for base in bases]

    @property
    def hyperparameters(self) -> dict[str, float]:
        """``gamma`` and those of the other formulation."""
        own = {} if self.gamma is None else {"gamma": self.gamma}
        return {**self.base.hyperparameters, **own}

"""From what forests said about distinct columns to a result about all columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import allrelevant
from allrelevant.estimators._described import feature_names, plain_parameters, plain_seed
from allrelevant.forest import model
from allrelevant.forest.boruta import TENTATIVE, Verdicts
from allrelevant.forest.decomposition import Decomposition
from allrelevant.forest.learner import Array, Indices
from allrelevant.result import RelevanceClass, RelevanceResult, Thresholds

__all__ = ["NOTHING", "Found", "forest_result"]

#: Quantiles of a feature's share of importance over the rounds.
SPREAD = (0.05, 0.95)
NOTHING = (
    "No feature is more important to a forest than permuted features are: every feature is irrelevant, and predictions "
    "are the same for all samples."
)


@dataclass(frozen=True, eq=False)
class Found:
    """All that a fit found; the properties have an entry per column of the data, the attributes per distinct one.

    Attributes
    ----------
    member : ndarray of shape (n_features,)
        The distinct column that stands for each.
    verdicts : Verdicts
        Comparison with permuted features.
    relevant : ndarray
        The relevant ones.
    parts : Decomposition or None
        Which of these are strong; None if there are none.
    refuted : ndarray
        Those that beat permuted features, but are of no use.
    """

    member: Indices
    verdicts: Verdicts
    relevant: Indices
    parts: Decomposition | None
    refuted: Indices = field(default_factory=lambda: np.arange(0))

    @property
    def repeated(self) -> NDArray[np.bool_]:
        """Which columns order the samples as another one does."""
        return np.asarray(np.bincount(self.member)[self.member] > 1)

    @property
    def tentative(self) -> NDArray[np.bool_]:
        """Which ones the tests did not decide."""
        return np.asarray(self.verdicts.status == TENTATIVE)[self.member]

    @property
    def classes(self) -> NDArray[np.int64]:
        """Irrelevant, weak or strong; whatever orders the samples alike can stand in for each other."""
        classes = np.full(len(self.verdicts.status), int(RelevanceClass.IRRELEVANT))
        if self.parts is not None:
            classes[self.relevant] = np.where(self.parts.strong, RelevanceClass.STRONG, RelevanceClass.WEAK)
        found = classes[self.member]
        return np.where(self.repeated & (found > 0), int(RelevanceClass.WEAK), found)

    @property
    def replaceable(self) -> Array:
        """Share of a relevant feature that the others tell."""
        shares = np.full(len(self.verdicts.status), np.nan)
        if self.parts is not None:
            shares[self.relevant] = self.parts.imitated
        return np.where(self.repeated & (self.classes > 0), 1.0, shares[self.member])

    def shares(self) -> tuple[Array, Array, float]:
        """Mean share of importance, its spread over the rounds, and the share that permuted features reach."""
        values = np.nan_to_num(np.maximum(self.verdicts.importances, 0.0))
        total = values.sum(axis=1)
        total[total == 0.0] = 1.0
        shares = (values / total[:, None])[:, self.member]
        limit = float(np.median(self.verdicts.limits / total))
        return shares.mean(axis=0), np.quantile(shares, SPREAD, axis=0).T, limit

    def notes(self, names: NDArray[Any], guessed_by: str) -> list[str]:
        """What a reader must know."""
        notes = [] if len(self.relevant) else [NOTHING]
        if self.tentative.any():
            notes.append(
                f"What is not decided after {len(self.verdicts.limits)} rounds is guessed by tentative={guessed_by!r}; "
                "more rounds (max_rounds, patience) may decide it."
            )
        if len(self.refuted):
            notes.append(
                f"Taken for irrelevant: {', '.join(names[np.isin(self.member, self.refuted)])}. Permuted features were "
                "beaten, but no other relevant feature is like it, and predictions without it are as good."
            )
        for k in dict.fromkeys(sorted(self.member[self.repeated].tolist())):
            same = ", ".join(names[self.member == k])
            notes.append(f"{same} order the samples alike: to a forest they are one feature.")
        return notes


def forest_result(estimator: BaseEstimator, found: Found, **facts: Any) -> RelevanceResult:
    """Return the result; `facts` are fields that only the fit itself knows."""
    names = np.array(feature_names(estimator), dtype=object)
    mean, spread, limit = found.shares()
    rounds = len(found.verdicts.limits)
    return RelevanceResult(
        feature_names=tuple(names),
        intervals=spread,
        classes=found.classes,
        pvalues=found.verdicts.pvalues[found.member],
        baseline=mean,
        thresholds=Thresholds(
            0.0, limit, "hits", 1.0 - found.verdicts.confidence, "none", n_probes=rounds, n_usable=rounds
        ),
        hyperparameters={"n_estimators": estimator.n_estimators} if estimator.estimator is None else {},
        parameters=plain_parameters(estimator),
        seed=plain_seed(estimator),
        engine="lightgbm" if estimator.estimator is None else type(estimator.estimator).__name__,
        max_gap=0.0,
        n_programs=rounds + model.FOLDS + 1 + (0 if found.parts is None else found.parts.n_forests),
        notes=tuple(found.notes(names, estimator.tentative)),
        version=allrelevant.__version__,
        method="forest",
        tentative=tuple(names[found.tentative]),
        **facts,
    )

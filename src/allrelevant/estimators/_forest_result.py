"""From what forests said about distinct columns to a result about all columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import allrelevant
from allrelevant.estimators._described import feature_names, plain_parameters, plain_seed
from allrelevant.forest import model
from allrelevant.forest.decomposition import Decomposition
from allrelevant.forest.evidence import Evidence
from allrelevant.forest.learner import Array, Indices
from allrelevant.result import RelevanceClass, RelevanceResult, Thresholds

__all__ = ["NOTHING", "Found", "forest_result"]

#: Quantiles of a feature's share of importance over the forests.
SPREAD = (0.05, 0.95)
NOTHING = (
    "No feature is more important to forests than permuted copies are: every feature is irrelevant, and predictions "
    "are the same for all samples."
)


@dataclass(frozen=True, eq=False)
class Found:
    """All that a fit found; the properties have an entry per column of the data, the attributes per distinct one.

    Attributes
    ----------
    member : ndarray of shape (n_features,)
        The distinct column that stands for each; -1 for constant columns.
    evidence : Evidence
        P-values, and what they come from.
    relevant : ndarray
        The relevant ones.
    parts : Decomposition or None
        Which of these are strong; None if there are none.
    """

    member: Indices
    evidence: Evidence
    relevant: Indices
    parts: Decomposition | None = None

    def _spread(self, values: NDArray[Any], constant: Any) -> NDArray[Any]:
        """Values per distinct column (last axis) as values per column of the data."""
        beside = np.full((*values.shape[:-1], 1), constant, dtype=values.dtype)
        return np.concatenate([values, beside], axis=-1)[..., self.member]

    @property
    def repeated(self) -> NDArray[np.bool_]:
        """Which columns order the samples as another one does."""
        counts = np.bincount(self.member[self.member >= 0], minlength=len(self.evidence.alone))
        return self._spread(counts > 1, constant=False)

    def pvalues(self) -> dict[str, Any]:
        """P-values of all kinds by the name of their field in the result; 1 for constant columns."""
        evidence = self.evidence
        kinds = {
            "pvalues": evidence.pvalues,
            "adjusted_pvalues": evidence.adjusted,
            "together_pvalues": evidence.together.pvalues,
            "alone_pvalues": evidence.alone,
        }
        return {name: self._spread(values, constant=1.0) for name, values in kinds.items()}

    @property
    def importances(self) -> Array:
        """Importances in every forest, 0 for constant columns."""
        return self._spread(self.evidence.together.features, constant=0.0)

    @property
    def classes(self) -> NDArray[np.int64]:
        """Irrelevant, weak or strong; whatever orders the samples alike can stand in for each other."""
        classes = np.full(len(self.evidence.alone), int(RelevanceClass.IRRELEVANT))
        if self.parts is not None:
            classes[self.relevant] = np.where(self.parts.strong, RelevanceClass.STRONG, RelevanceClass.WEAK)
        found = self._spread(classes, constant=int(RelevanceClass.IRRELEVANT))
        return np.where(self.repeated & (found > 0), int(RelevanceClass.WEAK), found)

    @property
    def replaceable(self) -> Array:
        """Share of a relevant feature that the others tell."""
        shares = np.full(len(self.evidence.alone), np.nan)
        if self.parts is not None:
            shares[self.relevant] = self.parts.imitated
        return np.where(self.repeated & (self.classes > 0), 1.0, self._spread(shares, constant=np.nan))

    def shares(self) -> tuple[Array, Array, Array]:
        """Share of the mean importance, its spread over the forests, and the share that each feature had to exceed."""
        mean = self.evidence.together.mean
        total = float(np.maximum(mean, 0.0).sum()) or 1.0
        spread = np.quantile(np.maximum(self.importances, 0.0) / total, SPREAD, axis=0).T
        share, least = np.maximum(mean, 0.0) / total, np.maximum(self.evidence.limits(), 0.0) / total
        return self._spread(share, constant=0.0), spread, self._spread(least, constant=np.inf)

    def notes(self, names: NDArray[Any]) -> list[str]:
        """What a reader must know."""
        notes = [] if len(self.relevant) else [NOTHING]
        for k in dict.fromkeys(sorted(self.member[self.repeated].tolist())):
            same = ", ".join(names[self.member == k])
            notes.append(f"{same} order the samples alike: to a forest they are one feature.")
        return notes


def forest_result(estimator: BaseEstimator, found: Found, **facts: Any) -> RelevanceResult:
    """Return the result; `facts` are fields that only the fit itself knows."""
    names = np.array(feature_names(estimator), dtype=object)
    mean, spread, limits = found.shares()
    usual = limits[np.isfinite(limits)]
    limit = float(np.median(usual)) if len(usual) else np.nan
    copies, evidence = len(found.evidence.together.copies), found.evidence
    return RelevanceResult(
        feature_names=tuple(names),
        intervals=spread,
        classes=found.classes,
        **found.pvalues(),
        baseline=mean,
        limits=limits,
        thresholds=Thresholds(0.0, limit, "copies", evidence.level, evidence.control, copies, copies),
        hyperparameters={"n_estimators": estimator.n_estimators} if estimator.estimator is None else {},
        parameters=plain_parameters(estimator),
        seed=plain_seed(estimator),
        engine="lightgbm" if estimator.estimator is None else type(estimator.estimator).__name__,
        max_gap=0.0,
        n_programs=copies + model.FOLDS + 1 + (0 if found.parts is None else found.parts.n_forests),
        notes=tuple(found.notes(names)),
        version=allrelevant.__version__,
        method="forest",
        **facts,
    )

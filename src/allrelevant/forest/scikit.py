"""Forests by any estimator of scikit-learn's kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from allrelevant.forest.learner import Array, Rows, Sample, Target

__all__ = ["ScikitForest"]


@dataclass(frozen=True, eq=False)
class ScikitForest:
    """Any estimator of scikit-learn's kind that has ``feature_importances_`` once it is fitted."""

    estimator: Any

    def prepared(self, sample: Sample) -> Sample:
        """Return the sample."""
        return sample

    def grow(self, prepared: Sample, rows: Rows | None, seed: int, share: float = 1.0) -> ScikitGrown:
        """Fit a clone on some rows, or all, with a share of the trees, if it has a number of them."""
        known = self.estimator.get_params()
        given: dict[str, Any] = {"random_state": seed} if "random_state" in known else {}
        if share < 1.0 and isinstance(known.get("n_estimators"), int):
            given["n_estimators"] = max(1, round(known["n_estimators"] * share))
        model = clone(self.estimator).set_params(**given)
        part = slice(None) if rows is None else rows
        X, y, weight = prepared.X[part], prepared.target.values[part], prepared.weight[part]
        if np.all(weight == weight[0]):
            model.fit(X, y)
        else:
            model.fit(X, y, sample_weight=weight)
        return ScikitGrown(model, prepared.target)


@dataclass(frozen=True, eq=False)
class ScikitGrown:
    """A fitted estimator of scikit-learn's kind."""

    model: Any
    target: Target

    def predict(self, X: Array) -> Array:
        """Numbers, probabilities of the second of two classes, or of all: shape (n_samples, n_outputs)."""
        if not self.target.n_classes:
            return np.asarray(self.model.predict(X), dtype=float).reshape(-1, 1)
        found = np.zeros((len(X), self.target.n_classes))
        found[:, np.asarray(self.model.classes_, dtype=int)] = self.model.predict_proba(X)
        return found[:, 1:] if self.target.n_classes == 2 else found

    def seen(self, kind: str) -> Array:
        """Importances as the estimator defines them."""
        if kind != "gain":
            raise self._not_known(kind)
        return np.asarray(self.model.feature_importances_, dtype=float)

    def unseen(self, kind: str, X: Array, residuals: Array) -> Array:
        """Refuse: what the trees do is not known."""
        raise self._not_known(kind)

    def _not_known(self, kind: str) -> ValueError:
        return ValueError(
            f"importance={kind!r} needs the trees themselves, which are not known of estimator={self.model!r}; use "
            "'gain' or 'permutation', or estimator=None"
        )

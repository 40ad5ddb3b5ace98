"""A sparse linear model of ordered classes in the manner of scikit-learn, of the parts of this library."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from allrelevant._progress import Progress
from allrelevant.formulations import OrdinalExplicit
from allrelevant.formulations.metrics import macro_absolute_error
from allrelevant.relevance.baseline import Fold, fit_baseline


class OrdinalL1(BaseEstimator):
    """Large margins between ordered classes, explicit order, l1 penalty: the thesis' Equation 4.1 with ``p = 0``.

    Parameters
    ----------
    C : float
        Weight of the loss; 0 for thresholds alone.
    n_classes : int
        Number of classes; the target has their ranks, of which some may be absent.
    """

    def __init__(self, C: float = 1.0, n_classes: int = 2) -> None:
        self.C = C
        self.n_classes = n_classes

    def fit(self, X: np.ndarray, y: np.ndarray) -> OrdinalL1:
        """Solve the program once."""
        formulation = OrdinalExplicit(n_classes=self.n_classes)
        best = fit_baseline(formulation, X, y.astype(float), np.ones(len(y)), C=self.C, folds=(), progress=Progress())
        self.formulation_, self.coef_, self.intercept_ = formulation, best.w, best.b
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict ranks."""
        return self.formulation_.predict(X, self.coef_, self.intercept_)

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Negative mean absolute error, averaged over the classes present."""
        return macro_absolute_error(y.astype(float), self.predict(X), np.ones(len(y)))


def search(X: np.ndarray, y: np.ndarray, n_classes: int, n_folds: int) -> float:
    """Choose `C` by cross-validation, as the estimators of this library do."""
    folds = []
    for train, test in StratifiedKFold(n_folds).split(X, y):
        rows = np.arange(len(y))
        folds.append(Fold(np.isin(rows, train).astype(float), np.isin(rows, test).astype(float)))
    formulation = OrdinalExplicit(n_classes=n_classes)
    return fit_baseline(formulation, X, y.astype(float), np.ones(len(y)), C=None, folds=folds, progress=Progress()).C

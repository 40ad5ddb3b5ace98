"""Relevance of features for classes without an order."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from allrelevant.estimators._docs import with_shared_docs
from allrelevant.estimators._input import STORAGE, Samples
from allrelevant.estimators._linear import LinearRelevance
from allrelevant.formulations import Classification, MultiClass
from allrelevant.lp import Array

__all__ = ["LinearRelevanceClassifier", "class_codes"]


@with_shared_docs
class LinearRelevanceClassifier(ClassifierMixin, LinearRelevance):
    """Relevance intervals and classes of features for telling classes apart with a linear model.

    Among all linear models that are nearly as good as the best one (hinge loss, L1 norm), how little weight and how
    much weight can a feature have? A feature that every such model needs is *strongly* relevant. One that some use and
    others do without is *weakly* relevant: it is redundant. One that none uses more than chance would is
    *irrelevant*.

    The estimator selects the relevant features (:meth:`transform`), and it predicts with the best model, fitted on all
    features (:meth:`predict`).

    More than two classes have a weight vector each, under one norm, and the loss of a sample is that against the worst
    of the other classes (Crammer and Singer). The relevance of a feature is then the greatest, over the classes, of
    what tells the class from the others: its weight in the class less the mean of its weights in the others. ``minRel``
    is the maximum over the classes of the least such difference, ``maxRel`` of the greatest.

    Parameters
    ----------
    C : float, default=None
        Penalty of the loss of the baseline model: larger values fit the data more closely. By default it is chosen by
        cross-validation (weighted F1; scores that differ by no more than one sample are a tie, which goes to the
        smaller value) from a path that starts just above the value below which all weights are 0.
    {parameters}

    Attributes
    ----------
    {attributes}
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the baseline model, in the units of the data; for more than two classes, of every class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its intercepts.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    {more_attributes}

    See Also
    --------
    allrelevant.RelevanceResult : The result in full.
    allrelevant.plotting.RelevanceDisplay : Its picture.
    sklearn.feature_selection.SelectFromModel : Selects by the weights of one model.

    {notes}

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> X, y, relevance = make_relevance_classification(
    ...     n_samples=200, n_strong=2, n_weak=2, n_irrelevant=3, random_state=0
    ... )
    >>> model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    >>> model.relevance_classes_
    array([2, 2, 1, 1, 0, 0, 0])
    >>> model.transform(X).shape
    (200, 4)
    """

    def fit(
        self,
        X: Samples,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_privileged: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        strata: ArrayLike | None = None,
    ) -> Self:
        """Compute relevance intervals and classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; NaN and infinity are refused.
        y : array-like of shape (n_samples,)
            Labels of two classes or more, of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples' losses; a weight of 2 is the same as giving the sample twice.
        X_privileged : array-like of shape (n_samples, n_privileged), default=None
            Features of the same samples that are known in training only; predictions do not need them.
        groups : array-like of shape (n_samples,), default=None
            {groups}
        strata : array-like of shape (n_samples,), default=None
            {strata}

        Returns
        -------
        self : LinearRelevanceClassifier
            The fitted estimator.
        """
        self._validate_params()
        samples, labels = validate_data(self, X, y, **STORAGE, ensure_min_samples=2)
        check_classification_targets(labels)
        weight = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        self.classes_, codes = class_codes(labels, weight)
        if len(self.classes_) == 2:
            target = np.where(codes == 1, 1.0, -1.0)
            del codes
            model = self._fit_relevance(Classification(), samples, labels, target, weight, X_privileged, groups, strata)
            self.intercept_ = -model.offsets[:1] - model.shift
        else:
            formulation = MultiClass(len(self.classes_))
            model = self._fit_relevance(
                formulation, samples, labels, codes.astype(float), weight, X_privileged, groups, strata
            )
            self.intercept_ = np.append(model.offsets, 0.0) - model.shift
        self.coef_ = model.coef
        return self

    def decision_function(self, X: Samples) -> Array:
        """Confidence of the baseline model in the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes the signed distance to the separating plane in units of the margin, positive for the second
            class; for more the score of every class, of which the highest is predicted.
        """
        check_is_fitted(self)
        samples = validate_data(self, X, **STORAGE, reset=False)
        decision = samples @ self.coef_.T + self.intercept_
        return np.asarray(decision[:, 0] if len(self.classes_) == 2 else decision)

    def predict(self, X: Samples) -> NDArray[Any]:
        """Predict labels with the baseline model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels as given to :meth:`fit`.
        """
        decision = self.decision_function(X)
        best = (decision > 0).astype(int) if decision.ndim == 1 else np.argmax(decision, axis=1)
        return np.asarray(self.classes_[best])


def class_codes(y: NDArray[Any], weight: Array) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Labels and the code of every sample; an error unless samples of positive weight have two labels or more."""
    present = np.unique(y[weight > 0])
    if len(present) < 2:
        given = "no sample of positive weight" if not len(present) else f"only one class, {present[0].item()!r}"
        raise ValueError(f"y has {given}; two classes are needed to tell what tells them apart")
    return present, np.searchsorted(present, y).clip(0, len(present) - 1)

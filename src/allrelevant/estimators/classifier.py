"""Relevance of features for two classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from allrelevant.estimators._docs import with_shared_docs
from allrelevant.estimators._linear import LinearRelevance
from allrelevant.formulations import Classification
from allrelevant.lp import Array

__all__ = ["LinearRelevanceClassifier"]


@with_shared_docs
class LinearRelevanceClassifier(ClassifierMixin, LinearRelevance):
    """Relevance intervals and classes of features for telling two classes apart with a linear model.

    Among all linear models that are nearly as good as the best one (hinge loss, L1 norm), how little weight and how
    much weight can a feature have? A feature that every such model needs is *strongly* relevant. One that some use and
    others do without is *weakly* relevant: it is redundant. One that none uses more than chance would is
    *irrelevant*.

    The estimator selects the relevant features (:meth:`transform`), and it predicts with the best model, fitted on all
    features (:meth:`predict`).

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
    coef_ : ndarray of shape (1, n_features)
        Weights of the baseline model, in the units of the data.
    intercept_ : ndarray of shape (1,)
        Its intercept.
    classes_ : ndarray of shape (2,)
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

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compute relevance intervals and classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; NaN and infinity are refused.
        y : array-like of shape (n_samples,)
            Labels of two classes, of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples' losses; a weight of 2 is the same as giving the sample twice.

        Returns
        -------
        self : LinearRelevanceClassifier
            The fitted estimator.
        """
        self._validate_params()
        samples, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(labels)
        weight = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        self.classes_, codes = _two_classes(labels, weight)
        model = self._fit_relevance(Classification(), samples, labels, np.where(codes == 1, 1.0, -1.0), weight)
        self.coef_ = model.coef[None, :]
        self.intercept_ = -model.offsets - model.shift
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Signed distance of samples to the separating plane of the baseline model, in units of its margin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            Positive for the second class.
        """
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(samples @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels with the baseline model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels as given to :meth:`fit`.
        """
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(int)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _two_classes(y: NDArray[Any], weight: Array) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Labels and the code of every sample; an error unless samples of positive weight have two labels."""
    present = np.unique(y[weight > 0])
    if len(present) > 2:
        shown = ", ".join(map(repr, present[:5].tolist())) + (", ..." if len(present) > 5 else "")
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}: y has "
            f"{len(present)} classes ({shown}); fit one class against the others, such as y == {present[0].item()!r}"
        )
    if len(present) < 2:
        given = "no sample of positive weight" if not len(present) else f"only one class, {present[0].item()!r}"
        raise ValueError(f"y has {given}; two classes are needed to tell what tells them apart")
    return present, np.searchsorted(present, y).clip(0, 1)

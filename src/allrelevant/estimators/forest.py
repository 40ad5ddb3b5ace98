"""Relevance of features for problems that no line can fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets

from allrelevant.estimators._docs import with_shared_docs
from allrelevant.estimators._forest import ForestRelevance
from allrelevant.estimators.classifier import class_codes
from allrelevant.forest.learner import Array, Target

__all__ = ["ForestRelevanceClassifier", "ForestRelevanceRegressor"]


@with_shared_docs
class ForestRelevanceClassifier(ClassifierMixin, ForestRelevance):
    """Relevance classes of features for telling classes apart with forests.

    A feature is relevant if it is more important than permuted features in significantly more than half of many forests
    (after Boruta). A relevant feature that no others can imitate well enough to do its work is *strongly* relevant; one
    that others can stand in for is *weakly* relevant: it is redundant.

    The estimator selects the relevant features (:meth:`transform`), and it predicts with a forest of these
    (:meth:`predict`). It needs LightGBM (extra ``forest``), unless an `estimator` is given and
    ``decomposition="refit"``.

    Parameters
    ----------
    {forest_parameters}

    Attributes
    ----------
    {forest_attributes}
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    {forest_more_attributes}

    See Also
    --------
    LinearRelevanceClassifier : Intervals that are proven, for linear models.
    allrelevant.RelevanceResult : The result in full.

    {forest_notes}

    Examples
    --------
    Two features that say nothing alone:

    >>> from allrelevant import ForestRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_interaction
    >>> X, y, relevance = make_relevance_interaction(600, kind="xor", n_irrelevant=4, random_state=1)
    >>> model = ForestRelevanceClassifier(random_state=0).fit(X, y)
    >>> model.relevance_classes_
    array([2, 2, 0, 0, 0, 0])
    """

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        strata: ArrayLike | None = None,
    ) -> Self:
        """Find the relevant features, and which of them nothing can replace.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples. NaN is a missing value. Columns of a data frame may be categories.
        y : array-like of shape (n_samples,)
            Labels of two classes or more, of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples' losses.
        groups : array-like of shape (n_samples,), default=None
            {groups}
        strata : array-like of shape (n_samples,), default=None
            {strata}

        Returns
        -------
        self : ForestRelevanceClassifier
            The fitted estimator.
        """
        samples, labels, weight = self._validated(X, y, sample_weight)
        check_classification_targets(labels)
        self.classes_, codes = class_codes(labels, weight)
        self._fit_relevance(
            samples, Target(codes.astype(float), len(self.classes_)), weight, "accuracy", groups, strata
        )
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, by the forest of the relevant features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of :attr:`classes_`.
        """
        found = self._outputs(X)
        return np.hstack([1.0 - found, found]) if found.shape[1] == 1 else found

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels with the forest of the relevant features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels as given to :meth:`fit`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])


@with_shared_docs
class ForestRelevanceRegressor(RegressorMixin, ForestRelevance):
    """Relevance classes of features for predicting numbers with forests.

    A feature is relevant if it is more important than permuted features in significantly more than half of many forests
    (after Boruta). A relevant feature that no others can imitate well enough to do its work is *strongly* relevant; one
    that others can stand in for is *weakly* relevant: it is redundant.

    The estimator selects the relevant features (:meth:`transform`), and it predicts with a forest of these
    (:meth:`predict`). Ordered classes can be given as numbers, such as 0, 1, 2: neighbours then count as equally far
    from each other. It needs LightGBM (extra ``forest``), unless an `estimator` is given and
    ``decomposition="refit"``.

    Parameters
    ----------
    {forest_parameters}

    Attributes
    ----------
    {forest_attributes}
    {forest_more_attributes}

    See Also
    --------
    LinearRelevanceRegressor : Intervals that are proven, for linear models.
    allrelevant.RelevanceResult : The result in full.

    {forest_notes}

    Examples
    --------
    >>> from allrelevant import ForestRelevanceRegressor
    >>> from allrelevant.datasets import make_relevance_interaction
    >>> X, y, relevance = make_relevance_interaction(
    ...     600, kind="friedman", problem="regression", n_irrelevant=3, random_state=1
    ... )
    >>> model = ForestRelevanceRegressor(random_state=0).fit(X, y)
    >>> model.relevance_classes_
    array([2, 2, 2, 2, 2, 0, 0, 0])
    """

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        strata: ArrayLike | None = None,
    ) -> Self:
        """Find the relevant features, and which of them nothing can replace.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples. NaN is a missing value. Columns of a data frame may be categories.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples' losses.
        groups : array-like of shape (n_samples,), default=None
            {groups}
        strata : array-like of shape (n_samples,), default=None
            {strata}

        Returns
        -------
        self : ForestRelevanceRegressor
            The fitted estimator.
        """
        samples, values, weight = self._validated(X, y, sample_weight, y_numeric=True)
        numbers = np.asarray(values, dtype=float)
        self._fit_relevance(samples, Target(numbers), weight, "R²", groups, strata)
        return self

    def predict(self, X: Any) -> Array:
        """Predict numbers with the forest of the relevant features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Numbers.
        """
        return self._outputs(X)[:, 0]

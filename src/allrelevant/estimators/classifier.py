"""Relevance of features for two classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from allrelevant.estimators._linear import LinearRelevance
from allrelevant.formulations import Classification
from allrelevant.lp import Array

__all__ = ["LinearRelevanceClassifier"]


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
    norm_slack : float, default=0.1
        How much larger the norm of the weights of a near-optimal model may be, as a share of the baseline model's.
    loss_slack : float, default=0.1
        How much larger the loss of a near-optimal model may be, as a share of the baseline model's objective in units
        of the loss (its loss plus its norm divided by `C`). More slack of either kind widens all intervals.
    n_probes : int, default=50
        Number of permuted features whose relevance tells what chance can do; at least 3.
    confidence : float, default=0.9999
        Confidence of the prediction limit that the probes give for an irrelevant feature's ``maxRel``. With the default
        one or two irrelevant features in a thousand are taken for relevant on the simulated sets Sim1 to Sim5; that is
        more than the nominal one in ten thousand because the baseline model has already chosen among the features.
    threshold_rule : {"added", "papers"}, default="added"
        ``"added"`` adds each probe beside all features and takes the prediction limit of the cube roots, which are less
        skewed than the values themselves. ``"papers"`` puts each probe in the place of the feature
        it was made from, drops it if no near-optimal model is left, and takes the limit of the values themselves; the
        papers propose ``confidence=0.999``.
    standardize : bool, default=True
        Whether to scale the features to mean 0 and standard deviation 1. Without it intervals are only comparable if
        the features have a common unit.
    cv : int, cross-validation generator or iterable, default=3
        Splits of the search for `C`. An integer asks for that many stratified folds, fewer if a class is smaller.
    engine : {"auto", "highs", "interior"}, default="auto"
        Solver of the linear programs: HiGHS' simplex, or a batched interior-point method, which is several times
        faster on up to a few hundred features. Whatever it returns is proven by a dual certificate.
    n_jobs : int, default=None
        Number of threads. Answers do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of folds and probes. An integer makes the result reproducible, for any order of rows and columns.
    verbose : int, default=0
        1 reports every stage on standard error, 2 also the progress within.

    Attributes
    ----------
    intervals_ : ndarray of shape (n_features, 2)
        ``minRel`` and ``maxRel``: the least and the most weight of the feature in any near-optimal model, as a share of
        the baseline model's weight. The extremes of different features are in general not attained together.
    relevance_classes_ : ndarray of shape (n_features,)
        0 irrelevant, 1 weakly relevant, 2 strongly relevant.
    pvalues_ : ndarray of shape (n_features,)
        Chance that an irrelevant feature reaches the feature's ``maxRel``, by the prediction interval of the probes.
    thresholds_ : Thresholds
        Limits that ``minRel`` and ``maxRel`` must exceed.
    coef_ : ndarray of shape (1, n_features)
        Weights of the baseline model, in the units of the data.
    intercept_ : ndarray of shape (1,)
        Its intercept.
    classes_ : ndarray of shape (2,)
        The class labels.
    result_ : RelevanceResult
        All of this with names, scores, parameters and proofs: what plots and reports are made from.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if all of them are strings.

    See Also
    --------
    allrelevant.RelevanceResult : The result in full.
    allrelevant.plotting.RelevanceDisplay : Its picture.
    sklearn.feature_selection.SelectFromModel : Selects by the weights of one model.

    Notes
    -----
    Equal samples are merged and their weights added before anything else, so a sample given twice, a sample of weight 2
    and any order of rows give the same result.

    References
    ----------
    .. [1] C. Göpfert, L. Pfannschmidt, J. P. Göpfert, B. Hammer. "Interpretation of linear classifiers by means of
       feature relevance bounds." Neurocomputing 298 (2018).
    .. [2] L. Pfannschmidt, C. Göpfert, U. Neumann, D. Heider, B. Hammer. "FRI - Feature Relevance Intervals for
       Interpretable and Interactive Data Exploration." IEEE CIBCB (2019).

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
        self._fit_relevance(Classification(), samples, labels, np.where(codes == 1, 1.0, -1.0), weight)
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

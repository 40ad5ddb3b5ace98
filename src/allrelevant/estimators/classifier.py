"""Relevance of features for classes without an order."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from allrelevant.estimators._class_weight import class_factors
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
        repeated cross-validation (`scoring`) from a path that starts just above the value below which all weights are
        0: the smallest value whose score is within one standard error of the best one.
    scoring : str, default=None
        Score of the search for `C`, under scikit-learn's name: ``"f1_weighted"`` (the default), ``"f1_macro"``,
        ``"accuracy"``, ``"balanced_accuracy"``, or the area under the ROC curve, which does not mind where the boundary
        lies: ``"roc_auc"`` for two classes, ``"roc_auc_ovr"`` for more. What :attr:`result_` and panels report is this
        score as well.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which the losses of their samples are multiplied: by label, 1 if left out, or
        ``"balanced"``, inversely proportional to their sizes. They weigh losses only: folds, standardisation and the
        score of the search for `C` take every sample as it is. Where the small classes matter, choose `scoring` to say
        so.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearRelevance._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        C: float | None = None,
        scoring: str | None = None,
        class_weight: Any = None,
        norm_slack: float = 0.1,
        loss_slack: float = 0.1,
        budgets: str = "split",
        level: float = 0.05,
        control: str = "fdr",
        threshold_rule: str = "copies",
        n_copies: int | str = "auto",
        n_probes: int = 50,
        feature_groups: Any = None,
        privileged: str = "residual",
        gamma: float | None = None,
        standardize: bool = True,
        cv: Any = 3,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C=C,
            scoring=scoring,
            norm_slack=norm_slack,
            loss_slack=loss_slack,
            budgets=budgets,
            level=level,
            control=control,
            threshold_rule=threshold_rule,
            n_copies=n_copies,
            n_probes=n_probes,
            feature_groups=feature_groups,
            privileged=privileged,
            gamma=gamma,
            standardize=standardize,
            cv=cv,
            time_limit=time_limit,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

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
            Weights of the samples' losses. To the models, but not to the permutations of rows, a weight of 2 is the
            same as giving the sample twice.
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
        factor = class_factors(self.class_weight, labels, weight)
        if len(self.classes_) == 2:
            target = np.where(codes == 1, 1.0, -1.0)
            del codes
            belonging = (groups, strata, factor)
            model = self._fit_relevance(Classification(), samples, labels, target, weight, X_privileged, *belonging)
            self.intercept_ = -model.offsets[:1] - model.shift
        else:
            formulation = MultiClass(len(self.classes_))
            target, belonging = codes.astype(float), (groups, strata, factor)
            model = self._fit_relevance(formulation, samples, labels, target, weight, X_privileged, *belonging)
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

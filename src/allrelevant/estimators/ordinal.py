"""Relevance of features for ordered classes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from allrelevant.estimators._class_weight import class_factors
from allrelevant.estimators._docs import with_shared_docs
from allrelevant.estimators._input import STORAGE, Samples
from allrelevant.estimators._linear import LinearRelevance
from allrelevant.formulations import OrdinalExplicit, OrdinalImplicit
from allrelevant.formulations.metrics import macro_absolute_error
from allrelevant.lp import Array

__all__ = ["LinearRelevanceOrdinal"]

ORDERS = {"explicit": OrdinalExplicit, "implicit": OrdinalImplicit}


@with_shared_docs
class LinearRelevanceOrdinal(LinearRelevance):
    """Relevance intervals and classes of features for ordered classes (ordinal regression) with a linear model.

    The model is one direction, along which the classes follow each other, and a boundary between every two
    neighbouring classes. Among all such models that are nearly as good as the best one (hinge loss, L1 norm), how
    little weight and how much weight can a feature have? The relevance classes are those of
    :class:`~allrelevant.LinearRelevanceClassifier`: strongly relevant, weakly relevant (redundant), irrelevant.

    Parameters
    ----------
    C : float, default=None
        Penalty of the loss of the baseline model. By default it is chosen by repeated cross-validation (`scoring`):
        the smallest value whose score is within one standard error of the best one.
    order : {"explicit", "implicit"}, default="explicit"
        How the boundaries are kept in order. ``"explicit"`` states the order and compares a sample with the boundaries
        next to its class; ``"implicit"`` compares every sample with every boundary, which orders them by itself but
        makes a larger program.
    scoring : str, default=None
        Score of the search for `C`, under scikit-learn's name: ``"neg_macro_mean_absolute_error"`` (the default, in
        ranks, averaged over the classes; scikit-learn has none like it), ``"neg_mean_absolute_error"``,
        ``"accuracy"`` or ``"balanced_accuracy"``. What :attr:`result_` and panels report is this score as well.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which the losses of their samples are multiplied: by label, 1 if left out, or
        ``"balanced"``, inversely proportional to their sizes. They weigh losses only: folds, standardisation and the
        score of the search for `C` take every sample as it is. Where the small classes matter, choose `scoring` to say
        so.
    {parameters}

    Attributes
    ----------
    {attributes}
    coef_ : ndarray of shape (1, n_features)
        Direction of the baseline model, in the units of the data.
    boundaries_ : ndarray of shape (n_classes - 1,)
        Boundaries between the classes along that direction, ascending.
    classes_ : ndarray of shape (n_classes,)
        The labels, in their order.
    {more_attributes}

    See Also
    --------
    LinearRelevanceClassifier : For two classes without an order.
    LinearRelevanceRegressor : For a real target.

    {notes}

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import LinearRelevanceOrdinal
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(150, 4))
    >>> X[:, 2] = X[:, 1] + 0.01 * rng.normal(size=150)
    >>> y = np.digitize(X[:, 0] + X[:, 1], [-1, 0, 1])
    >>> model = LinearRelevanceOrdinal(random_state=0).fit(X, y)
    >>> model.relevance_classes_
    array([2, 1, 1, 0])
    >>> bool(np.all(np.diff(model.boundaries_) >= 0))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearRelevance._parameter_constraints,
        "order": [StrOptions(set(ORDERS))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        C: float | None = None,
        order: str = "explicit",
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
        self.order = order
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
            Labels whose order is known: integers, or an ordered pandas Categorical.
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
        self : LinearRelevanceOrdinal
            The fitted estimator.
        """
        self._validate_params()
        labels, ranks = _ranks(y)
        samples, ranks = validate_data(self, X, ranks, **STORAGE, ensure_min_samples=2)
        weight = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        present = np.unique(ranks[weight > 0])
        if len(present) < 2:
            only = (
                f"only one class, {labels[int(present[0])].item()!r}"
                if len(present)
                else "no sample of positive weight"
            )
            raise ValueError(f"y has {only}; at least two classes are needed")
        self.classes_ = labels[present.astype(int)]
        target = np.searchsorted(present, ranks).astype(float)
        formulation = ORDERS[self.order](n_classes=len(present))
        factor = class_factors(self.class_weight, labels[ranks.astype(int)], weight)
        belonging = (groups, strata, factor)
        model = self._fit_relevance(formulation, samples, target, target, weight, X_privileged, *belonging)
        self.coef_ = model.coef
        self.boundaries_ = np.sort(model.offsets[: len(present) - 1]) + model.shift[0]
        return self

    def decision_function(self, X: Samples) -> Array:
        """Place of samples along the direction of the baseline model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        place : ndarray of shape (n_samples,)
            To be compared with :attr:`boundaries_`.
        """
        check_is_fitted(self)
        samples = validate_data(self, X, **STORAGE, reset=False)
        return np.asarray(samples @ self.coef_[0])

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
        place = self.decision_function(X)
        return np.asarray(self.classes_[np.searchsorted(self.boundaries_, place, side="left")])

    def score(self, X: Samples, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Negative mean absolute error in ranks, averaged over the classes: 0 is perfect, greater is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            Their labels, all of them known from :meth:`fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
            The score.
        """
        prediction = self.predict(X)
        rank = {label: k for k, label in enumerate(self.classes_.tolist())}
        truth = column_or_1d(np.asarray(y))
        unknown = sorted({str(label) for label in truth.tolist() if label not in rank})
        if unknown:
            raise ValueError(f"y has labels not seen during fit: {', '.join(unknown[:5])}")
        target, found = (
            np.array([rank[label] for label in part.tolist()], dtype=float) for part in (truth, prediction)
        )
        weight = _check_sample_weight(sample_weight, target, dtype=np.float64)
        return macro_absolute_error(target, found, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _ranks(y: Any) -> tuple[NDArray[Any], Array]:
    """Labels in their order and the rank of every sample; an error where the labels have no order."""
    dtype = getattr(y, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if categories is not None:
        if not getattr(dtype, "ordered", False):
            raise ValueError(
                "y is a categorical without an order; give the order of its categories, such as "
                f"y.cat.set_categories({list(categories)!r}, ordered=True)"
            )
        codes = np.asarray(getattr(y, "cat", y).codes)
        if (codes < 0).any():
            raise ValueError("y contains NaN; drop the samples without a label")
        return np.asarray(categories), codes.astype(float)
    values = column_or_1d(np.asarray(y), warn=True)
    if values.dtype.kind not in "iub":
        try:
            numbers = values.astype(float)
        except (TypeError, ValueError):
            shown = sorted({str(value) for value in values.tolist()})[:3]
            raise ValueError(
                f"y has labels whose order is not known ({', '.join(shown)}, ...); give integers, or an ordered pandas "
                "Categorical: pd.Categorical(y, categories=['low', 'medium', 'high'], ordered=True)"
            ) from None
        if not np.isfinite(numbers).all():
            raise ValueError("y contains NaN or infinity; drop the samples without a label")
        if (numbers != np.rint(numbers)).any():
            raise ValueError("Unknown label type: y is continuous; give integers, or use LinearRelevanceRegressor")
    labels, ranks = np.unique(values, return_inverse=True)
    return labels, ranks.astype(float)

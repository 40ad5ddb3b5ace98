"""Relevance of features for a real target."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from allrelevant.estimators._docs import with_shared_docs
from allrelevant.estimators._input import STORAGE, Samples
from allrelevant.estimators._linear import LinearRelevance
from allrelevant.formulations import Regression
from allrelevant.lp import Array

__all__ = ["LinearRelevanceRegressor"]


@with_shared_docs
class LinearRelevanceRegressor(RegressorMixin, LinearRelevance):
    """Relevance intervals and classes of features for predicting a real target with a linear model.

    Among all linear models that are nearly as good as the best one (ε-insensitive loss, L1 norm), how little weight and
    how much weight can a feature have? The classes are those of
    :class:`~allrelevant.LinearRelevanceClassifier`: strongly relevant, weakly relevant (redundant), irrelevant.

    Parameters
    ----------
    C : float, default=None
        Penalty of the loss of the baseline model, for a target of unit variance. By default it is chosen by repeated
        cross-validation (`scoring`), given `epsilon`: the smallest value whose score is within one standard error of
        the best one.
    epsilon : float, default=None
        Errors up to this size, in the units of the target, cost nothing. By default it is chosen by cross-validation
        (the best score over all `C`; differences of up to ``1 / n_samples`` are a tie, which goes to the larger value)
        from shares of the target's standard deviation, down to one whose square is no more than ``1 / n_samples`` or 0;
        with `C` given and `epsilon` not, it is 0.
    scoring : str, default=None
        Score of the search for `C` and `epsilon`, under scikit-learn's name: ``"r2"`` (the default),
        ``"neg_mean_squared_error"``, ``"neg_mean_absolute_error"`` or ``"neg_median_absolute_error"``; errors are in
        standard deviations of the target, or their squares. What :attr:`result_` and panels report is this score as
        well.
    {parameters}

    Attributes
    ----------
    {attributes}
    coef_ : ndarray of shape (n_features,)
        Weights of the baseline model, in the units of the data.
    intercept_ : float
        Its intercept.
    epsilon_ : float
        Width chosen or given, in the units of the target.
    {more_attributes}

    See Also
    --------
    LinearRelevanceClassifier : For two classes.
    LinearRelevanceOrdinal : For ordered classes.

    {notes}

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant import LinearRelevanceRegressor
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, 2] = X[:, 1] + 0.01 * rng.normal(size=100)
    >>> y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=100)
    >>> LinearRelevanceRegressor(random_state=0).fit(X, y).relevance_classes_
    array([2, 1, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearRelevance._parameter_constraints,
        "epsilon": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        C: float | None = None,
        epsilon: float | None = None,
        scoring: str | None = None,
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
        self.epsilon = epsilon

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
            The target.
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
        self : LinearRelevanceRegressor
            The fitted estimator.
        """
        self._validate_params()
        samples, y = validate_data(self, X, y, **STORAGE, ensure_min_samples=2, y_numeric=True)
        values = np.asarray(y, dtype=float)
        weight = _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)
        if not (weight > 0).any():
            raise ValueError("sample_weight has no positive entry; give at least two samples a positive weight")
        mean, scale = _location(values, weight)
        width = None if self.epsilon is None else self.epsilon / scale
        if width is None and self.C is not None:
            width = 0.0
        target = (values - mean) / scale
        model = self._fit_relevance(Regression(width), samples, values, target, weight, X_privileged, groups, strata)
        self.coef_ = scale * model.coef[0]
        self.intercept_ = float(mean + scale * (model.offsets[0] - model.shift[0]))
        self.epsilon_ = float(scale * self.result_.hyperparameters["epsilon"])
        return self

    def predict(self, X: Samples) -> Array:
        """Predict the target with the baseline model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predicted values.
        """
        check_is_fitted(self)
        samples = validate_data(self, X, **STORAGE, reset=False)
        return np.asarray(samples @ self.coef_ + self.intercept_)


def _location(values: Array, weight: Array) -> tuple[float, float]:
    """Mean and standard deviation, exactly rounded, so that the order of the samples cannot change a digit."""
    # In units, powers of two, in which neither sums nor squares leave the range of numbers.
    unit, heaviest = (2.0 ** math.frexp(float(part.max()))[1] for part in (np.abs(values), weight))
    values, weight = values / unit, weight / heaviest
    total = math.fsum(weight)
    mean = math.fsum(weight * values) / total
    spread = math.sqrt(math.fsum(weight * (values - mean) ** 2) / total)
    return mean * unit, spread * unit if spread > 0 else 1.0

"""What a result says about the estimator it is of."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["feature_names", "plain_parameters", "plain_seed"]


def feature_names(estimator: BaseEstimator) -> list[str]:
    """Names of the features it has seen, ``x0, x1, …`` if they had none."""
    default = [f"x{k}" for k in range(estimator.n_features_in_)]
    return [str(name) for name in getattr(estimator, "feature_names_in_", default)]


def plain_parameters(estimator: BaseEstimator) -> dict[str, Any]:
    """Parameters as values that JSON can hold."""
    return {name: _plain(value) for name, value in estimator.get_params(deep=False).items()}


def plain_seed(estimator: BaseEstimator) -> int | None:
    """The seed, if it is a number."""
    seed = estimator.random_state
    return int(seed) if isinstance(seed, Integral) else None


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | Integral | Real | str) else repr(value)

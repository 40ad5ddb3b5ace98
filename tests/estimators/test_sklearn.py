"""scikit-learn's own checks, without exception."""

from __future__ import annotations

import inspect
import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import (
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
    RelevanceWarning,
)


@parametrize_with_checks(
    [
        LinearRelevanceClassifier(),
        LinearRelevanceClassifier(C=1.0, engine="highs", n_probes=5),
        LinearRelevanceRegressor(),
        LinearRelevanceOrdinal(),
        LinearRelevanceOrdinal(order="implicit", C=1.0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks fit noise on purpose and hear that it is noise.
        warnings.simplefilter("ignore", RelevanceWarning)
        warnings.filterwarnings("ignore", "No features were selected")
        check(estimator)


def test_tags_say_what_is_true():
    tags = LinearRelevanceClassifier().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_class
    assert not tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.target_tags.required
    assert not tags.non_deterministic


@pytest.mark.parametrize(
    "name", ["C", "norm_slack", "loss_slack", "budgets", "n_probes", "confidence", "standardize", "cv", "engine"]
)
def test_every_parameter_is_documented(name):
    assert f"\n{name} : " in inspect.getdoc(LinearRelevanceClassifier)

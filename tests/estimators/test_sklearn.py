"""scikit-learn's own checks."""

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

#: Of the models weights are repetitions, and tests see to it; of the verdict they are not.
WEIGHTS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "permutations exchange two equal rows each by itself, and one row of twice the weight as one",
)


@parametrize_with_checks(
    [
        LinearRelevanceClassifier(n_copies=1),
        LinearRelevanceClassifier(C=1.0, n_copies=1),
        LinearRelevanceRegressor(n_copies=1),
        LinearRelevanceOrdinal(n_copies=1),
        LinearRelevanceOrdinal(order="implicit", C=1.0, n_copies=1),
    ],
    expected_failed_checks=lambda estimator: WEIGHTS,
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
    "name",
    [
        "C",
        "norm_slack",
        "loss_slack",
        "budgets",
        "n_probes",
        "n_copies",
        "level",
        "control",
        "standardize",
        "cv",
        "time_limit",
    ],
)
def test_every_parameter_is_documented(name):
    assert f"\n{name} : " in inspect.getdoc(LinearRelevanceClassifier)

"""Bad input: errors that say what is wrong and how to mend it."""

from __future__ import annotations

import numpy as np
import pytest

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor

X = np.random.RandomState(0).normal(size=(20, 3))
Y = np.array([0, 1] * 10)


def with_value(value):
    changed = X.copy()
    changed[3, 1] = value
    return changed


@pytest.mark.parametrize(
    ("samples", "labels", "message"),
    [
        (with_value(np.nan), Y, "contains NaN"),
        (with_value(np.inf), Y, "contains infinity"),
        (X, np.zeros(20), "y has only one class, 0.0; two classes are needed"),
        (X, np.linspace(0, 1, 20), "Unknown label type: continuous"),
        (X[:0], Y[:0], r"Found array with 0 sample\(s\)"),
        (X[:, :0], Y, r"Found array with 0 feature\(s\)"),
        (X[:1], Y[:1], r"Found array with 1 sample\(s\)"),
        (np.array([["a", "b"], ["c", "d"]]), [0, 1], "could not convert string to float"),
        (X[:, 0], Y, "Expected 2D array, got 1D array instead"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, np.column_stack([Y, Y]), "y should be a 1d array"),
        (X, np.where(Y, np.nan, 1.0), "contains NaN"),
        (X, np.arange(20) == 7, "give C .* to fit without cross-validation"),
        (X[:5], [0, 1, 1, 0, 1], "X has 5 samples, with 10 different arrangements of y.*; give more samples"),
    ],
)
def test_bad_data(samples, labels, message):
    with pytest.raises(ValueError, match=message):
        LinearRelevanceClassifier().fit(samples, labels)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(20), "Negative values"),
        (np.ones(19), "sample_weight.shape"),
        (np.where(Y, 1.0, 0.0), "y has only one class, 1"),
        (np.zeros(20), "at least one non-zero number|no sample of positive weight"),
        (np.full(20, np.nan), "contains NaN"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        LinearRelevanceClassifier().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("C", 0.0),
        ("C", -1.0),
        ("C", "large"),
        ("norm_slack", -0.1),
        ("loss_slack", None),
        ("n_probes", 2),
        ("n_probes", 10.5),
        ("n_copies", 0),
        ("n_copies", 2.5),
        ("n_copies", "many"),
        ("level", 0.0),
        ("level", 1.0),
        ("level", -0.1),
        ("level", "5 %"),
        ("control", "bonferroni"),
        ("threshold_rule", "guess"),
        ("standardize", "yes"),
        ("cv", 1.5),
        ("n_jobs", "all"),
        ("random_state", "seed"),
        ("verbose", -1),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of LinearRelevanceClassifier must be"):
        LinearRelevanceClassifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("engine", "highs", "HiGHS solves what it cannot prove; leave it out"),
        ("device", "cuda", "runs on the CPU, with n_jobs threads; leave it out"),
        ("memory_limit", 2**20, "for less memory at a time use a smaller n_jobs"),
    ],
)
@pytest.mark.parametrize("kind", [LinearRelevanceClassifier, LinearRelevanceRegressor, LinearRelevanceOrdinal])
def test_parameters_of_earlier_versions_are_refused_with_what_to_do(kind, name, value, advice):
    with pytest.raises(TypeError, match=f"{name}= is gone: .*{advice}"):
        kind(**{name: value})
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}'"):
        kind().set_params(**{name: value})


def test_nothing_is_changed_in_place():
    samples, labels, weight = X.copy(), Y.copy(), np.ones(20)
    LinearRelevanceClassifier(C=1.0, n_copies=1, random_state=0).fit(samples, labels, sample_weight=weight)
    np.testing.assert_array_equal(samples, X)
    np.testing.assert_array_equal(labels, Y)
    assert (weight == 1).all()

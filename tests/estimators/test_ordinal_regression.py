"""Regression and ordinal regression: what the classifier's tests do not cover already."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_properties import SETTINGS

from allrelevant import LinearRelevanceOrdinal, LinearRelevanceRegressor, RelevanceWarning
from allrelevant.datasets import make_ordinal_set, make_relevance_ordinal, make_relevance_regression
from allrelevant.formulations import OrdinalExplicit
from allrelevant.relevance.penalties import penalty_path
from problems import KINDS, problem
from reference import ENGINES, solved_by

ORDERS = ["explicit", "implicit"]


def f1(model, relevance):
    found, true = model.relevance_classes_ > 0, relevance > 0
    return 2 * (found & true).sum() / (found.sum() + true.sum())


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_truth_of_regression(noise):
    for seed in range(3):
        X, y, relevance = make_relevance_regression(
            200, n_strong=3, n_weak=4, n_irrelevant=10, noise=noise, random_state=seed
        )
        model = LinearRelevanceRegressor(random_state=seed).fit(X, y)
        np.testing.assert_array_equal(model.relevance_classes_, relevance)
        assert model.score(X, y) > 0.7
        assert model.result_.max_gap <= 1e-6


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("name", "noise"), [("set1", 0.0), ("set3", 0.5), ("set5", 0.0), ("set6", 0.5)])
def test_truth_of_ordinal_sets(order, name, noise):
    """A small version of benchmarks/papers/ordinal.py."""
    scores = []
    for seed in range(2):
        X, y, relevance = make_ordinal_set(name, noise=noise, random_state=seed)
        model = LinearRelevanceOrdinal(order=order, random_state=seed).fit(X, y)
        scores.append(f1(model, relevance))
        assert (np.diff(model.boundaries_) >= 0).all()
        assert model.result_.max_gap <= 1e-6
    assert np.mean(scores) >= 0.98


@pytest.fixture(scope="module")
def ranked():
    return make_relevance_ordinal(150, n_classes=4, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)


@pytest.mark.parametrize("labels", [[-7, 0, 2, 30], [1.0, 2.0, 3.0, 4.0]])
def test_ordered_numbers_come_back(ranked, labels):
    codes = np.unique(ranked.y, return_inverse=True)[1]
    y = np.array(labels)[codes]
    model = LinearRelevanceOrdinal(C=1.0, random_state=0).fit(ranked.X, y)
    np.testing.assert_array_equal(model.classes_, labels)
    prediction = model.predict(ranked.X)
    assert prediction.dtype == y.dtype
    assert np.mean(prediction == y) > 0.8
    assert -0.3 < model.score(ranked.X, y) <= 0


def test_ordered_categories_come_back(ranked):
    names = np.array(["poor", "fair", "good", "excellent"])
    codes = np.unique(ranked.y, return_inverse=True)[1]
    for y in (
        pd.Series(pd.Categorical(names[codes], categories=["unused", *names], ordered=True)),
        pd.Categorical(names[codes], categories=names, ordered=True),
    ):
        model = LinearRelevanceOrdinal(C=1.0, random_state=0).fit(ranked.X, y)
        assert list(model.classes_) == list(names)
        assert np.mean(model.predict(ranked.X) == np.asarray(y)) > 0.8
        assert model.score(ranked.X, y) > -0.3


def test_the_score_is_the_mean_of_the_errors_of_the_classes_present():
    rng = np.random.RandomState(0)
    target, prediction, weight = rng.choice([0, 1, 3], size=40), rng.randint(5, size=40), rng.uniform(size=40)
    error = pd.Series(np.abs(target - prediction) * weight).groupby(target).sum()
    expected = (error / pd.Series(weight).groupby(target).sum()).mean()
    assert OrdinalExplicit(5).metric.function(target.astype(float), prediction.astype(float), weight) == pytest.approx(
        -expected
    )


def test_scores_say_what_they_are(ranked):
    scores = LinearRelevanceOrdinal(random_state=0).fit(ranked.X, ranked.y).result_.scores
    assert scores["metric"] == "macro-averaged mean absolute error"
    assert 0 <= scores["cross_validated"] < 0.5
    assert 0 <= scores["mean zero-one error"] <= scores["mean absolute error"] + 1e-12
    X, y, _ = make_relevance_regression(100, n_strong=2, n_weak=0, n_irrelevant=2, random_state=0)
    result = LinearRelevanceRegressor(random_state=0).fit(X, y).result_
    assert result.scores["metric"] == "R²"
    assert set(result.hyperparameters) == {"C", "epsilon"}
    assert "R² of 0.9" in result.summary() or "R² of 1.0" in result.summary()


def test_classes_with_one_sample_survive_the_search():
    X, y, _ = make_relevance_ordinal(60, n_classes=3, n_strong=2, n_weak=0, n_irrelevant=2, random_state=0)
    y = y.copy()
    y[np.argmax(X[:, :2].sum(axis=1))] = 9
    model = LinearRelevanceOrdinal(random_state=0).fit(X, y)
    assert len(model.classes_) == 4
    assert model.result_.scores["cross_validated"] is not None


def test_two_ordered_classes_are_classification(ranked):
    y = (ranked.y > np.median(ranked.y)).astype(int)
    models = [LinearRelevanceOrdinal(order=order, C=1.0, random_state=0).fit(ranked.X, y) for order in ORDERS]
    np.testing.assert_allclose(models[0].intervals_, models[1].intervals_, atol=1e-6)


def test_units_of_the_target_do_not_matter():
    X, y, _ = make_relevance_regression(80, n_strong=2, n_weak=2, n_irrelevant=2, noise=0.1, random_state=0)
    plain = LinearRelevanceRegressor(C=1.0, epsilon=0.05, random_state=0).fit(X, y)
    scaled = LinearRelevanceRegressor(C=1.0, epsilon=500.0, random_state=0).fit(X, 1e4 * y - 3e5)
    np.testing.assert_allclose(plain.intervals_, scaled.intervals_, atol=1e-5)
    np.testing.assert_allclose(scaled.predict(X), 1e4 * plain.predict(X) - 3e5, rtol=1e-4)


def test_errors_within_epsilon_cost_nothing():
    x = np.linspace(-1, 1, 30)[:, None]
    model = LinearRelevanceRegressor(C=1e3, epsilon=0.5, n_copies=1, random_state=0).fit(x, 2 * x[:, 0])
    assert model.epsilon_ == pytest.approx(0.5)
    assert np.abs(model.predict(x) - 2 * x[:, 0]).max() == pytest.approx(0.5, abs=1e-6)


def test_a_constant_target_is_refused():
    with pytest.raises(ValueError, match=r"y is the same in all 20 samples.*give samples between which it varies"):
        LinearRelevanceRegressor().fit(np.random.RandomState(0).normal(size=(20, 3)), np.ones(20))


def test_a_target_that_hardly_varies_is_said_plainly():
    y = np.ones(30)
    y[0] = 2.0
    with pytest.warns(RelevanceWarning, match="no weights at all"):
        model = LinearRelevanceRegressor(C=1.0, epsilon=0.5).fit(np.random.RandomState(0).normal(size=(30, 3)), y)
    assert (model.relevance_classes_ == 0).all()
    np.testing.assert_allclose(model.predict(np.zeros((2, 3))), 1.5)


estimators = st.sampled_from(
    [
        lambda: LinearRelevanceRegressor(C=1.0, n_copies=1, random_state=0),
        lambda: LinearRelevanceRegressor(n_copies=1, random_state=0),
        lambda: LinearRelevanceOrdinal(C=1.0, n_copies=1, random_state=0),
        lambda: LinearRelevanceOrdinal(order="implicit", n_copies=1, random_state=0),
    ]
)


@SETTINGS
@example("plain", 982, lambda: LinearRelevanceOrdinal(C=1.0, n_copies=1, random_state=0))  # an offset without rows
@given(st.sampled_from(KINDS), st.integers(0, 1000), estimators)
def test_arrangement_and_repetition_do_not_matter(kind, seed, make):
    X, _, _ = problem(kind, seed)
    rng = np.random.RandomState(seed)
    y = np.round(X @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))).astype(int)
    y[:2] = 0, 1
    twice = rng.rand(len(X)) < 0.3
    repeated = rng.permutation(np.concatenate([np.arange(len(X)), np.flatnonzero(twice)]))
    columns, signs = rng.permutation(X.shape[1]), rng.choice([-1.0, 1.0], size=X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        one = make().fit(X, y, sample_weight=1.0 + twice)
        two = make().fit((X * signs)[np.ix_(repeated, columns)], y[repeated])
    # The models are the same; permutations exchange rows that are given twice each by itself.
    np.testing.assert_array_equal(one.intervals_[columns], two.intervals_)
    share = np.abs(one.result_.baseline)
    assert (one.intervals_[:, 0] <= share + 1e-6).all()
    assert (share <= one.intervals_[:, 1] + 1e-6).all()


X = np.random.RandomState(0).normal(size=(20, 3))
Y = np.arange(20) % 4


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array(["low", "high"] * 10), "order is not known .* ordered pandas Categorical"),
        (pd.Categorical(["low", "high"] * 10), "categorical without an order"),
        (pd.Categorical([None, *["a"] * 19], ordered=True), "contains NaN"),
        (np.linspace(0, 1, 20), "y is continuous; give integers, or use LinearRelevanceRegressor"),
        (np.ones(20), "only one class, 1.0"),
        (np.where(Y == 0, np.nan, Y), "NaN or infinity"),
        (Y[:-1], "inconsistent numbers of samples"),
    ],
)
def test_bad_ordinal_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        LinearRelevanceOrdinal().fit(X, labels)


def test_labels_of_a_score_must_be_known():
    model = LinearRelevanceOrdinal(C=1.0, n_copies=1, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="labels not seen during fit: 77"):
        model.score(X, np.full(20, 77))


@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [
        (LinearRelevanceRegressor, "epsilon", -0.1),
        (LinearRelevanceRegressor, "C", 0),
        (LinearRelevanceOrdinal, "order", "alphabetical"),
    ],
)
def test_bad_parameters_are_named(estimator, name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of {estimator.__name__} must be"):
        estimator(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("target", "message"),
    [(np.array(["a"] * 20), "could not convert string"), (np.full(20, np.inf), "infinity"), (Y[:3], "inconsistent")],
)
def test_bad_regression_targets(target, message):
    with pytest.raises(ValueError, match=message):
        LinearRelevanceRegressor().fit(X, target)


@pytest.mark.parametrize("budgets", ["split", "joint"])
def test_boundaries_that_coincide_are_no_trouble_for_either_engine(budgets):
    """A class that no boundary can tell apart makes the order of the boundaries tight: a hard row without room."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, 2, 0)
    y[np.argmin(X[:, 0])] = 1
    models = []
    for engine in ENGINES:
        with solved_by(engine):
            models.append(LinearRelevanceOrdinal(C=5.0, budgets=budgets, n_copies=1, random_state=0).fit(X, y))
    assert models[0].boundaries_[0] == pytest.approx(models[0].boundaries_[1], abs=1e-9)
    np.testing.assert_allclose(models[0].intervals_, models[1].intervals_, atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_path_of_penalties_does_not_depend_on_where_columns_have_their_zero(seed):
    rng = np.random.RandomState(seed)
    X, target, weight = rng.normal(size=(60, 4)), rng.randint(3, size=60).astype(float), rng.choice([0.5, 1, 2], 60)
    shift = np.array([1.0, -2.0, 0.0, 3.0])
    paths = [penalty_path(OrdinalExplicit(3).program(data, target, weight)) for data in (X, X + shift)]
    np.testing.assert_allclose(paths[0], paths[1], rtol=1e-10)

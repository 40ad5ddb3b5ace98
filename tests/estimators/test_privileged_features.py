"""Features that only training sees."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allrelevant import (
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
    RelevanceResult,
    RelevanceWarning,
)
from allrelevant.datasets import make_privileged_set, make_relevance_privileged
from reference import solved_by

ESTIMATORS = {
    "classification": LinearRelevanceClassifier,
    "regression": LinearRelevanceRegressor,
    "ordinal": LinearRelevanceOrdinal,
}
FORMS = ("residual", "kept", "replaced")


def small(problem, **options):
    options = {"n_samples": 120, "n_strong": 2, "n_weak": 2, "n_irrelevant": 2, "random_state": 0} | options
    return make_relevance_privileged(problem, **options)


@pytest.mark.parametrize("problem", ESTIMATORS)
def test_truth_of_both_kinds(problem):
    data = small(problem, n_samples=200, noise=0.2)
    model = ESTIMATORS[problem](random_state=0).fit(data.X, data.y, X_privileged=data.X_privileged)
    np.testing.assert_array_equal(model.relevance_classes_ > 0, data.relevance > 0)
    np.testing.assert_array_equal(model.privileged_relevance_classes_, data.relevance_privileged)
    assert model.privileged_intervals_.shape == (6, 2)
    assert model.result_.max_gap <= 1e-6
    assert model.result_.privileged.max_gap <= 1e-6


@pytest.mark.parametrize("name", ["set1", "set5", "set7", "set8"])
def test_sets_of_the_thesis(name):
    data = make_privileged_set(name, random_state=1)
    # One in a hundred of the found may be noise.
    model = LinearRelevanceOrdinal(level=0.01, random_state=1).fit(data.X, data.y, X_privileged=data.X_privileged)
    np.testing.assert_array_equal(model.relevance_classes_ > 0, data.relevance > 0)
    np.testing.assert_array_equal(model.privileged_relevance_classes_ > 0, data.relevance_privileged > 0)


@pytest.mark.parametrize("problem", ESTIMATORS)
def test_privileged_features_do_not_touch_the_regular_ones(problem):
    data = small(problem)
    noise = np.random.RandomState(1).normal(size=(120, 4))
    plain = ESTIMATORS[problem](random_state=0).fit(data.X, data.y)
    both = ESTIMATORS[problem](random_state=0).fit(data.X, data.y, X_privileged=noise)
    np.testing.assert_array_equal(plain.intervals_, both.intervals_)
    np.testing.assert_array_equal(plain.relevance_classes_, both.relevance_classes_)
    np.testing.assert_array_equal(plain.predict(data.X), both.predict(data.X))
    assert (both.privileged_relevance_classes_ == 0).all()
    assert plain.result_.privileged is None
    assert not hasattr(plain, "privileged_intervals_")


@pytest.mark.parametrize("problem", ESTIMATORS)
@pytest.mark.parametrize("form", ["kept", "replaced"])
def test_noise_beside_the_other_forms(problem, form):
    """Data that a line fits well, as the papers' Sets 7 and 8."""
    data = small(problem, n_random_privileged=3)
    model = ESTIMATORS[problem](random_state=0, C=10.0, privileged=form)
    model.fit(data.X, data.y, X_privileged=data.X_privileged)
    np.testing.assert_array_equal(model.relevance_classes_ > 0, data.relevance > 0)
    assert (model.privileged_relevance_classes_ == 0).all()
    assert model.result_.hyperparameters["gamma"] == 1.0


def test_gamma_is_searched_along_with_C():
    data = small("ordinal", n_random_privileged=3)
    model = LinearRelevanceOrdinal(random_state=0, privileged="kept").fit(
        data.X, data.y, X_privileged=data.X_privileged
    )
    assert model.result_.hyperparameters["gamma"] >= 1e3  # noise is best ignored
    np.testing.assert_array_equal(model.relevance_classes_ > 0, data.relevance > 0)


@pytest.mark.parametrize("form", FORMS)
def test_order_of_rows_and_columns_does_not_matter(form):
    data = small("classification", noise=0.3)
    rng = np.random.RandomState(3)
    rows, columns, others = rng.permutation(120), rng.permutation(6), rng.permutation(6)
    signs = rng.choice([-1.0, 1.0], 6)
    options = {"random_state": 0, "privileged": form, "gamma": None if form == "residual" else 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        one = LinearRelevanceClassifier(**options).fit(data.X, data.y, X_privileged=data.X_privileged)
        moved = data.X_privileged[np.ix_(rows, others)] * signs
        two = LinearRelevanceClassifier(**options).fit(data.X[np.ix_(rows, columns)], data.y[rows], X_privileged=moved)
    np.testing.assert_array_equal(one.intervals_[columns], two.intervals_)
    np.testing.assert_array_equal(one.privileged_intervals_[others], two.privileged_intervals_)
    np.testing.assert_array_equal(one.privileged_pvalues_[others], two.privileged_pvalues_)
    np.testing.assert_array_equal(one.result_.privileged.baseline[others] * signs, two.result_.privileged.baseline)


@pytest.mark.parametrize("form", FORMS)
def test_a_weight_of_two_is_a_sample_twice(form):
    data = small("ordinal", n_samples=60, noise=0.1)
    weight = np.ones(60)
    weight[:20] = 2.0
    twice = np.append(np.arange(60), np.arange(20))
    options = {"random_state": 0, "C": 1.0, "gamma": 1.0, "privileged": form}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        one = LinearRelevanceOrdinal(**options).fit(
            data.X, data.y, sample_weight=weight, X_privileged=data.X_privileged
        )
        two = LinearRelevanceOrdinal(**options).fit(data.X[twice], data.y[twice], X_privileged=data.X_privileged[twice])
    np.testing.assert_array_equal(one.intervals_, two.intervals_)
    np.testing.assert_array_equal(one.privileged_intervals_, two.privileged_intervals_)


@pytest.mark.parametrize("form", ["kept", "replaced"])
def test_a_model_without_information_is_reported(form):
    """Slacks that are explained at once leave nothing to the regular features: the papers' form collapses."""
    data = make_privileged_set("set1", noise=1.0, random_state=0)
    with pytest.warns(RelevanceWarning, match=r"no weights at all \(w = 0\)"):
        model = LinearRelevanceOrdinal(random_state=0, C=1.0, gamma=1e-3, privileged=form).fit(
            data.X, data.y, X_privileged=data.X_privileged
        )
    assert (model.relevance_classes_ == 0).all()
    assert (model.privileged_relevance_classes_ == 0).all()
    assert "no weights at all" in model.result_.summary()


def test_relevance_rises_with_the_noise_that_is_explained():
    """The thesis' semantic example: noise on one feature in every quarter of the samples."""
    rng = np.random.RandomState(0)
    clean = rng.normal(size=(400, 6))
    score = clean[:, :3].sum(axis=1)
    y = np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))
    noise = np.zeros((400, 3))
    for k, level in enumerate((0.1, 0.5, 2.0)):
        noise[100 * k : 100 * (k + 1), k] = level * rng.normal(size=100)
    X = clean + np.hstack([noise, np.zeros((400, 3))])
    model = LinearRelevanceOrdinal(random_state=0).fit(X, y, X_privileged=noise)
    np.testing.assert_array_equal(model.relevance_classes_, [2, 2, 2, 0, 0, 0])
    assert (np.diff(model.privileged_intervals_[:, 1]) > 0).all()
    assert model.privileged_relevance_classes_[2] == 2


def test_names_and_result():
    data = small("classification")
    frame = pd.DataFrame(data.X, columns=list("abcdef"))
    star = pd.DataFrame(data.X_privileged, columns=[f"{name}*" for name in "abcdef"])
    model = LinearRelevanceClassifier(random_state=0).fit(frame, data.y, X_privileged=star)
    result = model.result_
    assert result.feature_names == tuple("abcdef")
    assert result.privileged.feature_names == tuple(star.columns)
    assert list(model.privileged_feature_names_in_) == list(star.columns)
    assert RelevanceResult.from_json(result.to_json()) == result
    assert RelevanceResult.from_json(result.to_json()).privileged == result.privileged
    plain = LinearRelevanceClassifier(random_state=0).fit(data.X, data.y, X_privileged=data.X_privileged)
    assert plain.result_.privileged.feature_names == ("p0", "p1", "p2", "p3", "p4", "p5")


def test_refitting_without_forgets():
    data = small("classification")
    model = LinearRelevanceClassifier(random_state=0).fit(data.X, data.y, X_privileged=data.X_privileged)
    assert hasattr(model, "privileged_intervals_")
    model.fit(data.X, data.y)
    assert not hasattr(model, "privileged_intervals_")


@pytest.mark.parametrize("form", FORMS)
def test_pipelines_and_searches_pass_it_on(form):
    data = small("classification", n_samples=80)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LinearRelevanceClassifier(random_state=0, C=1.0, gamma=1.0, privileged=form)
        pipeline = make_pipeline(StandardScaler(), model.set_fit_request(X_privileged=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)
            pipeline.fit(data.X, data.y, X_privileged=data.X_privileged)
            assert pipeline[-1].result_.privileged is not None
            scores = cross_val_score(pipeline, data.X, data.y, cv=3, params={"X_privileged": data.X_privileged})
            search = GridSearchCV(pipeline, {"linearrelevanceclassifier__C": [0.1, 1.0]}, cv=2)
            search.fit(data.X, data.y, X_privileged=data.X_privileged)
    assert scores.shape == (3,)
    assert search.best_estimator_[-1].result_.privileged is not None
    assert pipeline.predict(data.X).shape == (80,)


@pytest.mark.parametrize("problem", ESTIMATORS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda P: P[:-1], "X_privileged has 119 rows but X has 120"),
        (lambda P: np.where(P > 2, np.nan, P), "Input X_privileged contains NaN"),
        (lambda P: P[:, 0], "Expected 2D array, got 1D array instead"),
        (lambda P: P[:, :0], r"Found array with 0 feature\(s\)"),
        (lambda P: np.full(P.shape, "x"), "could not convert string to float"),
    ],
)
def test_bad_input(problem, change, message):
    data = small(problem)
    with pytest.raises(ValueError, match=message):
        ESTIMATORS[problem](C=1.0).fit(data.X, data.y, X_privileged=change(data.X_privileged))


@pytest.mark.parametrize(("name", "value"), [("gamma", 0.0), ("gamma", -1.0), ("privileged", "both")])
def test_bad_parameters(name, value):
    data = small("classification")
    with pytest.raises(ValueError, match=f"The '{name}' parameter of LinearRelevanceClassifier must be"):
        LinearRelevanceClassifier(**{name: value}).fit(data.X, data.y, X_privileged=data.X_privileged)


def test_more_than_two_classes_have_no_privileged_features():
    data = small("ordinal")
    with pytest.raises(ValueError, match="X_privileged is not supported for multi-class classification"):
        LinearRelevanceClassifier(C=1.0).fit(data.X, data.y, X_privileged=data.X_privileged)


@pytest.mark.parametrize("problem", ESTIMATORS)
def test_classes_too_small_for_folds_and_a_given_C(problem):
    """Decisions that no fold can make unseen are those of the model itself."""
    data = small(problem, n_samples=12)
    y = data.y.copy()
    if problem != "regression":
        y[:] = y[0]
        y[1:3] = y[0] + 1
        y[3] = y[0] + 2 if problem == "ordinal" else y[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        model = ESTIMATORS[problem](C=1.0, random_state=0).fit(data.X, y, X_privileged=data.X_privileged)
    assert model.privileged_intervals_.shape == (6, 2)


@pytest.mark.parametrize("form", ["residual", "kept"])
def test_splits_by_a_generator_are_read_once(form):
    """They serve the search, the decisions about unseen samples and the search among the privileged features."""
    data = small("classification", n_samples=90)
    splits = list(KFold(3, shuffle=True, random_state=0).split(data.X))
    options = {"random_state": 0, "privileged": form, "gamma": 1.0}
    one, two = (
        LinearRelevanceClassifier(cv=cv, **options).fit(data.X, data.y, X_privileged=data.X_privileged)
        for cv in (splits, iter(splits))
    )
    assert one.result_.hyperparameters == two.result_.hyperparameters
    assert one.result_.privileged.hyperparameters == two.result_.privileged.hyperparameters
    np.testing.assert_array_equal(one.privileged_intervals_, two.privileged_intervals_)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("engine", "options"),
    [("kernel", {"threshold_rule": "papers", "n_probes": 20}), ("kernel", {"budgets": "joint"}), ("reference", {})],
    ids=str,
)
def test_other_rules_budgets_and_engines(form, engine, options):
    # Last digits of the data differ between processors, and with them the draws: of ten probes too few may be usable.
    data = small("regression", n_samples=80, noise=0.1)
    model = LinearRelevanceRegressor(random_state=0, C=1.0, privileged=form, **options)
    with solved_by(engine):
        model.fit(data.X, data.y, X_privileged=data.X_privileged)
    result = model.result_
    assert max(result.max_gap, result.privileged.max_gap) <= 1e-6
    for part in (result, result.privileged):
        assert (part.intervals[:, 0] <= np.abs(part.baseline) + 1e-6).all()
        assert (part.intervals[:, 1] >= np.abs(part.baseline) - 1e-6).all()

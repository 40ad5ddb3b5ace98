from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allrelevant import (
    LinearRelevanceClassifier,
    RelevanceWarning,
)
from allrelevant.datasets import SIMULATIONS, make_relevance_classification, make_simulation
from allrelevant.relevance import solving
from reference import ENGINES, only_reference, solved_by


@pytest.fixture(scope="module")
def data():
    return make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=4, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return LinearRelevanceClassifier(C=0.5, random_state=0).fit(data.X, data.y)


@pytest.mark.parametrize("name", SIMULATIONS)
def test_truth_of_the_simulated_sets(name):
    """Five seeds of benchmarks/papers/simulations.py."""
    f1, accuracy = [], []
    for seed in range(5):
        X, y, relevance = make_simulation(name, random_state=seed)
        model = LinearRelevanceClassifier(random_state=seed).fit(X, y)
        found, true = model.relevance_classes_ > 0, relevance > 0
        f1.append(2 * (found & true).sum() / (found.sum() + true.sum()))
        accuracy.append((model.relevance_classes_ == relevance).mean())
        assert model.result_.max_gap <= 1e-6
    # One in twenty of the found may be noise.
    assert np.mean(f1) >= 0.93
    assert np.mean(accuracy) >= 0.93


def test_the_papers_rule_is_selectable():
    X, y, relevance = make_relevance_classification(150, n_strong=2, n_weak=2, n_irrelevant=8, random_state=1)
    model = LinearRelevanceClassifier(C=0.5, threshold_rule="papers", level=0.001, random_state=0).fit(X, y)
    assert model.thresholds_.rule == "papers"
    assert 3 <= model.thresholds_.n_usable < 50  # probes in the place of a strong feature leave no model
    np.testing.assert_array_equal(model.relevance_classes_ > 0, relevance > 0)


def test_too_few_usable_probes_are_said_and_not_taken_for_relevance():
    X, y, _ = make_relevance_classification(150, n_strong=3, n_weak=0, n_irrelevant=0, random_state=0)
    model = LinearRelevanceClassifier(C=10.0, threshold_rule="papers", n_probes=5, random_state=0)
    with pytest.warns(RelevanceWarning, match="too few for a threshold"):
        model.fit(X, y)
    assert model.thresholds_.rule == "copies"
    assert "too few for a threshold" in model.result_.summary()
    assert model.thresholds_.n_usable > 0
    assert (model.result_.limits[model.relevance_classes_ > 0] >= 0).all()


def test_attributes(data, fitted):
    d = data.X.shape[1]
    assert fitted.intervals_.shape == (d, 2)
    assert fitted.coef_.shape == (1, d)
    assert fitted.intercept_.shape == (1,)
    assert fitted.pvalues_.shape == fitted.relevance_classes_.shape == (d,)
    assert set(fitted.relevance_classes_) <= {0, 1, 2}
    relevant = fitted.adjusted_pvalues_ <= fitted.level
    np.testing.assert_array_equal(relevant, fitted.relevance_classes_ > 0)
    np.testing.assert_array_equal(relevant, fitted.intervals_[:, 1] > fitted.result_.limits)
    np.testing.assert_array_equal(fitted.get_support(), fitted.relevance_classes_ > 0)
    assert fitted.score(data.X, data.y) > 0.9
    np.testing.assert_array_equal(fitted.predict(data.X) == 1, fitted.decision_function(data.X) > 0)
    np.testing.assert_allclose(fitted.decision_function(data.X), (data.X @ fitted.coef_.T + fitted.intercept_)[:, 0])


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (False, True), (-3.0, 7.0), ("z", "a")])
def test_labels_of_any_type(data, labels):
    y = np.where(data.y > 0, labels[1], labels[0])
    model = LinearRelevanceClassifier(C=0.5, random_state=0).fit(data.X, y)
    assert list(model.classes_) == sorted(labels)
    assert np.mean(model.predict(data.X) == y) > 0.9
    expected = LinearRelevanceClassifier(C=0.5, random_state=0).fit(data.X, data.y)
    np.testing.assert_array_equal(model.relevance_classes_, expected.relevance_classes_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_names(data, library):
    names = [f"gene {k}" for k in range(data.X.shape[1])]
    frame = pd.DataFrame(data.X, columns=names) if library == "pandas" else pl.DataFrame(data.X, schema=names)
    model = LinearRelevanceClassifier(C=0.5, random_state=0).set_output(transform=library).fit(frame, data.y)
    assert list(model.feature_names_in_) == names
    assert model.result_.feature_names == tuple(names)
    kept = [name for name, keep in zip(names, model.get_support(), strict=True) if keep]
    out = model.transform(frame)
    assert isinstance(out, type(frame))
    assert list(out.columns) == kept == list(model.get_feature_names_out())


def test_pipeline_search_clone_and_pickle(data):
    pipeline = make_pipeline(StandardScaler(), LinearRelevanceClassifier(random_state=0), LogisticRegression())
    search = GridSearchCV(pipeline, {"linearrelevanceclassifier__norm_slack": [0.05, 0.1]}, cv=2).fit(data.X, data.y)
    assert search.best_score_ > 0.9
    copy = clone(search.best_estimator_[1])
    assert not hasattr(copy, "intervals_")
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(data.X), search.predict(data.X))


def test_same_seed_same_answer_and_another_seed_another(data):
    one, two, other = (LinearRelevanceClassifier(random_state=seed).fit(data.X, data.y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.intervals_, two.intervals_)
    np.testing.assert_array_equal(one.pvalues_, two.pvalues_)
    np.testing.assert_array_equal(one.result_.limits, two.result_.limits)
    assert not np.array_equal(one.pvalues_, other.pvalues_)


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_change_nothing(data, engine, monkeypatch):
    monkeypatch.setattr(solving, "BATCH", 4)  # so that there are several
    options = {"C": 0.5, "random_state": 0, "n_copies": 1}
    with solved_by(engine):
        one, *others = (LinearRelevanceClassifier(**options, n_jobs=jobs).fit(data.X, data.y) for jobs in (None, 2, -1))
    for many in others:
        np.testing.assert_array_equal(one.intervals_, many.intervals_)
        np.testing.assert_array_equal(one.pvalues_, many.pvalues_)
        np.testing.assert_array_equal(one.result_.limits, many.result_.limits)


@pytest.mark.parametrize("cv", [2, StratifiedKFold(3), "iterable", GroupKFold(2)])
def test_any_way_to_split(data, cv):
    if cv == "iterable":
        half = np.arange(len(data.X)) % 2 == 0
        cv = [(np.flatnonzero(half), np.flatnonzero(~half)), (np.flatnonzero(~half), np.flatnonzero(half))]
    if isinstance(cv, GroupKFold):
        with pytest.raises(ValueError, match="groups"):
            LinearRelevanceClassifier(cv=cv).fit(data.X, data.y)
        return
    model = LinearRelevanceClassifier(cv=cv, random_state=0).fit(data.X, data.y)
    assert model.result_.scores["cross_validated"] > 0.85


def test_standardize_decides_about_units(data):
    scale = 10.0 ** np.arange(-3, 5)
    plain, scaled = (LinearRelevanceClassifier(C=0.5, random_state=0).fit(X, data.y) for X in (data.X, data.X * scale))
    np.testing.assert_allclose(plain.intervals_, scaled.intervals_, atol=1e-6)
    np.testing.assert_allclose(plain.coef_, scaled.coef_ * scale, rtol=1e-6, atol=1e-6)
    raw = LinearRelevanceClassifier(C=0.5, random_state=0, standardize=False).fit(data.X * scale, data.y)
    assert not np.allclose(raw.intervals_, plain.intervals_, atol=1e-3)


def test_one_feature():
    x = np.linspace(-1, 1, 40)[:, None]
    model = LinearRelevanceClassifier(random_state=0).fit(x, x[:, 0] > 0.1)
    assert list(model.relevance_classes_) == [2]
    assert model.score(x, x[:, 0] > 0.1) == 1.0


def test_constant_columns_are_irrelevant(data):
    X = np.hstack([np.full((200, 1), 1e9), data.X, np.zeros((200, 1))])
    for standardize in (True, False):
        model = LinearRelevanceClassifier(C=0.5, random_state=0, standardize=standardize).fit(X, data.y)
        assert list(model.relevance_classes_[[0, -1]]) == [0, 0]
        assert (model.coef_[0, [0, -1]] == 0).all()


def test_a_model_without_weights_is_said_plainly():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(60, 4)), rng.randint(2, size=60)
    with pytest.warns(RelevanceWarning, match="no weights at all"):
        model = LinearRelevanceClassifier(C=1e-6, random_state=0).fit(X, y)
    assert (model.relevance_classes_ == 0).all()
    assert (model.intervals_ == 0).all()
    assert (model.pvalues_ == 1).all()
    assert "no weights at all (w = 0)" in model.result_.summary()
    assert "No feature is strongly relevant." in model.result_.summary()


def test_all_columns_constant():
    with pytest.warns(RelevanceWarning, match="no weights at all"):
        model = LinearRelevanceClassifier(random_state=0).fit(np.ones((10, 3)), [0, 1] * 5)
    assert (model.relevance_classes_ == 0).all()


def test_wide_data_by_both_engines():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(30, 100))
    y = X[:, 0] > 0
    model = LinearRelevanceClassifier(C=1.0, n_copies=1, random_state=0)
    one = clone(model).fit(X, y)
    with only_reference():
        two = clone(model).fit(X, y)
    assert one.result_.engine == "interior"
    assert max(one.result_.max_gap, two.result_.max_gap) <= 1e-6
    np.testing.assert_allclose(one.intervals_, two.intervals_, atol=2e-6)


@pytest.mark.parametrize(("name", "value"), [("BATCH", 2), ("BATCH", 6), ("BATCH", 1000), ("BATCH_BYTES", 1)])
def test_batches_of_any_size_give_the_same_answer(data, name, value, monkeypatch):
    one = LinearRelevanceClassifier(C=0.5, random_state=0).fit(data.X, data.y)
    monkeypatch.setattr(solving, name, value)
    two = LinearRelevanceClassifier(C=0.5, random_state=0).fit(data.X, data.y)
    np.testing.assert_allclose(one.intervals_, two.intervals_, atol=1e-8)
    np.testing.assert_array_equal(one.relevance_classes_, two.relevance_classes_)


def test_progress_is_reported(data, capsys):
    LinearRelevanceClassifier(C=0.5, random_state=0, verbose=2).fit(data.X, data.y)
    said = capsys.readouterr().err
    for stage in ("baseline", "intervals", "copies", "permutations"):
        assert f"[allrelevant] {stage}:" in said
    LinearRelevanceClassifier(C=0.5, random_state=0).fit(data.X, data.y)
    assert capsys.readouterr() == ("", "")


def test_not_fitted(data):
    for method in ("predict", "transform", "decision_function", "get_support"):
        call = getattr(LinearRelevanceClassifier(), method)
        with pytest.raises(NotFittedError):
            call() if method == "get_support" else call(data.X)


@pytest.mark.parametrize("rule", ["copies", "papers"])
@pytest.mark.parametrize("engine", ENGINES)
def test_joint_budgets(rule, engine):
    X, y, relevance = make_relevance_classification(120, n_strong=2, n_weak=2, n_irrelevant=5, random_state=2)
    options = {"C": 0.5, "random_state": 0, "threshold_rule": rule, "n_probes": 30, "level": 0.01}
    with solved_by(engine):
        split, joint = (LinearRelevanceClassifier(budgets=form, **options).fit(X, y) for form in ("split", "joint"))
    np.testing.assert_array_equal(joint.relevance_classes_ > 0, relevance > 0)
    assert not np.allclose(split.intervals_, joint.intervals_, atol=1e-3)
    assert joint.result_.max_gap <= 1e-6


def test_features_that_vary_in_few_samples_neither_pass_for_relevant_nor_hide_others():
    """Such a feature can have a large weight by chance; so can its copies."""
    X, y, relevance = make_relevance_classification(400, n_strong=3, n_weak=2, n_irrelevant=6, random_state=0)
    rare = np.zeros((400, 3))
    for k in range(3):
        rare[np.random.RandomState(k).choice(400, 4, replace=False), k] = 1.0
    model = LinearRelevanceClassifier(C=0.2, random_state=0).fit(np.hstack([X, rare]), y)
    np.testing.assert_array_equal(model.relevance_classes_[:-3] > 0, relevance > 0)
    np.testing.assert_array_equal(model.relevance_classes_[-3:], 0)


def test_probes_that_spend_the_whole_norm_but_not_the_loss_are_usable(data):
    model = LinearRelevanceClassifier(
        C=1.0, n_probes=12, norm_slack=1.0, loss_slack=5.0, threshold_rule="papers", random_state=0
    ).fit(data.X, data.y)
    assert model.thresholds_.rule == "papers"
    assert model.thresholds_.n_usable == 12

from __future__ import annotations

import inspect
import pickle
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from allrelevant import (
    ForestRelevanceClassifier,
    ForestRelevanceRegressor,
    LinearRelevanceClassifier,
    RelevanceResult,
    RelevanceWarning,
)
from allrelevant.datasets import make_nonlinear_set, make_relevance_classification, make_relevance_interaction
from allrelevant.errors import AllRelevantError, MissingExtra

SMALL = {"n_estimators": 60, "max_rounds": 24, "random_state": 0}


@parametrize_with_checks(
    [
        ForestRelevanceClassifier(n_estimators=20, max_rounds=8, n_shadows=8),
        ForestRelevanceRegressor(n_estimators=20, max_rounds=8, n_shadows=8),
        ForestRelevanceRegressor(
            estimator=ExtraTreesRegressor(n_estimators=5, max_depth=4),
            importance="gain",
            decomposition="refit",
            max_rounds=8,
            n_shadows=5,
            n_probes=3,
        ),
    ],
    expected_failed_checks=lambda estimator: (
        {} if estimator.estimator is None else {"check_sample_weight_equivalence_on_dense_data": "random trees"}
    ),
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks fit noise on purpose and hear that it is noise.
        warnings.simplefilter("ignore", RelevanceWarning)
        warnings.filterwarnings("ignore", "No features were selected")
        check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_relevance_classification(300, n_strong=2, n_weak=3, n_irrelevant=4, random_state=0)


def test_finds_the_classes(data):
    X, y, relevance = data
    model = ForestRelevanceClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.relevance_classes_, relevance)
    assert model.transform(X).shape == (300, 5)
    assert np.all(model.replaceable_[relevance == 1] > 0.9)
    assert np.all(model.replaceable_[relevance == 2] < 0.3)
    assert np.isnan(model.replaceable_[relevance == 0]).all()
    assert model.score(X, y) > 0.85
    result = model.result_
    assert result.method == "forest"
    assert result.engine == "lightgbm"
    peer = cross_val_score(RandomForestClassifier(random_state=0), X[:, relevance > 0], y, cv=5).mean()
    assert result.scores["cross_validated"] == pytest.approx(peer, abs=0.05)
    assert RelevanceResult.from_json(result.to_json()) == result


def test_several_classes():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 6))
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] * X[:, 1], [-0.1, 0.1])]
    model = ForestRelevanceClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.relevance_classes_, [2, 2, 0, 0, 0, 0])
    assert set(model.predict(X)) == {"low", "middle", "high"}
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("seed", range(3))
def test_features_that_matter_only_together(seed):
    X, y, relevance = make_relevance_interaction(500, kind="xor", n_irrelevant=6, random_state=seed)
    np.testing.assert_array_equal(ForestRelevanceClassifier(random_state=seed).fit(X, y).relevance_classes_, relevance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        assert not np.all(LinearRelevanceClassifier(random_state=0).fit(X, y).relevance_classes_[relevance == 2])


def test_noise_that_beats_permuted_features_is_found_out():
    X, y, relevance = make_relevance_interaction(500, kind="xor", n_irrelevant=10, random_state=1)
    settings = {"confidence": 0.99, "random_state": 1}
    believed = ForestRelevanceClassifier(**settings, verify=False).fit(X, y)
    lucky = (believed.relevance_classes_ > 0) & (relevance == 0)
    assert lucky.any()
    assert not believed.refuted_.any()
    verified = ForestRelevanceClassifier(**settings).fit(X, y)
    np.testing.assert_array_equal(verified.relevance_classes_, relevance)
    np.testing.assert_array_equal(verified.refuted_, lucky)
    np.testing.assert_array_equal(verified.importances_, believed.importances_)
    names = ", ".join(f"x{k}" for k in np.flatnonzero(lucky))
    assert any(note.startswith(f"Taken for irrelevant: {names}. ") for note in verified.result_.notes)
    np.testing.assert_array_equal(verified.predict(X), verified.predict(np.where(lucky, 0.0, X)))


def test_clusters_that_no_line_separates():
    X, y, relevance = make_nonlinear_set("nl2", random_state=0)
    found = ForestRelevanceClassifier(random_state=0).fit(X, y).relevance_classes_
    assert np.mean(found == relevance) >= 0.9


def test_numbers():
    X, y, relevance = make_relevance_interaction(
        500, kind="friedman", problem="regression", n_irrelevant=4, random_state=1
    )
    model = ForestRelevanceRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.relevance_classes_, relevance)
    assert model.score(X, y) > 0.6
    assert model.result_.scores["metric"] == "R²"


def test_order_of_columns_and_threads_do_not_matter(data):
    X, y, _ = data
    order = np.random.default_rng(0).permutation(X.shape[1])
    one = ForestRelevanceClassifier(**SMALL).fit(X, y)
    two = ForestRelevanceClassifier(**SMALL, n_jobs=2).fit(X[:, order], y)
    np.testing.assert_array_equal(one.intervals_[order], two.intervals_)
    np.testing.assert_array_equal(one.relevance_classes_[order], two.relevance_classes_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X[:, order]))


def test_same_seed_same_answer(data):
    X, y, _ = data
    one, two = (ForestRelevanceClassifier(**SMALL).fit(X, y).result_ for _ in range(2))
    np.testing.assert_array_equal(one.intervals, two.intervals)
    other = ForestRelevanceClassifier(**{**SMALL, "random_state": 1}).fit(X, y).result_
    assert not np.array_equal(one.intervals, other.intervals)


def test_missing_values_say_something(data):
    X, y, _ = data
    X = X.copy()
    X[::5] = np.nan
    missing = np.where(y > 0, np.nan, np.arange(300.0))
    model = ForestRelevanceClassifier(**SMALL).fit(np.column_stack([X, missing]), y)
    assert model.relevance_classes_[-1] == 2
    assert set(model.predict(np.full((2, 10), np.nan))) <= {-1, 1}


def frame(n=400):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey"], n)
    size = rng.standard_normal(n)
    table = pd.DataFrame(
        {
            "colour": pd.Categorical(colour),
            "size": size,
            "place": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "noise": rng.standard_normal(n),
        }
    )
    y = 1.5 * np.isin(colour, ["red", "grey"]) + size > 0.75
    return table, y


def test_categories_of_a_data_frame():
    table, y = frame()
    model = ForestRelevanceClassifier(random_state=0).fit(table, y)
    np.testing.assert_array_equal(model.relevance_classes_, [2, 2, 0, 0])
    assert list(model.get_feature_names_out()) == ["colour", "size"]
    assert model.score(table, y) > 0.9
    # The same values, in another order of categories, and one that was never seen.
    other = table.assign(colour=pd.Categorical(table["colour"].astype(str), ["grey", "blue", "red", "green", "pink"]))
    np.testing.assert_array_equal(model.predict(other), model.predict(table))
    other.loc[0, "colour"] = "pink"
    assert model.predict(other[:1])[0] in (False, True)


def test_categories_of_a_data_frame_whose_columns_have_no_names():
    table, y = frame()
    expected = ForestRelevanceClassifier(**SMALL).fit(table, y)
    table.columns = range(4)
    found = ForestRelevanceClassifier(**SMALL).fit(table, y)
    np.testing.assert_array_equal(found.intervals_, expected.intervals_)
    assert found.score(table, y) > 0.8


def test_categories_by_position_name_and_mask():
    table, y = frame()
    codes = table.assign(colour=table["colour"].cat.codes.astype(float), place=table["place"].cat.codes.astype(float))
    expected = ForestRelevanceClassifier(**SMALL).fit(table, y).intervals_
    for given in ([0, 2], ["colour", "place"], [True, False, True, False]):
        found = ForestRelevanceClassifier(**SMALL, categorical_features=given).fit(codes, y)
        np.testing.assert_array_equal(found.intervals_, expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [([7], "column 7"), (["shape"], "'shape'"), ("colour", "give 'from_dtype'"), (3, "give 'from_dtype'")],
)
def test_categories_that_are_not_there(given, message):
    table, y = frame(50)
    codes = table.assign(colour=table["colour"].cat.codes, place=table["place"].cat.codes)
    with pytest.raises((TypeError, ValueError), match=message):
        ForestRelevanceClassifier(categorical_features=given).fit(codes, y)


def test_samples_of_weight_zero_do_not_count(data):
    X, y, _ = data
    weight = (np.arange(300) < 200).astype(float)
    one = ForestRelevanceClassifier(**SMALL).fit(X, y, sample_weight=weight)
    two = ForestRelevanceClassifier(**SMALL).fit(X[:200], y[:200])
    np.testing.assert_array_equal(one.intervals_, two.intervals_)
    assert one.result_.n_samples == 200
    with pytest.raises(ValueError, match=r"of positive weight|non-zero"):
        ForestRelevanceRegressor(**SMALL).fit(X, y, sample_weight=np.zeros(300))


def test_nothing_to_find():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 4)), rng.integers(2, size=120)
    with pytest.warns(RelevanceWarning, match="every feature is irrelevant"):
        model = ForestRelevanceClassifier(random_state=0, tentative="irrelevant").fit(X, y)
    assert not model.get_support().any()
    assert len(set(model.predict(X))) == 1
    np.testing.assert_allclose(model.predict_proba(X)[0], np.bincount(y) / 120)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(X).shape == (120, 0)
    assert "irrelevant" in model.result_.summary()
    with pytest.warns(RelevanceWarning):
        numbers = ForestRelevanceRegressor(random_state=0, tentative="irrelevant").fit(X, y.astype(float))
    np.testing.assert_allclose(numbers.predict(X), y.mean())


def test_what_is_not_decided_is_said(data):
    X, y, _ = data
    found = {
        kind: ForestRelevanceClassifier(**{**SMALL, "max_rounds": 4}, tentative=kind).fit(X, y)
        for kind in ("imitated", "mean", "majority", "relevant")
    }
    for model in found.values():
        assert model.tentative_.all()
        assert len(model.result_.tentative) == 9
        assert any("not decided" in note for note in model.result_.notes)
    assert found["relevant"].get_support().all()
    assert 5 <= found["majority"].get_support().sum() < 9
    assert 5 <= found["mean"].get_support().sum() < 9
    with pytest.warns(RelevanceWarning):
        nothing = ForestRelevanceClassifier(**{**SMALL, "max_rounds": 4}, tentative="irrelevant").fit(X, y)
    assert not nothing.get_support().any()


def test_undecided_features_that_relevant_ones_tell_count_as_redundant():
    X, y, relevance = make_relevance_classification(120, n_strong=2, n_weak=6, n_irrelevant=4, random_state=20)
    mean, imitated = (
        ForestRelevanceClassifier(n_estimators=60, random_state=20, tentative=kind).fit(X, y)
        for kind in ("mean", "imitated")
    )
    np.testing.assert_array_equal(imitated.relevance_classes_, relevance)
    missed = (mean.relevance_classes_ == 0) & (relevance > 0)
    assert missed.any()
    assert mean.tentative_[missed].all()
    assert np.all(imitated.replaceable_[missed] > 0.9)


@pytest.mark.parametrize("importance", ["gain", "split", "permutation", "shap"])
def test_other_importances(data, importance):
    X, y, relevance = data
    found = ForestRelevanceClassifier(**SMALL, importance=importance).fit(X, y).relevance_classes_
    assert np.mean((found > 0) == (relevance > 0)) >= 0.75


@pytest.mark.parametrize("importance", ["gain", "permutation"])
def test_other_forests(data, importance):
    X, y, relevance = data
    forest = RandomForestClassifier(n_estimators=25, max_depth=5)
    model = ForestRelevanceClassifier(estimator=forest, importance=importance, max_rounds=12, random_state=0).fit(X, y)
    assert np.mean((model.relevance_classes_ > 0) == (relevance > 0)) >= 0.75
    assert model.result_.engine == "RandomForestClassifier"
    assert model.score(X, y) > 0.8


def test_importances_that_a_forest_cannot_tell(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="importance='held_out' needs the trees themselves"):
        ForestRelevanceClassifier(estimator=RandomForestClassifier()).fit(X, y)


@pytest.mark.parametrize("loss", ["held_out", "training"])
def test_decomposition_of_the_thesis(data, loss):
    X, y, relevance = data
    model = ForestRelevanceClassifier(random_state=0, decomposition="refit", loss=loss).fit(X, y)
    np.testing.assert_array_equal(model.relevance_classes_ > 0, relevance > 0)
    assert np.mean(model.relevance_classes_ == relevance) > 0.6


def test_columns_that_order_alike_are_one_feature():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    X = np.column_stack([X, np.exp(X[:, 0])])
    model = ForestRelevanceClassifier(**SMALL).fit(X, X[:, 0] + X[:, 1] > 0)
    np.testing.assert_array_equal(model.relevance_classes_[[0, 1, 4]], [1, 2, 1])
    np.testing.assert_array_equal(model.intervals_[0], model.intervals_[4])
    assert any("order the samples alike" in note for note in model.result_.notes)
    assert model.replaceable_[0] == 1.0


def test_irrelevant_columns_that_order_alike_are_replaced_by_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    model = ForestRelevanceClassifier(**SMALL).fit(np.column_stack([X, -X[:, 2]]), X[:, 0] > 0)
    np.testing.assert_array_equal(model.relevance_classes_, [2, 0, 0, 0])
    np.testing.assert_array_equal(np.isnan(model.replaceable_), [False, True, True, True])


def test_in_a_pipeline_cloned_and_pickled(data):
    X, y, relevance = data
    pipe = make_pipeline(ForestRelevanceClassifier(**SMALL), LogisticRegression()).fit(X, y)
    assert pipe[-1].coef_.shape == (1, (relevance > 0).sum())
    assert clone(pipe[0]).get_params() == pipe[0].get_params()
    again = pickle.loads(pickle.dumps(pipe[0]))
    np.testing.assert_array_equal(again.predict_proba(X), pipe[0].predict_proba(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"importance": "luck"}, "importance"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"feature_fraction": 0.0}, "feature_fraction"),
        ({"decomposition": "guess"}, "decomposition"),
        ({"estimator": 3}, "estimator"),
        ({"alpha": 1.5}, "alpha"),
    ],
)
def test_bad_parameters(data, change, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        ForestRelevanceClassifier(**change).fit(X, y)


def test_bad_data(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="only one class"):
        ForestRelevanceClassifier().fit(X, np.ones(300))
    with pytest.raises(ValueError, match="infinity"):
        ForestRelevanceClassifier().fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(ValueError, match="inconsistent"):
        ForestRelevanceRegressor().fit(X, y[:10])


def test_without_lightgbm(data, monkeypatch):
    X, y, _ = data
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtra, match=r"allrelevant\[forest\]"):
        ForestRelevanceClassifier().fit(X, y)


def test_without_openmp(data, monkeypatch, tmp_path):
    (tmp_path / "lightgbm.py").write_text("raise OSError('libgomp.so.1: cannot open shared object file')\n")
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AllRelevantError, match="apt install libgomp1"):
        ForestRelevanceClassifier().fit(*data[:2])


def test_progress_is_shown(data, capsys):
    X, y, _ = data
    ForestRelevanceClassifier(**SMALL, verbose=1).fit(X, y)
    said = capsys.readouterr().err
    for stage in ("shadow features", "imitations", "model"):
        assert stage in said


@pytest.mark.parametrize("cls", [ForestRelevanceClassifier, ForestRelevanceRegressor])
def test_every_parameter_is_documented(cls):
    for name in cls().get_params():
        assert f"\n{name} : " in inspect.getdoc(cls)

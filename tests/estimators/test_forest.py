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
from allrelevant.inference import adjusted_pvalues

SMALL = {"n_estimators": 60, "random_state": 0}


@parametrize_with_checks(
    [
        ForestRelevanceClassifier(n_estimators=20, n_copies=10),
        ForestRelevanceRegressor(n_estimators=20, n_copies=10),
        ForestRelevanceRegressor(
            estimator=ExtraTreesRegressor(n_estimators=5, max_depth=4),
            importance="gain",
            decomposition="refit",
            n_copies=8,
            n_probes=3,
        ),
    ],
    expected_failed_checks=lambda estimator: {"check_sample_weight_equivalence_on_dense_data": "random trees"},
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


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_arrangement_units_names_and_threads_do_not_matter(data, n_jobs):
    X, y, _ = data
    X = np.column_stack([X, X[:, 0] > 0])
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(300), rng.permutation(11)
    scaled = np.column_stack([X * 10.0 ** rng.integers(-3, 4, 10) * rng.choice([-1, 1], 10) + 100.0, np.ones(300)])
    one = ForestRelevanceClassifier(**SMALL).fit(X, y)
    two = ForestRelevanceClassifier(**SMALL, n_jobs=n_jobs).fit(
        scaled[np.ix_(rows, columns)], np.where(y > 0, "a", "b")[rows]
    )
    of_one = np.append(one.intervals_, [[0.0, 0.0]], axis=0)
    np.testing.assert_array_equal(of_one[columns], two.intervals_)
    np.testing.assert_array_equal(np.append(one.relevance_classes_, 0)[columns], two.relevance_classes_)
    np.testing.assert_array_equal(np.append(one.adjusted_pvalues_, 1.0)[columns], two.adjusted_pvalues_)
    np.testing.assert_array_equal(np.append(one.replaceable_, np.nan)[columns], two.replaceable_)
    assert one.result_.scores == two.result_.scores
    np.testing.assert_allclose(one.predict_proba(X)[:, ::-1], two.predict_proba(scaled[:, columns]), rtol=1e-12)


def test_several_classes_by_any_name(data):
    X, _, _ = data
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.7])
    one = ForestRelevanceClassifier(**SMALL).fit(X, y)
    two = ForestRelevanceClassifier(**SMALL).fit(X, np.array(["b", "c", "a"])[y])
    np.testing.assert_array_equal(one.adjusted_pvalues_, two.adjusted_pvalues_)
    np.testing.assert_array_equal(one.predict_proba(X)[:, [2, 0, 1]], two.predict_proba(X))


def test_units_of_numbers_to_predict(data):
    X, _, _ = data
    y = X[:, 0] + X[:, 1] ** 2
    one = ForestRelevanceRegressor(**SMALL).fit(X, y)
    two = ForestRelevanceRegressor(**SMALL).fit(X, 5.0 + 1e3 * y)
    np.testing.assert_allclose(one.adjusted_pvalues_, two.adjusted_pvalues_, rtol=1e-6)
    np.testing.assert_array_equal(one.relevance_classes_, two.relevance_classes_)
    np.testing.assert_allclose(two.predict(X), 5.0 + 1e3 * one.predict(X), atol=1e-3)


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
        model = ForestRelevanceClassifier(**SMALL).fit(X, y)
    assert not model.get_support().any()
    assert len(set(model.predict(X))) == 1
    np.testing.assert_allclose(model.predict_proba(X)[0], np.bincount(y) / 120)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(X).shape == (120, 0)
    assert "irrelevant" in model.result_.summary()
    with pytest.warns(RelevanceWarning):
        numbers = ForestRelevanceRegressor(**SMALL).fit(X, y.astype(float))
    np.testing.assert_allclose(numbers.predict(X), y.mean())


def test_relevant_by_adjusted_pvalues(data):
    X, y, _ = data
    found = {
        (control, level): ForestRelevanceClassifier(**SMALL, control=control, level=level).fit(X, y)
        for control in ("fdr", "fwer", "none")
        for level in (0.001, 0.3)
    }
    for (control, level), model in found.items():
        result = model.result_
        np.testing.assert_array_equal(model.get_support(), model.adjusted_pvalues_ <= level)
        least = np.where(model.get_support(), result.limits, np.nextafter(result.limits, -np.inf))
        np.testing.assert_array_equal(result.baseline >= least, model.get_support() | (result.limits == 0.0))
        np.testing.assert_allclose(model.adjusted_pvalues_, adjusted_pvalues(model.pvalues_, control))
        np.testing.assert_array_equal(result.adjusted_pvalues, model.adjusted_pvalues_)
        assert (result.thresholds.level, result.thresholds.control) == (level, control)
    counts = {key: model.get_support().sum() for key, model in found.items()}
    assert counts["fwer", 0.001] <= counts["fdr", 0.001] <= counts["none", 0.001]
    assert counts["fdr", 0.001] < counts["fdr", 0.3]


def test_pvalues_do_not_depend_on_the_level(data):
    X, y, _ = data
    one, two = (ForestRelevanceClassifier(**SMALL, level=level).fit(X, y) for level in (0.2, 0.01))
    np.testing.assert_array_equal(one.pvalues_, two.pvalues_)


def test_nothing_is_found_where_forests_agree_by_accident():
    """Forests of the same samples all see the same accidents: tests of how often they agree call features of noise."""
    called = 0
    for seed in range(8):
        X, y, relevance = make_relevance_classification(
            200, n_strong=2, n_weak=0, n_irrelevant=10, random_state=7000 + seed
        )
        found = ForestRelevanceClassifier(**SMALL).fit(X, y).relevance_classes_ > 0
        assert found[relevance > 0].all()
        called += int(found[relevance == 0].sum())
    assert called <= 3  # of 80


def spectra(seed, n=60, d=101):
    """As many samples and features as in near infrared spectra of petrol: neighbours are nearly the same."""
    rng = np.random.default_rng(seed)
    wave = np.linspace(0, 1, d)
    bands = np.exp(-0.5 * ((wave - rng.uniform(0, 1, (8, 1))) / 0.04) ** 2)
    amounts = rng.standard_normal((n, 8))
    X = amounts @ bands + 0.02 * rng.standard_normal((n, d))
    return X, amounts[:, 0] + 0.2 * rng.standard_normal(n), np.abs(bands[0])


@pytest.mark.parametrize("seed", [1, 2])
def test_sixty_samples_are_enough_for_a_hundred_features(seed):
    X, y, band = spectra(seed)
    model = ForestRelevanceRegressor(random_state=0).fit(X, y)
    found = model.get_support()
    assert found.sum() >= 3
    assert np.mean(band[found] > 0.02) >= 0.9
    assert model.result_.scores["cross_validated"] > 0.6


def boruta_data(seed):
    """The data of BorutaPy's own tests: five features of use, five of none."""
    rng = np.random.RandomState(seed)
    y = rng.binomial(1, 0.5, 1000)
    first = np.clip(y - rng.binomial(1, 0.1, 1000) + rng.binomial(1, 0.1, 1000), 0, 1)
    X = [first, y * np.abs(rng.normal(0, 1, 1000)) + rng.normal(0, 0.1, 1000)]
    X += [y + rng.normal(0, 1, 1000), y**2 + rng.normal(0, 1, 1000), np.sqrt(y) + rng.binomial(2, 0.1, 1000)]
    X += [rng.normal(0, 1, 1000), rng.poisson(1, 1000), rng.binomial(1, 0.3, 1000), rng.normal(0, 1, 1000)]
    return np.column_stack([*X, rng.poisson(1, 1000)]), y


@pytest.mark.parametrize("seed", range(3))
def test_features_that_are_needed_are_kept(seed):
    found = ForestRelevanceClassifier(**SMALL).fit(*boruta_data(6000 + seed)).get_support()
    assert found[:5].all()
    assert found[5:].sum() <= 1


@pytest.mark.parametrize("importance", ["gain", "split", "permutation", "shap"])
def test_other_importances(data, importance):
    X, y, relevance = data
    # With few trees, numbers of splits differ more from forest to forest than from feature to feature.
    n_estimators = 600 if importance == "split" else 60
    model = ForestRelevanceClassifier(n_estimators=n_estimators, importance=importance, random_state=0)
    found = model.fit(X, y).relevance_classes_
    assert np.mean((found > 0) == (relevance > 0)) >= 0.75


@pytest.mark.parametrize("importance", ["gain", "permutation"])
def test_other_forests(data, importance):
    X, y, relevance = data
    forest = RandomForestClassifier(n_estimators=25, max_depth=5)
    model = ForestRelevanceClassifier(estimator=forest, importance=importance, random_state=0).fit(X, y)
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
        ({"level": 1.0}, "level"),
        ({"level": 0.0}, "level"),
        ({"control": "false"}, "control"),
        ({"n_copies": 1}, "n_copies"),
        ({"min_samples_leaf": "few"}, "min_samples_leaf"),
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


@pytest.mark.parametrize(("y", "ways"), [([0, 0, 1, 1, 1], 10), ([0] * 18 + [1], 19), ([1, 2, 3], 6)])
def test_too_few_samples(y, ways):
    X = np.random.default_rng(0).standard_normal((len(y), 2))
    with pytest.raises(ValueError, match=f"X has {len(y)} samples, with {ways} different arrangements of y, but at"):
        ForestRelevanceClassifier().fit(X, y)


def test_as_few_samples_as_there_may_be():
    X, y = np.random.default_rng(0).standard_normal((6, 2)), [0, 1, 0, 1, 0, 1]
    with pytest.warns(RelevanceWarning):
        model = ForestRelevanceClassifier(**SMALL).fit(X, y)
    assert model.pvalues_.min() >= 1 / 20


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

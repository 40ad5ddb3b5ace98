"""Questions to fitted estimators: constraints, groups, substitutes, panels, stability."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control
from sklearn.exceptions import NotFittedError
from sklearn.metrics import v_measure_score
from sklearn.model_selection import LeaveOneOut, ShuffleSplit

from allrelevant import (
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
    RelevanceResult,
)
from allrelevant.datasets import make_relevance_classification, make_relevance_regression
from allrelevant.errors import AllRelevantError, InfeasibleConstraint, RelevanceWarning
from allrelevant.estimators import _linear
from allrelevant.lp import bounds


@pytest.fixture(scope="module")
def data():
    """4 strong features, 3 copies, 1 of noise: the thesis' Figure 3.4."""
    X, y, _ = make_relevance_classification(150, n_strong=4, n_weak=3, n_irrelevant=1, noise=0.0, random_state=1)
    return pd.DataFrame(X, columns=[f"f{k + 1}" for k in range(8)]), y


@pytest.fixture(scope="module")
def model(data):
    return LinearRelevanceClassifier(random_state=0).fit(*data)


def test_a_copy_at_its_minimum_changes_nothing_and_at_its_maximum_everything(data):
    # With the slacks of the papers: wider budgets also admit copies that cancel each other.
    model = LinearRelevanceClassifier(norm_slack=0.001, loss_slack=0.0, random_state=0).fit(*data)
    before = model.result_.intervals
    least = model.constrain({"f5": before[4, 0]})
    assert before[4, 0] == 0.0
    np.testing.assert_allclose(np.delete(least.delta, 4, axis=0), 0.0, atol=1e-6)
    np.testing.assert_array_equal(least.intervals[4], [0.0, 0.0])
    most = model.constrain({"f5": before[4, 1]})
    np.testing.assert_allclose(most.intervals[5:7], 0.0, atol=1e-3)
    others = [0, 1, 2, 3, 7]
    assert np.ptp(most.intervals[others], axis=1).max() < 1e-3
    assert (np.ptp(most.intervals[others], axis=1) < 0.5 * np.ptp(before[others], axis=1)).all()


def test_result_under_constraints(model):
    result = model.constrain({"f5": (0.0, 0.05), 1: (0.1, None)})
    assert isinstance(result, RelevanceResult)
    assert set(result.constraints) == {"f5", "f2"}
    assert result.constraints["f5"] == (0.0, 0.05)
    np.testing.assert_array_equal(result.unconstrained, model.result_.intervals)
    np.testing.assert_array_equal(result.delta, result.intervals - model.result_.intervals)
    assert (result.delta[:, 0] >= 0).all()
    assert (result.delta[:, 1] <= 0).all()
    assert result.intervals[4, 1] <= 0.05 + 1e-6
    assert result.intervals[1, 0] >= 0.1 - 1e-6
    assert result.thresholds == model.result_.thresholds
    # Nobody is tested twice: what was relevant stays so beyond its limit.
    np.testing.assert_array_equal(result.pvalues, model.result_.pvalues)
    np.testing.assert_array_equal(result.limits, model.result_.limits)
    relevant = (model.result_.classes > 0) & (result.intervals[:, 1] > np.maximum(result.limits, 1e-6))
    np.testing.assert_array_equal(result.classes > 0, relevant)
    assert result.max_gap <= 1e-6
    assert "f5 from 0 to 0.05" in result.summary()
    assert RelevanceResult.from_json(result.to_json()) == result
    assert {"minimum_delta", "maximum_delta"} <= set(result.to_frame().columns)
    assert "minimum_delta" not in model.result_.to_frame().columns
    np.testing.assert_array_equal(model.result_.delta, 0.0)


def test_excluding_copies_makes_the_last_one_needed(model):
    result = model.constrain({"f5": 0, "f6": 0.0})
    assert result.classes[6] == 2
    assert result.classes[4] == result.classes[5] == 0


def test_infeasible_constraints_say_why(model):
    high = model.result_.intervals[0, 1]
    with pytest.raises(InfeasibleConstraint, match=r"f1 can only be from") as outside:
        model.constrain({"f1": high + 0.1, "f5": 0})
    assert not outside.value.joint
    assert set(outside.value.ranges) == {"f1"}
    assert outside.value.ranges["f1"] == pytest.approx(tuple(model.result_.intervals[0]))
    with pytest.raises(InfeasibleConstraint, match=r"f5, f6, f7 exclude each other") as joint:
        model.constrain({"f5": 0, "f6": 0, "f7": 0, "f8": (0, 0.5)})
    assert joint.value.joint
    assert set(joint.value.ranges) == {"f5", "f6", "f7"}
    assert all(0 < low < high for low, high in joint.value.ranges.values())
    assert isinstance(joint.value, AllRelevantError)
    assert isinstance(joint.value, ValueError)
    again = pickle.loads(pickle.dumps(joint.value))
    assert str(again) == str(joint.value)
    assert again.ranges == joint.value.ranges


@pytest.mark.parametrize(
    ("constraints", "error", "message"),
    [
        ({"f9": 0}, ValueError, "'f9', which is none of the 8"),
        ({8: 0}, ValueError, "out of range: they are 0 to 7"),
        ({-1: 0}, ValueError, "out of range"),
        ({True: 0}, TypeError, "by name or by position"),
        ({"f1": -0.1}, ValueError, "at least 0"),
        ({"f1": (0.3, 0.1)}, ValueError, "low must not exceed high"),
        ({"f1": float("nan")}, ValueError, "at least 0"),
        ({"f1": (0.1, 0.2, 0.3)}, TypeError, "a pair"),
        ({"f1": "much"}, TypeError, "give a number"),
        ({"f1": None}, ValueError, "low must not exceed high|at least 0"),
        ({"f1": 0, 0: 0}, ValueError, "twice"),
        (["f1"], TypeError, "dictionary"),
    ],
)
def test_bad_constraints(model, constraints, error, message):
    if constraints == {"f1": None}:  # no limit at all
        assert model.constrain(constraints).delta == pytest.approx(0.0, abs=1e-6)
        return
    with pytest.raises(error, match=message):
        model.constrain(constraints)


def test_nothing_is_asked_before_a_fit():
    for ask in ("group_features", "panels", "stability"):
        with pytest.raises(NotFittedError):
            getattr(LinearRelevanceClassifier(), ask)()
    for ask in ("constrain", "substitutes"):
        with pytest.raises(NotFittedError):
            getattr(LinearRelevanceClassifier(), ask)({})


def test_answers_do_not_depend_on_the_order_of_columns(data, model):
    X, y = data
    order = np.random.RandomState(0).permutation(8)
    other = LinearRelevanceClassifier(random_state=0).fit(X.iloc[:, order], y)
    held = {"f5": 0.1, "f1": (0.1, 0.3)}
    one, two = model.constrain(held), other.constrain(held)
    # Equal columns may trade places, and with them their last digits.
    np.testing.assert_allclose(one.intervals[order], two.intervals, rtol=1e-9)
    np.testing.assert_array_equal(one.classes[order], two.classes)
    assert {*map(frozenset, model.group_features().groups)} == {*map(frozenset, other.group_features().groups)}
    assert model.substitutes("f5").sets[0].loss_growth == pytest.approx(other.substitutes("f5").sets[0].loss_growth)
    assert {frozenset(one.features) for one in model.panels()} == {frozenset(one.features) for one in other.panels()}
    np.testing.assert_array_equal(
        model.stability(2, random_state=3).intervals[:, order], other.stability(2, random_state=3).intervals
    )


def test_a_copy_of_the_estimator_answers_alike(model):
    again = pickle.loads(pickle.dumps(model))
    assert again.constrain({"f5": 0.1}).to_dict()["intervals"] == model.constrain({"f5": 0.1}).to_dict()["intervals"]


@pytest.mark.parametrize("form", ["residual", "kept"])
def test_privileged_features_can_be_held(form):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(80, 3))
    P = np.column_stack([rng.normal(size=80), rng.normal(size=80)])
    y = np.digitize(X[:, 0] + X[:, 1] + 0.8 * P[:, 0], [-0.7, 0.7])
    model = LinearRelevanceOrdinal(C=1.0, privileged=form, random_state=0, n_probes=10).fit(X, y, X_privileged=P)
    before = model.result_.privileged
    k = int(np.argmax(before.intervals[:, 1]))
    value = float(before.intervals[k].mean())
    result = model.constrain({}, privileged={k: value})
    assert result.privileged.intervals[k] == pytest.approx([value, value], abs=3e-5)
    assert result.privileged.constraints == {before.feature_names[k]: (value, value)}
    if form == "residual":  # a program of its own
        assert result.to_dict()["intervals"] == model.result_.to_dict()["intervals"]
    else:
        assert result.unconstrained is not None
    with pytest.raises(ValueError, match="fitted without X_privileged"):
        LinearRelevanceOrdinal(C=1.0, n_probes=10).fit(X, y).constrain({}, privileged={0: 0})


def pairs_data(n_unique, n_pairs, n_noise, seed, n=300):
    """The thesis' sets for grouping: pairs of identical columns."""
    k = n_unique + n_pairs
    X, y, _ = make_relevance_classification(n, n_strong=k, n_weak=0, n_irrelevant=n_noise, random_state=seed)
    X = np.hstack([X[:, :n_unique], np.repeat(X[:, n_unique:k], 2, axis=1), X[:, k:]])
    truth = [*range(n_unique), *np.repeat(np.arange(n_unique, k), 2), *[-1] * n_noise]
    return X, y, np.array(truth)


@pytest.mark.parametrize(("shape", "least"), [((0, 5, 10), 1.0), ((3, 5, 5), 0.94), ((0, 5, 0), 1.0)])
def test_pairs_are_found(shape, least):
    scores = []
    for seed in range(2):
        X, y, truth = pairs_data(*shape, seed)
        groups = LinearRelevanceClassifier(level=0.01, random_state=0).fit(X, y).group_features()
        scores.append(v_measure_score(truth, groups.labels))
    assert np.mean(scores) >= least


def test_contexts_are_what_constraints_say(data, monkeypatch):
    model = LinearRelevanceClassifier(random_state=0).fit(*data)
    # Two answers differ by as much as their proofs leave open, so ask for more of a proof than one part in a million.
    monkeypatch.setattr(bounds, "GAP_LIMIT", 1e-8)
    groups = model.group_features()
    for place, k in enumerate(groups.members):
        for end in range(2):
            held = model.constrain({k: float(model.result_.intervals[k, end])}).delta[list(groups.members)]
            apart = np.delete(groups.contexts[place, end] - held, place, axis=0)
            np.testing.assert_allclose(apart, 0.0, atol=1e-7)


def test_groups_in_full(model):
    groups = model.group_features()
    assert groups.groups == [["f1"], ["f2"], ["f3"], ["f4"], ["f5", "f6", "f7"]]
    assert groups.labels.tolist() == [0, 1, 2, 3, 4, 4, 4, -1]
    m = len(groups.members)
    assert groups.contexts.shape == (m, 2, m, 2)
    assert (groups.contexts[..., 0] >= 0).all()
    assert (groups.contexts[..., 1] <= 0).all()
    np.testing.assert_array_equal(groups.distances, groups.distances.T)
    assert groups.linkage.shape == (m - 1, 4)
    # Copies at their extremes do the same to all others.
    np.testing.assert_allclose(groups.distances[4:7, 4:7], 0.0, atol=1e-3)
    assert "f5, f6 and f7 play the same part" in groups.summary()
    assert groups.to_frame()["group"].tolist() == groups.labels.tolist()
    assert len(model.group_features(n_groups=6).groups) == 5  # copies that are the same cannot be told apart
    everything = model.group_features(scope="all")
    assert everything.members == tuple(range(8))
    assert (everything.labels >= 0).all()
    assert len({*everything.labels[4:7]}) == 1
    assert len(model.group_features(cutoff=1.0).groups) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": 1.5}, "cutoff=1.5"),
        ({"cutoff": "low"}, "cutoff='low'"),
        ({"n_groups": 4}, "from 5 to 7"),
        ({"n_groups": 2.5}, "integer"),
        ({"method": "ward"}, "method='ward'"),
        ({"scope": "some"}, "scope='some'"),
    ],
)
def test_bad_groups(model, options, message):
    with pytest.raises(ValueError, match=message):
        model.group_features(**options)


def test_exact_copies_need_no_programs(data):
    X, y = data
    doubled = X.assign(f9=X["f5"], f10=-X["f5"])
    few = LinearRelevanceClassifier(random_state=0).fit(X, y).group_features()
    more = LinearRelevanceClassifier(random_state=0).fit(doubled, y).group_features()
    assert more.groups[-1] == ["f5", "f6", "f7", "f9", "f10"]
    # The two copies add their own bounds to the programs of all features that are held, but are not held themselves;
    # nor are they bounded twice, where the feature they are copies of is not the one that is held.
    held = 2 * len(few.members)
    assert more.n_programs <= few.n_programs + 2 * held


def test_substitutes_in_words(model):
    found = model.substitutes("f5")
    assert [set(one.features) for one in found.sets] == [{"f6", "f7"}]
    one = found.sets[0]
    assert all(need > 0.01 for need in (*one.needed, one.own_needed))
    assert one.loss_growth > 0
    text = found.summary()
    assert "can replace f5; without all of them" in text
    assert found.to_frame()["needed"].tolist() == list(one.needed)
    alone = model.substitutes("f1")
    assert alone.sets[0].features == ()
    assert alone.summary().startswith("Nothing can replace f1: without it,")
    noise = model.substitutes(7)
    assert noise.summary().startswith("f8 makes up for no other relevant feature") or noise.sets
    hasty = model.substitutes("f5", time_limit=1e-9)
    assert hasty.timed_out
    assert hasty.sets == ()
    assert "not found in time" in hasty.summary()
    with pytest.raises(ValueError, match="time_limit"):
        model.substitutes("f5", time_limit=0)
    with pytest.raises(ValueError, match="n_sets"):
        model.substitutes("f1", n_sets=0)
    with pytest.raises(ValueError, match="none of the 8"):
        model.substitutes("g1")


def test_what_rises_when_one_of_a_pair_is_excluded():
    X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    found = model.substitutes("x2")
    assert next(iter(found.rises)) == "x3"
    before, after = found.rises["x3"]
    assert before == pytest.approx(model.result_.intervals[3, 0])
    assert after == pytest.approx(model.constrain({"x2": 0}).intervals[3, 0], abs=1e-7)
    assert found.sets[0].features == ("x3",)
    assert "x3 can replace x2; without both, " in found.summary()


def test_panels_in_full(model):
    panels = model.panels()
    assert panels.complete
    assert not panels.timed_out
    assert {one.features for one in panels} == {("f1", "f2", "f3", "f4", f"f{k}") for k in (5, 6, 7)}
    assert len(panels) == len(panels.equivalent_signatures) == 3
    assert [one.cost for one in panels] == [5.0] * 3
    for one in panels:
        assert one.gap == 0.0
        assert one.score == pytest.approx(panels.baseline_score, abs=0.05)
    assert panels.metric == "weighted F1"
    assert "3 different panels cost the same" in panels.summary()
    assert panels.to_frame()["size"].tolist() == [5, 5, 5]
    dear = model.panels({"f5": 3, "f6": 2.0})
    assert [one.features[-1] for one in dear] == ["f7", "f6", "f5"]
    assert [one.cost for one in dear] == [5.0, 6.0, 7.0]
    assert dear.equivalent_signatures == [("f1", "f2", "f3", "f4", "f7")]
    by_array = model.panels(np.array([1, 1, 1, 1, 3, 2.0, 1, 1]), k=2)
    assert [one.cost for one in by_array] == [5.0, 6.0]
    assert not by_array.complete
    assert [one.features[-1] for one in model.panels(exclude=["f5"], include=[5])] == ["f6"]
    none = model.panels(max_size=3)
    assert len(none) == 0
    assert none.summary().startswith("No set")


def test_panels_of_other_problems():
    X, y, _ = make_relevance_regression(120, n_strong=2, n_weak=2, n_irrelevant=1, noise=0.1, random_state=0)
    model = LinearRelevanceRegressor(C=1.0, epsilon=0.1, random_state=0).fit(X, y)
    panels = model.panels()
    assert {one.features for one in panels} == {("x0", "x1", "x2"), ("x0", "x1", "x3")}
    assert panels.baseline_score is not None
    classes = np.digitize(y, [-1.0, 1.0])
    ordinal = LinearRelevanceOrdinal(C=1.0, random_state=0).fit(X, classes)
    found = ordinal.panels()
    assert len(found) >= 2
    assert all(one.score >= 0 for one in found)  # an error
    assert found.metric.startswith("macro")


def test_irrelevant_features_fill_gaps_with_a_note():
    rng = np.random.RandomState(4)
    X = rng.normal(size=(40, 12))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=40) > 0, 1, -1)
    model = LinearRelevanceClassifier(C=5.0, random_state=0).fit(X, y)
    panels = model.panels(k=1)
    relevant = set(model.result_.names(1)) | set(model.result_.names(2))
    assert not set(panels[0].features) <= relevant
    assert "irrelevant ones" in panels.summary()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"costs": [1.0, 2.0]}, ValueError, "one cost per feature"),
        ({"costs": {"f1": -1.0}}, ValueError, "negative"),
        ({"costs": {"g": 1.0}}, ValueError, "none of the 8"),
        ({"k": 0}, ValueError, "k=0"),
        ({"max_size": 0}, ValueError, "max_size=0"),
        ({"include": ["f1"], "exclude": [0]}, ValueError, "f1 cannot be in include and in exclude"),
        ({"time_limit": 0}, ValueError, "time_limit"),
        ({"scope": "some"}, ValueError, "scope"),
    ],
)
def test_bad_panels(model, options, error, message):
    with pytest.raises(error, match=message):
        model.panels(**options)


def test_stability(model):
    found = model.stability(4, random_state=0)
    assert found.classes.shape == (4, 8)
    assert found.intervals.shape == (4, 8, 2)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert found.shares[:4, 2].mean() >= 0.75
    assert (found.intervals[..., 0] <= found.intervals[..., 1]).all()
    spread = found.spread()
    assert spread.shape == (8, 2, 2)
    assert (spread[..., 0] <= spread[..., 1]).all()
    np.testing.assert_array_equal(found.intervals, model.stability(4, random_state=0).intervals)
    assert not np.array_equal(found.intervals, model.stability(4, random_state=1).intervals)
    assert found.summary().startswith("Over 4 bootstraps")
    assert list(found.to_frame().columns[:4]) == ["relevance", "strong", "weak", "irrelevant"]
    with pytest.raises(ValueError, match="n_bootstraps=1"):
        model.stability(1)


def test_a_bootstrap_is_a_fit_with_sample_weights(data):
    X, y = data
    model = LinearRelevanceClassifier(C=0.5, random_state=0).fit(X, y)
    rng = np.random.RandomState(5)
    space = model._exploration.spaces[0]
    order = np.argsort(space.data.position)
    expected = model.stability(2, random_state=5)
    # The same draws, by hand: within classes, in canonical order.
    counts = np.zeros(len(X))
    for label in (-1.0, 1.0):
        group = np.flatnonzero(space.data.target == label)
        counts[group] = rng.multinomial(len(group), np.full(len(group), 1 / len(group)))
    weight = np.zeros(len(X))
    weight[order] = counts
    again = LinearRelevanceClassifier(C=0.5, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(expected.intervals[0], again.intervals_, atol=1e-5)


@pytest.mark.parametrize("cv", [3, ShuffleSplit(4, test_size=0.3, random_state=0), LeaveOneOut()])
def test_every_bootstrap_searches_for_C(cv, monkeypatch):
    """The search is repeated, and no model is tested with samples that it was trained with."""
    X, y, _ = make_relevance_classification(40, n_strong=1, n_weak=2, n_irrelevant=3, flip_y=0.1, random_state=0)
    model = LinearRelevanceClassifier(cv=cv, random_state=0, n_probes=3).fit(X, y)
    found, fit = [], _linear.fit_baseline

    def recorded(formulation, X, target, weight, *, folds, **options):
        folds = list(folds)
        baseline = fit(formulation, X, target, weight, folds=folds, **options)
        found.append((options["C"], baseline.hyperparameters["C"], weight, folds))
        return baseline

    monkeypatch.setattr(_linear, "fit_baseline", recorded)
    model.stability(4, random_state=1)
    assert [given for given, *_ in found] == [None] * 4
    assert len({C for _, C, *_ in found}) > 1
    for _, _, weight, folds in found:
        assert weight.max() > 1
        for fold in folds:
            np.testing.assert_array_equal(fold.train * fold.test, 0.0)
            both = fold.train + fold.test
            np.testing.assert_array_equal(both[both > 0], weight[both > 0])


def test_bootstraps_leave_a_small_class_enough_to_search(monkeypatch):
    X, y, _ = make_relevance_classification(40, n_strong=2, n_weak=0, n_irrelevant=2, random_state=0)
    y[np.argsort(X[:, 0])[:-2]] = y.min()
    y[np.argsort(X[:, 0])[-2:]] = y.min() + 1
    model = LinearRelevanceClassifier(random_state=0, n_probes=3).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        assert model.stability(6).classes.shape == (6, 4)


def test_settings_other_than_C_are_searched_again():
    X, y, _ = make_relevance_regression(60, n_strong=1, n_weak=0, n_irrelevant=2, noise=0.3, random_state=0)
    model = LinearRelevanceRegressor(random_state=0, n_probes=3).fit(X, y)
    assert model._exploration.spaces[0].request.formulation.epsilon is None
    assert model.stability(2).intervals.shape == (2, 3, 2)


def test_without_weights_there_is_nothing_to_explore():
    X = np.random.RandomState(0).normal(size=(40, 3))
    with pytest.warns(UserWarning, match="no weights at all"):
        model = LinearRelevanceClassifier(C=1e-6, random_state=0).fit(X, np.tile([0, 1], 20))
    assert model.constrain({0: 0}).intervals.max() == 0.0
    with pytest.raises(InfeasibleConstraint):
        model.constrain({0: 0.1})
    assert model.group_features().groups == []
    assert model.group_features().summary().startswith("No feature is relevant")
    assert model.substitutes(0).sets == ()
    assert len(model.panels()) <= 1


def test_what_is_controlled_can_be_chosen():
    X, y, _ = make_relevance_classification(100, n_strong=5, n_weak=0, n_irrelevant=10, random_state=3)
    models = {
        control: LinearRelevanceClassifier(C=0.1, random_state=0, control=control).fit(X, y)
        for control in ("fwer", "fdr", "none")
    }
    pvalues = models["none"].pvalues_
    m = len(pvalues)
    holm = np.empty(m)
    order = np.argsort(pvalues)
    holm[order] = np.minimum(np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1)), 1.0)
    for control, expected in (("fwer", holm), ("fdr", false_discovery_control(pvalues)), ("none", pvalues)):
        model, result = models[control], models[control].result_
        np.testing.assert_array_equal(model.pvalues_, pvalues)
        np.testing.assert_allclose(model.adjusted_pvalues_, expected, rtol=1e-12)
        np.testing.assert_array_equal(model.relevance_classes_ > 0, model.adjusted_pvalues_ <= 0.05)
        np.testing.assert_array_equal(model.relevance_classes_ > 0, model.intervals_[:, 1] > result.limits)
        strong = model.intervals_[:, 0] > model.thresholds_.min_relevance
        np.testing.assert_array_equal(model.relevance_classes_ == 2, (model.adjusted_pvalues_ <= 0.05) & strong)
        assert (result.thresholds.control, result.thresholds.level) == (control, 0.05)
    counts = [(model.relevance_classes_ > 0).sum() for model in models.values()]
    assert 0 < counts[0] <= counts[1] <= counts[2]
    with pytest.raises(ValueError, match="control"):
        LinearRelevanceClassifier(control="both").fit(X, y)

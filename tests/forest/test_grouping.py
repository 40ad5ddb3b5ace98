from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError

from allrelevant import ForestRelevanceClassifier, ForestRelevanceRegressor, RelevanceWarning
from allrelevant._progress import Progress
from allrelevant.datasets import make_relevance_classification, make_relevance_interaction
from allrelevant.forest import grouping
from allrelevant.forest.grouping import alike, lost_shares, lost_work
from allrelevant.forest.learner import Sample, Target
from allrelevant.forest.light import LightForest

FOREST = LightForest(n_estimators=120)
CONTEXT = {"seed": 0, "n_jobs": None, "progress": Progress()}
SMALL = {"n_estimators": 60, "random_state": 0}


def of(X, y, n_classes=2, categorical=None, weight=None):
    X = np.asarray(X, dtype=float)
    mask = np.zeros(X.shape[1], dtype=bool) if categorical is None else np.array(categorical)
    weight = np.ones(len(X)) if weight is None else weight
    return Sample(X, Target(np.asarray(y, dtype=float), n_classes), weight, mask)


def assert_groups(distances, labels, near=0.4, far=0.6):
    """Companions are near each other, all others far apart."""
    same = np.equal.outer(labels, labels)
    assert distances[same].max() < near
    assert distances[~same].min() > far


def test_alike_are_the_next_in_order_on_either_side():
    order = np.array([3, 0, 4, 1, 2])  # of the values 1, 3, 4, 0, 2
    rows = np.arange(5)
    np.testing.assert_array_equal(alike(order, rows, np.full(5, 1)), [4, 2, 1, 0, 1])
    np.testing.assert_array_equal(alike(order, rows, np.full(5, -2)), [1, 0, 4, 4, 3])
    for away in (-2, -1, 1, 2):
        assert np.all(alike(order, rows, np.full(5, away)) != rows)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_copies_are_close_however_many(n_classes):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 3))
    columns = [0, 1, 1, 2, 2, 2, 2, 2]
    X = x[:, columns] + 0.05 * rng.standard_normal((400, 8))
    signal = x.sum(axis=1)
    y = signal if not n_classes else np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    found = lost_work(of(X, y, n_classes), FOREST, **CONTEXT)
    assert_groups(found, columns, near=0.15, far=0.7)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 0.0)


def test_interaction_of_bent_copies():
    data = make_relevance_interaction(
        400, n_weak=5, partition=[2, 3], transform="monotone", n_irrelevant=0, random_state=1
    )
    assert_groups(lost_work(of(data.X, data.y > 0), FOREST, **CONTEXT), [0, 0, 1, 1, 1], far=0.8)


def test_what_is_shared_but_not_needed_does_not_count():
    rng = np.random.default_rng(2)
    a, b, shared = rng.uniform(-1, 1, (3, 500))
    X = np.column_stack([a + 2 * shared, a + 2 * shared, b + 2 * shared, b + 2 * shared])
    X += 0.1 * rng.standard_normal(X.shape)
    assert np.corrcoef(X.T)[0, 2] > 0.7
    assert_groups(lost_work(of(X, a > b), FOREST, **CONTEXT), [0, 0, 1, 1])


def test_magnitudes_are_close_where_only_they_matter():
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-1, 1, (2, 500))
    X = np.column_stack([a, np.abs(a), b, b**3])
    assert abs(np.corrcoef(X.T)[0, 1]) < 0.1
    assert_groups(lost_work(of(X, 4 * np.abs(a) + b, 0), FOREST, **CONTEXT), [0, 0, 1, 1])
    # Where the sign matters, the magnitude knows nothing of it.
    moved, missed = lost_shares(of(X, 4 * a + b, 0), FOREST, **CONTEXT)
    assert min(moved[0, 1], missed[0, 1]) > 0.7


def test_categories_and_missing_values():
    rng = np.random.default_rng(4)
    codes, x = rng.integers(4, size=500), rng.standard_normal(500)
    level = np.array([0.0, 3.0, 1.0, 2.0])[codes]
    gaps = np.where(rng.random(500) < 0.1, np.nan, x)
    X = np.column_stack([codes, level + 0.01 * rng.standard_normal(500), x, gaps])
    found = lost_work(of(X, level + x, 0, categorical=[True, False, False, False]), FOREST, **CONTEXT)
    assert_groups(found, [0, 0, 1, 1])


def test_few_features():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    np.testing.assert_array_equal(lost_work(of(X, y), FOREST, **CONTEXT), [[0.0]])
    assert lost_work(of(X[:, :0], y), FOREST, **CONTEXT).shape == (0, 0)


def test_a_feature_without_work_is_far_from_all():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.standard_normal((200, 2)), np.ones(200)])
    found = lost_work(of(X, X[:, 0] + X[:, 1] > 0), FOREST, **CONTEXT)
    assert found[2, 0] > 0.5
    assert np.all(np.isfinite(found))


def test_batches_and_threads_change_nothing(monkeypatch):
    X, y, _ = make_relevance_interaction(200, n_weak=4, partition=[2, 2], n_irrelevant=0, random_state=0)
    sample = of(X, y > 0)
    once = lost_work(sample, FOREST, **CONTEXT)
    np.testing.assert_array_equal(lost_work(sample, FOREST, **(CONTEXT | {"n_jobs": 2})), once)
    monkeypatch.setattr(grouping, "BATCH", 1)
    np.testing.assert_allclose(lost_work(sample, FOREST, **CONTEXT), once, rtol=1e-12)


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = make_relevance_interaction(500, n_weak=5, partition=[2, 3], n_irrelevant=3, random_state=0)
    # Two columns that order the samples as the first and the last of the noise do.
    X = np.column_stack([X, -np.exp(X[:, 0]), 2 * X[:, -1]])
    return ForestRelevanceClassifier(**SMALL).fit(pd.DataFrame(X).add_prefix("f"), y)


def test_groups_of_an_estimator(fitted):
    found = fitted.group_features()
    assert found.groups == [["f0", "f1", "f8"], ["f2", "f3", "f4"]]
    assert found.labels.tolist() == [0, 0, 1, 1, 1, -1, -1, -1, 0, -1]
    assert found.members == (0, 1, 2, 3, 4, 8)
    assert found.distances[0, 5] == 0.0
    assert found.linkage.shape == (5, 4)
    assert (found.height, found.n_programs) == (0.5, 5)
    assert found.result is fitted.result_
    assert found.summary() == "f0, f1 and f8 play the same part.\nf2, f3 and f4 play the same part."


def test_other_cuts_take_no_time(fitted, monkeypatch):
    before = fitted.group_features()
    monkeypatch.setattr("allrelevant.estimators._forest.lost_work", None)
    np.testing.assert_array_equal(fitted.group_features(method="single").distances, before.distances)
    assert len(fitted.group_features(1.0).groups) == 1
    assert len(fitted.group_features(0.0).groups) == 5
    assert [len(fitted.group_features(n_groups=k).groups) for k in range(1, 6)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": "auto"}, "cutoff='auto'"),
        ({"cutoff": 1.5}, "cutoff=1.5"),
        ({"cutoff": True}, "cutoff=True"),
        ({"n_groups": 0}, "n_groups=0 must be an integer from 1 to 6"),
        ({"n_groups": 7}, "n_groups=7"),
        ({"n_groups": 2.5}, "n_groups=2.5"),
        ({"method": "ward"}, "method='ward'"),
    ],
)
def test_wrong_questions(fitted, options, message):
    with pytest.raises(ValueError, match=message):
        fitted.group_features(**options)


def easy():
    """Two groups of two noisy copies, and noise."""
    X, y, _ = make_relevance_classification(
        300, n_strong=0, n_weak=4, partition=[2, 2], n_irrelevant=2, noise=0.1, random_state=0
    )
    return X, y


def test_groups_depend_on_neither_threads_nor_the_order_of_columns_nor_a_file():
    X, y = easy()
    model = ForestRelevanceClassifier(**SMALL).fit(X, y)
    once = model.group_features().distances
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).group_features().distances, once)
    np.testing.assert_array_equal(
        ForestRelevanceClassifier(n_jobs=2, **SMALL).fit(X, y).group_features().distances, once
    )
    turned = ForestRelevanceClassifier(**SMALL).fit(X[:, ::-1], y).group_features().distances
    np.testing.assert_array_equal(turned, once[::-1, ::-1])


def test_another_fit_asks_anew():
    X, y = easy()
    model = ForestRelevanceClassifier(**SMALL).fit(X, y)
    assert model.group_features().groups == [["x0", "x1"], ["x2", "x3"]]
    assert model.fit(X[:, [0, 2, 1, 3, 4]], y).group_features().groups == [["x0", "x2"], ["x1", "x3"]]


def test_groups_of_another_estimator_and_of_numbers():
    X, y = easy()
    trees = ExtraTreesClassifier(n_estimators=60, min_samples_leaf=3, random_state=0)
    model = ForestRelevanceClassifier(estimator=trees, importance="gain", random_state=0).fit(X, y)
    assert model.group_features().groups == [["x0", "x1"], ["x2", "x3"]]
    weight = np.where(np.arange(300) < 50, 0.0, 1.0)
    numbers = ForestRelevanceRegressor(**SMALL).fit(X, y.astype(float), sample_weight=weight)
    assert numbers.group_features().groups == [["x0", "x1"], ["x2", "x3"]]


def test_nothing_relevant_nothing_to_group():
    rng = np.random.default_rng(0)
    with pytest.warns(RelevanceWarning):
        model = ForestRelevanceClassifier(**SMALL).fit(rng.standard_normal((60, 3)), np.arange(60) % 2)
    found = model.group_features()
    assert found.groups == []
    assert found.labels.tolist() == [-1, -1, -1]
    with pytest.raises(NotFittedError):
        ForestRelevanceClassifier().group_features()


def test_groups_are_drawn(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    from allrelevant.plotting import GroupsDisplay

    display = GroupsDisplay.from_estimator(fitted, cutoff=0.4)
    _, bars = display.axes_
    assert bars.get_ylabel() == "share of the forest's importance,\nin the middle 90 % of the forests"
    assert display.groups.height == 0.4

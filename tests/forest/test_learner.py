from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss, mean_squared_error

from allrelevant.forest.learner import Sample, Target, folds, importances
from allrelevant.forest.light import LightForest, leaf_size
from allrelevant.forest.scikit import ScikitForest
from allrelevant.inference.exchange import exchangeability


def sample(n_classes=2, n=300, d=6, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signal = X[:, 0] + X[:, 1] * X[:, 2]
    y = signal if not n_classes else np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    weight = np.ones(n) if weight is None else weight
    return Sample(X, Target(y.astype(float), n_classes), weight, np.zeros(d, dtype=bool))


def of(target, rows=None):
    n = len(target.values)
    return Sample(np.zeros((n, 1)), target, np.ones(n), np.zeros(1, dtype=bool), rows)


def walk(node, x, contribution):
    """What each split on the way of a sample adds, by the tree as LightGBM describes it."""
    while "split_feature" in node:
        child = node["left_child"] if x[node["split_feature"]] <= node["threshold"] else node["right_child"]
        value = child["internal_value"] if "split_feature" in child else child["leaf_value"]
        contribution[node["split_feature"]] += value - node["internal_value"]
        node = child


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_held_out_importance_is_the_covariance_with_what_splits_add(n_classes):
    data = sample(n_classes)
    train, test = np.arange(200), np.arange(200, 300)
    forest = LightForest(n_estimators=7)
    grown = forest.grow(forest.prepared(data), train, seed=1)
    residuals = data.target.residuals(test, train, data.weight)
    found = grown.unseen("held_out", data.X[test], residuals)
    expected = np.zeros(6)
    trees = grown.booster.dump_model()["tree_info"]
    for i, row in enumerate(test):
        for t, tree in enumerate(trees):
            contribution = np.zeros(6)
            walk(tree["tree_structure"], data.X[row], contribution)
            expected += contribution * residuals[i, t % residuals.shape[1]]
    # Both texts give the values of inner nodes with six digits.
    np.testing.assert_allclose(found, expected / len(trees), rtol=1e-4, atol=1e-4)


def test_a_forest_of_stumps_without_splits_has_no_importance():
    data = sample(2, n=30)
    forest = LightForest(n_estimators=3, min_samples_leaf=29)
    grown = forest.grow(forest.prepared(data), None, seed=0)
    residuals = data.target.residuals(np.arange(30), np.arange(30), data.weight)
    np.testing.assert_array_equal(grown.unseen("held_out", data.X, residuals), 0.0)


@pytest.mark.parametrize("rows", [None, np.arange(5, 25)])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_a_forest_of_stumps_without_splits_predicts_the_mean(n_classes, rows):
    """LightGBM leaves anything in the leaf of such a tree (lightgbm-org/LightGBM#4708)."""
    data = sample(n_classes, n=30, weight=np.linspace(1.0, 2.0, 30))
    forest = LightForest(n_estimators=9, min_samples_leaf=29)
    grown = forest.grow(forest.prepared(data), rows, seed=0)
    chosen = np.arange(30) if rows is None else rows
    values = data.target.values[chosen]
    told = {0: values[:, None], 2: values[:, None] == [1], 3: values[:, None] == [0, 1, 2]}[n_classes]
    expected = np.average(told, axis=0, weights=data.weight[chosen])
    np.testing.assert_allclose(grown.predict(data.X), np.tile(expected, (30, 1)), rtol=1e-6)


@pytest.mark.parametrize(("n", "leaf"), [(3, 2), (40, 2), (60, 3), (200, 10), (5000, 20)])
def test_leaves_grow_with_the_samples(n, leaf):
    assert leaf_size(n) == leaf


@pytest.mark.parametrize("n", [10, 20, 60])
def test_a_few_samples_are_split(n):
    """A leaf of 20 samples, as LightGBM has it, allows no split of the 21 to 53 samples that a tree of 60 may see."""
    data = sample(2, n=n)
    forest = LightForest(n_estimators=30)
    grown = forest.grow(forest.prepared(data), None, seed=0)
    assert max(tree["num_leaves"] for tree in grown.booster.dump_model()["tree_info"]) > 1


def test_trees_use_no_more_features_than_samples():
    rng = np.random.default_rng(0)
    data = sample(2, n=40, d=400)
    forest = LightForest(n_estimators=30, feature_fraction=0.3)
    grown = forest.grow(forest.prepared(data), None, seed=0)
    # A tenth of the features instead of three tenths, so as many trees as make a feature's turn a third as frequent.
    assert grown.booster.num_trees() == 30
    wider = Sample(rng.standard_normal((40, 4000)), data.target, data.weight, np.zeros(4000, dtype=bool))
    assert forest.grow(forest.prepared(wider), None, seed=0).booster.num_trees() == 300


def test_trees_without_a_split_do_not_bias_a_forest():
    data = sample(0, n=70)
    far = Sample(data.X, Target(data.target.values + 1000.0, 0), data.weight, data.categorical)
    forest = LightForest(n_estimators=50, min_samples_leaf=20)
    grown = forest.grow(forest.prepared(far), None, seed=1)
    leaves = [tree["num_leaves"] for tree in grown.booster.dump_model()["tree_info"]]
    assert 1 in leaves
    assert max(leaves) > 1
    assert abs(grown.predict(far.X).mean() - far.target.values.mean()) < 0.5


@pytest.mark.parametrize("kind", ["held_out", "gain", "split", "permutation", "shap"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_every_importance_finds_what_matters(kind, n_classes):
    data = sample(n_classes, n=600)
    found = importances(LightForest(n_estimators=60), data, kind, 3, np.random.default_rng(0))
    assert found.shape == (6,)
    assert found[:3].min() > found[3:].max()


def test_features_without_a_meaning_have_importances_around_zero():
    rng = np.random.default_rng(0)
    means = []
    for seed in range(20):
        data = sample(2, n=200, seed=seed)
        noise = Sample(rng.standard_normal((200, 5)), data.target, data.weight, np.zeros(5, dtype=bool))
        means.append(importances(LightForest(n_estimators=30), noise, "held_out", 3, rng).mean())
    assert abs(np.mean(means)) < 3 * np.std(means) / np.sqrt(20)


def test_losses_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    rows = np.arange(50)
    for n_classes in (2, 4):
        target = Target(rng.integers(n_classes, size=50).astype(float), n_classes)
        p = rng.dirichlet(np.ones(n_classes), size=50)
        losses = target.losses(rows, p[:, 1:] if n_classes == 2 else p)
        assert losses.mean() == pytest.approx(log_loss(target.values, p, labels=range(n_classes)))
    target = Target(rng.standard_normal(50))
    values = rng.standard_normal((50, 1))
    assert target.losses(rows, values).mean() == pytest.approx(mean_squared_error(target.values, values))


def test_folds_spread_every_class():
    target = Target(np.repeat([0.0, 1.0, 2.0], [50, 7, 3]), 3)
    parts = list(folds(of(target), 3, np.random.default_rng(0)))
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(60))
    for train, test in parts:
        assert not set(train) & set(test)
        assert len(np.unique(target.values[test])) == 3
        assert 19 <= len(test) <= 21


def test_fewer_samples_than_folds():
    assert len(list(folds(of(Target(np.arange(2.0))), 5, np.random.default_rng(0)))) == 2


def test_folds_keep_groups_whole():
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(12), 5))
    target = Target((groups % 3).astype(float), 3)
    parts = list(folds(of(target, exchangeability(60, target.values, groups)), 4, np.random.default_rng(0)))
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(60))
    for train, test in parts:
        assert not set(groups[train]) & set(groups[test])
        np.testing.assert_array_equal(np.bincount(target.values[test].astype(int)), [5, 5, 5])


def test_weights_count():
    weight = np.ones(300)
    weight[100:] = 1e-9
    data = sample(0, weight=weight)
    few = Sample(data.X[:100], Target(data.target.values[:100]), np.ones(100), data.categorical)
    forest = LightForest(n_estimators=50, min_samples_leaf=5)
    X = data.X[:100]
    with_weights = forest.grow(forest.prepared(data), None, 0).predict(X)[:, 0]
    alone = forest.grow(forest.prepared(few), None, 0).predict(X)[:, 0]
    ignoring = forest.grow(forest.prepared(sample(0)), None, 0).predict(X)[:, 0]
    y = data.target.values[:100]
    assert np.mean((with_weights - y) ** 2) < np.mean((ignoring - y) ** 2)
    assert np.corrcoef(with_weights, alone)[0, 1] > 0.9


def test_any_estimator_with_importances():
    data = sample(3)
    forest = ScikitForest(RandomForestClassifier(n_estimators=30, max_depth=5))
    for kind in ("gain", "permutation"):
        found = importances(forest, data, kind, 3, np.random.default_rng(0))
        assert found[0] > found[3:].max()


@pytest.mark.parametrize("kind", ["held_out", "split", "shap"])
def test_importances_that_need_the_trees(kind):
    forest = ScikitForest(RandomForestClassifier(n_estimators=5))
    with pytest.raises(ValueError, match=f"importance='{kind}' needs the trees themselves"):
        importances(forest, sample(), kind, 3, np.random.default_rng(0))

"""Evidence of a feature alone: permutation tests of its dependence on the target."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import f_oneway, pearsonr, rankdata

from allrelevant.inference import alone_pvalues, companions, exchangeability

COLUMNS = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "skewed": lambda rng, n, d: np.exp(2 * rng.normal(size=(n, d))),
    "binary": lambda rng, n, d: rng.integers(2, size=(n, d)).astype(float),
    "rare": lambda rng, n, d: (rng.random((n, d)) < 0.1).astype(float),
    "counts": lambda rng, n, d: rng.poisson(2.0, size=(n, d)).astype(float),
}
SCORES = {
    "two classes": lambda rng, n: rng.permutation(np.where(np.arange(n) % 2, 1.0, -1.0))[:, None],
    "three classes": lambda rng, n: np.eye(3)[rng.permutation(np.arange(n) % 3)],
    "numbers": lambda rng, n: rng.standard_t(2, size=(n, 1)),
}


def drawn(n, count=500, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.permutation(n) for _ in range(count)]


def mixed(n=40, seed=0):
    """Columns of all kinds, some of which tell of the scores."""
    rng = np.random.default_rng(seed)
    X = np.hstack([make(rng, n, 3) for make in COLUMNS.values()])
    y = X[:, :1] + X[:, 6:7] + rng.normal(size=(n, 1))
    return X, y


@pytest.mark.parametrize("n", [10, 20, 40])
@pytest.mark.parametrize("kind", COLUMNS)
def test_pvalues_of_noise_hold_whatever_the_columns(kind, n):
    """Of continuous columns they are uniform; where values repeat they are no smaller."""
    rng = np.random.default_rng([n, len(kind)])
    found = []
    for k in range(60):
        X = COLUMNS[kind](rng, n, 12)
        y = list(SCORES.values())[k % 3](rng, n)
        found.append(alone_pvalues(X, y, drawn(n, 300, k)))
    pvalues = np.concatenate(found)
    # Columns of one set share the target: twice the error of independent ones.
    for level in (0.002, 0.01, 0.05, 0.2, 0.5):
        error = 2 * np.sqrt(level * (1 - level) / len(pvalues))
        assert np.mean(pvalues <= level) <= 1.1 * level + 3 * error
        if kind in ("normal", "skewed") and level >= 0.05:
            assert np.mean(pvalues <= level) >= 0.9 * level - 3 * error


def test_they_are_the_shares_of_all_permutations():
    """With every permutation of six rows, by its definition: the greater R² of values and of ranks."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 4)), rng.normal(size=6)
    every = [np.array(pi) for pi in permutations(range(6))]
    found = alone_pvalues(X, y[:, None], every)
    for k in range(4):

        def statistic(order, x=X[:, k]):
            kinds = ((x, y[order]), (rankdata(x), rankdata(y[order])))
            return max(np.corrcoef(*kind)[0, 1] ** 2 for kind in kinds)

        own = statistic(np.arange(6))
        share = np.mean([statistic(order) >= own - 1e-9 for order in every])
        if share > 0.16:  # below it is not counted, but read off a tail
            assert found[k] == pytest.approx((1 + share * len(every)) / (1 + len(every)))
        else:
            assert found[k] < 0.17


def test_they_agree_with_tests_of_correlation_and_of_variance():
    rng = np.random.default_rng(1)
    n, labels = 200, np.arange(200) % 3
    X = rng.normal(size=(n, 10)) + 0.25 * np.outer(labels == 0, np.arange(10) % 2)
    several = alone_pvalues(X, np.eye(3)[labels], drawn(n, 1000))
    expected = [f_oneway(*(X[labels == c, k] for c in range(3))).pvalue for k in range(10)]
    assert np.corrcoef(np.log(several), np.log(expected))[0, 1] > 0.97
    y = 0.15 * X[:, 0] + rng.normal(size=n)
    one = alone_pvalues(X, y[:, None], drawn(n, 1000))
    expected = [pearsonr(X[:, k], y).pvalue for k in range(10)]
    assert np.corrcoef(np.log(one), np.log(expected))[0, 1] > 0.95


def test_very_small_pvalues_are_about_those_of_the_normal_law():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 1))
    for strength in (0.3, 0.5):
        y = strength * x[:, 0] + rng.normal(size=200)
        found = alone_pvalues(x, y[:, None], drawn(200, 1000))[0]
        assert abs(np.log10(found) - np.log10(pearsonr(x[:, 0], y).pvalue)) < 0.35 * abs(np.log10(found))


@pytest.mark.parametrize("change", ["shift", "scale", "sign", "scores", "scores negated"])
def test_units_change_nothing(change):
    X, y = mixed()
    found = alone_pvalues(X, y, drawn(40))
    A = {"shift": X + 77.7, "scale": X * 1e-3, "sign": -X}.get(change, X)
    b = {"scores": 3.3 * y + 1e3, "scores negated": -y}.get(change, y)
    np.testing.assert_allclose(alone_pvalues(A, b, drawn(40)), found, rtol=1e-6)


@pytest.mark.parametrize("scores", SCORES)
def test_order_of_rows_and_of_columns_changes_nothing(scores):
    """Also where many arrangements of a binary column are equal."""
    X, _ = mixed()
    y = SCORES[scores](np.random.default_rng(5), 40)
    orders = drawn(40)
    found = alone_pvalues(X, y, orders)
    rows = np.random.default_rng(1).permutation(40)
    back = np.argsort(rows)
    again = alone_pvalues(X[rows], y[rows], [back[order[rows]] for order in orders])
    np.testing.assert_allclose(again, found, rtol=1e-6)
    columns = np.random.default_rng(2).permutation(X.shape[1])
    np.testing.assert_allclose(alone_pvalues(X[:, columns], y, orders), found[columns], rtol=1e-6)
    np.testing.assert_allclose(alone_pvalues(X[:, :1], y, orders), found[:1], rtol=1e-6)


def test_names_of_classes_change_nothing():
    X, _ = mixed()
    labels = np.random.default_rng(3).integers(3, size=40)
    one, two = (alone_pvalues(X, np.eye(3)[kinds], drawn(40)) for kinds in (labels, np.array([2, 0, 1])[labels]))
    np.testing.assert_allclose(one, two, rtol=1e-6)
    all_but_one = alone_pvalues(X, np.eye(3)[labels][:, :2], drawn(40))  # the third is known from the others
    np.testing.assert_allclose(one, all_but_one, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, 7.0, 1e9, 0.1])
def test_constant_columns_tell_nothing(value):
    X = np.hstack([np.full((30, 1), value), np.random.default_rng(0).normal(size=(30, 1))])
    y = X[:, 1:].copy()
    found = alone_pvalues(X, y, drawn(30))
    assert found[0] == 1.0
    assert found[1] < 1e-3
    np.testing.assert_array_equal(alone_pvalues(X, np.full((30, 1), value), drawn(30)), 1.0)


def test_columns_that_differ_by_rounding_are_constant():
    X = 0.1 + 1e-17 * np.arange(30.0)[:, None]
    assert alone_pvalues(X, np.arange(30.0)[:, None], drawn(30)) == 1.0


def test_weights_count_in_the_gradient():
    """Samples of no weight tell nothing, and weights that are all alike are none."""
    X, y = mixed()
    found = alone_pvalues(X, y, drawn(40))
    np.testing.assert_allclose(alone_pvalues(X, y, drawn(40), sample_weight=np.full(40, 2.5)), found, rtol=1e-6)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(60, 1))
    target = np.append(noise[:20, 0], rng.normal(size=40))[:, None]
    some = np.repeat([1.0, 0.0], [20, 40])
    with_weights, without = (
        alone_pvalues(noise, target, drawn(60, 1000), sample_weight=weight)[0] for weight in (some, None)
    )
    assert with_weights < without


def test_what_is_given_explains_nothing_more():
    """The p-values are those of partial correlations: a column that is a function of what is given tells nothing."""
    rng = np.random.default_rng(0)
    known = rng.normal(size=(100, 1))
    X = np.column_stack([known, known + rng.normal(size=(100, 1)), rng.normal(size=(100, 2))])
    y = 2 * known[:, 0] + 0.6 * X[:, 2] + 0.5 * rng.normal(size=100)
    alone = alone_pvalues(X, y[:, None], drawn(100))
    beside = alone_pvalues(X, y[:, None], drawn(100), given=known)
    assert (alone[:2] < 1e-3).all()
    assert beside[0] == 1.0
    assert beside[1] > 0.01
    assert beside[2] < alone[2] / 10


def test_features_of_several_columns_have_the_greatest_of_their_shares():
    X, y = mixed()
    single = alone_pvalues(X, y, drawn(40))
    members = [np.array([k]) for k in range(X.shape[1])]
    np.testing.assert_array_equal(alone_pvalues(X, y, drawn(40), members=members), single)
    joined = alone_pvalues(X, y, drawn(40), members=[np.array([0, 1, 2]), np.array([3])])
    assert joined.shape == (2,)
    assert joined[1] == single[3]
    assert joined[0] >= 0.9 * single[:3].min()  # the price of having looked at three
    rng = np.random.default_rng(1)
    pvalues = np.concatenate(
        [
            alone_pvalues(
                rng.normal(size=(20, 12)),
                rng.normal(size=(20, 1)),
                drawn(20, 300, k),
                members=np.split(np.arange(12), 3),
            )
            for k in range(100)
        ]
    )
    assert np.mean(pvalues <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 / 300)


def test_restricted_permutations_are_taken_account_of():
    """Sites that differ in the target and in a column: within a site that column tells nothing."""
    found, anywhere, n, sites = [], [], 90, np.repeat(np.arange(3), 30)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = np.column_stack([sites + 0.5 * rng.normal(size=n), rng.normal(size=n)])
        y = sites + X[:, 1] + rng.normal(size=n)
        rows = exchangeability(n, y, strata=sites)
        found.append(alone_pvalues(X, y[:, None], [rows.permutation(rng) for _ in range(200)]))
        anywhere.append(alone_pvalues(X, y[:, None], drawn(n, 200))[0])
    within = np.array(found)
    assert np.mean(within[:, 0] <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 / 60)
    assert np.median(within[:, 1]) < 0.01
    assert np.median(anywhere) < 0.001


def test_permutations_may_be_drawn_one_at_a_time(monkeypatch):
    X, y = mixed()
    found = alone_pvalues(X, y, drawn(40))
    monkeypatch.setattr("allrelevant.inference.alone.AT_ONCE", 1)
    np.testing.assert_allclose(alone_pvalues(X, y, iter(drawn(40))), found, rtol=1e-6)


def test_companions_of_a_suppressor():
    """The target is the difference of two columns that are almost the same: neither says much alone."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=300)
    X = np.column_stack([common, common + 0.2 * rng.normal(size=300), rng.normal(size=(300, 4))])
    y = (X[:, 1] - X[:, 0])[:, None] + 0.3 * X[:, 3:4]
    others = np.arange(1, 6)
    assert companions(X, y, 0, others)[0] == 1
    assert companions(X, y, 1, np.array([0, 2, 3, 4, 5]))[0] == 0
    # One that says all it has to say by itself has none.
    assert len(companions(X, X[:, 3:4] + 0.1 * rng.normal(size=(300, 1)), 3, np.array([0, 2, 4, 5]))) == 0
    assert len(companions(X, y, 0, others, count=1)) == 1
    assert len(companions(X, y, 0, np.array([], dtype=int))) == 0

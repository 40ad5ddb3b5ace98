"""What forests see of the data: ranks, in an order that the data alone decide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from allrelevant.estimators._forest_order import forest_order
from allrelevant.estimators._input import Rows
from allrelevant.forest.learner import Target

NUMBERS = np.zeros(6, dtype=bool)


def table():
    x = np.random.default_rng(0).standard_normal((40, 2))
    return np.column_stack([x[:, 0], x[:, 0] ** 3, -x[:, 0], x[:, 1], x[:, 0] ** 2, x[:, 1] + 1.0])


def order_of(X, y=None, categorical=None, n_classes=0, weight=None, rows=None):
    n, d = X.shape
    y = np.random.default_rng(9).standard_normal(n) if y is None else np.asarray(y, dtype=float)
    categorical = np.zeros(d, dtype=bool) if categorical is None else np.array(categorical)
    weight = np.ones(n) if weight is None else weight
    return forest_order(X, categorical, Target(y, n_classes), weight, Rows() if rows is None else rows)


def test_columns_that_order_alike_are_one():
    order, sample = order_of(table())
    assert sample.X.shape == (40, 3)
    member = order.member
    assert member[0] == member[1] == member[2]
    assert member[3] == member[5]
    assert len(set(member)) == 3


def test_missing_values_tell_columns_apart():
    X = np.column_stack([np.arange(5.0), np.arange(5.0), np.arange(5.0)])
    X[2, 1] = X[2, 2] = np.nan
    order, sample = order_of(X)
    assert sample.X.shape[1] == 2
    assert order.member[1] == order.member[2] != order.member[0]
    assert np.isnan(sample.X).sum() == 1


def test_categories_are_only_alike_by_their_codes():
    X = np.column_stack([[0.0, 1.0, 2.0], [0.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    assert order_of(X, categorical=[True, True, True])[1].X.shape[1] == 2
    order, sample = order_of(X, categorical=[True, False, False])
    assert sample.X.shape[1] == 3
    np.testing.assert_array_equal(np.sort(sample.X[:, order.member[0]]), [0, 1, 2])


def test_constant_columns_have_no_place():
    X = np.column_stack([np.full(4, np.nan), np.ones(4), np.arange(4.0), np.array([1.0, np.nan, 1.0, 1.0])])
    order, sample = order_of(X)
    assert order.member[0] == order.member[1] == -1
    assert sample.X.shape[1] == 2  # that a value is missing can tell something
    assert order_of(X[:, :2])[1].X.shape == (4, 0)


def test_scores_are_normal_scores_of_mean_ranks():
    X = np.random.default_rng(0).integers(6, size=(50, 1)).astype(float)
    order, sample = order_of(X)
    expected = norm.ppf((rankdata(X[:, 0]) - 0.5) / 50)
    np.testing.assert_allclose(np.sort(np.abs(sample.X[:, 0])), np.sort(np.abs(expected)), atol=1e-12)
    read = order.read(X, np.array([0]))[:, 0]
    np.testing.assert_allclose(np.abs(read), np.abs(expected), atol=1e-12)
    assert np.all(np.diff(order.read(np.linspace(-1, 6, 50)[:, None], np.array([0]))[:, 0]) * read[X.argmax()] >= 0)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_arrangement_units_and_names_do_not_matter(n_classes):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((60, 3)), rng.integers(2, size=(60, 3)), rng.integers(3, size=60)])
    X[rng.random(X.shape) < 0.05] = np.nan
    categorical = np.arange(7) == 6
    y = rng.permutation(60) % n_classes if n_classes else rng.standard_normal(60)
    weight = rng.integers(4, size=60).astype(float)
    groups, strata = np.repeat(np.arange(20), 3), np.repeat(np.arange(2), 30)
    order, sample = order_of(X, y, categorical, n_classes, weight, Rows(groups, strata))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(60), rng.permutation(7)
        names = rng.permutation(n_classes)
        Z = np.where(categorical, X, X * 10.0 ** rng.integers(-3, 4, 7) * rng.choice([-1, 1], 7) + 100.0)
        other_order, other = order_of(
            Z[np.ix_(rows, columns)],
            (names[y.astype(int)] if n_classes else y * 8.0)[rows],
            categorical[columns],
            n_classes,
            weight[rows] * 5.0,
            Rows(rng.permutation(20)[groups][rows], 1 - strata[rows]),
        )
        np.testing.assert_array_equal(sample.X, other.X)
        np.testing.assert_allclose(sample.target.values, other.target.values, atol=1e-12)
        np.testing.assert_allclose(sample.weight, other.weight)
        np.testing.assert_array_equal(order.member[columns], other_order.member)
        draws = (one.rows.permutation(np.random.default_rng(3)) for one in (sample, other))
        np.testing.assert_array_equal(*draws)
        if n_classes:
            np.testing.assert_array_equal(names[order.classes], other_order.classes)


def test_predictions_come_back_as_they_were_given():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.integers(3, size=30)
    order, sample = order_of(X, y, n_classes=3)
    told = order.restore(np.eye(3)[sample.target.values.astype(int)])
    np.testing.assert_array_equal(np.bincount(told.argmax(axis=1)), np.bincount(y))
    numbers, sample = order_of(X, 1e6 + 1e-3 * y)
    np.testing.assert_allclose(np.sort(numbers.restore(sample.target.values[:, None])[:, 0]), np.sort(1e6 + 1e-3 * y))
    assert np.abs(sample.target.values).max() == pytest.approx(1.0)
    huge, sample = order_of(X, 1e200 * y)
    assert np.isfinite(sample.target.values).all()
    assert huge.spread > 1e199

from __future__ import annotations

import numpy as np
import pytest

from allrelevant.forest.columns import distinct

NUMBERS = np.zeros(6, dtype=bool)


def table():
    x = np.random.default_rng(0).standard_normal((40, 2))
    return np.column_stack([x[:, 0], x[:, 0] ** 3, -x[:, 0], x[:, 1], x[:, 0] ** 2, x[:, 1] + 1.0])


def test_columns_that_order_alike_are_one():
    first, member = distinct(table(), NUMBERS)
    assert len(first) == 3
    assert member[0] == member[1] == member[2]
    assert member[3] == member[5]
    assert len(set(member)) == 3


@pytest.mark.parametrize("seed", range(5))
def test_the_order_given_does_not_matter(seed):
    X = table()
    order = np.random.default_rng(seed).permutation(6)
    first, _ = distinct(X, NUMBERS)
    other, _ = distinct(X[:, order], NUMBERS)
    for a, b in zip(X[:, first].T, X[:, order][:, other].T, strict=True):
        assert abs(np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1]) == pytest.approx(1.0)


def test_missing_values_tell_columns_apart():
    X = np.column_stack([np.arange(5.0), np.arange(5.0), np.arange(5.0)])
    X[2, 1] = X[2, 2] = np.nan
    first, member = distinct(X, np.zeros(3, dtype=bool))
    assert len(first) == 2
    assert member[1] == member[2] != member[0]


def test_categories_are_only_alike_by_their_codes():
    X = np.column_stack([[0.0, 1.0, 2.0], [0.0, 10.0, 20.0], [0.0, 1.0, 2.0]])
    assert len(distinct(X, np.array([True, True, True]))[0]) == 2
    assert len(distinct(X, np.array([True, False, False]))[0]) == 2


def test_all_missing_or_constant():
    X = np.column_stack([np.full(4, np.nan), np.ones(4), np.zeros(4)])
    _, member = distinct(X, np.zeros(3, dtype=bool))
    assert member[1] == member[2] != member[0]

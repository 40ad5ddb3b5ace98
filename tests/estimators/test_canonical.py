from __future__ import annotations

import numpy as np
from scipy import sparse

from allrelevant.estimators import _canonical
from allrelevant.estimators._canonical import canonical_form
from allrelevant.estimators._hashing import table_of

RNG = np.random.RandomState(0)


def test_arrangement_is_undone():
    X, y, weight = RNG.normal(size=(30, 6)), RNG.choice([-1.0, 1.0], 30), RNG.uniform(0.5, 1, 30)
    data = canonical_form(X, y, weight)
    signs = data.restore(data.signs)
    np.testing.assert_array_equal(X * signs, data.X[data.position][:, np.argsort(data.columns)])
    np.testing.assert_array_equal(y, data.target[data.position])
    np.testing.assert_allclose(data.collect(weight), data.sample_weight)


def test_equal_samples_are_merged_and_empty_ones_dropped():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [0.0, -0.0], [-0.0, 0.0]])
    y = np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    data = canonical_form(X, y, np.array([1.0, 2.0, 1.0, 0.0, 1.0, 1.0]))
    assert len(data.X) == 3
    assert sorted(data.sample_weight) == [1.0, 2.0, 3.0]
    assert data.position[0] == data.position[1] != data.position[2]
    assert data.position[3] == -1
    assert data.position[4] == data.position[5]


def test_binary_columns_with_the_same_counts_are_told_apart():
    """Values and classes alone do not order these columns; the rows they share with others do."""
    X = RNG.randint(2, size=(40, 8)).astype(float)
    X[:, 1] = X[RNG.permutation(40), 0]
    y = np.where(RNG.rand(40) > 0.5, 1.0, -1.0)
    one = canonical_form(X, y, np.ones(40))
    for _ in range(20):
        rows, columns = RNG.permutation(40), RNG.permutation(8)
        two = canonical_form(X[np.ix_(rows, columns)], y[rows], np.ones(40))
        np.testing.assert_array_equal(one.X, two.X)
        np.testing.assert_array_equal(one.target, two.target)


def test_a_collision_of_hashes_merges_nothing(monkeypatch):
    honest = _canonical.mix
    monkeypatch.setattr(_canonical, "mix", lambda a, b: honest(a, b) * np.uint64(0))
    X = np.repeat(RNG.randint(3, size=(5, 2)), 2, axis=0).astype(float)
    beside = np.repeat(np.arange(5.0), 2)[:, None]
    for data in (X, sparse.csr_array(X)):
        table = table_of(data)
        monkeypatch.setattr(table, "keys", lambda: np.zeros(10, dtype=np.uint64))
        first, group = _canonical._distinct(table, beside)
        np.testing.assert_array_equal(first, [0, 2, 4, 6, 8])
        np.testing.assert_array_equal(group, np.repeat(np.arange(5), 2))


def test_storage_does_not_change_the_order():
    X = RNG.normal(size=(30, 6)) * (RNG.rand(30, 6) < 0.4)
    X[3] = X[8]
    y, weight = RNG.choice([-1.0, 1.0], 30), RNG.uniform(0.5, 1, 30)
    one, two = (canonical_form(data, y, weight) for data in (X, sparse.csc_array(X)))
    np.testing.assert_array_equal(one.X, two.X.toarray())
    for name in ("target", "sample_weight", "position", "columns", "signs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))

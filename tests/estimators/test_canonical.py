from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from allrelevant.estimators import _canonical
from allrelevant.estimators._canonical import canonical_form
from allrelevant.estimators._hashing import centred_ranks, table_of

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


def test_ranks_are_the_same_in_any_unit():
    values = np.array([[3.0], [0.1 + 0.2], [0.3], [-1.0], [3.0]])
    np.testing.assert_array_equal(centred_ranks(values)[:, 0], [2, 0, 0, -2, 2])
    np.testing.assert_array_equal(centred_ranks(-1e3 * values + 7.0)[:, 0], [-2, 0, 0, 2, -2])
    np.testing.assert_array_equal(centred_ranks(np.full((3, 1), 1e300)), 0)
    np.testing.assert_array_equal(centred_ranks(np.array([[-1.7e308], [1.7e308]]))[:, 0], [-1, 1])


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("nominal", [True, False])
def test_units_shifts_and_constant_columns_leave_the_order(storage, nominal):
    rng = np.random.RandomState(4)
    X = np.round(rng.normal(size=(50, 5)), 1) * (rng.rand(50, 5) < 0.6)
    y = np.tile([0.0, 1.0], 25)  # classes of one size
    one = canonical_form(storage(X), y, np.ones(50), nominal=nominal)
    units = 10.0 ** np.array([3, -3, 1, 2, -1]) * [1, -1, 1, -1, -1]
    other = np.insert(X * units + (0.0 if storage is sparse.csr_array else 100.0), 2, 5.0, axis=1)
    two = canonical_form(storage(other), y, np.ones(50), nominal=nominal)
    for name in ("target", "position", "sample_weight"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert two.columns[-1] == 2  # the constant one
    np.testing.assert_array_equal(np.array([0, 1, 3, 4, 5])[one.columns], two.columns[:-1])
    np.testing.assert_array_equal(one.signs, two.signs[:-1] * np.sign(units)[one.columns])


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_names_of_classes_leave_everything(n_classes):
    rng = np.random.RandomState(n_classes)
    X, y = rng.normal(size=(48, 3)), np.repeat(np.arange(n_classes), 48 // n_classes)
    one = canonical_form(X, y.astype(float), np.ones(48), nominal=True)
    np.testing.assert_array_equal(one.classes[one.target[one.position].astype(int)], y)
    for _ in range(5):
        names = rng.permutation(n_classes)
        two = canonical_form(X, names[y].astype(float), np.ones(48), nominal=True)
        np.testing.assert_array_equal(names[one.classes], two.classes)
        for name in ("X", "target", "position", "columns", "signs"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_increasing_functions_of_a_column_are_told_apart():
    X = np.random.RandomState(1).normal(size=(30, 1))
    X, y = np.hstack([X, np.exp(X), X**3, -X]), np.tile([0.0, 1.0], 15)
    one = canonical_form(X, y, np.ones(30))
    for columns in ([3, 2, 1, 0], [1, 3, 0, 2]):
        two = canonical_form(X[:, columns], y, np.ones(30))
        np.testing.assert_array_equal(one.X, two.X)


def test_values_beside_the_data_may_be_of_any_sign():
    rng = np.random.RandomState(2)
    X, y, beside = rng.normal(size=(20, 2)), np.tile([0.0, 1.0], 10), rng.normal(size=(20, 1))
    one, two = (canonical_form(X, y, np.ones(20), fixed=sign * beside + 1e-12 * (sign < 0)) for sign in (1.0, -1.0))
    np.testing.assert_array_equal(one.position, two.position)
    np.testing.assert_allclose(one.fixed, two.fixed, atol=1e-11)

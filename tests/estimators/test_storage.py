"""How data are stored, in single precision or in a file, changes nothing but the memory they take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from test_sparse import PROBLEMS, assert_equal_results, fit, make

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant.estimators import _hashing
from allrelevant.estimators._canonical import canonical_form
from allrelevant.formulations import Classification
from allrelevant.lp import certificate, kernel, matrix
from allrelevant.lp.matrix import power_sums
from allrelevant.lp.view import RowView
from allrelevant.relevance import solving
from allrelevant.relevance.intervals import representatives


@pytest.mark.parametrize("C", [None, 1.0])
@pytest.mark.parametrize("name", PROBLEMS)
def test_single_precision_is_that_of_the_same_numbers_in_double(name, C):
    kind, X, y, weight = make(name)
    X = X.astype(np.float32)
    exact = X.astype(np.float64)
    assert not (exact == make(name)[1]).all()  # rounded, so there is something to get wrong
    one, two = (fit(kind, data, y, weight, C=C) for data in (exact, X))
    assert_equal_results(one, two)
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.predict(exact), two.predict(X))
    if name != "regression":
        assert_array_equal(one.decision_function(exact), two.decision_function(X))


@pytest.mark.parametrize("name", PROBLEMS)
def test_sparse_single_precision(name):
    kind, X, y, weight = make(name)
    X = sparse.csr_array(X.astype(np.float32))
    one, two = (fit(kind, data, y, weight, C=1.0) for data in (X.astype(np.float64), X))
    assert_equal_results(one, two)
    assert_array_equal(one.predict(X.astype(np.float64)), two.predict(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PROBLEMS)
def test_data_in_a_file(name, dtype, tmp_path):
    kind, X, y, weight = make(name)
    X = X.astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    one, two = (fit(kind, data, y, weight, C=1.0) for data in (X, mapped))
    assert_equal_results(one, two)
    assert_array_equal(one.predict(X), two.predict(mapped))


@pytest.mark.parametrize("dtype", [int, bool, np.float16])
def test_other_numbers_are_converted(dtype):
    kind, X, y, weight = make("classification")
    X = np.round(X).astype(dtype)
    assert_equal_results(*(fit(kind, data, y, weight, C=1.0) for data in (X.astype(float), X)))


def test_the_order_of_bytes_in_memory_does_not_matter():
    kind, X, y, weight = make("classification")
    assert_equal_results(*(fit(kind, data, y, weight, C=1.0) for data in (X, np.asfortranarray(X))))


def peak_of(function, *args):
    """Most bytes that a call held at a time, beyond what was there before."""
    tracemalloc.start()
    try:
        function(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("dtype", "order", "most"), [("f8", "C", 0.4), ("f4", "C", 1.35), ("f8", "F", 1.35)])
def test_the_canonical_form_takes_one_copy_of_the_data_at_most(dtype, order, most):
    X = np.random.RandomState(0).normal(size=(100_000, 40)).astype(dtype, order=order)
    y, weight = np.tile([-1.0, 1.0], 50_000), np.ones(100_000)
    # A copy in double precision, if any, a few vectors and a block.
    assert peak_of(canonical_form, X, y, weight) < most * X.size * 8


@pytest.fixture
def many(monkeypatch):
    """Take some hundred samples for very many."""
    for module in (matrix, _hashing):
        monkeypatch.setattr(module, "MANY_ROWS", 300)
    monkeypatch.setattr(kernel, "TALL", 300)


def very_many(name):
    rng = np.random.RandomState(3)
    X = rng.normal(size=(900, 4)) * [1.0, 5.0, 0.1, 1.0] + [0.0, 3.0, -1.0, 2.0]
    X[:, 3] = 2.0  # of no use
    score = X[:, 0] + 10 * X[:, 2] + 0.3 * rng.normal(size=900)
    y = {"regression": score, "ordinal": np.digitize(score, [-11.0, -9.0])}.get(name, score > -10.0)
    return X, np.digitize(score, [-11.0, -9.0]) if name == "multi-class" else y


KINDS = {
    "classification": LinearRelevanceClassifier,
    "multi-class": LinearRelevanceClassifier,
    "ordinal": LinearRelevanceOrdinal,
    "regression": LinearRelevanceRegressor,
}


@pytest.mark.parametrize("name", KINDS)
def test_very_many_samples_are_looked_at_where_they_lie(name, request):
    X, y = very_many(name)
    given = X.copy()
    model = KINDS[name](C=0.1, n_copies=1, random_state=0)
    copied = clone(model).fit(X, y)
    request.getfixturevalue("many")
    viewed, turned = clone(model).fit(X, y), clone(model).fit(np.ascontiguousarray(X[::-1, ::-1]), y[::-1])
    data = viewed._exploration.spaces[0].data
    assert isinstance(data.X, RowView)
    assert np.shares_memory(data.X.table.data, X)
    assert_array_equal(X, given)
    for other, columns in ((viewed, slice(None)), (turned, slice(None, None, -1))):
        assert_allclose(other.intervals_[columns], copied.intervals_, atol=2e-6)
        assert_allclose(other.pvalues_[columns], copied.pvalues_, rtol=1e-2)
    assert_allclose(viewed.coef_, copied.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(viewed.predict(X), copied.predict(X), rtol=1e-9)


def test_columns_far_from_zero_are_copied(many):
    X, y = very_many("classification")
    model, distance = LinearRelevanceClassifier(C=0.1, n_copies=1, random_state=0), np.array([0.0, 0.0, 2**20, 0.0])
    near, far = (clone(model).fit(data, y) for data in (X, X + distance))
    assert isinstance(far._exploration.spaces[0].data.X, np.ndarray)
    assert_allclose(far.intervals_, near.intervals_, atol=1e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_copies_are_bounded_in_pieces(name, monkeypatch):
    """A batch of one pair bounds one copy at a time: the same copies, and the same answers as far as proofs go."""
    kind, X, y, weight = make(name)
    one = fit(kind, X, y, weight, C=1.0)
    monkeypatch.setattr(solving, "BATCH", 2)
    two = fit(kind, X, y, weight, C=1.0)
    assert_allclose(two.intervals_, one.intervals_, atol=2e-6)
    assert_allclose(two.result_.limits, one.result_.limits, atol=1e-4)
    assert two.result_.n_programs == one.result_.n_programs


def test_groups_are_bounded_in_pieces(monkeypatch):
    kind, X, y, weight = make("classification", d=10)
    groups = {"small": [0, 3], "large": [1, 2, 4, 5, 7, 8, 9]}
    one = fit(kind, X, y, weight, C=1.0, feature_groups=groups)
    monkeypatch.setattr(solving, "BATCH", 2)
    two = fit(kind, X, y, weight, C=1.0, feature_groups=groups)
    assert_allclose(two.intervals_, one.intervals_, atol=2e-6)
    assert_allclose(two.pvalues_, one.pvalues_, atol=1e-4)


def test_proofs_in_pieces(monkeypatch):
    kind, X, y, weight = make("ordinal")
    whole = fit(kind, X, y, weight, C=1.0)
    monkeypatch.setattr(certificate, "AT_ONCE", 1)
    pieces = fit(kind, X, y, weight, C=1.0)
    assert_allclose(pieces.intervals_, whole.intervals_, atol=1e-10)


def test_what_surrounds_the_solver_takes_no_copy_of_the_data():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(100_000, 40)), np.tile([-1.0, 1.0], 50_000)
    program = Classification().program(X, y, np.ones(100_000))
    features = [Classification().feature(k, 40) for k in range(40)]
    size = X.nbytes
    assert peak_of(power_sums, X, np.ones(100_000), X.mean(axis=0), 2) < 0.4 * size
    assert peak_of(representatives, program, features) < 0.4 * size
    assert peak_of(program.loss, np.ones(40), np.zeros(1)) < 0.4 * size

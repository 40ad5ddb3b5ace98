"""How data are stored, in single precision or in a file, changes nothing but the memory they take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from test_sparse import PROBLEMS, assert_equal_results, fit, make

from allrelevant.estimators._canonical import canonical_form


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_canonical_form_takes_one_copy_of_the_data(dtype):
    X = np.random.RandomState(0).normal(size=(100_000, 40)).astype(dtype)
    y, weight = np.tile([-1.0, 1.0], 50_000), np.ones(100_000)
    # One copy in double precision, some vectors and a block.
    assert peak_of(canonical_form, X, y, weight) < 1.6 * X.size * 8

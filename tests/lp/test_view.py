"""A view of rows must be what the array of these rows is."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from allrelevant.lp import matrix
from allrelevant.lp.view import ColumnView, RowView

N, D = 40, 3


def standardised():
    """A table of columns of the data in another order, shifted and scaled, and the array that it stands for."""
    rng = np.random.default_rng(2)
    data, columns, signs = rng.normal(size=(N, D)), np.array([2, 0, 1]), np.array([1.0, -1.0, -1.0])
    mean, scale = np.array([0.5, -0.3, 7.0]), np.array([2.0, 0.1, np.inf])
    view = ColumnView(data, columns, signs)
    view.standardize(np.zeros(D), np.full(D, 4.0))
    view.standardize(mean, scale)
    return view, (data[:, columns] * signs / 4.0 - mean) / scale


@pytest.fixture(params=["array", "columns"])
def pair(request):
    rng = np.random.default_rng(0)
    table, source, factor = rng.normal(size=(N, D)), rng.integers(N, size=60), rng.normal(size=60)
    if request.param == "array":
        return RowView(table, source, factor), factor[:, None] * table[source]
    view, _ = standardised()
    return RowView(view, source, factor), factor[:, None] * view[source]


def test_columns_are_arranged_shifted_and_scaled():
    view, array = standardised()
    assert view.shape == array.shape
    assert len(view) == len(array)
    for key in (slice(5, 9), np.array([3, 1, 3]), (slice(None), 1), (slice(2, 4), [2, 0])):
        assert isinstance(view[key], np.ndarray)
        assert_allclose(view[key], array[key], rtol=1e-13, atol=1e-14)
    assert not view[:, 2].any()  # of infinite scale
    rng = np.random.default_rng(1)
    w, alpha = rng.normal(size=(4, D)), rng.normal(size=(4, N))
    for left, right in (
        (view @ w[0], array @ w[0]),
        (view @ w.T, array @ w.T),
        (w @ view.T, w @ array.T),
        (w[0] @ view.T, array @ w[0]),
        (alpha @ view, alpha @ array),
        (alpha[0] @ view, alpha[0] @ array),
    ):
        assert_allclose(left, right, rtol=1e-11, atol=1e-12)


def test_parts_are_arrays(pair):
    view, array = pair
    chosen = np.array([3, 1, 3])
    for key in (slice(5, 9), chosen, np.arange(60) % 7 == 0, (slice(None), 1), (slice(None), [2, 0])):
        assert isinstance(view[key], np.ndarray)
        assert_array_equal(view[key], array[key])
    assert_array_equal(np.asarray(view), array)
    assert len(view) == len(array)
    assert view.shape == array.shape
    assert view.ndim == array.ndim


@pytest.mark.parametrize("whole", [False, True])
def test_products_are_those_of_the_array(pair, whole):
    view, array = pair
    if whole:  # every row of the table once, in its order
        view, array = RowView.of(array).scaled(view.factor), view.factor[:, None] * array
    rng = np.random.default_rng(1)
    w, alpha = rng.normal(size=(4, D)), rng.normal(size=(4, 60))
    assert_allclose(view @ w[0], array @ w[0], rtol=1e-12)
    assert_allclose(w[0] @ view.T, array @ w[0], rtol=1e-12)
    assert_allclose(w @ view.T, w @ array.T, rtol=1e-12)
    assert_allclose(view @ w.T, array @ w.T, rtol=1e-12)
    assert_allclose(alpha[0] @ view, alpha[0] @ array, rtol=1e-12, atol=1e-14)
    assert_allclose(alpha @ view, alpha @ array, rtol=1e-12, atol=1e-14)


def test_views_of_views_share_the_table(pair):
    view, array = pair
    chosen, factor = np.array([7, 7, 0]), np.array([2.0, -1.0, 0.5])
    further = view.take(chosen).scaled(factor)
    assert further.table is view.table
    assert_array_equal(np.asarray(further), factor[:, None] * array[chosen])
    assert_array_equal(np.asarray(pickle.loads(pickle.dumps(further))), np.asarray(further))


def test_tables_of_many_rows_are_looked_at_and_others_copied(monkeypatch, pair):
    _, array = pair
    factor, chosen = np.linspace(-1, 1, 60), np.arange(0, 60, 2)
    made = []
    for limit in (1000, 10):
        monkeypatch.setattr(matrix, "MANY_ROWS", limit)
        made.append(
            [
                matrix.scale_rows(array, factor),
                matrix.with_negative(array),
                matrix.some_rows(array, chosen),
                matrix.with_negative(matrix.scale_rows(matrix.some_rows(array, chosen), factor[chosen])),
            ]
        )
    for copied, viewed in zip(*made, strict=True):
        assert isinstance(copied, np.ndarray)
        assert isinstance(viewed, RowView)
        assert_array_equal(np.asarray(viewed), copied)
        assert_allclose(np.array(matrix.ranges(viewed)), np.array(matrix.ranges(copied)))
        for (rows, values), (other_rows, other_values) in zip(
            matrix.entries(viewed), matrix.entries(copied), strict=True
        ):
            assert_array_equal(rows, other_rows)
            assert_array_equal(values, other_values)
        assert matrix.as_matrix(viewed) is viewed

"""Dense, sparse or a view: the operations on tables of numbers that these spell differently, or that need blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from allrelevant.lp.view import Array, Indices, RowView, blocks

__all__ = [
    "MANY_ROWS",
    "Array",
    "Indices",
    "Matrix",
    "as_matrix",
    "blocks",
    "dense_column",
    "entries",
    "power_sums",
    "ranges",
    "reach",
    "scale_rows",
    "some_rows",
    "spread_columns",
    "substitute",
    "with_negative",
]

#: An array, a ``scipy.sparse.csr_array`` in canonical format, or a view of the rows of an array.
Matrix: TypeAlias = Any

#: With more rows than this a table is not copied, where a view of its rows will do.
MANY_ROWS = 50_000


def as_matrix(value: ArrayLike | Matrix) -> Matrix:
    """Floating-point numbers by rows, without a copy where they are that already."""
    if isinstance(value, RowView):
        return value
    return sparse.csr_array(value, dtype=float) if sparse.issparse(value) else np.ascontiguousarray(value, dtype=float)


def _viewed(matrix: Matrix) -> bool:
    """Whether the rows are better looked at than copied."""
    return not sparse.issparse(matrix) and matrix.shape[0] > MANY_ROWS


def some_rows(matrix: Matrix, rows: Any) -> Matrix:
    """Take some of the rows, or a view of them."""
    return RowView.of(matrix).take(rows) if _viewed(matrix) else matrix[rows]


def scale_rows(matrix: Matrix, factor: Array) -> Matrix:
    """Multiply every row by a number."""
    if isinstance(matrix, RowView) or _viewed(matrix):
        return RowView.of(matrix).scaled(factor)
    if not sparse.issparse(matrix):
        return factor[:, None] * matrix
    out = matrix.copy()
    out.data *= np.repeat(factor, np.diff(out.indptr))
    return out


def spread_columns(matrix: Matrix, factors: Array) -> Matrix:
    """Put every column times each of `factors`, of shape (n, c), in the place of the column."""
    (n, d), c = matrix.shape, factors.shape[1]
    if not sparse.issparse(matrix):
        return (matrix[:, :, None] * factors[:, None, :]).reshape(n, d * c)
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    place = (matrix.indices[:, None].astype(np.intp) * c + np.arange(c)).ravel()
    values = (matrix.data[:, None] * factors[row]).ravel()
    out = sparse.csr_array((values, place, c * matrix.indptr), shape=(n, d * c))
    out.eliminate_zeros()
    return out


def with_negative(matrix: Matrix) -> Matrix:
    """Put the negative of all rows below them."""
    if sparse.issparse(matrix):
        return sparse.vstack([matrix, -matrix], format="csr")
    if isinstance(matrix, RowView) or _viewed(matrix):
        view = RowView.of(matrix)
        return RowView(view.table, np.tile(view.source, 2), np.concatenate([view.factor, -view.factor]))
    n, d = matrix.shape
    out = np.empty((2 * n, d))
    out[:n] = matrix
    np.negative(matrix, out=out[n:])
    return out


def substitute(matrix: Matrix, first: int, columns: Array) -> Matrix:
    """Return the matrix with other columns, of shape (n, k), in the place of `first` and those after it."""
    if sparse.issparse(matrix):
        rest = matrix[:, first + columns.shape[1] :]
        return sparse.hstack([matrix[:, :first], sparse.csr_array(columns), rest], format="csr")
    out = matrix[:] if isinstance(matrix, RowView) else matrix.copy()
    out[:, first : first + columns.shape[1]] = columns
    return out


def dense_column(matrix: Matrix, k: int) -> Array:
    """One column as an array."""
    return np.asarray(matrix[:, [k]].toarray()[:, 0] if sparse.issparse(matrix) else matrix[:, k])


def entries(matrix: Matrix, columns: Iterable[int] | None = None) -> Iterator[tuple[Indices, Array]]:
    """Rows and values of what is not 0, column by column, of all columns or of those given."""
    columns = range(matrix.shape[1]) if columns is None else columns
    if not sparse.issparse(matrix):
        for k in columns:
            column = matrix[:, k]
            rows = np.flatnonzero(column)
            yield rows, column[rows]
        return
    by_column = matrix.tocsc()
    for k in columns:
        own = slice(by_column.indptr[k], by_column.indptr[k + 1])
        yield by_column.indices[own].astype(np.intp), by_column.data[own]


def ranges(matrix: Matrix) -> tuple[Array, Array]:
    """Least and greatest entry of every column; 0 where there are no rows."""
    if not matrix.shape[0]:
        return np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    if isinstance(matrix, RowView):
        parts = [ranges(matrix[rows]) for rows in blocks(matrix.shape)]
        return np.min([low for low, _ in parts], axis=0), np.max([high for _, high in parts], axis=0)
    low, high = matrix.min(axis=0), matrix.max(axis=0)
    return (low.toarray().ravel(), high.toarray().ravel()) if sparse.issparse(matrix) else (low, high)


def reach(matrix: Matrix) -> Array:
    """Greatest magnitude in every column."""
    low, high = ranges(matrix)
    return np.maximum(-low, high)


def power_sums(matrix: Matrix, weight: Array, centre: Array, power: int) -> Array:
    """Weighted sum over the rows of ``(entry - centre) ** power``, for every column.

    Rows are added one after the other, not by products of matrices: equal columns must have equal sums to the last
    digit.
    """
    n, d = matrix.shape
    if sparse.issparse(matrix):
        by_column = matrix.tocsc()
        stored = np.diff(by_column.indptr)
        owner, own = np.repeat(np.arange(d), stored), weight[by_column.indices]
        terms = np.bincount(owner, own * (by_column.data - centre[owner]) ** power, minlength=d)
        # A column that is stored in full has no zeros, and must not be left with what rounding makes of them.
        zeros = np.where(stored < n, np.maximum(weight.sum() - np.bincount(owner, own, minlength=d), 0.0), 0.0)
        return np.asarray(terms + zeros * (-centre) ** power)
    total = np.zeros(d)
    for rows in blocks(matrix.shape):
        # Squares of squares: other powers than the second take many times as long.
        deviation = matrix[rows] - centre
        terms = weight[rows, None] * ((deviation**2) ** (power // 2) if power % 2 == 0 else deviation**power)
        if rows.start:
            terms[0] += total
        total = terms.sum(axis=0)
    return total

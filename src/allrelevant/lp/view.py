"""Very many rows without a copy of them: each is a row of a table that lies elsewhere, times a number.

The rows of a program are those of the data with a sign, some of them, or all of them twice. The table itself may be the
data as they were given, with their columns in another order, shifted and scaled. With millions of rows every copy
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Array", "ColumnView", "Indices", "RowView", "blocks"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Numbers worked on at a time, where a whole table would be copied otherwise.
BLOCK = 2**18


def blocks(shape: tuple[int, int], size: int = BLOCK) -> Iterator[slice]:
    """Slices of rows that hold about so many numbers each."""
    height = max(1, size // max(shape[1], 1))
    return (slice(k, min(k + height, shape[0])) for k in range(0, shape[0], height))


class ColumnView:
    """A table ``factor · data[:, columns] − shift``, computed when it is asked for.

    What is indexed is an array. Products are spelled as those of arrays.

    Parameters
    ----------
    data : ndarray of shape (n, d)
        Where the numbers lie.
    columns : ndarray of shape (d,)
        Column of the data for each column: each once.
    factor : ndarray of shape (d,)
        What it is multiplied by.
    """

    __array_ufunc__ = None  # so that products with arrays on the left come here
    ndim = 2

    def __init__(self, data: Array, columns: Indices, factor: Array) -> None:
        self.data, self.columns, self.shape = data, columns, (len(data), len(columns))
        self.factor, self.shift = factor, np.zeros(len(factor))

    def standardize(self, mean: Array, scale: Array) -> None:
        """Shift and scale the columns; those of infinite scale become 0."""
        self.factor, self.shift = self.factor / scale, (self.shift + mean) / scale

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        out = np.asarray(self.data[rows][..., self.columns[columns]] * self.factor[columns])
        out -= self.shift[columns]
        return out

    @property
    def T(self) -> _Transposed:
        """The columns as rows, for products."""
        return _Transposed(self)

    def _spread(self, w: Array) -> Array:
        """Weights of the columns as weights of those of the data."""
        out = np.empty_like(w)
        out[..., self.columns] = self.factor * w
        return out

    def __matmul__(self, w: Array) -> Array:
        if w.ndim > 1:
            return self.of_batch(w.T).T
        out = np.asarray(self.data @ self._spread(w))
        out -= self.shift @ w
        return out

    def __rmatmul__(self, alpha: Array) -> Array:
        total = alpha.sum(axis=-1)[..., None]
        return np.asarray((alpha @ self.data)[..., self.columns] * self.factor - total * self.shift)

    def of_batch(self, w: Array) -> Array:
        """Products with a batch of weights, one row each."""
        out = np.asarray(self._spread(w) @ self.data.T)
        out -= (w @ self.shift)[:, None]
        return out


class RowView:
    """Rows ``factor[i] · table[source[i]]``, computed when they are asked for.

    What is sliced or indexed is an array; only :meth:`take` and :meth:`scaled` give views again. Products with vectors
    on either side, and with batches of them from the left, are spelled as those of arrays.

    Parameters
    ----------
    table : ndarray or ColumnView of shape (n_table, d)
        Where the numbers lie.
    source : ndarray of shape (n,) or None
        Row of the table for each row; None for all of them, as they are.
    factor : ndarray of shape (n,)
        What it is multiplied by.
    """

    __array_ufunc__ = None  # so that products with arrays on the left come here
    ndim = 2

    def __init__(self, table: Any, source: Indices | None, factor: Array) -> None:
        self.table, self.factor = table, factor
        self.shape = len(factor), table.shape[1]
        self._whole = source is None or (
            len(source) == len(table) and bool(np.array_equal(source, np.arange(len(table))))
        )
        self._source = None if self._whole else source

    @property
    def source(self) -> Indices:
        """Row of the table for each row."""
        return np.arange(len(self.table)) if self._source is None else self._source

    @classmethod
    def of(cls, table: Array | RowView) -> RowView:
        """All rows of a table, as they are."""
        return table if isinstance(table, RowView) else cls(table, None, np.ones(len(table)))

    def take(self, rows: Any) -> RowView:
        """Return a view of some of the rows."""
        return RowView(self.table, self.source[rows], self.factor[rows])

    def scaled(self, factor: Array) -> RowView:
        """Return a view of the rows multiplied by a number each."""
        return RowView(self.table, self._source, self.factor * factor)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(columns, int | np.integer):
            return np.asarray(self.factor[rows] * self.table[:, columns][self.source[rows]])
        out = np.empty((len(self.source[rows]), len(np.arange(self.shape[1])[columns])))
        source, factor = self.source[rows], self.factor[rows]
        for part in blocks(out.shape):
            np.multiply(factor[part, None], self.table[source[part]][:, columns], out=out[part])
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self[:].astype(dtype or float, copy=False)

    @property
    def T(self) -> _Transposed:
        """The columns as rows, for products."""
        return _Transposed(self)

    def __matmul__(self, w: Array) -> Array:
        if w.ndim > 1:
            return self.of_batch(w.T).T
        left = self.table @ w
        return np.asarray((left if self._whole else left[self.source]) * self.factor)

    def __rmatmul__(self, alpha: Array) -> Array:
        if self._whole:
            return np.asarray((alpha * self.factor) @ self.table)
        if alpha.ndim > 1:
            return np.asarray((alpha @ self._selection) @ self.table)
        return np.asarray(np.bincount(self.source, alpha * self.factor, minlength=len(self.table)) @ self.table)

    def of_batch(self, w: Array) -> Array:
        """Products with a batch of weights, one row each."""
        left = w @ self.table.T
        return np.asarray((left if self._whole else left[:, self.source]) * self.factor)

    @cached_property
    def _selection(self) -> Any:
        """Sparse matrix that turns the table into the rows, for batches."""
        n = len(self.source)
        return sparse.csr_array((self.factor, self.source, np.arange(n + 1)), shape=(n, len(self.table)))


class _Transposed:
    """What stands on the right of ``w @ view.T``."""

    __array_ufunc__ = None

    def __init__(self, view: RowView | ColumnView) -> None:
        self._view = view

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self._view[:], dtype=dtype).T

    def __rmatmul__(self, w: Array) -> Array:
        view = self._view
        return view @ w if w.ndim == 1 else view.of_batch(w)

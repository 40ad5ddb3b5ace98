"""Hashes of the rows and columns of a table, dense or sparse: what the canonical order is made from.

All sums are of integers, so the order in which they are added cannot change them. What a sparse table does not store is
0, and hashed as such: a table has the same hashes however it is stored.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from allrelevant.lp import Array
from allrelevant.lp.matrix import MANY_ROWS, Indices, Matrix, blocks
from allrelevant.lp.view import ColumnView, RowView

__all__ = ["Hash", "Table", "bits", "mix", "table_of"]

Hash = NDArray[np.uint64]


def bits(values: Array) -> Hash:
    """Floating-point numbers as the words they are."""
    return np.ascontiguousarray(values, dtype=float).view(np.uint64)


def mix(a: Hash, b: Hash) -> Hash:
    """Hash of two words (the finaliser of SplitMix64)."""
    h = np.asarray(a * np.uint64(0x9E3779B97F4A7C15) ^ b)
    h ^= h >> np.uint64(30)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    h ^= h >> np.uint64(27)
    h *= np.uint64(0x94D049BB133111EB)
    h ^= h >> np.uint64(31)
    return h


class Table(Protocol):
    """Rows of the data given, where they lie."""

    shape: tuple[int, int]

    def take(self, rows: Indices) -> Self:
        """Return some of the rows, in that order."""

    def describe_columns(self, row_hash: Hash, sign: float) -> Hash:
        """Hash of every column times `sign`: the sum over its entries of the hash of row and value."""

    def describe_rows(self, column_hash: Hash, signs: Array) -> Hash:
        """Hash of every row, its columns times `signs`: the sum over its entries of the hash of column and value."""

    def row_bytes(self, row: int) -> bytes:
        """Return what tells a row from all others."""

    def repeats(self, first: Indices, group: Indices) -> bool:
        """Whether every row is the one that stands first in its group."""

    def arranged(self, columns: Indices, signs: Array) -> Matrix:
        """Return the table with its columns in another order and times `signs`."""


def table_of(X: Any) -> Table:
    """Return the table that holds the data given, of any type of storage."""
    every = np.arange(X.shape[0])
    return _Sparse.of(X) if sparse.issparse(X) else _Dense(X, every)


class _Dense:
    """Rows of an array, which may be of single precision or mapped from a file: a block at a time is read."""

    def __init__(self, X: NDArray[Any], rows: Indices) -> None:
        self.X, self.rows, self.shape = X, rows, (len(rows), X.shape[1])

    def take(self, rows: Indices) -> _Dense:
        return _Dense(self.X, self.rows[rows])

    def _block(self, rows: Any, signs: Any) -> Array:
        """Some rows as numbers with one zero, not two."""
        out: Array = self.X[self.rows[rows]].astype(float, copy=False)
        out *= signs
        out += 0.0
        return out

    def describe_columns(self, row_hash: Hash, sign: float) -> Hash:
        total = np.zeros(self.shape[1], dtype=np.uint64)
        for rows in blocks(self.shape):
            total += mix(row_hash[rows, None], bits(self._block(rows, sign))).sum(axis=0, dtype=np.uint64)
        return total

    def describe_rows(self, column_hash: Hash, signs: Array) -> Hash:
        out = np.empty(self.shape[0], dtype=np.uint64)
        for rows in blocks(self.shape):
            out[rows] = mix(column_hash[None], bits(self._block(rows, signs))).sum(axis=1, dtype=np.uint64)
        return out

    def row_bytes(self, row: int) -> bytes:
        return self._block([row], 1.0).tobytes()

    def repeats(self, first: Indices, group: Indices) -> bool:
        return all(
            np.array_equal(self._block(rows, 1.0), self._block(first[group[rows]], 1.0)) for rows in blocks(self.shape)
        )

    def arranged(self, columns: Indices, signs: Array) -> Matrix:
        X = self.X
        if len(self.rows) > MANY_ROWS and isinstance(X, np.ndarray) and X.dtype == float and X.flags.c_contiguous:
            return RowView(ColumnView(X, columns, signs[columns]), self.rows, np.ones(len(self.rows)))
        out = np.empty((self.shape[0], len(columns)))
        for rows in blocks(self.shape):
            np.take(self._block(rows, signs), columns, axis=1, out=out[rows])
        return out


class _Sparse:
    """Rows of a sparse matrix without explicit zeros and repeated entries."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, X.shape

    @classmethod
    def of(cls, X: Any) -> _Sparse:
        own = sparse.csr_array(X, dtype=float, copy=True)
        own.sum_duplicates()
        own.eliminate_zeros()
        return cls(own)

    def take(self, rows: Indices) -> _Sparse:
        return _Sparse(self.X[rows])

    def describe_columns(self, row_hash: Hash, sign: float) -> Hash:
        return _describe(self.X.tocsc(), row_hash, sign)

    def describe_rows(self, column_hash: Hash, signs: Array) -> Hash:
        return _describe(self.X, column_hash, signs[self.X.indices])

    def row_bytes(self, row: int) -> bytes:
        part = slice(self.X.indptr[row], self.X.indptr[row + 1])
        return bytes(self.X.indices[part].astype(np.intp).tobytes() + self.X.data[part].tobytes())

    def repeats(self, first: Indices, group: Indices) -> bool:
        other = self.X[first[group]]
        return all(
            np.array_equal(getattr(self.X, name), getattr(other, name)) for name in ("indptr", "indices", "data")
        )

    def arranged(self, columns: Indices, signs: Array) -> Matrix:
        out = self.X.copy()
        out.data *= signs[out.indices]
        out = out[:, columns]
        out.sort_indices()
        return out


def _describe(matrix: Any, hashes: Hash, signs: Any) -> Hash:
    """Hash of every compressed vector of a sparse matrix: as if all were 0, and the difference of what is stored."""
    own = hashes[matrix.indices]
    zero = np.zeros(1, dtype=np.uint64)
    terms = mix(own, bits(matrix.data * signs)) - mix(own, zero)
    sums = np.concatenate([zero, np.cumsum(terms, dtype=np.uint64)])
    return np.asarray(mix(hashes, zero).sum(dtype=np.uint64) + sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])

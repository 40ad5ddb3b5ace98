"""Hashes of the rows and columns of a table, dense or sparse: what the canonical order is made from.

A column is described by the ranks of its values, not by the values: ranks are the same in any unit and after any shift,
and change their sign with the column. All sums are of integers modulo 2^64, so the order in which they are added cannot
change them. What a sparse table does not store is 0: a table has the same hashes however it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from allrelevant.lp import Array
from allrelevant.lp.matrix import MANY_ROWS, Indices, Matrix, blocks
from allrelevant.lp.view import BLOCK, ColumnView, RowView

__all__ = ["Hash", "Table", "Words", "bits", "centred_ranks", "mix", "odd_words", "table_of"]

Hash = NDArray[np.uint64]
#: Hashes with a sign: those of opposite things are each other's negatives.
Words = NDArray[np.int64]

#: Values of a column that differ by less than this share of its range have the same rank: rounding by another unit or a
#: shift must not tell them apart.
ALIKE = 1e-11


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


def odd_words(numbers: Words) -> Words:
    """Hash of integers as an odd function: opposite numbers have opposite hashes, and 0 has 0."""
    words = (mix(np.abs(numbers).view(np.uint64), np.zeros(1, np.uint64)) >> np.uint64(1)).view(np.int64)
    words *= np.sign(numbers)
    return words


def centred_ranks(values: Array, alike: float = ALIKE) -> Words:
    """Dense ranks of the values of every column, doubled and shifted so that their least and greatest are opposite."""
    n = len(values)
    order = np.argsort(values, axis=0)
    ascending = np.take_along_axis(values, order, axis=0)
    ranks = np.zeros(values.shape, dtype=np.int64)
    with np.errstate(over="ignore"):
        rises = np.diff(ascending, axis=0) > alike * ascending[-1:] - alike * ascending[:1]
    del ascending
    if n > 1:
        np.cumsum(rises, axis=0, out=ranks[1:])
    ranks *= 2
    ranks -= ranks[-1:] // 2
    out = np.empty_like(ranks)
    np.put_along_axis(out, order, ranks, axis=0)
    return out


class Table(Protocol):
    """Rows of the data given, where they lie."""

    shape: tuple[int, int]

    def take(self, rows: Indices) -> Self:
        """Return some of the rows, in that order."""

    def keys(self) -> Hash:
        """Hash of the values of every row, by which equal rows are found."""

    def describe(self, rows: Words) -> tuple[Words, Words]:
        """Describe every column by its ranks in rows so described, and every row by its ranks in these columns.

        The hash of a column changes its sign with the column; that of a row does not depend on signs.
        """

    def describe_classes(self, codes: Indices, rows: Words) -> Hash:
        """Describe every class by the ranks of its rows, whatever the order and the signs of the columns."""

    def row_bytes(self, row: int) -> bytes:
        """Return what tells a row from all others."""

    def repeats(self, first: Indices, group: Indices) -> bool:
        """Whether every row is the one that stands first in its group."""

    def column(self, k: int) -> Array:
        """Return one column as numbers."""

    def arranged(self, columns: Indices, signs: Array) -> Matrix:
        """Return the table with its columns in another order and times `signs`."""


def table_of(X: Any, alike: float = ALIKE) -> Table:
    """Return the table that holds the data given, of any type of storage."""
    every = np.arange(X.shape[0])
    return _Sparse.of(X) if sparse.issparse(X) else _Dense(X, every, alike)


class _Dense:
    """Rows of an array, which may be of single precision or mapped from a file: a block at a time is read."""

    def __init__(self, X: NDArray[Any], rows: Indices, alike: float) -> None:
        self.X, self.rows, self.alike, self.shape = X, rows, alike, (len(rows), X.shape[1])
        self._kept: list[tuple[slice, Words]] = []

    def take(self, rows: Indices) -> _Dense:
        return _Dense(self.X, self.rows[rows], self.alike)

    def _block(self, rows: Any, signs: Any) -> Array:
        """Some rows as numbers with one zero, not two."""
        out: Array = self.X[self.rows[rows]].astype(float, copy=False)
        out *= signs
        out += 0.0
        return out

    def keys(self) -> Hash:
        ids = np.arange(1, self.shape[1] + 1, dtype=np.uint64)
        out = np.empty(self.shape[0], dtype=np.uint64)
        for rows in blocks(self.shape):
            out[rows] = mix(ids[None], bits(self._block(rows, 1.0))).sum(axis=1, dtype=np.uint64)
        return out

    def _words(self) -> Iterator[tuple[slice, Words]]:
        """Hashes of the ranks, some columns at a time; they are kept where one time is enough."""
        if self._kept:
            yield from self._kept
            return
        n, d = self.shape
        width = d if n * d <= BLOCK else max(1, BLOCK // (4 * n))
        for begin in range(0, d, width):
            some = slice(begin, min(begin + width, d))
            part = some, odd_words(centred_ranks(self.X[:, some][self.rows].astype(float, copy=False), self.alike))
            if width == d:
                self._kept = [part]
            yield part
            del part

    def describe(self, rows: Words) -> tuple[Words, Words]:
        columns, sums = np.empty(self.shape[1], dtype=np.int64), np.zeros(self.shape[0], dtype=np.int64)
        for some, words in self._words():
            columns[some] = own = odd_words(rows @ words)
            sums += words @ own
        return columns, sums

    def describe_classes(self, codes: Indices, rows: Words) -> Hash:
        total = np.zeros(int(codes.max()) + 1, dtype=np.uint64)
        for _, words in self._words():
            # Magnitudes: with their signs, what two classes have of a column without equal values adds up to 0.
            even = np.abs(words)
            # As arrays, which wrap around in silence.
            total += np.array([_sum_of_mixed((rows * (codes == k)) @ even) for k in range(len(total))], dtype=np.uint64)
        return total

    def row_bytes(self, row: int) -> bytes:
        return self._block([row], 1.0).tobytes()

    def repeats(self, first: Indices, group: Indices) -> bool:
        return all(
            np.array_equal(self._block(rows, 1.0), self._block(first[group[rows]], 1.0)) for rows in blocks(self.shape)
        )

    def column(self, k: int) -> Array:
        return np.asarray(self.X[:, k][self.rows].astype(float, copy=False))

    def arranged(self, columns: Indices, signs: Array) -> Matrix:
        X = self.X
        self._kept = []
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

    def keys(self) -> Hash:
        ids, zero = np.arange(1, self.shape[1] + 1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
        own = ids[self.X.indices]
        terms = mix(own, bits(self.X.data)) - mix(own, zero)
        return np.asarray(mix(ids, zero).sum(dtype=np.uint64) + _sums(terms, self.X.indptr))

    @cached_property
    def _words(self) -> tuple[Any, Words, Words]:
        """The table by columns, the hashes of the ranks of what is stored, and of 0 in every column."""
        by_column = self.X.tocsc()
        n, d = self.shape
        owner = np.repeat(np.arange(d), np.diff(by_column.indptr))
        # One 0 for every column that does not store all of its values.
        zeros = np.flatnonzero(np.diff(by_column.indptr) < n)
        values, owner = np.append(by_column.data, np.zeros(len(zeros))), np.append(owner, zeros)
        order = np.lexsort((values, owner))
        ascending, owner = values[order], owner[order]
        begin = np.flatnonzero(np.diff(owner, prepend=-1))
        end = np.append(begin[1:], len(owner)) - 1
        column = np.cumsum(np.diff(owner, prepend=-1) > 0) - 1
        with np.errstate(over="ignore"):
            rises = np.diff(ascending, prepend=0.0) > (ALIKE * ascending[end] - ALIKE * ascending[begin])[column]
        rises[begin] = False
        ranks = np.cumsum(rises)
        ranks = 2 * ranks - (ranks[begin] + ranks[end])[column]
        words = np.empty(len(values), dtype=np.int64)
        words[order] = odd_words(ranks)
        of_zero = np.zeros(d, dtype=np.int64)
        of_zero[zeros] = words[len(by_column.data) :]
        return by_column, words[: len(by_column.data)], of_zero

    def describe(self, rows: Words) -> tuple[Words, Words]:
        by_column, words, of_zero = self._words
        more = words - np.repeat(of_zero, np.diff(by_column.indptr))
        columns = odd_words(_sums(rows[by_column.indices] * more, by_column.indptr) + of_zero * rows.sum())
        stored = sparse.csc_array((more, by_column.indices, by_column.indptr), shape=self.shape)
        return columns, stored @ columns + of_zero @ columns

    def describe_classes(self, codes: Indices, rows: Words) -> Hash:
        by_column, words, of_zero = self._words
        even = np.abs(of_zero)
        more = np.abs(words) - np.repeat(even, np.diff(by_column.indptr))
        total = np.zeros(int(codes.max()) + 1, dtype=np.uint64)
        for k in range(len(total)):
            own = rows * (codes == k)
            total[k] = _sum_of_mixed(_sums(own[by_column.indices] * more, by_column.indptr) + even * own.sum())
        return total

    def row_bytes(self, row: int) -> bytes:
        part = slice(self.X.indptr[row], self.X.indptr[row + 1])
        return bytes(self.X.indices[part].astype(np.intp).tobytes() + self.X.data[part].tobytes())

    def repeats(self, first: Indices, group: Indices) -> bool:
        other = self.X[first[group]]
        return all(
            np.array_equal(getattr(self.X, name), getattr(other, name)) for name in ("indptr", "indices", "data")
        )

    def column(self, k: int) -> Array:
        return np.asarray(self.X[:, [k]].toarray()[:, 0])

    def arranged(self, columns: Indices, signs: Array) -> Matrix:
        out = self.X.copy()
        out.data *= signs[out.indices]
        out = out[:, columns]
        out.sort_indices()
        return out


def _sums(terms: NDArray[Any], starts: Indices) -> NDArray[Any]:
    """Sums of the terms of every compressed vector."""
    sums = np.concatenate([np.zeros(1, terms.dtype), np.cumsum(terms, dtype=terms.dtype)])
    return np.asarray(sums[starts[1:]] - sums[starts[:-1]])


def _sum_of_mixed(words: Words) -> Any:
    """Hash of several hashes in any order."""
    return mix(words.view(np.uint64), np.zeros(1, np.uint64)).sum(dtype=np.uint64)

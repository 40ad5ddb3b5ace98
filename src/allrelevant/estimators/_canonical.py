"""One order for the same data: so that no answer depends on how rows and columns happened to be arranged.

Equal samples are merged and their weights added, so a sample given twice is a sample of weight 2. Rows, columns and the
signs of columns are then put in an order that depends on the numbers alone. Random choices (folds, probes) and the path
of the solver are made in that order, and are therefore the same for every arrangement of the same data.

The order comes from hashes that refine each other: a column is described by the values it has in rows so described, a
row by the values it has in columns so described. All sums are of integers, so rounding cannot reorder them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp import Array

__all__ = ["Canonical", "canonical_form"]

Hash = NDArray[np.uint64]
Value = TypeVar("Value", bound=np.generic)
ROUNDS = 2
BLOCK = 2**20


@dataclass(frozen=True, eq=False)
class Canonical:
    """The data in canonical order, and the way there.

    Attributes
    ----------
    X, target, sample_weight : ndarray of shape (n, d), (n,), (n,)
        Distinct samples of positive weight.
    position : ndarray of shape (n_samples,)
        Where each sample given went, -1 for those of weight 0.
    columns : ndarray of shape (d,)
        Column of the data given at each place.
    signs : ndarray of shape (d,)
        Sign each column was multiplied by.
    fixed : ndarray of shape (n, k)
        Further values of the samples, whose order and signs are kept.
    """

    X: Array
    target: Array
    sample_weight: Array
    position: NDArray[np.intp]
    columns: NDArray[np.intp]
    signs: Array
    fixed: Array

    def restore(self, values: NDArray[Value]) -> NDArray[Value]:
        """Bring values per column (last axis), of all or of the first kinds, back to the order of the data given."""
        out = np.empty_like(values)
        out[..., self.columns[: values.shape[-1]]] = values
        return out

    def collect(self, weights: Array) -> Array:
        """Add up weights per sample given to weights per distinct sample."""
        used = self.position >= 0
        totals = np.bincount(self.position[used], weights=weights[used], minlength=len(self.X))
        return totals.astype(float)


def canonical_form(
    X: Array,
    target: Array,
    sample_weight: Array,
    *,
    kinds: NDArray[np.intp] | None = None,
    fixed: Array | None = None,
) -> Canonical:
    """Merge equal samples and put the data in canonical order; columns of a lower kind stay before others."""
    used = np.flatnonzero(sample_weight > 0)
    X = X + 0.0  # one zero, not two
    fixed = np.zeros((len(X), 0)) if fixed is None else fixed + 0.0
    first, group = _distinct(np.column_stack([X[used], target[used], fixed[used]]))
    # Weights are added in ascending order within a group, not in the order of the rows.
    order = np.lexsort((sample_weight[used], group))
    weight = np.bincount(group[order], weights=sample_weight[used][order]).astype(float)
    X, target, fixed = X[used[first]], target[used[first]], fixed[used[first]]

    own = _mix(_bits(target), _bits(weight))
    for values in fixed.T:
        own = _mix(own, _bits(values))
    row_hash = own
    for _ in range(ROUNDS):
        positive = _describe(X, row_hash)
        negative = _describe(-X + 0.0, row_hash)
        signs = np.where(negative < positive, -1.0, 1.0)
        column_hash = np.minimum(positive, negative)
        row_hash = own + _describe((X * signs + 0.0).T, column_hash)
    rows = np.argsort(row_hash, kind="stable")
    columns = np.lexsort((column_hash,) if kinds is None else (column_hash, kinds))

    place = np.empty(len(rows), dtype=np.intp)
    place[rows] = np.arange(len(rows))
    position = np.full(len(sample_weight), -1, dtype=np.intp)
    position[used] = place[group]
    arranged = np.ascontiguousarray(X[np.ix_(rows, columns)] * signs[columns] + 0.0)
    return Canonical(arranged, target[rows], weight[rows], position, columns, signs[columns], fixed[rows])


def _distinct(rows: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Index of the first of each group of equal rows, and the group of every row."""
    key = _describe(np.ascontiguousarray(rows.T), np.arange(1, rows.shape[1] + 1, dtype=np.uint64))
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(rows, rows[first][group]):  # two different rows with one hash
        _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def _bits(values: Array) -> Hash:
    return np.ascontiguousarray(values, dtype=float).view(np.uint64)


def _mix(a: Hash, b: Hash) -> Hash:
    """Hash of two words (the finaliser of SplitMix64)."""
    h = a * np.uint64(0x9E3779B97F4A7C15) ^ b
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def _describe(table: Array, row_hash: Hash) -> Hash:
    """Hash of every column: the sum over its entries of the hash of row and value."""
    n, d = table.shape
    width = max(1, BLOCK // max(n, 1))
    parts = [
        _mix(row_hash[:, None], _bits(table[:, k : k + width])).sum(axis=0, dtype=np.uint64) for k in range(0, d, width)
    ]
    return np.concatenate([np.empty(0, dtype=np.uint64), *parts])

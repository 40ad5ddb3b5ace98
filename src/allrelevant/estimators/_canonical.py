"""One order for the same data: so that no answer depends on how rows and columns happened to be arranged.

Equal samples are merged and their weights added, so a sample given twice is a sample of weight 2; those of different
groups and strata are kept apart. Rows, columns and the signs of columns are then put in an order that depends on the
numbers alone. Random choices (folds, probes) and the path of the solver are made in that order, and are therefore the
same for every arrangement of the same data.

The order comes from hashes that refine each other: a column is described by the values it has in rows so described, a
row by the values it has in columns so described.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.estimators._hashing import Hash, Table, bits, mix, table_of
from allrelevant.inference.exchange import numbered
from allrelevant.lp import Array
from allrelevant.lp.matrix import Matrix

__all__ = ["Canonical", "canonical_form"]

Value = TypeVar("Value", bound=np.generic)
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class Canonical:
    """The data in canonical order, and the way there.

    Attributes
    ----------
    X, target, sample_weight : ndarray of shape (n, d), (n,), (n,)
        Distinct samples of positive weight; `X` is a ``csr_array`` if the data given are sparse.
    position : ndarray of shape (n_samples,)
        Where each sample given went, -1 for those of weight 0.
    columns : ndarray of shape (d,)
        Column of the data given at each place.
    signs : ndarray of shape (d,)
        Sign each column was multiplied by.
    fixed : ndarray of shape (n, k)
        Further values of the samples, whose order and signs are kept.
    groups, strata : ndarray of shape (n,) or None
        Numbers of groups and strata, in the order in which they appear.
    """

    X: Matrix
    target: Array
    sample_weight: Array
    position: NDArray[np.intp]
    columns: NDArray[np.intp]
    signs: Array
    fixed: Array
    groups: NDArray[np.intp] | None = None
    strata: NDArray[np.intp] | None = None

    def restore(self, values: NDArray[Value]) -> NDArray[Value]:
        """Bring values per column (last axis), of all or of the first kinds, back to the order of the data given."""
        out = np.empty_like(values)
        out[..., self.columns[: values.shape[-1]]] = values
        return out

    @property
    def together(self) -> Matrix:
        """All columns, those that stay as they are first."""
        return np.hstack([self.fixed, self.X]) if self.fixed.shape[1] else self.X

    def collect(self, weights: Array) -> Array:
        """Add up weights per sample given to weights per distinct sample."""
        used = self.position >= 0
        totals = np.bincount(self.position[used], weights=weights[used], minlength=len(self.target))
        return totals.astype(float)

    def unmerged(self, sample_weight: Array) -> NDArray[np.intp]:
        """Return the samples given of positive weight in canonical order, equal ones by their weights."""
        order = np.lexsort((sample_weight, self.position))
        return np.asarray(order[np.count_nonzero(self.position < 0) :])


def canonical_form(
    X: Matrix,
    target: Array,
    sample_weight: Array,
    *,
    kinds: NDArray[np.intp] | None = None,
    fixed: Array | None = None,
    groups: NDArray[np.intp] | None = None,
    strata: NDArray[np.intp] | None = None,
) -> Canonical:
    """Merge equal samples and put the data in canonical order; columns of a lower kind stay before others."""
    # With very many samples and few columns, vectors as long as the samples count: none is left where the copy is made.
    position = np.full(X.shape[0], -1, dtype=np.intp)
    # A group is described before the stratum that it is in.
    owners = [owner for owner in (groups, strata) if owner is not None]
    table, target, weight, fixed, owners = _merged(X, target, sample_weight, fixed, owners, position)
    rows, columns, signs = _order(table, target, weight, fixed, owners, kinds)
    place = np.empty(len(rows), dtype=np.intp)
    place[rows] = np.arange(len(rows))
    used = position >= 0
    position[used] = place[position[used]]
    del place, used
    table, target, weight, fixed = table.take(rows), target[rows], weight[rows], fixed[rows]
    numbers = iter([numbered(owner[rows]) for owner in owners])
    del rows
    return Canonical(
        table.arranged(columns, signs),
        target,
        weight,
        position,
        columns,
        signs[columns],
        fixed,
        None if groups is None else next(numbers),
        None if strata is None else next(numbers),
    )


def _merged(
    X: Matrix,
    target: Array,
    sample_weight: Array,
    fixed: Array | None,
    owners: list[NDArray[np.intp]],
    position: NDArray[np.intp],
) -> tuple[Table, Array, Array, Array, list[NDArray[np.intp]]]:
    """Return each distinct sample once, with the weight of all like it; fills in the place of the samples given."""
    used = np.flatnonzero(sample_weight > 0)
    fixed = np.zeros((len(used), 0)) if fixed is None else fixed[used] + 0.0
    target, sample_weight = target[used], sample_weight[used]
    table = table_of(X).take(used)
    owners = [owner[used] for owner in owners]
    first, group = _distinct(table, np.column_stack([target, fixed, *owners]))
    position[used] = group
    # Weights are added in ascending order within a group, not in the order of the rows.
    order = np.lexsort((sample_weight, group))
    weight = np.bincount(group[order], weights=sample_weight[order]).astype(float)
    return table.take(first), target[first], weight, fixed[first], [owner[first] for owner in owners]


def _order(
    table: Table,
    target: Array,
    weight: Array,
    fixed: Array,
    owners: list[NDArray[np.intp]],
    kinds: NDArray[np.intp] | None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the canonical order of rows and columns, and the sign of every column as given."""
    own = mix(bits(target), bits(weight))
    for values in fixed.T:
        own = mix(own, bits(values))
    row_hash = own
    for _ in range(ROUNDS):
        positive, negative = (table.describe_columns(row_hash, sign) for sign in (1.0, -1.0))
        signs = np.where(negative < positive, -1.0, 1.0)
        column_hash = np.minimum(positive, negative)
        row_hash = _with_owners(own + table.describe_rows(column_hash, signs), owners)
    rows = np.argsort(row_hash, kind="stable")
    return rows, np.lexsort((column_hash,) if kinds is None else (column_hash, kinds)), signs


def _with_owners(row_hash: Hash, owners: list[NDArray[np.intp]]) -> Hash:
    """Describe rows by all rows of their group, and these by those of their stratum, not by the names of these."""
    for owner in owners:
        total = np.zeros(int(owner.max()) + 1, dtype=np.uint64)
        np.add.at(total, owner, row_hash)
        row_hash = mix(row_hash, total[owner])
    return row_hash


def _distinct(table: Table, beside: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Index of the first of each group of rows equal with what is beside them, and the group of every row."""
    n, d = table.shape
    ids = np.arange(1, d + beside.shape[1] + 1, dtype=np.uint64)
    key = table.describe_rows(ids[:d], np.ones(d)) + mix(ids[d:], bits(beside)).sum(axis=1, dtype=np.uint64)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if len(first) == n or (np.array_equal(beside, beside[first][group]) and table.repeats(first, group)):
        return first, group
    # Two different rows with one hash.
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(table.row_bytes(k) + beside[k].tobytes(), len(seen)) for k in range(n)])
    return np.unique(group, return_index=True)[1], group

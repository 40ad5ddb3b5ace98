"""One order for the same data: so that no answer depends on how rows and columns happened to be arranged.

Equal samples are merged and their weights added, so a sample given twice is a sample of weight 2; those of different
groups and strata are kept apart. Rows, columns, the signs of columns and the names of classes are then put in an order
that depends on the ranks of the values in every column alone, not on the values: it is the same in any unit and after
any shift, and constant columns have no part in it. Random choices (folds, permutations) and the path of the solver are
made in that order, and are therefore the same for every arrangement of the same data.

The order comes from hashes that refine each other: a column is described by the ranks it has in rows so described, a
row by the ranks it has in columns so described.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from allrelevant.estimators._hashing import Hash, Table, Words, bits, centred_ranks, mix, table_of
from allrelevant.inference.exchange import numbered
from allrelevant.lp import Array
from allrelevant.lp.matrix import Matrix

__all__ = ["Canonical", "canonical_form"]

Value = TypeVar("Value", bound=np.generic)
ROUNDS = 2
#: Values that stay beside the data come from a solver: they have the same rank if they differ by less than this share.
ALIKE = 1e-7


@dataclass(frozen=True, eq=False)
class Canonical:
    """The data in canonical order, and the way there.

    Attributes
    ----------
    X, target, sample_weight : ndarray of shape (n, d), (n,), (n,)
        Distinct samples of positive weight; `X` is a ``csr_array`` if the data given are sparse. The weights are those
        of the losses, with the weights of the classes.
    given_weight : ndarray of shape (n,)
        Weights of the samples alone: how many of the samples given each of them is.
    position : ndarray of shape (n_samples,)
        Where each sample given went, -1 for those of weight 0.
    columns : ndarray of shape (d,)
        Column of the data given at each place.
    signs : ndarray of shape (d,)
        Sign each column was multiplied by.
    fixed : ndarray of shape (n, k)
        Further values of the samples, whose order is kept.
    groups, strata : ndarray of shape (n,) or None
        Numbers of groups and strata, in the order in which they appear.
    classes : ndarray of shape (n_classes,) or None
        Where classes have no order, the class given (counted by its number in the target) that each class of `target`
        stands for.
    """

    X: Matrix
    target: Array
    sample_weight: Array
    given_weight: Array
    position: NDArray[np.intp]
    columns: NDArray[np.intp]
    signs: Array
    fixed: Array
    groups: NDArray[np.intp] | None = None
    strata: NDArray[np.intp] | None = None
    classes: NDArray[np.intp] | None = None

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
    factor: Array | None = None,
    nominal: bool = False,
    kinds: NDArray[np.intp] | None = None,
    fixed: Array | None = None,
    groups: NDArray[np.intp] | None = None,
    strata: NDArray[np.intp] | None = None,
) -> Canonical:
    """Merge equal samples and put the data in canonical order.

    Parameters
    ----------
    X, target, sample_weight
        The data given.
    factor : ndarray of shape (n_samples,), default=None
        By what losses are multiplied besides, the same for equal samples.
    nominal : bool
        Whether the targets are names of classes, which say nothing: they are then exchanged for each other in a way
        that depends on the samples of the classes alone.
    kinds : ndarray of shape (d,), default=None
        Columns of a lower kind stay before others.
    fixed : ndarray of shape (n_samples, k), default=None
        Further values of the samples.
    """
    # With very many samples and few columns, vectors as long as the samples count: none is left where the copy is made.
    position = np.full(X.shape[0], -1, dtype=np.intp)
    # A group is described before the stratum that it is in.
    owners = [owner for owner in (groups, strata) if owner is not None]
    table, target, weight, fixed, owners = _merged(X, target, sample_weight, fixed, owners, position)
    tables = [table, table_of(fixed, ALIKE)] if fixed.shape[1] else [table]
    rows, words, classes = _order(tables, target, weight, owners, nominal)
    del tables
    if classes is not None:
        given, codes = np.unique(target, return_inverse=True)
        target = given[np.argsort(classes)[codes.reshape(-1)]]
        del codes
    place = np.empty(len(rows), dtype=np.intp)
    place[rows] = np.arange(len(rows))
    used = position >= 0
    position[used] = place[position[used]]
    del place, used
    columns = _column_order(table, words[0], rows, kinds)
    signs, *signs_of_fixed = (np.where(some < 0, -1.0, 1.0) for some in words)
    table, target, weight, fixed = table.take(rows), target[rows], weight[rows], fixed[rows]
    numbers = iter([numbered(owner[rows]) for owner in owners])
    del rows
    for sign in signs_of_fixed:
        fixed *= sign
    loss_weight = weight
    if factor is not None:
        used = position >= 0
        loss_weight = np.empty(len(weight))
        loss_weight[position[used]] = factor[used]
        loss_weight *= weight
    return Canonical(
        table.arranged(columns, signs),
        target,
        loss_weight,
        weight,
        position,
        columns,
        signs[columns],
        fixed,
        None if groups is None else next(numbers),
        None if strata is None else next(numbers),
        classes,
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
    tables: list[Table], target: Array, weight: Array, owners: list[NDArray[np.intp]], nominal: bool
) -> tuple[NDArray[np.intp], list[Words], NDArray[np.intp] | None]:
    """Return the canonical order of the rows, a hash with a sign for every column of the tables, and the classes."""
    heavy = mix(centred_ranks(weight[:, None])[:, 0].view(np.uint64), np.ones(1, np.uint64))
    classes = None
    if nominal:
        codes = np.unique(target, return_inverse=True)[1].reshape(-1)
        described = np.sum([table.describe_classes(codes, heavy.view(np.int64)) for table in tables], axis=0)
        sizes = np.array([heavy[codes == k].sum(dtype=np.uint64) for k in range(len(described))])
        described = mix(described, sizes)
        classes = np.argsort(described, kind="stable")
        own = mix(described[codes], heavy)
    else:
        own = mix(centred_ranks(target[:, None])[:, 0].view(np.uint64), heavy)
    rows = own
    for _ in range(ROUNDS):
        columns, sums = zip(*(table.describe(rows.view(np.int64)) for table in tables), strict=True)
        rows = _with_owners(mix(own, np.sum(sums, axis=0).view(np.uint64)), owners)
    return np.argsort(rows, kind="stable"), list(columns), classes


def _column_order(
    table: Table, words: Words, rows: NDArray[np.intp], kinds: NDArray[np.intp] | None
) -> NDArray[np.intp]:
    """Return the canonical order of the columns; constant ones, which have the hash 0, come last.

    Columns with the same ranks are the same in other units, or increasing functions of each other. To tell the latter
    apart takes their values, standardised.
    """
    hashes = np.abs(words).view(np.uint64) - np.uint64(1)
    kinds = np.zeros(len(words), dtype=np.intp) if kinds is None else kinds
    order = np.lexsort((hashes, kinds))
    same = (np.diff(hashes[order]) == 0) & (words[order[1:]] != 0)
    tied = order[np.append(same, False) | np.append(False, same)]
    if not len(tied):
        return order
    value, direction = np.zeros(len(words)), np.cos(np.arange(len(rows)) + 0.5)
    for k in tied:
        column = table.column(int(k))[rows]
        column = column - column.mean()
        column /= np.abs(column).max()  # squares of the values may be no numbers
        value[k] = abs(direction @ column) / np.sqrt(column @ column)
    return np.lexsort((value, hashes, kinds))


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
    ids = d + np.arange(1, beside.shape[1] + 1, dtype=np.uint64)
    key = table.keys() + mix(ids, bits(beside)).sum(axis=1, dtype=np.uint64)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if len(first) == n or (np.array_equal(beside, beside[first][group]) and table.repeats(first, group)):
        return first, group
    # Two different rows with one hash.
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(table.row_bytes(k) + beside[k].tobytes(), len(seen)) for k in range(n)])
    return np.unique(group, return_index=True)[1], group

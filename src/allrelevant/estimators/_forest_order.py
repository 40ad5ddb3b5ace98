"""What a forest sees of the data: the order that columns put the samples in, and nothing else.

A tree only asks how a column orders the samples. Every numerical column is replaced by the normal scores of its ranks, so
that units, shifts and other increasing or decreasing transformations of a column change nothing. Rows, columns and
classes are put in an order that depends on what the data say alone, so that random choices are the same for every
arrangement of the same data and for every name of the classes.

The order comes from hashes that refine each other: a column is described by the ranks that the samples have in it, a
sample by its target, its weight and its ranks. No hash depends on the names of the classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from allrelevant.estimators._hashing import Hash, bits, mix
from allrelevant.forest.learner import Array, Indices, Sample, Target

__all__ = ["ForestOrder", "forest_order"]

#: Times that rows and columns describe each other.
ROUNDS = 2


@dataclass(frozen=True, eq=False)
class Scale:
    """Normal scores of a numerical column: a monotone function, linear between the values that were seen.

    Attributes
    ----------
    values, scores : ndarray of shape (n_values,)
        Distinct values in ascending order, and their scores, ascending or descending.
    """

    values: Array
    scores: Array

    def __call__(self, column: Array) -> Array:
        """Scores of any values; NaN stays NaN."""
        return np.asarray(np.interp(column, self.values, self.scores))


@dataclass(frozen=True, eq=False)
class ForestOrder:
    """The order of the data, and how columns are read.

    Attributes
    ----------
    rows : ndarray of shape (n_used,)
        Sample given at each place; those of weight 0 have none.
    columns : ndarray of shape (n_distinct,)
        Column given at each place: one of those that order the samples alike. Constant columns have no place.
    member : ndarray of shape (n_features,)
        Place of the column that stands for each; -1 for constant columns.
    classes : ndarray of shape (n_classes,)
        Code given of the class at each place; empty for numbers.
    categorical : ndarray of shape (n_distinct,)
        Which of `columns` hold categories.
    scales : tuple
        How `columns` are read; None for categories, whose codes are kept.
    centre, spread : float
        Mean of the numbers to predict and their greatest distance from it; 0 and 1 for classes.
    """

    rows: Indices
    columns: Indices
    member: Indices
    classes: Indices
    categorical: NDArray[np.bool_]
    scales: tuple[Scale | None, ...]
    centre: float
    spread: float

    def read(self, X: Array, places: Indices | None = None) -> Array:
        """Distinct columns of samples as forests take them, or those at some places."""
        wanted = np.arange(len(self.columns)) if places is None else places
        out = np.empty((len(X), len(wanted)))
        for k, place in enumerate(wanted):
            column, scale = X[:, self.columns[place]], self.scales[place]
            out[:, k] = column if scale is None else scale(column)
        return out

    def sample(self, X: Array, target: Target, weight: Array) -> Sample:
        """Return the samples in this order, with weights relative to their mean and numbers in units of their spread."""
        values, weight = target.values[self.rows], weight[self.rows]
        if target.n_classes:
            values = np.argsort(self.classes)[values.astype(np.intp)].astype(float)
        else:
            values = (values - self.centre) / self.spread
        return Sample(
            self.read(X[self.rows]), Target(values, target.n_classes), weight / weight.mean(), self.categorical
        )

    def restore(self, predicted: Array) -> Array:
        """Bring predictions back to the unit of the numbers, or probabilities to the order of the codes given."""
        if not len(self.classes):
            return np.asarray(self.centre + self.spread * predicted)
        if predicted.shape[1] == 1:
            return predicted if self.classes[1] == 1 else 1.0 - predicted
        out = np.empty_like(predicted)
        out[:, self.classes] = predicted
        return out


def forest_order(X: Array, categorical: NDArray[np.bool_], target: Target, weight: Array) -> ForestOrder:
    """Put samples of positive weight in order.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Values, NaN where they are missing, codes of categories.
    categorical : ndarray of shape (n_features,)
        Which columns hold categories.
    target : Target
        Numbers, or codes of classes.
    weight : ndarray of shape (n_samples,)
        Weights, some of them positive.

    Returns
    -------
    ForestOrder
        The order.
    """
    used = np.flatnonzero(weight > 0)
    ranks = np.column_stack([_ranks(column) for column in X[used].T]) if X.shape[1] else np.empty((len(used), 0))
    ranks = ranks.astype(np.uint64)
    first, member = _distinct(ranks, categorical)
    ranks, kinds = ranks[:, first], categorical[first]
    row_hash, column_hash, descending, class_hash = _hashes(ranks, kinds, target, weight, used)
    columns, rows = (np.argsort(one, kind="stable") for one in (column_hash, row_hash))
    place = np.append(np.argsort(columns), -1)
    scales = tuple(
        None if kinds[k] else _scale(X[used, first[k]], ranks[:, k], bool(descending[k])) for k in columns.tolist()
    )
    return ForestOrder(
        used[rows],
        first[columns],
        place[member],
        np.argsort(class_hash, kind="stable"),
        kinds[columns],
        scales,
        *_location(target, weight, used[rows]),
    )


def _location(target: Target, weight: Array, rows: Indices) -> tuple[float, float]:
    """Mean of the numbers to predict, and their greatest distance from it; 0 and 1 for classes."""
    if target.n_classes:
        return 0.0, 1.0
    values = target.values[rows]
    unit = float(np.abs(values).max()) or 1.0
    centre = unit * float(np.average(values / unit, weights=weight[rows]))
    return centre, float(np.abs(values - centre).max()) or 1.0


def _ranks(column: Array) -> NDArray[np.intp]:
    """Ranks of the distinct values, from 1; 0 where a value is missing."""
    _, ranks = np.unique(column, return_inverse=True)
    return np.where(np.isnan(column), 0, ranks.reshape(-1) + 1)


def _reversed(ranks: Hash) -> Hash:
    """Ranks of the values in descending order."""
    return np.asarray(np.where(ranks > 0, ranks.max(axis=0, initial=0) + np.uint64(1) - ranks, 0).astype(np.uint64))


def _distinct(ranks: Hash, categorical: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """One column of each kind, and the position there of the column that stands for each; -1 for constant columns."""
    kinds: dict[tuple[bool, bytes], int] = {}
    first: list[int] = []
    member = np.full(ranks.shape[1], -1, dtype=np.intp)
    for k, column in enumerate(np.ascontiguousarray(ranks.T)):
        if len(column) and np.all(column == column[0]):
            continue
        described = column.tobytes() if categorical[k] else min(column.tobytes(), _reversed(column).tobytes())
        member[k] = kinds.setdefault((bool(categorical[k]), described), len(first))
        if member[k] == len(first):
            first.append(k)
    return np.array(first, dtype=np.intp), member


def _hashes(
    ranks: Hash, categorical: NDArray[np.bool_], target: Target, weight: Array, used: Indices
) -> tuple[Hash, Hash, NDArray[np.bool_], Hash]:
    """Hashes of rows and columns, which columns are read in descending order, and hashes of the classes."""
    opposite = _reversed(ranks)
    own = bits(weight[used] / weight[used].max())
    class_hash = np.empty(0, dtype=np.uint64)
    if target.n_classes:
        codes = target.values[used].astype(np.intp)
        members = np.eye(target.n_classes, dtype=bool)[codes].T
        # A class is described by the ranks that its samples have in every column, a column by these of all classes.
        up, down = (
            np.array([mix(side, own[:, None])[one].sum(axis=0, dtype=np.uint64) for one in members])
            for side in (ranks, opposite)
        )
        zero = np.uint64(0)
        by_up, by_down = (mix(side, zero).sum(axis=0, dtype=np.uint64) for side in (up, down))
        turned = (by_down < by_up) & ~categorical
        told, by = np.where(turned, down, up), np.where(turned, by_down, by_up)
        counts = np.array([mix(own[one], zero).sum(dtype=np.uint64) for one in members], dtype=np.uint64)
        class_hash = mix(told, by).sum(axis=1, dtype=np.uint64) + counts
        own = mix(class_hash[codes], own)
    else:
        own = mix(_ranks(target.values[used]).astype(np.uint64), own)
    row_hash = own
    for _ in range(ROUNDS):
        up, down = (mix(side, row_hash[:, None]).sum(axis=0, dtype=np.uint64) for side in (ranks, opposite))
        descending = (down < up) & ~categorical
        column_hash = np.where(descending, down, up)
        oriented = np.where(descending, opposite, ranks)
        row_hash = own + mix(oriented, column_hash).sum(axis=1, dtype=np.uint64)
    return row_hash, column_hash, descending, class_hash


def _scale(column: Array, ranks: Hash, descending: bool) -> Scale:
    """Normal scores of the mean ranks of the values of a column."""
    known = ranks > 0
    counts = np.bincount(ranks[known].astype(np.intp))[1:]
    mean = (np.cumsum(counts) - counts / 2.0) / counts.sum()
    # From the nearer end, so that both directions give exactly the same numbers.
    scores = np.where(mean <= 0.5, ndtri(mean), -ndtri((np.cumsum(counts[::-1])[::-1] - counts / 2.0) / counts.sum()))
    return Scale(np.unique(column[known]), -scores if descending else scores)

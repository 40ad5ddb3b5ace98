"""What a forest sees of the data: the order that columns put the samples in, and nothing else.

A tree only asks how a column orders the samples. Every numerical column is replaced by the normal scores of its ranks,
so that units, shifts and other increasing or decreasing transformations of a column change nothing. Rows, columns and
classes are put in an order that depends on what the data say alone, so that random choices are the same for every
arrangement of the same data and for every name of the classes.

The order comes from hashes that refine each other: a column is described by the ranks that the samples have in it, a
sample by its target, its weight and its ranks. No hash depends on the names of classes, groups or strata.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from allrelevant.estimators._hashing import Hash, centred_ranks, mix
from allrelevant.estimators._input import Rows
from allrelevant.forest.learner import Array, Indices, Sample, Target
from allrelevant.inference.exchange import exchangeability, numbered

__all__ = ["ForestOrder", "forest_order"]

#: Times that rows and columns describe each other.
ROUNDS = 2
ZERO = np.zeros(1, dtype=np.uint64)


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
    """Where columns, classes and numbers went, and the way back.

    Attributes
    ----------
    columns : ndarray of shape (n_distinct,)
        Column given at each place: one of those that order the samples alike. Constant columns have no place.
    member : ndarray of shape (n_features,)
        Place of the column that stands for each; -1 for constant columns.
    scales : tuple
        How `columns` are read; None for categories, whose codes are kept.
    classes : ndarray of shape (n_classes,)
        Code given of the class at each place; empty for numbers.
    centre, spread : float
        Mean of the numbers to predict and their greatest distance from it; 0 and 1 for classes.
    """

    columns: Indices
    member: Indices
    scales: tuple[Scale | None, ...]
    classes: Indices
    centre: float
    spread: float

    def read(self, X: Array, places: Indices) -> Array:
        """Columns of new samples at some places, as forests take them."""
        out = np.empty((len(X), len(places)))
        for k, place in enumerate(places):
            column, scale = X[:, self.columns[place]], self.scales[place]
            out[:, k] = column if scale is None else scale(column)
        return out

    def restore(self, predicted: Array) -> Array:
        """Bring predictions back to the unit of the numbers, or probabilities to the order of the codes given."""
        if not len(self.classes):
            return np.asarray(self.centre + self.spread * predicted)
        if predicted.shape[1] == 1:
            return predicted if self.classes[1] == 1 else 1.0 - predicted
        out = np.empty_like(predicted)
        out[:, self.classes] = predicted
        return out


def forest_order(
    X: Array, categorical: NDArray[np.bool_], target: Target, weight: Array, rows: Rows
) -> tuple[ForestOrder, Sample]:
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
    rows : Rows
        Groups and strata.

    Returns
    -------
    order : ForestOrder
        The order.
    sample : Sample
        The samples in this order, with weights relative to their mean and numbers in units of their spread.
    """
    used = np.flatnonzero(weight > 0)
    weight, values = weight[used], target.values[used]
    owners = [None if owner is None else owner[used] for owner in (rows.groups, rows.strata)]
    ranks = np.zeros((len(used), X.shape[1]), dtype=np.uint64)
    for k in range(X.shape[1]):
        ranks[:, k] = _ranks(X[used, k])
    first, member = _distinct(ranks, categorical)
    ranks, kinds = ranks[:, first], categorical[first]
    row_hash, column_hash, descending, class_hash = _hashes(ranks, kinds, Target(values, target.n_classes), weight)
    # A group is described before the stratum that it is in.
    for owner in owners:
        if owner is not None:
            row_hash = mix(row_hash, _totals(row_hash, owner)[owner])
    order, places, classes = (np.argsort(one, kind="stable") for one in (row_hash, column_hash, class_hash))
    scales: list[Scale | None] = []
    table = np.empty((len(used), len(places)))
    for place, k in enumerate(places):
        column = X[used, first[k]]
        scale = None if kinds[k] else _scale(column, ranks[:, k], bool(descending[k]))
        table[:, place] = column if scale is None else np.append(scale.scores, np.nan)[ranks[:, k].astype(np.intp) - 1]
        scales.append(scale)
    weight, values = weight[order], values[order]
    centre, spread = (0.0, 1.0) if target.n_classes else _location(values, weight)
    coded = np.argsort(classes)[values.astype(np.intp)].astype(float) if target.n_classes else values - centre
    coded = coded / spread
    sample = Sample(
        table[order],
        Target(coded, target.n_classes),
        weight / weight.mean(),
        kinds[places],
        exchangeability(len(used), coded, *(None if owner is None else numbered(owner[order]) for owner in owners)),
    )
    member = np.append(np.argsort(places), -1)[member]
    return ForestOrder(first[places], member, tuple(scales), classes, centre, spread), sample


def _ranks(column: Array) -> Hash:
    """Ranks of the distinct values, from 1; 0 where a value is missing."""
    out = np.zeros(len(column), dtype=np.uint64)
    known = ~np.isnan(column)
    if known.any():
        ranks = centred_ranks(column[known][:, None])[:, 0]
        out[known] = ((ranks - ranks.min()) // 2 + 1).astype(np.uint64)
    return out


def _reversed(ranks: Hash) -> Hash:
    """Ranks of the values in descending order."""
    return np.asarray(np.where(ranks > 0, ranks.max(axis=0, initial=0) + np.uint64(1) - ranks, ZERO))


def _distinct(ranks: Hash, categorical: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """One column of each kind, and the position there of the column that stands for each; -1 for constant columns."""
    kinds: dict[tuple[bool, bytes], int] = {}
    first: list[int] = []
    member = np.full(ranks.shape[1], -1, dtype=np.intp)
    for k, column in enumerate(np.ascontiguousarray(ranks.T)):
        if np.all(column == column[0]):
            continue
        described = column.tobytes() if categorical[k] else min(column.tobytes(), _reversed(column).tobytes())
        member[k] = kinds.setdefault((bool(categorical[k]), described), len(first))
        if member[k] == len(first):
            first.append(k)
    return np.array(first, dtype=np.intp), member


def _hashes(
    ranks: Hash, categorical: NDArray[np.bool_], target: Target, weight: Array
) -> tuple[Hash, Hash, NDArray[np.bool_], Hash]:
    """Hashes of rows and columns, which columns are read in descending order, and hashes of the classes."""
    opposite = _reversed(ranks)
    heavy = mix(_ranks(weight), ZERO)
    class_hash = np.empty(0, dtype=np.uint64)
    if target.n_classes:
        codes = target.values.astype(np.intp)
        # A class is described by the ranks that its samples have in every column, a column by these of all classes.
        up, down = (_totals(mix(side, heavy[:, None]), codes) for side in (ranks, opposite))
        by_up, by_down = (mix(side, ZERO).sum(axis=0, dtype=np.uint64) for side in (up, down))
        turned = (by_down < by_up) & ~categorical
        described = mix(np.where(turned, down, up), np.where(turned, by_down, by_up)).sum(axis=1, dtype=np.uint64)
        class_hash = mix(described, _totals(heavy, codes))
        own = mix(class_hash[codes], heavy)
    else:
        own = mix(_ranks(target.values), heavy)
    row_hash = own
    for _ in range(ROUNDS):
        up, down = (mix(side, row_hash[:, None]).sum(axis=0, dtype=np.uint64) for side in (ranks, opposite))
        descending = (down < up) & ~categorical
        column_hash = np.where(descending, down, up)
        row_hash = mix(own, mix(np.where(descending, opposite, ranks), column_hash).sum(axis=1, dtype=np.uint64))
    return row_hash, column_hash, descending, class_hash


def _totals(hashes: Hash, owner: Indices) -> Hash:
    """Sums of the hashes of the rows of every class, group or stratum."""
    out = np.zeros((int(owner.max()) + 1, *hashes.shape[1:]), dtype=np.uint64)
    np.add.at(out, owner, hashes)
    return out


def _scale(column: Array, ranks: Hash, descending: bool) -> Scale:
    """Normal scores of the mean ranks of the values of a column."""
    known = ranks > 0
    places, counts = np.unique(ranks[known], return_counts=True)
    below, above = np.cumsum(counts) - counts / 2.0, np.cumsum(counts[::-1])[::-1] - counts / 2.0
    # From the nearer end, so that both directions give exactly the same numbers.
    scores = np.where(below <= above, ndtri(below / counts.sum()), -ndtri(above / counts.sum()))
    values = np.full(len(places), np.inf)
    np.minimum.at(values, ranks[known].astype(np.intp) - 1, column[known])
    return Scale(values, -scores if descending else scores)


def _location(values: Array, weight: Array) -> tuple[float, float]:
    """Mean of numbers, and their greatest distance from it; 1 where they are all the same."""
    unit = float(np.abs(values).max()) or 1.0
    centre = unit * float(np.average(values / unit, weights=weight))
    return centre, float(np.abs(values - centre).max()) or 1.0

"""Bounds of row-permuted copies of the features, which stand beside all features in the near-optimal set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from allrelevant.errors import SolverError
from allrelevant.formulations import Feature, Formulation
from allrelevant.lp import Array
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.matrix import Indices, Matrix
from allrelevant.lp.view import RowView
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving

__all__ = ["CopyBounds", "Sample", "bound_copies", "default_copies"]

#: Sets of copies, at least and at most, and copies in all sets that are enough between the two.
FEWEST, MOST, ENOUGH = 2, 12, 60
#: Features that have a copy in every set, at least; beyond them only those whose own relevance is above the median of
#: the copies in the first set: others are not relevant beside the others.
COMPARED = 34


@dataclass(frozen=True, eq=False)
class Sample:
    """One row per sample as it was given: samples that are equal are not merged, as each can be exchanged by itself.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, d)
        All columns of the program, in canonical order.
    target, weight : ndarray of shape (n,)
        Targets and weights.
    fixed : int
        Columns at the front that have no weights, and are not permuted.
    """

    X: Matrix
    target: Array
    weight: Array
    fixed: int = 0


@dataclass(frozen=True, eq=False)
class CopyBounds:
    """The greatest relevance of copies.

    Attributes
    ----------
    maximum : ndarray of shape (n_sets, n_features)
        ``maxRel`` of the copy of every feature in every set that was finished; NaN where there was no need to know.
    beside : ndarray of shape (n_features,)
        ``maxRel`` of the features themselves with a set of copies beside them, as copies have it, which is no less than
        without; where that cannot matter, without.
    n_drawn : int
        Sets asked for.
    gap, n_programs : float, int
        Largest certified gap, and linear programs solved.
    failure : str
        Why no further sets were bounded, if no engine could prove a bound.
    """

    maximum: Array
    beside: Array
    n_drawn: int
    gap: float = 0.0
    n_programs: int = 0
    failure: str = ""


def default_copies(n_features: int) -> int:
    """Return how many sets of copies are enough for a null distribution: two, or more of few features."""
    return int(np.clip(-(-ENOUGH // max(n_features, 1)), FEWEST, MOST))


def bound_copies(
    near: NearOptimalSet,
    formulation: Formulation,
    sample: Sample,
    columns: Sequence[Indices],
    maximum: Array,
    permutation: Callable[[], NDArray[np.intp]],
    n_sets: int,
    solving: Solving,
    *,
    privileged: bool = False,
) -> CopyBounds:
    """Bound copies of features within the budgets of the baseline; nothing is fitted again.

    In every set the rows of all features are permuted together, so that copies depend on each other as the features
    do: what a block of noise can do together, its copy can. The baseline model, with weights of 0 for the copies, is
    near-optimal, so the set is never empty.

    Parameters
    ----------
    near : NearOptimalSet
        The set without copies.
    formulation : Formulation
        What states the program.
    sample : Sample
        The samples as they were given.
    columns : sequence of ndarray
        Columns of `sample.X` of every feature.
    maximum : ndarray of shape (n_features,)
        ``maxRel`` of the features themselves.
    permutation : callable
        Returns the next permutation of the rows.
    n_sets : int
        Number of sets.
    solving : Solving
        How to solve.
    privileged : bool, default=False
        Whether these are the privileged features of the program.
    """
    among = np.sort(np.concatenate(columns))
    position = np.full(sample.X.shape[1], -1, dtype=np.intp)
    position[among] = np.arange(len(among))
    out, beside = np.full((n_sets, len(columns)), np.nan), maximum.copy()
    finished, gap, n_programs, failure = 0, 0.0, 0, ""
    some, above = np.arange(len(columns)), np.arange(len(columns) if n_sets == 1 else 0)
    with solving.progress.stage("copies", n_sets):
        for b in range(n_sets):
            if time_is_up():
                break
            wider, stated, first = _beside(near, formulation, sample, among, permutation(), privileged)
            width = sample.X.shape[1] + len(among)
            features = [_feature(stated, first + position[columns[int(k)]], width, wider) for k in some]
            # The features once, as soon as it is known which of them it can matter for.
            itself = above if b == min(1, n_sets - 1) else above[:0]
            moved = np.arange(sample.X.shape[1]) + len(among) * (np.arange(sample.X.shape[1]) >= first)
            features += [_feature(stated, moved[columns[int(k)]], width, wider) for k in itself]
            try:
                found = relevance_intervals(wider, features, replace(solving, progress=type(solving.progress)()))
            except SolverError as error:  # the intervals are proven, and must not be lost with it
                failure = str(error)
                break
            if found.unfinished is not None:
                break
            out[b, some] = found.maximum[: len(some)]
            beside[itself] = np.maximum(beside[itself], found.maximum[len(some) :])
            finished, gap, n_programs = b + 1, max(gap, found.gap), n_programs + found.n_programs
            solving.progress.step()
            if b == 0:
                above = np.flatnonzero(maximum > np.median(out[0]))
                some = np.union1d(above, np.argsort(-maximum, kind="stable")[:COMPARED])
    return CopyBounds(out[:finished], beside, n_sets, gap, n_programs, failure)


def _beside(
    near: NearOptimalSet, formulation: Formulation, sample: Sample, among: Indices, rows: Indices, privileged: bool
) -> tuple[NearOptimalSet, Formulation, int]:
    """The set with a copy of some columns beside all; what states it, and where the copies stand."""
    X = sample.X[:] if isinstance(sample.X, RowView) else sample.X
    stated, first = formulation.beside(X.shape[1], len(among), privileged)
    copies = X[rows][:, among]
    parts = [X[:, :first], copies, X[:, first:]]
    stacked = sparse.hstack(parts, format="csr") if sparse.issparse(X) else np.hstack(parts)
    program = stated.program(stacked, sample.target, sample.weight)
    # Weights of a column stand together, and columns in their order.
    place = int(stated.feature(first, stacked.shape[1]).weights.min())
    added = np.zeros(program.n_weights - len(near.w))
    return replace(near, program=program, w=np.insert(near.w, np.full(len(added), place), added)), stated, first


def _feature(formulation: Formulation, columns: Indices, width: int, near: NearOptimalSet) -> Feature:
    parts = [formulation.feature(int(k), width) for k in columns]
    return parts[0] if len(parts) == 1 else Feature.join(parts, near.program.gamma)

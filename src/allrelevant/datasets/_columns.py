"""From informative columns to strong, weak, repeated and irrelevant ones: what all generators share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allrelevant.datasets._checks import check_count
from allrelevant.result import RelevanceClass


class RelevanceData(NamedTuple):
    """A generated data set and the truth about its features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray of shape (n_samples,)
        The target.
    relevance : ndarray of shape (n_features,)
        0 irrelevant, 1 weakly relevant, 2 strongly relevant (:class:`~allrelevant.result.RelevanceClass`).

    Examples
    --------
    >>> from allrelevant.datasets import make_relevance_classification
    >>> data = make_relevance_classification(n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> X, y, relevance = data
    >>> relevance
    array([2, 1, 1, 0, 0])
    >>> data.feature_names
    ['strong0', 'weak0', 'weak1', 'irrelevant0', 'irrelevant1']
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    relevance: NDArray[np.int64]

    @property
    def feature_names(self) -> list[str]:
        """One name per column: its true class and a running number within the class."""
        seen: Counter[str] = Counter()
        names = []
        for code in self.relevance:
            label = RelevanceClass(int(code)).label
            names.append(f"{label}{seen[label]}")
            seen[label] += 1
        return names


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """How many columns of which kind, in the order in which they stand.

    Attributes
    ----------
    n_strong : int
        Informative columns kept as they are.
    weak_groups : tuple of int
        Sizes of the groups that each take the place of one informative column.
    n_repeated : int
        Clones of randomly drawn strong, weak or repeated columns.
    n_irrelevant : int
        Columns of noise.
    """

    n_strong: int
    weak_groups: tuple[int, ...]
    n_repeated: int
    n_irrelevant: int

    @property
    def n_informative(self) -> int:
        """Columns that the target is made from."""
        return self.n_strong + len(self.weak_groups)

    @property
    def n_features(self) -> int:
        """Columns of the finished data."""
        return self.n_strong + sum(self.weak_groups) + self.n_repeated + self.n_irrelevant


def plan_columns(
    *, n_strong: int, n_weak: int, n_irrelevant: int, n_repeated: int, partition: Iterable[int] | None
) -> ColumnPlan:
    """Check the arguments that all generators have in common and return the plan they describe."""
    n_strong = check_count("n_strong", n_strong)
    n_weak = check_count("n_weak", n_weak)
    n_irrelevant = check_count("n_irrelevant", n_irrelevant)
    n_repeated = check_count("n_repeated", n_repeated)
    if n_weak == 1:
        raise ValueError("n_weak=1 is no group: without a substitute a feature is strong; pass 0 or >= 2")
    if n_strong + n_weak == 0:
        raise ValueError("n_strong=0 and n_weak=0 leave no informative feature; pass n_strong >= 1 or n_weak >= 2")
    return ColumnPlan(n_strong, _weak_groups(partition, n_weak), n_repeated, n_irrelevant)


def expand(
    informative: NDArray[np.float64], plan: ColumnPlan, rng: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Build all columns and their true classes from the informative ones.

    Parameters
    ----------
    informative : ndarray of shape (n_samples, plan.n_informative)
        The columns that the target depends on: first the strong ones, then one per weak group.
    plan : ColumnPlan
        The columns wanted.
    rng : RandomState
        Source of shifts, of the choice of clones and of irrelevant columns, drawn in this order.

    Returns
    -------
    X : ndarray of shape (n_samples, plan.n_features)
        Strong, weak, repeated and irrelevant columns.
    relevance : ndarray of shape (plan.n_features,)
        True classes. A column that has a clone can be replaced by it, so both are weak.
    """
    n_samples = len(informative)
    X = np.empty((n_samples, plan.n_features))
    relevance = np.full(plan.n_features, RelevanceClass.IRRELEVANT, dtype=np.int64)

    filled = plan.n_strong
    X[:, :filled] = informative[:, :filled]
    relevance[:filled] = RelevanceClass.STRONG
    for size, source in zip(plan.weak_groups, informative.T[plan.n_strong :], strict=True):
        X[:, filled : filled + size] = source[:, np.newaxis] + rng.uniform(1, 2, size=size)
        relevance[filled : filled + size] = RelevanceClass.WEAK
        filled += size
    for clone in range(filled, filled + plan.n_repeated):
        original = rng.choice(clone)
        X[:, clone] = X[:, original]
        relevance[[original, clone]] = RelevanceClass.WEAK
    filled += plan.n_repeated
    X[:, filled:] = rng.standard_normal((plan.n_irrelevant, n_samples)).T
    return X, relevance


def _weak_groups(partition: Iterable[int] | None, n_weak: int) -> tuple[int, ...]:
    if partition is None:
        return (n_weak,) if n_weak else ()
    if not isinstance(partition, Iterable):
        raise TypeError(f"partition={partition!r} is not iterable; pass the sizes of the weak groups, or None")
    groups = tuple(check_count(f"partition[{k}]", size, minimum=2) for k, size in enumerate(partition))
    if sum(groups) != n_weak:
        raise ValueError(
            f"partition={list(groups)} sums to {sum(groups)}, but n_weak={n_weak}; "
            "pass group sizes that sum to n_weak, or None for one group"
        )
    return groups

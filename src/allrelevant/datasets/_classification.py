"""Two classes, separated by a plane or gathered in clusters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.utils import check_random_state

from allrelevant.datasets._checks import check_both_classes, check_count, check_flag, check_real
from allrelevant.datasets._columns import RelevanceData, expand, plan_columns


def make_relevance_classification(
    n_samples: int = 500,
    *,
    n_strong: int = 4,
    n_weak: int = 4,
    n_irrelevant: int = 22,
    n_repeated: int = 0,
    partition: Iterable[int] | None = None,
    noise: float = 0.1,
    flip_y: float = 0.0,
    linear: bool = True,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw a classification problem with known strongly relevant, weakly relevant and irrelevant features.

    The class is the sign of the sum of standard normal informative columns. Some of these stay as they are:
    the strong features. Each of the others gives way to a group of copies of itself, shifted by constants
    between 1 and 2, and any copy can do the work of the whole group: the weak features. Irrelevant features
    are standard normal. Last, all columns receive Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples, at least 2.
    n_strong : int, default=4
        Number of strongly relevant features.
    n_weak : int, default=4
        Number of weakly relevant features over all groups: 0 or at least 2.
    n_irrelevant : int, default=22
        Number of irrelevant features.
    n_repeated : int, default=0
        Number of clones of strong, weak or other repeated features, drawn with replacement. A clone and its
        original are both weakly relevant, also where the original would have been strong.
    partition : iterable of int or None, default=None
        Sizes of the groups of weak features, each at least 2, that sum to `n_weak`. None makes one group.
    noise : float, default=0.1
        Strength of the noise: its standard deviation is `noise` divided by the standard deviation of all
        entries of the data without noise.
    flip_y : float, default=0.0
        Share of samples, in [0, 1), that end up in the wrong class; rounded to whole samples, all distinct.
        `X` does not depend on it.
    linear : bool, default=True
        If False, the informative columns are Gaussian clusters around corners of a hypercube, two clusters
        per class (:func:`sklearn.datasets.make_classification` with ``class_sep=0.5``), which in general no
        plane separates. This takes at least two informative columns, and rows are ordered by cluster.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : RelevanceData
        The named tuple ``(X, y, relevance)``: `X` of shape (n_samples, n_features) with strong, weak,
        repeated and irrelevant columns in this order, `y` of -1 and +1, and the true class of every column as
        0 (irrelevant), 1 (weak) or 2 (strong).

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If an argument is out of range, the numbers of features contradict each other, or all labels drawn are
        the same. The last happens with probability ``2 ** (1 - n_samples)`` on linear data without flips, so
        only with a handful of samples. Nothing is drawn again silently: one seed stands for one data set.

    See Also
    --------
    make_simulation : Sets of the literature by name.
    sklearn.datasets.make_classification : Features of several kinds, without a truth per column.

    Notes
    -----
    The truth is that of the columns before the noise. With noise, the copies in a group differ a little, and
    their average is slightly better than any one of them. With `flip_y` near 0.5 the labels say next to
    nothing about any column.

    Without flips, the same integer seed gives the data of the generator ``arfs-gen`` 1.2.1, whose non-linear
    data name the classes 0 and 1.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, section 3.3.1.

    Examples
    --------
    >>> from allrelevant.datasets import make_relevance_classification
    >>> X, y, relevance = make_relevance_classification(
    ...     100, n_strong=2, n_weak=5, n_irrelevant=3, partition=[2, 3], random_state=0
    ... )
    >>> X.shape
    (100, 10)
    >>> relevance
    array([2, 2, 1, 1, 1, 1, 1, 0, 0, 0])
    """
    n_samples = check_count("n_samples", n_samples, minimum=2)
    noise = check_real("noise", noise)
    flip_y = check_real("flip_y", flip_y, below=1.0)
    linear = check_flag("linear", linear)
    plan = plan_columns(
        n_strong=n_strong,
        n_weak=n_weak,
        n_irrelevant=n_irrelevant,
        n_repeated=n_repeated,
        partition=partition,
    )
    if not linear and plan.n_informative < 2:
        raise ValueError(
            f"linear=False needs at least 2 informative columns, but n_strong={n_strong} and n_weak={n_weak} "
            f"in {len(plan.weak_groups)} group(s) make {plan.n_informative}; raise n_strong, or pass a "
            "partition of n_weak into more groups"
        )
    rng = check_random_state(random_state)

    draw = _half_spaces if linear else _clusters
    informative, y = draw(n_samples, plan.n_informative, rng)
    X, relevance = expand(informative, plan, rng)
    X += rng.normal(scale=noise / X.std(), size=X.shape)
    if flip_y > 0:
        y[rng.choice(n_samples, round(flip_y * n_samples), replace=False)] *= -1
    check_both_classes(y, random_state=random_state)
    return RelevanceData(X, y, relevance)


def _half_spaces(
    n_samples: int, n_informative: int, rng: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    informative = rng.standard_normal((n_samples, n_informative))
    return informative, np.where(informative.sum(axis=1) > 0, 1, -1).astype(np.int64)


def _clusters(
    n_samples: int, n_informative: int, rng: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    informative, labels = make_classification(
        n_samples=n_samples,
        n_features=n_informative,
        n_informative=n_informative,
        n_redundant=0,
        n_clusters_per_class=2,
        class_sep=0.5,
        flip_y=0.0,
        shuffle=False,
        random_state=rng,
    )
    return informative, np.where(labels > 0, 1, -1).astype(np.int64)

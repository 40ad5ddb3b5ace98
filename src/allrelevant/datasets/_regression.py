"""A continuous target: the sum of the informative columns, times a constant."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.utils import check_random_state

from allrelevant.datasets._checks import check_count, check_real
from allrelevant.datasets._columns import RelevanceData, expand, plan_columns

# The weight of every informative column, as in the reference generator.
TRUE_WEIGHT = 0.3


def make_relevance_regression(
    n_samples: int = 500,
    *,
    n_strong: int = 4,
    n_weak: int = 4,
    n_irrelevant: int = 22,
    n_repeated: int = 0,
    partition: Iterable[int] | None = None,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw a regression problem with known strongly relevant, weakly relevant and irrelevant features.

    The target is 0.3 times the sum of standard normal informative columns, plus Gaussian noise. Some of the
    informative columns stay as they are: the strong features. Each of the others gives way to a group of
    copies of itself, shifted by constants between 1 and 2, and any copy can do the work of the whole group:
    the weak features. Irrelevant features are standard normal. The features carry no noise.

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
    noise : float, default=0.0
        Standard deviation of the noise on the target. Without noise, the standard deviation of the target is
        0.3 times the square root of the number of informative columns (strong features plus weak groups).
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : RelevanceData
        The named tuple ``(X, y, relevance)``: `X` of shape (n_samples, n_features) with strong, weak,
        repeated and irrelevant columns in this order, `y` of floats, and the true class of every column as
        0 (irrelevant), 1 (weak) or 2 (strong).

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If an argument is out of range or the numbers of features contradict each other.

    See Also
    --------
    make_relevance_ordinal : The same target, cut into ordered classes.
    make_relevance_classification : Two classes.

    Notes
    -----
    The same integer seed gives the data of ``genRegressionData`` of the generator ``arfs-gen`` 1.2.1. As there,
    the noise is drawn before the shifts, the choice of clones and the irrelevant columns, and only if there
    is any: for one seed, these differ between data with and data without noise.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, section 3.3.1.

    Examples
    --------
    >>> from allrelevant.datasets import make_relevance_regression
    >>> X, y, relevance = make_relevance_regression(
    ...     100, n_strong=2, n_weak=5, n_irrelevant=3, partition=[2, 3], random_state=0
    ... )
    >>> X.shape
    (100, 10)
    >>> relevance
    array([2, 2, 1, 1, 1, 1, 1, 0, 0, 0])
    >>> y[:3].round(3)
    array([1.615, 0.507, 0.572])
    """
    n_samples = check_count("n_samples", n_samples, minimum=2)
    noise = check_real("noise", noise)
    plan = plan_columns(
        n_strong=n_strong,
        n_weak=n_weak,
        n_irrelevant=n_irrelevant,
        n_repeated=n_repeated,
        partition=partition,
    )
    rng = check_random_state(random_state)

    informative = rng.standard_normal((n_samples, plan.n_informative))
    y = informative @ np.full(plan.n_informative, TRUE_WEIGHT)
    if noise > 0:
        y += rng.normal(scale=noise, size=n_samples)
    X, relevance = expand(informative, plan, rng)
    return RelevanceData(X, y, relevance)

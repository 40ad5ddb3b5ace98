"""Ordered classes: a continuous target, cut into intervals that hold equally many samples."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from sklearn.utils import check_random_state

from allrelevant.datasets._checks import check_class_count, check_count, check_real
from allrelevant.datasets._columns import RelevanceData
from allrelevant.datasets._regression import make_relevance_regression


def make_relevance_ordinal(
    n_samples: int = 500,
    *,
    n_classes: int = 5,
    n_strong: int = 4,
    n_weak: int = 4,
    n_irrelevant: int = 22,
    n_repeated: int = 0,
    partition: Iterable[int] | None = None,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw an ordinal problem with known strongly relevant, weakly relevant and irrelevant features.

    Columns and a continuous target are those of :func:`make_relevance_regression` without noise. The target is
    cut into ordered classes of equal size; last, all columns receive Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples, at least `n_classes`.
    n_classes : int, default=5
        Number of ordered classes, at least 2.
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
        Standard deviation of the noise on the features, which themselves have a standard deviation near 1.
        The classes are those of the data without noise; neither they nor the clean columns depend on it.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : RelevanceData
        The named tuple ``(X, y, relevance)``: `X` of shape (n_samples, n_features) with strong, weak,
        repeated and irrelevant columns in this order, `y` of integers from 0 to ``n_classes - 1``, and the
        true class of every column as 0 (irrelevant), 1 (weak) or 2 (strong). Every ordinal class has
        ``n_samples // n_classes`` samples; the highest also has the remainder.

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If an argument is out of range or the numbers of features contradict each other.

    See Also
    --------
    make_ordinal_set : Sets of the literature by name.
    make_relevance_regression : The target before it is cut.

    Notes
    -----
    The truth is that of the columns before the noise. With noise, the copies in a group differ, and their
    average is better than any one of them.

    The same integer seed gives the data of ``genOrdinalRegressionData`` of the generator ``arfs-gen`` 1.2.1,
    whose labels are floats and whose default is three classes.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, section 4.1.3.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_relevance_ordinal
    >>> X, y, relevance = make_relevance_ordinal(
    ...     100, n_classes=3, n_strong=2, n_weak=5, n_irrelevant=3, partition=[2, 3], random_state=0
    ... )
    >>> X.shape
    (100, 10)
    >>> relevance
    array([2, 2, 1, 1, 1, 1, 1, 0, 0, 0])
    >>> np.bincount(y)
    array([33, 33, 34])
    """
    n_samples = check_count("n_samples", n_samples, minimum=2)
    n_classes = check_class_count(n_classes, n_samples=n_samples)
    noise = check_real("noise", noise)
    rng = check_random_state(random_state)

    X, target, relevance = make_relevance_regression(
        n_samples,
        n_strong=n_strong,
        n_weak=n_weak,
        n_irrelevant=n_irrelevant,
        n_repeated=n_repeated,
        partition=partition,
        random_state=rng,
    )
    # Rows come in a random order of ranks, so that rank alone gives the class.
    ranks = rng.permutation(n_samples)
    X = X[np.argsort(target)[ranks]]
    y = np.minimum(ranks // (n_samples // n_classes), n_classes - 1).astype(np.int64)
    X += rng.normal(scale=noise, size=X.shape)
    return RelevanceData(X, y, relevance)

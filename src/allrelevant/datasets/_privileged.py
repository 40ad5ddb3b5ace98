"""Features that only training sees: the clean originals of noisy regular features, or noise alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from allrelevant.datasets._checks import (
    check_both_classes,
    check_choice,
    check_class_count,
    check_count,
    check_real,
)
from allrelevant.datasets._columns import expand, plan_columns
from allrelevant.result import RelevanceClass

# Noise of the reference generator, to be divided by the standard deviation of the clean data.
REFERENCE_NOISE = {"classification": 0.65, "regression": 0.5, "ordinal": 0.2}


class PrivilegedData(NamedTuple):
    """A generated data set with privileged features, and the truth about both kinds of features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The regular features, at hand in training and prediction.
    X_privileged : ndarray of shape (n_samples, n_privileged)
        The privileged features, at hand in training only.
    y : ndarray of shape (n_samples,)
        The target.
    relevance : ndarray of shape (n_features,)
        Regular features: 0 irrelevant, 1 weakly relevant, 2 strongly relevant
        (:class:`~allrelevant.result.RelevanceClass`).
    relevance_privileged : ndarray of shape (n_privileged,)
        The same of the privileged features.

    Examples
    --------
    >>> from allrelevant.datasets import make_privileged_set
    >>> data = make_privileged_set("set7", random_state=0)
    >>> data.X.shape, data.X_privileged.shape
    ((200, 8), (200, 3))
    >>> data.relevance
    array([2, 2, 2, 2, 1, 1, 0, 0])
    >>> data.relevance_privileged
    array([0, 0, 0])
    """

    X: NDArray[np.float64]
    X_privileged: NDArray[np.float64]
    y: NDArray[Any]
    relevance: NDArray[np.int64]
    relevance_privileged: NDArray[np.int64]


def make_relevance_privileged(
    problem: str = "classification",
    n_samples: int = 500,
    *,
    n_classes: int = 5,
    n_strong: int = 4,
    n_weak: int = 4,
    n_irrelevant: int = 22,
    n_repeated: int = 0,
    partition: Iterable[int] | None = None,
    noise: float | None = None,
    n_random_privileged: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> PrivilegedData:
    """Draw a problem with privileged features, and the true relevance of regular and privileged ones.

    A score, the sum of standard normal informative columns with weights between 0.5 and 1, makes the target.
    The informative columns become strong, weak, repeated and irrelevant ones as in
    :func:`make_relevance_classification`. These clean columns are the privileged features, and the regular
    features are the same columns with Gaussian noise: training sees what was measured well, prediction what
    was measured badly. If `n_random_privileged` is given, the clean columns are the regular features instead,
    and the privileged ones are noise that nobody should use.

    Parameters
    ----------
    problem : {"classification", "regression", "ordinal"}, default="classification"
        What the target is: the sign of the score, the score itself, or the interval between quantiles of the
        score.
    n_samples : int, default=500
        Number of samples, at least 2, and at least `n_classes` if the problem is ordinal.
    n_classes : int, default=5
        Number of ordered classes, at least 2. Other problems than the ordinal one do not use it.
    n_strong : int, default=4
        Number of strongly relevant features.
    n_weak : int, default=4
        Number of weakly relevant features over all groups: 0 or at least 2.
    n_irrelevant : int, default=22
        Number of irrelevant features. Also these come in pairs, a clean column and its noisy version.
    n_repeated : int, default=0
        Number of clones of strong, weak or other repeated features, drawn with replacement. A clone and its
        original are both weakly relevant, also where the original would have been strong. On regular
        features, clone and original receive different noise.
    partition : iterable of int or None, default=None
        Sizes of the groups of weak features, each at least 2, that sum to `n_weak`. None makes one group.
    noise : float or None, default=None
        Standard deviation of the noise on the regular features. None is the choice of the reference
        generator: 0.65 (classification), 0.5 (regression) or 0.2 (ordinal), divided by the standard deviation
        of all entries of the clean data; with random privileged features, no noise. The text of the thesis
        has standard normal noise: pass 1.0.
    n_random_privileged : int or None, default=None
        None makes the clean columns privileged. A number, at least 1, makes that many standard normal columns
        the privileged features, drawn apart from everything else and so all irrelevant.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : PrivilegedData
        The named tuple ``(X, X_privileged, y, relevance, relevance_privileged)``. `X` and, unless random,
        `X_privileged` have strong, weak, repeated and irrelevant columns in this order, so column ``j`` of one
        is the other version of column ``j`` of the other, and both relevances are the same. `y` is of -1 and
        +1 (classification), floats (regression) or integers from 0 to ``n_classes - 1`` (ordinal).

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If an argument is out of range, the numbers of features contradict each other, or all labels of a
        classification are the same, which happens with a handful of samples.

    See Also
    --------
    make_privileged_set : Sets of the literature by name.
    make_relevance_classification, make_relevance_regression, make_relevance_ordinal : Regular features only.

    Notes
    -----
    Each part is judged by itself, and by its columns before the noise. Given the clean original, a noisy
    column has nothing to add; and of several noisy copies, the average is better than any one. So in `X` the
    copies of a weak group are substitutes only up to their noise, and strictly only if `noise` is 0.

    The target itself has no noise: all error is on the side of the regular features.

    The same integer seed gives the data of ``genLupiData`` of the generator ``arfs-gen`` 1.2.1, except that:

    - that function appends a second, independent lot of irrelevant columns to each part, and so returns more
      than it is asked for;
    - its labels of a classification are floats, and its default is three ordinal classes;
    - a sample that lies on a quantile of the score, which takes ``n_samples - 1`` and `n_classes` with a common
      divisor, there belongs to the class below or above by rounding; here always to the one above.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, section 4.2.

    Examples
    --------
    >>> from allrelevant.datasets import make_relevance_privileged
    >>> data = make_relevance_privileged("ordinal", n_strong=2, n_weak=3, n_irrelevant=1, random_state=0)
    >>> data.X.shape, data.X_privileged.shape
    ((500, 6), (500, 6))
    >>> data.relevance_privileged
    array([2, 2, 1, 1, 1, 0])
    """
    problem = check_choice("problem", problem, REFERENCE_NOISE)
    n_samples = check_count("n_samples", n_samples, minimum=2)
    if problem == "ordinal":
        n_classes = check_class_count(n_classes, n_samples=n_samples)
    if noise is not None:
        noise = check_real("noise", noise)
    if n_random_privileged is not None:
        n_random_privileged = check_count("n_random_privileged", n_random_privileged, minimum=1)
    plan = plan_columns(
        n_strong=n_strong,
        n_weak=n_weak,
        n_irrelevant=n_irrelevant,
        n_repeated=n_repeated,
        partition=partition,
    )
    rng = check_random_state(random_state)

    weights = rng.uniform(0.5, 1, size=plan.n_informative)
    informative = rng.standard_normal((n_samples, plan.n_informative))
    y = _target(problem, informative @ weights, n_classes)
    if problem == "classification":
        check_both_classes(y, random_state=random_state)
    clean, relevance = expand(informative, plan, rng)

    if noise is None:
        noise = REFERENCE_NOISE[problem] / clean.std() if n_random_privileged is None else 0.0
    X = clean + rng.normal(scale=noise, size=clean.shape)
    if n_random_privileged is None:
        return PrivilegedData(X, clean, y, relevance, relevance.copy())
    return PrivilegedData(
        X,
        rng.standard_normal((n_samples, n_random_privileged)),
        y,
        relevance,
        np.full(n_random_privileged, RelevanceClass.IRRELEVANT, dtype=np.int64),
    )


def _target(problem: str, score: NDArray[np.float64], n_classes: int) -> NDArray[Any]:
    if problem == "regression":
        return score
    if problem == "classification":
        return np.where(score > 0, 1, -1).astype(np.int64)
    # The class is the number of quantiles not above the score, counted in ranks: a quantile computed from scores
    # is rounded, and where it should equal a score it may pass it and leave a class of one sample empty.
    ranks = np.argsort(np.argsort(score))
    return np.minimum(ranks * n_classes // (len(score) - 1), n_classes - 1).astype(np.int64)

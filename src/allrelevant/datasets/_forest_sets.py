"""The sets on which the thesis compares forests with linear methods, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from allrelevant.datasets._checks import check_choice
from allrelevant.datasets._classification import make_relevance_classification
from allrelevant.datasets._columns import RelevanceData
from allrelevant.datasets._simulations import SimulationSpec


class LinearSpec(NamedTuple):
    """Numbers of samples, and of features of each class, in a linearly separable set.

    Attributes
    ----------
    n_samples : int
        Samples.
    n_strong, n_weak, n_irrelevant : int
        Strongly relevant, weakly relevant and irrelevant features.

    Examples
    --------
    >>> from allrelevant.datasets import LINEAR_SETS
    >>> LINEAR_SETS["set5"]
    LinearSpec(n_samples=512, n_strong=1, n_weak=2, n_irrelevant=11)
    """

    n_samples: int
    n_strong: int
    n_weak: int
    n_irrelevant: int


# Table 5.1 of the thesis.
LINEAR_SETS: Mapping[str, LinearSpec] = MappingProxyType(
    {
        "set1": LinearSpec(150, 6, 0, 6),
        "set2": LinearSpec(150, 0, 6, 6),
        "set3": LinearSpec(150, 3, 4, 3),
        "set4": LinearSpec(256, 6, 6, 6),
        "set5": LinearSpec(512, 1, 2, 11),
        "set6": LinearSpec(200, 1, 20, 0),
        "set7": LinearSpec(200, 1, 20, 20),
        "set8": LinearSpec(2000, 10, 10, 50),
    }
)

# Table 5.5 of the thesis.
NONLINEAR_SETS: Mapping[str, SimulationSpec] = MappingProxyType(
    {
        "nl1": SimulationSpec(10, 0, 10),
        "nl2": SimulationSpec(4, 10, 6),
        "nl3": SimulationSpec(10, 10, 30),
        "nl4": SimulationSpec(10, 10, 60),
    }
)


def make_linear_set(
    name: str,
    *,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw one of the linearly separable sets on which the thesis compares forests with linear methods.

    All have two classes; their weakly relevant features, if any, form one group.

    ======== ======= ====== ==== ==========
    name     samples strong weak irrelevant
    ======== ======= ====== ==== ==========
    ``set1``     150      6    0          6
    ``set2``     150      0    6          6
    ``set3``     150      3    4          3
    ``set4``     256      6    6          6
    ``set5``     512      1    2         11
    ``set6``     200      1   20          0
    ``set7``     200      1   20         20
    ``set8``    2000     10   10         50
    ======== ======= ====== ==== ==========

    Parameters
    ----------
    name : {"set1", "set2", ..., "set8"}
        A key of ``LINEAR_SETS``.
    noise : float, default=0.0
        Strength of the Gaussian noise, as in :func:`make_relevance_classification`. With any, a plane no longer
        separates the classes.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : RelevanceData
        The named tuple ``(X, y, relevance)``.

    Raises
    ------
    ValueError
        If there is no set of that name, or `noise` is negative.

    See Also
    --------
    make_relevance_classification : The generator behind all of them.
    make_nonlinear_set : The sets of the same comparison that no plane separates.
    make_ordinal_set : Sets of almost the same sizes, with ordered classes.

    Notes
    -----
    The features are not standardised; those of the thesis' experiments are, to zero mean and unit variance.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, Table 5.1.

    Examples
    --------
    >>> from allrelevant.datasets import make_linear_set
    >>> X, y, relevance = make_linear_set("set3", random_state=0)
    >>> X.shape
    (150, 10)
    >>> relevance
    array([2, 2, 2, 1, 1, 1, 1, 0, 0, 0])
    """
    spec = LINEAR_SETS[check_choice("name", name, LINEAR_SETS)]
    return make_relevance_classification(
        spec.n_samples,
        n_strong=spec.n_strong,
        n_weak=spec.n_weak,
        n_irrelevant=spec.n_irrelevant,
        noise=noise,
        random_state=random_state,
    )


def make_nonlinear_set(
    name: str,
    *,
    n_samples: int = 1000,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw one of the sets on which the thesis compares forests with linear methods that no plane separates.

    The informative columns are Gaussian clusters around corners of a hypercube, two clusters per class. The
    weakly relevant features, if any, are copies of one informative column.

    ======= ====== ==== ==========
    name    strong weak irrelevant
    ======= ====== ==== ==========
    ``nl1``     10    0         10
    ``nl2``      4   10          6
    ``nl3``     10   10         30
    ``nl4``     10   10         60
    ======= ====== ==== ==========

    Parameters
    ----------
    name : {"nl1", "nl2", "nl3", "nl4"}
        A key of ``NONLINEAR_SETS``.
    n_samples : int, default=1000
        Number of samples.
    noise : float, default=0.1
        Strength of the Gaussian noise, as in :func:`make_relevance_classification`.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : RelevanceData
        The named tuple ``(X, y, relevance)``. Rows are ordered by cluster.

    Raises
    ------
    TypeError
        If `n_samples` or `noise` is of the wrong type.
    ValueError
        If there is no set of that name, or an argument is out of range.

    See Also
    --------
    make_relevance_classification : The generator behind all of them, with ``linear=False``.
    make_relevance_interaction : Features that matter only together.

    Notes
    -----
    Every cluster has a covariance of its own, which is drawn at random and mixes all informative columns. So
    with probability one none of them is superfluous beside the others, and the strong features are strong; but
    how much one of them adds differs from draw to draw, and it may be very little.

    In the text of the thesis at hand the number of strong features of ``nl2`` is missing from Table 5.5. Four
    is the number in the author's experiment [2]_, and agrees with Table 5.6, where a recall of 0.86 is 12 of
    14 relevant features. The number of samples is that of the experiment too.

    The features are not standardised; those of the experiment are, to zero mean and unit variance.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, section 5.3.6 and Table 5.5.
    .. [2] L. Pfannschmidt, ``run_NL_comparison.py``, https://github.com/lpfann/squamish_experiments.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_nonlinear_set
    >>> X, y, relevance = make_nonlinear_set("nl2", random_state=0)
    >>> X.shape
    (1000, 20)
    >>> np.bincount(relevance)
    array([ 6, 10,  4])
    """
    spec = NONLINEAR_SETS[check_choice("name", name, NONLINEAR_SETS)]
    return make_relevance_classification(
        n_samples,
        n_strong=spec.n_strong,
        n_weak=spec.n_weak,
        n_irrelevant=spec.n_irrelevant,
        noise=noise,
        linear=False,
        random_state=random_state,
    )

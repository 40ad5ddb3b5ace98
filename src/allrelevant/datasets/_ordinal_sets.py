"""The ordinal sets of the thesis, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from allrelevant.datasets._checks import check_choice
from allrelevant.datasets._columns import RelevanceData
from allrelevant.datasets._ordinal import make_relevance_ordinal


class OrdinalSpec(NamedTuple):
    """Numbers of samples, and of features of each class, in an ordinal set.

    Attributes
    ----------
    n_samples : int
        Samples.
    n_strong, n_weak, n_irrelevant : int
        Strongly relevant, weakly relevant and irrelevant features.

    Examples
    --------
    >>> from allrelevant.datasets import ORDINAL_SETS
    >>> ORDINAL_SETS["set4"]
    OrdinalSpec(n_samples=256, n_strong=6, n_weak=6, n_irrelevant=6)
    """

    n_samples: int
    n_strong: int
    n_weak: int
    n_irrelevant: int


# Table 4.1 of the thesis.
ORDINAL_SETS: Mapping[str, OrdinalSpec] = MappingProxyType(
    {
        "set1": OrdinalSpec(150, 6, 0, 6),
        "set2": OrdinalSpec(150, 0, 6, 6),
        "set3": OrdinalSpec(150, 3, 4, 3),
        "set4": OrdinalSpec(256, 6, 6, 6),
        "set5": OrdinalSpec(512, 1, 2, 11),
        "set6": OrdinalSpec(200, 1, 20, 0),
        "set7": OrdinalSpec(200, 1, 20, 20),
        "set8": OrdinalSpec(1000, 10, 20, 10),
        "set9": OrdinalSpec(1000, 10, 20, 200),
    }
)


def make_ordinal_set(
    name: str,
    *,
    noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw one of the simulated ordinal sets of the thesis.

    All have five classes, 0 to 4; their weakly relevant features, if any, form one group.

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
    ``set8``    1000     10   20         10
    ``set9``    1000     10   20        200
    ======== ======= ====== ==== ==========

    Parameters
    ----------
    name : {"set1", "set2", ..., "set9"}
        A key of ``ORDINAL_SETS``.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise on the features. The noisy sets of the thesis have 0.5.
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
    make_relevance_ordinal : The generator behind all of them.

    Notes
    -----
    The features are not standardised; those of the thesis are, to zero mean and unit variance.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, Table 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_ordinal_set
    >>> X, y, relevance = make_ordinal_set("set3", random_state=0)
    >>> X.shape
    (150, 10)
    >>> np.bincount(y)
    array([30, 30, 30, 30, 30])
    """
    spec = ORDINAL_SETS[check_choice("name", name, ORDINAL_SETS)]
    return make_relevance_ordinal(
        spec.n_samples,
        n_strong=spec.n_strong,
        n_weak=spec.n_weak,
        n_irrelevant=spec.n_irrelevant,
        noise=noise,
        random_state=random_state,
    )

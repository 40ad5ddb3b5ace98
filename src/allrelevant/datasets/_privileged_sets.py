"""The sets with privileged features of the thesis, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from allrelevant.datasets._checks import check_choice
from allrelevant.datasets._privileged import PrivilegedData, make_relevance_privileged


class PrivilegedSpec(NamedTuple):
    """Numbers of samples, and of features of each class, in a set with privileged features.

    Attributes
    ----------
    n_samples : int
        Samples.
    n_strong, n_weak, n_irrelevant : int
        Strongly relevant, weakly relevant and irrelevant regular features.
    n_random_privileged : int or None
        Privileged features, all irrelevant; None if there are as many as regular ones, of the same classes.

    Examples
    --------
    >>> from allrelevant.datasets import PRIVILEGED_SETS
    >>> PRIVILEGED_SETS["set8"]
    PrivilegedSpec(n_samples=200, n_strong=0, n_weak=4, n_irrelevant=2, n_random_privileged=3)
    """

    n_samples: int
    n_strong: int
    n_weak: int
    n_irrelevant: int
    n_random_privileged: int | None


# Table 4.8 of the thesis.
PRIVILEGED_SETS: Mapping[str, PrivilegedSpec] = MappingProxyType(
    {
        "set1": PrivilegedSpec(200, 6, 0, 3, None),
        "set2": PrivilegedSpec(200, 0, 12, 3, None),
        "set3": PrivilegedSpec(200, 6, 6, 0, None),
        "set4": PrivilegedSpec(200, 3, 6, 0, None),
        "set5": PrivilegedSpec(200, 1, 4, 0, None),
        "set6": PrivilegedSpec(200, 1, 40, 10, None),
        "set7": PrivilegedSpec(200, 4, 2, 2, 3),
        "set8": PrivilegedSpec(200, 0, 4, 2, 3),
    }
)


def make_privileged_set(
    name: str,
    problem: str = "ordinal",
    *,
    noise: float | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> PrivilegedData:
    r"""Draw one of the simulated sets with privileged features of the thesis.

    All have 200 samples; their weakly relevant features, if any, form one group. The privileged features of
    the first six sets are clean versions of the regular ones; those of the last two are noise.

    ======== ====== ==== ========== ====== ==== ==========
    \        regular                privileged
    -------- ---------------------- ----------------------
    name     strong weak irrelevant strong weak irrelevant
    ======== ====== ==== ========== ====== ==== ==========
    ``set1``      6    0          3      6    0          3
    ``set2``      0   12          3      0   12          3
    ``set3``      6    6          0      6    6          0
    ``set4``      3    6          0      3    6          0
    ``set5``      1    4          0      1    4          0
    ``set6``      1   40         10      1   40         10
    ``set7``      4    2          2      0    0          3
    ``set8``      0    4          2      0    0          3
    ======== ====== ==== ========== ====== ==== ==========

    Parameters
    ----------
    name : {"set1", "set2", ..., "set8"}
        A key of ``PRIVILEGED_SETS``.
    problem : {"ordinal", "classification", "regression"}, default="ordinal"
        What the target is. The sets of the thesis are ordinal, here with five classes.
    noise : float or None, default=None
        Standard deviation of the Gaussian noise on the regular features. None is the choice of the reference
        generator, and no noise for the last two sets; 1.0 is that of the thesis' text. See
        :func:`make_relevance_privileged`.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : PrivilegedData
        The named tuple ``(X, X_privileged, y, relevance, relevance_privileged)``.

    Raises
    ------
    ValueError
        If there is no set or problem of that name, or `noise` is negative.

    See Also
    --------
    make_relevance_privileged : The generator behind all of them.
    make_ordinal_set : Ordinal sets without privileged features.

    Notes
    -----
    The features are not standardised; those of the thesis are, to zero mean and unit variance.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, Table 4.8.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_privileged_set
    >>> data = make_privileged_set("set5", random_state=0)
    >>> data.X.shape, data.X_privileged.shape
    ((200, 5), (200, 5))
    >>> np.bincount(data.y)
    array([40, 40, 40, 40, 40])
    """
    spec = PRIVILEGED_SETS[check_choice("name", name, PRIVILEGED_SETS)]
    return make_relevance_privileged(
        problem,
        spec.n_samples,
        n_strong=spec.n_strong,
        n_weak=spec.n_weak,
        n_irrelevant=spec.n_irrelevant,
        noise=noise,
        n_random_privileged=spec.n_random_privileged,
        random_state=random_state,
    )

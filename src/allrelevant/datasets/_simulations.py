"""The simulated sets of the thesis, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from allrelevant.datasets._checks import check_choice
from allrelevant.datasets._classification import make_relevance_classification
from allrelevant.datasets._columns import RelevanceData


class SimulationSpec(NamedTuple):
    """Numbers of features of each class in a simulated set.

    Attributes
    ----------
    n_strong, n_weak, n_irrelevant : int
        Strongly relevant, weakly relevant and irrelevant features.

    Examples
    --------
    >>> from allrelevant.datasets import SIMULATIONS
    >>> SIMULATIONS["sim2"]
    SimulationSpec(n_strong=12, n_weak=8, n_irrelevant=10)
    """

    n_strong: int
    n_weak: int
    n_irrelevant: int


# Table 3.1 of the thesis.
SIMULATIONS: Mapping[str, SimulationSpec] = MappingProxyType(
    {
        "sim1": SimulationSpec(4, 4, 22),
        "sim2": SimulationSpec(12, 8, 10),
        "sim3": SimulationSpec(4, 0, 26),
        "sim4": SimulationSpec(18, 0, 12),
        "sim5": SimulationSpec(0, 20, 10),
    }
)


def make_simulation(
    name: str,
    *,
    n_samples: int = 500,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw one of the simulated classification sets of the thesis.

    All have 30 features; their weakly relevant features, if any, form one group.

    ======== ====== ==== ==========
    name     strong weak irrelevant
    ======== ====== ==== ==========
    ``sim1``      4    4         22
    ``sim2``     12    8         10
    ``sim3``      4    0         26
    ``sim4``     18    0         12
    ``sim5``      0   20         10
    ======== ====== ==== ==========

    Parameters
    ----------
    name : {"sim1", "sim2", "sim3", "sim4", "sim5"}
        A key of ``SIMULATIONS``.
    n_samples : int, default=500
        Number of samples.
    noise : float, default=0.1
        Strength of the Gaussian noise, as in :func:`make_relevance_classification`.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : RelevanceData
        The named tuple ``(X, y, relevance)``.

    Raises
    ------
    ValueError
        If there is no set of that name, or an argument is out of range.

    See Also
    --------
    make_relevance_classification : The generator behind all of them.

    References
    ----------
    .. [1] L. Pfannschmidt, "Relevance Learning for Redundant Features", doctoral thesis, Bielefeld
       University, 2021, Table 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_simulation
    >>> X, y, relevance = make_simulation("sim5", random_state=0)
    >>> np.bincount(relevance)
    array([10, 20])
    """
    spec = SIMULATIONS[check_choice("name", name, SIMULATIONS)]
    return make_relevance_classification(
        n_samples,
        n_strong=spec.n_strong,
        n_weak=spec.n_weak,
        n_irrelevant=spec.n_irrelevant,
        noise=noise,
        random_state=random_state,
    )

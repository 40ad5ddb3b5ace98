"""Generated data whose strongly relevant, weakly relevant and irrelevant features are known.

Every generator draws a few informative columns and a target from them; ``_columns.expand`` then makes strong,
weak, repeated and irrelevant columns of these, and says which is which.

Examples
--------
>>> from allrelevant.datasets import make_simulation
>>> X, y, relevance = make_simulation("sim1", random_state=0)
>>> X.shape
(500, 30)
"""

from __future__ import annotations

from allrelevant.datasets._classification import make_relevance_classification
from allrelevant.datasets._columns import RelevanceData
from allrelevant.datasets._forest_sets import (
    LINEAR_SETS,
    NONLINEAR_SETS,
    LinearSpec,
    make_linear_set,
    make_nonlinear_set,
)
from allrelevant.datasets._interaction import make_relevance_interaction
from allrelevant.datasets._ordinal import make_relevance_ordinal
from allrelevant.datasets._ordinal_sets import ORDINAL_SETS, OrdinalSpec, make_ordinal_set
from allrelevant.datasets._privileged import PrivilegedData, make_relevance_privileged
from allrelevant.datasets._privileged_sets import PRIVILEGED_SETS, PrivilegedSpec, make_privileged_set
from allrelevant.datasets._regression import make_relevance_regression
from allrelevant.datasets._simulations import SIMULATIONS, SimulationSpec, make_simulation

__all__ = [
    "LINEAR_SETS",
    "NONLINEAR_SETS",
    "ORDINAL_SETS",
    "PRIVILEGED_SETS",
    "SIMULATIONS",
    "LinearSpec",
    "OrdinalSpec",
    "PrivilegedData",
    "PrivilegedSpec",
    "RelevanceData",
    "SimulationSpec",
    "make_linear_set",
    "make_nonlinear_set",
    "make_ordinal_set",
    "make_privileged_set",
    "make_relevance_classification",
    "make_relevance_interaction",
    "make_relevance_ordinal",
    "make_relevance_privileged",
    "make_relevance_regression",
    "make_simulation",
]

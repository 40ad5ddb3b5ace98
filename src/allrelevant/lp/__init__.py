"""How it is solved: a canonical linear program, its engines, and proofs of what they return.

This package knows nothing of features, classes or data sets.
"""

from allrelevant.lp.bounds import Bounds, BoundSolver
from allrelevant.lp.certificate import GAP_LIMIT
from allrelevant.lp.matrix import Array
from allrelevant.lp.penalised import PenalisedSolver, penalised_paths
from allrelevant.lp.program import Budget, Program, Targets

__all__ = [
    "GAP_LIMIT",
    "Array",
    "BoundSolver",
    "Bounds",
    "Budget",
    "PenalisedSolver",
    "Program",
    "Targets",
    "penalised_paths",
]

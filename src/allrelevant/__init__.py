"""Which features matter, and which could stand in for which."""

__version__ = "0.1.0.dev0"

from allrelevant.errors import AllRelevantError, RelevanceWarning, SolverError
from allrelevant.estimators import (
    ForestRelevanceClassifier,
    ForestRelevanceRegressor,
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
)
from allrelevant.result import RelevanceClass, RelevanceResult, Thresholds

__all__ = [
    "LinearRelevanceClassifier",
    "LinearRelevanceRegressor",
    "LinearRelevanceOrdinal",
    "ForestRelevanceClassifier",
    "ForestRelevanceRegressor",
    "RelevanceResult",
    "RelevanceClass",
    "Thresholds",
    "AllRelevantError",
    "SolverError",
    "RelevanceWarning",
    "__version__",
]

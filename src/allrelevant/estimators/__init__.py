"""The scikit-learn estimators."""

from allrelevant.estimators.classifier import LinearRelevanceClassifier
from allrelevant.estimators.forest import ForestRelevanceClassifier, ForestRelevanceRegressor
from allrelevant.estimators.ordinal import LinearRelevanceOrdinal
from allrelevant.estimators.regressor import LinearRelevanceRegressor

__all__ = [
    "ForestRelevanceClassifier",
    "ForestRelevanceRegressor",
    "LinearRelevanceClassifier",
    "LinearRelevanceOrdinal",
    "LinearRelevanceRegressor",
]

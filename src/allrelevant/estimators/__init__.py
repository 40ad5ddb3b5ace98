"""The scikit-learn estimators."""

from allrelevant.estimators.classifier import LinearRelevanceClassifier

__all__ = ["LinearRelevanceClassifier"]

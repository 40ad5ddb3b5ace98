"""The forest that predicts, and how well it does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from allrelevant.forest.learner import Array, Forest, Predictor, Rows, Sample, Target, folds

__all__ = ["FOLDS", "Model", "fit_model"]

#: Folds of the score.
FOLDS = 5
#: Share of a forest's trees that are enough to predict.
SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Model:
    """What predicts, with its score on unseen samples and on all.

    Attributes
    ----------
    predictor : Predictor
        A forest, or a constant where there are no features.
    cross_validated, training : float
        Accuracy, or R².
    """

    predictor: Predictor
    cross_validated: float
    training: float


@dataclass(frozen=True, eq=False)
class Constant:
    """Predicts the same for all samples."""

    outputs: Array

    def predict(self, X: Array) -> Array:
        """Repeat it."""
        return np.tile(self.outputs, (len(X), 1))


def fit_model(sample: Sample, forest: Forest, *, seed: int) -> Model:
    """Grow a forest, and score others on samples that they have not seen."""
    target, weight = sample.target, sample.weight
    rng = np.random.default_rng([seed, 6])
    prepared = forest.prepared(sample) if sample.X.shape[1] else None

    def fitted(rows: Rows) -> Predictor:
        if prepared is None:
            return Constant(target.mean(rows, weight))
        return forest.grow(prepared, rows, int(rng.integers(2**31)), SHARE)

    unseen = np.empty((len(sample.X), target.n_outputs))
    for train, test in folds(sample, min(FOLDS, len(sample.X)), rng):
        unseen[test] = fitted(train).predict(sample.X[test])
    predictor = fitted(np.arange(len(sample.X)))
    return Model(predictor, _score(target, unseen, weight), _score(target, predictor.predict(sample.X), weight))


def _score(target: Target, predicted: Array, weight: Array) -> float:
    """Accuracy, or R²."""
    if not target.n_classes:
        return float(r2_score(target.values, predicted[:, 0], sample_weight=weight))
    best = predicted[:, 0] > 0.5 if target.n_outputs == 1 else predicted.argmax(axis=1)
    return float(accuracy_score(target.values, best.astype(float), sample_weight=weight))

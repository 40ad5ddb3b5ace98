"""All relevant features: those that beat permuted copies of features in significantly more than half of the forests.

After Kursa and Rudnicki's Boruta. What differs: importances are those of samples that the trees have not seen, so that
features without a meaning have importances around 0; a hit is to exceed the prediction limit of the permuted features,
not the one luckiest of them; and there are never less than a number of permuted features to compare with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import binom, false_discovery_control

from allrelevant._progress import Progress
from allrelevant.forest.learner import Array, Forest, Indices, Sample, importances
from allrelevant.inference.prediction import prediction_limit

__all__ = ["CONFIRMED", "REJECTED", "TENTATIVE", "Shadows", "Verdicts", "all_relevant"]

REJECTED, TENTATIVE, CONFIRMED = -1, 0, 1
#: Rounds between two looks at which features are left.
BLOCK = 4


@dataclass(frozen=True)
class Shadows:
    """How features are compared with permuted ones.

    Attributes
    ----------
    importance : str
        Kind of importance.
    n_folds : int
        Folds of a forest, where the importance is that of unseen samples.
    n_shadows : int
        Permuted features of a round; as many as features, if these are more.
    confidence : float or None
        Confidence of the prediction limit, made from their importances, that a feature must exceed; None for what
        `beyond` of the permuted features of the first round exceed.
    alpha : float
        Level of the tests.
    two_step : bool
        Control the share of false discoveries among features and, apart from that, the number of rounds, instead of
        the chance of a single false one among the features.
    max_rounds : int
        Rounds at most.
    patience : int
        Rounds without any decision, once there could be some, after which to give up; sooner where no outcome of the
        rounds left of these would decide anything.
    beyond : float
        Number of permuted features expected beyond the limit, where its confidence is not given.
    """

    importance: str = "held_out"
    n_folds: int = 3
    n_shadows: int = 50
    confidence: float | None = None
    alpha: float = 0.05
    two_step: bool = False
    max_rounds: int = 60
    patience: int = 8
    beyond: float = 0.5

    def confidence_among(self, n_features: int) -> float:
        """Confidence of the limit, by the number of features if it is not given."""
        return 1.0 - self.beyond / max(self.n_shadows, n_features) if self.confidence is None else self.confidence


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What came of the comparison.

    Attributes
    ----------
    status : ndarray of shape (n_features,)
        1 confirmed, -1 rejected, 0 tentative: not decided.
    hits, trials : ndarray of shape (n_features,)
        Rounds in which a feature beat the permuted ones, and rounds that it took part in.
    importances : ndarray of shape (n_rounds, n_features)
        Importances of every round; NaN where a feature no longer took part.
    limits : ndarray of shape (n_rounds,)
        What a hit had to exceed.
    confidence : float
        Confidence of these limits.
    """

    status: NDArray[np.intp]
    hits: NDArray[np.intp]
    trials: NDArray[np.intp]
    importances: Array
    limits: Array
    confidence: float

    @property
    def pvalues(self) -> Array:
        """Chance of so many hits, if one were as likely as not."""
        return np.asarray(binom.sf(self.hits - 1, self.trials, 0.5))

    @property
    def mean_excess(self) -> Array:
        """By how much the importance exceeds the limit, on average of the rounds that a feature took part in."""
        return np.asarray(np.nanmean(self.importances - self.limits[:, None], axis=0))


def all_relevant(
    sample: Sample, forest: Forest, shadows: Shadows, *, seed: int, n_jobs: int | None, progress: Progress
) -> Verdicts:
    """Compare all features with permuted ones until each is decided, or no more decisions come."""
    d = sample.X.shape[1]
    status, hits, trials = (np.zeros(d, dtype=np.intp) for _ in range(3))
    found: list[Array] = []
    limits: list[float] = []
    # No test can decide anything before.
    decided = math.ceil(math.log2(d / shadows.alpha))
    with (
        progress.stage("shadow features", shadows.max_rounds),
        Parallel(n_jobs=n_jobs, require="sharedmem") as parallel,
    ):
        while len(found) < shadows.max_rounds:
            left = np.flatnonzero(status != REJECTED)
            if not len(left):
                break
            rounds = range(len(found), min(len(found) + BLOCK, shadows.max_rounds))
            play = partial(_round, sample, left, forest, shadows, seed)
            for values, limit in parallel(delayed(play)(k) for k in rounds):
                progress.step()
                row = np.full(d, np.nan)
                row[left] = values
                found.append(row)
                limits.append(limit)
                hits[left] += values > limit
                trials[left] += 1
                before = np.count_nonzero(status)
                status = _decisions(status, hits, trials, shadows)
                if np.count_nonzero(status) > before:
                    decided = max(decided, len(found))
            ahead = shadows.patience - (len(found) - decided)
            if not _open(status, hits, trials, shadows, ahead):
                break
    return Verdicts(status, hits, trials, np.array(found).reshape(-1, d), np.array(limits), shadows.confidence_among(d))


def _round(
    sample: Sample, columns: Indices, forest: Forest, shadows: Shadows, seed: int, number: int
) -> tuple[Array, float]:
    """Importances of some columns in a forest that also has permuted ones, and what a hit has to exceed."""
    rng = np.random.default_rng([seed, number])
    count = max(shadows.n_shadows, len(columns))
    origin = columns[np.arange(count) % len(columns)]
    permuted = rng.permuted(sample.X[:, origin], axis=0)
    X, categorical = np.hstack([sample.X[:, columns], permuted]), sample.categorical[np.append(columns, origin)]
    # Trees take the first of equally good features, so none may always come first.
    order = rng.permutation(X.shape[1])
    values = np.empty(X.shape[1])
    values[order] = importances(
        forest, sample.with_columns(X[:, order], categorical[order]), shadows.importance, shadows.n_folds, rng
    )
    own, others = values[: len(columns)], values[len(columns) :]
    return own, prediction_limit(others, shadows.confidence_among(sample.X.shape[1]))


def _open(
    status: NDArray[np.intp], hits: NDArray[np.intp], trials: NDArray[np.intp], shadows: Shadows, rounds: int
) -> bool:
    """Tell whether so many rounds more could decide a feature: if it always beat the permuted ones, or never."""
    if rounds <= 0:
        return False
    always, never = (_decisions(status, hits + more, trials + rounds, shadows) for more in (rounds, 0))
    return bool(np.any(always != status) or np.any(never != status))


def _decisions(
    status: NDArray[np.intp], hits: NDArray[np.intp], trials: NDArray[np.intp], shadows: Shadows
) -> NDArray[np.intp]:
    """Confirm and reject what is certain by now."""
    status = status.copy()
    d = len(status)
    for verdict, chance in (
        (CONFIRMED, binom.sf(hits - 1, trials, 0.5)),
        (REJECTED, binom.cdf(hits, trials, 0.5)),
    ):
        if shadows.two_step:
            certain = false_discovery_control(chance) <= shadows.alpha
            certain &= chance <= shadows.alpha / trials.max()
        else:
            certain = chance <= shadows.alpha / d
        status[(status == TENTATIVE) & certain] = verdict
    return status

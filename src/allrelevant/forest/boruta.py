"""All relevant features: those that are more important to forests than row-permuted copies of the features are.

After Kursa and Rudnicki's Boruta, which asks how often a feature beats the luckiest of some permuted features, and
takes the forests for independent draws. They are not: all of them see the same samples, and a feature of noise that
goes along with the target by accident in these samples beats freshly permuted features in every forest. So what is
compared here is the importance itself, with importances that features without a meaning have over many such accidents:

1. A row-permuted copy permutes the rows of *all* features by one permutation. What features of noise can do together,
   the copy can do, as their correlations are kept; with the target it has nothing to do.
2. A feature's importance is its mean over forests that are grown on all features and a copy of them, another one for
   every forest.
3. The null sample comes from forests in which a copy also takes the place of the features: of all but those that are
   evident by now, which stay as they are. Copies beside the features themselves would not do: a feature of noise that
   is important by accident is so in all of these forests, and leaves less to the copies than they leave to each other.
4. Importances are compared in units of a feature's own copies, as their mean and spread depend on how many values a
   feature has and on how many others resemble it.

A feature of noise that is independent of the target and of the evident features has the importance of a copy. Above any
limit there are, in expectation, no more features of noise than there are copies, per copy of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from allrelevant._progress import Progress
from allrelevant.forest.learner import Array, Forest, Sample, importances
from allrelevant.forest.permutation import row_permutation
from allrelevant.inference import NullSample, adjusted_pvalues

__all__ = ["Copies", "Importances", "compare_with_copies"]

#: Copies at least: with so many, a feature that tells nothing is the most important of all in 1 of 21 cases.
FEWEST = 20
#: Copies of single features that a tail can be fitted to; few features are copied more often, up to a limit.
SAMPLE, MOST = 320, 40
#: Adjusted p-value up to which a feature is evident.
EVIDENT = 0.005
#: Copies that the spread over all features counts for, beside a feature's own.
SHARED = 2.0


@dataclass(frozen=True)
class Copies:
    """How features are compared with their copies.

    Attributes
    ----------
    importance : str
        Kind of importance.
    n_folds : int
        Folds of a forest, where the importance is that of unseen samples.
    n_copies : int or None
        Copies in the null sample, and forests; None for a number that goes with the number of features.
    """

    importance: str = "held_out"
    n_folds: int = 3
    n_copies: int | None = None

    def n_forests(self, n_features: int) -> int:
        """Forests of either kind: half the number of copies."""
        count = min(max(FEWEST, -(-SAMPLE // max(n_features, 1))), MOST) if self.n_copies is None else self.n_copies
        return -(-count // 2)


@dataclass(frozen=True, eq=False)
class Importances:
    """Importances of features and of their copies.

    Attributes
    ----------
    features : ndarray of shape (n_forests, n_features)
        Importances of the features, in each of the forests that see all of them.
    copies : ndarray of shape (n_copies, n_features)
        Importances of their copies, each in one forest; NaN where the feature itself had the place.
    """

    features: Array
    copies: Array

    @property
    def mean(self) -> Array:
        """Mean importance of every feature."""
        return np.asarray(self.features.mean(axis=0))

    @cached_property
    def centre(self) -> Array:
        """Mean importance of the copies of every feature."""
        return np.asarray(np.nanmean(self.copies, axis=0))

    @cached_property
    def spread(self) -> Array:
        """Standard deviation of the importances of the copies of every feature, shrunk to that of all."""
        return np.asarray(np.sqrt(self._variance(self._squares.sum(axis=0), self._counts - 1.0)))

    @cached_property
    def null(self) -> NullSample:
        """Importances of all copies, each compared with the other copies of the same feature."""
        known, counts, squares = ~np.isnan(self.copies), self._counts, self._squares
        others = (self.centre * counts - self.copies) / (counts - 1.0)
        left = squares.sum(axis=0) - squares * counts / (counts - 1.0)
        spread = np.sqrt(np.maximum(self._variance(left, counts - 2.0), 0.0))
        return NullSample.of(_ratio((self.copies - others)[known], spread[known]))

    @cached_property
    def pvalues(self) -> Array:
        """Chance that a feature without a meaning is as important as each feature."""
        return self.null.pvalues(_ratio(self.mean - self.centre, self.spread))

    def limits(self, pvalues: Array) -> Array:
        """Return the importance from which on each feature has at most a p-value; infinite where none is enough."""
        return np.asarray(self.centre + np.where(self.spread > 0.0, self.spread, 1.0) * self.null.limit(pvalues))

    @property
    def _counts(self) -> Array:
        return np.asarray((~np.isnan(self.copies)).sum(axis=0), dtype=float)

    @cached_property
    def _squares(self) -> Array:
        return np.nan_to_num((self.copies - self.centre) ** 2)

    def _variance(self, squares: Array, degrees: Array) -> Array:
        """Variance by sums of squares, of which those of all features are a part."""
        shared = self._squares.sum() / max((self._counts - 1.0).sum(), 1.0)
        return np.asarray((squares + SHARED * shared) / (degrees + SHARED))


def _ratio(values: Array, spread: Array) -> Array:
    """Values in units of a spread; 0 where nothing varies."""
    return np.asarray(np.divide(values, spread, out=np.zeros_like(values), where=spread > 0.0))


def compare_with_copies(
    sample: Sample, forest: Forest, copies: Copies, *, seed: int, n_jobs: int | None, progress: Progress
) -> Importances:
    """Grow forests on features and copies of them, then forests on two copies, of which one spares evident features."""
    d = sample.X.shape[1]
    n_forests = copies.n_forests(d)
    if not d:
        return Importances(np.zeros((n_forests, 0)), np.zeros((2 * n_forests, 0)))

    with (
        progress.stage("shadow features", 2 * n_forests),
        Parallel(n_jobs=n_jobs, require="sharedmem") as parallel,
    ):

        def grown(kept: NDArray[np.bool_], *number: int) -> tuple[Array, Array]:
            rng = np.random.default_rng([seed, *number])
            first = sample.X if kept.all() else np.where(kept, sample.X, sample.X[row_permutation(sample, rng)])
            found = _both(sample, forest, copies, first, sample.X[row_permutation(sample, rng)], rng)
            progress.step()
            return found

        everything = np.ones(d, dtype=bool)
        beside = np.array(parallel(delayed(grown)(everything, 9, k) for k in range(n_forests)))
        features = beside[:, 0]
        first_look = Importances(features, beside[:, 1])
        evident = adjusted_pvalues(first_look.pvalues) <= EVIDENT
        null = np.array(parallel(delayed(grown)(evident, 10, k) for k in range(n_forests)))
    null[:, 0, evident] = np.nan
    return Importances(features, null.reshape(2 * n_forests, d))


def _both(
    sample: Sample, forest: Forest, copies: Copies, first: Array, second: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Importances of two tables side by side in one forest."""
    d = first.shape[1]
    X, categorical = np.hstack([first, second]), np.tile(sample.categorical, 2)
    # Trees take the first of equally good features, so neither table must always come first.
    order = rng.permutation(2 * d)
    values = np.empty(2 * d)
    values[order] = importances(
        forest, sample.with_columns(X[:, order], categorical[order]), copies.importance, copies.n_folds, rng
    )
    return values[:d], values[d:]

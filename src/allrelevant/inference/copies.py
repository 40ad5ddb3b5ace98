"""Evidence of a feature beside all others: its relevance compared with that of row-permuted copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from allrelevant.inference.pvalues import NullSample

__all__ = ["CopiesNull", "copies_pvalues"]

Array = NDArray[np.float64]

#: Features without all of their copies were below the median of the first set of copies: no p-value is less than this.
UNLIKELY = 0.5
#: Statistics that differ by less than this share of the greatest copy's may come from the error of whoever found them.
SAME = 1e-6


@dataclass(frozen=True, eq=False)
class CopiesNull:
    """What row-permuted copies of the features reach, and what that says of the features.

    A copy of feature ``k`` in set ``b`` is ``X[pi_b, k]``, where one permutation ``pi_b`` of the rows is used for all
    features, so that copies depend on each other as the features do. The null distribution of a feature's statistic has
    a centre of its own, the mean of its copies shrunk towards the mean of all copies (empirical Bayes, by how much the
    copies vary within and between features), and a shape that all features share: that of the deviations of each copy
    from the centre of the feature's other copies.

    Attributes
    ----------
    centre : ndarray of shape (n_features,)
        Centre of every feature's null distribution.
    complete : ndarray of shape (n_features,)
        Which features have a copy in every set.
    deviations : NullSample
        Deviations of the copies from the centre.
    same : float
        Statistics that exceed those of copies by no more than this are the same.
    """

    centre: Array
    complete: NDArray[np.bool_]
    deviations: NullSample
    same: float

    @classmethod
    def of(cls, copies: Array) -> Self:
        """Learn the null distribution from the statistics of copies.

        Parameters
        ----------
        copies : ndarray of shape (n_sets, n_features)
            Statistic of every copy; NaN for copies that were not made, of which there are none in the first set.
        """
        complete = np.asarray(np.isfinite(copies).all(axis=0))
        same = SAME * float(np.nanmax(np.abs(copies)))
        centre = np.full(copies.shape[1], float(copies[0].mean()))
        if len(copies) == 1 or not complete.any():
            return cls(centre, complete, NullSample.of(copies[0] - centre[0]), same)
        own = copies[:, complete]
        n_sets, mean = len(own), own.mean(axis=0)
        others = (mean * n_sets - own) / (n_sets - 1)
        overall = float(own.mean())
        within = float(own.var(axis=0, ddof=1).mean())
        between = max(float(mean.var(ddof=1)) - within / n_sets, 0.0) if len(mean) > 1 else 0.0
        centre[complete] = _shrunk(mean, overall, between, within / n_sets)
        deviations = own - _shrunk(others, overall, between, within / (n_sets - 1))
        return cls(centre, complete, NullSample.of(deviations.ravel()), same)

    def pvalues(self, statistic: Array) -> Array:
        """Return the chance that an irrelevant feature reaches each feature's statistic."""
        found = self.deviations.pvalues(statistic - self.centre - self.same)
        return np.where(self.complete, found, np.maximum(found, UNLIKELY))

    def limits(self, pvalues: Array) -> Array:
        """Return the least statistic of each feature whose p-value is at most as given; infinite if none is."""
        return np.asarray(self.centre + self.same + self.deviations.limit(pvalues))


def copies_pvalues(statistic: Array, copies: Array) -> Array:
    """Return p-values of statistics of features against those of their row-permuted copies.

    Parameters
    ----------
    statistic : ndarray of shape (n_features,)
        Any measure of the use of each feature beside all others, such as an importance.
    copies : ndarray of shape (n_sets, n_features)
        The same measure of row-permuted copies of the features, in each set by one permutation for all features.

    Returns
    -------
    ndarray of shape (n_features,)
        The p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.inference import copies_pvalues
    >>> rng = np.random.default_rng(0)
    >>> copies = rng.exponential(size=(3, 40))
    >>> statistic = np.append(rng.exponential(size=39), 20.0)
    >>> copies_pvalues(statistic, copies)[-1] < 0.001
    np.True_
    """
    return CopiesNull.of(np.asarray(copies, dtype=float)).pvalues(np.asarray(statistic, dtype=float))


def _shrunk(mean: Array, overall: float, between: float, error: float) -> Array:
    """Means shrunk towards the overall one by the variance between features and that of their error."""
    share = between / (between + error) if between > 0.0 else 0.0
    return np.asarray(overall + share * (mean - overall))

"""P-values from a sample of what chance does, and the combination of several of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import genpareto

__all__ = ["NullSample", "cauchy_combination", "remaining_pvalue"]

Array = NDArray[np.float64]

#: The tail is fitted to this share of the sample, but to no fewer values than that.
TAIL_SHARE, TAIL_LEAST = 0.15, 20
#: Excesses that differ by less than this share of the values are rounding, and no tail is fitted to them.
ROUNDING = 1e-9
#: P-values are kept this far from 0, where the tangent of Cauchy's rule has a pole. Those above the greatest count as
#: that: near 1 the other pole would outweigh any evidence (the truncated rule of Fang, Chang, Park and Tseng 2023).
LEAST, GREATEST = 1e-15, 0.9


@dataclass(frozen=True, eq=False)
class NullSample:
    """A sample of a statistic under the null hypothesis: p-values by counting, and beyond its bulk by a fitted tail.

    Up to the 85 % quantile a p-value is the share of the sample that reaches the statistic, with one added for the
    statistic itself. Beyond it, the excesses are taken for a generalized Pareto distribution, whose parameters are
    found by probability-weighted moments (Hosking and Wallis 1987). A distribution with an end is not believed: a shape
    below 0 is taken for 0, the exponential tail, which is on the safe side.

    Attributes
    ----------
    values : ndarray of shape (n,)
        The sample in ascending order.
    start : float
        Where the tail begins; infinite where none can be fitted.
    share : float
        Share of the sample beyond it.
    shape, scale : float
        Parameters of the tail.
    """

    values: Array
    start: float = np.inf
    share: float = 0.0
    shape: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, values: Array) -> Self:
        """Sort a sample and fit its tail."""
        values = np.sort(np.asarray(values, dtype=float))
        n = len(values)
        count = max(int(TAIL_SHARE * n), TAIL_LEAST)
        if n <= count:
            return cls(values)
        start = float(values[n - count - 1])
        excess = values[n - count :] - start
        first = float(excess.mean())
        if first <= ROUNDING * float(np.abs(values).max()):
            return cls(values)
        second = float(((1.0 - (np.arange(1, count + 1) - 0.35) / count) * excess).mean())
        shape = 2.0 - first / (first - 2.0 * second) if first > 2.0 * second else 0.0
        if shape <= 0.0:
            return cls(values, start, count / n, 0.0, first)
        return cls(values, start, count / n, shape, 2.0 * first * second / (first - 2.0 * second))

    def pvalues(self, statistic: Array) -> Array:
        """Return the chance that a value of the sample's distribution reaches each statistic."""
        n = len(self.values)
        reached = n - np.searchsorted(self.values, statistic, side="left")
        counted = (1.0 + reached) / (1.0 + n)
        excess = np.maximum(statistic - self.start, 0.0)
        tail = self.share * genpareto.sf(excess, self.shape, scale=self.scale)
        return np.asarray(np.where(statistic > self.start, tail, counted))

    def limit(self, pvalue: Array) -> Array:
        """Return the least statistic whose p-value is at most as given; infinite where none is."""
        n = len(self.values)
        # Of the sample at most so many values may reach the statistic, which lies just above the next one.
        allowed = np.floor(np.asarray(pvalue) * (1.0 + n) - 1.0 + 1e-9).astype(int)
        place = np.clip(n - 1 - allowed, 0, n - 1)
        counted = np.where(allowed >= n, -np.inf, np.nextafter(self.values[place], np.inf))
        counted = np.where(allowed < 0, np.inf, counted)
        if np.isinf(self.start):
            return np.asarray(counted)
        with np.errstate(divide="ignore"):
            ratio = np.clip(np.asarray(pvalue) / self.share, 0.0, 1.0)
        beyond = self.start + genpareto.isf(ratio, self.shape, scale=self.scale)
        # At the start itself values are counted, and many may be equal to it.
        beyond = np.maximum(beyond, np.nextafter(self.start, np.inf))
        return np.asarray(np.where(counted > self.start, beyond, counted))


def cauchy_combination(*pvalues: Array) -> Array:
    """Combine p-values of the same hypotheses that may depend on each other, by Cauchy's rule (Liu and Xie 2020).

    ``p = ½ − arctan(mean tan((½ − pᵢ) π)) / π``. The least of the p-values rules, at the price of their number.
    P-values above 0.9 count as 0.9, so that no evidence is cancelled by a feature that does badly otherwise.

    Parameters
    ----------
    *pvalues : ndarray of shape (m,)
        P-values of each kind of evidence, all of the same hypotheses.

    Returns
    -------
    ndarray of shape (m,)
        The combined p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.inference import cauchy_combination
    >>> cauchy_combination(np.array([0.001]), np.array([0.4])).round(4)
    array([0.002])
    """
    return _from_tangent(np.mean([_tangent(values) for values in pvalues], axis=0))


def remaining_pvalue(combined: Array, *others: Array) -> Array:
    """Return the greatest p-value of one more kind of evidence with which the combination is at most as given.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.inference import cauchy_combination, remaining_pvalue
    >>> needed = remaining_pvalue(np.array([0.01]), np.array([0.4]))
    >>> cauchy_combination(needed, np.array([0.4])).round(6)
    array([0.01])
    """
    rest = np.sum([_tangent(values) for values in others], axis=0) if others else 0.0
    return _from_tangent((len(others) + 1) * _tangent(combined, 1.0 - LEAST) - rest)


def _tangent(pvalues: Array, greatest: float = GREATEST) -> Array:
    return np.asarray(1.0 / np.tan(np.clip(pvalues, LEAST, greatest) * np.pi))


def _from_tangent(tangent: Array) -> Array:
    # arccot, exact for small p-values as well.
    return np.asarray(np.arctan2(1.0, tangent) / np.pi)

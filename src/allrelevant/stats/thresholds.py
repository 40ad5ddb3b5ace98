"""From the probes to thresholds, p-values and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from allrelevant.lp import GAP_LIMIT, Array
from allrelevant.result import RelevanceClass, Thresholds
from allrelevant.stats.probes import Probes

__all__ = ["MIN_PROBES", "RULES", "chance_of", "classify", "find_thresholds", "prediction_limit"]

#: Rules for the threshold, and the power to which each raises relevance before it assumes a normal distribution.
RULES = {"added": 1.0 / 3.0, "papers": 1.0}
#: Fewer usable probes say nothing about a spread.
MIN_PROBES = 3


def prediction_limit(values: Array, confidence: float, power: float = 1.0) -> float:
    """Limit that the next draw from the distribution of `values` stays below with the given confidence.

    The one-sided prediction limit ``mean + t · s · sqrt(1 + 1/n)`` of normal draws, on values raised to `power`. The
    largest relevance of a probe is skewed to the right; its cube root is so much less.

    Examples
    --------
    >>> import numpy as np
    >>> round(prediction_limit(np.array([1.0, 2.0, 3.0]), 0.975), 3)
    6.968
    """
    raised = values**power
    n = len(values)
    spread = raised.std(ddof=1) * np.sqrt(1 + 1 / n)
    return float(max(raised.mean() + stats.t.ppf(confidence, n - 1) * spread, 0.0) ** (1 / power))


def chance_of(relevance: Array, values: Array, power: float = 1.0) -> Array:
    """Chance that the next draw from the distribution of `values` reaches each `relevance`."""
    raised = values**power
    n = len(values)
    spread = raised.std(ddof=1) * np.sqrt(1 + 1 / n)
    excess = relevance**power - raised.mean()
    if spread <= GAP_LIMIT * raised.mean():  # differences that no proof can tell from 0
        return np.where(excess > GAP_LIMIT * raised.mean(), 0.0, 1.0)
    return np.asarray(stats.t.sf(excess / spread, n - 1))


def find_thresholds(probes: Probes, confidence: float) -> Thresholds:
    """Limits of what chance explains, for ``maxRel`` and for ``minRel``."""
    power = RULES[probes.rule]
    return Thresholds(
        # A minimum below what a proof can tell from 0 is none.
        min_relevance=max(prediction_limit(probes.minimum, confidence, power), GAP_LIMIT),
        max_relevance=max(prediction_limit(probes.maximum, confidence, power), GAP_LIMIT),
        rule=probes.rule,
        confidence=confidence,
        n_probes=probes.n_drawn,
        n_usable=len(probes.maximum),
    )


def classify(minimum: Array, maximum: Array, thresholds: Thresholds) -> NDArray[np.int64]:
    """Class of every feature: relevant if ``maxRel`` is beyond chance, strongly so if ``minRel`` is too."""
    relevant = maximum > thresholds.max_relevance + GAP_LIMIT
    strong = relevant & (minimum > thresholds.min_relevance)
    classes = np.where(strong, RelevanceClass.STRONG, np.where(relevant, RelevanceClass.WEAK, 0))
    return classes.astype(np.int64)

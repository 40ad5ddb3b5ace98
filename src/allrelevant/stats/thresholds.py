"""From the probes to thresholds, p-values and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from allrelevant.lp import GAP_LIMIT, Array
from allrelevant.result import RelevanceClass, Thresholds
from allrelevant.stats.probes import Probes

__all__ = ["MIN_PROBES", "RULES", "chance_of", "classify", "find_thresholds", "prediction_limit"]

#: Rules for the threshold.
RULES = ("added", "papers")
#: Fewer usable probes say nothing about a spread.
MIN_PROBES = 3


def prediction_limit(values: Array, confidence: float, power: float = 1.0, sides: int = 1) -> float:
    """Limit that the greatest of the next few draws from the distribution of `values` stays below.

    The one-sided prediction limit ``mean + t · s · sqrt(1 + 1/n)`` of normal draws, on values raised to `power`. The
    relevance of probes is skewed to the right; its roots are so much less. What is left of the confidence is shared
    evenly among the `sides` draws, which is right or, where they depend on each other, on the safe side.

    Examples
    --------
    >>> import numpy as np
    >>> round(prediction_limit(np.array([1.0, 2.0, 3.0]), 0.975), 3)
    6.968
    """
    raised = values**power
    n = len(values)
    spread = raised.std(ddof=1) * np.sqrt(1 + 1 / n)
    return float(max(raised.mean() + stats.t.isf((1 - confidence) / sides, n - 1) * spread, 0.0) ** (1 / power))


def chance_of(relevance: Array, values: Array, power: float = 1.0, sides: int = 1) -> Array:
    """Chance that one of the next few draws from the distribution of `values` reaches each `relevance`, at most."""
    raised = values**power
    n = len(values)
    spread = raised.std(ddof=1) * np.sqrt(1 + 1 / n)
    excess = relevance**power - raised.mean()
    if spread <= GAP_LIMIT * raised.mean():  # differences that no proof can tell from 0
        return np.where(excess > GAP_LIMIT * raised.mean(), 0.0, 1.0)
    return np.asarray(np.minimum(sides * stats.t.sf(excess / spread, n - 1), 1.0))


def find_thresholds(probes: Probes, confidence: float) -> Thresholds:
    """Limits of what chance explains, for ``maxRel`` and for ``minRel``."""
    scale = (probes.power, probes.sides)
    return Thresholds(
        # A minimum below what a proof can tell from 0 is none.
        min_relevance=max(prediction_limit(probes.minimum, confidence, *scale), GAP_LIMIT),
        max_relevance=max(prediction_limit(probes.maximum, confidence, *scale), GAP_LIMIT),
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

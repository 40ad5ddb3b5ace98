"""From the probes to thresholds, p-values and classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from allrelevant.lp import GAP_LIMIT, Array
from allrelevant.result import RelevanceClass, Thresholds
from allrelevant.stats.prediction import prediction_limit
from allrelevant.stats.probes import Probes

__all__ = ["MIN_PROBES", "RULES", "chance_of", "classify", "find_thresholds"]

#: Rules for the threshold.
RULES = ("added", "papers")
#: Fewer usable probes say nothing about a spread.
MIN_PROBES = 3


def chance_of(relevance: Array, values: Array, power: float = 1.0, sides: int = 1) -> Array:
    """Chance that one of the next few draws from the distribution of `values` reaches each `relevance`, at most."""
    if len(values) < MIN_PROBES:  # they prove nothing
        return np.ones(len(relevance))
    raised = values**power
    n = len(values)
    spread = raised.std(ddof=1) * np.sqrt(1 + 1 / n)
    excess = relevance**power - raised.mean()
    if spread <= GAP_LIMIT * raised.mean():  # differences that no proof can tell from 0
        return np.where(excess > GAP_LIMIT * raised.mean(), 0.0, 1.0)
    return np.asarray(np.minimum(sides * stdtr(n - 1, -excess / spread), 1.0))


def find_thresholds(probes: Probes, confidence: float) -> Thresholds:
    """Limits of what chance explains, for ``maxRel`` and for ``minRel``; NaN if too few probes were bounded in time."""

    def limit(values: Array) -> float:
        if len(values) < MIN_PROBES:
            return np.nan
        # A minimum below what a proof can tell from 0 is none.
        return max(prediction_limit(values, confidence, probes.power, probes.sides), GAP_LIMIT)

    return Thresholds(
        min_relevance=limit(probes.minimum),
        max_relevance=limit(probes.maximum),
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

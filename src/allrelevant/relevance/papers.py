"""The threshold as the papers have it: probes that replace a feature, and the prediction interval of their values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from allrelevant.errors import TimeLimitReached
from allrelevant.formulations import Formulation
from allrelevant.inference.decision import Decision
from allrelevant.inference.prediction import prediction_limit
from allrelevant.lp import GAP_LIMIT, Array
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.matrix import Indices, Matrix, dense_column, ranges, substitute
from allrelevant.relevance.copies import Sample
from allrelevant.relevance.intervals import Intervals, relevance_intervals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving

__all__ = ["MIN_PROBES", "Probes", "chance_of", "draw_probes", "papers_decision", "replaced_probes", "varying_features"]

#: Fewer usable probes say nothing about a spread.
MIN_PROBES = 3
#: Share by which a point that spends the whole norm is moved inside.
WITHIN = 1e-9


@dataclass(frozen=True, eq=False)
class Probes:
    """Relevance intervals of the probes that left a near-optimal model, and were bounded in time.

    Attributes
    ----------
    minimum, maximum : ndarray of shape (n_usable,)
        Their relevance intervals.
    n_drawn, late : int
        Probes drawn, and those that time ran out for.
    gap : float
        Largest certified gap of a bound.
    n_programs : int
        Linear programs solved.
    """

    minimum: Array
    maximum: Array
    n_drawn: int
    late: int = 0
    gap: float = 0.0
    n_programs: int = 0

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits of ``minRel`` and ``maxRel`` that a next probe exceeds with the chance `level`."""
        if len(self.maximum) < MIN_PROBES:
            return np.nan, np.nan
        low, high = (max(prediction_limit(each, 1.0 - level), GAP_LIMIT) for each in (self.minimum, self.maximum))
        return low, high


def varying_features(X: Matrix, among: Indices) -> Indices:
    """Those of the given features that are not constant."""
    low, high = ranges(X)
    return among[high[among] > low[among]]


def draw_probes(
    X: Matrix, n_probes: int, among: Indices, random_state: np.random.RandomState
) -> tuple[Indices, Iterator[Array]]:
    """Draw some of the given features, and permute each over the samples.

    Returns
    -------
    source : ndarray of shape (n_probes,)
        The features drawn.
    values : iterator of ndarray of shape (n_samples, 1)
        Their permuted values, drawn one at a time: all of them may be more than the data.
    """
    source = among[random_state.randint(len(among), size=n_probes)]
    return source, (_oriented(random_state.permutation(dense_column(X, k)))[:, None] for k in source)


def _oriented(values: Array) -> Array:
    """Values or their negatives, so that the first change is downwards: a flipped or shifted feature has the same."""
    return values if values[0] >= values[np.argmax(values != values[0])] else -values


def replaced_probes(
    near: NearOptimalSet,
    formulation: Formulation,
    sample: Sample,
    source: Indices,
    values: Iterator[Array],
    solving: Solving,
) -> Probes:
    """Bound each probe in the place of the column that it was made from.

    Where that feature was needed no near-optimal model may be left; such probes are counted and dropped. Those that
    time runs out for are left out.
    """
    found: list[Intervals] = []
    dropped = 0
    with solving.progress.stage("probes", len(source)):
        for k, column in zip(source, values, strict=True):
            program = formulation.program(substitute(sample.X, int(k), column), sample.target, sample.weight)
            try:
                w, b = HighsBounds(program, near.budget).least_spending()
            except TimeLimitReached:
                break
            # The least loss often takes the whole norm: whether anything is left must not be a matter of rounding.
            w = (1.0 - WITHIN) * w
            if near.budget.room(program.norm(w), program.loss(w, b)) > 0.0:
                there = replace(near, program=program, w=w, b=b)
                intervals = relevance_intervals(there, [formulation.feature(int(k), sample.X.shape[1])], solving)
                if intervals.unfinished is None:
                    found.append(intervals)
                elif time_is_up():
                    break
            else:
                dropped += 1
            solving.progress.step()
    return Probes(
        np.array([one.minimum[0] for one in found]),
        np.array([one.maximum[0] for one in found]),
        len(source),
        len(source) - len(found) - dropped,
        max((one.gap for one in found), default=0.0),
        sum(one.n_programs for one in found),
    )


def chance_of(relevance: Array, values: Array) -> Array:
    """Chance that the next draw from the normal distribution of `values` reaches each relevance."""
    if len(values) < MIN_PROBES:  # they prove nothing
        return np.ones(len(relevance))
    n, mean = len(values), values.mean()
    spread = values.std(ddof=1) * np.sqrt(1 + 1 / n)
    excess = relevance - mean
    if spread <= GAP_LIMIT * mean:  # differences that no proof can tell from 0
        return np.where(excess > GAP_LIMIT * mean, 0.0, 1.0)
    return np.asarray(stdtr(n - 1, -excess / spread))


def papers_decision(maximum: Array, probes: Probes, level: float) -> Decision:
    """Return who is relevant by the papers' rule: those whose ``maxRel`` exceeds the prediction limit."""
    limit = probes.limits(level)[1]
    limits = np.full(len(maximum), limit + GAP_LIMIT)
    pvalues = np.where(maximum > 0.0, chance_of(maximum, probes.maximum), 1.0)
    none = np.full(len(maximum), np.nan)
    return Decision(pvalues, pvalues, pvalues, none, limits, maximum > limits)

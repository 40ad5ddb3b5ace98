"""From features to classes: draw probes, learn from them what chance can do, bound the features and judge them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from allrelevant.formulations import Feature, Formulation
from allrelevant.lp import GAP_LIMIT, Array, Bounds, BoundSolver
from allrelevant.lp.matrix import Indices, Matrix
from allrelevant.lp.targets import Columns
from allrelevant.relevance.intervals import Intervals, Questions, relevance_intervals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving
from allrelevant.result import RelevanceClass, Thresholds
from allrelevant.stats.probes import (
    Probes,
    added_probes,
    bounded_together,
    concentrated_features,
    draw_group_probes,
    draw_probes,
    probe_columns,
    probe_solver,
    replaced_probes,
    varying_features,
)
from allrelevant.stats.thresholds import MIN_PROBES, chance_of, classify, find_thresholds

__all__ = ["CONTROLS", "Judgement", "Jury", "Sample", "judge"]

CONTROLS = ("feature", "fdr")

NOTHING_VARIES = "All privileged features are constant, so every privileged feature is irrelevant."
#: Probes of a feature's own, for features that cannot be compared with others.
OWN_PROBES = 20


@dataclass(frozen=True, eq=False)
class Sample:
    """The data that probes are made from: one row per sample, with targets and weights."""

    X: Matrix
    target: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class Jury:
    """The probes that features are judged by, whatever their intervals.

    Attributes
    ----------
    thresholds : Thresholds
        Limits of what chance explains.
    probes : Probes
        What features share.
    own : dict of int to Probes
        Permutations of single features, or of groups of columns.
    groups : frozenset of int
        Groups of columns, which only their own permutations judge.
    level : float
        P-value below which a feature that has permutations of its own is relevant.
    """

    thresholds: Thresholds
    probes: Probes
    own: Mapping[int, Probes]
    groups: frozenset[int]
    level: float

    def verdict(self, minimum: Array, maximum: Array) -> tuple[Array, NDArray[np.int64]]:
        """Return p-value and class of every feature, given its interval."""
        thresholds = self.thresholds
        # Only a weight of exactly 0 in all near-optimal models is certain not to exceed chance.
        pvalues = np.where(maximum > 0, _chance(maximum, self.probes), 1.0)
        classes = classify(minimum, maximum, thresholds)
        for k, probes in self.own.items():
            chance = float(_chance(maximum[[k]], probes)[0])
            if k in self.groups:
                pvalues[k] = chance if maximum[k] > 0 else 1.0
                needed = minimum[k] > thresholds.min_relevance
                classes[k] = RelevanceClass.STRONG if needed else RelevanceClass.WEAK
            else:
                pvalues[k] = max(pvalues[k], chance)
            classes[k] = classes[k] if pvalues[k] < self.level else 0
        return pvalues, classes

    def controlled(self, pvalues: Array) -> Jury:
        """Return the jury that calls as many features relevant as keep the share of false ones at its level.

        With Benjamini and Hochberg's procedure, ``k`` of ``m`` features are found that have a p-value of at most
        ``k / m`` times the level: that is the level of each.
        """
        count = int((false_discovery_control(pvalues) <= self.level).sum())
        level = max(count, 1) * self.level / len(pvalues)
        limit = find_thresholds(self.probes, 1.0 - level).max_relevance
        return replace(self, thresholds=replace(self.thresholds, max_relevance=limit), level=level)


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the probes say about the features, and what it took to find out.

    Attributes
    ----------
    thresholds : Thresholds
        Limits of what chance explains.
    pvalues, classes : ndarray of shape (n_features,)
        Chance that an irrelevant feature reaches the feature's ``maxRel``, and its class.
    jury : Jury or None
        Who said so; None where there was nothing to judge.
    overruled : ndarray of int
        Features beyond the threshold that permutations of their own show to be no better than chance.
    notes : tuple of str
        What a reader must know.
    gap : float
        Largest certified gap.
    n_programs : int
        Linear programs solved.
    undecided : ndarray of int
        Features that might be of a higher class, had there been more time.
    hurried : tuple of str
        The notes that say so.
    """

    thresholds: Thresholds
    pvalues: Array
    classes: NDArray[np.int64]
    jury: Jury | None
    overruled: Indices
    notes: tuple[str, ...] = ()
    gap: float = 0.0
    n_programs: int = 0
    undecided: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    hurried: tuple[str, ...] = ()

    @classmethod
    def nothing(cls, n_features: int, rule: str, confidence: float, *notes: str) -> Judgement:
        """Every feature is irrelevant, because the model has no weights."""
        none = Thresholds(0.0, 0.0, rule, confidence, 0, 0)
        classes = np.zeros(n_features, dtype=np.int64)
        return cls(none, np.ones(n_features), classes, None, np.empty(0, dtype=np.intp), notes)


def judge(
    near: NearOptimalSet,
    formulation: Formulation,
    sample: Sample,
    features: Sequence[Feature],
    members: Sequence[Indices],
    *,
    privileged: bool,
    rule: str,
    n_probes: int,
    confidence: float,
    control: str,
    seed: int,
    solving: Solving,
) -> tuple[Intervals, Judgement]:
    """Bound features of one kind and judge them by probes of that kind.

    Features of one column share the probes and a threshold. Features that vary in few samples only, compared with
    others, and groups of columns, which have more room to fit noise, are judged by permutations of their own. Probes
    come first: if time runs out, the features that were bounded until then can be judged.

    Parameters
    ----------
    near : NearOptimalSet
        The near-optimal models.
    formulation : Formulation
        What states probes in their rows.
    sample : Sample
        The data.
    features : sequence of Feature
        The features.
    members : sequence of ndarray
        Their columns of the data.
    privileged : bool
        Whether they are privileged features.
    rule, n_probes, confidence, control, seed
        How to draw the probes and the threshold.
    solving : Solving
        How to solve.
    """
    rng = np.random.RandomState(seed)
    context = (sample.target, sample.weight)
    notes: list[str] = []
    place = {int(columns[0]): k for k, columns in enumerate(members) if len(columns) == 1}
    single = np.array(sorted(place), dtype=np.intp)
    groups = [k for k, columns in enumerate(members) if len(columns) > 1]

    def drawing(values: Iterator[Array]) -> Callable[[int], Columns]:
        def draw(some: int) -> Columns:
            drawn = np.hstack(list(islice(values, some)))
            return probe_columns(formulation.probes(drawn.shape[1], privileged), drawn, some, *context)

        return draw

    def added(feature: Feature, count: int, values: Iterator[Array]) -> Probes:
        return added_probes(near, feature, count, drawing(values), solving)

    probes: Probes | None = None
    shared: BoundSolver | None = None
    questions: Questions | None = None
    found: Bounds | None = None
    varying = varying_features(sample.X, single)
    if rule == "papers" and len(varying):
        drawn = draw_probes(sample.X, n_probes, varying, rng)
        probes = replaced_probes(near, formulation, sample.X, *drawn, *context, solving)
        if len(probes.maximum) < MIN_PROBES and not probes.late:
            notes.append(
                f"Only {len(probes.maximum)} of {probes.n_drawn} probes that replace a feature left a near-optimal "
                "model, too few for a threshold; probes added beside all features were used instead."
            )
            probes = None
    concentrated = np.empty(0, dtype=np.intp)
    if probes is None and len(varying):
        concentrated = concentrated_features(sample.X, sample.weight, varying)
        _, values = draw_probes(sample.X, n_probes, np.setdiff1d(varying, concentrated), rng)
        feature = features[place[int(varying[0])]]
        # One side of each, at random: as many programs on both sides of half the probes would say less. Contrasts of
        # several classes are too different for that.
        sides = rng.randint(2, size=n_probes) if len(feature.contrasts) == 1 else None
        # One solver for the probes and then for the features: it is made, and sent to workers, once.
        shared = probe_solver(near, feature, solving)
        if sides is not None:
            questions = Questions.about(features, near)
            both = bounded_together(near, feature, drawing(values), sides, shared, questions, solving)
            if both is not None:
                probes, found = both
        if probes is None:
            probes = added_probes(near, feature, n_probes, drawing(values), solving, sides, shared)

    own: dict[int, Probes] = {}
    for k in groups:
        own[k] = added(features[k], OWN_PROBES, draw_group_probes(sample.X, OWN_PROBES, members[k], rng))
    if probes is None and not groups:  # of regular features some vary, or the model would have no weights
        nothing = Judgement.nothing(len(features), rule, confidence, NOTHING_VARIES)
        return relevance_intervals(near, features, solving), nothing
    if probes is None:
        probes = own[groups[0]]
    thresholds = find_thresholds(probes, confidence)
    intervals = relevance_intervals(near, features, solving, shared, questions, found)
    shared = None  # it takes memory that others may need
    ends = intervals.minimum, intervals.maximum
    if intervals.unfinished is not None:  # nobody is relevant before it is shown
        ends = intervals.minimum, intervals.unfinished.maximum
    jury = Jury(thresholds, probes, own, frozenset(groups), 1.0 - confidence)
    if control == "fdr":
        jury = jury.controlled(jury.verdict(*ends)[0])
    classes = jury.verdict(*ends)[1]
    beyond = np.array([place[int(k)] for k in concentrated if classes[place[int(k)]] > 0], dtype=np.intp)
    for k in beyond:
        _, values = draw_probes(sample.X, OWN_PROBES, members[k], rng)
        own[int(k)] = added(features[k], OWN_PROBES, values)
    if control == "fdr":  # permutations of their own may have raised p-values
        jury = Jury(thresholds, probes, own, frozenset(groups), 1.0 - confidence)
        jury = jury.controlled(jury.verdict(*ends)[0])
    pvalues, classes = jury.verdict(*ends)
    undecided = np.flatnonzero(_possible(jury, thresholds, intervals, control) != classes)
    every = [probes, *own.values()]
    hurried = _hurried(intervals, every, len(undecided))
    return intervals, Judgement(
        jury.thresholds,
        pvalues,
        classes,
        jury,
        np.setdiff1d(beyond[classes[beyond] == 0], undecided),
        (*notes, *hurried),
        max(probe.gap for probe in every),
        sum(probe.n_programs for probe in every),
        undecided,
        hurried,
    )


def _possible(jury: Jury, thresholds: Thresholds, intervals: Intervals, control: str) -> NDArray[np.int64]:
    """The highest class of every feature that more time could have shown."""
    minimum, maximum = intervals.minimum, intervals.maximum
    if intervals.unfinished is not None:
        minimum = intervals.unfinished.minimum
        jury = replace(jury, thresholds=thresholds)
        if control == "fdr":
            jury = replace(jury, level=1.0 - thresholds.confidence).controlled(jury.verdict(minimum, maximum)[0])
    classes = jury.verdict(minimum, maximum)[1]
    short = np.full(len(maximum), len(jury.probes.maximum) < MIN_PROBES)
    for k, probes in jury.own.items():
        short[k] = (short[k] and k not in jury.groups) or len(probes.maximum) < MIN_PROBES
    # Without enough probes, all that can be told is that a weight which is always 0 is irrelevant.
    best = np.where(minimum > GAP_LIMIT, int(RelevanceClass.STRONG), int(RelevanceClass.WEAK))
    return np.where(short & (maximum > GAP_LIMIT), best, classes)


def _hurried(intervals: Intervals, every: Sequence[Probes], undecided: int) -> tuple[str, ...]:
    """What a reader must know of a fit that ran out of time, if it did."""
    notes, unfinished, count = [], intervals.unfinished, len(intervals.maximum)
    drawn, late = sum(one.n_drawn for one in every), sum(one.late for one in every)
    if unfinished is not None:
        notes.append(
            f"The time limit was reached before all bounds were found: the intervals of {int(unfinished.open.sum())} "
            f"of {count} features hold the true ones, but may be far wider."
        )
    if late:
        notes.append(f"The time limit was reached before {late} of {drawn} probes were bounded, which are left out.")
    if undecided:
        notes.append(
            f"The time limit left {undecided} of {count} features undecided: they have the class that is shown so far, "
            "and may be more relevant than that."
        )
    return (" ".join(notes),) if notes else ()


def _chance(relevance: Array, probes: Probes) -> Array:
    return chance_of(relevance, probes.maximum, probes.power, probes.sides)

"""From intervals to classes: copies and permutations are made, evidence is combined, and every feature is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations import Formulation
from allrelevant.inference import N_PERMUTATIONS, Decision, alone_pvalues, companions, decide
from allrelevant.lp import GAP_LIMIT, Array
from allrelevant.lp.matrix import Indices, dense_column, ranges
from allrelevant.relevance.copies import CopyBounds, Sample, bound_copies, default_copies
from allrelevant.relevance.intervals import Intervals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.papers import MIN_PROBES, draw_probes, papers_decision, replaced_probes, varying_features
from allrelevant.relevance.solving import Solving
from allrelevant.result import RelevanceClass, Thresholds

__all__ = ["RULES", "Rule", "Verdict", "judge"]

#: Rules for what is relevant.
RULES = ("copies", "papers")
#: Numbers in all permutations of the rows, roughly, where there are so many rows that fewer permutations must do.
PERMUTED, FEWEST_PERMUTATIONS = 2e7, 100
#: Numbers in columns that are compared with the target at a time.
AT_ONCE = 2**23


@dataclass(frozen=True)
class Rule:
    """The options of an estimator that say who is relevant."""

    name: str
    level: float
    control: str
    n_copies: int | None
    n_probes: int


@dataclass(frozen=True, eq=False)
class Verdict:
    """Who is relevant, why, and what it took to find out.

    Attributes
    ----------
    decision : Decision
        P-values and limits, in the order of the features.
    thresholds : Thresholds
        The rule, and what it compared with.
    companions : dict of int to tuple of int
        Features that tell of the target only beside others, and those others.
    notes, hurried : tuple of str
        What a reader must know, and what of it is for want of time.
    gap : float
        Largest certified gap.
    n_programs : int
        Linear programs solved.
    undecided : ndarray of int
        Features that might be of a higher class, had there been more time.
    informed : bool
        Whether there was a model to judge.
    """

    decision: Decision
    thresholds: Thresholds
    companions: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    gap: float = 0.0
    n_programs: int = 0
    undecided: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    hurried: tuple[str, ...] = ()
    informed: bool = True

    @classmethod
    def nothing(cls, n_features: int, rule: Rule, *notes: str) -> Verdict:
        """Every feature is irrelevant, because the model has no weights."""
        thresholds = Thresholds(0.0, 0.0, rule.name, rule.level, rule.control, 0, 0)
        return cls(Decision.nothing(n_features), thresholds, notes=notes, informed=False)

    def classes(self, minimum: Array) -> NDArray[np.int64]:
        """Return the class of every feature: strong if it is relevant and no near-optimal model can do without it."""
        return _classes(self.decision.relevant, minimum, self.thresholds.min_relevance)

    def constrained(self, minimum: Array, maximum: Array) -> NDArray[np.int64]:
        """Return the classes that relevant features have where constraints have moved their intervals.

        No feature is tested twice: one that is relevant stays so as long as its ``maxRel`` exceeds its limit, or all
        models that are left need it.
        """
        least = self.thresholds.min_relevance
        limits = np.maximum(self.decision.limits, GAP_LIMIT)
        relevant = self.decision.relevant & ((maximum > limits) | (minimum > least))
        return _classes(relevant, minimum, least)


def judge(
    near: NearOptimalSet,
    formulation: Formulation,
    sample: Sample,
    columns: Sequence[Indices],
    intervals: Intervals,
    rule: Rule,
    permutation: Callable[[np.random.Generator], NDArray[np.intp]],
    *,
    privileged: bool,
    seed: int,
    solving: Solving,
) -> Verdict:
    """Judge features of one kind.

    Parameters
    ----------
    near : NearOptimalSet
        The near-optimal models.
    formulation : Formulation
        What states them.
    sample : Sample
        The samples, which are permuted.
    columns : sequence of ndarray
        Columns of every feature.
    intervals : Intervals
        The intervals of the features.
    rule : Rule
        Who is relevant.
    permutation : callable
        Returns a permutation under which the rows are exchangeable, given a generator of random numbers.
    privileged : bool
        Whether they are privileged features.
    seed : int
        Seed of the permutations.
    solving : Solving
        How to solve.
    """
    notes: tuple[str, ...] = ()
    if rule.name == "papers":
        found = _by_papers(near, formulation, sample, columns, intervals, rule, seed, solving)
        if isinstance(found, Verdict):
            return found
        notes = (found,)
    # What has been shown so far: nobody is relevant before.
    shown = intervals.maximum if intervals.unfinished is None else intervals.unfinished.maximum
    # Constant features are known to be irrelevant: they are no part of any comparison, and count for none.
    low, high = ranges(sample.X)
    some = np.array([k for k, each in enumerate(columns) if (high[each] > low[each]).any()], dtype=np.intp)
    if not len(some):
        thresholds = Thresholds(GAP_LIMIT, np.nan, "copies", rule.level, rule.control, 0, 0)
        return Verdict(Decision.nothing(len(columns)), thresholds, notes=notes)
    compared_columns = [columns[int(k)] for k in some]
    rng = np.random.default_rng(seed)
    n_sets = default_copies(len(some)) if rule.n_copies is None else rule.n_copies
    copies = bound_copies(
        near,
        formulation,
        sample,
        compared_columns,
        shown[some],
        lambda: permutation(rng),
        n_sets,
        solving,
        privileged=privileged,
    )
    if copies.failure:
        notes += (
            f"Only {len(copies.maximum)} of {copies.n_drawn} sets of copies could be bounded ({copies.failure}); "
            "without any, features are judged by what each tells of the target alone.",
        )
    scores = formulation.scores(sample.target, privileged)
    alone = None
    if scores is not None:
        with solving.progress.stage("permutations", 1):
            alone = _alone(sample, compared_columns, scores, permutation, seed)
            solving.progress.step()
    compared = copies.maximum if len(copies.maximum) else None
    statistic, known = shown.copy(), intervals.maximum.copy()
    if compared is not None:
        statistic[some] = copies.beside
        known = np.maximum(known, statistic)

    def decided(values: Array) -> Decision:
        found = decide(values[some], compared, alone, level=rule.level, control=rule.control)
        return found.among(some, len(columns))

    decision = decided(statistic)
    # Limits for maxRel as it is reported, without copies beside the feature.
    limits = decision.limits - (statistic - shown)
    limits = np.where(decision.relevant, np.minimum(limits, np.nextafter(shown, -np.inf)), np.maximum(limits, shown))
    decision = replace(decision, limits=limits)
    thresholds = Thresholds(GAP_LIMIT, np.nan, "copies", rule.level, rule.control, copies.n_drawn, len(copies.maximum))
    verdict = Verdict(decision, thresholds, notes=notes, gap=copies.gap, n_programs=copies.n_programs)
    verdict = replace(verdict, companions=_companions(verdict, sample, columns, scores))
    hopeful = decided(known).relevant
    if compared is None:
        hopeful = intervals.maximum > GAP_LIMIT
    least = intervals.minimum if intervals.unfinished is None else intervals.unfinished.minimum
    possible = _classes(hopeful | decision.relevant, least, GAP_LIMIT)
    undecided = np.flatnonzero((possible != verdict.classes(intervals.minimum)) & (not copies.failure))
    hurried = _hurried(intervals, copies, len(undecided))
    return replace(verdict, notes=(*notes, *hurried), hurried=hurried, undecided=undecided)


def _classes(relevant: NDArray[np.bool_], minimum: Array, least: float) -> NDArray[np.int64]:
    strong = relevant & (minimum > least)
    return np.where(strong, RelevanceClass.STRONG, np.where(relevant, RelevanceClass.WEAK, 0)).astype(np.int64)


def _by_papers(
    near: NearOptimalSet,
    formulation: Formulation,
    sample: Sample,
    columns: Sequence[Indices],
    intervals: Intervals,
    rule: Rule,
    seed: int,
    solving: Solving,
) -> Verdict | str:
    """The papers' verdict, or why there is none."""
    single = np.array([int(each[0]) for each in columns if len(each) == 1], dtype=np.intp)
    varying = varying_features(sample.X, np.sort(single))
    if len(single) < len(columns) or not len(varying):
        return (
            "threshold_rule='papers' compares single columns that vary, and some features are none; row-permuted "
            "copies were used instead."
        )
    drawn = draw_probes(sample.X, rule.n_probes, varying, np.random.RandomState(seed))
    probes = replaced_probes(near, formulation, sample, *drawn, solving)
    if len(probes.maximum) < MIN_PROBES and not probes.late:
        return (
            f"Only {len(probes.maximum)} of {probes.n_drawn} probes that replace a feature left a near-optimal "
            "model, too few for a threshold; row-permuted copies were used instead."
        )
    shown = intervals.maximum if intervals.unfinished is None else intervals.unfinished.maximum
    low, high = probes.limits(rule.level)
    decision = papers_decision(shown, probes, rule.level)
    usable = len(probes.maximum)
    thresholds = Thresholds(low, high, "papers", rule.level, "none", probes.n_drawn, usable)
    verdict = Verdict(decision, thresholds, gap=probes.gap, n_programs=probes.n_programs)
    hopeful = intervals.maximum > (high if usable >= MIN_PROBES else 0.0) + GAP_LIMIT
    least = intervals.minimum if intervals.unfinished is None else intervals.unfinished.minimum
    possible = _classes(hopeful, least, low if usable >= MIN_PROBES else GAP_LIMIT)
    undecided = np.flatnonzero(possible != verdict.classes(intervals.minimum))
    hurried = _hurried(intervals, probes.late, len(undecided))
    return replace(verdict, notes=hurried, hurried=hurried, undecided=undecided)


def _alone(
    sample: Sample,
    columns: Sequence[Indices],
    scores: Array,
    permutation: Callable[[np.random.Generator], NDArray[np.intp]],
    seed: int,
) -> Array:
    """P-values of every feature by itself, of as many features at a time as memory allows."""
    n = len(sample.target)
    count = int(np.clip(PERMUTED / n, FEWEST_PERMUTATIONS, N_PERMUTATIONS))
    given = np.column_stack([np.zeros((n, 0)), *(dense_column(sample.X, k) for k in range(sample.fixed))])
    width = max(1, AT_ONCE // n)
    found, first = [], 0
    while first < len(columns):
        last = first + 1
        while last < len(columns) and sum(map(len, columns[first : last + 1])) <= width:
            last += 1
        some = columns[first:last]
        X = np.column_stack([dense_column(sample.X, int(k)) for each in some for k in each])
        ends = np.cumsum([len(each) for each in some])
        members = np.split(np.arange(ends[-1]), ends[:-1])
        drawn = _permutations(permutation, seed, count)
        found.append(alone_pvalues(X, scores, drawn, sample_weight=sample.weight, given=given, members=members))
        first = last
    return np.concatenate(found)


def _permutations(
    permutation: Callable[[np.random.Generator], NDArray[np.intp]], seed: int, count: int
) -> Iterator[NDArray[np.intp]]:
    """Other permutations than those of the copies, but the same at every call."""
    rng = np.random.default_rng([seed, 1])
    return (permutation(rng) for _ in range(count))


def _companions(
    verdict: Verdict, sample: Sample, columns: Sequence[Indices], scores: Array | None
) -> dict[int, tuple[int, ...]]:
    """The features beside which those that tell of the target only beside others do so."""
    decision, level = verdict.decision, verdict.thresholds.level
    relevant: list[int] = np.flatnonzero(decision.relevant).tolist()
    only = [k for k in relevant if decision.alone[k] > level >= decision.together[k] and len(columns[k]) == 1]
    if scores is None or not only:
        return {}
    single = [k for k in relevant if len(columns[k]) == 1]
    X = np.column_stack([dense_column(sample.X, int(columns[k][0])) for k in single])
    place = {k: i for i, k in enumerate(single)}
    out = {}
    for k in only:
        others = np.array([i for i in range(len(single)) if i != place[k]], dtype=np.intp)
        if len(others):
            out[k] = tuple(single[i] for i in companions(X, scores, place[k], others))
    return {k: named for k, named in out.items() if named}


def _hurried(intervals: Intervals, compared: CopyBounds | int, undecided: int) -> tuple[str, ...]:
    """What a reader must know of a fit that ran out of time, if it did."""
    notes, unfinished, count = [], intervals.unfinished, len(intervals.maximum)
    if unfinished is not None:
        notes.append(
            f"The time limit was reached before all bounds were found: the intervals of {int(unfinished.open.sum())} "
            f"of {count} features hold the true ones, but may be far wider."
        )
    if isinstance(compared, int):
        late, drawn = compared, "probes"
    else:
        late = 0 if compared.failure else compared.n_drawn - len(compared.maximum)
        drawn = f"of {compared.n_drawn} sets of copies"
    if late:
        notes.append(f"The time limit was reached before {late} {drawn} were bounded, which are left out.")
    if undecided:
        notes.append(
            f"The time limit left {undecided} of {count} features undecided: they have the class that is shown so far, "
            "and may be more relevant than that."
        )
    return (" ".join(notes),) if notes else ()

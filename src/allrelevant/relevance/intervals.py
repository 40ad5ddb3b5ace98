"""Relevance intervals: how little and how much weight any near-optimal model gives a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations import Feature
from allrelevant.lp import Array, BoundSolver, Program, Targets
from allrelevant.lp.copies import equal_weights
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.matrix import Indices, reach
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving

__all__ = [
    "Greatest",
    "Intervals",
    "Questions",
    "Unfinished",
    "greatest_relevance",
    "n_targets",
    "relevance_intervals",
    "representatives",
    "sign_patterns",
]

#: The greatest sum of magnitudes of up to so many weights is found exactly, by one program per pattern of signs.
EXACT_TOTAL = 6
#: Beyond, a pattern is improved from one program to the next, at most so many times.
ASCENTS = 5
#: Weights below this share of the norm budget say nothing about the pattern.
NOTHING = 1e-6


@dataclass(frozen=True, eq=False)
class Unfinished:
    """Features that time ran out for, and how wide their intervals are at the least.

    Attributes
    ----------
    open : ndarray of shape (n_features,)
        Which features these are.
    minimum, maximum : ndarray of shape (n_features,)
        Ends that models attain, of all features: the true interval reaches as far, or further.
    """

    open: NDArray[np.bool_]
    minimum: Array
    maximum: Array


@dataclass(frozen=True, eq=False)
class Intervals:
    """Relevance intervals in units of the baseline's norm.

    Attributes
    ----------
    minimum, maximum : ndarray of shape (n_features,)
        Least and most relevance over the near-optimal set.
    exact : ndarray of shape (n_features,)
        Where the maximum is proven; elsewhere, for groups of many columns, it is attained but may be exceeded.
    gap : float
        Largest certified gap of a bound.
    n_programs : int
        Linear programs solved.
    engine : str
        Engine that was asked first.
    unfinished : Unfinished or None
        What time ran out for, if anything. The interval of such a feature holds the true one, but may be wider.
    """

    minimum: Array
    maximum: Array
    exact: NDArray[np.bool_]
    gap: float
    n_programs: int
    engine: str
    unfinished: Unfinished | None = None

    @property
    def open(self) -> NDArray[np.bool_]:
        """Features that time ran out for."""
        return np.zeros(len(self.maximum), dtype=bool) if self.unfinished is None else self.unfinished.open

    @classmethod
    def none(cls, count: int) -> Intervals:
        """Intervals [0, 0] of features of a model without weights, which take no engine."""
        return cls(np.zeros(count), np.zeros(count), np.ones(count, dtype=bool), 0.0, 0, "none")


@dataclass(frozen=True, eq=False)
class _Goals:
    """Combinations of weights to bound, with the feature each belongs to."""

    owner: Indices
    index: Indices
    coefficient: Array

    @classmethod
    def of(cls, parts: Sequence[tuple[int, Indices, Array]]) -> _Goals:
        """Pad the combinations to one width."""
        width = max((len(index) for _, index, _ in parts), default=1)
        index = np.zeros((len(parts), width), dtype=np.intp)
        coefficient = np.zeros((len(parts), width))
        for k, (_, weights, values) in enumerate(parts):
            index[k, : len(weights)], coefficient[k, : len(weights)] = weights, values
            index[k, len(weights) :] = weights[0]
        return cls(np.array([owner for owner, _, _ in parts], dtype=np.intp), index, coefficient)


@dataclass(frozen=True, eq=False)
class Questions:
    """What is to be solved to bound features from both sides, each kind of feature once.

    Attributes
    ----------
    place : ndarray of shape (n_features,)
        The feature that stands for each: the first with the same columns; -1 for columns of zeros.
    linear, totals : list of (int, Feature)
        Features to bound, by contrasts and by sums of magnitudes.
    targets : Targets
        Both sides of every contrast, its greatest value and that of its negative. Where a contrast can vanish, the end
        that is nearer to 0 may be nearer still.
    owner : ndarray
        The feature that every contrast is of.
    """

    place: Indices
    linear: Sequence[tuple[int, Feature]]
    totals: Sequence[tuple[int, Feature]]
    targets: Targets
    owner: Indices

    @classmethod
    def about(cls, features: Sequence[Feature], near: NearOptimalSet) -> Questions:
        """Ask what there is to ask about features."""
        place = representatives(near.program, features)
        chosen = [(int(k), features[k]) for k in np.unique(place[place >= 0])]
        linear = [(k, feature) for k, feature in chosen if not feature.total]
        goals = _Goals.of(
            [
                (k, feature.weights[contrast != 0.0], contrast[contrast != 0.0])
                for k, feature in linear
                for contrast in feature.contrasts
            ]
        )
        totals = [(k, feature) for k, feature in chosen if feature.total]
        return cls(place, linear, totals, Targets.sides(goals.index, goals.coefficient), goals.owner)

    @property
    def count(self) -> int:
        """Steps that the answers take, as :class:`Solving` counts them."""
        return sum(n_targets(feature) + feature.total for _, feature in (*self.linear, *self.totals))


def relevance_intervals(
    near: NearOptimalSet,
    features: Sequence[Feature],
    solving: Solving,
) -> Intervals:
    """Bound features from both sides by two linear programs per contrast.

    The near-optimal set is convex, so a contrast ranges over one interval ``[low, high]`` and its magnitude over
    ``[max(0, low, −high), max(−low, high)]``. The end nearer to 0 is not followed further than to where the other is
    proven to lie beyond it. A feature whose columns equal those of another one, or their negatives, needs no program. A
    feature whose columns are 0 is part of no model; it is given the interval [0, 0], not the norm that happens to be
    left over for it.

    Parameters
    ----------
    near : NearOptimalSet
        The set.
    features : sequence of Feature
        What to bound.
    solving : Solving
        How to solve.
    """
    count = len(features)
    exact = np.array([not feature.total or len(feature.weights) <= EXACT_TOTAL for feature in features], dtype=bool)
    if near.mu == 0.0:
        return Intervals.none(count)
    questions = Questions.about(features, near)
    place, owner, progress = questions.place, questions.owner, solving.progress
    chosen, position = np.unique(place[place >= 0], return_inverse=True)
    solver = solving.solver(near.program, near.budget, (near.w, near.b))

    # First what is proven, then what is attained: the same, but where time ran out.
    minimum, maximum, is_open = np.zeros((2, count)), np.zeros((2, count)), np.zeros(count, dtype=bool)
    with progress.stage("intervals", questions.count):
        found = solving.solve(solver, questions.targets)
        for side, value in enumerate((found.outer, found.value)):
            low, high = -value[1::2], value[::2]
            np.maximum.at(minimum[side], owner, np.maximum(np.maximum(low, -high), 0.0))
            np.maximum.at(maximum[side], owner, np.maximum(high, -low))
        np.logical_or.at(is_open, owner, found.open[::2] | found.open[1::2])
        gap, n_programs = found.gap, int((~found.open).sum())
        for k, feature in questions.totals:
            weights, factors = feature.weights[None], feature.contrasts
            least = solver.solve(Targets(weights, np.zeros_like(factors), factors))
            most = greatest_relevance(solver, feature, solving)
            minimum[:, k] = np.maximum([-least.outer[0], -least.value[0]], 0.0)
            maximum[:, k] = most.outer, most.value
            is_open[k] = bool(least.open[0]) or most.open
            gap, n_programs = max(gap, least.gap, most.gap), n_programs + int(not least.open[0]) + most.n_programs
            progress.step()
    # A model attains the greater end: where the two lie within the gap of each other, the lesser is no greater than it.
    minimum = np.minimum(minimum, maximum)
    # What a proof cannot tell from 0 is 0.
    minimum[minimum <= gap * near.budget.norm] = 0.0
    spread, unfinished = np.zeros((4, count)), np.zeros(count, dtype=bool)
    spread[:, place >= 0] = np.vstack([minimum, maximum])[:, chosen][:, position] / near.mu
    unfinished[place >= 0] = is_open[chosen][position]
    return Intervals(
        spread[0],
        spread[2],
        exact,
        gap,
        n_programs,
        "interior",
        Unfinished(unfinished, spread[1], spread[3]) if unfinished.any() else None,
    )


class Greatest(NamedTuple):
    """The most relevance of a feature, not normalised.

    Attributes
    ----------
    value, outer : float
        What is attained and, where time ran out, what is not exceeded; elsewhere the same.
    open : bool
        Whether time ran out.
    gap, n_programs : float, int
        Largest certified gap and number of programs solved.
    """

    value: float
    outer: float
    open: bool
    gap: float
    n_programs: int


def greatest_relevance(solver: BoundSolver, feature: Feature, solving: Solving) -> Greatest:
    """Find the most relevance of a feature that is a sum of magnitudes.

    All patterns of signs are tried or, where these are too many, a pattern that is followed uphill: what is found then
    is attained, but may be exceeded.
    """
    if len(feature.weights) > EXACT_TOTAL:
        return _ascend(solver, feature)
    # Half of the patterns of signs: the others are their negatives.
    directions = sign_patterns(feature)[: 2 ** (len(feature.weights) - 1)]
    index = np.repeat(feature.weights[None], len(directions), axis=0)
    bounds = solving.solve(solver, Targets.sides(index, directions))
    return Greatest(
        max(float(bounds.value.max()), 0.0),
        max(float(bounds.outer.max()), 0.0),
        bool(bounds.open.any()),
        bounds.gap,
        int((~bounds.open).sum()),
    )


def sign_patterns(feature: Feature) -> Array:
    """All combinations of the weights of a group of which the greatest is the sum of their magnitudes."""
    return np.array(list(product((1.0, -1.0), repeat=len(feature.weights)))) * feature.contrasts


def n_targets(feature: Feature) -> int:
    """Programs that the greatest relevance of a feature takes, as :class:`Solving` counts them."""
    if not feature.total:
        return 2 * len(feature.contrasts)
    return 2 ** len(feature.weights) if len(feature.weights) <= EXACT_TOTAL else 0


def _ascend(solver: BoundSolver, feature: Feature) -> Greatest:
    program, factors = solver.program, feature.contrasts
    index = feature.weights[None]
    # Where a small weight would lower the loss.
    pull = program.pull(program.row_weight[None], np.zeros((1, program.n_hard))) - program.u
    signs = np.where(pull[:, feature.weights] < 0, -1.0, 1.0)
    best, gap, n_programs, is_open = -np.inf, 0.0, 0, False
    for _ in range(ASCENTS):
        bounds = solver.solve(Targets(index, signs * factors), points=True)
        assert bounds.points is not None
        chosen = np.take_along_axis(bounds.points, index, axis=1)
        value = float((np.abs(chosen) * factors).sum())
        gap, n_programs = max(gap, bounds.gap), n_programs + int((~bounds.open).sum())
        is_open |= bool(bounds.open[0]) or time_is_up()
        rises = value > best + 1e-9 * solver.budget.norm
        best = max(best, value)
        if is_open or not rises:
            break
        # Signs of weights that are next to nothing are those of rounding.
        signs = np.where(np.abs(chosen) <= NOTHING * solver.budget.norm, signs, np.sign(chosen))
    whole = solver.budget.norm * float((np.abs(factors) / program.gamma[feature.weights]).max())
    return Greatest(best, whole if is_open else best, is_open, gap, n_programs)


def representatives(program: Program, features: Sequence[Feature]) -> Indices:
    """For each feature the first whose columns equal its own, or their negatives; -1 for columns of zeros.

    A feature whose weights are bounded is like no other.
    """
    most = np.maximum(np.maximum(reach(program.A), reach(program.G)), np.abs(program.u))
    first, sign = equal_weights(program)
    out = np.full(len(features), -1, dtype=np.intp)
    seen: dict[Any, int] = {}
    for k, feature in enumerate(features):
        weights = feature.weights
        if most[weights].any():
            # Several columns may be the negatives of others together.
            signs = sign[weights] * sign[weights[0]]
            key = (first[weights].tobytes(), signs.tobytes(), feature.contrasts.tobytes(), feature.total)
            out[k] = seen.setdefault(key, k)
    return out

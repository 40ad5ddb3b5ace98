"""Near-optimal models in which some features are held: what is left of them, or why nothing is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np

from allrelevant.errors import InfeasibleProgram, SolverError
from allrelevant.formulations import Feature
from allrelevant.lp import Array, Program
from allrelevant.lp.copies import equal_weights
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.matrix import Indices
from allrelevant.relevance.intervals import EXACT_TOTAL, Intervals, relevance_intervals, sign_patterns
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving
from allrelevant.relevance.starts import Starts

__all__ = ["Conflict", "Limit", "bounded_intervals", "excluded", "find_conflict", "held_sets"]

#: A value is met by a relevance this close to it: at the end of an interval the models that meet it are a single one,
#: in which nothing could be proven.
TOUCH = 1e-5
#: Values further than this from both ends of the interval are met exactly.
END = 1e-3
#: Patterns of signs tried, at most: every feature whose sign is open doubles them.
PATTERNS = 64
#: Share of the norm budget by which a budget may be exceeded and still count as kept.
WITHIN = 1e-9


@dataclass(frozen=True)
class Limit:
    """Least and most relevance that a feature may have, in units of the baseline's norm."""

    low: float
    high: float

    @property
    def excludes(self) -> bool:
        """Whether the feature may not be used at all."""
        return self.high == 0.0


@dataclass(frozen=True, eq=False)
class Conflict:
    """Limits that no near-optimal model meets.

    Attributes
    ----------
    joint : bool
        Whether each limit could be met alone.
    ranges : dict of int to tuple
        The features to blame: without any one of them the others could be met. With each, the range that the limits of
        the others leave for its relevance.
    """

    joint: bool
    ranges: dict[int, tuple[float, float]]


def held_sets(
    near: NearOptimalSet,
    features: Sequence[Feature],
    limits: Mapping[int, Limit],
    ends: Intervals,
    *,
    both_signs: bool = False,
    starts: Starts | None = None,
) -> list[NearOptimalSet]:
    """Return the near-optimal models that meet limits, as the union of convex sets; none if there are no such models.

    A least relevance is asked of the sign that the feature has in the baseline model; of both if it has none there, or
    if no model meets the limits otherwise, or with `both_signs`.

    Parameters
    ----------
    near : NearOptimalSet
        The models.
    features : sequence of Feature
        The features.
    limits : dict of int to Limit
        What is asked of some of them.
    ends : Intervals
        Intervals of all features without limits.
    both_signs : bool, default=False
        Whether signs may differ from the baseline's.
    starts : Starts, default=None
        Points that are known, for who asks often.
    """
    first, *others = (
        [_directions(near, features[k], both) if limit.low > 0.0 else [None] for k, limit in limits.items()]
        for both in ((True,) if both_signs else (False, True))
    )
    if prod(map(len, first)) > PATTERNS:
        raise ValueError(
            f"a least relevance is asked of {sum(len(choice) > 1 for choice in first)} features whose sign is open, "
            f"which makes more than {PATTERNS} patterns of signs; ask for fewer, or for upper limits only"
        )
    found = _meeting(near, features, limits, ends, first, starts)
    for choices in others:
        if not found and prod(map(len, first)) < prod(map(len, choices)) <= PATTERNS:
            found = _meeting(near, features, limits, ends, choices, starts)
    return found


def _meeting(
    near: NearOptimalSet,
    features: Sequence[Feature],
    limits: Mapping[int, Limit],
    ends: Intervals,
    choices: Sequence[Sequence[Array | None]],
    starts: Starts | None,
) -> list[NearOptimalSet]:
    """The models that meet limits, one convex set for every choice of directions that leaves any."""
    found = []
    for directions in product(*choices):
        program = near.program
        for (k, limit), direction in zip(limits.items(), directions, strict=True):
            at_end = min(abs(limit.low - ends.maximum[k]), abs(limit.low - ends.minimum[k])) < END
            if limit.low == limit.high > 0.0 and (at_end or not _is_single(features[k])):
                limit = Limit(max(limit.low - TOUCH, 0.0), limit.high + TOUCH)
            program = _limited(program, near.mu, features[k], limit, direction)
        start = _start(replace(near, program=program), limits, starts)
        if start is not None:
            found.append(replace(near, program=program, w=start[0], b=start[1]))
    return found


def excluded(near: NearOptimalSet, features: Sequence[Feature], chosen: Sequence[int]) -> Program:
    """Return the program in which the weights of some features are 0."""
    weights = [features[k].weights for k in chosen]
    return _without(near.program, np.concatenate([np.empty(0, dtype=np.intp), *weights]))


def _without(program: Program, weights: Indices) -> Program:
    lower, upper = program.lower.copy(), program.upper.copy()
    lower[weights] = upper[weights] = 0.0
    return program.with_box(lower, upper)


def _is_single(feature: Feature) -> bool:
    """Whether the relevance is the magnitude of one weight."""
    return len(feature.weights) == 1


def _directions(near: NearOptimalSet, feature: Feature, both: bool) -> list[Array | None]:
    """Combinations of the weights whose value may be what the relevance of a feature is."""
    # Of equal columns any one may have the weight of all.
    first, sign = equal_weights(near.program)
    pooled = sign * np.bincount(first, sign * near.w, minlength=len(first))[first]
    values = pooled[feature.weights]
    if feature.total:
        if (both or not values.any()) and len(values) <= EXACT_TOTAL:
            return list(sign_patterns(feature))
        return [np.where(values < 0, -1.0, 1.0) * feature.contrasts[0]]
    shares = feature.contrasts @ values
    if both or np.abs(shares).max() <= WITHIN * near.budget.norm:
        return [sign * contrast for contrast in feature.contrasts for sign in (1.0, -1.0)]
    best = int(np.argmax(np.abs(shares)))
    return [np.sign(shares[best]) * feature.contrasts[best]]


def _limited(program: Program, mu: float, feature: Feature, limit: Limit, direction: Array | None) -> Program:
    """Add one limit: as bounds of a weight where they will do, else as hard rows."""
    weights, low, high = feature.weights, limit.low * mu, limit.high * mu
    if limit.excludes:
        return _without(program, weights)
    if _is_single(feature):
        ends = np.array([-high if direction is None else low, high]) / abs(feature.contrasts[0, 0])
        lower, upper = program.lower.copy(), program.upper.copy()
        lower[weights], upper[weights] = ends if direction is None or direction[0] > 0.0 else -ends[::-1]
        return program.with_box(lower, upper)
    if not feature.total:
        rows = [sign * contrast for contrast in feature.contrasts for sign in (1.0, -1.0)]
    elif len(weights) <= EXACT_TOTAL:
        rows = list(sign_patterns(feature))
    else:
        raise ValueError(
            f"a group of {len(weights)} columns can only be excluded: limits of its relevance are possible for up to "
            f"{EXACT_TOTAL} columns"
        )
    G = np.zeros((len(rows) + (direction is not None), program.n_weights))
    G[: len(rows), weights] = -np.array(rows)
    h = np.full(len(G), -high)
    if direction is not None:
        G[-1, weights], h[-1] = direction, low
    return replace(
        program,
        G=np.vstack([program.G, G]),
        H=np.vstack([program.H, np.zeros((len(G), program.n_offsets))]),
        h=np.append(program.h, h),
    )


def _start(near: NearOptimalSet, held: Iterable[int], starts: Starts | None) -> tuple[Array, Array] | None:
    """Return a point that meets limits, if there is any: the baseline, a mixture of known points, or a new one."""
    if near.program.hard_violation(near.w, near.b) <= 0.0:
        return near.w, near.b
    mixture = None if starts is None else starts.mixture(near.program, held)
    return _new_start(near) if mixture is None else mixture


def _new_start(near: NearOptimalSet) -> tuple[Array, Array] | None:
    """Return the point between those of least loss and of least norm, if there is any."""
    highs, joint = HighsBounds(near.program, near.budget), near.budget.price is not None
    try:
        w, b = highs.least_spending("norm", limited=False)
    except InfeasibleProgram:  # the limits contradict each other
        return None
    if not joint and near.program.norm(w) > near.budget.norm:
        return None
    points = [highs.least_spending()]
    if not _keeps(near, *points[0]):
        return None
    if not joint:
        points.append(highs.least_spending("norm"))
    w, b = (np.mean(parts, axis=0) for parts in zip(*points, strict=True))
    return w, b


def _keeps(near: NearOptimalSet, w: Array, b: Array) -> bool:
    room = near.budget.room(near.program.norm(w), near.program.loss(w, b))
    return bool(room >= -WITHIN * near.budget.norm)


def bounded_intervals(
    near: NearOptimalSet,
    features: Sequence[Feature],
    limits: Mapping[int, Limit],
    ends: Intervals,
    solving: Solving,
    *,
    wanted: Sequence[int] | None = None,
    both_signs: bool = False,
    starts: Starts | None = None,
) -> Intervals | None:
    """Bound features over the near-optimal models that meet limits; None if there are no such models.

    All features, or those `wanted`: the others keep the interval that they have without limits.
    """
    sets = held_sets(near, features, limits, ends, both_signs=both_signs, starts=starts)
    if not sets:
        return None
    fixed = {k: limit.low for k, limit in limits.items() if limit.low == limit.high}
    others = [k for k in (range(len(features)) if wanted is None else wanted) if k not in fixed]
    parts = [relevance_intervals(one, [features[k] for k in others], solving) for one in sets]
    # What holds under limits holds without them: rounding must not tell otherwise.
    minimum, maximum = ends.minimum.copy(), ends.maximum.copy()
    minimum[others] = np.maximum(np.min([part.minimum for part in parts], axis=0), ends.minimum[others])
    maximum[others] = np.minimum(np.max([part.maximum for part in parts], axis=0), ends.maximum[others])
    for k, value in fixed.items():
        minimum[k] = maximum[k] = value
    exact = ends.exact.copy()
    exact[others] = np.all([part.exact for part in parts], axis=0)
    return Intervals(
        np.minimum(minimum, maximum),
        maximum,
        exact,
        max(part.gap for part in parts),
        sum(part.n_programs for part in parts),
        parts[0].engine,
    )


def find_conflict(
    near: NearOptimalSet,
    features: Sequence[Feature],
    limits: Mapping[int, Limit],
    ends: Intervals,
    solving: Solving,
    *,
    both_signs: bool = False,
) -> Conflict:
    """Say which limits cannot be met: those beyond the interval of their feature, or else a smallest set of them."""
    slack = TOUCH
    outside = [
        k for k, one in limits.items() if one.low > ends.maximum[k] + slack or one.high < ends.minimum[k] - slack
    ]
    if outside:
        return Conflict(False, {k: (float(ends.minimum[k]), float(ends.maximum[k])) for k in outside})

    def possible(some: Mapping[int, Limit]) -> bool:
        return bool(held_sets(near, features, some, ends, both_signs=both_signs))

    core = dict(limits)
    for k in list(limits):
        rest = {other: limit for other, limit in core.items() if other != k}
        if not possible(rest):
            core = rest
    ranges = {}
    for k in core:
        rest = {other: limit for other, limit in core.items() if other != k}
        ranges[k] = _range(near, features, k, rest, ends, solving, both_signs)
    return Conflict(True, ranges)


def _range(
    near: NearOptimalSet,
    features: Sequence[Feature],
    k: int,
    limits: Mapping[int, Limit],
    ends: Intervals,
    solving: Solving,
    both_signs: bool,
) -> tuple[float, float]:
    """Relevance that is left for one feature by the limits of others."""
    parts = list(_ranges(held_sets(near, features, limits, ends, both_signs=both_signs), features[k], solving))
    if not parts:
        raise SolverError("limits that could be met could not be met again; better scaled data may help")
    return min(low for low, _ in parts), max(high for _, high in parts)


def _ranges(sets: Sequence[NearOptimalSet], feature: Feature, solving: Solving) -> Iterator[tuple[float, float]]:
    for one in sets:
        found = relevance_intervals(one, [feature], solving)
        yield float(found.minimum[0]), float(found.maximum[0])

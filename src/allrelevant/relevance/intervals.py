"""Relevance intervals: how little and how much weight any near-optimal model gives a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product

import numpy as np
from numpy.typing import NDArray

from allrelevant.formulations import Feature
from allrelevant.lp import Array, BoundSolver, Program, Targets
from allrelevant.lp.matrix import Indices, entries
from allrelevant.lp.targets import Columns
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving

__all__ = ["Intervals", "greatest_relevance", "n_targets", "relevance_intervals", "representatives", "sign_patterns"]

#: The greatest sum of magnitudes of up to so many weights is found exactly, by one program per pattern of signs.
EXACT_TOTAL = 6
#: Beyond, a pattern is improved from one program to the next, at most so many times.
ASCENTS = 5


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
    """

    minimum: Array
    maximum: Array
    exact: NDArray[np.bool_]
    gap: float
    n_programs: int
    engine: str

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
    program = near.program
    count = len(features)
    exact = np.array([not feature.total or len(feature.weights) <= EXACT_TOTAL for feature in features], dtype=bool)
    if near.mu == 0.0:
        return Intervals.none(count)
    place = representatives(program, features)
    chosen, position = np.unique(place[place >= 0], return_inverse=True)
    linear = [(k, features[k]) for k in chosen if not features[k].total]
    totals = [(k, features[k]) for k in chosen if features[k].total]
    solver = solving.solver(program, near.budget, (near.w, near.b))
    progress = solving.progress

    minimum, maximum = np.zeros(count), np.zeros(count)
    with progress.stage("intervals", sum(n_targets(feature) + feature.total for _, feature in linear + totals)):
        low, high, owner, gap, n_programs = _contrasts(linear, solver, solving)
        np.maximum.at(minimum, owner, np.maximum(np.maximum(low, -high), 0.0))
        np.maximum.at(maximum, owner, np.maximum(high, -low))
        for k, feature in totals:
            weights, factors = feature.weights[None], feature.contrasts
            least = solver.solve(Targets(weights, np.zeros_like(factors), factors))
            most, more, solved = greatest_relevance(solver, feature, None, solving)
            minimum[k], maximum[k] = max(-least.value[0], 0.0), most[0]
            gap, n_programs = max(gap, least.gap, more), n_programs + 1 + solved
            progress.step()
    # What a proof cannot tell from 0 is 0.
    minimum[minimum <= gap * near.budget.norm] = 0.0
    spread = np.zeros((2, count))
    spread[:, place >= 0] = np.stack([minimum, maximum])[:, chosen][:, position] / near.mu
    return Intervals(spread[0], spread[1], exact, gap, n_programs, solver.engine)


def _contrasts(
    features: Sequence[tuple[int, Feature]],
    solver: BoundSolver,
    solving: Solving,
) -> tuple[Array, Array, Indices, float, int]:
    """Range ``[low, high]`` of every contrast, and the feature it is of.

    Where a contrast can vanish, the end that is nearer to 0 may be nearer still.
    """
    parts = [
        (k, feature.weights[contrast != 0.0], contrast[contrast != 0.0])
        for k, feature in features
        for contrast in feature.contrasts
    ]
    goals = _Goals.of(parts)
    found = solving.solve(solver, Targets.sides(goals.index, goals.coefficient))
    return -found.value[1::2], found.value[::2], goals.owner, found.gap, 2 * len(parts)


def greatest_relevance(
    solver: BoundSolver,
    feature: Feature,
    columns: Columns | None,
    solving: Solving,
) -> tuple[Array, float, int]:
    """Find the most relevance of one feature, or of each of the columns given in its place.

    Contrasts are tried with both signs, sums of magnitudes with all patterns of signs or, where these are too many,
    with a pattern that is followed uphill: what is found then is attained, but may be exceeded.

    Returns
    -------
    value : ndarray of shape (n_columns,)
        Not normalised.
    gap, n_programs : float, int
        Largest certified gap and number of programs solved.
    """
    count = 1 if columns is None else len(columns.u)
    if feature.total and len(feature.weights) > EXACT_TOTAL:
        return _ascend(solver, feature, columns, count)
    directions = feature.contrasts
    if feature.total:
        # Half of the patterns of signs: the others are their negatives.
        directions = sign_patterns(feature)[: 2 ** (len(feature.weights) - 1)]
    n = len(directions)
    index = np.repeat(feature.weights[None], n * count, axis=0)
    targets = Targets.sides(index, np.repeat(directions, count, axis=0))
    if columns is not None:
        targets = replace(targets, columns=columns, own=np.tile(np.repeat(np.arange(count), 2), n))
    bounds = solving.solve(solver, targets)
    return np.maximum(bounds.value.reshape(n, count, 2).max(axis=(0, 2)), 0.0), bounds.gap, 2 * n * count


def sign_patterns(feature: Feature) -> Array:
    """All combinations of the weights of a group of which the greatest is the sum of their magnitudes."""
    return np.array(list(product((1.0, -1.0), repeat=len(feature.weights)))) * feature.contrasts


def n_targets(feature: Feature) -> int:
    """Programs that the greatest relevance of a feature takes, as :class:`Solving` counts them."""
    if not feature.total:
        return 2 * len(feature.contrasts)
    return 2 ** len(feature.weights) if len(feature.weights) <= EXACT_TOTAL else 0


def _ascend(solver: BoundSolver, feature: Feature, columns: Columns | None, count: int) -> tuple[Array, float, int]:
    program, factors = solver.program, feature.contrasts
    index = np.repeat(feature.weights[None], count, axis=0)
    # Where a small weight would lower the loss.
    if columns is None:
        pull = (program.row_weight @ program.A - program.u)[None, feature.weights]
    else:
        pull = columns.A @ program.row_weight - columns.u
    signs = np.where(pull < 0, -1.0, 1.0)
    best, gap, n_programs = np.full(count, -np.inf), 0.0, 0
    for _ in range(ASCENTS):
        bounds = solver.solve(Targets(index, signs * factors, None, columns), points=True)
        assert bounds.points is not None
        chosen = np.take_along_axis(bounds.points, index, axis=1)
        value = (np.abs(chosen) * factors).sum(axis=1)
        gap, n_programs = max(gap, bounds.gap), n_programs + count
        if not (value > best + 1e-9 * solver.budget.norm).any():
            break
        best = np.maximum(best, value)
        signs = np.where(chosen == 0.0, signs, np.sign(chosen))
    return best, gap, n_programs


def representatives(program: Program, features: Sequence[Feature]) -> Indices:
    """For each feature the first whose columns equal its own, or their negatives; -1 for columns of zeros.

    A feature whose weights are bounded is like no other.
    """
    columns, boxed = _digests(program), program.boxed
    first: dict[bytes, int] = {}
    out = np.empty(len(features), dtype=np.intp)
    for k, feature in enumerate(features):
        leading = next((columns[weight][0] for weight in feature.weights if columns[weight][0]), 0)
        key = b"".join(columns[weight][1][leading] for weight in feature.weights)
        key += program.gamma[feature.weights].tobytes() + feature.contrasts.tobytes()
        if boxed[feature.weights].any():
            key += k.to_bytes(8, "little")
        out[k] = first.setdefault(key, k) if leading else -1
    return out


def _digests(program: Program) -> list[tuple[int, dict[int, bytes]]]:
    """Sign of the first entry of every column, and digests of the column as it is and negated.

    Digests, because all columns together are as large as the data.
    """
    out = []
    for k, (rows, values) in enumerate(entries(program.A)):
        column = np.concatenate([values, program.G[:, k], program.u[k : k + 1]])
        leading = int(np.sign(column[np.argmax(column != 0.0)]))
        where = rows.tobytes()
        own = {sign: blake2b(where + (sign * column + 0.0).tobytes()).digest() for sign in (1, -1)}
        out.append((leading, {0: b"", **own}))
    return out

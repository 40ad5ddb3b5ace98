"""Probes: permuted features, whose relevance is chance alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from joblib import effective_n_jobs

from allrelevant.errors import TimeLimitReached
from allrelevant.formulations import Feature, Formulation
from allrelevant.lp import Array, Bounds, BoundSolver, Targets
from allrelevant.lp.deadline import seconds_left, time_is_up
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.matrix import Indices, Matrix, dense_column, power_sums, ranges, substitute
from allrelevant.lp.targets import Columns
from allrelevant.relevance.intervals import (
    Greatest,
    Intervals,
    Questions,
    greatest_relevance,
    n_targets,
    relevance_intervals,
)
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving

__all__ = [
    "Probes",
    "added_probes",
    "bounded_together",
    "concentrated_features",
    "draw_group_probes",
    "draw_probes",
    "probe_columns",
    "probe_solver",
    "replaced_probes",
    "varying_features",
]

#: A feature is concentrated if fewer samples carry its variance than this share of the median feature's.
CONCENTRATED = 1.0 / 3.0
#: Share by which a point that spends the whole norm is moved inside.
WITHIN = 1e-9


@dataclass(frozen=True, eq=False)
class Probes:
    """Relevance of the probes that admitted a near-optimal model, and were bounded in time.

    Attributes
    ----------
    rule : str
        How they were placed: ``"added"`` or, as in the papers, ``"papers"``.
    minimum, maximum : ndarray of shape (n_usable,)
        Their relevance intervals.
    n_drawn : int
        Probes drawn.
    gap : float
        Largest certified gap of a bound.
    n_programs : int
        Linear programs solved.
    sides : int
        How many values such as these a feature has, of which its relevance is the greatest: 1 if that was done here.
    late : int
        Probes that time ran out for.
    """

    rule: str
    minimum: Array
    maximum: Array
    n_drawn: int
    gap: float
    n_programs: int
    sides: int = 1
    late: int = 0

    @property
    def power(self) -> float:
        """Power to which values are raised before they are taken for normal; found by experiment."""
        if self.rule == "papers":
            return 1.0
        return 1.0 / 3.0 if self.sides == 1 else 0.5


def varying_features(X: Matrix, among: Indices) -> Indices:
    """Those of the given features that are not constant."""
    low, high = ranges(X)
    return among[high[among] > low[among]]


def concentrated_features(X: Matrix, sample_weight: Array, varying: Indices) -> Indices:
    """Those of the given features, none of them constant, that vary in a few samples only, compared with the others.

    A weight on such a feature touches few samples and therefore costs little: by chance alone it can be far larger than
    others', so it is judged by permutations of its own. The number of samples that carry the variance of a feature is
    ``(Σ x²)² / Σ x⁴``, a third of all samples for normal values.
    """
    if not len(varying):
        return varying
    centre = power_sums(X, sample_weight, np.zeros(X.shape[1]), 1) / sample_weight.sum()
    second, fourth = (power_sums(X, sample_weight, centre, power)[varying] for power in (2, 4))
    samples = second**2 / fourth
    return np.asarray(varying[samples < CONCENTRATED * np.median(samples)])


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


def draw_group_probes(X: Matrix, n_probes: int, group: Indices, random_state: np.random.RandomState) -> Iterator[Array]:
    """Permute the columns of a group together over the samples, as often as asked."""
    columns = np.column_stack([dense_column(X, int(k)) for k in group])
    return (columns[random_state.permutation(len(columns))] for _ in range(n_probes))


def probe_columns(formulation: Formulation, values: Array, count: int, target: Array, sample_weight: Array) -> Columns:
    """State probes in the rows of the program.

    Parameters
    ----------
    formulation : Formulation
        What states them.
    values : ndarray of shape (n_samples, count * width)
        Their values, one probe after the other; several columns each for probes of groups.
    count : int
        Number of probes.
    target, sample_weight : ndarray of shape (n_samples,)
        Of the samples.
    """
    program = formulation.program(values, target, sample_weight)
    width = program.n_weights // count
    A, G = (np.ascontiguousarray(matrix.T).reshape(count, width, len(matrix)) for matrix in (program.A, program.G))
    return Columns(A, G, program.u.reshape(count, width))


def probe_solver(near: NearOptimalSet, feature: Feature, solving: Solving) -> BoundSolver:
    """Return a solver with room for probes like a feature beside all others; it bounds the others as well."""
    gamma = near.program.gamma[feature.weights]
    start = np.append(near.w, np.zeros(len(gamma))), near.b
    return solving.solver(near.program.with_slots(gamma), near.budget, start)


def added_probes(
    near: NearOptimalSet,
    feature: Feature,
    count: int,
    draw: Callable[[int], Columns],
    solving: Solving,
    sides: Indices | None = None,
    solver: BoundSolver | None = None,
) -> Probes:
    """Bound each probe as one more feature beside all others, within the budgets of the baseline.

    A near-optimal model always exists, one that ignores the probe, so every probe is usable and its ``minRel`` is 0.
    Those that time runs out for are left out.
    The relevance of a probe is the greatest of several values: of every contrast, on both sides. Draws of one of these
    values each say more about their distribution than as many programs spent on all the values of fewer probes.

    Parameters
    ----------
    near : NearOptimalSet
        The set.
    feature : Feature
        A feature of the kind that the probes imitate.
    count : int
        Number of probes.
    draw : callable
        Returns the next so many probes, in the rows of the program.
    solving : Solving
        How to solve.
    sides : ndarray of shape (n_probes,) or None
        The one value of each probe to find, first the contrasts, then their negatives; the greatest of all if None.
    solver : BoundSolver, default=None
        What :func:`probe_solver` returns for such a feature, if that is at hand.
    """
    solver = probe_solver(near, feature, solving) if solver is None else solver
    places = near.program.n_weights + np.arange(len(feature.weights))
    placed = replace(feature, weights=places)
    # Pieces that keep all workers busy.
    width = solving.width(solver, pairs=sides is None) * effective_n_jobs(solving.n_jobs)
    most, gap, n_programs = np.full(count, np.nan), 0.0, 0
    with solving.progress.stage("probes", count if sides is not None else count * n_targets(feature)):
        for first in range(0, count, width):
            if time_is_up():
                break
            some = slice(first, min(first + width, count))
            columns = None  # those before are not needed any more while these are drawn
            columns = draw(some.stop - first)
            if sides is None:
                found = greatest_relevance(solver, placed, columns, solving)
            else:
                bounds = solving.solve(solver, probe_targets(near, feature, sides[some], columns))
                value, solved = np.maximum(bounds.value, 0.0), int((~bounds.open).sum())
                found = Greatest(value, value, bounds.open, bounds.gap, solved)
            most[some] = np.where(found.open, np.nan, found.value)
            gap, n_programs = max(gap, found.gap), n_programs + found.n_programs
    n_sides = 1 if sides is None else 2 * len(feature.contrasts)
    most = most[~np.isnan(most)]
    late = count - len(most)
    return Probes("added", np.zeros(len(most)), most / near.mu, count, gap, n_programs, n_sides, late)


def probe_targets(near: NearOptimalSet, feature: Feature, sides: Indices, columns: Columns) -> Targets:
    """One value of every probe: the contrast of that number, or the negative of one, by the solver for probes."""
    places = near.program.n_weights + np.arange(len(feature.weights))
    directions = np.vstack([feature.contrasts, -feature.contrasts])
    return Targets(np.repeat(places[None], len(sides), axis=0), directions[sides], None, columns)


def bounded_together(
    near: NearOptimalSet,
    feature: Feature,
    draw: Callable[[int], Columns],
    sides: Indices,
    solver: BoundSolver,
    questions: Questions,
    solving: Solving,
) -> tuple[Probes, Bounds] | None:
    """Bound probes, one side of each, and features in one batch, for what is so small that this is faster.

    None if it is not, or where time is limited, and the features must wait for the probes. As far as stages are
    concerned, probes are only drawn before they are bounded with the features.
    """
    count, targets = len(sides), questions.targets
    alike = targets.index.shape[1] == len(feature.weights)
    if not (alike and solving.small(solver, count + len(targets)) and np.isinf(seconds_left())):
        return None
    with solving.progress.stage("probes", count):
        both = Targets.followed(targets, probe_targets(near, feature, sides, draw(count)))
        solving.progress.step(count)
    with solving.progress.stage("intervals", len(both)):
        bounds = solving.solve(solver, both, at_once=True)
    most = np.maximum(bounds.value[len(targets) :], 0.0) / near.mu
    probes = Probes("added", np.zeros(count), most, count, bounds.gap, count, 2 * len(feature.contrasts))
    return probes, bounds.take(slice(len(targets)))


def replaced_probes(
    near: NearOptimalSet,
    formulation: Formulation,
    X: Matrix,
    source: Indices,
    values: Iterable[Array],
    target: Array,
    sample_weight: Array,
    solving: Solving,
) -> Probes:
    """Bound each probe in the place of the column of `X` it was made from, as the papers do.

    Where that feature was needed no near-optimal model may be left; such probes are counted and dropped. Those that
    time runs out for are left out.
    """
    found: list[Intervals] = []
    dropped = 0
    with solving.progress.stage("probes", len(source)):
        for k, column in zip(source, values, strict=True):
            program = formulation.program(substitute(X, int(k), column), target, sample_weight)
            try:
                w, b = HighsBounds(program, near.budget).least_spending()
            except TimeLimitReached:
                break
            # The least loss often takes the whole norm: whether anything is left must not be a matter of rounding.
            w = (1.0 - WITHIN) * w
            if near.budget.room(program.norm(w), program.loss(w, b)) > 0.0:
                there = replace(near, program=program, w=w, b=b)
                probe = [formulation.feature(int(k), X.shape[1])]
                intervals = relevance_intervals(there, probe, solving)
                if intervals.unfinished is None:
                    found.append(intervals)
            else:
                dropped += 1
            solving.progress.step()
    return Probes(
        "papers",
        np.array([one.minimum[0] for one in found]),
        np.array([one.maximum[0] for one in found]),
        len(source),
        max((one.gap for one in found), default=0.0),
        sum(one.n_programs for one in found),
        late=len(source) - len(found) - dropped,
    )

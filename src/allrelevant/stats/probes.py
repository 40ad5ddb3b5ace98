"""Probes: permuted features, whose relevance is chance alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from allrelevant._progress import Progress
from allrelevant.formulations import Formulation
from allrelevant.lp import Array, BoundSolver, Program, Targets, choose_engine
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.program import Indices
from allrelevant.relevance.intervals import Intervals, relevance_intervals, solve_targets
from allrelevant.relevance.nearoptimal import NearOptimalSet

__all__ = ["Probes", "added_probes", "concentrated_features", "draw_probes", "replaced_probes", "varying_features"]

#: A feature is concentrated if fewer samples carry its variance than this share of the median feature's.
CONCENTRATED = 1.0 / 3.0


@dataclass(frozen=True, eq=False)
class Probes:
    """Relevance of the probes that admitted a near-optimal model.

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
    """

    rule: str
    minimum: Array
    maximum: Array
    n_drawn: int
    gap: float
    n_programs: int


def varying_features(X: Array) -> Indices:
    """Features that are not constant."""
    return np.flatnonzero(np.ptp(X, axis=0) > 0)


def concentrated_features(X: Array, sample_weight: Array) -> Indices:
    """Features that vary in a few samples only, compared with the others.

    A weight on such a feature touches few samples and therefore costs little: by chance alone it can be far larger than
    others', so it is judged by permutations of its own. The number of samples that carry the variance of a feature is
    ``(Σ x²)² / Σ x⁴``, a third of all samples for normal values.
    """
    varying = varying_features(X)
    if not len(varying):
        return varying
    weight = sample_weight[:, None]
    values = X[:, varying] - (weight * X[:, varying]).sum(axis=0) / sample_weight.sum()
    samples = (weight * values**2).sum(axis=0) ** 2 / (weight * values**4).sum(axis=0)
    return np.asarray(varying[samples < CONCENTRATED * np.median(samples)])


def draw_probes(X: Array, n_probes: int, among: Indices, random_state: np.random.RandomState) -> tuple[Indices, Array]:
    """Draw some of the given features, and permute each over the samples.

    Returns
    -------
    source : ndarray of shape (n_probes,)
        The features drawn.
    values : ndarray of shape (n_probes, n_samples)
        Their permuted values.
    """
    source = among[random_state.randint(len(among), size=n_probes)]
    return source, np.stack([random_state.permutation(X[:, k]) for k in source])


def _columns(formulation: Formulation, values: Array, target: Array, sample_weight: Array) -> Array:
    """Columns that the probes' values have in the program."""
    return np.ascontiguousarray(formulation.program(values.T, target, sample_weight).A.T)


def added_probes(
    near: NearOptimalSet,
    formulation: Formulation,
    values: Array,
    target: Array,
    sample_weight: Array,
    *,
    engine: str,
    n_jobs: int | None,
    progress: Progress,
) -> Probes:
    """Bound each probe as one more feature beside all others, within the budgets of the baseline.

    A near-optimal model always exists, one that ignores the probe, so every probe is usable and its ``minRel`` is 0.
    """
    columns = _columns(formulation, values, target, sample_weight)
    program = near.program.with_empty_column()
    start = np.append(near.w, 0.0), near.b
    solver = BoundSolver(program, near.budget, start, choose_engine(program, engine))
    count = len(columns)
    targets = Targets(
        np.full(2 * count, program.n_weights - 1),
        np.repeat([1.0, -1.0], count),
        np.vstack([columns, columns]),
    )
    with progress.stage("probes", 2 * count):
        bounds = solve_targets(solver, targets, n_jobs=n_jobs, progress=progress)
    maximum = np.maximum(bounds.value[:count], bounds.value[count:]) / near.mu
    return Probes("added", np.zeros(count), np.maximum(maximum, 0.0), count, bounds.gap, 2 * count)


def replaced_probes(
    near: NearOptimalSet,
    formulation: Formulation,
    source: Indices,
    values: Array,
    target: Array,
    sample_weight: Array,
    *,
    engine: str,
    progress: Progress,
) -> Probes:
    """Bound each probe in the place of the feature it was made from, as the papers do.

    Where that feature was needed no near-optimal model may be left; such probes are counted and dropped.
    """
    columns = _columns(formulation, values, target, sample_weight)
    found: list[Intervals] = []
    with progress.stage("probes", len(columns)):
        for k, column in zip(source, columns, strict=True):
            A = near.program.A.copy()
            A[:, k] = column
            interval = _interval_of(replace(near.program, A=A), int(k), near, engine, progress)
            found.extend([] if interval is None else [interval])
            progress.step()
    return Probes(
        "papers",
        np.array([one.minimum[0] for one in found]),
        np.array([one.maximum[0] for one in found]),
        len(columns),
        max((one.gap for one in found), default=0.0),
        sum(one.n_programs for one in found),
    )


def _interval_of(
    program: Program, index: int, near: NearOptimalSet, engine: str, progress: Progress
) -> Intervals | None:
    w, b = HighsBounds(program, near.budget).least_spending()
    if near.budget.room(program.norm(w), program.loss(w, b)) <= 0.0:
        return None
    changed = replace(near, program=program, w=w, b=b)
    return relevance_intervals(changed, engine=engine, n_jobs=1, progress=progress, only=[index])

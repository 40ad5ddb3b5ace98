"""The one optimal model that everything else is near to, and the search for its C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from allrelevant._progress import Progress
from allrelevant.formulations import Formulation
from allrelevant.lp import Array, PenalisedSolver, Program, penalised_paths
from allrelevant.lp.certificate import repair
from allrelevant.lp.copies import distinct_columns
from allrelevant.lp.matrix import Indices, Matrix, reach, some_rows
from allrelevant.lp.paths import problems_at_once
from allrelevant.lp.penalised import HighsPenalised
from allrelevant.lp.targets import Duals
from allrelevant.lp.view import RowView

__all__ = ["Baseline", "Fold", "cross_validated_score", "fit_baseline", "in_units", "penalty_path", "weight_unit"]

#: Weights and offsets of a model.
Point = tuple[Array, Array]
#: Models of the search are compared by their scores, for which a proof to this relative gap is enough.
SEARCH_GAP = 1e-4
#: Weights are 0 if they move no row by more than this; margins are 1.
NO_REACH = 1e-8
#: Mean sample weights up to this factor from 1 are left as they are.
ORDINARY = 16.0
#: Values of C tried per setting of the other hyperparameters, half a decade apart.
N_PENALTIES = 9
#: Where the score is smooth, so many values of C come at a time, and the next ones only if it still rises: if it rose
#: with the last one, or never.
STRETCH, PATIENCE = 3, 1


@dataclass(frozen=True, eq=False)
class Fold:
    """Sample weights of one split: 0 where a sample does not take part."""

    train: Array
    test: Array

    def in_units(self, unit: float) -> Fold:
        """The same split with weights in another unit."""
        return Fold(in_units(self.train, unit), in_units(self.test, unit))


@dataclass(frozen=True, eq=False)
class Baseline:
    """The optimal model on all samples.

    Attributes
    ----------
    formulation : Formulation
        Problem type with the hyperparameters chosen.
    program : Program
        Its rows on all samples, with sample weights in units of `unit`.
    C : float
        Penalty of the loss of the program; 0 if no weights at all are the best choice.
    w, b : ndarray
        The optimal point.
    cross_validated : float or None
        Mean score over the folds; None without a search.
    unit : float
        Sample weight that the program takes for 1.
    """

    formulation: Formulation
    program: Program
    C: float
    w: Array
    b: Array
    cross_validated: float | None
    unit: float = 1.0

    @property
    def hyperparameters(self) -> dict[str, float]:
        """`C`, for sample weights as they were given, and the formulation's own."""
        return {"C": self.C / self.unit, **self.formulation.hyperparameters}


def weight_unit(sample_weight: Array) -> float:
    """Sample weight that programs take for 1, a power of two: so that no answer depends on the unit of the weights.

    Tolerances and the least slack are made for losses of the order of margins, which are 1.
    """
    mean = float(sample_weight.mean())
    return 1.0 if 1.0 / ORDINARY <= mean <= ORDINARY else float(2.0 ** np.rint(np.log2(mean)))


def in_units(sample_weight: Array, unit: float) -> Array:
    """Weights in a unit; the same array where that changes nothing, as very many samples take no copy to spare."""
    return sample_weight if unit == 1.0 else sample_weight / unit


def penalty_path(program: Program, weights: slice = slice(None)) -> Array:
    """Values of `C` worth trying, ascending, from just above the one below which the given weights are all 0.

    With weights at 0 only the offsets are fitted. Scaling that model's multipliers shows up to which `C` it stays
    optimal; the path covers four and a half decades above.
    """
    z = np.abs(_bare_pull(program)) / program.gamma
    pull = float(np.max(z[weights], initial=0.0))
    if pull == 0.0:
        return np.ones(1)
    return np.asarray(10.0 ** (0.5 * np.arange(1, N_PENALTIES + 1)) / pull)


def _bare(program: Program) -> Program:
    """The program without any weights."""
    return Program.build(
        np.zeros((program.n_rows, 0)), program.B, program.r, s=program.s,
        G=np.zeros((program.n_hard, 0)), H=program.H, h=program.h, v=program.v, slack=program.slacks.given,
    )  # fmt: skip


def _bare_offsets(program: Program) -> Array:
    """Offsets that are best without any weights."""
    if program.n_offsets != 1 or program.n_hard:
        return PenalisedSolver(_bare(program)).solve(1.0)[1]
    # The loss is convex in one number, and its slope changes where rows are at their margin: a weighted quantile, for
    # which very many samples would make a large linear program.
    slope = program.s * program.B[:, 0]
    rows = np.flatnonzero(slope)
    if not len(rows):
        return np.zeros(1)
    places = program.r[rows] / program.B[rows, 0]
    order = np.argsort(places, kind="stable")
    rise = np.cumsum(np.abs(slope[rows[order]]))
    first = int(np.searchsorted(rise, np.maximum(slope, 0.0).sum()))
    return np.asarray(places[order[[min(first, len(rows) - 1)]]])


def _bare_pull(program: Program) -> Array:
    """How much, without any weights, the loss falls with each of them."""
    if not (program.v.any() or program.slacks.shared):
        b = _bare_offsets(program)
        need = program.r - program.B @ b
        tie = 1e-9 * np.maximum(1.0, np.abs(program.r))
        # Rows on the edge share what the offsets' equations ask of them evenly: no vertex of the solver's choosing.
        alpha = np.where(need > tie, 1.0, np.where(need < -tie, 0.0, 0.5)) * program.s
        even, unproven = repair(program, Duals(alpha[None], np.zeros((1, program.n_hard)), np.ones(1)))
        # Out of balance, the pull would change with what is added to a column, which the offsets make up for.
        if not unproven.any():
            return np.asarray((even.alpha @ program.A)[0] - program.u)
    # Multipliers of hard rows balance a cost of the offsets, or several rows a slack, or there is no even share: those
    # that the solver found.
    _, _, duals = HighsPenalised(_bare(program)).solve(1.0)
    return np.asarray((duals.alpha @ program.A + duals.beta @ program.G)[0] - program.u)


def fit_baseline(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    *,
    C: float | None,
    folds: Iterable[Fold],
    progress: Progress,
) -> Baseline:
    """Fit the optimal model, with `C` and the formulation's hyperparameters by cross-validation if `C` is None.

    Ties go to the smaller `C` and to the earlier candidate, the sparser model; the formulation says what a tie is.
    """
    score, near, unit = None, None, weight_unit(sample_weight)
    sample_weight = in_units(sample_weight, unit)
    kept = _needed_columns(X) if formulation.alike and not isinstance(X, RowView) else None
    fewer = X if kept is None else X[:, kept]
    if C is None:
        # Without a name here: very many samples leave no room for splits that nobody needs any more.
        formulation, C, score, near = _search(
            formulation, fewer, target, sample_weight, [fold.in_units(unit) for fold in folds], progress
        )
    else:
        C *= unit
    program = formulation.program(fewer, target, sample_weight)
    with progress.stage("baseline", 1):
        w, b = PenalisedSolver(program).solve(C, near) if C > 0 else _empty(program)
        progress.step()
    if kept is not None:
        program = formulation.program(X, target, sample_weight)
        w = _among(w, kept, X.shape[1])
    # Weights that move no row by more than rounding are none.
    moved = np.abs(w) * np.maximum(reach(program.A), reach(program.G))
    if float(np.max(moved, initial=0.0)) < NO_REACH:
        w = np.zeros_like(w)
    return Baseline(formulation, program, float(C), w, b, score, unit)


def _needed_columns(X: Matrix) -> Indices | None:
    """Columns that an optimal model may need: none of 0 only, and of equal ones but one; None if these are all."""
    kept, filled = distinct_columns(X), reach(X) > 0.0
    if filled.all() or not filled.any():
        return kept
    kept = np.arange(X.shape[1]) if kept is None else kept
    return np.asarray(kept[filled[kept]])


def _among(w: Array, kept: Indices, n_columns: int) -> Array:
    """Weights of some columns, as many of each, among those of all, where the others are 0."""
    each = w.reshape(len(kept), -1)
    out = np.zeros((n_columns, each.shape[1]))
    out[kept] = each
    return out.ravel()


def _search(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    folds: Sequence[Fold],
    progress: Progress,
) -> _Best:
    candidates = formulation.candidates(target)
    tracks: list[_Track] = []
    # All of them at once, unless what the next one may gain can be foreseen.
    until = formulation.foreseeable or len(candidates)
    while len(tracks) < len(candidates):
        more = _begun(candidates[len(tracks) : until], X, target, sample_weight)
        _follow(more, tracks, X, target, folds, progress)
        tracks, until = [*tracks, *more], until + 1
        if formulation.next_gain(candidates, [track.scores.max() for track in tracks]) <= tracks[-1].tie(X):
            break
    best: _Best | None = None
    for track in tracks:
        tie = track.tie(X)
        k = int(np.argmax(track.scores >= track.scores.max() - tie))
        if best is None or track.scores[k] > best.score + tie:
            best = _Best(track.formulation, float(track.path[k]), float(track.scores[k]), track.models[k])
    assert best is not None
    return best


def _begun(candidates: Sequence[Formulation], X: Matrix, target: Array, sample_weight: Array) -> list[_Track]:
    """Tracks of candidates on which nothing has been tried; programs of all samples are not kept for the search."""
    tracks: list[_Track] = []
    whole: Program | None = None
    for each in candidates:
        whole = None if whole is None else each.restated(whole, target)
        whole = each.program(X, target, sample_weight) if whole is None else whole
        tracks.append(_Track.begun(each, whole, X.shape[1]))
    return tracks


def _follow(
    tracks: Sequence[_Track],
    others: Sequence[_Track],
    X: Matrix,
    target: Array,
    folds: Sequence[Fold],
    progress: Progress,
) -> None:
    """Follow tracks, beside others that are at their end, as far as it is worth while."""
    # All candidates have as many rows. 0 where jobs come one by one.
    longest = max(len(track.path) for track in tracks)
    several = min(track.at_once for track in tracks) // longest
    unfinished = tracks
    while unfinished:
        count = STRETCH if tracks[0].formulation.smooth_score else longest
        jobs = [(track, track.job(fold, count)) for fold in folds for track in unfinished]
        with progress.stage("search", len(jobs)):
            for start in range(0, len(jobs), several or 1):
                few = jobs[start : start + (several or 1)]
                models = _models([job for _, job in few], X, target, at_once=several > 0)
                for (track, job), found in zip(few, models, strict=True):
                    track.add(job, found, job.scores(found, X, target) / len(folds))
                    progress.step()
        best = max(float(track.scores.max()) for track in (*tracks, *others))
        unfinished = [
            track for track in unfinished if not track.ended(folds, X, target) and track.may_reach(best - track.tie(X))
        ]


class _Best(NamedTuple):
    """What the search decides for, with its mean score and its model of the first fold."""

    formulation: Formulation
    C: float
    score: float
    model: Point


@dataclass(eq=False)
class _Track:
    """A path of penalties for one candidate, as far as it has been followed.

    Attributes
    ----------
    formulation : Formulation
        The candidate.
    path : ndarray
        Values of `C`.
    at_once : int
        How many problems of its size make a batch.
    scores : ndarray
        Mean scores over the folds.
    models : list
        Models of the first fold.
    """

    formulation: Formulation
    path: Array
    at_once: int = 0
    scores: Array = field(default_factory=lambda: np.empty(0))
    models: list[Point] = field(default_factory=list)

    @classmethod
    def begun(cls, formulation: Formulation, whole: Program, n_columns: int) -> _Track:
        """Return the track of a candidate, given its program of all samples, on which nothing has been tried."""
        path = penalty_path(whole, formulation.predictive(n_columns))
        path = np.append(0.0, path) if formulation.may_be_empty else path
        return cls(formulation, path, problems_at_once(whole, len(path)))

    def job(self, fold: Fold, count: int) -> _Job:
        """Return the next values of `C`, so many at most, on one fold."""
        begin = len(self.models)
        return _Job(fold, self.formulation, self.path[begin : begin + count], begin)

    def add(self, job: _Job, models: list[Point], shares: Array) -> None:
        """Take in models of a fold, and their shares of the mean scores."""
        end = job.begin + len(models)
        if len(self.models) < end:
            self.models = [*self.models, *models]
            self.scores = np.append(self.scores, np.zeros(len(models)))
        self.scores[job.begin : end] += shares

    def tie(self, X: Matrix) -> float:
        """Difference up to which scores are a tie, but for rounding."""
        return self.formulation.resolution(X.shape[0]) * (1 + 1e-9)

    def may_reach(self, score: float) -> bool:
        """Whether a score is within reach of a path that goes on, if its gains go on to shrink as they do."""
        before, last = (max(float(gain), 0.0) for gain in np.diff(self.scores[-3:]))
        left = len(self.path) - len(self.scores)
        shares = (last / before if last < before else 1.0) ** np.arange(1, left + 1)
        return float(self.scores.max()) + last * float(shares.sum()) >= score

    def ended(self, folds: Sequence[Fold], X: Matrix, target: Array) -> bool:
        """Whether the path is at its end, or its score has risen, but not for a while."""
        if len(self.scores) == len(self.path):
            return True
        tie = self.tie(X)
        before = np.maximum.accumulate(self.scores)[:-1]
        rises = 1 + np.flatnonzero(self.scores[1:] > before + tie)
        if not len(rises):
            # It may be at its height from the first value on, or have yet to rise.
            jobs = [self.job(fold, 0) for fold in folds]
            least = np.mean([job.scores([_empty(job.program(X, target))], X, target) for job in jobs])
            rises = np.zeros(int(self.scores[0] > least + tie), dtype=np.intp)
        return len(rises) > 0 and len(self.scores) > int(rises[-1]) + PATIENCE


class _Job(NamedTuple):
    """Some penalties on one fold, for one candidate: part of a path, from that place on."""

    fold: Fold
    formulation: Formulation
    path: Array
    begin: int = 0

    def program(self, X: Matrix, target: Array, alike: Program | None = None) -> Program:
        """State the program of the samples that the fold trains with, given perhaps that of another candidate."""
        train = self.fold.train > 0
        program = None if alike is None else self.formulation.restated(alike, target[train])
        if program is None:
            program = self.formulation.program(some_rows(X, train), target[train], self.fold.train[train])
        return program

    def scores(self, models: Sequence[Point], X: Matrix, target: Array) -> Array:
        """Scores of models on the samples that the fold leaves out."""
        test = self.fold.test > 0
        unseen, true, weight = some_rows(X, test), target[test], self.fold.test[test]
        predictions = (self.formulation.predict(unseen, *model) for model in models)
        return np.array([self.formulation.score(true, prediction, weight) for prediction in predictions])


def cross_validated_score(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    folds: Sequence[Fold],
    *,
    C: float | None,
) -> float | None:
    """Mean score over the folds of a model of its own for this data; None without folds.

    With `C` by cross-validation if it is None, as in the search for the baseline.
    """
    if not folds:
        return None
    unit = weight_unit(sample_weight)
    folds = [fold.in_units(unit) for fold in folds]
    if C is None:
        return _search(formulation, X, target, in_units(sample_weight, unit), folds, Progress()).score
    jobs = [_Job(fold, formulation, np.array([C * unit])) for fold in folds]
    return float(np.mean([job.scores(_models([job], X, target)[0], X, target) for job in jobs]))


def _empty(program: Program) -> tuple[Array, Array]:
    """The best point without any weights."""
    return np.zeros(program.n_weights), _bare_offsets(program)


def _models(jobs: Sequence[_Job], X: Matrix, target: Array, *, at_once: bool = False) -> list[list[Point]]:
    """Models of every job, found at once or one after the other."""
    programs: list[Program] = []
    for k, job in enumerate(jobs):
        programs.append(job.program(X, target, programs[-1] if k and jobs[k - 1].fold is job.fold else None))
    found = penalised_paths(programs, [job.path[job.path > 0.0] for job in jobs], SEARCH_GAP, at_once=at_once)
    return [
        ([_empty(program)] if job.path[0] == 0.0 else []) + list(zip(w, b, strict=True))
        for job, program, (w, b) in zip(jobs, programs, found, strict=True)
    ]

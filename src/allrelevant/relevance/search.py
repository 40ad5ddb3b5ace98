"""The search for C: repeated cross-validation along a path of penalties, and the one-standard-error rule.

The folds of the first repeat decide how far the path is followed, and for which setting of the other hyperparameters.
The other repeats make the scores of that path steadier. Then :func:`one_standard_error_rule` chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from allrelevant._progress import Progress
from allrelevant.formulations import Formulation
from allrelevant.lp import Array, Program, penalised_paths
from allrelevant.lp.matrix import Matrix, reach, some_rows
from allrelevant.relevance.penalties import null_offsets, penalty_path

__all__ = ["Chosen", "Fold", "Point", "fold_scores", "in_units", "null_model", "one_standard_error_rule", "search"]

#: Weights and offsets of a model.
Point = tuple[Array, Array]
#: Models of the search are compared by their scores, for which a proof to this relative gap is enough.
SEARCH_GAP = 1e-4
#: Weights of these models are 0 if they move no sample by more than this; margins are 1.
NO_REACH = 1e-6
#: Scores that differ by less are the same.
ROUNDING = 1e-9
#: So many values of C come at a time, and the next ones only if the score still rises: if it rose with the last one, or
#: never.
STRETCH, PATIENCE = 3, 1


def one_standard_error_rule(scores: Array) -> int:
    """Return the place of the largest penalty whose score is within one standard error of the best score.

    The largest penalty of the weights is the smallest `C`: the sparsest model of those that cannot be told from the
    best one (Breiman, Friedman, Olshen and Stone 1984; Hastie, Tibshirani and Friedman 2009, section 7.10). The
    standard error of a mean score is the standard deviation over the folds, divided by the root of their number.

    Parameters
    ----------
    scores : ndarray of shape (n_folds, n_values)
        Score of every fold, of all repeats, for every value of `C`, ascending; greater is better.
    """
    mean = scores.mean(axis=0)
    best = int(np.argmax(mean >= mean.max() - ROUNDING))
    error = scores[:, best].std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    return int(np.argmax(mean >= mean[best] - error - ROUNDING))


def in_units(sample_weight: Array, unit: float) -> Array:
    """Weights in a unit; the same array where that changes nothing, as very many samples take no copy to spare."""
    return sample_weight if unit == 1.0 else sample_weight / unit


@dataclass(frozen=True, eq=False)
class Fold:
    """Sample weights of one split: 0 where a sample does not take part."""

    train: Array
    test: Array

    def in_units(self, unit: float) -> Fold:
        """The same split with weights in another unit."""
        return Fold(in_units(self.train, unit), in_units(self.test, unit))


class Chosen(NamedTuple):
    """What the search decides for, with its mean score and its model of the first fold."""

    formulation: Formulation
    C: float
    score: float
    model: Point


def search(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    folds: Sequence[Fold],
    progress: Progress,
    total: float,
) -> Chosen:
    """Choose `C` and the formulation's own hyperparameters.

    Of several candidates the one with the best score in the first repeat is taken, or the first of those that tie with
    it. Where no weights at all may be the answer, they are, unless another model beats them by more than a tie. The
    weights of all samples in a repeat's tests add up to `total`.
    """
    # How often a sample is tested.
    n_repeats = max(1, round(sum(float(fold.test.sum()) for fold in folds) / total))
    first = -(-len(folds) // n_repeats)
    best = _best_candidate(formulation, X, target, sample_weight, folds[:first], progress)
    _repeat(best, X, target, folds[first:], progress)
    mean = best.scores.mean(axis=0)
    if not best.formulation.may_be_empty:
        k = one_standard_error_rule(best.scores)
    elif mean[0] >= mean.max() - best.tie(X):
        k = 0
    else:
        worse = mean < mean[0] + best.tie(X)
        k = one_standard_error_rule(np.where(worse, -np.inf, best.scores))
    return Chosen(best.formulation, float(best.values[k]), float(mean[k]), best.models[k])


def fold_scores(formulation: Formulation, X: Matrix, target: Array, folds: Sequence[Fold], C: float) -> Array:
    """Scores of the model of every fold for one value of `C`."""
    parts = [_FoldPath(fold, formulation, np.array([C])) for fold in folds]
    return np.array([float(part.scores(_models([part], X, target)[0], X, target)[0]) for part in parts])


def null_model(program: Program) -> Point:
    """Return the best point without any weights."""
    return np.zeros(program.n_weights), null_offsets(program)


def _best_candidate(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    folds: Sequence[Fold],
    progress: Progress,
) -> _Path:
    candidates = formulation.candidates(target)
    paths: list[_Path] = []
    # All of them at once, unless what the next one may gain can be foreseen.
    until = formulation.foreseeable or len(candidates)
    while len(paths) < len(candidates):
        more = _started(candidates[len(paths) : until], X, target, sample_weight)
        _extend(more, paths, X, target, folds, progress)
        paths, until = [*paths, *more], until + 1
        if formulation.next_gain(candidates, [path.best for path in paths]) <= paths[-1].tie(X):
            break
    best = paths[0]
    for path in paths[1:]:
        if path.best > best.best + path.tie(X):
            best = path
    return best


def _started(candidates: Sequence[Formulation], X: Matrix, target: Array, sample_weight: Array) -> list[_Path]:
    """Paths of candidates of which nothing is solved; programs of all samples are not kept for the search."""
    paths: list[_Path] = []
    whole: Program | None = None
    for each in candidates:
        whole = None if whole is None else each.restated(whole, target)
        whole = each.program(X, target, sample_weight) if whole is None else whole
        paths.append(_Path.started(each, whole, X.shape[1]))
    return paths


def _extend(
    paths: Sequence[_Path],
    others: Sequence[_Path],
    X: Matrix,
    target: Array,
    folds: Sequence[Fold],
    progress: Progress,
) -> None:
    """Extend each path until its score no longer rises, or it can no longer beat those of the others."""
    unfinished = paths
    while unfinished:
        parts = [(path, path.part(fold, STRETCH)) for fold in folds for path in unfinished]
        found = _solved([part for _, part in parts], X, target, progress)
        for path in unfinished:
            own = [(part, some) for (one, part), some in zip(parts, found, strict=True) if one is path]
            path.models += own[0][1]
            scores = np.array([part.scores(some, X, target) for part, some in own])
            path.scores = np.hstack([path.scores, scores]) if path.scores.size else scores
        best = max(path.best for path in (*paths, *others))
        unfinished = [
            path for path in unfinished if not path.ended(folds, X, target) and path.may_reach(best - path.tie(X))
        ]


def _repeat(path: _Path, X: Matrix, target: Array, folds: Sequence[Fold], progress: Progress) -> None:
    """Score a path, as far as it goes, on further folds."""
    if not folds:
        return
    tried = path.values[: len(path.models)]
    parts = [_FoldPath(fold, path.formulation, tried) for fold in folds]
    found = _solved(parts, X, target, progress)
    more = [part.scores(some, X, target) for part, some in zip(parts, found, strict=True)]
    path.scores = np.vstack([path.scores, *more])


def _solved(parts: Sequence[_FoldPath], X: Matrix, target: Array, progress: Progress) -> list[list[Point]]:
    """Models of every part."""
    found: list[list[Point]] = []
    with progress.stage("search", len(parts)):
        for part in parts:
            found += _models([part], X, target)
            progress.step()
    return found


@dataclass(eq=False)
class _Path:
    """A path of penalties for one candidate, as far as it is solved.

    Attributes
    ----------
    formulation : Formulation
        The candidate.
    values : ndarray
        Values of `C`.
    scores : ndarray of shape (n_folds, n_solved)
        Scores of the folds.
    models : list
        Models of the first fold.
    """

    formulation: Formulation
    values: Array
    scores: Array = field(default_factory=lambda: np.empty((0, 0)))
    models: list[Point] = field(default_factory=list)

    @classmethod
    def started(cls, formulation: Formulation, whole: Program, n_columns: int) -> _Path:
        """Return the path of a candidate, given its program of all samples, of which nothing is solved."""
        values = penalty_path(whole, formulation.predictive(n_columns))
        values = np.append(0.0, values) if formulation.may_be_empty else values
        return cls(formulation, values)

    @property
    def best(self) -> float:
        """The best mean score so far."""
        return float(self.scores.mean(axis=0).max())

    def part(self, fold: Fold, count: int) -> _FoldPath:
        """Return the next values of `C`, so many at most, on one fold."""
        begin = len(self.models)
        return _FoldPath(fold, self.formulation, self.values[begin : begin + count])

    def tie(self, X: Matrix) -> float:
        """Difference up to which scores are a tie, but for rounding."""
        return self.formulation.resolution(X.shape[0]) * (1 + ROUNDING)

    def may_reach(self, score: float) -> bool:
        """Whether a score is within reach of a path that goes on, if its gains go on to shrink as they do.

        Of a path whose score has yet to rise, nothing is known.
        """
        mean = self.scores.mean(axis=0)
        if np.ptp(mean) <= ROUNDING:
            return True
        before, last = (max(float(gain), 0.0) for gain in np.diff(mean[-3:]))
        left = len(self.values) - len(mean)
        shares = (last / before if last < before else 1.0) ** np.arange(1, left + 1)
        return float(mean.max()) + last * float(shares.sum()) >= score

    def ended(self, folds: Sequence[Fold], X: Matrix, target: Array) -> bool:
        """Whether the path is at its end, or its score has risen, but not for a while."""
        mean = self.scores.mean(axis=0)
        if len(mean) == len(self.values):
            return True
        tie = self.tie(X)
        rises = 1 + np.flatnonzero(mean[1:] > np.maximum.accumulate(mean)[:-1] + tie)
        if not len(rises):
            # It may be at its height from the first value on, or have yet to rise.
            parts = [self.part(fold, 0) for fold in folds]
            least = np.mean([part.scores([null_model(part.program(X, target))], X, target) for part in parts])
            rises = np.zeros(int(mean[0] > least + tie), dtype=np.intp)
        return len(rises) > 0 and len(mean) > int(rises[-1]) + PATIENCE


class _FoldPath(NamedTuple):
    """Some values of `C` on one fold, for one candidate."""

    fold: Fold
    formulation: Formulation
    values: Array

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
        return np.array([self.formulation.score(unseen, true, weight, *model) for model in models])


def _models(parts: Sequence[_FoldPath], X: Matrix, target: Array) -> list[list[Point]]:
    """Models of every part."""
    programs: list[Program] = []
    for k, part in enumerate(parts):
        programs.append(part.program(X, target, programs[-1] if k and parts[k - 1].fold is part.fold else None))
    found = penalised_paths(programs, [part.values[part.values > 0.0] for part in parts], SEARCH_GAP)
    return [
        ([null_model(program)] if part.values[0] == 0.0 else []) + _without_rounding(program, w, b)
        for part, program, (w, b) in zip(parts, programs, found, strict=True)
    ]


def _without_rounding(program: Program, w: Array, b: Array) -> list[Point]:
    """Models whose weights that are rounding are 0: they must not be scored as if they predicted."""
    moved = np.abs(w) * np.maximum(reach(program.A), reach(program.G))
    w = np.where(moved < NO_REACH, 0.0, w)
    return [(one, b[k]) if one.any() else null_model(program) for k, one in enumerate(w)]

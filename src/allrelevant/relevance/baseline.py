"""The one optimal model that everything else is near to, and the search for its C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from allrelevant._progress import Progress
from allrelevant.formulations import Formulation
from allrelevant.lp import Array, PenalisedSolver, Program
from allrelevant.lp.certificate import repair, unbalanced
from allrelevant.lp.matrix import Matrix, reach, some_rows
from allrelevant.lp.penalised import HighsPenalised
from allrelevant.lp.targets import Duals

__all__ = ["Baseline", "Fold", "cross_validated_score", "fit_baseline", "in_units", "penalty_path", "weight_unit"]

#: Models of the search are compared by their scores, for which a proof to this relative gap is enough.
SEARCH_GAP = 1e-4
#: Weights are 0 if they move no row by more than this; margins are 1.
NO_REACH = 1e-8
#: Mean sample weights up to this factor from 1 are left as they are.
ORDINARY = 16.0
#: Values of C tried per setting of the other hyperparameters, half a decade apart.
N_PENALTIES = 9


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
        even = repair(program, Duals(alpha[None], np.zeros((1, program.n_hard)), np.ones(1)))
        # Out of balance, the pull would change with what is added to a column, which the offsets make up for.
        if not unbalanced(program, even).any():
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
    score, unit = None, weight_unit(sample_weight)
    sample_weight = in_units(sample_weight, unit)
    if C is None:
        # Without a name here: very many samples leave no room for splits that nobody needs any more.
        formulation, C, score = _search(
            formulation, X, target, sample_weight, [fold.in_units(unit) for fold in folds], progress
        )
    else:
        C *= unit
    program = formulation.program(X, target, sample_weight)
    with progress.stage("baseline", 1):
        w, b = PenalisedSolver(program).solve(C) if C > 0 else _empty(program)
        progress.step()
    # Weights that move no row by more than rounding are none.
    moved = np.abs(w) * np.maximum(reach(program.A), reach(program.G))
    if float(np.max(moved, initial=0.0)) < NO_REACH:
        w = np.zeros_like(w)
    return Baseline(formulation, program, float(C), w, b, score, unit)


def _search(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    folds: Sequence[Fold],
    progress: Progress,
) -> tuple[Formulation, float, float]:
    best: tuple[Formulation, float, float] | None = None
    candidates = formulation.candidates(target)
    with progress.stage("search", len(candidates) * len(folds)):
        for candidate in candidates:
            path = penalty_path(candidate.program(X, target, sample_weight), candidate.predictive(X.shape[1]))
            if candidate.may_be_empty:
                path = np.append(0.0, path)
            scores = np.zeros(len(path))
            for fold in folds:
                scores += _path_scores(candidate, X, target, fold, path) / len(folds)
                progress.step()
            tie = candidate.resolution(X.shape[0]) * (1 + 1e-9)
            k = int(np.argmax(scores >= scores.max() - tie))
            if best is None or scores[k] > best[2] + tie:
                best = candidate, float(path[k]), float(scores[k])
    assert best is not None
    return best


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
        return _search(formulation, X, target, in_units(sample_weight, unit), folds, Progress())[2]
    return float(np.mean([_path_scores(formulation, X, target, fold, np.array([C * unit]))[0] for fold in folds]))


def _empty(program: Program) -> tuple[Array, Array]:
    """The best point without any weights."""
    return np.zeros(program.n_weights), PenalisedSolver(_bare(program)).solve(1.0)[1]


def _path_scores(formulation: Formulation, X: Matrix, target: Array, fold: Fold, path: Array) -> Array:
    train, test = fold.train > 0, fold.test > 0
    program = formulation.program(some_rows(X, train), target[train], fold.train[train])
    models = [_empty(program)] if path[0] == 0.0 else []
    models += zip(*PenalisedSolver(program).path(path[len(models) :], SEARCH_GAP), strict=True)
    unseen = some_rows(X, test)
    predictions = (formulation.predict(unseen, w, b) for w, b in models)
    return np.array([formulation.score(target[test], prediction, fold.test[test]) for prediction in predictions])

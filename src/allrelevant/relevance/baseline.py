"""The one optimal model that everything else is near to, and the search for its C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from allrelevant._progress import Progress
from allrelevant.formulations import Formulation
from allrelevant.lp import Array, PenalisedSolver, Program
from allrelevant.lp.copies import distinct_columns
from allrelevant.lp.matrix import Indices, Matrix, reach
from allrelevant.lp.view import RowView
from allrelevant.relevance.search import Fold, fold_scores, in_units, null_model, search

__all__ = ["Baseline", "Fold", "cross_validated_score", "fit_baseline", "in_units", "weight_unit"]

#: Weights are 0 if they move no row by more than this; margins are 1.
NO_REACH = 1e-8
#: Mean sample weights up to this factor from 1 are left as they are.
ORDINARY = 16.0


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


def fit_baseline(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    *,
    C: float | None,
    folds: Iterable[Fold],
    progress: Progress,
    given_weight: Array | None = None,
) -> Baseline:
    """Fit the optimal model, with `C` and the formulation's hyperparameters by :func:`search` if `C` is None.

    `sample_weight` weighs the losses; `given_weight` are the weights without those of classes, which the tests of the
    folds add up to, if they differ.
    """
    total = float((sample_weight if given_weight is None else given_weight).sum())
    score, near, unit = None, None, weight_unit(sample_weight)
    sample_weight = in_units(sample_weight, unit)
    kept = _needed_columns(X) if formulation.alike and not isinstance(X, RowView) else None
    fewer = X if kept is None else X[:, kept]
    if C is None:
        # Without a name here: very many samples leave no room for splits that nobody needs any more.
        formulation, C, score, near = search(
            formulation, fewer, target, sample_weight, [fold.in_units(unit) for fold in folds], progress, total / unit
        )
    else:
        C *= unit
    program = formulation.program(fewer, target, sample_weight)
    with progress.stage("baseline", 1):
        w, b = PenalisedSolver(program).solve(C, near) if C > 0 else null_model(program)
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


def cross_validated_score(
    formulation: Formulation,
    X: Matrix,
    target: Array,
    sample_weight: Array,
    folds: Sequence[Fold],
    *,
    C: float | None,
    given_weight: Array | None = None,
) -> float | None:
    """Mean score over the folds of a model of its own for this data; None without folds.

    With `C` by cross-validation if it is None, as in the search for the baseline.
    """
    if not folds:
        return None
    unit = weight_unit(sample_weight)
    folds = [fold.in_units(unit) for fold in folds]
    if C is None:
        total = float((sample_weight if given_weight is None else given_weight).sum()) / unit
        return search(formulation, X, target, in_units(sample_weight, unit), folds, Progress(), total).score
    return float(fold_scores(formulation, X, target, folds, C * unit).mean())

"""Accuracy and feature sets on ten real ordinal data sets (thesis, Tables 4.5 to 4.7).

The papers average over 30 random splits (75 % training). Those splits are known in full for four sets; of the other
six only the first one is, and the rest are stratified splits of the same size, drawn here with the number of the split
as seed: their figures are comparable with the papers', not identical in design. A class with one sample is put on
either side by chance. Errors are in ranks; the macro-averaged one (MMAE) is a mean over the classes present in the test
rows. The estimator keeps its defaults, so `C` is chosen by three-fold cross-validation, the papers' by five-fold.

Four variants tell where a difference from the papers comes from. They need the baseline model only:

- ``folds``: five-fold cross-validation;
- ``balanced``: the same, and every class has the same total weight in the loss;
- ``largest``: the largest `C` of the path, where the loss counts for nearly everything;
- ``hindsight``: the `C` of the path that is best on the test rows, which no honest choice can beat.

What they tell: on the sets with rare classes the papers' errors are smaller than ours, and giving every class the same
weight removes nearly all of it, down to the order of the two variants on winequality-red. The papers do not say that
they weighted classes, so this is an inference. On bondrate and pasture ours are smaller, and the papers' are like those
of a very large `C`, which is a guess after the fact. What is left is marked "not explained" in the column ``note``.

The feature sets (Table 4.7) are mostly smaller than the papers', and that is not explained: on five splits of each of
the seven small sets, neither a slack of 0.001 nor the papers' threshold rule, nor both, brought them near on the whole.
The cells of eucalyptus that hold -2147483648 (missing values) were left as they are: they mark what is missing, and on
the first split the error is 0.40 with them and 0.47 with column means.

Recursive elimination with the ordinal model stands beside the set sizes. Eucalyptus takes minutes per split, so it has
been run on few.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from allrelevant import LinearRelevanceOrdinal, RelevanceWarning
from allrelevant.formulations import Formulation, OrdinalExplicit, OrdinalImplicit
from allrelevant.formulations.metrics import macro_absolute_error
from allrelevant.lp import PenalisedSolver
from allrelevant.relevance.penalties import penalty_path
from benchmarks.blocks import Block, Table, mean_of, prose, published, results
from benchmarks.competitors.calling import call
from benchmarks.experiment import Experiment, Key, data

TITLE = "Real ordinal data"
ORDERS = {"explicit": OrdinalExplicit, "implicit": OrdinalImplicit}
VARIANTS = ("folds", "balanced", "largest", "hindsight")
#: What may make the difference, the most likely first; a choice in hindsight is a limit, not a reason.
REASONS = {"folds": "five folds", "balanced": "classes of equal weight", "largest": "the largest C"}
#: A difference of mean MMAE that asks for a reason.
NOTABLE = 0.05
SETS = (
    "automobile",
    "bondrate",
    "contact-lenses",
    "eucalyptus",
    "newthyroid",
    "pasture",
    "squash-stored",
    "squash-unstored",
    "tae",
    "winequality-red",
)


def load(name: str, fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, ranks, and the mask of the test rows of one split."""
    table = np.loadtxt(data(f"ordinal/{name}.csv"), delimiter=",", skiprows=1, quotechar='"')
    with data(f"ordinal/{name}_folds.csv").open(newline="") as file:
        given = {int(row["fold"]): row["test_rows_0based"].split() for row in csv.DictReader(file)}
    X, y = table[:, :-1], table[:, -1].astype(int)
    test = np.zeros(len(y), dtype=bool)
    test[np.array(given[fold], dtype=int) if fold in given else _drawn(y, len(given[0]), fold)] = True
    return X, y, test


def _drawn(y: np.ndarray, size: int, seed: int) -> np.ndarray:
    labels, counts = np.unique(y, return_counts=True)
    # A stratum needs two samples; a class with one joins the largest class.
    strata = np.where(np.isin(y, labels[counts < 2]), labels[counts.argmax()], y)
    splitter = StratifiedShuffleSplit(1, test_size=size, random_state=seed)
    return np.asarray(next(splitter.split(strata, strata))[1])


def mmae(y: np.ndarray, prediction: np.ndarray) -> float:
    """Mean absolute error in ranks, averaged over the classes present."""
    error = np.abs(y - prediction)
    return float(np.mean([error[y == label].mean() for label in np.unique(y)]))


def run(name: str, method: str, fold: int) -> dict[str, Any]:
    """Fit the training rows of one split, count the features found, and measure errors on the test rows."""
    X, y, test = load(name, fold)
    if method not in ORDERS:
        return _run_elimination(method, X[~test], y[~test], fold)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RelevanceWarning
        )  # "no linear model predicts" is a finding, told by C and sizes
        model = LinearRelevanceOrdinal(order=method, random_state=fold).fit(X[~test], y[~test])
    spent = time.process_time() - began
    error = np.abs(model.predict(X[test]) - y[test])
    irrelevant, weak, strong = np.bincount(model.relevance_classes_, minlength=3).tolist()
    return {
        "mmae": mmae(y[test], model.predict(X[test])),
        "mze": float((error > 0).mean()),
        "mae": float(error.mean()),
        "strong": strong,
        "weak": weak,
        "irrelevant": irrelevant,
        "C": model.result_.hyperparameters["C"],
        "max_gap": model.result_.max_gap,
        "cpu_seconds": spent,
        **run_variants(X, y, test, method, fold),
    }


def _run_elimination(method: str, X: np.ndarray, y: np.ndarray, fold: int) -> dict[str, Any]:
    """How many features are left, with the columns standardised."""
    spread = np.where(np.ptp(X, axis=0) == 0, np.inf, X.std(axis=0))
    done = call(method, "ordinal", (X - X.mean(axis=0)) / spread, y, fold)
    left = "" if done.classes is None else int((done.classes > 0).sum())
    return {"selected": left, "cpu_seconds": done.cpu_seconds, "note": done.note}


def run_variants(X: np.ndarray, y: np.ndarray, test: np.ndarray, order: str, fold: int) -> dict[str, float]:
    """MMAE of the variants of the baseline model on the test rows."""
    train = ~test
    spread = np.where(np.ptp(X[train], axis=0) == 0, np.inf, X[train].std(axis=0))
    Z = (X - X[train].mean(axis=0)) / spread
    labels, target, counts = np.unique(y[train], return_inverse=True, return_counts=True)
    formulation = ORDERS[order](n_classes=len(labels))

    def found(weight: np.ndarray) -> tuple[int, list[float]]:
        path = penalty_path(formulation.program(Z[train], target.astype(float), weight))
        chosen = _choose(formulation, Z[train], target.astype(float), weight, path, fold)
        models = _models(formulation, Z[train], target.astype(float), weight, path)
        return chosen, [mmae(y[test], labels[predict(Z[test]).astype(int)]) for predict in models]

    chosen, errors = found(np.ones(train.sum()))
    balanced, balanced_errors = found((train.sum() / len(labels) / counts)[target])
    return {
        "mmae_folds": errors[chosen],
        "mmae_balanced": balanced_errors[balanced],
        "mmae_largest": errors[-1],
        "mmae_hindsight": min(errors),
    }


def _models(
    formulation: Formulation, X: np.ndarray, target: np.ndarray, weight: np.ndarray, path: np.ndarray
) -> Iterator[Callable[[np.ndarray], np.ndarray]]:
    solver = PenalisedSolver(formulation.program(X, target, weight))
    for C in path:
        w, b = solver.solve(C)
        yield lambda new, w=w, b=b: formulation.predict(new, w, b)


def _choose(
    formulation: Formulation, X: np.ndarray, target: np.ndarray, weight: np.ndarray, path: np.ndarray, seed: int
) -> int:
    """Place on the path of the `C` that five-fold cross-validation chooses, by the estimator's rule for ties."""
    scores = np.zeros(len(path))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, target))
    for fit, held in splits:
        models = _models(formulation, X[fit], target[fit], weight[fit], path)
        scores += [macro_absolute_error(target[held], predict(X[held]), np.ones(len(held))) for predict in models]
    return int(np.argmax(scores / len(splits) >= scores.max() / len(splits) - formulation.resolution(len(X))))


def keys(size: str) -> list[Key]:
    """Sets, orders and splits; eucalyptus, where a split takes minutes, has few."""
    if size == "smoke":
        return [("contact-lenses", method, 0) for method in (*ORDERS, "rfecv_ordinal")]
    return [
        (name, method, fold)
        for method in (*ORDERS, "rfecv_ordinal")
        for name in SETS
        if name != "eucalyptus" or method in ORDERS
        for fold in range(1 if size == "quick" else 2 if name == "eucalyptus" else 30)
    ]


EXPERIMENT = Experiment(
    "real_ordinal",
    "errors and feature sets on real ordinal data",
    "thesis, Tables 4.5, 4.6 and 4.7; article, Table 4",
    ("set", "method", "fold"),
    keys,
    run,
    tuple(f"ordinal/{name}.csv" for name in SETS),
)


def section(folder: Path) -> list[Block]:
    """Tables 4.5 to 4.7."""
    rows = results(folder, "real_ordinal")
    if rows.empty:
        return []
    papers = published("ordinal")
    return [prose(__doc__), _errors(rows, papers), _sizes(rows, papers), _times(rows, papers)]


def _of(rows: pd.DataFrame, name: str, method: str) -> pd.DataFrame:
    return rows[(rows["set"] == name) & (rows["method"] == method)]


def _errors(rows: pd.DataFrame, papers: dict[tuple[str, str, str, str], float]) -> Table:
    """MMAE of both orders, with the reason of a notable difference."""
    lines = []
    for name in SETS:
        line = [name]
        for order in ORDERS:
            same, paper = _of(rows, name, order), papers[name, "", f"model_{order}", "mmae"]
            mean = mean_of(same, "mmae")
            if mean is None:
                line += ["", ""]
                continue
            line.append(f"{mean.value:.3f} ±{mean.error:.3f} ({paper:.3f})")
            variants = {key: mean_of(same, f"mmae_{key}") for key in REASONS}
            apart = {key: each.value - paper for key, each in variants.items() if each}
            line.append(reason(apart) if abs(mean.value - paper) > NOTABLE else "")
        others = [papers[name, "", method, "mmae"] for method in ("p_ogmlvq", "a_ogmlvq")]
        lines.append([*line, *(f"({each:.3f})" for each in others), str(len(_of(rows, name, "explicit")))])
    header = ["", "explicit", "difference", "implicit", "difference", "p-OGMLVQ", "a-OGMLVQ", "splits"]
    return Table("Table 4.5: MMAE of the model (in brackets: published)", header, lines)


def _sizes(rows: pd.DataFrame, papers: dict[tuple[str, str, str, str], float]) -> Table:
    """Features found, explicit order."""
    lines = []
    for name in SETS:
        found = {what: mean_of(_of(rows, name, "explicit"), what) for what in ("strong", "weak")}
        left = mean_of(_of(rows, name, "rfecv_ordinal"), "selected")
        told = {what: papers[name, "", "fri_explicit", f"n_{what}"] for what in found}
        paper = papers.get((name, "", "rfecv_ordinal", "n_selected"))
        line = [f"{mean.value:.1f} ({told[what]})" if mean else "" for what, mean in found.items()]
        line.append(f"{left.value:.1f} ({paper})" if left else f"({paper})")
        lines.append([name, *line])
    return Table("Table 4.7: features found", ["", "strong", "weak", "left by RFECV"], lines)


def _times(rows: pd.DataFrame, papers: dict[tuple[str, str, str, str], float]) -> Table:
    """CPU seconds of 30 splits; the papers' seconds are those of another machine."""
    lines = []
    for name in SETS:
        line = [name]
        for order in ORDERS:
            mean = mean_of(_of(rows, name, order), "cpu_seconds")
            line.append(f"{30 * mean.value:.0f} ({papers[name, '', f'model_{order}', 'seconds']:.0f})" if mean else "")
        lines.append(line)
    return Table("Table 4.6: seconds of 30 splits, of the whole fit with intervals and probes", ["", *ORDERS], lines)


def reason(differences: dict[str, float]) -> str:
    """Name the first variant that comes as near to the papers as asked, or say that there is none."""
    for variant, words in REASONS.items():
        if abs(differences[variant]) <= NOTABLE:
            return f"met by {words} ({differences[variant]:+.3f})"
    return f"not explained; {REASONS['balanced']} leave {differences['balanced']:+.3f}"

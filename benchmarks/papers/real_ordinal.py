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

Runs that are in the results already are not repeated, so a long run may be done in pieces.

Usage: ``python -m benchmarks.papers.real_ordinal [--data DIR] [--sets tae ...] [--folds 30] [--jobs 1]``
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from allrelevant import LinearRelevanceOrdinal, RelevanceWarning
from allrelevant.formulations import Formulation, OrdinalExplicit, OrdinalImplicit
from allrelevant.lp import PenalisedSolver
from allrelevant.relevance.baseline import penalty_path
from benchmarks._common import print_table, read_csv, write_csv

HERE = Path(__file__).parent
DATA = Path(os.environ.get("ALLRELEVANT_DATA", HERE.parents[2] / "shared" / "data"))
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


def load(data: Path, name: str, fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, ranks, and the mask of the test rows of one split."""
    table = np.loadtxt(data / "ordinal" / f"{name}.csv", delimiter=",", skiprows=1, quotechar='"')
    with (data / "ordinal" / f"{name}_folds.csv").open(newline="") as file:
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


def run(data: Path, name: str, order: str, fold: int) -> dict[str, object]:
    """Fit the training rows of one split, count the features found, and measure errors on the test rows."""
    X, y, test = load(data, name, fold)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RelevanceWarning
        )  # "no linear model predicts" is a finding, told by C and sizes
        model = LinearRelevanceOrdinal(order=order, random_state=fold).fit(X[~test], y[~test])
    spent = time.process_time() - began
    error = np.abs(model.predict(X[test]) - y[test])
    irrelevant, weak, strong = np.bincount(model.relevance_classes_, minlength=3).tolist()
    return {
        "set": name,
        "order": order,
        "fold": fold,
        "mmae": mmae(y[test], model.predict(X[test])),
        "mze": float((error > 0).mean()),
        "mae": float(error.mean()),
        "strong": strong,
        "weak": weak,
        "irrelevant": irrelevant,
        "C": model.result_.hyperparameters["C"],
        "max_gap": model.result_.max_gap,
        "cpu_seconds": spent,
        **run_variants(X, y, test, order, fold),
    }


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
        scores += [formulation.score(target[held], predict(X[held]), np.ones(len(held))) for predict in models]
    return int(np.argmax(scores / len(splits) >= scores.max() / len(splits) - formulation.resolution(len(X))))


def summarise(rows: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
    """Means over the splits beside the papers' figures."""
    published = {row["set"]: row for row in read_csv(HERE / "published" / "thesis_tables_4_5_4_6_4_7.csv")}
    out: list[dict[str, object]] = []
    for name in SETS:
        for order in ORDERS:
            same = [row for row in rows if (row["set"], row["order"]) == (name, order)]
            if not same:
                continue
            numbers = {
                key: np.array([float(row[key]) for row in same]) for key in same[0] if key not in ("set", "order")
            }
            paper = float(published[name][f"mmae_{order}"])
            mean = float(numbers["mmae"].mean())
            variants = {key: float(numbers[f"mmae_{key}"].mean()) - paper for key in VARIANTS}
            explicit = order == "explicit"
            out.append(
                {
                    "set": name,
                    "order": order,
                    "folds": len(same),
                    "mmae": mean,
                    "standard_error": float(numbers["mmae"].std(ddof=1) / np.sqrt(len(same))) if len(same) > 1 else 0.0,
                    "mmae_published": paper,
                    "mark": f"{mean - paper:+.3f}" if abs(mean - paper) > NOTABLE else "",
                    **{f"mmae_{key}": paper + difference for key, difference in variants.items()},
                    "mze": float(numbers["mze"].mean()),
                    "mae": float(numbers["mae"].mean()),
                    **{key: float(numbers[key].mean()) for key in ("strong", "weak", "irrelevant")},
                    "strong_published": published[name]["strong"] if explicit else "",
                    "weak_published": published[name]["weak"] if explicit else "",
                    "max_gap": float(numbers["max_gap"].max()),
                    "cpu_seconds_30_folds": 30 * float(numbers["cpu_seconds"].mean()),
                    "seconds_published": float(published[name][f"seconds_{order}"]),
                    "note": reason(variants) if abs(mean - paper) > NOTABLE else "",
                }
            )
    return out


def reason(differences: dict[str, float]) -> str:
    """Name the first variant that comes as near to the papers as asked, or say that there is none."""
    for variant, words in REASONS.items():
        if abs(differences[variant]) <= NOTABLE:
            return f"met by {words} ({differences[variant]:+.3f})"
    return f"not explained; {REASONS['balanced']} leave {differences['balanced']:+.3f}"


def main() -> None:
    """Run what is missing, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with ordinal/NAME.csv (or ALLRELEVANT_DATA)")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--folds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    if not (options.data / "ordinal").is_dir():
        print(f"skipped: there is no folder {options.data / 'ordinal'}; name it by --data or ALLRELEVANT_DATA")
        return
    path = options.out / "real_ordinal.csv"
    rows: list[dict[str, Any]] = [dict(row) for row in read_csv(path)] if path.exists() else []
    for name in options.sets:
        done = {(row["set"], row["order"], int(row["fold"])) for row in rows}
        wanted = [(name, order, fold) for order in ORDERS for fold in range(options.folds)]
        missing = [key for key in wanted if key not in done]
        if missing:
            rows += Parallel(n_jobs=options.jobs)(delayed(run)(options.data, *key) for key in missing)
            write_csv(path, rows)
    summary = summarise(rows)
    shown = [key for key in summary[0] if key != "note"]
    print_table(shown, [[row[key] for key in shown] for row in summary])
    for row in summary:
        if row["note"]:
            print(f"{row['set']}, {row['order']} ({row['mark']}): {row['note']}")
    write_csv(options.out / "real_ordinal_summary.csv", summary)


if __name__ == "__main__":
    main()

"""Do classes change with what should not matter?

``python -m benchmarks.truth.steadiness`` fits four real data sets with classes, each

- *the same in other words*: labels renamed, rows and columns in another order, columns in units of 10^±3 and shifted by
  100 standard deviations, a constant column added. No class may change;
- *another draw*: eight runs with other seeds, swapped labels and 5 % of the rows left out. Counted are features whose
  class differs from its most frequent one, and how many of these runs mark them as borderline.

Results go to ``results/steadiness.csv``.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from allrelevant import LinearRelevanceClassifier
from allrelevant.errors import RelevanceWarning

DATA = Path(os.environ.get("ALLRELEVANT_DATA", Path(__file__).parents[3] / "shared" / "data"))
RESULTS = Path(__file__).with_name("results") / "steadiness.csv"
RUNS = 8


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Names, features and two classes as 0 and 1 of the data sets; rows with missing values are left out."""
    yield "breast cancer", *load_breast_cancer(return_X_y=True)
    X, y = load_wine(return_X_y=True)
    yield "wine (first class against the others)", X, (y == 0).astype(int)
    for name, file in (("SPECTF", "spectf.csv"), ("heart", "heart_cleveland.csv")):
        table = np.genfromtxt(DATA / "classification" / file, delimiter=",", skip_header=1)
        table = table[np.isfinite(table).all(axis=1)]
        yield name, table[:, :-1], (table[:, -1] > 0).astype(int)


def classes(X: np.ndarray, y: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Classes of a fit, and which features it marks as borderline."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        model = LinearRelevanceClassifier(random_state=seed).fit(X, y)
    return model.relevance_classes_, model.result_.borderline


def in_other_words(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """The same data told otherwise: how, features, classes, and where each feature stands."""
    rng = np.random.default_rng(0)
    every = np.arange(X.shape[1])
    yield "labels swapped", X, 1 - y, every
    yield "labels renamed", X, np.array(["no", "a yes"])[y], every
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    yield "rows", X[rows], y[rows], every
    yield "columns", X[:, columns], y, np.argsort(columns)
    yield "units", X * 10.0 ** rng.integers(-3, 4, size=X.shape[1]), y, every
    yield "shift", X + 100 * X.std(axis=0), y, every
    yield "constant column", np.column_stack([np.full(len(X), 7.0), X]), y, every + 1


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-seed", type=int, default=1000)
    first = parser.parse_args().first_seed
    rows = []
    for name, X, y in data_sets():
        plain, _ = classes(X, y)
        changed = {}
        for what, A, b, place in in_other_words(X, y):
            changed[what] = int((classes(A, b)[0][place] != plain).sum())
        found, near = [], []
        for run in range(RUNS):
            rng = np.random.default_rng(first + run)
            kept = rng.random(len(X)) >= 0.05
            one, borderline = classes(X[kept], y[kept] if run % 2 else 1 - y[kept], first + run)
            found.append(one)
            near.append(borderline)
        runs, marked = np.array(found), np.array(near)
        usual = np.array([np.bincount(column).argmax() for column in runs.T])
        relevant_differs = ((runs > 0) != (usual > 0)).any(axis=0)
        differs = runs != usual
        row = {
            "data": name,
            "features": X.shape[1],
            "changed by the same in other words": sum(changed.values()),
            "differ from their usual class, mean share": round(float(differs.mean()), 4),
            "features of which relevance differs in any run": int(relevant_differs.sum()),
            "of these borderline in some run": int((relevant_differs & marked.any(axis=0)).sum()),
            "marked as borderline, mean share": round(float(marked.mean()), 4),
        }
        rows.append(row)
        print(", ".join(f"{key}: {value}" for key, value in row.items()), changed, flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

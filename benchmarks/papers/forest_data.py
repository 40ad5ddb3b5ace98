"""Forests where no line helps: exclusive or, and Madelon.

``xor``: the class is the exclusive or of two features, neither of which tells anything alone; the others are noise.

``madelon``: 2600 samples of 500 features (NIPS 2003), classes of clusters in 5 dimensions. 20 features carry them: the
5 coordinates and 15 linear combinations, with some noise. The file does not say which 20, but the features do: each of
them is predictable from the others, and none of the 480 probes is. :func:`true_columns` takes the features whose
adjusted R² given all others exceeds 0.9; it never sees the classes. In the file these are 20 features with R² of 0.98
and more, which span 5 dimensions (the next eigenvalue of their correlations is 0.01), and all others have 0.04 at most.
The rest can stand in for any one of them, up to that noise: weak is the class to expect.

Madelon is not part of the project: ``classification/madelon.csv.gz`` in ``--data``, with a column ``target``.

Usage: ``python -m benchmarks.papers.forest_data [--cases xor madelon] [--seeds 20] [--sizes 500 1000]
[--methods conditional] [--peers boruta squamish] [--data DIR] [--limit 3600] [--resume]``
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from allrelevant.datasets import make_relevance_interaction
from benchmarks._common import Results, mean_cell, print_table, standardised
from benchmarks.papers.forest import METHODS, PEERS, fit_by
from benchmarks.peers.processes import peer_pythons

HERE = Path(__file__).parent
DATA = Path(os.environ.get("ALLRELEVANT_DATA", HERE.parents[2] / "shared" / "data"))
CASES = ("xor", "madelon")
#: Samples of the exclusive or, and its features of noise.
SIZES, N_IRRELEVANT = (500, 1000), 10
#: Adjusted R² given all other features above which a feature of Madelon is a combination of others.
PREDICTABLE = 0.9


def run_xor(
    n: int, seed: int, method: str, python: Path | str = sys.executable, limit: float = 3600.0
) -> dict[str, Any]:
    """Look for the two features of an exclusive or."""
    X, y, relevance = make_relevance_interaction(n, kind="xor", n_irrelevant=N_IRRELEVANT, random_state=seed)
    classes, said = fit_by(method, X, y, seed, python, limit)
    row: dict[str, Any] = {"n": n, "seed": seed, "method": method, "d": X.shape[1]}
    row.update(dict.fromkeys(("found_both", "found", "strong", "false_positives"), ""))
    if classes is not None:
        found = (classes > 0) & (relevance > 0)
        row["found"], row["found_both"] = int(found.sum()), int(found.sum() == (relevance > 0).sum())
        row["strong"] = int((found & (classes == 2)).sum()) if method != "boruta" else ""
        row["false_positives"] = int(((classes > 0) & (relevance == 0)).sum())
    return {**row, **said}


def true_columns(X: np.ndarray) -> np.ndarray:
    """Columns that the others predict, by adjusted R² of linear regressions on all of them."""
    n, d = X.shape
    # The diagonal of the inverse of the correlations holds 1 / (1 - R²) of each column on the rest.
    unexplained = 1.0 / np.diag(np.linalg.inv(np.corrcoef(X.T)))
    return np.flatnonzero(1.0 - unexplained * (n - 1) / (n - d) > PREDICTABLE)


def dimensions(X: np.ndarray) -> int:
    """Dimensions that columns span, noise aside."""
    Z = standardised(X)
    return int((np.linalg.svd(Z, compute_uv=False) ** 2 / len(Z) > 0.1).sum())


def run_madelon(
    path: Path, seed: int, method: str, python: Path | str = sys.executable, limit: float = 3600.0
) -> dict[str, Any]:
    """Compare what is found in the file with the features that others predict."""
    frame = pd.read_csv(path)
    features = frame.drop(columns="target")
    X, y = features.to_numpy(dtype=float), frame["target"].to_numpy()
    truth = true_columns(X)
    row: dict[str, Any] = {"seed": seed, "method": method, "n": X.shape[0], "d": X.shape[1], "true": len(truth)}
    row["dimensions"] = dimensions(X[:, truth])
    row.update(dict.fromkeys(("found", "false_positives", "strong", "weak", "missed", "false"), ""))
    classes, said = fit_by(method, X, y, seed, python, limit)
    if classes is not None:
        called = np.flatnonzero(classes > 0)
        missed, false = np.setdiff1d(truth, called), np.setdiff1d(called, truth)
        row["found"], row["false_positives"] = len(truth) - len(missed), len(false)
        if method != "boruta":
            row["strong"], row["weak"] = (int((classes == value).sum()) for value in (2, 1))
        row["missed"], row["false"] = (" ".join(features.columns[which]) for which in (missed, false))
    return {**row, **said}


def summarise_xor(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How often both were found, and how many others."""
    out = []
    for n, method in dict.fromkeys((int(row["n"]), row["method"]) for row in rows):
        same = (row for row in rows if (int(row["n"]), row["method"]) == (n, method))
        chosen = [row for row in same if row["found"] != ""]
        line: dict[str, Any] = {"n": n, "method": method, "finished": len(chosen)}
        for name in ("found_both", "strong", "false_positives", "tentative", "cpu_seconds"):
            line[name] = mean_cell(chosen, name)
        line["runs_with_false_positives"] = sum(int(row["false_positives"]) > 0 for row in chosen)
        out.append(line)
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, default=20, help="draws of xor; Madelon is fitted once")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="samples of xor")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=["conditional"])
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=[])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--limit", type=float, default=3600.0, help="CPU seconds that a fit may take")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    pythons = {
        **dict.fromkeys(options.methods, sys.executable),
        **peer_pythons(options.peers, options.environments),
    }
    if "xor" in options.cases:
        _xor(options, pythons)
    if "madelon" in options.cases:
        _madelon(options, pythons)


def _xor(options: argparse.Namespace, pythons: Mapping[str, Path | str]) -> None:
    results = Results(options.out / "forest_xor.csv", ("n", "seed", "method"))
    wanted = [(n, seed, method) for n in options.sizes for seed in range(options.seeds) for method in pythons]
    for n, seed, method in results.missing(wanted, resume=options.resume):
        results.add(run_xor(n, seed, method, pythons[method], options.limit))
    summary = summarise_xor(results.rows)
    if summary:
        print_table(list(summary[0]), [list(row.values()) for row in summary])


def _madelon(options: argparse.Namespace, pythons: Mapping[str, Path | str]) -> None:
    path = options.data / "classification" / "madelon.csv.gz"
    if not path.exists():
        print(f"skipped: {path} does not exist; name the folder of the data by --data or ALLRELEVANT_DATA")
        return
    results = Results(options.out / "forest_madelon.csv", ("seed", "method"))
    for seed, method in results.missing([(0, method) for method in pythons], resume=options.resume):
        results.add(run_madelon(path, seed, method, pythons[method], options.limit))


if __name__ == "__main__":
    main()

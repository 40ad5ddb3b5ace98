"""Forests where no line helps: exclusive or, and Madelon.

``xor``: the class is the exclusive or of two features, neither of which tells anything alone; the others are noise.

``madelon``: 2600 samples of 500 features (NIPS 2003), classes of clusters in 5 dimensions. 20 features carry them: the
5 coordinates and 15 linear combinations, with some noise. The file does not say which 20, but the features do: each of
them is predictable from the others, and none of the 480 probes is. :func:`true_columns` takes the features whose
adjusted R² given all others exceeds 0.9; it never sees the classes. In the file these are 20 features with R² of 0.98
and more, which span 5 dimensions (the next eigenvalue of their correlations is 0.01), and all others have 0.04 at most.
The rest can stand in for any one of them, up to that noise: weak is the class to expect.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from allrelevant.datasets import make_relevance_interaction
from benchmarks._common import standardised
from benchmarks.blocks import LABELS, Block, Table, mean_of, prose, results
from benchmarks.competitors.calling import call
from benchmarks.experiment import Experiment, Key, data
from benchmarks.selection import ENVIRONMENTS, THREE

TITLE = "Where no line helps"
FILE = "classification/madelon.csv.gz"
#: Samples of the exclusive or, and its features of noise.
SIZES, N_IRRELEVANT = (500, 1000, 2000), 10
METHODS = ("forest", "boruta", "squamish")
#: Adjusted R² given all other features above which a feature of Madelon is a combination of others.
PREDICTABLE = 0.9
LIMIT = 3600.0
SAID = ("tentative", "training_score", "cross_validated", "cpu_seconds")


def run_xor(n: int, seed: int, method: str) -> dict[str, Any]:
    """Look for the two features of an exclusive or."""
    X, y, relevance = make_relevance_interaction(n, kind="xor", n_irrelevant=N_IRRELEVANT, random_state=seed)
    done = call(method, "classification", X, y, seed, limit=LIMIT, environments=ENVIRONMENTS)
    row: dict[str, Any] = {"d": X.shape[1], **dict.fromkeys(("found", "strong", "false_positives", *SAID), "")}
    classes = done.classes
    if classes is not None:
        found = (classes > 0) & (relevance > 0)
        row["found"] = int(found.sum())
        row["strong"] = int((found & (classes == 2)).sum()) if method in THREE else ""
        row["false_positives"] = int(((classes > 0) & (relevance == 0)).sum())
    return {**row, **{name: done.found[name] for name in SAID if name in done.found}, "note": done.note}


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


def run_madelon(seed: int, method: str) -> dict[str, Any]:
    """Compare what is found in the file with the features that others predict."""
    frame = pd.read_csv(data(FILE))
    features = frame.drop(columns="target")
    X, y = features.to_numpy(dtype=float), frame["target"].to_numpy()
    truth = true_columns(X)
    row: dict[str, Any] = {"n": X.shape[0], "d": X.shape[1], "true": len(truth), "dimensions": dimensions(X[:, truth])}
    row.update(dict.fromkeys(("found", "false_positives", "strong", "weak", "missed", "false", *SAID), ""))
    done = call(method, "classification", X, y, seed, limit=LIMIT, environments=ENVIRONMENTS)
    classes = done.classes
    if classes is not None:
        called = np.flatnonzero(classes > 0)
        missed, false = np.setdiff1d(truth, called), np.setdiff1d(called, truth)
        row["found"], row["false_positives"] = len(truth) - len(missed), len(false)
        if method in THREE:
            row["strong"], row["weak"] = (int((classes == value).sum()) for value in (2, 1))
        row["missed"], row["false"] = (" ".join(features.columns[which]) for which in (missed, false))
    return {**row, **{name: done.found[name] for name in SAID if name in done.found}, "note": done.note}


def keys_xor(size: str) -> list[Key]:
    """Samples, seeds and methods."""
    if size == "smoke":
        return [(500, 0, method) for method in METHODS]
    seeds = {"forest": (5, 20), "boruta": (1, 5), "squamish": (1, 5)}
    return [(n, seed, method) for method in METHODS for n in SIZES for seed in range(seeds[method][size == "full"])]


def keys_madelon(size: str) -> list[Key]:
    """One fit; it takes half a minute by ours."""
    return [(0, "forest")]


EXPERIMENTS = (
    Experiment(
        "forest_xor",
        "two features that matter only together",
        "beyond the papers: exclusive or",
        ("n", "seed", "method"),
        keys_xor,
        run_xor,
    ),
    Experiment(
        "forest_madelon",
        "twenty features of five hundred",
        "beyond the papers: Madelon",
        ("seed", "method"),
        keys_madelon,
        run_madelon,
        (FILE,),
    ),
)


def section(folder: Path) -> list[Block]:
    """How often both were found, and how many others; what was found in Madelon."""
    xor, madelon = results(folder, "forest_xor"), results(folder, "forest_madelon")
    blocks: list[Block] = [prose(__doc__)]
    if not xor.empty:
        lines = []
        for (n, method), same in xor.groupby(["n", "method"]):
            ended = same[same["found"] != ""]
            noise = ended["false_positives"].astype(float)
            cost = mean_of(ended, "cpu_seconds")
            lines.append(
                [
                    f"{n:.0f} samples, {LABELS[method]}",
                    f"{int((ended['found'] == 2).sum())} of {len(ended)}",
                    f"{int(noise.sum())} of {len(ended) * N_IRRELEVANT}",
                    f"{cost.value:.1f}" if cost else "",
                ]
            )
        blocks.append(Table("Exclusive or", ["", "both found", "features of noise called", "CPU seconds"], lines))
    if not madelon.empty:
        lines = [
            [
                LABELS[row["method"]],
                f"{row['found']:.0f} of {row['true']:.0f}",
                f"{row['weak']:.0f}",
                f"{row['strong']:.0f}",
                f"{row['false_positives']:.0f} of {row['d'] - row['true']:.0f}",
                f"{row['cpu_seconds']:.0f}",
            ]
            for _, row in madelon.iterrows()
        ]
        header = ["", "found", "called weak", "called strong", "probes called", "CPU seconds"]
        blocks.append(Table("Madelon", header, lines))
    return blocks if len(blocks) > 1 else []

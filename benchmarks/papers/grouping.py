"""Groups of redundant features on Sets 1 to 3 (thesis, Table 3.7).

100 samples; pairs of identical columns are the true groups, unique features are groups of one, and all noise is one
group, as in the thesis. Correlation clustering (single linkage of one minus the magnitude of Pearson's correlation, cut
at the share of its height that fri cuts at) and HDBSCAN on the columns (smallest cluster 2) stand beside. Seconds are
CPU seconds of the grouping alone, after the fit, each in a process of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import v_measure_score

from allrelevant.datasets import make_relevance_classification
from benchmarks._common import standardised
from benchmarks.blocks import Block, beside, prose, published, results
from benchmarks.competitors.calling import call
from benchmarks.experiment import Experiment, Key
from benchmarks.selection import ENVIRONMENTS, LIMIT

TITLE = "Groups of features"
#: Unique relevant features, pairs, noise.
SETS = {"set1": (0, 5, 10), "set2": (3, 5, 5), "set3": (0, 5, 0)}
METHODS = ("allrelevant_groups", "correlation_groups", "hdbscan_groups", "fri_groups")


def make_pairs(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data of 100 samples and the true group of every column, -1 for noise."""
    n_unique, n_pairs, n_noise = SETS[name]
    k = n_unique + n_pairs
    X, y, _ = make_relevance_classification(100, n_strong=k, n_weak=0, n_irrelevant=n_noise, random_state=seed)
    X = np.hstack([X[:, :n_unique], np.repeat(X[:, n_unique:k], 2, axis=1), X[:, k:]])
    truth = np.concatenate([np.arange(n_unique), np.repeat(np.arange(n_unique, k), 2), np.full(n_noise, -1)])
    return standardised(X), y, truth


def run(name: str, seed: int, method: str) -> dict[str, Any]:
    """Group one set by one method."""
    X, y, truth = make_pairs(name, seed)
    done = call(method, "classification", X, y, seed, limit=LIMIT, environments=ENVIRONMENTS)
    labels = done.found.get("labels")
    return {
        "v_measure": "" if labels is None else float(v_measure_score(truth, labels)),
        "seconds": done.found.get("grouping_seconds", done.cpu_seconds),
        "cpu_seconds": done.cpu_seconds,
        "note": done.note,
    }


def keys(size: str) -> list[Key]:
    """Sets, seeds and methods."""
    if size == "smoke":
        return [("set1", 0, method) for method in METHODS]
    return [(name, seed, method) for method in METHODS for name in SETS for seed in range(2 if size == "quick" else 10)]


EXPERIMENT = Experiment(
    "grouping", "groups of identical features", "thesis, Table 3.7", ("set", "seed", "method"), keys, run
)


def section(folder: Path) -> list[Block]:
    """Table 3.7."""
    rows, papers = results(folder, "grouping"), published("fri")
    if rows.empty:
        return []
    theirs = {"allrelevant_groups": "fri_groups", **{name: name for name in METHODS[1:3]}, "fri_groups": None}
    return [
        prose(__doc__),
        beside("Table 3.7: V-measure of the groups", rows, "v_measure", SETS, theirs, papers),
        beside("Table 3.7: seconds", rows, "seconds", SETS, theirs, papers, digits=3, better=0),
    ]

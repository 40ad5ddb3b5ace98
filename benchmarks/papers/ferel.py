"""Relevant features among copies and noise: Settings A and B of the first paper (FeReL, Tables 1 and 2).

Two weakly relevant features are two copies of one feature that would be strongly relevant alone. The paper calls a
feature relevant by a bound on its weight of 1e-5, and so do the linear models here; ours has its limit from probes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from allrelevant.datasets import make_relevance_classification
from benchmarks._common import standardised
from benchmarks.blocks import Block, beside, prose, published, results
from benchmarks.selection import Plan, selection

TITLE = "Copies and noise"

#: Samples; strong, weak and irrelevant features.
SETS = {"settinga": (512, 1, 2, 11), "settingb": (256, 6, 6, 6)}


def make(name: str, condition: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data and the class of every feature."""
    n, strong, weak, irrelevant = SETS[name]
    own = strong + weak // 2
    X, y, _ = make_relevance_classification(n, n_strong=own, n_weak=0, n_irrelevant=irrelevant, random_state=seed)
    X = np.hstack([X[:, :strong], np.repeat(X[:, strong:own], 2, axis=1), X[:, own:]])
    return standardised(X), y, np.repeat([2, 1, 0], [strong, weak, irrelevant])


EXPERIMENT = selection(
    "ferel",
    "copies and noise",
    "FeReL, Table 2",
    problem="classification",
    sets=SETS,
    make=make,
    methods={
        "allrelevant": Plan(10, 10),
        "ridge": Plan(3, 10),
        "lasso": Plan(3, 10),
        "elastic_net": Plan(3, 10),
        "boruta": Plan(2, 10),
        "fri": Plan(2, 10),
        "forest": Plan(3, 10),
    },
    smoke=("settingb", ""),
)


METHODS = {
    "allrelevant": "ferel",
    "forest": None,
    "fri": None,
    "ridge": "ridge",
    "lasso": "lasso",
    "elastic_net": "elastic_net",
    "boruta": "boruta",
}


def section(folder: Path) -> list[Block]:
    """Table 2."""
    rows, papers = results(folder, "ferel"), published("ferel")
    if rows.empty:
        return []
    return [
        prose(__doc__),
        *(
            beside(f"FeReL, Table 2: {measure} of the relevant features", rows, measure, SETS, METHODS, papers)
            for measure in ("f1", "precision", "recall")
        ),
    ]

"""Ordinal sets with a known truth, clean and noisy (thesis, Tables 4.1 to 4.3).

The two orders of the thresholds are two methods: explicit is the default, implicit the other one. Set 9 has 230
features: rows that say ``cuda`` in their note were measured on a GPU, which changes the seconds and nothing else.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from allrelevant.datasets import ORDINAL_SETS, make_ordinal_set
from benchmarks.blocks import Block, Picture, beside, prose, published, results
from benchmarks.drawing import scores
from benchmarks.selection import Plan, selection

TITLE = "Ordinal regression"
CONDITIONS = {"clean": 0.0, "noisy": 0.5}
SMALL = tuple(name for name in ORDINAL_SETS if name not in ("set8", "set9"))


def make(name: str, condition: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data and the class of every feature."""
    return make_ordinal_set(name, noise=CONDITIONS[condition], random_state=seed)


EXPERIMENT = selection(
    "ordinal",
    "features of ordered classes",
    "thesis, Tables 4.2 and 4.3",
    problem="ordinal",
    sets=ORDINAL_SETS,
    make=make,
    methods={
        "allrelevant": Plan(1, 30),
        "allrelevant_implicit": Plan(1, 30),
        "rfecv_ordinal": Plan(1, 30, SMALL),
        "fri": Plan(1, 30, SMALL),
    },
    smoke=("set3", "noisy"),
    conditions=tuple(CONDITIONS),
)

METHODS = {
    "allrelevant": "fri_explicit",
    "allrelevant_implicit": "fri_implicit",
    "rfecv_ordinal": "rfecv_ordinal",
    "fri": None,
}


def section(folder: Path) -> list[Block]:
    """Tables 4.2 and 4.3."""
    rows, papers = results(folder, "ordinal"), published("ordinal")
    if rows.empty:
        return []
    blocks: list[Block] = [prose(__doc__)]
    for table, condition in (("4.2", "clean"), ("4.3", "noisy")):
        drawing = partial(
            scores,
            rows=rows,
            measure="f1",
            sets=ORDINAL_SETS,
            methods=METHODS,
            papers=papers,
            ours=("allrelevant", "allrelevant_implicit"),
            condition=condition,
        )
        blocks.append(Picture(f"ordinal_{condition}", f"F1 of all methods on {condition} ordinal sets.", drawing))
        blocks += [
            beside(
                f"Table {table}: {measure} of the relevant features, {condition} data",
                rows,
                measure,
                ORDINAL_SETS,
                METHODS,
                papers,
                condition=condition,
            )
            for measure in ("f1", "precision", "recall")
        ]
    return blocks

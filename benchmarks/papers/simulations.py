"""Simulated sets Sim1 to Sim5 of 500 samples and 30 features (thesis, Tables 3.1 to 3.3; set sizes of Table 3.6).

The defaults of the linear estimator (threshold rule, level, form of the loss budget, ties of C) were chosen with
seeds 0 to 49 in view. The condition ``other seeds`` has 50 that had no part in that choice; of forests, 20.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from allrelevant.datasets import SIMULATIONS, make_simulation
from benchmarks.blocks import Block, Picture, beside, prose, published, results
from benchmarks.drawing import scores
from benchmarks.selection import OTHER_SEEDS, Plan, selection

TITLE = "Simulated sets"


def make(name: str, condition: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data and the class of every feature."""
    return make_simulation(name, random_state=seed + OTHER_SEEDS[condition])


EXPERIMENTS = tuple(
    selection(
        f"simulations{suffix}",
        "strong, weak and irrelevant features of linear classes",
        "thesis, Tables 3.2, 3.3 and 3.6, Figure 3.6",
        problem="classification",
        sets=SIMULATIONS,
        make=make,
        methods=methods,
        smoke=("sim3", condition),
        conditions=(condition,),
    )
    for suffix, condition, methods in (
        (
            "",
            "",
            {
                "allrelevant": Plan(5, 50),
                "elastic_net": Plan(2, 50),
                "lasso": Plan(2, 50),
                "stability_selection": Plan(1, 50),
                "efs": Plan(1, 50),
                "boruta": Plan(1, 50),
                "fri": Plan(1, 50),
                "forest": Plan(1, 50),
                "squamish": Plan(1, 50),
                "grootcv": Plan(1, 50),
                "leshy": Plan(1, 50),
            },
        ),
        ("_other_seeds", "other seeds", {"allrelevant": Plan(5, 50), "forest": Plan(1, 20)}),
    )
)


METHODS = {
    "allrelevant": "fri",
    "forest": None,
    "fri": None,
    "boruta": "boruta",
    "squamish": None,
    "efs": "efs",
    "elastic_net": "elastic_net",
    "lasso": None,
    "stability_selection": "stability_selection",
    "grootcv": None,
    "leshy": None,
}


def section(folder: Path) -> list[Block]:
    """Tables 3.2, 3.3 and the first half of 3.6; seconds as in Figure 3.6."""
    rows, papers = results(folder, "simulations"), published("fri")
    if rows.empty:
        return []
    drawing = partial(
        scores,
        rows=rows,
        measure="f1",
        sets=SIMULATIONS,
        methods=METHODS,
        papers=papers,
        ours=("allrelevant", "forest"),
    )
    blocks: list[Block] = [
        prose(__doc__),
        Picture("simulations", "F1 of all methods on Sim1 to Sim5, ours at 1.", drawing),
    ]
    for table, measure, words, digits, better in (
        ("3.3", "f1", "F1 of the relevant features", 2, 1),
        ("3.3", "precision", "precision", 2, 1),
        ("3.3", "recall", "recall", 2, 1),
        ("3.2", "training_score", "accuracy of the model on its training samples", 2, 0),
        ("3.6", "n_selected", "features selected", 1, 0),
    ):
        blocks.append(
            beside(f"Table {table}: {words}", rows, measure, SIMULATIONS, METHODS, papers, digits=digits, better=better)
        )
    blocks.append(beside("CPU seconds (cf. Figure 3.6)", rows, "cpu_seconds", SIMULATIONS, METHODS, {}, better=0))
    other = results(folder, "simulations_other_seeds")
    if not other.empty:
        blocks.append(
            beside(
                "F1, seeds that had no part in any choice",
                other,
                "f1",
                SIMULATIONS,
                {"allrelevant": "fri", "forest": None},
                papers,
                condition="other seeds",
                paper_condition="",
            )
        )
    return blocks

"""The thesis' Figure 3.4: what holding one of three copies does to all other intervals.

8 features: 4 strongly relevant, 3 copies of one, 1 of noise. With the papers' slack, one copy at its ``minRel`` leaves
all others as they were; at its ``maxRel`` the other two drop to 0 and all other intervals shrink to points. With the
wider budgets that are the default here the same holds, but for one thing: the greatest weight of a copy is then reached
with the other copies at weights of the opposite sign, which cancel a part of it. Their sum is fixed; each of the two
may carry it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from allrelevant import LinearRelevanceClassifier
from allrelevant.datasets import make_relevance_classification
from benchmarks.blocks import Block, Picture, Table, prose, results
from benchmarks.drawing import intervals
from benchmarks.experiment import Experiment

TITLE = "Holding a feature"
SLACKS = {"papers": {"norm_slack": 0.001, "loss_slack": 0.0}, "default": {}}
OTHERS = [0, 1, 2, 3, 7]
COPIES = [5, 6]


def fitted(slack: str, seed: int) -> LinearRelevanceClassifier:
    """Fit the eight features."""
    X, y, _ = make_relevance_classification(150, n_strong=4, n_weak=3, n_irrelevant=1, noise=0.0, random_state=seed)
    return LinearRelevanceClassifier(random_state=seed, **SLACKS[slack]).fit(X, y)


def run(slack: str, seed: int) -> dict[str, object]:
    """Hold the fifth feature at both ends of its interval."""
    model = fitted(slack, seed)
    before = model.intervals_
    least, most = (model.constrain({4: float(end)}) for end in before[4])
    return {
        "copy_minimum": float(before[4, 0]),
        "copy_maximum": float(before[4, 1]),
        "largest_change_at_minimum": float(np.abs(np.delete(least.delta, 4, axis=0)).max()),
        "other_copies_at_maximum": float(most.intervals[COPIES].max()),
        "widest_interval_before": float(np.ptp(before[OTHERS], axis=1).max()),
        "widest_interval_at_maximum": float(np.ptp(most.intervals[OTHERS], axis=1).max()),
        "max_gap": max(least.max_gap, most.max_gap),
    }


EXPERIMENT = Experiment(
    "constraints",
    "what holding one of three copies does to the others",
    "thesis, Figure 3.4",
    ("slack", "seed"),
    lambda size: [(slack, seed) for slack in SLACKS for seed in range({"smoke": 1, "quick": 3, "full": 10}[size])],
    run,
)


def section(folder: Path) -> list[Block]:
    """Largest figures of all seeds."""
    rows = results(folder, "constraints")
    if rows.empty:
        return []
    shown = {
        "one copy at its least: largest change of any other end": "largest_change_at_minimum",
        "one copy at its most: largest end of the other copies": "other_copies_at_maximum",
        "one copy at its most: widest other interval": "widest_interval_at_maximum",
        "before: widest other interval": "widest_interval_before",
        "largest gap of the certificates": "max_gap",
    }
    worst = rows.groupby("slack").max(numeric_only=True)
    table = Table(
        f"Figure 3.4 in figures: largest of {rows['seed'].nunique()} seeds",
        ["", *(f"{slack} slack" for slack in SLACKS)],
        [[words, *(f"{worst.loc[slack, column]:.1e}" for slack in SLACKS)] for words, column in shown.items()],
    )
    picture = Picture("constraints", "Intervals without constraints, with one copy at its least and at its most.", draw)
    return [prose(__doc__), table, picture]


def draw(path: Path) -> None:
    """The three panels of the figure, with the papers' slack."""
    model = fitted("papers", 1)
    ends = {"one copy at its least": 0, "one copy at its most": 1}
    held = {words: model.constrain({4: float(model.intervals_[4, end])}).intervals for words, end in ends.items()}
    parts = {
        words: pd.DataFrame(
            {
                "feature": [f"feature {k + 1}" for k in range(8)],
                "minimum": found[:, 0],
                "maximum": np.maximum(found[:, 1], found[:, 0] + 1e-3),
                "class": model.relevance_classes_,
                "limit": model.result_.limits,
            }
        )
        for words, found in {"no constraints": model.intervals_, **held}.items()
    }
    intervals(path, parts)

"""Holding features of real data, and grouping them (thesis, Figures 3.2, 3.3 and 3.5).

The thesis draws *t21* and *flip*, which are not public; cardiotocography and the heart disease data of Cleveland stand
in for them. Figure 3.2: one of two features that can stand in for each other is held at its least, and the other one
becomes indispensable. Here the pair is found, not chosen: of all weakly relevant features and their substitutes, the
one whose absence raises the least relevance of another most. Figures 3.3 and 3.5: groups of the relevant features.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from allrelevant import LinearRelevanceClassifier
from benchmarks.blocks import Block, Picture, Table, prose, results
from benchmarks.drawing import intervals
from benchmarks.experiment import Experiment, data
from benchmarks.papers.biomedical import FILES, STAND_INS

TITLE = "Exploring real data"
SETS = tuple(STAND_INS)


def run(name: str) -> list[dict[str, Any]]:
    """One row per feature: its interval, class and group, and its interval with the other of a pair left out."""
    frame = pd.read_csv(data(FILES[name]))
    X = frame.drop(columns="target")
    X = X.fillna(X.mean())
    y = (frame["target"] > (1 if name == "cardiotocography" else 0)).astype(int)
    began = time.process_time()
    model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    before, classes = model.intervals_, model.relevance_classes_
    groups = model.group_features()
    weak = np.flatnonzero(classes == 1)
    rises = {int(k): model.constrain({int(k): 0.0}).intervals for k in weak}
    held = max(rises, key=lambda k: np.delete(rises[k][:, 0] - before[:, 0], k).max()) if rises else None
    after = rises[held] if held is not None else before
    spent = time.process_time() - began
    return [
        {
            "feature": str(column),
            "minimum": before[k, 0],
            "maximum": before[k, 1],
            "class": int(classes[k]),
            "limit": float(model.result_.limits[k]),
            "group": int(groups.labels[k]),
            "held": "" if held is None else str(X.columns[held]),
            "minimum_held": after[k, 0],
            "maximum_held": after[k, 1],
            "max_gap": model.result_.max_gap,
            "cpu_seconds": spent,
            "note": "",
        }
        for k, column in enumerate(X.columns)
    ]


EXPERIMENT = Experiment(
    "exploring",
    "holding and grouping features of real data",
    "thesis, Figures 3.2, 3.3 and 3.5",
    ("set",),
    lambda size: [(name,) for name in SETS],
    run,
    tuple(FILES[name] for name in SETS),
)


def section(folder: Path) -> list[Block]:
    """What is held and what rises; groups; the drawing."""
    rows = results(folder, "exploring")
    if rows.empty:
        return []
    lines = []
    for name, same in rows.groupby("set"):
        rise = same["minimum_held"] - same["minimum"]
        other = same.loc[rise.idxmax()]
        sizes = same[same["group"] >= 0].groupby("group")["feature"].agg(", ".join)
        groups = "; ".join(each for each in sizes if ", " in each) or "none"
        lines.append(
            [
                f"{name} (for {STAND_INS[str(name)]})",
                str(same["held"].iloc[0]),
                f"{other['feature']}: {other['minimum']:.2f} to {other['minimum_held']:.2f}",
                groups,
            ]
        )
    header = ["", "left out", "whose least relevance rises most", "groups of several features"]
    return [
        prose(__doc__),
        Table("Figures 3.2, 3.3 and 3.5 in figures", header, lines),
        Picture(
            "exploring",
            "Relevance intervals of two data sets, before and after one feature is left out.",
            partial(draw, rows),
        ),
    ]


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Before and after, of both sets."""
    parts = {}
    for name, same in rows.groupby("set"):
        parts[str(name)] = same
        held = same.assign(minimum=same["minimum_held"], maximum=same["maximum_held"])
        parts[f"{name}, without {same['held'].iloc[0]}"] = held
    intervals(path, parts)

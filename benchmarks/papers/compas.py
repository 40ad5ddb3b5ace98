"""What a linear ordinal model makes of the COMPAS scores, with and without ethnicity (thesis, Figure 4.1, Table A.1).

7214 people, ten features, categories one-hot: 20 columns, or 14 without ethnicity; target: low, medium or high risk.
The thesis has 11757 people, of a file that is not public in that form; it calls the prior charges and the youngest age
group strongly relevant and finds sex and ethnicity weakly relevant, at an accuracy of 66.73 %.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from allrelevant import LinearRelevanceOrdinal
from benchmarks.blocks import Block, Picture, Table, prose, results
from benchmarks.drawing import intervals
from benchmarks.experiment import Experiment, data

TITLE = "COMPAS"

FILE = "fairness/compas.csv"
LEVELS = ["Low", "Medium", "High"]
CATEGORIES = ["sex", "age_cat", "race", "c_charge_degree"]
NUMBERS = ["juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "is_recid", "is_violent_recid"]


def load(condition: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns, and the risk as 0, 1, 2."""
    frame = pd.read_csv(data(FILE))
    frame = frame[frame["score_text"].isin(LEVELS)]
    kept = [name for name in CATEGORIES if condition == "with ethnicity" or name != "race"]
    X = pd.get_dummies(frame[kept + NUMBERS], columns=kept, dtype=float).astype(float)
    return X, frame["score_text"].map(LEVELS.index).to_numpy()


def run(condition: str, n: int) -> list[dict[str, Any]]:
    """One row per column."""
    X, y = load(condition)
    if n < len(X):
        rows = np.random.default_rng(0).permutation(len(X))[:n]
        X, y = X.iloc[rows], y[rows]
        X = X.loc[:, X.nunique() > 1]
    began = time.process_time()
    model = LinearRelevanceOrdinal(random_state=0).fit(X, y)
    spent = time.process_time() - began
    result = model.result_
    accuracy = float((model.predict(X) == y).mean())
    return [
        {
            "feature": str(name),
            "minimum": float(low),
            "maximum": float(high),
            "class": int(label),
            "limit": float(limit),
            "accuracy": accuracy,
            "mmae": result.scores["cross_validated"],
            "max_gap": result.max_gap,
            "cpu_seconds": spent,
        }
        for name, (low, high), label, limit in zip(
            X.columns, result.intervals, result.classes, result.limits, strict=True
        )
    ]


def keys(size: str) -> list[tuple[str, int]]:
    """With and without, of few people or all."""
    n = {"smoke": 200, "quick": 1000, "full": 10**6}[size]
    return [(condition, n) for condition in ("with ethnicity", "without ethnicity")]


EXPERIMENT = Experiment(
    "compas",
    "risk scores of defendants, with and without ethnicity",
    "thesis, Figure 4.1",
    ("condition", "people"),
    keys,
    run,
    (FILE,),
)


def section(folder: Path) -> list[Block]:
    """Figure 4.1, drawn and counted, of as many people as have been run."""
    rows = results(folder, "compas")
    if rows.empty:
        return []
    rows = rows[rows["people"] == rows["people"].max()]
    lines = []
    for condition, same in rows.groupby("condition"):
        by_class = [", ".join(same.loc[same["class"] == value, "feature"]) or "none" for value in (2, 1, 0)]
        lines.append([str(condition), *by_class, f"{same['accuracy'].iloc[0]:.1%}"])
    return [
        prose(__doc__),
        Table("Figure 4.1: classes of the columns", ["", "strong", "weak", "irrelevant", "accuracy"], lines),
        Picture(
            "compas",
            "Relevance intervals of the columns of the COMPAS data, with and without ethnicity.",
            partial(draw, rows),
        ),
    ]


def draw(rows: pd.DataFrame, path: Path) -> None:
    """With and without ethnicity."""
    intervals(path, {str(condition): same for condition, same in rows.groupby("condition")})

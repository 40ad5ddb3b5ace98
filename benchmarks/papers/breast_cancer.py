"""Relevance of the Wisconsin breast cancer data, with all features and with thirds of them (FeReL, Figures 4 and 5).

Thirty features are ten measurements of nuclei, each as mean, standard error and worst. With all of them every feature
has others to stand in for it; a third alone has fewer. The score is the F1 of five-fold cross-validation with the
baseline's penalty, malignant being the class to find; FeReL's is one of a single split.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from allrelevant import LinearRelevanceClassifier
from benchmarks.blocks import Block, Picture, Table, prose, published, results
from benchmarks.drawing import intervals
from benchmarks.experiment import Experiment

TITLE = "Breast cancer"

PARTS = {"all": slice(0, 30), "mean": slice(0, 10), "standard_error": slice(10, 20), "worst": slice(20, 30)}
#: The papers' budgets leave nearly no room; ours are the default.
SLACKS: dict[str, dict[str, float]] = {"default": {}, "papers": {"norm_slack": 0.001, "loss_slack": 0.0}}


def run(part: str, slack: str) -> list[dict[str, Any]]:
    """One row per feature."""
    data = load_breast_cancer()
    X, y = data.data[:, PARTS[part]], 1 - data.target
    began = time.process_time()
    model = LinearRelevanceClassifier(random_state=0, **SLACKS[slack]).fit(X, y)
    spent = time.process_time() - began
    result = model.result_
    again = LinearRelevanceClassifier(random_state=0, C=result.hyperparameters["C"], n_copies=1, **SLACKS[slack])
    f1 = float(np.mean(cross_val_score(again, X, y, scoring="f1", cv=5)))
    return [
        {
            "feature": str(name),
            "minimum": float(low),
            "maximum": float(high),
            "class": int(label),
            "limit": float(limit),
            "f1": f1,
            "max_gap": result.max_gap,
            "cpu_seconds": spent,
        }
        for name, (low, high), label, limit in zip(
            data.feature_names[PARTS[part]], result.intervals, result.classes, result.limits, strict=True
        )
    ]


EXPERIMENT = Experiment(
    "breast_cancer",
    "breast cancer, with all features and with thirds of them",
    "FeReL, Figures 4 and 5",
    ("set", "slack"),
    lambda size: [("worst", "default")] if size == "smoke" else [(part, slack) for slack in SLACKS for part in PARTS],
    run,
)


def section(folder: Path) -> list[Block]:
    """Figures 4 and 5, drawn and counted."""
    rows, papers = results(folder, "breast_cancer"), published("ferel")
    if rows.empty:
        return []
    lines = []
    for part in PARTS:
        line = [part.replace("_", " ")]
        for slack in SLACKS:
            same = rows[(rows["set"] == part) & (rows["slack"] == slack)]
            if same.empty:
                line.append("")
                continue
            strong = ", ".join(same.loc[same["class"] == 2, "feature"]) or "none"
            weak, irrelevant = ((same["class"] == value).sum() for value in (1, 0))
            line.append(f"{strong}; {weak}; {irrelevant}; {same['f1'].iloc[0]:.3f}")
        lines.append([*line, f"{papers[part, '', 'ferel', 'f1']:.3f}"])
    header = ["", *(f"strong; weak; irrelevant; F1 ({slack} slack)" for slack in SLACKS), "F1 (FeReL)"]
    return [
        prose(__doc__),
        Table("Figures 4 and 5 in figures: features of every class, F1 of the model", header, lines),
        Picture(
            "breast_cancer",
            "Relevance intervals of the breast cancer data with all thirty features and with three thirds of them.",
            partial(draw, rows),
        ),
    ]


def draw(rows: pd.DataFrame, path: Path) -> None:
    """All features, and the thirds."""
    chosen = rows[rows["slack"] == "default"]
    intervals(path, {part.replace("_", " "): chosen[chosen["set"] == part] for part in PARTS})

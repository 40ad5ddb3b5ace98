"""Selected features of biomedical data, judged by what a logistic regression makes of them (thesis, Tables 3.4 to 3.6).

Two of the thesis' five sets are not public. Others stand in for them: cardiotocography (2126 examinations of fetuses,
21 features, suspect or pathologic against normal) for *t21*, and the heart disease data of Cleveland (303 patients, 13
features) for *flip*. The thesis' figures of *t21* and *flip* are not to be compared with those of their stand-ins.
The colposcopy data come without the six experts' votes that their target is made of.

As in the thesis: rows with more than 90 % of their values missing are removed; a bootstrap replicate of 0.7 n rows is
drawn, stratified, with replacement, and the rows that are not in it are the test rows; missing values get the mean of
the training rows, columns their z-scores; where the smaller class has less than 40 % of the rows, SMOTE and edited
nearest neighbours balance the training rows (Batista et al. 2004). Methods then select features, a logistic
regression is fitted to these, and its area under the ROC curve on the test rows counts; 0.5 where nothing is selected.

How to read these: the thesis' figures of its public sets are above what all features give on rows that are in no
bootstrap replicate, so its test rows were others; what can be compared are the methods beside each other. The
papers' rule for who is relevant, at their level, stands beside the default.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from imblearn.combine import SMOTEENN
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.utils import resample

from benchmarks.blocks import Block, beside, prose, published, results
from benchmarks.competitors.calling import call
from benchmarks.experiment import Experiment, Key, data
from benchmarks.selection import ENVIRONMENTS, LIMIT, THREE

TITLE = "Biomedical data"
#: File of a set; the name in the thesis, for stand-ins.
FILES = {
    "colposcopy": "classification/colposcopy_schiller.csv",
    "heart_cleveland": "classification/heart_cleveland.csv",
    "spectf": "classification/spectf.csv",
    "cardiotocography": "classification/cardiotocography.csv",
    "wbc": "",
}
STAND_INS = {"cardiotocography": "t21", "heart_cleveland": "flip"}
#: Quick and full runs.
METHODS = {
    "allrelevant": (3, 50),
    "allrelevant_papers": (3, 50),
    "elastic_net": (2, 50),
    "stability_selection": (1, 50),
    "efs": (1, 50),
    "boruta": (1, 50),
    "forest": (1, 50),
    "fri": (1, 50),
}
#: Share of the smaller class below which classes are balanced.
BALANCED = 0.4
SHARE = 0.7
CELLS = (
    "roc_auc",
    "roc_auc_all_features",
    "n_selected",
    "n_strong",
    "n_weak",
    "training_score",
    "max_gap",
    "cpu_seconds",
)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features, with gaps, and classes 0 and 1."""
    if name == "wbc":
        X, y = load_breast_cancer(return_X_y=True)
        return X, 1 - y
    frame = pd.read_csv(data(FILES[name]))
    features = frame.drop(columns=[column for column in frame if column == "target" or column.startswith("experts::")])
    target = frame["target"].to_numpy()
    X, y = features.to_numpy(dtype=float), target > 1 if name == "cardiotocography" else target > 0
    kept = np.isnan(X).mean(axis=1) <= 0.9
    return X[kept], y[kept].astype(int)


def replicate(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, prepared and balanced, with their classes; test rows, with theirs."""
    X, y = load(name)
    rows = resample(np.arange(len(X)), n_samples=round(SHARE * len(X)), stratify=y, random_state=seed)
    test = np.setdiff1d(np.arange(len(X)), rows)
    mean = np.nanmean(X[rows], axis=0)
    filled = np.where(np.isnan(X), mean, X)
    centre, scale = filled[rows].mean(axis=0), filled[rows].std(axis=0)
    Z = (filled - centre) / np.where(scale > 0, scale, 1.0)
    X_train, y_train = Z[rows], y[rows]
    if y_train.mean() < BALANCED or y_train.mean() > 1 - BALANCED:
        X_train, y_train = SMOTEENN(random_state=seed).fit_resample(X_train, y_train)
    return X_train, y_train, Z[test], y[test]


def run(name: str, seed: int, method: str) -> dict[str, Any]:
    """Select, fit and score."""
    X, y, X_test, y_test = replicate(name, seed)
    done = call(method, "classification", X, np.where(y > 0, 1, -1), seed, limit=LIMIT, environments=ENVIRONMENTS)
    cells: dict[str, Any] = {"n": X.shape[0], "d": X.shape[1], **dict.fromkeys(CELLS, "")}
    if "classes" in done.found:
        classes = np.array(done.found["classes"])
        cells["n_selected"] = int((classes > 0).sum())
        cells["roc_auc"] = area(X, y, X_test, y_test, classes > 0)
        cells["roc_auc_all_features"] = area(X, y, X_test, y_test, np.ones(X.shape[1], dtype=bool))
        if method in THREE:
            cells["n_strong"], cells["n_weak"] = int((classes == 2).sum()), int((classes == 1).sum())
    cells.update({what: done.found[what] for what in CELLS if what in done.found})
    return {**cells, "note": done.note}


def area(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, chosen: np.ndarray) -> float:
    """Area under the ROC curve of a logistic regression on some features."""
    if not chosen.any():
        return 0.5
    model = LogisticRegression(max_iter=2000).fit(X[:, chosen], y)
    return float(roc_auc_score(y_test, model.decision_function(X_test[:, chosen])))


def keys(size: str) -> list[Key]:
    """Sets, replicates and methods."""
    if size == "smoke":
        return [("wbc", 0, "elastic_net"), *((name, 0, "allrelevant") for name in FILES)]
    return [
        (name, seed, method)
        for method, (quick, full) in METHODS.items()
        for name in FILES
        for seed in range(quick if size == "quick" else full)
    ]


EXPERIMENT = Experiment(
    "biomedical",
    "features selected from biomedical data",
    "thesis, Tables 3.4, 3.5 and 3.6, Figure 3.6",
    ("set", "seed", "method"),
    keys,
    run,
    tuple(file for file in FILES.values() if file),
)


THEIRS = {
    "allrelevant": "fri",
    "allrelevant_papers": None,
    "all_features": None,
    "forest": None,
    "fri": None,
    "boruta": "boruta",
    "efs": "efs",
    "elastic_net": "elastic_net",
    "stability_selection": "stability_selection",
}


def section(folder: Path) -> list[Block]:
    """Tables 3.4 to 3.6."""
    rows, papers = results(folder, "biomedical"), published("fri")
    if rows.empty:
        return []
    whole = rows[rows["method"] == "allrelevant"].assign(method="all_features")
    whole = whole.assign(
        roc_auc=whole["roc_auc_all_features"], n_selected=whole["d"], training_score="", cpu_seconds=""
    )
    rows = pd.concat([rows, whole])
    blocks: list[Block] = [prose(__doc__)]
    for table, measure, words, digits, better in (
        ("3.5", "roc_auc", "area under the ROC curve of a logistic regression on the selected features", 3, 1),
        ("3.6", "n_selected", "features selected", 1, 0),
        ("3.6", "n_strong", "strongly relevant features", 1, 0),
        ("3.6", "n_weak", "weakly relevant features", 1, 0),
        ("3.4", "training_score", "accuracy of the model on its training samples", 2, 0),
    ):
        apart = {"allrelevant": "fri", "allrelevant_papers": None, "forest": None, "fri": None}
        own = THEIRS if measure not in ("n_strong", "n_weak") else apart
        blocks.append(
            beside(f"Table {table}: {words}", rows, measure, FILES, own, papers, digits=digits, better=better)
        )
    blocks.append(beside("CPU seconds (cf. Figure 3.6)", rows, "cpu_seconds", FILES, THEIRS, {}, better=0))
    return blocks

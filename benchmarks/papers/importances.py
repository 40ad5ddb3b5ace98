"""Why importances of forests need care: their spread, and what is selected by them (thesis, Figures 5.1 to 5.8).

300 samples of 17 features: 0 to 4 strongly relevant, 5 to 14 weakly relevant and correlated, 15 and 16 irrelevant.

``gain``: importances by gain of LightGBM's random forests, grown ten times with other seeds on the same samples, each
tree seeing a tenth of the features or all (Figures 5.2 to 5.4), and the limit that a permuted feature does not exceed
(Figure 5.1). ``rfecv`` and ``boruta``: whether a feature is selected, by elimination guided by cross-validation and by
comparison with permuted features (our own, with the same importance), in ten bootstraps (Figures 5.5 to 5.8).
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.feature_selection import RFECV

from allrelevant import ForestRelevanceClassifier, RelevanceWarning
from allrelevant.datasets import make_relevance_classification
from allrelevant.inference.prediction import prediction_limit
from benchmarks._common import standardised
from benchmarks.blocks import Block, Picture, Table, prose, results
from benchmarks.drawing import COLOURS, save
from benchmarks.experiment import Experiment, Key

TITLE = "Importances of forests"

FRACTIONS = (0.1, 1.0)
METHODS = ("gain", "rfecv", "boruta")
N_PERMUTED = 50
RELEVANCE = np.repeat([2, 1, 0], [5, 10, 2])


def data() -> tuple[np.ndarray, np.ndarray]:
    """The one draw that all runs share."""
    X, y, _ = make_relevance_classification(300, n_strong=5, n_weak=10, n_irrelevant=2, random_state=0)
    return standardised(X), y


def forest(fraction: float, seed: int) -> lightgbm.LGBMClassifier:
    """The thesis' forest."""
    return lightgbm.LGBMClassifier(
        boosting_type="rf",
        num_leaves=32,
        max_depth=5,
        subsample=0.632,
        subsample_freq=1,
        colsample_bytree=fraction,
        importance_type="gain",
        random_state=seed,
        n_jobs=1,
        deterministic=True,
        verbose=-1,
    )


def run(method: str, fraction: float, seed: int) -> list[dict[str, Any]]:
    """One row per feature: its importance, or whether it is selected."""
    X, y = data()
    limit: float | str = ""
    began = time.process_time()
    if method == "gain":
        values = forest(fraction, seed).fit(X, y).feature_importances_
        rng = np.random.default_rng([seed, 1])
        permuted = rng.permuted(X[:, rng.integers(X.shape[1], size=N_PERMUTED)], axis=0)
        others = [forest(fraction, seed).fit(np.column_stack([X, column]), y) for column in permuted.T]
        limit = float(prediction_limit(np.array([each.feature_importances_[-1] for each in others]), 1 - 1e-6))
    else:
        rows = np.random.default_rng(seed).integers(len(X), size=len(X))
        values = selected(method, fraction, X[rows], y[rows], seed)
    spent = time.process_time() - began
    return [
        {"feature": k, "class": int(RELEVANCE[k]), "value": float(value), "limit": limit, "cpu_seconds": spent}
        for k, value in enumerate(values)
    ]


def selected(method: str, fraction: float, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Mask of the features that a method keeps."""
    if method == "rfecv":
        return RFECV(forest(fraction, seed), cv=5).fit(X, y).support_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        model = ForestRelevanceClassifier(
            importance="gain", feature_fraction=fraction, bagging_fraction=0.632, random_state=seed
        ).fit(X, y)
    return model.relevance_classes_ > 0


def keys(size: str) -> list[Key]:
    """Methods, fractions and seeds."""
    seeds = {"smoke": 1, "quick": 3, "full": 10}[size]
    return [(method, fraction, seed) for method in METHODS for fraction in FRACTIONS for seed in range(seeds)]


EXPERIMENT = Experiment(
    "importances",
    "importances of forests, and what is selected by them",
    "thesis, Figures 5.1 to 5.8",
    ("method", "fraction", "seed"),
    keys,
    run,
)


def section(folder: Path) -> list[Block]:
    """Figures 5.1 to 5.8."""
    rows = results(folder, "importances")
    if rows.empty:
        return []
    lines = []
    for method in ("rfecv", "boruta"):
        for fraction in FRACTIONS:
            same = rows[(rows["method"] == method) & (rows["fraction"] == fraction)]
            shares = [same.loc[same["class"] == value, "value"].mean() for value in (2, 1, 0)]
            lines.append([f"{method}, feature_fraction {fraction:g}", *(f"{share:.0%}" for share in shares)])
    gain = rows[rows["method"] == "gain"]
    spread = gain.groupby(["fraction", "feature"])["value"].agg(["mean", "std"])
    ratio = (spread["std"] / spread["mean"]).groupby("fraction").median()
    runs = rows["seed"].nunique()
    return [
        prose(__doc__),
        Table(
            f"Figures 5.7 and 5.8: how often features of each class are selected, in {runs} bootstraps",
            ["", "strong", "weak", "irrelevant"],
            lines,
        ),
        "Standard deviation of an importance over its mean, by the seed of the forest alone, median of the features: "
        + ", ".join(f"{value:.2f} with feature_fraction {fraction:g}" for fraction, value in ratio.items())
        + ".",
        Picture(
            "importances",
            "Importances by gain over ten seeds, and selection frequencies, for two shares of features per tree.",
            partial(draw, rows),
        ),
    ]


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Importances with the limit above, selection frequencies below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    colours = [COLOURS[value] for value in RELEVANCE]
    for column, fraction in enumerate(FRACTIONS):
        same = rows[rows["fraction"] == fraction]
        gain = same[same["method"] == "gain"]
        ax = axes[0, column]
        ax.boxplot([gain.loc[gain["feature"] == k, "value"] for k in range(len(RELEVANCE))], positions=range(17))
        ax.axhline(
            gain["limit"].astype(float).median(), color="0.4", linestyle="--", label="limit of permuted features"
        )
        ax.set(title=f"feature_fraction = {fraction:g}", ylabel="importance by gain" if not column else "")
        ax.legend()
        ax = axes[1, column]
        for shift, (method, hatch) in zip((-0.2, 0.2), (("rfecv", "//"), ("boruta", "")), strict=True):
            shares = same[same["method"] == method].groupby("feature")["value"].mean()
            ax.bar(np.arange(17) + shift, shares, 0.4, color=colours, hatch=hatch, label=method, edgecolor="white")
        ax.set(ylabel="share of bootstraps selected in" if not column else "", xlabel="feature", ylim=(0, 1.05))
        ax.set_xticks(range(17), labels=[str(k) for k in range(17)])
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)
    save(figure, path)

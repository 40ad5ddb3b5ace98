"""Does the relevance of privileged features follow the noise that they tell of? (thesis, 4.2.3 and Figure 4.2)

400 samples with three strongly relevant features and three irrelevant ones, all standard normal. The target is the sum
of the three strong features, cut into five classes of equal size: their weights are equal, so that they differ by
nothing but the noise that is added afterwards. The first hundred samples have noise of standard deviation 0.1 on the
first strong feature, the second hundred 0.5 on the second, the third hundred 2 on the third; the last hundred have
none. The privileged features are the noise that was added, 0 elsewhere.

The figure of the thesis has one run; here are ten seeds. A fit that ends in a solver error has no figures.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from allrelevant import LinearRelevanceOrdinal, RelevanceResult, RelevanceWarning
from allrelevant.errors import SolverError
from allrelevant.plotting import RelevanceDisplay
from benchmarks.blocks import Block, Picture, Table, prose, results
from benchmarks.drawing import save
from benchmarks.experiment import Experiment

TITLE = "What privileged features tell"
FORMS = ("residual", "kept", "replaced")
NOISES = (0.1, 0.5, 2.0)
GROUP = 100
N_CLASSES = 5
REGULAR = [f"{kind} {k}" for kind in ("strong", "irrelevant") for k in (1, 2, 3)]
PRIVILEGED = [f"noise {noise:g} on strong {k}" for k, noise in enumerate(NOISES, start=1)]


def make_semantic(seed: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Draw regular features, target and privileged features."""
    rng = np.random.default_rng(seed)
    n_samples = GROUP * (len(NOISES) + 1)
    X = rng.standard_normal((n_samples, len(REGULAR)))
    ranks = np.argsort(np.argsort(X[:, : len(NOISES)].sum(axis=1)))
    added = np.zeros((n_samples, len(NOISES)))
    for k, noise in enumerate(NOISES):
        added[k * GROUP : (k + 1) * GROUP, k] = rng.normal(scale=noise, size=GROUP)
    X[:, : len(NOISES)] += added
    return pd.DataFrame(X, columns=REGULAR), ranks * N_CLASSES // n_samples, pd.DataFrame(added, columns=PRIVILEGED)


def fit(form: str, seed: int) -> RelevanceResult:
    """Fit the example of one seed."""
    X, y, added = make_semantic(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)  # a model without weights is a finding, and shows
        return LinearRelevanceOrdinal(privileged=form, random_state=seed).fit(X, y, X_privileged=added).result_


def run(form: str, seed: int) -> list[dict[str, object]]:
    """Interval and class of every feature; empty if the fit fails."""
    failed = ""
    intervals: list[Any] = [("", "")] * (len(REGULAR) + len(PRIVILEGED))
    classes: list[Any] = [""] * len(intervals)
    try:
        result = fit(form, seed)
    except SolverError as error:
        failed = type(error).__name__
    else:
        intervals = [*result.intervals.tolist(), *result.privileged.intervals.tolist()]
        classes = [*result.classes.tolist(), *result.privileged.classes.tolist()]
    parts = ["regular"] * len(REGULAR) + ["privileged"] * len(PRIVILEGED)
    return [
        {
            "failed": failed,
            "part": part,
            "feature": feature,
            "minimum": low,
            "maximum": high,
            "class": relevance,
        }
        for part, feature, (low, high), relevance in zip(
            parts, [*REGULAR, *PRIVILEGED], intervals, classes, strict=True
        )
    ]


EXPERIMENT = Experiment(
    "semantic",
    "privileged features that tell of noise",
    "thesis, Figure 4.2",
    ("form", "seed"),
    lambda size: (
        [("residual", 0)]
        if size == "smoke"
        else [(form, seed) for form in FORMS for seed in range(3 if size == "quick" else 10)]
    ),
    run,
)


def section(folder: Path) -> list[Block]:
    """Mean intervals of every feature, in how many runs relevance rises with noise, and the drawing of one seed."""
    rows = results(folder, "semantic")
    if rows.empty:
        return []
    rows = rows[rows["failed"] == ""]
    blocks: list[Block] = [prose(__doc__)]
    lines = []
    for feature in [*REGULAR, *PRIVILEGED]:
        line = [feature]
        for form in FORMS:
            same = rows[(rows["form"] == form) & (rows["feature"] == feature)]
            numbers = same[["minimum", "maximum", "class"]].astype(float)
            low, high = numbers["minimum"].mean(), numbers["maximum"].mean()
            line.append(f"{low:.2f}–{high:.2f}, {(numbers['class'] > 0).mean():.0%}")
        lines.append(line)
    lines.append(["relevance rises with noise", *(_rising(rows, form) for form in FORMS)])
    runs = rows.groupby("form")["seed"].nunique()
    blocks.append(
        Table(
            "Figure 4.2 in figures: mean interval, share of runs in which the feature is relevant",
            ["", *(f"{form} ({runs.get(form, 0)} runs)" for form in FORMS)],
            lines,
        )
    )
    blocks.append(
        Picture(
            "semantic",
            "Relevance intervals of six regular and three privileged features; privileged relevance rises with noise.",
            draw,
        )
    )
    return blocks


def _rising(rows: pd.DataFrame, form: str) -> str:
    """In how many runs maxRel of the privileged features rises with the noise."""
    chosen = rows[(rows["form"] == form) & (rows["part"] == "privileged")]
    tall = chosen.pivot_table(index="seed", columns="feature", values="maximum")[PRIVILEGED]
    rises = (tall.diff(axis=1).iloc[:, 1:] > 0).all(axis=1)
    return f"{int(rises.sum())} of {len(rises)}"


def draw(path: Path) -> None:
    """Draw regular features on the left and privileged ones on the right, of seed 0 of the default form."""
    from matplotlib.figure import Figure

    result = fit(FORMS[0], 0)
    figure = Figure(figsize=(12, 4), layout="constrained")
    for ax, part, title in zip(
        figure.subplots(1, 2), (result, result.privileged), ("regular", "privileged"), strict=True
    ):
        RelevanceDisplay.from_result(part, ax=ax, sort=False)
        ax.set_title(f"{title} features")
    save(figure, path)

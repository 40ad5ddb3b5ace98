"""Pictures of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from allrelevant.plotting._style import CLASS_STYLES
from benchmarks.blocks import LABELS, mean_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: By the number of a class.
COLOURS = {int(kind): style.shade.light for kind, style in CLASS_STYLES.items()}


def intervals(path: Path, parts: Mapping[str, pd.DataFrame]) -> None:
    """Relevance intervals as bars in the colours of their classes, a panel per part, with their limits."""
    from matplotlib.figure import Figure

    heights = [len(rows) for rows in parts.values()]
    figure = Figure(figsize=(8, 0.8 * len(parts) + 0.2 * sum(heights)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(parts), 1, sharex=True, gridspec_kw={"height_ratios": heights}))
    for ax, (title, rows) in zip(axes, parts.items(), strict=True):
        place = np.arange(len(rows))[::-1]
        low, high = rows["minimum"].astype(float), rows["maximum"].astype(float)
        ax.barh(place, high - low, left=low, color=[COLOURS[int(each)] for each in rows["class"]])
        limit = rows["limit"].astype(float)
        ax.vlines(limit, place - 0.45, place + 0.45, color="0.4", linestyle="--", linewidth=1)
        ax.set_yticks(place, labels=rows["feature"], fontsize=7)
        ax.set(title=title, ylim=(-0.7, len(rows) - 0.3))
    axes[0].set_xlim(0, 1.03 * max(float(rows["maximum"].astype(float).max()) for rows in parts.values()))
    axes[-1].set_xlabel("relevance; dashed: what is to be exceeded")
    save(figure, path)


def scores(
    path: Path,
    rows: pd.DataFrame,
    measure: str,
    sets: Iterable[str],
    methods: Mapping[str, str | None],
    papers: Mapping[tuple[str, str, str, str], float],
    *,
    ours: Sequence[str] = ("allrelevant",),
    condition: str = "",
) -> None:
    """Means of every method on every set as points, ours with their standard errors, the papers' beside them."""
    from matplotlib.figure import Figure

    sets = list(sets)
    figure = Figure(figsize=(8, 0.6 + 0.42 * len(sets)), layout="constrained")
    ax = figure.subplots()
    marks = dict(zip((name for name in methods if name not in ours), "sv^<>pP*Xh", strict=False))
    for place, name in enumerate(sets):
        for method, theirs in methods.items():
            same = rows[(rows["set"] == name) & (rows["method"] == method) & (rows["condition"] == condition)]
            mean = mean_of(same, measure)
            label = LABELS.get(method, method).replace("*", "")
            if mean is not None and method in ours:
                shift = 0.18 * list(ours).index(method)
                shade = list(COLOURS.values())[list(ours).index(method)]
                ax.errorbar(mean.value, place - shift, xerr=mean.error, fmt="o", color=shade, zorder=3, label=label)
            elif mean is not None:
                ax.plot(mean.value, place + 0.2, marks[method], color="0.55", markersize=5, label=label)
            paper = papers.get((name, condition, theirs or "", measure))
            if paper is not None and method in ours:
                ax.plot(paper, place, "D", markerfacecolor="none", color="black", markersize=6, label="papers' own")
    ax.set_yticks(range(len(sets)), labels=sets)
    ax.invert_yaxis()
    ax.set(xlabel=measure.replace("f1", "F1 of the relevant features"))
    ax.set_xlim(right=1.0 + 0.03 * (1.0 - ax.get_xlim()[0]))
    ax.grid(axis="x", alpha=0.3)
    handles = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        handles.setdefault(label, handle)
    ax.legend(handles.values(), handles, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a picture that is the same for the same figures."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "allrelevant"}):
        figure.savefig(path, metadata={"Date": None})

"""Pictures of the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from allrelevant.plotting._style import CLASS_STYLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: By the number of a class.
COLOURS = {int(kind): style.shade.light for kind, style in CLASS_STYLES.items()}


def intervals(path: Path, parts: Mapping[str, pd.DataFrame]) -> None:
    """Relevance intervals as bars in the colours of their classes, a panel per part, with the limit from probes."""
    from matplotlib.figure import Figure

    heights = [len(rows) for rows in parts.values()]
    figure = Figure(figsize=(8, 0.8 * len(parts) + 0.2 * sum(heights)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(parts), 1, gridspec_kw={"height_ratios": heights}))
    for ax, (title, rows) in zip(axes, parts.items(), strict=True):
        place = np.arange(len(rows))[::-1]
        low, high = rows["minimum"].astype(float), rows["maximum"].astype(float)
        ax.barh(place, high - low, left=low, color=[COLOURS[int(each)] for each in rows["class"]])
        ax.axvline(float(rows["limit"].iloc[0]), color="0.4", linestyle="--", linewidth=1)
        ax.set_yticks(place, labels=rows["feature"], fontsize=7)
        ax.set(title=title, xlim=(0, None), ylim=(-0.7, len(rows) - 0.3))
    axes[-1].set_xlabel("relevance; dashed: what a probe does not exceed")
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a picture that is the same for the same figures."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "allrelevant"}):
        figure.savefig(path, metadata={"Date": None})

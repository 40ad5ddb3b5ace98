"""The strokes: rows of intervals onto matplotlib axes. Nothing here touches pyplot or changes rcParams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.errors import MissingExtra
from allrelevant.plotting._rows import Row
from allrelevant.plotting._style import CLASS_STYLES, mix
from allrelevant.result import RelevanceResult, Thresholds

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["draw_rows", "figure_size", "require_matplotlib", "row_positions"]

POINTS = 72  # per inch
LABEL = 12.0  # points of height for the label of a limit
HEADER = 3 * LABEL  # points kept free above the first bar, for those labels
WIDTH = 8.0
FURNITURE = 1.1  # inches for the axis, its label and the legend
ROOMY, TIGHT = 0.24, 0.14  # inches from row to row, for few and for many rows
TALLEST = 100.0  # inches: beyond, image files become too large for most viewers


def require_matplotlib(purpose: str) -> None:
    """Raise :class:`~allrelevant.errors.MissingExtra` unless matplotlib can be imported."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot", purpose) from error


def row_positions(rows: Sequence[Row], *, sort: bool) -> NDArray[np.float64]:
    """Return how far down every row lies, with some air between the classes where these are sections."""
    air = [0.6 * (sort and above.relevance != below.relevance) for above, below in pairwise(rows)]
    return np.cumsum([0.0, *(1.0 + gap for gap in air)])


def figure_size(positions: NDArray[np.float64]) -> tuple[float, float]:
    """Return width and height in inches of a figure in which every row can be read."""
    span = _span(positions)
    pitch = min(ROOMY, max(TIGHT, 60 * ROOMY / span))
    return WIDTH, min(TALLEST, FURNITURE + HEADER / POINTS + span * pitch)


def draw_rows(
    ax: Axes,
    rows: Sequence[Row],
    positions: NDArray[np.float64],
    result: RelevanceResult,
    *,
    whole_figure: bool,
) -> None:
    """Draw the rows, the limits, the marks of the baseline and the legend.

    With `whole_figure` the axes have a figure of :func:`figure_size` to themselves; the legend goes below.
    """
    inches = ax.get_window_extent().height / ax.figure.dpi
    if whole_figure:  # whose axes get their final size only when a layout engine places them
        inches = figure_size(positions)[1] - FURNITURE
    room = max(1.0, POINTS * inches - HEADER) / _span(positions)  # points from row to row
    right = _right_end(rows, result.thresholds)
    top = positions[0] - 0.5 - HEADER / room

    _axes(ax, rows, positions, xlim=(-0.012 * right, right), top=top, room=room)
    handles = _bars(ax, rows, positions, result, room)
    handles += _baseline_marks(ax, rows, positions, room)
    _limits(ax, result.thresholds, top=top, step=LABEL / room)
    _legend(ax, handles, below=whole_figure)


def _span(positions: NDArray[np.float64]) -> float:
    return float(positions[-1] - positions[0]) + 1.2


def _right_end(rows: Sequence[Row], thresholds: Thresholds) -> float:
    ends = [thresholds.min_relevance, thresholds.max_relevance, *(row.high for row in rows)]
    ends += [row.baseline for row in rows if row.baseline is not None]
    end = max((end for end in ends if math.isfinite(end)), default=0.0)
    return 1.03 * end if end > 0 else 1.0


def _axes(
    ax: Axes,
    rows: Sequence[Row],
    positions: NDArray[np.float64],
    *,
    xlim: tuple[float, float],
    top: float,
    room: float,
) -> None:
    ax.set(xlim=xlim, ylim=(positions[-1] + 0.7, top))
    ax.set_xlabel("share of the model's weight, over all near-optimal models")
    size = min(9.0, max(5.0, 0.75 * room))
    every = max(1, math.ceil(1.05 * size / room))
    # A dollar sign would start mathematics.
    names = [row.label.replace("$", r"\$") for row in rows]
    ax.set_yticks(positions[::every], names[::every], fontsize=size)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=_ink(), alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _bars(
    ax: Axes, rows: Sequence[Row], positions: NDArray[np.float64], result: RelevanceResult, room: float
) -> list[Artist]:
    from matplotlib.colors import to_hex
    from matplotlib.patches import Patch

    # Dots lead the eye from the name to a bar that starts far from it.
    starts = [row.low for row in rows]
    ax.hlines(positions, 0, starts, color=_ink(), alpha=0.35, linewidth=0.6, linestyle=(0, (1, 3)))
    paper = to_hex(ax.get_facecolor())
    handles: list[Artist] = []
    for kind, style in CLASS_STYLES.items():
        look: dict[str, Any] = {
            "facecolor": mix(style.shade.light, paper, style.fill),
            "edgecolor": style.shade.light,
            "hatch": style.hatch,
            # The outline keeps an interval of no length visible, as a stroke of the height of its bar.
            "linewidth": min(1.2, max(0.4, 0.08 * room)),
        }
        members = [i for i, row in enumerate(rows) if row.relevance == kind]
        ax.barh(
            positions[members],
            [rows[i].high - rows[i].low for i in members],
            left=[rows[i].low for i in members],
            height=[0.62 if rows[i].n_features == 1 else 0.3 for i in members],
            label=style.phrase,
            zorder=2,
            **look,
        )
        count = int(np.sum(result.classes == kind))
        handles.append(Patch(label=f"{style.phrase} ({count})", **look))
    return handles


def _baseline_marks(ax: Axes, rows: Sequence[Row], positions: NDArray[np.float64], room: float) -> list[Artist]:
    marks = [(row.baseline, y) for row, y in zip(rows, positions, strict=True) if row.baseline is not None]
    size = min(4.5, max(1.0, 0.3 * room))
    return list(
        ax.plot(
            [share for share, _ in marks],
            [y for _, y in marks],
            linestyle="none",
            marker="D",
            markersize=size,
            markerfacecolor=_ink(),
            markeredgecolor=ax.get_facecolor(),
            markeredgewidth=0.2 * size,
            zorder=4,
            label="share in the best model",
        )
    )


def _limits(ax: Axes, thresholds: Thresholds, *, top: float, step: float) -> None:
    left, right = ax.get_xlim()
    bottom = ax.get_ylim()[0]
    limits = [
        (thresholds.min_relevance, (0, (1, 1.5)), "strong bars also start beyond"),
        (thresholds.max_relevance, (0, (5, 2)), "relevant bars end beyond"),
    ]
    limits = sorted(limit for limit in limits if math.isfinite(limit[0]))
    turn = left + 0.6 * (right - left)  # lines further right have their label on the left
    # The line whose label the other one would cross goes to the top; the other one ends below that label.
    if all(value > turn for value, _, _ in limits):
        limits.reverse()
    for level, (value, dashes, meaning) in enumerate(limits):
        ax.vlines(value, top + level * step, bottom, color=_ink(), linestyle=dashes, linewidth=1.0, zorder=3)
        ax.annotate(
            f"{meaning} {value:.2g}" if value > 1e-4 else f"{meaning} 0",
            (value, top + level * step),
            xytext=(-4 if value > turn else 4, -1),
            textcoords="offset points",
            ha="right" if value > turn else "left",
            va="top",
            fontsize=8,
            color=_ink(),
            zorder=5,
        )


def _legend(ax: Axes, handles: list[Artist], *, below: bool) -> None:
    if not below:
        ax.legend(handles=handles, loc="best", fontsize=8)
        return
    from matplotlib.transforms import ScaledTranslation

    under_the_label = ScaledTranslation(0, -38 / POINTS, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + under_the_label,
        ncols=2,
        frameon=False,
        fontsize=9,
    )


def _ink() -> str:
    """Return the colour of text, so that the drawing follows the style of the user, dark ones included."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])

"""The strokes: rows of intervals onto matplotlib axes. Nothing here touches pyplot or changes rcParams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allrelevant._summary import near
from allrelevant.plotting._axes import (
    POINTS,
    class_look,
    class_patch,
    ink,
    limits_of,
    name_ticks,
    points,
    require_matplotlib,
)
from allrelevant.plotting._rows import Row, limit_ticks
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.result import RelevanceResult, Thresholds

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["draw_legend", "draw_rows", "figure_size", "require_matplotlib", "row_positions", "row_room"]

LABEL = 12.0  # points of height for the label of a limit
HEADER = 3 * LABEL  # points kept free above the first bar, for those labels
WIDTH = 8.0
FURNITURE = 1.1  # inches for the axis, its label and the legend
ROOMY, TIGHT = 0.24, 0.14  # inches from row to row, for few and for many rows
TALLEST = 100.0  # inches: beyond, image files become too large for most viewers


def row_positions(rows: Sequence[Row], *, sort: bool) -> NDArray[np.float64]:
    """Return how far down every row lies, with some air between the classes where these are sections."""
    air = [0.6 * (sort and above.relevance != below.relevance) for above, below in pairwise(rows)]
    return np.cumsum([0.0, *(1.0 + gap for gap in air)])


def figure_size(positions: NDArray[np.float64]) -> tuple[float, float]:
    """Return width and height in inches of a figure in which every row can be read."""
    span = _span(positions)
    pitch = min(ROOMY, max(TIGHT, 60 * ROOMY / span))
    return WIDTH, min(TALLEST, FURNITURE + HEADER / POINTS + span * pitch)


def row_room(ax: Axes, positions: NDArray[np.float64], *, whole_figure: bool) -> float:
    """Return the points from row to row; see :func:`draw_rows`."""
    height = points(ax, vertical=True)
    if whole_figure:  # whose axes get their final size only when a layout engine places them
        height = POINTS * (figure_size(positions)[1] - FURNITURE)
    return max(1.0, height - HEADER) / _span(positions)


def draw_rows(
    ax: Axes,
    rows: Sequence[Row],
    positions: NDArray[np.float64],
    result: RelevanceResult,
    *,
    whole_figure: bool,
    reach: float = 0.0,
) -> list[Artist]:
    """Draw the rows, the limits and the marks of the baseline, and return the entries of the legend.

    With `whole_figure` the axes have a figure of the height of :func:`figure_size` to themselves. The axis reaches
    to the ends of the bars, or further right to `reach`.
    """
    room = row_room(ax, positions, whole_figure=whole_figure)
    ticks = limit_ticks([row.limit for row in rows], [reach, *(row.high for row in rows)])
    right = _right_end(rows, result.thresholds, max([reach, *(tick for tick in ticks if math.isfinite(tick))]))
    header = HEADER if limits_of(result) else 0.5 * LABEL
    top = positions[0] - 0.5 - header / room

    _axes(ax, rows, positions, xlim=(-0.012 * right, right), top=top, room=room)
    ax.set_xlabel(result.words.axis)
    handles = _bars(ax, rows, positions, result, room)
    handles += _baseline_marks(ax, rows, positions, room, result.words.centre)
    said = result.words.own_limit if result.unconstrained is None else result.words.free_limit
    handles += _own_limits(ax, ticks, positions, said, right)
    if any(row.tentative for row in rows):
        handles += ax.plot(
            [], [], linestyle="none", marker="$?$", color=ink(), label=f"undecided, {result.words.undecided}"
        )
    if any(row.borderline for row in rows):
        handles += ax.plot(
            [], [], linestyle="none", marker=r"$\sim$", color=ink(), label=f"borderline: {near(result.thresholds)}"
        )
    _limits(ax, result, top=top, step=LABEL / room)
    return handles


def draw_legend(ax: Axes, handles: Sequence[Artist], *, below: bool) -> None:
    """Write the legend below the axes, or where there is room in them."""
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


def _span(positions: NDArray[np.float64]) -> float:
    return float(positions[-1] - positions[0]) + 1.2


def _right_end(rows: Sequence[Row], thresholds: Thresholds, reach: float) -> float:
    ends = [reach, thresholds.min_relevance, thresholds.max_relevance, *(row.high for row in rows)]
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
    name_ticks(ax.yaxis, positions.tolist(), [row.label for row in rows], room)
    ax.grid(axis="x", color=ink(), alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _bars(
    ax: Axes, rows: Sequence[Row], positions: NDArray[np.float64], result: RelevanceResult, room: float
) -> list[Artist]:
    # Dots lead the eye from the name to a bar that starts far from it.
    starts = [row.low for row in rows]
    ax.hlines(positions, 0, starts, color=ink(), alpha=0.35, linewidth=0.6, linestyle=(0, (1, 3)))
    linewidth = min(1.2, max(0.4, 0.08 * room))
    handles: list[Artist] = []
    for kind, style in CLASS_STYLES.items():
        members = [i for i, row in enumerate(rows) if row.relevance == kind]
        ax.barh(
            positions[members],
            [rows[i].high - rows[i].low for i in members],
            left=[rows[i].low for i in members],
            height=[0.62 if rows[i].n_features == 1 else 0.3 for i in members],
            label=style.phrase,
            zorder=2,
            **class_look(kind, ax, linewidth),
        )
        count = int(np.sum(result.classes == kind))
        handles.append(class_patch(kind, ax, f"{style.phrase} ({count})", linewidth))
    return handles


def _baseline_marks(
    ax: Axes, rows: Sequence[Row], positions: NDArray[np.float64], room: float, label: str
) -> list[Artist]:
    marks = [(row.baseline, y) for row, y in zip(rows, positions, strict=True) if row.baseline is not None]
    size = min(4.5, max(1.0, 0.3 * room))
    return list(
        ax.plot(
            [share for share, _ in marks],
            [y for _, y in marks],
            linestyle="none",
            marker="D",
            markersize=size,
            markerfacecolor=ink(),
            markeredgecolor=ax.get_facecolor(),
            markeredgewidth=0.2 * size,
            zorder=4,
            label=label,
        )
    )


def _own_limits(
    ax: Axes, ticks: Sequence[float], positions: NDArray[np.float64], label: str, right: float
) -> list[Artist]:
    """Draw the limit of every feature as a tick across its bar, or a mark at the end of the axis if it is beyond."""
    shown = [(tick, y) for tick, y in zip(ticks, positions, strict=True) if math.isfinite(tick)]
    far = [y for tick, y in zip(ticks, positions, strict=True) if math.isinf(tick)]
    handles: list[Artist] = []
    if shown:
        # On paper and on ink alike: a dark stroke with a pale edge.
        for colour, width in ((ax.get_facecolor(), 3.2), (ink(), 1.6)):
            ax.vlines(
                [tick for tick, _ in shown],
                [y - 0.42 for _, y in shown],
                [y + 0.42 for _, y in shown],
                color=colour,
                linewidth=width,
                zorder=3,
                label="limits",
            )
        handles += ax.plot(
            [], [], linestyle="none", marker="|", markersize=9, markeredgewidth=1.6, color=ink(), label=label
        )
    if far:
        handles += ax.plot(
            [right] * len(far),
            far,
            linestyle="none",
            marker=9,
            markersize=5,
            color=ink(),
            clip_on=False,
            zorder=4,
            label="limit of the feature further right",
        )
    return handles


def _limits(ax: Axes, result: RelevanceResult, *, top: float, step: float) -> None:
    left, right = ax.get_xlim()
    bottom = ax.get_ylim()[0]
    limits = limits_of(result)
    turn = left + 0.6 * (right - left)  # lines further right have their label on the left
    # The line whose label the other one would cross goes to the top; the other one ends below that label.
    if all(value > turn for value, _, _ in limits):
        limits.reverse()
    for level, (value, dashes, text) in enumerate(limits):
        ax.vlines(value, top + level * step, bottom, color=ink(), linestyle=dashes, linewidth=1.0, zorder=3)
        ax.annotate(
            text,
            (value, top + level * step),
            xytext=(-4 if value > turn else 4, -1),
            textcoords="offset points",
            ha="right" if value > turn else "left",
            va="top",
            fontsize=8,
            color=ink(),
            zorder=5,
        )

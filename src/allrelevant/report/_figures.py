"""The plots of intervals and of their stability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from allrelevant._summary import near
from allrelevant._words import BORDERLINE
from allrelevant.plotting._axes import limits_of
from allrelevant.plotting._draw import row_positions
from allrelevant.plotting._rows import MAX_FEATURES, NAME_LENGTH, Row, arrange, limit_ticks, shorten
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.redundancy import Stability
from allrelevant.report._format import decimal
from allrelevant.report._plot import (
    ROW,
    SHORT,
    Figure,
    about,
    axis,
    blank,
    figure,
    filled,
    line,
    literal,
    name_axis,
    var,
)
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["intervals_figure", "stability_figure"]


def intervals_figure(result: RelevanceResult) -> Figure:
    """Return the relevance intervals, one bar per feature, those of the least relevant features folded together."""
    rows = arrange(result, max_features=MAX_FEATURES, sort=True, name_length=NAME_LENGTH)
    positions = row_positions(rows, sort=True).tolist()
    ends = [row.high for row in rows] + [row.baseline or 0.0 for row in rows]
    ticks = limit_ticks([row.limit for row in rows], [row.high for row in rows])
    ends += [tick for tick in ticks if math.isfinite(tick)]
    right = 1.03 * max([*ends, *(value for value, _, _ in limits_of(result))], default=0.0) or 1.0
    traces = [
        _bars(kind, [(y, row) for y, row in zip(positions, rows, strict=True) if row.relevance == kind], result, right)
        for kind in CLASS_STYLES
    ]
    marked = [(row, y) for row, y in zip(rows, positions, strict=True) if row.baseline is not None]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": result.words.centre,
            "x": [row.baseline for row, _ in marked],
            "y": [y for _, y in marked],
            "hoverinfo": "skip",
            "marker": {"symbol": "diamond", "size": 7, "color": var("ink"), "line": line("paper", 1)},
        }
    )
    meaning = result.words.own_limit if result.unconstrained is None else result.words.free_limit
    traces += _own_limits(ticks, positions, meaning, right)
    if any(row.borderline for row in rows):
        # Nothing is drawn; it explains the mark of names in the legend.
        said = f"{BORDERLINE} borderline: {near(result.thresholds)}"
        nothing = {"x": [None], "y": [None], "hoverinfo": "skip", "marker": {"color": "rgba(0,0,0,0)"}}
        traces.append({"type": "scatter", "mode": "markers", "name": said, **nothing})
    height = round(ROW * (positions[-1] + 1.5)) + 150
    layout = blank(height, top=52)
    layout["bargap"] = 0.0
    layout["xaxis"] = axis(result.words.axis, range=[-0.01 * right, right])
    layout["yaxis"] = name_axis(positions, [row.label for row in rows]) | {"range": [positions[-1] + 0.8, -0.8]}
    layout["shapes"], layout["annotations"] = _limits(result, right)
    narrow = {
        "yaxis.ticktext": [literal(shorten(row.label, SHORT + 4)) for row in rows],
        "xaxis.title.text": result.words.short_axis,
        "annotations": _limits(result, right, turn=0.35, size=10)[1],
    }
    return figure([trace for trace in traces if trace["x"]], layout, narrow)


def _bars(
    kind: RelevanceClass, members: Sequence[tuple[float, Row]], result: RelevanceResult, right: float
) -> dict[str, Any]:
    # plotly.js draws nothing where a bar has no length at all.
    least = 0.003 * right
    return {
        "type": "bar",
        "orientation": "h",
        "name": f"{CLASS_STYLES[kind].phrase} ({int(np.sum(result.classes == kind))})",
        "base": [row.low for _, row in members],
        "x": [max(row.high - row.low, least) for _, row in members],
        "y": [y for y, _ in members],
        "width": [0.66 if row.n_features == 1 else 0.3 for _, row in members],
        "hoverinfo": "text",
        "hovertext": [
            about(result, row.members[0]) if row.n_features == 1 else literal(row.label) for _, row in members
        ],
        "textposition": "none",
        "marker": filled(kind),
    }


def _own_limits(ticks: Sequence[float], positions: Sequence[float], name: str, right: float) -> list[dict[str, Any]]:
    """Return the limits of features as ticks across their bars, those further right as marks at the end."""
    shown = [(tick, y) for tick, y in zip(ticks, positions, strict=True) if math.isfinite(tick)]
    far = [(right, y) for tick, y in zip(ticks, positions, strict=True) if math.isinf(tick)]
    kinds = [
        (shown, name, {"symbol": "line-ns", "size": 8, "line": line("ink", 2), "color": var("ink")}),
        (far, "limit of the feature further right", {"symbol": "triangle-right", "size": 7, "color": var("ink")}),
    ]
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": said,
            "x": [x for x, _ in places],
            "y": [y for _, y in places],
            "hoverinfo": "skip",
            "cliponaxis": False,
            "marker": marker,
        }
        for places, said, marker in kinds
    ]


def _limits(
    result: RelevanceResult, right: float, turn: float = 0.6, size: int = 11
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the lines where noise ends and what is written above them, on the left of lines beyond the turn."""
    shapes, texts = [], []
    limits = limits_of(result)
    if all(value > turn * right for value, _, _ in limits):
        limits.reverse()
    for level, (value, dashes, text) in enumerate(limits):
        dash = "dot" if dashes[1][0] == 1 else "dash"
        shapes.append({"type": "line", "xref": "x", "yref": "paper", "x0": value, "x1": value, "y0": 0, "y1": 1}
                      | {"line": line("ink", 1) | {"dash": dash}})  # fmt: skip
        texts.append(
            {
                "xref": "x",
                "yref": "paper",
                "x": value,
                "y": 1,
                "yshift": 22 - 15 * level,
                "showarrow": False,
                "xanchor": "right" if value > turn * right else "left",
                "text": text,
                "font": {"size": size},
            }
        )
    return shapes, texts


def stability_figure(stability: Stability) -> Figure:
    """Return how often every feature was of which class over the bootstraps."""
    result, spread = stability.result, stability.spread()
    rows = arrange(result, max_features=MAX_FEATURES, sort=True, name_length=NAME_LENGTH)
    positions = row_positions(rows, sort=True).tolist()
    parts = np.array([stability.shares[list(row.members)].mean(axis=0) for row in rows])
    hover = []
    for row, part in zip(rows, parts, strict=True):
        lines = [f"<b>{literal(shorten(result.feature_names[row.members[0]], 80))}</b>"]
        lines = lines if row.n_features == 1 else [literal(row.label)]
        lines += [f"{CLASS_STYLES[kind].phrase} in {100 * part[kind]:.0f} %" for kind in CLASS_STYLES]
        if row.n_features == 1:
            ends = (result.words.low, result.words.high)
            for end, (low, high) in zip(ends, spread[row.members[0]].tolist(), strict=True):
                lines.append(f"{end} from {decimal(low)} to {decimal(high)} in the middle 90 %")
        hover.append("<br>".join(lines))
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": style.phrase,
            # plotly.js would draw the outline of a bar of no length.
            "x": [share or None for share in parts[:, kind].tolist()],
            "y": positions,
            "width": 0.66,
            "hoverinfo": "text",
            "hovertext": hover,
            "textposition": "none",
            "marker": filled(kind),
        }
        for kind, style in CLASS_STYLES.items()
    ]
    layout = blank(round(ROW * (positions[-1] + 1.5)) + 120, top=16)
    layout["barmode"] = "stack"
    layout["legend"]["traceorder"] = "normal"
    title = f"share of {stability.n_bootstraps} bootstraps of the samples"
    layout["xaxis"] = axis(title, range=[-0.01, 1.02], tickformat=".0%", dtick=0.25, fixedrange=True)
    layout["yaxis"] = name_axis(positions, [row.label for row in rows]) | {"range": [positions[-1] + 0.8, -0.8]}
    narrow = {"yaxis.ticktext": [literal(shorten(row.label, SHORT + 4)) for row in rows]}
    return figure(traces, layout, narrow)

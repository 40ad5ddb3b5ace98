"""The drawing of the explorer: bars, their ghosts, limits, what is held, and which features go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from allrelevant._summary import compared, pvalue
from allrelevant._words import BORDERLINE
from allrelevant.explore.marks import Mark
from allrelevant.explore.state import Held
from allrelevant.plotting._rows import limit_ticks, own_limit, shorten
from allrelevant.plotting._style import CLASS_STYLES, mix
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["MOST", "draw", "said_of", "shown_features"]

#: Features that are drawn, at most.
MOST = 120
NAME_LENGTH = 28
PAPER, INK = "#ffffff", "#24292f"
#: Pixels from the axis to the near and to the far side of a mark, and to the names beyond it.
NEAR, FAR, BEYOND = 5, 27, 31


def shown_features(result: RelevanceResult, held: Held) -> list[int]:
    """Features with a bar, the most relevant first; those that are held have one in any case."""
    ranking = [int(k) for k in result.ranking()]
    held_too = [k for k in ranking[MOST:] if result.feature_names[k] in held]
    return [*ranking[:MOST], *held_too]


def draw(
    before: RelevanceResult, now: RelevanceResult, held: Held, selected: str | None, marks: Mapping[str, Mark]
) -> dict[str, Any]:
    """Return the figure as plain values; bars stay where they are, whatever is held."""
    order = shown_features(before, held)
    names = [before.feature_names[k] for k in order]
    labels = [_safe(name) + f" {BORDERLINE}" * bool(before.borderline[k]) for k, name in zip(order, names, strict=True)]
    labels = [f"<b>{label}</b>" if name == selected else label for name, label in zip(names, labels, strict=True)]
    low, high = now.intervals[order].T
    ghost_low, ghost_high = before.intervals[order].T
    ticks = limit_ticks([own_limit(before, k) for k in order], ghost_high.tolist())
    reach = [*(value for value, _ in _limits(before)), *(tick for tick in ticks if np.isfinite(tick))]
    end = 1.04 * max(float(before.intervals[:, 1].max(initial=0.0)), *reach, 1e-6)
    classes = [RelevanceClass(int(now.classes[k])) for k in order]
    styles = [CLASS_STYLES[kind] for kind in classes]
    places = list(range(len(order)))
    hover = [
        f"{_safe(name)}<br>{style.phrase}<br>{a:.3f} to {b:.3f}<br>unconstrained {c:.3f} to {d:.3f}"
        + "".join(f"<br>{_escaped(line)}" for line in said_of(before, k))
        + (f"<br>group {marks[name].number}" if name in marks else "")
        for k, name, style, a, b, c, d in zip(order, names, styles, low, high, ghost_low, ghost_high, strict=True)
    ]
    common = {"orientation": "h", "y": places, "customdata": names, "type": "bar", "showlegend": False}
    ghosts = {
        **common, "name": "ghost", "x": (ghost_high - ghost_low).tolist(), "base": ghost_low.tolist(), "width": 0.86,
        "marker": {"color": "#f7f7f7", "line": {"color": "#b8b8b8", "width": 1}}, "hoverinfo": "skip",
    }  # fmt: skip
    bars = {
        **common, "name": "interval", "x": np.maximum(high - low, 0.004 * end).tolist(), "base": low.tolist(),
        "width": 0.6, "hovertext": hover, "hoverinfo": "text",
        "marker": {
            "color": [mix(style.shade.light, PAPER, style.fill + 0.1 * bool(style.hatch)) for style in styles],
            "line": {"color": [style.shade.light for style in styles], "width": 1.5},
            "pattern": {"shape": ["/" if style.hatch else "" for style in styles], "size": 7,
                        "fillmode": "overlay", "solidity": 0.25,
                        "fgcolor": [style.shade.light for style in styles]},
        },
    }  # fmt: skip
    # A bar may be too short to be hit: the whole row listens.
    rows = {
        **common, "name": "row", "x": [end] * len(order), "base": [0.0] * len(order), "width": 1.0,
        "marker": {"color": "rgba(0,0,0,0)"}, "hovertext": hover, "hoverinfo": "text",
    }  # fmt: skip
    shapes = [_limit(value, dash, len(order)) for value, dash in _limits(before)]
    shapes += [_tick(tick, place, end) for place, tick in enumerate(ticks) if not np.isnan(tick)]
    for place, name in zip(places, names, strict=True):
        if name in held:
            shapes += [_bracket(value, place) for value in sorted({*held[name]})]
        if name == selected:
            shapes.append(_band(place))
        if name in marks:
            shapes.append(_mark(marks[name], place))
    return {
        "data": [ghosts, bars, rows],
        "layout": {
            "barmode": "overlay", "bargap": 0, "uirevision": "same", "dragmode": False,
            "height": 138 + 24 * len(order), "margin": {"l": 10, "r": 12, "t": 42, "b": 48}, "shapes": shapes,
            "annotations": [_words(value, text, end) for value, text in _said(before)],
            "plot_bgcolor": PAPER, "paper_bgcolor": PAPER, "font": {"color": INK, "size": 12},
            "xaxis": {"range": [0, end], "title": {"text": "share of the model's weight"}, "gridcolor": "#e4e4e4",
                      "zeroline": False, "fixedrange": True},
            "yaxis": {"range": [len(order) - 0.4, -0.6], "tickvals": places, "ticktext": labels, "automargin": True,
                      "ticklabelstandoff": BEYOND if marks else 0, "fixedrange": True, "showgrid": False},
            "hoverlabel": {"bgcolor": PAPER, "font": {"color": INK}},
        },
    }  # fmt: skip


def said_of(result: RelevanceResult, k: int) -> list[str]:
    """Say how sure it is that a feature is relevant, or not, in the fit without constraints."""
    heading, pvalues = compared(result)
    near = ", borderline" * bool(result.borderline[k])
    lines = [f"{heading} {pvalue(float(pvalues[k]), result.thresholds.level)}{near}"]
    own = own_limit(result, k)
    if own is not None:
        lines.append(f"limit of {result.words.high} {own:.3f}")
    return lines


def _safe(name: str) -> str:
    """A name that plotly does not take for markup."""
    return _escaped(shorten(name, NAME_LENGTH))


def _escaped(line: str) -> str:
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _limits(result: RelevanceResult) -> list[tuple[float, str]]:
    """Limits that all features share."""
    limits = result.thresholds
    if not np.isfinite(limits.max_relevance):
        return []
    return [(value, dash) for value, dash in ((limits.min_relevance, "dot"), (limits.max_relevance, "dash"))
            if np.isfinite(value)]  # fmt: skip


def _tick(value: float, place: int, end: float) -> dict[str, Any]:
    """The limit of a feature across its bar; one that is further right than the drawing is a dotted one at its end."""
    inside = np.isfinite(value)
    x = value if inside else 0.997 * end
    line = {"color": INK, "width": 2, "dash": "solid" if inside else "dot"}
    return {"type": "line", "name": "limit", "x0": x, "x1": x, "y0": place - 0.42, "y1": place + 0.42, "line": line}


def _said(result: RelevanceResult) -> list[tuple[float, str]]:
    value = result.thresholds.max_relevance
    return [(value, f"relevant bars<br>end beyond {value:.2g}")] if np.isfinite(value) else []


def _limit(value: float, dash: str, count: int) -> dict[str, Any]:
    line = {"color": INK, "width": 1, "dash": dash}
    return {"type": "line", "x0": value, "x1": value, "y0": -0.6, "y1": count - 0.4, "line": line}


def _bracket(value: float, place: int) -> dict[str, Any]:
    line = {"color": INK, "width": 4}
    return {"type": "line", "x0": value, "x1": value, "y0": place - 0.46, "y1": place + 0.46, "line": line}


def _band(place: int) -> dict[str, Any]:
    return {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": place - 0.5, "y1": place + 0.5, "layer": "below",
            "fillcolor": "#dbeafe", "line": {"width": 0}}  # fmt: skip


def _mark(mark: Mark, place: int) -> dict[str, Any]:
    return {"type": "rect", "name": "group", "xref": "paper", "xsizemode": "pixel", "xanchor": 0, "x0": -FAR,
            "x1": -NEAR, "y0": place - 0.34, "y1": place + 0.34, "fillcolor": mark.fill,
            "line": {"color": mark.colour, "width": 2},
            "label": {"text": str(mark.number), "font": {"size": 11, "color": INK}, "padding": 0}}  # fmt: skip


def _words(value: float, text: str, end: float) -> dict[str, Any]:
    side = "left" if value < end / 2 else "right"
    return {"x": value, "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": side, "align": side, "text": text,
            "showarrow": False, "font": {"size": 11, "color": INK}}  # fmt: skip

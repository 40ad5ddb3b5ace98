"""What the plots of the page have in common: colours, axes and texts, as plotly.js reads them.

Every colour is a CSS variable, such as ``var(--ink)``; the script of the page puts in what it means in the light or in
the dark. No name of a feature is markup: plotly.js would read some tags in its texts.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from allrelevant._summary import compared, near, pvalue
from allrelevant.plotting._rows import own_limit, shorten
from allrelevant.plotting._style import CLASS_STYLES, INK, PALETTE, PAPER, Shade, mix
from allrelevant.plotting.groups import GROUP_COLOURS
from allrelevant.report._content import parts_of
from allrelevant.report._format import decimal
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = [
    "HATCH",
    "ROW",
    "SHADES",
    "SHORT",
    "Figure",
    "about",
    "axis",
    "blank",
    "figure",
    "filled",
    "line",
    "literal",
    "name_axis",
    "var",
]

Figure = dict[str, Any]
"""``data`` and ``layout`` of plotly.js, ``narrow`` with what differs on a phone, and the least and the most of
its ``width`` in pixels."""

SHORT = 16  # letters of a name on a phone
ROW = 21  # pixels from row to row
HATCH = 6  # pixels from line to line of a hatched filling


def _shades() -> dict[str, Shade]:
    shades = dict(PALETTE)
    for name, share in (("faint", 0.07), ("rule", 0.18), ("soft", 0.72)):
        shades[name] = Shade(mix(INK.light, PAPER.light, share), mix(INK.dark, PAPER.dark, share))
    strong = CLASS_STYLES[RelevanceClass.STRONG].shade
    for step, share in enumerate((0.15, 1.0)):
        shades[f"need-{step}"] = Shade(mix(strong.light, PAPER.light, share), mix(strong.dark, PAPER.dark, share))
    shades["need-2"] = Shade(mix(INK.light, strong.light, 0.55), mix(INK.dark, strong.dark, 0.55))
    for k, colour in enumerate(GROUP_COLOURS):
        shades[f"group-{k}"] = Shade(colour, mix(colour, "#ffffff", 0.72))
    return shades


SHADES: Mapping[str, Shade] = MappingProxyType(_shades())
"""All colours of the page by name: those of the classes, and what drawings and text need besides."""


def figure(
    traces: list[dict[str, Any]], layout: dict[str, Any], narrow: dict[str, Any], width: tuple[int, int] = (0, 4000)
) -> Figure:
    """Return a figure whole."""
    return {"data": traces, "layout": layout, "narrow": narrow, "width": width}


def blank(height: int, *, top: int) -> dict[str, Any]:
    """Return a layout of a height in pixels without axes, its legend at the bottom."""
    return {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": top, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, -apple-system, Segoe UI, Roboto, sans-serif", "size": 12, "color": var("ink")},
        "hovermode": "closest",
        "hoverlabel": {
            "align": "left",
            "bgcolor": var("paper"),
            "bordercolor": var("ink"),
            "font": {"color": var("ink"), "size": 12},
        },
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": var("soft"), "activecolor": var("ink")},
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
    }


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Return an axis with a title and lines across."""
    return {
        "title": {"text": title, "font": {"size": 12}},
        "gridcolor": var("rule"),
        "zeroline": False,
        "automargin": True,
        **more,
    }


def name_axis(positions: Sequence[float], names: Sequence[str]) -> dict[str, Any]:
    """Return a vertical axis with names; it does not zoom, so that a page can be scrolled over it."""
    return {
        "tickmode": "array",
        "tickvals": list(positions),
        "ticktext": [literal(name) for name in names],
        "tickfont": {"size": 12},
        "automargin": True,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def filled(kind: RelevanceClass) -> dict[str, Any]:
    """Return how the bars of a class are filled and outlined."""
    label = kind.label
    look: dict[str, Any] = {"color": var(f"{label}-fill"), "line": line(label, 1.3)}
    if CLASS_STYLES[kind].hatch:
        look["pattern"] = {
            "shape": "/",
            "fgcolor": var(label),
            "bgcolor": var(f"{label}-fill"),
            "size": HATCH,
            "solidity": 0.22,
        }
    return look


def about(result: RelevanceResult, k: int) -> str:
    """Say what is known of a feature, for a reader who points at it."""
    low, high = result.intervals[k].tolist()
    words, name = result.words, result.feature_names[k]
    guess = f", {words.undecided}" * (name in result.tentative)
    heading, pvalues = compared(result)
    chance = f"{heading} {literal(pvalue(float(pvalues[k]), result.thresholds.level))}"
    parts = ", ".join(f"{part} {text}" for part, text in parts_of(result, k))
    own = own_limit(result, k)
    more = [f"of {literal(parts)}"] * bool(parts) + [f"limit of {words.high} {decimal(own)}"] * (own is not None)
    if result.borderline[k]:
        more.append(f"borderline: {near(result.thresholds)}")
    companions = result.companions.get(name, ())
    if companions and result.evidence[k] == "together":
        more.append(f"tells of the target beside {literal(', '.join(shorten(one, 40) for one in companions))}")
    return "<br>".join(
        [
            f"<b>{literal(shorten(name, 80))}</b>",
            CLASS_STYLES[RelevanceClass(int(result.classes[k]))].phrase + guess,
            f"{words.low} {decimal(low)}, {words.high} {decimal(high)}" + ", at the most" * (name in result.incomplete),
            chance,
            *more,
            f"{words.centre} {decimal(abs(float(result.baseline[k])))}",
        ]
    )


def line(name: str, width: float) -> dict[str, Any]:
    """Return the look of a line."""
    return {"color": var(name), "width": width}


def var(name: str) -> str:
    """Return a colour of :data:`SHADES`."""
    return f"var(--{name})"


def literal(text: str) -> str:
    """Return a text of which plotly.js shows every sign as it is."""
    return html.escape(text, quote=False)

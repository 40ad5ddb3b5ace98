"""The plots of groups, substitutes and panels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from allrelevant.plotting._axes import limits_of
from allrelevant.plotting._rows import NAME_LENGTH, shorten
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.plotting.groups import GROUP_COLOURS, group_colours, ordered_tree
from allrelevant.plotting.panels import _rows as panel_features
from allrelevant.plotting.substitutes import needs_of, price_of, shown_set, side_by_side
from allrelevant.redundancy import FeatureGroups, Panels, Substitutes
from allrelevant.report._format import decimal
from allrelevant.report._plot import (
    HATCH,
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

__all__ = ["groups_figure", "panels_figure", "substitutes_figure"]

FEW = 6  # names below an axis up to which they may be written level


def groups_figure(groups: FeatureGroups) -> Figure | None:
    """Return the tree of features above their intervals, with the numbers of the groups between them."""
    count = len(groups.members)
    if not count:
        return None
    result = groups.result
    links, order = ordered_tree(groups)
    leaves = [groups.members[i] for i in order]
    # The colours of the display, by name: a variable for each.
    names = {colour: f"group-{k}" for k, colour in enumerate(GROUP_COLOURS)}
    colours = {g: var(names.get(colour, "soft")) for g, colour in group_colours(groups, leaves, "alone").items()}
    labels = groups.labels[leaves].tolist()
    traces = _branches(groups, links.tolist(), order, colours)
    traces.append(
        {
            "type": "bar",
            "x": list(range(count)),
            "y": [1] * count,
            "width": 0.9,
            "yaxis": "y2",
            "showlegend": False,
            "hoverinfo": "text",
            "hovertext": [f"group {g}: {literal(_members(groups, g))}" for g in labels],
            "marker": {"color": [colours[g] for g in labels]},
            "text": [str(g) for g in labels],
            "textposition": "inside",
            "textangle": 0,
            "insidetextanchor": "middle",
            "insidetextfont": {"color": var("paper"), "size": 10},
            "constraintext": "none",
        }
    )
    low, high = result.intervals[leaves].T
    top = 1.05 * max([float(high.max()), *(value for value, _, _ in limits_of(result))]) or 1.0
    for kind, style in CLASS_STYLES.items():
        some = [x for x, k in enumerate(leaves) if result.classes[k] == kind]
        if some:
            traces.append(
                {
                    "type": "bar",
                    "name": f"{style.phrase} ({len(some)})",
                    "x": some,
                    "base": low[some].tolist(),
                    "y": np.maximum((high - low)[some], 0.005 * top).tolist(),
                    "width": 0.66,
                    "yaxis": "y3",
                    "hoverinfo": "text",
                    "hovertext": [f"{about(result, leaves[x])}<br>group {labels[x]}" for x in some],
                    "textposition": "none",
                    "marker": filled(kind),
                }
            )
    layout = blank(560, top=24)
    layout["barmode"] = "overlay"
    side = max(0.7, (8 - count) / 2)  # bars stay slim where the leaves are few
    short = [literal(shorten(result.feature_names[k], NAME_LENGTH)) for k in leaves]
    layout["xaxis"] = {
        "range": [-side, count - 1 + side],
        "tickmode": "array",
        "tickvals": list(range(count)),
        "ticktext": short,
        "tickangle": -90 if count > FEW else "auto",
        "tickfont": {"size": 11},
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        "anchor": "y3",
    }
    highest = 1.08 * max([groups.height, *links[:, 2].tolist()]) or 1.0
    layout["yaxis"] = axis("distance of parts", domain=[0.58, 1.0], range=[0, highest], fixedrange=True)
    layout["yaxis2"] = {"domain": [0.5, 0.55], "range": [0, 1], "visible": False, "fixedrange": True}
    layout["yaxis3"] = axis("share of the weight", domain=[0.0, 0.48], range=[0, top], fixedrange=True)
    lines = [(groups.height, "dash", "y")] if len(links) else []
    lines += [(value, "dot" if dashes[1][0] == 1 else "dash", "y3") for value, dashes, _ in limits_of(result)]
    layout["shapes"] = [
        {"type": "line", "xref": "paper", "yref": axis, "x0": 0, "x1": 1, "y0": value, "y1": value}
        | {"line": line("ink", 1) | {"dash": dash}}
        for value, dash, axis in lines
    ]
    if len(links):
        layout["annotations"] = [
            {
                "xref": "paper",
                "yref": "y",
                "x": 1,
                "y": groups.height,
                "xanchor": "right",
                "yanchor": "bottom",
                "showarrow": False,
                "text": f"cut at {groups.height:.2g}",
                "bgcolor": var("paper"),
                "font": {"size": 11},
            }
        ]
    narrow = {"xaxis.ticktext": [literal(shorten(result.feature_names[k], SHORT + 4)) for k in leaves]}
    return figure(traces, layout, narrow, width=(110 + 17 * count, 4000))


def _members(groups: FeatureGroups, number: int) -> str:
    members = groups.groups[number]
    return ", ".join(shorten(name, NAME_LENGTH) for name in members[:6]) + (" …" if len(members) > 6 else "")


def _branches(
    groups: FeatureGroups, links: Sequence[Sequence[float]], order: Sequence[int], colours: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return the branches of the tree: those within a group in its colour, those above in that of text."""
    count = len(order)
    x = np.zeros(count + len(links))
    height = np.zeros(count + len(links))
    x[list(order)] = np.arange(count)
    group: list[int | None] = [*groups.labels[list(groups.members)].tolist(), *([None] * len(links))]
    strokes: dict[int | None, list[tuple[float | None, float | None]]] = {}
    for node, (left, right, top, _) in enumerate(links, start=count):
        a, b = int(left), int(right)
        x[node], height[node] = (x[a] + x[b]) / 2, top
        one = group[node] = group[a] if group[a] == group[b] else None
        ends = [
            (float(x[a]), float(height[a])),
            (float(x[a]), top),
            (float(x[b]), top),
            (float(x[b]), float(height[b])),
        ]
        strokes.setdefault(one, []).extend([*ends, (None, None)])
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [across for across, _ in points],
            "y": [up for _, up in points],
            "showlegend": False,
            "hoverinfo": "skip",
            "line": {"color": var("ink"), "width": 1} if one is None else {"color": colours[one], "width": 2.5},
        }
        for one, points in strokes.items()
    ]


def substitutes_figure(substitutes: Sequence[Substitutes]) -> Figure | None:
    """Return the map of substitution: a row for every feature left out, with those that can stand in for it."""
    if not substitutes:
        return None
    asked = [substitutes[i] for i in side_by_side(substitutes)]
    rows = [one.feature for one in asked]
    columns = list(dict.fromkeys([*rows, *(name for one in asked for name in shown_set(one).features)]))
    needs = needs_of(asked, columns)
    cells = [[None if math.isnan(value) else value for value in line] for line in needs.tolist()]
    hover = [
        [
            f"without <b>{literal(shorten(row, NAME_LENGTH))}</b>,<br><b>{literal(shorten(column, NAME_LENGTH))}</b> "
            f"can stand in;<br>it then needs {decimal(value)} of the weight at least"
            if value is not None
            else ""
            for column, value in zip(columns, line, strict=True)
        ]
        for row, line in zip(rows, cells, strict=True)
    ]
    trace = {
        "type": "heatmap",
        "z": cells,
        "zmin": 0,
        "zmax": float(np.nanmax(needs)) if np.isfinite(needs).any() else 1.0,
        "colorscale": [[0, var("need-0")], [0.6, var("need-1")], [1, var("need-2")]],
        "hoverinfo": "text",
        "text": hover,
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "colorbar": {
            "orientation": "h",
            "thickness": 10,
            "len": 0.7,
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "outlinewidth": 0,
        },
    }
    # A second axis on the right bears what it costs to do without the feature and all its substitutes.
    prices = {"type": "scatter", "x": [None], "y": [None], "yaxis": "y2", "showlegend": False, "hoverinfo": "skip"}
    places = list(range(len(rows)))
    layout = blank(24 * len(rows) + 280, top=64)
    layout["xaxis"] = {
        "tickmode": "array",
        "tickvals": list(range(len(columns))),
        "ticktext": [literal(shorten(name, NAME_LENGTH)) for name in columns],
        "range": [-0.5, len(columns) - 0.5],
        "tickangle": -90 if len(columns) > FEW else "auto",
        "tickfont": {"size": 11},
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }
    layout["yaxis"] = name_axis(places, [shorten(name, NAME_LENGTH) for name in rows]) | {
        "range": [len(rows) - 0.5, -0.5],
        "title": {"text": "left out", "font": {"size": 11}},
    }
    layout["yaxis2"] = name_axis(places, [price_of(one) for one in asked]) | {
        "range": [len(rows) - 0.5, -0.5],
        "overlaying": "y",
        "side": "right",
    }
    layout["shapes"] = [
        {"type": "rect", "x0": k - 0.5, "x1": k + 0.5, "y0": k - 0.5, "y1": k + 0.5, "layer": "below"}
        | {"fillcolor": var("rule"), "line": {"width": 0}}
        for k in places
    ]
    layout["annotations"] = [
        {"xref": "paper", "yref": "paper", "x": 1, "y": 1, "xanchor": "right", "yanchor": "bottom", "yshift": 4}
        | {"showarrow": False, "text": "on the right: growth of the loss<br>without all of them", "align": "right"}
        | {"font": {"size": 11}}
    ]
    narrow = {
        "yaxis.ticktext": [literal(shorten(name, SHORT)) for name in rows],
        "xaxis.ticktext": [literal(shorten(name, SHORT)) for name in columns],
    }
    return figure([trace, prices], layout, narrow, width=(230 + 22 * len(columns), 420 + 64 * len(columns)))


def panels_figure(panels: Panels) -> Figure | None:
    """Return costs, features and scores of panels, one column for each."""
    if not len(panels):
        return None
    features = panel_features(panels)
    row = {name: k for k, name in enumerate(features)}
    columns = list(range(len(panels)))
    everywhere = [(x, y) for x in columns for y in range(len(features))]
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "x": columns,
            "y": [panel.cost for panel in panels],
            "width": 0.6,
            "yaxis": "y3",
            "showlegend": False,
            "text": [f"{panel.cost:.3g}" for panel in panels],
            "textposition": "outside",
            "cliponaxis": False,
            "hoverinfo": "text",
            "hovertext": [
                f"panel {x}: cost {panel.cost:g}" + ("" if panel.gap == 0.0 else "<br>a cheaper one is not ruled out")
                for x, panel in enumerate(panels)
            ],
            "marker": {
                "color": var("soft"),
                "line": line("soft", 1),
                "pattern": {
                    "shape": ["" if panel.gap == 0.0 else "/" for panel in panels],
                    "fgcolor": var("soft"),
                    "bgcolor": var("paper"),
                    "size": HATCH,
                    "solidity": 0.25,
                },
            },
        },
        {
            "type": "scatter",
            "mode": "markers",
            "x": [x for x, _ in everywhere],
            "y": [y for _, y in everywhere],
            "showlegend": False,
            "hoverinfo": "skip",
            "marker": {"size": 10, "color": var("rule")},
        },
    ]
    for x, panel in enumerate(panels):
        own = sorted(row[name] for name in panel.features)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": [x] * len(own),
                "y": own,
                "showlegend": False,
                "hoverinfo": "text",
                "hovertext": [f"<b>{literal(shorten(features[k], 80))}</b><br>in panel {x}" for k in own],
                "marker": {"size": 11, "color": var("ink")},
                "line": {"width": 2.5, "color": var("ink")},
            }
        )
    scored = [(x, panel.score) for x, panel in enumerate(panels) if panel.score is not None]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"{literal(panels.metric)} of the panel alone",
            "x": [x for x, _ in scored],
            "y": [score for _, score in scored],
            "yaxis": "y2",
            "hoverinfo": "text",
            "hovertext": [f"panel {x}: {literal(panels.metric)} {decimal(score)}" for x, score in scored],
            "marker": {"symbol": "diamond", "size": 9, "color": var("strong")},
        }
    )
    inner = ROW * max(len(features), 2) + 210
    layout = blank(inner + 110, top=24)
    split = (75 / inner, 105 / inner, 1 - 105 / inner, 1 - 75 / inner)
    layout["xaxis"] = axis("panel", range=[-0.6, len(panels) - 0.4]) | {
        "tickmode": "array",
        "tickvals": columns,
        "ticktext": [str(x) for x in columns],
        "showgrid": False,
        "anchor": "y2",
        "fixedrange": True,
    }
    layout["yaxis"] = name_axis(list(range(len(features))), [shorten(name, NAME_LENGTH) for name in features]) | {
        "range": [len(features) - 0.5, -0.5],
        "domain": [split[1], split[2]],
    }
    layout["yaxis2"] = axis("score", domain=[0, split[0]], fixedrange=True, nticks=4)
    most = max(panel.cost for panel in panels)
    layout["yaxis3"] = axis("cost", domain=[split[3], 1], fixedrange=True, nticks=4) | {
        "range": [0, 1.3 * most if most > 0 else 1.0]
    }
    values = [score for _, score in scored]
    if panels.baseline_score is not None and scored:
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"of all features: {decimal(panels.baseline_score)}",
                "x": [-0.6, len(panels) - 0.4],
                "y": [panels.baseline_score] * 2,
                "yaxis": "y2",
                "hoverinfo": "skip",
                "line": {"color": var("ink"), "width": 1, "dash": "dash"},
            }
        )
        values.append(panels.baseline_score)
    if values:
        room = 0.3 * (max(values) - min(values)) or 0.05
        layout["yaxis2"]["range"] = [min(values) - room, max(values) + room]
    narrow = {"yaxis.ticktext": [literal(shorten(name, SHORT)) for name in features]}
    return figure(traces, layout, narrow, width=(170 + 24 * len(panels), 380 + 90 * len(panels)))

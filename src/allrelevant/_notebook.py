"""How a result shows itself in a notebook: the table with bars, and the summary."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from allrelevant._summary import compared, cut, legend, pvalue

if TYPE_CHECKING:
    from allrelevant.result import RelevanceResult

__all__ = ["table_html"]

#: Features with a row of their own, and width of the longest bar in pixels.
ROWS, WIDTH = 60, 260
FILL = {"strong": "#0072b2", "weak": "#e69f00", "irrelevant": "#b0b0b0"}


def table_html(result: RelevanceResult) -> str:
    """Return the table of a result, of many features the most relevant, and its summary."""
    ranking = result.ranking()
    reach = result.thresholds.max_relevance
    end = max(float(result.intervals[:, 1].max()), reach if math.isfinite(reach) else 0.0, 1e-9)
    rows = [_row(result, int(k), end) for k in ranking[:ROWS]]
    if len(ranking) > ROWS:
        rows.append(f"<tr><td colspan='6'>… {len(ranking) - ROWS} more</td></tr>")
    heads = ("class", result.words.low, result.words.high, compared(result)[0], "")
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    below = "".join(f"<p>{escape(line)}</p>" for line in legend(result))
    summary = "<br>".join(escape(line) for line in result.summary().split("\n"))
    return (
        f"<table><tr><th style='text-align:left'>feature</th>{head}</tr>{''.join(rows)}</table>{below}<p>{summary}</p>"
    )


def _row(result: RelevanceResult, k: int, end: float) -> str:
    from allrelevant.result import RelevanceClass

    kind, (low, high) = RelevanceClass(int(result.classes[k])).label, result.intervals[k]
    inside = (
        f"margin-left:{WIDTH * low / end:.0f}px;width:{max(WIDTH * (high - low) / end, 2):.0f}px;"
        f"background:{FILL[kind]};height:12px"
    )
    bar = f"<div style='width:{WIDTH}px;background:#eee;height:12px'><div style='{inside}'></div></div>"
    name = escape(cut(result.feature_names[k]))
    chance = escape(pvalue(float(compared(result)[1][k]), result.thresholds.level))
    cells = "".join(f"<td>{one}</td>" for one in (result.label(k), f"{low:.3f}", f"{high:.3f}", chance, bar))
    return f"<tr><td style='text-align:left'>{name}</td>{cells}</tr>"

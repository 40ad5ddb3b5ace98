"""How a result shows itself in a notebook: the table with bars, and the summary."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from allrelevant.result import RelevanceResult

__all__ = ["table_html"]

#: Features with a row of their own, and width of the longest bar in pixels.
ROWS, WIDTH = 60, 260
FILL = {"strong": "#0072b2", "weak": "#e69f00", "irrelevant": "#b0b0b0"}


def table_html(result: RelevanceResult) -> str:
    """Return the table of a result, of many features the most relevant, and its summary."""
    ranking = result.ranking()
    end = max(float(result.intervals[:, 1].max()), result.thresholds.max_relevance, 1e-9)
    rows = [_row(result, int(k), end) for k in ranking[:ROWS]]
    if len(ranking) > ROWS:
        rows.append(f"<tr><td colspan='5'>… {len(ranking) - ROWS} more</td></tr>")
    ends = f"<th>{escape(result.words.low)}</th><th>{escape(result.words.high)}</th>"
    head = f"<tr><th style='text-align:left'>feature</th><th>class</th>{ends}<th></th></tr>"
    summary = "<br>".join(escape(line) for line in result.summary().split("\n"))
    return f"<table>{head}{''.join(rows)}</table><p>{summary}</p>"


def _row(result: RelevanceResult, k: int, end: float) -> str:
    from allrelevant._summary import cut
    from allrelevant.result import RelevanceClass

    kind, (low, high) = RelevanceClass(int(result.classes[k])).label, result.intervals[k]
    inside = (
        f"margin-left:{WIDTH * low / end:.0f}px;width:{max(WIDTH * (high - low) / end, 2):.0f}px;"
        f"background:{FILL[kind]};height:12px"
    )
    bar = f"<div style='width:{WIDTH}px;background:#eee;height:12px'><div style='{inside}'></div></div>"
    name = escape(cut(result.feature_names[k]))
    cells = f"<td style='text-align:left'>{name}</td><td>{result.label(k)}</td><td>{low:.3f}</td><td>{high:.3f}</td>"
    return f"<tr>{cells}<td>{bar}</td></tr>"

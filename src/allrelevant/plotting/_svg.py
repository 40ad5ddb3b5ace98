"""The drawing as SVG inside a web page, whose colours and font it takes on."""

from __future__ import annotations

import re
import warnings
from io import StringIO
from typing import Any

from allrelevant.plotting._draw import draw_legend, draw_rows, figure_size, require_matplotlib, row_positions
from allrelevant.plotting._rows import MAX_FEATURES, NAME_LENGTH, arrange
from allrelevant.plotting._style import PALETTE
from allrelevant.result import RelevanceResult

__all__ = ["interval_svg"]

_INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
LOOK: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be found, copied and read aloud
    "svg.hashsalt": "allrelevant",  # the same result gives the same file
    **dict.fromkeys(_INKED, PALETTE["ink"].light),
}


def interval_svg(result: RelevanceResult) -> str:
    """Return the drawing of :class:`~allrelevant.plotting.RelevanceDisplay` as an ``<svg>`` element.

    Every colour is a CSS variable of the palette, such as ``var(--ink)``, which the page has to define.
    """
    require_matplotlib("the drawing of a report")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    rows = arrange(result, max_features=MAX_FEATURES, sort=True, name_length=NAME_LENGTH)
    positions = row_positions(rows, sort=True)
    text = StringIO()
    with mpl.rc_context(), warnings.catch_warnings():
        # The browser's font draws the names, so signs that matplotlib's font lacks do no harm.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        mpl.rcParams.update(LOOK)
        figure = Figure(figsize=figure_size(positions), layout="constrained")
        ax = figure.add_subplot()
        draw_legend(ax, draw_rows(ax, rows, positions, result, whole_figure=True), below=True)
        figure.savefig(
            text,
            format="svg",
            transparent=True,
            metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
        )
    return for_page(text.getvalue())


def for_page(svg: str) -> str:
    svg = svg[svg.index("<svg") :]
    # A style sheet inside the drawing would act on the whole page.
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
    # Names are escaped in the text between the tags, so what is found here is a tag of matplotlib.
    return re.sub(r"<[^<>]*>", lambda tag: _tag_for_page(tag[0]), svg)


def _tag_for_page(tag: str) -> str:
    tag = re.sub(r"font-family: [^;\"]*;? ?", "", tag)
    tag = re.sub(r'fill="(#[0-9a-f]{6})"', r'style="fill: \1"', tag)
    variables = {shade.light: f"var(--{name})" for name, shade in PALETTE.items()}
    return re.sub(r"#[0-9a-f]{6}\b", lambda colour: variables.get(colour[0], colour[0]), tag)

"""The drawings of the page that stand still: for print, and for readers without scripts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING

from allrelevant.plotting import GroupsDisplay, PanelsDisplay, StabilityDisplay, SubstitutionDisplay
from allrelevant.plotting._axes import legend_outside
from allrelevant.plotting._draw import figure_size, row_positions
from allrelevant.plotting._rows import MAX_FEATURES, NAME_LENGTH, arrange
from allrelevant.plotting._svg import LOOK, for_page, interval_svg
from allrelevant.redundancy import FeatureGroups, Panels, Stability, Substitutes
from allrelevant.result import RelevanceResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["groups_drawing", "intervals_drawing", "panels_drawing", "stability_drawing", "substitutes_drawing"]


def intervals_drawing(result: RelevanceResult, name: str) -> str:
    """Return the relevance intervals as an ``<svg>`` element; `name` makes its inner names unique on the page."""
    return _named(interval_svg(result), name)


def groups_drawing(groups: FeatureGroups) -> str:
    """Return the tree above the bars as an ``<svg>`` element."""
    count = len(groups.members)
    longest = max((min(len(groups.result.feature_names[k]), NAME_LENGTH) for k in groups.members), default=0)

    def draw(figure: Figure) -> None:
        tree, bars = figure.subplots(2, sharex=True, height_ratios=[1.0, 1.3])
        GroupsDisplay.from_groups(groups, axes=(tree, bars))
        _legend_below(bars)

    return _svg((max(7.0, 1.5 + 0.3 * count), 5.0 + 0.07 * longest), draw, "groups")


def substitutes_drawing(substitutes: Sequence[Substitutes]) -> str:
    """Return the map of substitution as an ``<svg>`` element."""
    names = {name for one in substitutes for some in one.sets[:1] for name in some.features}
    columns = len(names | {one.feature for one in substitutes})

    def draw(figure: Figure) -> None:
        SubstitutionDisplay.from_substitutes(substitutes, ax=figure.add_subplot())

    return _svg((0.32 * max(columns, 3) + 4.2, 0.32 * max(len(substitutes), 3) + 3.2), draw, "substitutes")


def panels_drawing(panels: Panels) -> str:
    """Return costs, features and scores of panels as an ``<svg>`` element."""
    rows = 0.26 * max(2, len({name for panel in panels for name in panel.features}))

    def draw(figure: Figure) -> None:
        axes = figure.subplots(3, sharex=True, height_ratios=[1.1, rows, 1.1])
        PanelsDisplay.from_panels(panels, axes=axes)
        _legend_below(axes[2])

    return _svg((3.4 + 0.42 * max(len(panels), 5), 3.2 + 1.2 * rows), draw, "panels")


def stability_drawing(stability: Stability) -> str:
    """Return shares of classes and spread of intervals as an ``<svg>`` element."""
    rows = arrange(stability.result, max_features=MAX_FEATURES, sort=True, name_length=NAME_LENGTH)
    height = figure_size(row_positions(rows, sort=True))[1]

    def draw(figure: Figure) -> None:
        axes = figure.subplots(ncols=2, sharey=True, width_ratios=[1.0, 1.6])
        StabilityDisplay.from_stability(stability, axes=axes)
        _legend_below(axes[1])

    return _svg((11.0, height + 0.4), draw, "stability")


def _legend_below(ax: Axes) -> None:
    """Move the legend out of the axes: this figure has nothing else in it."""
    legend = ax.get_legend()
    if legend is not None:
        handles = [handle for handle in legend.legend_handles if handle is not None]
        legend.remove()
        legend_outside(ax, handles, own_figure=True)


def _svg(size: tuple[float, float], draw: Callable[[Figure], None], name: str) -> str:
    """Return a drawing on a figure of its own, of which pyplot knows nothing."""
    from matplotlib.figure import Figure

    text = StringIO()
    with _page_style():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=nothing)
    return _named(for_page(text.getvalue()), name)


@contextmanager
def _page_style() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        # The browser's font draws the names, so signs that matplotlib's font lacks do no harm.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        mpl.rcdefaults()
        mpl.rcParams.update(LOOK)
        yield


def _named(svg: str, name: str) -> str:
    """Put a name before all inner names, which must differ on the page, and drop those that nothing refers to."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]*)', svg))

    def rename(tag: re.Match[str]) -> str:
        kept = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", tag[0])
        return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-", kept)

    return re.sub(r"<[^<>]*>", rename, svg)

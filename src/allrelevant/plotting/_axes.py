"""What every drawing needs: names, colours, limits and legends on matplotlib axes, and figures of their own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from allrelevant.errors import MissingExtra
from allrelevant.plotting._style import CLASS_STYLES, mix
from allrelevant.result import RelevanceClass, RelevanceResult

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = [
    "Limit",
    "POINTS",
    "check_answers",
    "class_look",
    "class_patch",
    "draw_limits",
    "given_axes",
    "grey",
    "ink",
    "legend_outside",
    "limits_of",
    "literal",
    "name_ticks",
    "new_figure",
    "paper",
    "points",
    "require_matplotlib",
    "say",
    "whole_figure",
]

POINTS = 72  # per inch

Limit = tuple[float, Any, str]
"""Value, dashes and label of a line where noise ends."""


def require_matplotlib(purpose: str) -> None:
    """Raise :class:`~allrelevant.errors.MissingExtra` unless matplotlib can be imported."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra("matplotlib", "plot", purpose) from error


def check_answers(estimator: Any, question: str) -> None:
    """See that an estimator is fitted, and of a method that answers a question, such as ``"panels"``.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    TypeError
        If it has no such method.
    """
    check_is_fitted(estimator, "result_")
    if not hasattr(estimator, question):
        raise TypeError(
            f"{type(estimator).__name__} has no {question}(), which this display draws; fit an estimator that has, "
            "such as LinearRelevanceClassifier, or use RelevanceDisplay"
        )


def new_figure(width: float, height: float) -> Figure:
    """Return a figure that pyplot shows, of a size in inches."""
    from matplotlib import pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def whole_figure(ax: Axes) -> Figure:
    """Return the figure that holds the axes, the whole one also where they are in a subfigure."""
    return ax.figure.canvas.figure


def given_axes(axes: Iterable[Axes], parts: Sequence[str]) -> list[Axes]:
    """Return the axes of a user as a list.

    Raises
    ------
    ValueError
        If they are not one per part of the drawing.
    """
    found = list(axes)
    if len(found) != len(parts):
        raise ValueError(
            f"axes holds {len(found)} axes; give {len(parts)}, for {', '.join(parts[:-1])} and {parts[-1]}, or None"
        )
    return found


def points(ax: Axes, *, vertical: bool) -> float:
    """Return how many points the axes measure, as they are placed now."""
    extent = ax.get_window_extent()
    return POINTS * (extent.height if vertical else extent.width) / ax.figure.dpi


def ink() -> str:
    """Return the colour of text, so that the drawing follows the style of the user, dark ones included."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def paper(ax: Axes) -> str:
    """Return the colour behind the drawing, in hexadecimal."""
    from matplotlib.colors import to_hex

    return to_hex(ax.get_facecolor())


def grey(ax: Axes, share: float) -> str:
    """Return the colour of text with so much of it in the paper, in hexadecimal."""
    from matplotlib.colors import to_hex

    return mix(to_hex(ink()), paper(ax), share)


def literal(name: str) -> str:
    r"""Return a name as matplotlib must get it: a dollar sign would start mathematics.

    Examples
    --------
    >>> literal("cost in $")
    'cost in \\$'
    """
    return name.replace("$", r"\$")


def name_ticks(axis: Axis, positions: Sequence[float], names: Sequence[str], room: float, **look: Any) -> None:
    """Write names as ticks, in letters as large as `room` points from one to the next allow.

    Where there is too little room for all, some are left out.
    """
    size = min(9.0, max(5.0, 0.75 * room))
    every = max(1, math.ceil(1.05 * size / room))
    axis.set_ticks(positions[::every], [literal(name) for name in names[::every]], fontsize=size, **look)
    axis.set_tick_params(length=0)


def class_look(kind: RelevanceClass, ax: Axes, linewidth: float = 1.2) -> dict[str, Any]:
    """Return how a bar of a class is filled and outlined."""
    style = CLASS_STYLES[kind]
    return {
        "facecolor": mix(style.shade.light, paper(ax), style.fill),
        "edgecolor": style.shade.light,
        "hatch": style.hatch,
        # The outline keeps an interval of no length visible, as a stroke of the height of its bar.
        "linewidth": linewidth,
    }


def class_patch(kind: RelevanceClass, ax: Axes, label: str, linewidth: float = 1.2) -> Artist:
    """Return the entry of a class in a legend."""
    from matplotlib.patches import Patch

    return Patch(label=label, **class_look(kind, ax, linewidth))


def limits_of(result: RelevanceResult) -> list[Limit]:
    """Return the limits between noise and relevance that all features share, the least first.

    There are none where every feature has a limit of its own.
    """
    if not math.isfinite(result.thresholds.max_relevance) and np.isfinite(result.adjusted_pvalues).any():
        return []
    limits = [
        (result.thresholds.min_relevance, (0, (1, 1.5)), result.words.min_limit),
        (result.thresholds.max_relevance, (0, (5, 2)), result.words.max_limit),
    ]
    return sorted(
        (value, dashes, f"{meaning} {value:.2g}" if value > 1e-4 else f"{meaning} 0")
        for value, dashes, meaning in limits
        if meaning and math.isfinite(value)
    )


def draw_limits(ax: Axes, result: RelevanceResult, *, upright: bool) -> list[Artist]:
    """Draw the limits across the axes, upright or level, and return them as entries of a legend."""
    draw = ax.axvline if upright else ax.axhline
    return [
        draw(value, color=ink(), linestyle=dashes, linewidth=1.0, zorder=3, label=text)
        for value, dashes, text in limits_of(result)
    ]


def legend_outside(ax: Axes, handles: Sequence[Artist], *, own_figure: bool, ncols: int = 3) -> None:
    """Write the legend below a figure that is all ours, or into axes that are not."""
    if not handles:
        return
    if own_figure:
        figure = whole_figure(ax)
        figure.legend(handles=handles, loc="outside lower center", ncols=ncols, frameon=False, fontsize=9)
    else:
        ax.legend(handles=handles, loc="best", fontsize=8)


def say(axes: Sequence[Axes], text: str) -> None:
    """Write a sentence where there is nothing to draw."""
    for ax in axes:
        ax.set_axis_off()
    axes[0].text(0.5, 0.5, text, ha="center", va="center", transform=axes[0].transAxes, color=ink(), wrap=True)

"""The drawing of panels: which features each consists of, what it costs and how good it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from allrelevant.plotting._axes import (
    POINTS,
    check_answers,
    given_axes,
    grey,
    ink,
    legend_outside,
    name_ticks,
    new_figure,
    points,
    require_matplotlib,
    say,
    whole_figure,
)
from allrelevant.plotting._rows import NAME_LENGTH, at_least_one, shorten
from allrelevant.redundancy import Panels

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PanelsDisplay"]

ROW, COLUMN, LARGEST = 0.24, 0.42, 60.0  # inches from row to row and from column to column, and of all
COSTS, SCORES = 1.1, 1.1  # inches of height for the other two charts


class PanelsDisplay:
    """Panels as columns: their costs on top, their features as dots, their scores below.

    Features are rows, those in most panels first. The cost of a panel is hatched where a cheaper one is not ruled out.
    Scores are cross-validated, on the features of the panel alone; a dashed line shows the score of all features.

    It is recommended to create a display by :meth:`from_estimator` or :meth:`from_panels`.

    Parameters
    ----------
    panels : Panels
        What is drawn.

    Attributes
    ----------
    panels : Panels
        What is drawn.
    axes_ : tuple of matplotlib Axes
        Axes of the costs, of the features and of the scores of the last drawing.
    figure_ : matplotlib Figure
        Figure that holds the axes.

    See Also
    --------
    SubstitutionDisplay : Which features can stand in for which.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.plotting import PanelsDisplay
    >>> X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> display = PanelsDisplay.from_estimator(model, costs={"x3": 5.0})
    >>> costs, features, scores = display.axes_
    >>> title = costs.set_title("The cheapest panels")
    """

    axes_: tuple[Axes, Axes, Axes]
    figure_: Figure

    def __init__(self, panels: Panels) -> None:
        self.panels = panels

    @classmethod
    def from_panels(
        cls, panels: Panels, *, axes: Iterable[Axes] | None = None, name_length: int = NAME_LENGTH
    ) -> PanelsDisplay:
        """Draw panels.

        Parameters
        ----------
        panels : Panels
            What to draw.
        axes, name_length
            See :meth:`plot`.

        Returns
        -------
        PanelsDisplay
            The display, drawn.
        """
        return cls(panels).plot(axes, name_length=name_length)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, axes: Iterable[Axes] | None = None, name_length: int = NAME_LENGTH, **options: Any
    ) -> PanelsDisplay:
        """Find panels of a fitted estimator and draw them.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this library.
        axes, name_length
            See :meth:`plot`.
        **options
            Passed on to :meth:`~allrelevant.LinearRelevanceClassifier.panels`.

        Returns
        -------
        PanelsDisplay
            The display, drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no such answers, as forests have none.
        """
        check_answers(estimator, "panels")
        return cls.from_panels(estimator.panels(**options), axes=axes, name_length=name_length)

    def plot(self, axes: Iterable[Axes] | None = None, *, name_length: int = NAME_LENGTH) -> PanelsDisplay:
        """Draw.

        Parameters
        ----------
        axes : three matplotlib Axes, default=None
            Axes for the costs, the features and the scores; let them share their x axis. If None, a new figure is
            made, as large as its rows and columns need.
        name_length : int, default=32
            Characters of a name that are written; longer names lose their middle to an ellipsis.

        Returns
        -------
        PanelsDisplay
            The display itself, with ``axes_`` and ``figure_``.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        ValueError
            If `axes` does not hold three axes.
        """
        require_matplotlib("PanelsDisplay.plot")
        at_least_one("name_length", name_length)
        panels, features = self.panels, _rows(self.panels)
        own_figure = axes is None
        if axes is None:
            height = min(LARGEST, ROW * max(len(features), 2))
            figure = new_figure(min(LARGEST, 3.4 + COLUMN * max(len(panels), 5)), COSTS + height + SCORES + 1.0)
            axes = figure.subplots(3, sharex=True, height_ratios=[COSTS, height, SCORES])
        top, middle, bottom = given_axes(axes, ("the costs", "the features", "the scores"))
        self.axes_, self.figure_ = (top, middle, bottom), whole_figure(top)
        if not len(panels):
            say([middle, top, bottom], panels.summary())
            return self
        room = POINTS * ROW if own_figure else points(middle, vertical=True) / len(features)
        _costs(top, panels)
        names = [shorten(name, name_length) for name in features]
        _members(middle, panels, features, room)
        name_ticks(middle.yaxis, list(range(len(features))), names, room)
        handles = _scores(bottom, panels)
        legend_outside(bottom, handles, own_figure=own_figure)
        return self


def _rows(panels: Panels) -> list[str]:
    """Return the features of any panel, those of most panels first, else in the order of the data."""
    counts = Counter(name for panel in panels for name in panel.features)
    return sorted((name for name in panels.feature_names if name in counts), key=lambda name: -counts[name])


def _columns(ax: Axes, panels: Panels) -> None:
    ax.set(xlim=(-0.6, len(panels) - 0.4))
    ax.set_xticks(range(len(panels)), [])
    ax.tick_params(axis="x", length=0, labelbottom=False)
    ax.spines[["top", "right"]].set_visible(False)


def _costs(ax: Axes, panels: Panels) -> None:
    costs = [panel.cost for panel in panels]
    colour, pale = grey(ax, 0.65), grey(ax, 0.2)
    bars = ax.bar(
        range(len(panels)),
        costs,
        width=0.62,
        color=[colour if panel.gap == 0.0 else pale for panel in panels],
        edgecolor=colour,
        zorder=2,
    )
    for bar, panel in zip(bars, panels, strict=True):
        bar.set_hatch(None if panel.gap == 0.0 else "////")
    ax.bar_label(bars, [f"{cost:.3g}" for cost in costs], padding=2, fontsize=8, color=ink())
    _columns(ax, panels)
    ax.set_ylim(0.0, 1.25 * max(costs) if max(costs) > 0 else 1.0)
    ax.set_ylabel("cost")
    if any(panel.gap > 0.0 for panel in panels):
        ax.set_title("hatched: a cheaper panel is not ruled out", loc="right", fontsize=8, color=ink())


def _members(ax: Axes, panels: Panels, features: Sequence[str], room: float) -> None:
    row = {name: k for k, name in enumerate(features)}
    size = min(8.0, max(2.0, 0.45 * room))
    for k in range(0, len(features), 2):  # stripes lead the eye
        ax.axhspan(k - 0.5, k + 0.5, color=grey(ax, 0.05), linewidth=0, zorder=0)
    everywhere = np.array([(x, y) for x in range(len(panels)) for y in range(len(features))])
    ax.plot(*everywhere.T, linestyle="none", marker="o", markersize=size, color=grey(ax, 0.14), zorder=1)
    for x, panel in enumerate(panels):
        own = sorted(row[name] for name in panel.features)
        ax.plot(
            [x] * len(own),
            own,
            marker="o",
            markersize=size,
            linewidth=0.25 * size,
            color=grey(ax, 0.85),
            zorder=2,
            label=f"panel {x}",
        )
    _columns(ax, panels)
    ax.set_ylim(len(features) - 0.5, -0.5)
    ax.spines[["left", "bottom"]].set_visible(False)


def _scores(ax: Axes, panels: Panels) -> list[Artist]:
    scored = [(x, panel.score) for x, panel in enumerate(panels) if panel.score is not None]
    _columns(ax, panels)
    ax.set_xticks(range(len(panels)), [str(x) for x in range(len(panels))], fontsize=8)
    ax.tick_params(axis="x", labelbottom=True)
    ax.set_xlabel("panel")
    if not scored:
        ax.set_yticks([])
        ax.text(0.5, 0.5, "too few samples for scores", ha="center", va="center", transform=ax.transAxes, color=ink())
        return []
    handles: list[Artist] = list(
        ax.plot(
            *zip(*scored, strict=True),
            linestyle="none",
            marker="D",
            markersize=6,
            color=grey(ax, 0.85),
            zorder=3,
            label=f"{panels.metric} in cross-validation, of the panel alone",
        )
    )
    if panels.baseline_score is not None:
        whole = panels.baseline_score
        handles.append(
            ax.axhline(
                whole,
                color=ink(),
                linestyle=(0, (5, 2)),
                linewidth=1.0,
                zorder=2,
                label=f"of all features: {whole:.3f}",
            )
        )
    ax.margins(y=0.25)
    ax.set_ylabel(panels.metric)
    ax.grid(axis="y", color=ink(), alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)
    return handles

"""The drawing of stability: how classes and intervals vary over bootstraps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.plotting._axes import (
    check_answers,
    class_look,
    given_axes,
    ink,
    legend_outside,
    name_ticks,
    new_figure,
    paper,
    require_matplotlib,
    whole_figure,
)
from allrelevant.plotting._draw import draw_rows, figure_size, row_positions, row_room
from allrelevant.plotting._rows import MAX_FEATURES, NAME_LENGTH, Row, arrange
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.redundancy import Stability

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["StabilityDisplay"]

WIDTH = 11.0
COVERAGE = 0.9
STILL = 1e-4  # an end that varies by less has no whisker


class StabilityDisplay:
    """How far classes and intervals can be relied on: shares of the classes over bootstraps, and spread of the ends.

    On the left, every bar is divided by how often a feature was strongly relevant, weakly relevant and irrelevant when
    the samples were drawn again. On the right are the intervals on all samples, as in :class:`RelevanceDisplay`, each
    with two whiskers: where the middle 90 % of the bootstraps have its ``minRel`` (upper whisker) and its ``maxRel``
    (lower whisker). An end that did not vary has none.

    It is recommended to create a display by :meth:`from_estimator` or :meth:`from_stability`.

    Parameters
    ----------
    stability : Stability
        What is drawn.

    Attributes
    ----------
    stability : Stability
        What is drawn.
    axes_ : tuple of matplotlib Axes
        Axes of the shares and of the intervals of the last drawing.
    figure_ : matplotlib Figure
        Figure that holds the axes.

    See Also
    --------
    RelevanceDisplay : The intervals alone.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.plotting import StabilityDisplay
    >>> X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> display = StabilityDisplay.from_estimator(model, n_bootstraps=5)
    >>> shares, intervals = display.axes_
    >>> title = shares.set_title("Would other samples say the same?")
    """

    axes_: tuple[Axes, Axes]
    figure_: Figure

    def __init__(self, stability: Stability) -> None:
        self.stability = stability

    @classmethod
    def from_stability(
        cls,
        stability: Stability,
        *,
        axes: Iterable[Axes] | None = None,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> StabilityDisplay:
        """Draw the answer of :meth:`~allrelevant.LinearRelevanceClassifier.stability`.

        Parameters
        ----------
        stability : Stability
            What to draw.
        axes, max_features, sort, name_length
            See :meth:`plot`.

        Returns
        -------
        StabilityDisplay
            The display, drawn.
        """
        return cls(stability).plot(axes, max_features=max_features, sort=sort, name_length=name_length)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        axes: Iterable[Axes] | None = None,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
        **options: Any,
    ) -> StabilityDisplay:
        """Run bootstraps of a fitted estimator and draw how they vary.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this library.
        axes, max_features, sort, name_length
            See :meth:`plot`.
        **options
            Passed on to :meth:`~allrelevant.LinearRelevanceClassifier.stability`.

        Returns
        -------
        StabilityDisplay
            The display, drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no such answers, as forests have none.
        """
        check_answers(estimator, "stability")
        found = estimator.stability(**options)
        return cls.from_stability(found, axes=axes, max_features=max_features, sort=sort, name_length=name_length)

    def plot(
        self,
        axes: Iterable[Axes] | None = None,
        *,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> StabilityDisplay:
        """Draw.

        Parameters
        ----------
        axes : pair of matplotlib Axes, default=None
            Axes for the shares and for the intervals; let them share their y axis. If None, a new figure is made, as
            high as its rows need.
        max_features : int or None, default=40
            Features with a row of their own, as in :meth:`RelevanceDisplay.plot`. The others share one row per class,
            with their mean shares and without whiskers.
        sort : bool, default=True
            Whether the rows come in the order of rank. If False they keep the order of the columns.
        name_length : int, default=32
            Characters of a name that are written; longer names lose their middle to an ellipsis.

        Returns
        -------
        StabilityDisplay
            The display itself, with ``axes_`` and ``figure_``.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        ValueError
            If `axes` does not hold two axes.
        """
        require_matplotlib("StabilityDisplay.plot")
        result, spread = self.stability.result, self.stability.spread(COVERAGE)
        rows = arrange(result, max_features=max_features, sort=sort, name_length=name_length)
        positions = row_positions(rows, sort=sort)
        own_figure = axes is None
        if axes is None:
            figure = new_figure(WIDTH, figure_size(positions)[1])
            figure.set_layout_engine("constrained", wspace=0.05)
            axes = figure.subplots(ncols=2, sharey=True, width_ratios=[1.0, 1.6])
        shares, intervals = given_axes(axes, ("the shares", "the intervals"))
        reach = float(spread[[row.members[0] for row in rows if row.n_features == 1], 1].max(initial=0.0))
        handles = draw_rows(intervals, rows, positions, result, whole_figure=own_figure, reach=reach)
        room = row_room(intervals, positions, whole_figure=own_figure)
        handles += _whiskers(intervals, rows, positions, spread, room, (result.words.low, result.words.high))
        _shares(shares, rows, positions, self.stability, room)
        shares.set_ylim(intervals.get_ylim())
        intervals.tick_params(axis="y", labelleft=False)
        legend_outside(intervals, handles, own_figure=own_figure)
        self.axes_, self.figure_ = (shares, intervals), whole_figure(shares)
        return self


def _shares(ax: Axes, rows: Sequence[Row], positions: NDArray[np.float64], stability: Stability, room: float) -> None:
    parts = np.array([stability.shares[list(row.members)].mean(axis=0) for row in rows])
    left = np.zeros(len(rows))
    for kind, style in CLASS_STYLES.items():  # the strongest first
        some = parts[:, kind] > 0
        ax.barh(
            positions[some],
            parts[some, kind],
            left=left[some],
            height=0.62,
            label=style.phrase,
            zorder=2,
            **class_look(kind, ax, min(1.2, max(0.4, 0.08 * room))),
        )
        left += parts[:, kind]
    name_ticks(ax.yaxis, positions.tolist(), [row.label for row in rows], room)
    ax.set_xlim(-0.012, 1.012)
    ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    ax.set_xlabel(f"share of {stability.n_bootstraps} bootstraps of the samples")
    ax.spines[["top", "right", "left"]].set_visible(False)


def _whiskers(
    ax: Axes,
    rows: Sequence[Row],
    positions: NDArray[np.float64],
    spread: NDArray[np.float64],
    room: float,
    names: tuple[str, str],
) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import AbstractPathEffect, withStroke

    halo: list[AbstractPathEffect] = [withStroke(linewidth=2.8, foreground=paper(ax))]  # visible on a full bar, too
    single = [(row.members[0], y) for row, y in zip(rows, positions.tolist(), strict=True) if row.n_features == 1]
    features, heights = [k for k, _ in single], np.array([y for _, y in single])
    look: dict[str, Any] = {"color": ink(), "path_effects": halo, "zorder": 4.5}
    size = min(4.0, max(1.0, 0.22 * room))
    for end, shift in enumerate((-0.17, 0.17)):
        low, high = spread[features, end].T
        varied = high - low > STILL
        low, high, level = low[varied], high[varied], heights[varied] + shift
        ax.hlines(level, low, high, linewidth=1.1, label=f"{names[end]} in bootstraps", **look)
        ends, twice = np.concatenate([low, high]), np.concatenate([level, level])
        ax.plot(ends, twice, linestyle="none", marker="|", markersize=size, label="_ends", **look)
    label = f"middle {100 * COVERAGE:.0f} % of both ends over the bootstraps"
    return [Line2D([], [], color=ink(), linewidth=1.1, marker="|", markersize=6, label=label)]

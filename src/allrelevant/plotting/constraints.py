"""The drawing of what constraints leave: intervals before and after some features are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.plotting._axes import check_answers, grey, ink, new_figure, require_matplotlib, whole_figure
from allrelevant.plotting._draw import draw_legend, draw_rows, figure_size, row_positions, row_room
from allrelevant.plotting._rows import MAX_FEATURES, NAME_LENGTH, Row, arrange
from allrelevant.result import RelevanceClass, RelevanceResult

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ConstraintDisplay"]

MOVED = 1e-4  # limits that are closer than this are a value


class ConstraintDisplay:
    """Relevance intervals under constraints, over the intervals without.

    Bars are those of :class:`RelevanceDisplay`, for near-optimal models that meet the constraints. A pale outline
    behind shows the interval without constraints. Names of features that are held are bold, and brackets enclose what
    they are held to. On the right stands what they are held to, and for other features how their class changed.

    It is recommended to create a display by :meth:`from_estimator` or :meth:`from_result`.

    Parameters
    ----------
    result : RelevanceResult
        What is drawn: the answer of :meth:`~allrelevant.LinearRelevanceClassifier.constrain`.

    Attributes
    ----------
    result : RelevanceResult
        What is drawn.
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure that holds the axes.

    Raises
    ------
    ValueError
        If the result has no constraints.

    See Also
    --------
    RelevanceDisplay : The intervals alone.

    Notes
    -----
    The extremes of different features are in general not attained by the same model.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.plotting import ConstraintDisplay
    >>> X, y, _ = make_relevance_classification(200, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> display = ConstraintDisplay.from_estimator(model, {"x1": 0.0})
    >>> title = display.ax_.set_title("Without x1")
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, result: RelevanceResult) -> None:
        if result.unconstrained is None:
            raise ValueError("the result has no constraints; draw that of constrain(), or use RelevanceDisplay")
        self.result = result

    @classmethod
    def from_result(
        cls,
        result: RelevanceResult,
        *,
        ax: Axes | None = None,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> ConstraintDisplay:
        """Draw a result that has constraints.

        Parameters
        ----------
        result : RelevanceResult
            What to draw.
        ax, max_features, sort, name_length
            See :meth:`plot`.

        Returns
        -------
        ConstraintDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the result has no constraints.
        """
        return cls(result).plot(ax, max_features=max_features, sort=sort, name_length=name_length)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        constraints: Mapping[Any, Any],
        *,
        ax: Axes | None = None,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
        **options: Any,
    ) -> ConstraintDisplay:
        """Hold features of a fitted estimator and draw what that leaves.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this library.
        constraints : dict
            Features with the relevance they are held at.
        ax, max_features, sort, name_length
            See :meth:`plot`.
        **options
            Passed on to :meth:`~allrelevant.LinearRelevanceClassifier.constrain`.

        Returns
        -------
        ConstraintDisplay
            The display, drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no such answers, as forests have none.
        ValueError
            If there is no constraint.
        """
        check_answers(estimator, "constrain")
        return cls.from_result(
            estimator.constrain(constraints, **options),
            ax=ax,
            max_features=max_features,
            sort=sort,
            name_length=name_length,
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> ConstraintDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is made, as high as its rows need.
        max_features : int or None, default=40
            Features with a row of their own, as in :meth:`RelevanceDisplay.plot`. Features that are held or changed
            their class have one in any case.
        sort : bool, default=True
            Whether the rows come in the order of rank. If False they keep the order of the columns.
        name_length : int, default=32
            Characters of a name that are written; longer names lose their middle to an ellipsis.

        Returns
        -------
        ConstraintDisplay
            The display itself, with ``ax_`` and ``figure_``.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        """
        require_matplotlib("ConstraintDisplay.plot")
        held = self._held()
        remarks = self._changes() | {k: _words(low, high) for k, (low, high) in held.items()}
        rows = arrange(self.result, max_features=max_features, sort=sort, name_length=name_length, keep=set(remarks))
        positions = row_positions(rows, sort=sort)
        free = self._free()
        own_figure = ax is None
        if ax is None:
            ax = new_figure(*figure_size(positions)).add_subplot()
        reach = max([*free[:, 1].tolist(), *(high for _, high in held.values())])
        handles = draw_rows(ax, rows, positions, self.result, whole_figure=own_figure, reach=reach)
        room = row_room(ax, positions, whole_figure=own_figure)
        handles += _ghosts(ax, rows, positions, free)
        handles += _brackets(ax, rows, positions, held, room)
        _remarks(ax, rows, positions, remarks, room)
        bold = {y for row, y in zip(rows, positions.tolist(), strict=True) if row.members[0] in held}
        for y, name in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True):
            name.set_fontweight("bold" if y in bold else "normal")
        draw_legend(ax, handles, below=own_figure)
        self.ax_ = ax
        self.figure_ = whole_figure(ax)
        return self

    def _free(self) -> NDArray[np.float64]:
        """Return the intervals without constraints, which a display always has."""
        free = self.result.unconstrained
        return self.result.intervals if free is None else free

    def _held(self) -> dict[int, tuple[float, float]]:
        """Return what features, by position, are held to; an open end is that of the interval."""
        result = self.result
        place = {name: k for k, name in enumerate(result.feature_names)}
        held = {place[name]: limits for name, limits in result.constraints.items()}
        return {k: (low, min(high, max(low, float(self._free()[k, 1])))) for k, (low, high) in held.items()}

    def _changes(self) -> dict[int, str]:
        """Return from which class to which features changed."""
        now = self.result.classes
        former = now if self.result.unconstrained_classes is None else self.result.unconstrained_classes
        pairs = enumerate(zip(former.tolist(), now.tolist(), strict=True))
        return {k: f"{RelevanceClass(a).label} → {RelevanceClass(b).label}" for k, (a, b) in pairs if a != b}


def _words(low: float, high: float) -> str:
    if high == 0.0:
        return "excluded"
    return f"held at {low:.2g}" if high - low <= MOVED else f"held to {low:.2g}–{high:.2g}"


def _ghosts(ax: Axes, rows: Sequence[Row], positions: NDArray[np.float64], free: NDArray[np.float64]) -> list[Artist]:
    from matplotlib.patches import Patch

    look: dict[str, Any] = {
        "facecolor": grey(ax, 0.05),
        "edgecolor": grey(ax, 0.45),
        "linewidth": 0.8,
        "linestyle": (0, (3, 2)),
    }
    low = np.array([free[list(row.members), 0].min() for row in rows])
    high = np.array([free[list(row.members), 1].max() for row in rows])
    label = "without the constraints"
    ax.barh(positions, high - low, left=low, height=0.84, zorder=1.5, label=label, **look)
    return [Patch(label=label, **look)]


def _brackets(
    ax: Axes,
    rows: Sequence[Row],
    positions: NDArray[np.float64],
    held: Mapping[int, tuple[float, float]],
    room: float,
) -> list[Artist]:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    if not held:
        return []
    left, right = ax.get_xlim()
    arm = 0.007 * (right - left)
    strokes = []
    for row, y in zip(rows, positions.tolist(), strict=True):
        if row.n_features == 1 and row.members[0] in held:
            low, high = held[row.members[0]]
            for end, way in ((low, -arm), (high, arm)):
                strokes.append([(end, y - 0.46), (end + way, y - 0.46), (end + way, y + 0.46), (end, y + 0.46)])
    width = min(2.0, max(0.8, 0.14 * room))
    ax.add_collection(
        LineCollection(strokes, colors=ink(), linewidths=width, zorder=5, label="held to this", clip_on=False),
        autolim=False,
    )
    return [Line2D([], [], linestyle="none", marker="s", fillstyle="none", color=ink(), label="held to this")]


def _remarks(
    ax: Axes, rows: Sequence[Row], positions: NDArray[np.float64], remarks: Mapping[int, str], room: float
) -> None:
    for row, y in zip(rows, positions.tolist(), strict=True):
        if row.n_features == 1 and row.members[0] in remarks:
            ax.annotate(
                remarks[row.members[0]],
                (1.0, y),
                xycoords=ax.get_yaxis_transform(),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=min(9.0, max(5.0, 0.75 * room)),
                color=ink(),
            )

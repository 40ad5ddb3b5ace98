"""The drawing of relevance intervals, one bar per feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from allrelevant.plotting._axes import new_figure, require_matplotlib, whole_figure
from allrelevant.plotting._draw import draw_legend, draw_rows, figure_size, row_positions
from allrelevant.plotting._rows import MAX_FEATURES, NAME_LENGTH, arrange
from allrelevant.result import RelevanceResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RelevanceDisplay"]


class RelevanceDisplay:
    """Relevance intervals as horizontal bars, one row per feature.

    A bar reaches from ``minRel`` to ``maxRel``. Its filling tells the class: full for strongly relevant,
    hatched for weakly relevant, hollow for irrelevant; the colours stay distinct for colour-blind readers.
    A diamond marks the share of weight in the one optimal model that the intervals were built around.
    Vertical lines show where noise ends.

    Of forests, a bar holds the shares of importance that the feature has in the middle 90 % of them, a diamond marks
    the mean share, and the line shows what permuted features reach. A question mark follows the name of a feature
    whose class is a best guess.

    It is recommended to create a display by :meth:`from_estimator` or :meth:`from_result`.

    Parameters
    ----------
    result : RelevanceResult
        What is drawn.

    Attributes
    ----------
    result : RelevanceResult
        What is drawn.
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure that holds the axes.

    See Also
    --------
    allrelevant.report.write_report : The drawing with table and explanation as a web page.

    Notes
    -----
    The extremes of different features are in general not attained by the same model.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.plotting import RelevanceDisplay
    >>> X, y, _ = make_relevance_classification(
    ...     n_samples=100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    ... )
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> display = RelevanceDisplay.from_estimator(model)
    >>> title = display.ax_.set_title("Which features matter")
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, result: RelevanceResult) -> None:
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
    ) -> RelevanceDisplay:
        """Draw a result.

        Parameters
        ----------
        result : RelevanceResult
            What to draw.
        ax, max_features, sort, name_length
            See :meth:`plot`.

        Returns
        -------
        RelevanceDisplay
            The display, drawn.
        """
        return cls(result).plot(ax, max_features=max_features, sort=sort, name_length=name_length)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: Axes | None = None,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> RelevanceDisplay:
        """Draw the result of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this library, that is one with the attribute ``result_``.
        ax, max_features, sort, name_length
            See :meth:`plot`.

        Returns
        -------
        RelevanceDisplay
            The display, drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(estimator, "result_")
        return cls.from_result(estimator.result_, ax=ax, max_features=max_features, sort=sort, name_length=name_length)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        max_features: int | None = MAX_FEATURES,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> RelevanceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is made, as high as its rows need. On axes of your own the
            names shrink with the room there is, and where there is too little some are left out.
        max_features : int or None, default=40
            Features with a row of their own, the highest ranking first: by class, then by ``maxRel``. The
            others share one thin bar per class, which spans all their intervals, with a name such as
            "… 150 irrelevant, up to 0.02". None gives every feature its row.
        sort : bool, default=True
            Whether the rows come in the order of rank, in one section per class. If False they keep the order
            of the columns.
        name_length : int, default=32
            Characters of a name that are written; longer names lose their middle to an ellipsis.

        Returns
        -------
        RelevanceDisplay
            The display itself, with ``ax_`` and ``figure_``.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        """
        require_matplotlib("RelevanceDisplay.plot")
        rows = arrange(self.result, max_features=max_features, sort=sort, name_length=name_length)
        positions = row_positions(rows, sort=sort)
        own_figure = ax is None
        if ax is None:
            ax = new_figure(*figure_size(positions)).add_subplot()
        handles = draw_rows(ax, rows, positions, self.result, whole_figure=own_figure)
        draw_legend(ax, handles, below=own_figure)
        self.ax_ = ax
        self.figure_ = whole_figure(ax)
        return self

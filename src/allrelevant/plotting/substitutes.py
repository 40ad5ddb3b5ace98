"""The map of substitution: which features can stand in for which, and what doing without all of them costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from allrelevant.plotting._axes import (
    POINTS,
    check_answers,
    grey,
    ink,
    name_ticks,
    new_figure,
    paper,
    points,
    require_matplotlib,
    say,
    whole_figure,
)
from allrelevant.plotting._rows import NAME_LENGTH, at_least_one, shorten
from allrelevant.plotting._style import CLASS_STYLES, mix
from allrelevant.redundancy import Substitutes, SubstituteSet
from allrelevant.result import RelevanceClass

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

__all__ = ["SubstitutionDisplay"]

MAX_FEATURES = 20  # each takes seconds to examine where there are many samples
PITCH, LARGEST = 0.32, 40.0  # inches from row to row, and of all rows
NUMBERED = 16  # rows and columns up to which the cells have room for numbers


class SubstitutionDisplay:
    """The map of substitution: a row for every feature left out, with the features that can stand in for it.

    A cell has a colour where the feature of its column can stand in for the feature of its row. The darker it is, the
    more weight the substitute then needs at least, if the others are out as well. On the right stands the price of
    doing without the feature and all its substitutes. Of a feature with several sets of substitutes, the set is shown
    that is most expensive to do without.

    It is recommended to create a display by :meth:`from_estimator` or :meth:`from_substitutes`.

    Parameters
    ----------
    substitutes : sequence of Substitutes
        What is drawn, one for every row.

    Attributes
    ----------
    substitutes : tuple of Substitutes
        What is drawn.
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure that holds the axes.

    Raises
    ------
    ValueError
        If a feature occurs twice.

    See Also
    --------
    GroupsDisplay : Features that play the same part.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.plotting import SubstitutionDisplay
    >>> X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> display = SubstitutionDisplay.from_estimator(model)
    >>> title = display.ax_.set_title("What stands in for what")
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, substitutes: Iterable[Substitutes]) -> None:
        self.substitutes = tuple(substitutes)
        names = [one.feature for one in self.substitutes]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"substitutes has {name!r} {names.count(name)} times; give each feature once")

    @classmethod
    def from_substitutes(
        cls,
        substitutes: Iterable[Substitutes],
        *,
        ax: Axes | None = None,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> SubstitutionDisplay:
        """Draw the substitutes of some features.

        Parameters
        ----------
        substitutes : sequence of Substitutes
            What to draw.
        ax, sort, name_length
            See :meth:`plot`.

        Returns
        -------
        SubstitutionDisplay
            The display, drawn.
        """
        return cls(substitutes).plot(ax, sort=sort, name_length=name_length)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: Iterable[Any] | None = None,
        *,
        max_features: int = MAX_FEATURES,
        ax: Axes | None = None,
        sort: bool = True,
        name_length: int = NAME_LENGTH,
    ) -> SubstitutionDisplay:
        """Find what can stand in for features of a fitted estimator, and draw it.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this library.
        features : iterable of str or int, default=None
            Features, by name or position. If None, those that are weakly relevant, the most relevant first.
        max_features : int, default=20
            How many of the weakly relevant features are examined at most.
        ax, sort, name_length
            See :meth:`plot`.

        Returns
        -------
        SubstitutionDisplay
            The display, drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no such answers, as forests have none.
        """
        check_answers(estimator, "substitutes")
        at_least_one("max_features", max_features)
        if features is None:
            features = estimator.result_.names(RelevanceClass.WEAK)[:max_features]
        found = [estimator.substitutes(feature) for feature in features]
        return cls.from_substitutes(found, ax=ax, sort=sort, name_length=name_length)

    def plot(self, ax: Axes | None = None, *, sort: bool = True, name_length: int = NAME_LENGTH) -> SubstitutionDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is made, as large as its names need.
        sort : bool, default=True
            Whether features that stand in for each other come next to each other. If False they keep their order.
            Substitutes without a row of their own have the last columns.
        name_length : int, default=32
            Characters of a name that are written; longer names lose their middle to an ellipsis.

        Returns
        -------
        SubstitutionDisplay
            The display itself, with ``ax_`` and ``figure_``.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        """
        require_matplotlib("SubstitutionDisplay.plot")
        at_least_one("name_length", name_length)
        asked = list(self.substitutes)
        if sort:
            asked = [asked[i] for i in side_by_side(asked)]
        rows = [one.feature for one in asked]
        columns = list(dict.fromkeys([*rows, *(name for one in asked for name in shown_set(one).features)]))
        own_figure = ax is None
        if ax is None:
            sides = [min(LARGEST, PITCH * max(count, 3)) for count in (len(columns), len(rows))]
            ax = new_figure(sides[0] + 4.2, sides[1] + 2.0).add_subplot()
        self.ax_, self.figure_ = ax, whole_figure(ax)
        if not asked:
            say([ax], "No feature was asked about: none is weakly relevant.")
            return self
        room = POINTS * PITCH if own_figure else points(ax, vertical=True) / len(rows)
        _cells(ax, asked, columns, room)
        _prices(ax, asked, room)
        across = room if own_figure else points(ax, vertical=False) / len(columns)
        name_ticks(ax.yaxis, list(range(len(rows))), [shorten(name, name_length) for name in rows], room)
        short = [shorten(name, name_length) for name in columns]
        name_ticks(ax.xaxis, list(range(len(columns))), short, across, rotation=90)
        ax.set(xlabel="can stand in", ylabel="left out")
        return self


def shown_set(one: Substitutes) -> SubstituteSet:
    """Return the set of substitutes that is drawn: the most expensive one to do without, empty if there is none."""
    return one.sets[0] if one.sets else SubstituteSet((), (), 0.0, 0.0, 0.0)


def needs_of(asked: Sequence[Substitutes], columns: Sequence[str]) -> NDArray[np.float64]:
    """Return how much every column needs at least where the feature of a row is out; not a number without relation."""
    place = {name: k for k, name in enumerate(columns)}
    needs = np.full((len(asked), len(columns)), np.nan)
    for i, one in enumerate(asked):
        for name, needed in zip(shown_set(one).features, shown_set(one).needed, strict=True):
            if name in place:
                needs[i, place[name]] = needed
    return needs


def side_by_side(asked: Sequence[Substitutes]) -> list[int]:
    """Return an order in which features that stand in for each other are neighbours."""
    if len(asked) < 3:
        return list(range(len(asked)))
    related = np.isfinite(needs_of(asked, [one.feature for one in asked])).astype(float)
    distances = 2.0 - related - related.T
    np.fill_diagonal(distances, 0.0)
    return [int(i) for i in leaves_list(linkage(squareform(distances), "average", optimal_ordering=True))]


def _shades(ax: Axes) -> Colormap:
    """Return a scale of one hue, from pale to dark on light paper, and the other way round on dark paper."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    hue = CLASS_STYLES[RelevanceClass.STRONG].shade.light
    scale = [mix(hue, paper(ax), 0.12), hue, mix(to_hex(ink()), hue, 0.55)]
    return LinearSegmentedColormap.from_list("substitution", scale)


def _cells(ax: Axes, asked: Sequence[Substitutes], columns: Sequence[str], room: float) -> None:
    needs = needs_of(asked, columns)
    highest = float(np.nanmax(needs)) if np.isfinite(needs).any() else 0.0
    top = highest if highest > 0 else 1.0
    image = ax.imshow(np.ma.masked_invalid(needs), cmap=_shades(ax), vmin=0.0, vmax=top, aspect="equal", zorder=1)
    for i in range(len(asked)):  # the diagonal, to find one's way
        ax.fill_between([i - 0.5, i + 0.5], i - 0.5, i + 0.5, color=grey(ax, 0.12), linewidth=0, zorder=1.5)
    ax.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(asked) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color=grey(ax, 0.2), linewidth=0.6)
    ax.tick_params(which="minor", length=0)
    ax.spines[:].set_visible(False)
    if max(needs.shape) <= NUMBERED and room > 16:
        for i, j in np.argwhere(np.isfinite(needs)).tolist():
            red, green, blue, _ = image.to_rgba(needs[i, j])
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            ax.text(
                j,
                i,
                f"{needs[i, j]:.2f}".removeprefix("0"),
                ha="center",
                va="center",
                fontsize=7,
                color="white" if dark else "black",
            )
    bar = ax.figure.colorbar(image, ax=ax, location="bottom", shrink=0.7, aspect=30, pad=0.03)
    bar.set_label("share of the model's weight that the substitute needs at least, if the others are out")
    bar.outline.set_visible(False)


def _prices(ax: Axes, asked: Sequence[Substitutes], room: float) -> None:
    place = ax.get_yaxis_transform()
    look: dict[str, Any] = {"textcoords": "offset points", "xycoords": place, "color": ink(), "annotation_clip": False}
    size = min(9.0, max(5.0, 0.75 * room))
    for i, one in enumerate(asked):
        ax.annotate(price_of(one), (1.0, i), xytext=(8, 0), va="center", fontsize=size, **look)
    ax.annotate(
        "growth of the loss\nwithout all of them",
        (1.0, -0.5),
        xytext=(8, 4),
        va="bottom",
        fontsize=min(8.0, size),
        **look,
    )


def price_of(one: Substitutes) -> str:
    """Say what leaving out a feature with its substitutes costs, as its summary does."""
    shown = shown_set(one)
    if not one.sets:
        return "none"
    if math.isfinite(shown.loss_growth) and shown.loss_growth < 1e3:
        return f"+{100 * shown.loss_growth:.0f} %"
    if math.isfinite(shown.norm_growth):
        return f"weights +{100 * shown.norm_growth:.0f} %"
    return "no such model"

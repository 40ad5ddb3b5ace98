"""The drawing of groups: a tree of features above their relevance intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from allrelevant.plotting._axes import (
    POINTS,
    check_answers,
    class_look,
    class_patch,
    draw_limits,
    given_axes,
    grey,
    ink,
    legend_outside,
    limits_of,
    name_ticks,
    new_figure,
    points,
    require_matplotlib,
    say,
    whole_figure,
)
from allrelevant.plotting._rows import NAME_LENGTH, at_least_one, shorten
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.redundancy import FeatureGroups

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GroupsDisplay"]

# Eight colours of Tol's muted scheme, safe for colour-blind readers. None of them is the colour of a class.
GROUP_COLOURS = ("#117733", "#cc6677", "#88ccee", "#882255", "#ddcc77", "#44aa99", "#aa4499", "#999933")
FURNITURE = 1.5  # inches for the axis on the left and the label on the right
ROOMY, TIGHT = 0.32, 0.15  # inches from leaf to leaf, for few and for many
NARROWEST, WIDEST = 6.0, 100.0  # inches of the figure
HEIGHT, LETTER = 5.0, 0.07  # inches of height without names, and per letter of a name
BAND = 0.07  # of the height of the bars, for the numbers of the groups below them


class GroupsDisplay:
    """Groups of features: a tree above, the relevance intervals of its leaves below.

    The lower two features are joined in the tree, the more alike is the part they play in near-optimal models. Branches
    within a group have its colour, and a band below the bars its number; features in a group of their own stay grey.
    The dashed line across the tree is where redundant features were cut into groups. Bars reach from ``minRel`` to
    ``maxRel`` and are filled by class, as in :class:`RelevanceDisplay`.

    It is recommended to create a display by :meth:`from_estimator` or :meth:`from_groups`.

    Parameters
    ----------
    groups : FeatureGroups
        What is drawn.

    Attributes
    ----------
    groups : FeatureGroups
        What is drawn.
    axes_ : tuple of matplotlib Axes
        Axes of the tree and of the bars of the last drawing.
    figure_ : matplotlib Figure
        Figure that holds the axes.

    See Also
    --------
    RelevanceDisplay : The intervals of all features, with their names in full.

    Notes
    -----
    The extremes of different features are not attained together: that the bars of a group all reach far up does not
    mean that one model gives much weight to all of them. It is rather the contrary, since they stand in for each other.

    Strongly relevant features are groups of their own, whatever they resemble. The tree shows what they resemble, so
    they may be joined to others below the cut.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.plotting import GroupsDisplay
    >>> X, y, _ = make_relevance_classification(
    ...     200, n_strong=1, n_weak=4, partition=[2, 2], n_irrelevant=2, random_state=0
    ... )
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> display = GroupsDisplay.from_estimator(model)
    >>> tree, bars = display.axes_
    >>> title = tree.set_title("Which features go together")
    """

    axes_: tuple[Axes, Axes]
    figure_: Figure

    def __init__(self, groups: FeatureGroups) -> None:
        self.groups = groups

    @classmethod
    def from_groups(
        cls, groups: FeatureGroups, *, axes: Iterable[Axes] | None = None, name_length: int = NAME_LENGTH
    ) -> GroupsDisplay:
        """Draw groups.

        Parameters
        ----------
        groups : FeatureGroups
            What to draw.
        axes, name_length
            See :meth:`plot`.

        Returns
        -------
        GroupsDisplay
            The display, drawn.
        """
        return cls(groups).plot(axes, name_length=name_length)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, axes: Iterable[Axes] | None = None, name_length: int = NAME_LENGTH, **options: Any
    ) -> GroupsDisplay:
        """Group the features of a fitted estimator and draw the groups.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this library.
        axes, name_length
            See :meth:`plot`.
        **options
            Passed on to :meth:`~allrelevant.LinearRelevanceClassifier.group_features`.

        Returns
        -------
        GroupsDisplay
            The display, drawn.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        TypeError
            If the estimator has no such answers.
        """
        check_answers(estimator, "group_features")
        return cls.from_groups(estimator.group_features(**options), axes=axes, name_length=name_length)

    def plot(self, axes: Iterable[Axes] | None = None, *, name_length: int = NAME_LENGTH) -> GroupsDisplay:
        """Draw.

        Parameters
        ----------
        axes : pair of matplotlib Axes, default=None
            Axes for the tree and for the bars; let them share their x axis. If None, a new figure is made, as wide as
            its leaves need. On axes of your own the names shrink with the room there is, and where there is too
            little some are left out.
        name_length : int, default=32
            Characters of a name that are written; longer names lose their middle to an ellipsis.

        Returns
        -------
        GroupsDisplay
            The display itself, with ``axes_`` and ``figure_``.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        ValueError
            If `axes` does not hold two axes.
        """
        require_matplotlib("GroupsDisplay.plot")
        at_least_one("name_length", name_length)
        groups, count = self.groups, len(self.groups.members)
        pitch = min(ROOMY, max(TIGHT, 30 * ROOMY / max(count, 1)))
        names = [shorten(name, name_length) for name in groups.result.feature_names]
        own_figure = axes is None
        if axes is None:
            longest = max((len(names[k]) for k in groups.members), default=0)
            figure = new_figure(min(WIDEST, max(NARROWEST, FURNITURE + pitch * count)), HEIGHT + LETTER * longest)
            axes = figure.subplots(2, sharex=True, height_ratios=[1.0, 1.3])
        tree, bars = given_axes(axes, ("the tree", "the bars"))
        self.axes_, self.figure_ = (tree, bars), whole_figure(tree)
        if not count:
            say(self.axes_, groups.summary())
            return self
        room = POINTS * min(pitch, WIDEST / count) if own_figure else points(bars, vertical=False) / count
        links, order = ordered_tree(groups)
        leaves = [groups.members[i] for i in order]
        colours = group_colours(groups, leaves, grey(tree, 0.55))
        _tree(tree, groups, links, order, colours)
        handles = _bars(bars, groups, leaves)
        _band(bars, groups, leaves, colours, room)
        name_ticks(bars.xaxis, list(range(count)), [names[k] for k in leaves], room, rotation=90)
        legend_outside(bars, handles, own_figure=own_figure, ncols=2 if count < 20 else 3)
        return self


def ordered_tree(groups: FeatureGroups) -> tuple[NDArray[np.float64], list[int]]:
    """Return the tree and its leaves from left to right, neighbours as close as the tree allows."""
    if not len(groups.linkage):
        return groups.linkage, list(range(len(groups.members)))
    links = optimal_leaf_ordering(groups.linkage, squareform(groups.distances, checks=False))
    return links, leaves_list(links).tolist()


def group_colours(groups: FeatureGroups, leaves: Sequence[int], alone: str) -> dict[int, str]:
    """Return the colour of every group, so that neighbours differ; that of a single feature is `alone`."""
    labels = groups.labels[list(leaves)].tolist()
    several = [g for g in dict.fromkeys(labels) if labels.count(g) > 1]
    colours = dict.fromkeys(labels, alone)
    return colours | {g: GROUP_COLOURS[i % len(GROUP_COLOURS)] for i, g in enumerate(several)}


def _tree(
    ax: Axes, groups: FeatureGroups, links: NDArray[np.float64], order: Sequence[int], colours: dict[int, str]
) -> None:
    from matplotlib.collections import LineCollection

    count = len(order)
    x, height = np.zeros(count + len(links)), np.zeros(count + len(links))
    x[list(order)] = np.arange(count)
    # The group of all leaves below a node, or none where these are of several.
    group: list[int | None] = [*groups.labels[list(groups.members)].tolist(), *([None] * len(links))]
    strokes, shades, widths = [], [], []
    for node, (left, right, top, _) in enumerate(links, start=count):
        a, b = int(left), int(right)
        x[node], height[node] = (x[a] + x[b]) / 2, top
        one = group[node] = group[a] if group[a] == group[b] else None
        strokes.append([(x[a], height[a]), (x[a], top), (x[b], top), (x[b], height[b])])
        shades.append(ink() if one is None else colours[one])
        widths.append(1.0 if one is None else 1.8)
    ax.add_collection(LineCollection(strokes, colors=shades, linewidths=widths, capstyle="projecting"))
    if not len(links):
        say([ax], "A single feature: there is nothing to group.")
        return
    highest = max(float(height.max(initial=0.0)), groups.height)
    ax.set(xlim=_xlim(count), ylim=(0.0, 1.08 * highest if highest > 0 else 1.0))
    ax.set_ylabel("distance of parts")
    _cut(ax, groups.height)
    ax.tick_params(axis="x", length=0, labelbottom=False)
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def _xlim(count: int) -> tuple[float, float]:
    """Return the ends of the axis, some way off where the leaves are few, so that their bars stay slim."""
    side = max(0.7, (8 - count) / 2)
    return -side, count - 1 + side


def _cut(ax: Axes, height: float) -> None:
    ax.axhline(height, color=ink(), linestyle=(0, (5, 2)), linewidth=1.0, zorder=3, label="cut")
    ax.annotate(
        f"cut at\n{height:.2g}",
        (1.0, height),
        xycoords=ax.get_yaxis_transform(),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=ink(),
    )


def _bars(ax: Axes, groups: FeatureGroups, leaves: Sequence[int]) -> list[Artist]:
    result, positions = groups.result, np.arange(len(leaves))
    low, high = result.intervals[list(leaves)].T
    classes = result.classes[list(leaves)]
    handles: list[Artist] = []
    for kind, style in CLASS_STYLES.items():
        some = classes == kind
        if not some.any():
            continue
        ax.bar(
            positions[some],
            (high - low)[some],
            bottom=low[some],
            width=0.62,
            label=style.phrase,
            zorder=2,
            **class_look(kind, ax),
        )
        handles.append(class_patch(kind, ax, f"{style.phrase} ({some.sum()})"))
    handles += draw_limits(ax, result, upright=False)
    top = max([float(high.max()), *(value for value, _, _ in limits_of(result))])
    top = 1.03 * top if top > 0 else 1.0
    ax.set(xlim=_xlim(len(leaves)), ylim=(-BAND * top, top))
    ax.set_ylabel(result.words.axis.replace(", ", ",\n", 1))
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= top])
    ax.grid(axis="y", color=ink(), alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    return handles


def _band(ax: Axes, groups: FeatureGroups, leaves: Sequence[int], colours: dict[int, str], room: float) -> None:
    from matplotlib.patches import Rectangle

    bottom = ax.get_ylim()[0]
    start = 0
    for g, run in groupby(groups.labels[list(leaves)].tolist()):
        width = len(list(run))
        place = (start - 0.42, 0.92 * bottom)
        ax.add_patch(Rectangle(place, width - 0.16, -0.72 * bottom, facecolor=colours[g], linewidth=0, gid="group"))
        if room * width > 12:
            ax.text(
                start + (width - 1) / 2,
                0.56 * bottom,
                str(g),
                ha="center",
                va="center_baseline",
                fontsize=min(9.0, 0.55 * room * width),
                color=_on(colours[g]),
            )
        start += width


def _on(colour: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    red, green, blue = bytes.fromhex(colour[1:])
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "black"

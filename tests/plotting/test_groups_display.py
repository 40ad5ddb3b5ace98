from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.exceptions import NotFittedError

from allrelevant.errors import MissingExtra
from allrelevant.plotting import GroupsDisplay
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.redundancy import FeatureGroups
from allrelevant.result import RelevanceClass, Thresholds
from drawn import Answering, bars, inside_figure, texts
from handmade import make_result


def make_groups(sizes=(2, 3), n_strong=1, names=None, height=0.5, **changes):
    """Weakly relevant features in groups of the given sizes, and strongly relevant ones that stand alone."""
    result = make_result(n_strong, sum(sizes), 1, names=names, **changes)
    members = np.flatnonzero(result.classes > 0)
    labels = np.full(result.n_features, -1)
    labels[result.classes == 1] = np.repeat(np.arange(len(sizes)), sizes)
    labels[result.classes == 2] = len(sizes) + np.arange(n_strong)
    own = labels[members]
    distances = np.where(own[:, None] == own, 0.1, 1.0) + 0.01 * np.abs(np.subtract.outer(members, members))
    np.fill_diagonal(distances, 0.0)
    links = linkage(squareform(distances), "average") if len(members) > 1 else np.zeros((0, 4))
    contexts = np.zeros((len(members), 2, len(members), 2))
    return FeatureGroups(result, labels, tuple(members.tolist()), contexts, distances, links, height, 0)


def leaf_names(display):
    return [label.get_text() for label in display.axes_[1].get_xticklabels()]


def leaves(display):
    names = display.groups.result.feature_names
    return [names.index(name) for name in leaf_names(display)]


def band(display):
    """Group number to first and last place of its patch and its colour."""
    _, ax = display.axes_
    patches = [patch for patch in ax.patches if patch.get_gid() == "group"]
    return [(patch.get_x(), patch.get_x() + patch.get_width(), to_hex(patch.get_facecolor())) for patch in patches]


@pytest.mark.parametrize("sizes", [(4,), (10, 12, 4), (5,) * 18])
def test_draws_any_number_of_members(sizes):
    display = GroupsDisplay.from_groups(make_groups(sizes))
    tree, ax = display.axes_
    assert inside_figure(display, [*ax.get_xticklabels(), *tree.texts, *display.figure_.legends])
    assert len(leaf_names(display)) == sum(sizes) + 1
    (branches,) = tree.collections
    assert len(branches.get_segments()) == sum(sizes)


def test_bars_are_the_intervals_at_the_leaves_in_the_colours_of_the_classes():
    display = GroupsDisplay.from_groups(make_groups((3, 4), 2))
    result = display.groups.result
    order = leaves(display)
    assert sorted(order) == list(display.groups.members)
    for kind, style in CLASS_STYLES.items():
        drawn = bars(display.axes_[1], kind)
        for bar in drawn:
            k = order[round(bar.get_x() + bar.get_width() / 2)]
            np.testing.assert_allclose((bar.get_y(), bar.get_y() + bar.get_height()), result.intervals[k])
            assert result.classes[k] == kind
            assert to_hex(bar.get_edgecolor()) == style.shade.light
        assert len(drawn) == (0 if kind == RelevanceClass.IRRELEVANT else np.sum(result.classes == kind))


def test_groups_have_one_colour_in_tree_and_band():
    display = GroupsDisplay.from_groups(make_groups((3, 4), 1))
    (branches,) = display.axes_[0].collections
    labels = display.groups.labels[leaves(display)]
    shades = {}
    for left, right, colour in band(display):
        (own,) = set(labels[int(np.ceil(left)) : int(np.floor(right)) + 1].tolist())
        shades[own] = colour
    assert len(shades) == 3
    assert len(set(shades.values())) == 3
    for stroke, colour in zip(branches.get_segments(), branches.get_colors(), strict=True):
        first, last = stroke[0, 0], stroke[-1, 0]
        below = set(labels[int(np.ceil(first)) : int(np.floor(last)) + 1].tolist())
        if stroke[1, 1] < display.groups.height:
            assert to_hex(colour) == shades[below.pop()]
        else:
            assert to_hex(colour) == to_hex(mpl.rcParams["text.color"])


def test_the_tree_stands_on_its_leaves_at_the_heights_of_the_linkage():
    display = GroupsDisplay.from_groups(make_groups((2, 3), 1))
    (branches,) = display.axes_[0].collections
    strokes = branches.get_segments()
    np.testing.assert_allclose([stroke[1, 1] for stroke in strokes], display.groups.linkage[:, 2])
    feet = sorted(x for stroke in strokes for x, y in (stroke[0], stroke[-1]) if y == 0)
    np.testing.assert_allclose(feet, np.arange(6))
    assert display.axes_[0].get_xlim() == display.axes_[1].get_xlim()


def test_the_cut_and_the_limits_are_lines():
    display = GroupsDisplay.from_groups(make_groups(height=0.42))
    tree, ax = display.axes_
    (cut,) = tree.lines
    assert cut.get_ydata() == [0.42, 0.42]
    assert texts(tree) == ["cut at\n0.42"]
    assert sorted(line.get_ydata()[0] for line in ax.lines) == [0.011, 0.041]


def test_a_cut_above_the_tree_is_in_view():
    tree, _ = GroupsDisplay.from_groups(make_groups(height=7.0)).axes_
    assert tree.get_ylim()[1] > 7.0


def test_numbers_of_groups_stand_in_the_band():
    display = GroupsDisplay.from_groups(make_groups((2, 3), 1))
    assert sorted(texts(display.axes_[1])) == ["0", "1", "2"]


def test_a_group_that_the_tree_tears_apart_has_several_patches():
    groups = make_groups((2, 3), 0)
    order = leaves(GroupsDisplay.from_groups(groups))
    labels = groups.labels.copy()
    labels[order] = [0, 1, 1, 0, 0]
    torn = FeatureGroups(
        groups.result, labels, groups.members, groups.contexts, groups.distances, groups.linkage, groups.height, 0
    )
    display = GroupsDisplay.from_groups(torn)
    colours = [colour for _, _, colour in band(display)]
    assert len(colours) == 3
    assert colours[0] == colours[2] != colours[1]


def test_a_single_member_has_a_bar_and_no_tree():
    display = GroupsDisplay.from_groups(make_groups((), 1))
    tree, ax = display.axes_
    assert texts(tree) == ["A single feature: there is nothing to group."]
    assert len(bars(ax, RelevanceClass.STRONG)) == 1
    assert inside_figure(display, display.figure_.legends)


def test_without_members_it_says_so():
    groups = make_groups((), 0)
    display = GroupsDisplay.from_groups(groups)
    assert texts(display.axes_[0]) == ["No feature is relevant, so there are no groups."]
    display.figure_.draw_without_rendering()


def test_features_that_play_the_very_same_part():
    groups = make_groups((2,), 0)
    flat = FeatureGroups(
        groups.result,
        groups.labels,
        groups.members,
        groups.contexts,
        np.zeros((2, 2)),
        np.array([[0.0, 1.0, 0.0, 2.0]]),
        0.0,
        0,
    )
    GroupsDisplay.from_groups(flat).figure_.draw_without_rendering()


def test_a_limit_that_is_not_finite_is_left_out():
    display = GroupsDisplay.from_groups(
        make_groups(thresholds=Thresholds(np.nan, np.inf, "papers", 0.1, "none", 10, 0))
    )
    assert not display.axes_[1].lines
    assert np.all(np.isfinite(display.axes_[1].get_ylim()))


def test_names_are_readable():
    groups = make_groups((2,), 0, names=["x" * 80, "$a$ and $b$", "$c"])
    display = GroupsDisplay.from_groups(groups, name_length=21)
    display.figure_.draw_without_rendering()
    written = {"x" * 10 + "…" + "x" * 10, r"\$a\$ and \$b\$", r"\$c"}
    assert len(leaf_names(display)) == 2
    assert set(leaf_names(display)) < written


def test_names_do_not_overlap_on_small_axes():
    figure = Figure(figsize=(4, 4))
    display = GroupsDisplay.from_groups(make_groups((20,) * 5), axes=figure.subplots(2, sharex=True))
    figure.draw_without_rendering()
    ticks = display.axes_[1].get_xticklabels()
    assert len(ticks) < 101
    middles = [(box.x0 + box.x1) / 2 for box in (tick.get_window_extent() for tick in ticks)]
    assert np.diff(middles).min() >= 0.95 * ticks[0].get_fontsize() * figure.dpi / 72


def test_the_figure_grows_with_the_leaves():
    widths = [GroupsDisplay(make_groups((n,))).plot().figure_.get_figwidth() for n in (2, 30, 100)]
    assert widths == sorted(widths)
    assert widths[0] < 7
    assert 10 < widths[2] < 20


def test_plot_returns_itself_and_uses_the_axes_given():
    before = dict(mpl.rcParams)
    figure = Figure()
    axes = figure.subplots(2)
    display = GroupsDisplay(make_groups())
    assert display.plot(axes) is display
    assert display.axes_ == tuple(axes)
    assert display.figure_ is figure
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_needs_two_axes():
    with pytest.raises(ValueError, match="axes holds 1 axes; give 2, for the tree and the bars"):
        GroupsDisplay(make_groups()).plot([Figure().subplots()])


def test_from_estimator_passes_options_on():
    groups = make_groups()
    model = Answering().fit(groups.result, group_features=groups)
    display = GroupsDisplay.from_estimator(model, cutoff=0.3, name_length=5)
    assert display.groups is groups
    assert model.asked_ == [("group_features", (), {"cutoff": 0.3})]


def test_from_estimator_asks_for_a_fit():
    with pytest.raises(NotFittedError):
        GroupsDisplay.from_estimator(Answering())
    assert plt.get_fignums() == []


def test_says_how_to_install_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"GroupsDisplay.plot needs matplotlib.*allrelevant\[plot\]"):
        GroupsDisplay(make_groups()).plot()

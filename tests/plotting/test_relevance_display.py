from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from allrelevant.errors import MissingExtra
from allrelevant.plotting import (
    ConstraintDisplay,
    GroupsDisplay,
    PanelsDisplay,
    RelevanceDisplay,
    StabilityDisplay,
    SubstitutionDisplay,
)
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.result import RelevanceClass, Thresholds
from handmade import make_forest_result, make_judged_result, make_result


class Fitted(BaseEstimator):
    def fit(self, result):
        self.result_ = result
        return self


def bars(ax, kind):
    (container,) = [c for c in ax.containers if c.get_label() == CLASS_STYLES[kind].phrase]
    return list(container)


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 0, 1), (2, 2, 1), (4, 12, 14), (10, 20, 170), (60, 70, 70)])
def test_draws_any_number_of_features(counts):
    display = RelevanceDisplay.from_result(make_result(*counts))
    display.figure_.draw_without_rendering()
    assert sum(len(bars(display.ax_, kind)) for kind in RelevanceClass) <= 43
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend[:3] == [
        f"strongly relevant ({counts[0]})",
        f"weakly relevant ({counts[1]})",
        f"irrelevant ({counts[2]})",
    ]


def test_bars_are_the_intervals_in_the_colours_of_the_palette():
    result = make_result(3, 4, 5)
    ax = RelevanceDisplay(result).plot().ax_
    for kind, style in CLASS_STYLES.items():
        drawn = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars(ax, kind))
        np.testing.assert_allclose(drawn, sorted(map(tuple, result.intervals[result.classes == kind])))
        assert {to_hex(bar.get_edgecolor()) for bar in bars(ax, kind)} == {style.shade.light}


def test_classes_differ_without_colour():
    ax = RelevanceDisplay(make_result(1, 1, 1)).plot().ax_
    looks = set()
    for kind in RelevanceClass:
        (bar,) = bars(ax, kind)
        looks.add((bar.get_hatch(), bar.get_facecolor() == bar.get_edgecolor()))
    assert looks == {(None, True), ("////", False), (None, False)}


def test_an_interval_of_no_length_leaves_a_stroke():
    result = make_result(1, 0, 2, intervals=[[0.2, 0.2], [0.0, 0.0], [0.01, 0.01]], classes=[2, 0, 0], baseline=[0] * 3)
    figure = Figure(figsize=(4, 4), dpi=100)
    ax = figure.subplots()
    RelevanceDisplay(result).plot(ax)
    for line in ax.lines:
        line.remove()
    ax.get_legend().remove()
    canvas = mpl.backends.backend_agg.FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3].astype(int)
    for kind in (RelevanceClass.STRONG, RelevanceClass.IRRELEVANT):
        for bar in bars(ax, kind):
            x, y = ax.transData.transform((bar.get_x(), bar.get_y() + bar.get_height() / 2)).round().astype(int)
            around = pixels[y, x - 3 : x + 4]
            colour = 255 * np.array(bar.get_edgecolor()[:3])
            assert np.abs(around - colour).max(axis=1).min() < 60
    assert ax.get_xlim()[0] < 0  # a stroke at 0 is not cut


def test_baseline_is_marked_by_its_absolute_share():
    result = make_result(2, 2, 2)
    ax = RelevanceDisplay(result).plot(sort=False).ax_
    (marks,) = [line for line in ax.lines if line.get_label() == "share in the best model"]
    np.testing.assert_allclose(marks.get_xdata(), np.abs(result.baseline))


def test_limits_are_labelled():
    ax = RelevanceDisplay(make_result()).plot().ax_
    assert {text.get_text() for text in ax.texts} == {
        "relevant bars end beyond 0.041",
        "strong bars also start beyond 0.011",
    }


@pytest.mark.parametrize("limits", [(0.01, 0.9), (0.8, 0.9), (0.01, 0.01), (0.0, 0.0)])
def test_limits_stay_in_view(limits):
    thresholds = Thresholds(*limits, "rule", 0.1, "none", 10, 10)
    display = RelevanceDisplay(make_result(thresholds=thresholds)).plot()
    display.figure_.draw_without_rendering()
    frame = display.ax_.get_window_extent()
    for text in display.ax_.texts:
        extent = text.get_window_extent()
        assert frame.x0 - 1 <= extent.x0
        assert extent.x1 <= frame.x1 + 1


def test_a_limit_that_is_not_finite_is_left_out():
    thresholds = Thresholds(float("nan"), float("inf"), "papers", 0.1, "none", 10, 0)
    ax = RelevanceDisplay(make_result(thresholds=thresholds)).plot().ax_
    assert not ax.texts
    assert np.all(np.isfinite(ax.get_xlim()))


def ticks(ax):
    return [c for c in ax.collections if c.get_label() == "limits"]


def test_every_feature_has_its_own_limit_as_a_tick():
    result = make_judged_result(2, 3, 3, borderline=1, alone=1)
    display = RelevanceDisplay.from_result(result)
    ax = display.ax_
    assert not ax.texts  # no common line
    edge, stroke = ticks(ax)
    drawn = sorted(float(segment[0, 0]) for segment in stroke.get_segments())
    np.testing.assert_allclose(drawn, sorted(limit for limit in result.limits if limit > 0.0))
    assert len(drawn) == result.n_features - 1
    assert len(edge.get_segments()) == len(drawn)
    middle = {round(float(segment[:, 1].mean()), 6): float(segment[0, 0]) for segment in stroke.get_segments()}
    for kind in RelevanceClass:
        for bar in bars(ax, kind):
            tick = middle.get(round(bar.get_y() + bar.get_height() / 2, 6))
            assert tick is None or (bar.get_x() + bar.get_width() > tick) == (kind > 0)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert result.words.own_limit in legend
    assert legend[-1] == "borderline: adjusted p within a factor of two of the level, 0.05"
    assert sorted(name.removesuffix(" ~") for name in names(ax) if name.endswith("~")) == sorted(
        name for k, name in enumerate(result.feature_names) if result.borderline[k]
    )
    display.figure_.draw_without_rendering()


def test_limits_far_beyond_the_bars_are_marks_at_the_end():
    result = make_judged_result(1, 1, 3)
    limits = np.where(result.classes > 0, result.limits, [np.inf if k % 2 else 50.0 for k in range(5)])
    ax = RelevanceDisplay.from_result(make_judged_result(1, 1, 3, limits=limits)).ax_
    assert ax.get_xlim()[1] < 1.0
    (far,) = [line for line in ax.lines if line.get_label() == "limit of the feature further right"]
    assert far.get_xdata().tolist() == [ax.get_xlim()[1]] * 3
    assert len(ticks(ax)[0].get_segments()) == 2


def test_without_own_limits_there_are_no_ticks():
    for result in (make_result(), make_forest_result(), make_judged_result(1, 1, 1, limits=[np.nan] * 3)):
        ax = RelevanceDisplay.from_result(result).ax_
        assert not ticks(ax)
        assert not [text for text in ax.get_legend().get_texts() if "limit" in text.get_text()]


def test_all_zero():
    result = make_result(
        0, 0, 3, intervals=np.zeros((3, 2)), baseline=np.zeros(3), thresholds=Thresholds(0, 0, "", 0.05, "fdr", 0, 0)
    )
    RelevanceDisplay(result).plot().figure_.draw_without_rendering()


def test_names_are_readable():
    result = make_result(1, 1, 1, names=["x" * 80, "$a$ and $b$", "plain"])
    display = RelevanceDisplay.from_result(result, sort=False, name_length=21)
    assert names(display.ax_) == ["x" * 10 + "…" + "x" * 10, r"\$a\$ and \$b\$", "plain"]
    display.figure_.draw_without_rendering()


def test_names_do_not_overlap_on_small_axes():
    figure, axes = plt.subplots(2, figsize=(6, 5))
    for ax, limit in zip(axes, (40, None), strict=True):
        RelevanceDisplay.from_result(make_result(10, 20, 170), ax=ax, max_features=limit)
    figure.draw_without_rendering()
    for ax in axes:
        boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
        heights = sorted((box.y0 + box.y1) / 2 for box in boxes)
        size = ax.get_yticklabels()[0].get_fontsize() * figure.dpi / 72
        assert np.diff(heights).min() >= 0.95 * size


def test_height_grows_with_the_rows():
    heights = [
        RelevanceDisplay(make_result(1, 1, n)).plot(max_features=None).figure_.get_figheight() for n in (1, 30, 200)
    ]
    assert heights == sorted(heights)
    assert heights[0] < 4


def test_plot_returns_itself_and_uses_the_axes_given():
    figure, ax = plt.subplots()
    display = RelevanceDisplay(make_result())
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_drawing_on_axes_leaves_pyplot_and_settings_alone():
    before = dict(mpl.rcParams)
    RelevanceDisplay(make_result()).plot(Figure().subplots())
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_follows_a_dark_style():
    with plt.style.context("dark_background"):
        ax = RelevanceDisplay(make_result()).plot().ax_
    assert {text.get_color() for text in ax.texts} == {"white"}


def test_from_estimator_draws_the_result():
    result = make_result()
    display = RelevanceDisplay.from_estimator(Fitted().fit(result), max_features=3, sort=False)
    assert display.result is result
    assert names(display.ax_) == names(RelevanceDisplay.from_result(result, max_features=3, sort=False).ax_)


def test_from_estimator_asks_for_a_fit():
    with pytest.raises(NotFittedError):
        RelevanceDisplay.from_estimator(Fitted())
    assert plt.get_fignums() == []


def test_says_how_to_install_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    display = RelevanceDisplay(make_result())
    with pytest.raises(MissingExtra, match=r"RelevanceDisplay.plot needs matplotlib.*allrelevant\[plot\]"):
        display.plot()


def test_forests_are_drawn_in_their_own_words():
    result = make_forest_result(2, 3, 4)
    ax = RelevanceDisplay.from_result(result).ax_
    assert ax.get_xlabel() == "share of the forest's importance, in the middle 90 % of the forests"
    assert [text.get_text() for text in ax.texts] == ["permuted features reach 0.041"]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend[-2:] == ["mean share", "undecided, a best guess"]
    assert [name for name in names(ax) if name.endswith("?")] == [f"{result.tentative[0]} ?"]
    ax = RelevanceDisplay.from_result(make_forest_result(2, 3, 4, tentative=0)).ax_
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "mean share"


@pytest.mark.parametrize(
    ("display", "question", "more"),
    [
        (ConstraintDisplay, "constrain", ({"a": 0.0},)),
        (GroupsDisplay, "group_features", ()),
        (PanelsDisplay, "panels", ()),
        (StabilityDisplay, "stability", ()),
        (SubstitutionDisplay, "substitutes", ()),
    ],
)
def test_estimators_without_such_answers_are_refused(display, question, more):
    with pytest.raises(TypeError, match=rf"Fitted has no {question}\(\).*RelevanceDisplay"):
        display.from_estimator(Fitted().fit(make_forest_result()), *more)


@pytest.mark.parametrize("fonts", ["none", "path"])
def test_names_are_no_markup_in_a_saved_drawing(tmp_path, fonts):
    from xml.etree import ElementTree

    import matplotlib as mpl

    names = ["<script>alert(1)</script>", '"><img onerror=alert(1)>', "a--><b & $x"]
    with mpl.rc_context({"svg.fonttype": fonts}):
        RelevanceDisplay(make_result(1, 1, 1, names=names)).plot().figure_.savefig(tmp_path / "drawing.svg")
    tags = {node.tag.rpartition("}")[2] for node in ElementTree.parse(tmp_path / "drawing.svg").iter()}
    assert not {"script", "img", "b"} & tags

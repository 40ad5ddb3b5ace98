from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from allrelevant.errors import MissingExtra
from allrelevant.plotting import PanelsDisplay
from allrelevant.redundancy import Panel, Panels
from drawn import Answering, inside_figure, texts
from handmade import make_result

SETS = [("b", "c"), ("a", "b"), ("b", "d", "e")]


def make_panels(sets=SETS, *, gaps=None, scores=None, whole=0.95, names="abcdef"):
    scores = [0.9 + 0.01 * k for k in range(len(sets))] if scores is None else scores
    gaps = [0.0] * len(sets) if gaps is None else gaps
    found = [Panel(one, float(len(one)), score, gap) for one, score, gap in zip(sets, scores, gaps, strict=True)]
    return Panels(tuple(found), tuple(names), "weighted F1", whole, True, False)


def rows(display):
    return [label.get_text() for label in display.axes_[1].get_yticklabels()]


def dots(display):
    """Names of the features of every column, from the filled dots."""
    names = rows(display)
    lines = [line for line in display.axes_[1].lines if line.get_label().startswith("panel")]
    assert [set(line.get_xdata()) for line in lines] == [{x} for x in range(len(lines))]
    return [{names[y] for y in line.get_ydata()} for line in lines]


def test_columns_are_the_panels_in_order():
    assert dots(PanelsDisplay.from_panels(make_panels())) == [set(one) for one in SETS]


def test_rows_are_the_features_of_panels_most_frequent_first():
    assert rows(PanelsDisplay.from_panels(make_panels())) == list("bacde")


def test_dots_of_a_panel_are_joined_from_top_to_bottom():
    display = PanelsDisplay.from_panels(make_panels())
    for line in display.axes_[1].lines:
        if line.get_label().startswith("panel"):
            assert line.get_linestyle() == "-"
            assert np.all(np.diff(line.get_ydata()) > 0)
    low, high = display.axes_[1].get_ylim()
    assert low > high  # the first row is on top


def test_costs_are_labelled_bars():
    ax, _, _ = PanelsDisplay.from_panels(make_panels()).axes_
    (container,) = ax.containers
    assert [bar.get_height() for bar in container] == [2.0, 2.0, 3.0]
    assert [bar.get_x() + bar.get_width() / 2 for bar in container] == pytest.approx([0, 1, 2])
    assert texts(ax) == ["2", "2", "3"]
    assert {bar.get_hatch() for bar in container} == {None}
    assert ax.get_title(loc="right") == ""


def test_a_cost_that_is_not_proven_is_hatched():
    ax, _, _ = PanelsDisplay.from_panels(make_panels(gaps=[0.0, 0.0, 0.3])).axes_
    (container,) = ax.containers
    assert [bar.get_hatch() for bar in container] == [None, None, "////"]
    assert "not ruled out" in ax.get_title(loc="right")


def test_scores_with_that_of_all_features():
    display = PanelsDisplay.from_panels(make_panels(scores=[0.9, None, 0.92]))
    ax = display.axes_[2]
    marks, whole = ax.lines
    np.testing.assert_allclose(marks.get_xdata(), [0, 2])
    np.testing.assert_allclose(marks.get_ydata(), [0.9, 0.92])
    assert whole.get_ydata() == [0.95, 0.95]
    assert ax.get_ylim()[1] > 0.95
    assert ax.get_ylabel() == "weighted F1"
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()][1] == "of all features: 0.950"


def test_without_scores():
    display = PanelsDisplay.from_panels(make_panels(scores=[None] * 3, whole=None))
    assert texts(display.axes_[2]) == ["too few samples for scores"]
    display.figure_.draw_without_rendering()


def test_without_the_score_of_all_features():
    assert len(PanelsDisplay.from_panels(make_panels(whole=None)).axes_[2].lines) == 1


def test_no_panels():
    display = PanelsDisplay.from_panels(make_panels([]))
    assert texts(display.axes_[1]) == ["No set of the features offered admits a near-optimal model."]
    display.figure_.draw_without_rendering()


def test_one_panel_of_one_feature_that_costs_nothing():
    panels = Panels((Panel(("a",), 0.0, 0.5, 0.0),), ("a",), "R²", 0.5, True, False)
    display = PanelsDisplay.from_panels(panels)
    assert rows(display) == ["a"]
    display.figure_.draw_without_rendering()


def test_many_panels_are_not_cut_off():
    names = [f"a feature with a long name {k}" for k in range(60)]
    rng = np.random.default_rng(0)
    sets = [tuple(rng.choice(names, size=5, replace=False).tolist()) for _ in range(30)]
    display = PanelsDisplay.from_panels(make_panels(sets, names=names))
    top, middle, bottom = display.axes_
    assert inside_figure(display, [*middle.get_yticklabels(), *bottom.get_xticklabels(), *top.texts])


def test_names_are_readable():
    names = ["x" * 80, "$a$ and $b$"]
    display = PanelsDisplay.from_panels(make_panels([tuple(names)], names=names), name_length=21)
    assert rows(display) == ["x" * 10 + "…" + "x" * 10, r"\$a\$ and \$b\$"]
    display.figure_.draw_without_rendering()


def test_plot_returns_itself_and_uses_the_axes_given():
    before = dict(mpl.rcParams)
    figure = Figure()
    axes = figure.subplots(3)
    display = PanelsDisplay(make_panels())
    assert display.plot(axes) is display
    assert display.axes_ == tuple(axes)
    assert display.figure_ is figure
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_needs_three_axes():
    with pytest.raises(ValueError, match="axes holds 2 axes; give 3, for the costs, the features and the scores"):
        PanelsDisplay(make_panels()).plot(Figure().subplots(2))


def test_from_estimator_passes_options_on():
    panels = make_panels()
    model = Answering().fit(make_result(), panels=panels)
    assert PanelsDisplay.from_estimator(model, k=3, costs={"a": 2.0}).panels is panels
    assert model.asked_ == [("panels", (), {"k": 3, "costs": {"a": 2.0}})]


def test_from_estimator_asks_for_a_fit():
    with pytest.raises(NotFittedError):
        PanelsDisplay.from_estimator(Answering())


def test_says_how_to_install_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"PanelsDisplay.plot needs matplotlib.*allrelevant\[plot\]"):
        PanelsDisplay(make_panels()).plot()

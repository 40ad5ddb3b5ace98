from __future__ import annotations

import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from allrelevant.errors import MissingExtra
from allrelevant.plotting import ConstraintDisplay
from allrelevant.plotting._style import CLASS_STYLES
from drawn import Answering, bars, inside_figure, texts
from handmade import make_judged_result, make_result

FREE = [[0.10, 0.20], [0.0, 0.30], [0.0, 0.25], [0.0, 0.02], [0.0, 0.35]]
HELD = [[0.12, 0.18], [0.0, 0.0], [0.08, 0.25], [0.0, 0.02], [0.1, 0.2]]


def make_before(names="abcde"):
    classes = [2, 1, 1, 0, 1]
    return make_result(1, 3, 1, names=list(names), intervals=FREE, classes=classes, baseline=[0.15, 0.1, 0, 0, 0.2])


def make_held(names="abcde", **changes):
    """The result with feature b excluded and e held to a range, so that c becomes strongly relevant."""
    content = {
        "intervals": np.array(HELD),
        "classes": np.array([2, 0, 2, 0, 2]),
        "constraints": {names[1]: (0.0, 0.0), names[4]: (0.1, 0.2)},
        "unconstrained": np.array(FREE),
        "unconstrained_classes": np.array([2, 1, 1, 0, 1]),
    }
    return replace(make_before(names), **{**content, **changes})


def rows(display):
    """Names of the rows, from top to bottom, with their heights."""
    return {
        label.get_text(): y for y, label in zip(display.ax_.get_yticks(), display.ax_.get_yticklabels(), strict=True)
    }


def ghosts(display):
    (container,) = [c for c in display.ax_.containers if c.get_label() == "without the constraints"]
    return {
        round(bar.get_y() + bar.get_height() / 2, 6): (bar.get_x(), bar.get_x() + bar.get_width()) for bar in container
    }


def remarks(display):
    return {round(text.xy[1], 6): text.get_text() for text in display.ax_.texts if text.xy[0] == 1.0}


def test_ghosts_are_the_intervals_without_constraints():
    display = ConstraintDisplay.from_result(make_held())
    behind = ghosts(display)
    assert len(behind) == 5
    for name, y in rows(display).items():
        np.testing.assert_allclose(behind[round(y, 6)], FREE["abcde".index(name)])


def test_bars_are_the_intervals_under_constraints():
    display = ConstraintDisplay.from_result(make_held())
    for kind in CLASS_STYLES:
        drawn = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars(display.ax_, kind))
        expected = sorted(tuple(HELD[k]) for k in np.flatnonzero(display.result.classes == kind))
        np.testing.assert_allclose(np.reshape(drawn, (-1, 2)), np.reshape(expected, (-1, 2)))


def test_what_is_held_and_what_changed_stands_on_the_right():
    display = ConstraintDisplay.from_result(make_held())
    heights = rows(display)
    assert remarks(display) == {
        heights["b"]: "excluded",
        heights["c"]: "weak → strong",
        heights["e"]: "held to 0.1–0.2",
    }


def test_a_value_is_held_at_a_number():
    display = ConstraintDisplay.from_result(make_held(constraints={"e": (0.15, 0.15)}))
    assert "held at 0.15" in remarks(display).values()


def test_an_open_end_is_that_of_the_interval():
    display = ConstraintDisplay.from_result(make_held(constraints={"e": (0.15, np.inf)}))
    assert "held to 0.15–0.35" in remarks(display).values()


def test_the_classes_of_before_are_believed():
    display = ConstraintDisplay.from_result(make_held(unconstrained_classes=np.array([2, 1, 2, 0, 1])))
    assert "weak → strong" not in texts(display.ax_)


def test_held_features_are_bold_in_brackets():
    display = ConstraintDisplay.from_result(make_held(), sort=False)
    ax = display.ax_
    weights = {label.get_text(): label.get_fontweight() for label in ax.get_yticklabels()}
    assert {name for name, weight in weights.items() if weight == "bold"} == {"b", "e"}
    (brackets,) = [c for c in ax.collections if c.get_label() == "held to this"]
    strokes = brackets.get_segments()
    assert [stroke[0, 0] for stroke in strokes] == [0.0, 0.0, 0.1, 0.2]
    assert [stroke[:, 1].mean().round(6) for stroke in strokes] == [rows(display)[name] for name in "bbee"]
    assert strokes[2][1, 0] < 0.1
    assert strokes[3][1, 0] > 0.2
    assert strokes[0][1, 0] >= ax.get_xlim()[0]


def test_the_axis_reaches_as_far_as_the_ghosts():
    display = ConstraintDisplay.from_result(make_held())
    assert display.ax_.get_xlim()[1] > 0.35


def test_held_and_changed_features_have_rows_in_any_case():
    display = ConstraintDisplay.from_result(make_held(), max_features=1)
    assert {"b", "c", "e"} <= set(rows(display))


def test_folded_features_have_the_hull_as_ghost():
    n = 30
    free = np.column_stack([np.zeros(n), np.linspace(0.001, 0.03, n)])
    result = make_result(
        0, 0, n, intervals=free / 2, unconstrained=free, constraints={"feature 0": (0.0, 0.0)}, baseline=np.zeros(n)
    )
    display = ConstraintDisplay.from_result(result, max_features=3)
    assert len(rows(display)) == 5
    assert min(ghosts(display).values())[1] == pytest.approx(0.001)
    lowest = max(ghosts(display))
    np.testing.assert_allclose(ghosts(display)[lowest], (0.0, free[-4, 1]))


def test_one_feature():
    result = make_result(
        1, 0, 0, intervals=[[0.5, 0.5]], unconstrained=[[0.2, 0.9]], constraints={"feature 0": (0.5, 0.5)}
    )
    display = ConstraintDisplay.from_result(result)
    assert remarks(display) == {0.0: "held at 0.5"}
    display.figure_.draw_without_rendering()


def test_nothing_is_cut_off():
    display = ConstraintDisplay.from_result(make_held())
    ax = display.ax_
    assert inside_figure(display, [*ax.texts, *ax.get_yticklabels(), ax.get_legend()])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[-2:] == ["without the constraints", "held to this"]


def test_constraints_of_privileged_features_alone_hold_nothing_here():
    display = ConstraintDisplay.from_result(make_held(constraints={}))
    assert not [c for c in display.ax_.collections if c.get_label() == "held to this"]
    assert len(ghosts(display)) == 5


def test_names_are_readable():
    display = ConstraintDisplay.from_result(
        make_held(["x" * 80, "$a$ and $b$", "c", "d", "e"]), sort=False, name_length=21
    )
    assert list(rows(display))[:2] == ["x" * 10 + "…" + "x" * 10, r"\$a\$ and \$b\$"]
    display.figure_.draw_without_rendering()


def test_a_result_without_constraints_is_refused():
    with pytest.raises(ValueError, match=r"no constraints; draw that of constrain\(\), or use RelevanceDisplay"):
        ConstraintDisplay.from_result(make_before())


def test_plot_returns_itself_and_uses_the_axes_given():
    before = dict(mpl.rcParams)
    figure = Figure()
    ax = figure.subplots()
    display = ConstraintDisplay(make_held())
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_from_estimator_holds_the_features():
    model = Answering().fit(make_before(), constrain=make_held())
    display = ConstraintDisplay.from_estimator(model, {"b": 0.0}, both_signs=True, sort=False)
    assert model.asked_ == [("constrain", ({"b": 0.0},), {"both_signs": True})]
    assert list(rows(display)) == list("abcde")


def test_from_estimator_asks_for_a_fit():
    with pytest.raises(NotFittedError):
        ConstraintDisplay.from_estimator(Answering(), {"b": 0.0})


def test_says_how_to_install_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"ConstraintDisplay.plot needs matplotlib.*allrelevant\[plot\]"):
        ConstraintDisplay(make_held()).plot()


def test_limits_are_those_of_the_bars_without_constraints():
    free = make_judged_result(2, 2, 2, borderline=1)
    held = replace(
        free, intervals=free.intervals / 2, unconstrained=free.intervals, unconstrained_classes=free.classes,
        constraints={free.names(2)[0]: (0.01, 0.02)},
    )  # fmt: skip
    ax = ConstraintDisplay.from_result(held).ax_
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert held.words.free_limit in said
    assert held.words.own_limit not in said
    (stroke,) = [c for c in ax.collections if c.get_label() == "limits"][1:]
    drawn = sorted(float(segment[0, 0]) for segment in stroke.get_segments())
    np.testing.assert_allclose(drawn, sorted(free.limits))

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import rgb_to_hsv
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from allrelevant.errors import MissingExtra
from allrelevant.plotting import SubstitutionDisplay
from allrelevant.redundancy import Substitutes, SubstituteSet
from drawn import Answering, inside_figure
from handmade import make_result


def replaced(feature, needed=None, *, loss=0.38, norm=0.1, more=()):
    """Substitutes of a feature: one set, if there is one, and what each of it needs."""
    sets = [] if needed is None else [SubstituteSet(tuple(needed), tuple(needed.values()), 0.1, loss, norm)]
    return Substitutes(feature, (*sets, *more), {})


def names(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def cells(display):
    """Weight needed by every drawn pair of names (left out, stands in)."""
    (image,) = display.ax_.images
    values = image.get_array()
    rows, columns = names(display.ax_.yaxis), names(display.ax_.xaxis)
    assert values.shape == (len(rows), len(columns))
    return {
        (row, column): float(values[i, j])
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
        if not np.ma.getmaskarray(values)[i, j]
    }


@pytest.fixture
def mapped():
    return [replaced("a", {"c": 0.2, "b": 0.1}), replaced("b"), replaced("c", {"a": 0.15}), replaced("d", {"e": 0.05})]


def test_cells_are_what_the_substitutes_need(mapped):
    display = SubstitutionDisplay.from_substitutes(mapped)
    assert cells(display) == {("a", "c"): 0.2, ("a", "b"): 0.1, ("c", "a"): 0.15, ("d", "e"): 0.05}
    (image,) = display.ax_.images
    assert image.get_clim() == (0.0, 0.2)


def test_rows_and_columns_match_and_others_follow(mapped):
    display = SubstitutionDisplay.from_substitutes(mapped, sort=False)
    assert names(display.ax_.yaxis) == list("abcd")
    assert names(display.ax_.xaxis) == list("abcde")


def test_sorted_substitutes_are_neighbours():
    asked = [replaced(name, {other: 0.1}) for name, other in ("ad", "be", "cf", "da", "eb", "fc")]
    display = SubstitutionDisplay.from_substitutes(asked)
    order = names(display.ax_.yaxis)
    assert names(display.ax_.xaxis) == order
    assert {frozenset(order[i : i + 2]) for i in (0, 2, 4)} == {frozenset("ad"), frozenset("be"), frozenset("cf")}


def test_the_most_expensive_set_is_shown():
    cheaper = SubstituteSet(("c",), (0.3,), 0.1, 0.01, 0.01)
    display = SubstitutionDisplay.from_substitutes([replaced("a", {"b": 0.1}, more=[cheaper])])
    assert cells(display) == {("a", "b"): 0.1}


def test_prices_stand_on_the_right():
    asked = [
        replaced("a", {"b": 0.1}, loss=0.38),
        replaced("b", {"a": 0.1}, loss=np.inf, norm=0.07),
        replaced("c", {"a": 0.1}, loss=np.inf, norm=np.inf),
        replaced("d"),
        replaced("e", {}, loss=2.0),
    ]
    display = SubstitutionDisplay.from_substitutes(asked, sort=False)
    written = [text.get_text() for text in display.ax_.texts if "." not in text.get_text()]
    assert written == [
        "+38 %",
        "weights +7 %",
        "no such model",
        "none",
        "+200 %",
        "growth of the loss\nwithout all of them",
    ]
    assert [text.xy[1] for text in display.ax_.texts if text.get_text() in written[:5]] == [0, 1, 2, 3, 4]


def test_small_maps_have_numbers_and_large_ones_none(mapped):
    small = SubstitutionDisplay.from_substitutes(mapped)
    assert sorted(text.get_text() for text in small.ax_.texts if text.get_text()[0] == ".") == [
        ".05",
        ".10",
        ".15",
        ".20",
    ]
    large = SubstitutionDisplay.from_substitutes([replaced(f"x{k}", {f"x{(k + 1) % 20}": 0.1}) for k in range(20)])
    assert not [text for text in large.ax_.texts if text.get_text()[0] == "."]
    assert inside_figure(large, [*large.ax_.texts, *large.ax_.get_xticklabels(), *large.ax_.get_yticklabels()])


def test_one_hue_darker_with_the_need(mapped):
    (image,) = SubstitutionDisplay.from_substitutes(mapped).ax_.images
    scale = image.cmap(np.linspace(0, 1, 11))[:, :3]
    hues = rgb_to_hsv(scale)[:, 0]
    assert np.ptp(hues) < 0.03
    assert np.all(np.diff(scale @ [0.299, 0.587, 0.114]) < 0)
    assert not np.allclose(scale[0], 1.0)  # the least need differs from no relation


def test_the_colour_bar_is_labelled(mapped):
    display = SubstitutionDisplay.from_substitutes(mapped)
    (bar,) = [ax for ax in display.figure_.axes if ax is not display.ax_]
    assert "needs at least" in bar.get_xlabel()


def test_one_feature_without_substitutes():
    display = SubstitutionDisplay.from_substitutes([replaced("a")])
    assert cells(display) == {}
    display.figure_.draw_without_rendering()


def test_no_feature():
    display = SubstitutionDisplay.from_substitutes([])
    assert [text.get_text() for text in display.ax_.texts] == ["No feature was asked about: none is weakly relevant."]
    display.figure_.draw_without_rendering()


def test_a_feature_twice_is_refused():
    with pytest.raises(ValueError, match="substitutes has 'a' 2 times; give each feature once"):
        SubstitutionDisplay([replaced("a"), replaced("a")])


def test_names_are_readable():
    display = SubstitutionDisplay.from_substitutes([replaced("x" * 80, {"$a$ and $b$": 0.1})], name_length=21)
    assert names(display.ax_.yaxis) == ["x" * 10 + "…" + "x" * 10]
    assert names(display.ax_.xaxis) == ["x" * 10 + "…" + "x" * 10, r"\$a\$ and \$b\$"]
    display.figure_.draw_without_rendering()


def test_plot_returns_itself_and_uses_the_axes_given(mapped):
    before = dict(mpl.rcParams)
    figure = Figure()
    ax = figure.subplots()
    display = SubstitutionDisplay(mapped)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_from_estimator_asks_about_weakly_relevant_features():
    result = make_result(1, 30, 2)
    model = Answering().fit(result, substitutes=replaced)
    display = SubstitutionDisplay.from_estimator(model)
    assert [one.feature for one in display.substitutes] == result.names(1)[:20]
    display = SubstitutionDisplay.from_estimator(model, max_features=2)
    assert len(display.substitutes) == 2
    with pytest.raises(ValueError, match="max_features must be at least 1"):
        SubstitutionDisplay.from_estimator(model, max_features=0)


def test_from_estimator_asks_about_the_features_given():
    model = Answering().fit(make_result(), substitutes=replaced)
    display = SubstitutionDisplay.from_estimator(model, ["feature 1", "feature 0"], sort=False)
    assert names(display.ax_.yaxis) == ["feature 1", "feature 0"]


def test_from_estimator_asks_for_a_fit():
    with pytest.raises(NotFittedError):
        SubstitutionDisplay.from_estimator(Answering())


def test_says_how_to_install_matplotlib(monkeypatch, mapped):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"SubstitutionDisplay.plot needs matplotlib.*allrelevant\[plot\]"):
        SubstitutionDisplay(mapped).plot()

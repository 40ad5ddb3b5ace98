from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from allrelevant.errors import MissingExtra
from allrelevant.plotting import StabilityDisplay
from allrelevant.plotting._style import CLASS_STYLES
from allrelevant.redundancy import Stability
from allrelevant.result import RelevanceClass
from drawn import Answering, bars, inside_figure
from handmade import make_result


def make_stability(*counts, n_bootstraps=20, names=None):
    result = make_result(*(counts or (2, 2, 2)), names=names)
    rng = np.random.default_rng(0)
    flips = rng.uniform(size=(n_bootstraps, result.n_features)) < 0.3
    classes = np.where(flips, rng.integers(3, size=flips.shape), result.classes)
    noise = rng.uniform(-0.02, 0.02, size=(*flips.shape, 2))
    intervals = np.maximum(result.intervals + noise, 0.0)
    return Stability(result, classes, intervals)


def rows(ax):
    """Names with their heights."""
    return {label.get_text(): y for y, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)}


def middle(bar):
    return round(bar.get_y() + bar.get_height() / 2, 6)


def whiskers(display, end):
    (lines,) = [c for c in display.axes_[1].collections if c.get_label() == f"{end} in bootstraps"]
    return lines.get_segments()


def test_shares_add_up_in_the_colours_of_the_classes():
    display = StabilityDisplay.from_stability(make_stability())
    stability, ax = display.stability, display.axes_[0]
    drawn = {kind: {middle(bar): bar for bar in bars(ax, kind)} for kind in RelevanceClass}
    for name, y in rows(ax).items():
        k = stability.result.feature_names.index(name)
        left = 0.0
        for kind in reversed(RelevanceClass):
            share = stability.shares[k, kind]
            if share == 0:
                assert round(y, 6) not in drawn[kind]
                continue
            bar = drawn[kind][round(y, 6)]
            assert bar.get_x() == pytest.approx(left)
            assert bar.get_width() == pytest.approx(share)
            assert bar.get_hatch() == CLASS_STYLES[kind].hatch
            assert to_hex(bar.get_edgecolor()) == CLASS_STYLES[kind].shade.light
            left += share
        assert left == pytest.approx(1.0)


def test_intervals_stand_beside_their_shares():
    display = StabilityDisplay.from_stability(make_stability())
    shares, ax = display.axes_
    assert shares.get_ylim() == ax.get_ylim()
    result = display.stability.result
    heights = rows(shares)
    drawn = {middle(bar): bar for kind in RelevanceClass for bar in bars(ax, kind)}
    for name, low_high in zip(result.feature_names, result.intervals, strict=True):
        bar = drawn[round(heights[name], 6)]
        np.testing.assert_allclose((bar.get_x(), bar.get_x() + bar.get_width()), low_high)


@pytest.mark.parametrize("end", [0, 1])
def test_whiskers_are_the_middle_of_the_bootstraps(end):
    display = StabilityDisplay.from_stability(make_stability())
    spread = display.stability.spread()
    heights = rows(display.axes_[0])
    strokes = whiskers(display, ("minRel", "maxRel")[end])
    assert len(strokes) == 6
    for name, y in heights.items():
        k = display.stability.result.feature_names.index(name)
        (own,) = [stroke for stroke in strokes if abs(stroke[0, 1] - y) < 0.31]
        np.testing.assert_allclose(own[:, 0], spread[k, end])
        assert (own[0, 1] > y) == bool(end)


def test_an_end_that_does_not_vary_has_no_whisker():
    stability = make_stability()
    still = stability.intervals.copy()
    still[:, 0, 0] = 0.0
    display = StabilityDisplay.from_stability(Stability(stability.result, stability.classes, still))
    assert len(whiskers(display, "minRel")) == 5
    assert len(whiskers(display, "maxRel")) == 6


def test_whiskers_are_in_view():
    display = StabilityDisplay.from_stability(make_stability())
    assert display.axes_[1].get_xlim()[1] > display.stability.spread()[:, 1, 1].max()


def test_what_does_not_fit_shares_rows_with_mean_shares():
    display = StabilityDisplay.from_stability(make_stability(1, 1, 50), max_features=3)
    stability, (shares, ax) = display.stability, display.axes_
    assert len(rows(shares)) == 4
    last = max(rows(shares).values())
    (bar,) = [bar for bar in bars(shares, RelevanceClass.STRONG) if middle(bar) == round(last, 6)]
    folded = stability.result.ranking()[3:]
    assert bar.get_width() == pytest.approx(stability.shares[folded, RelevanceClass.STRONG].mean())
    assert len(whiskers(display, "maxRel")) == 3
    assert len(ax.get_yticks()) == 4


def test_nothing_is_cut_off():
    display = StabilityDisplay.from_stability(make_stability(4, 20, 6))
    shares, ax = display.axes_
    assert inside_figure(display, [*shares.get_yticklabels(), *display.figure_.legends, *ax.texts])
    assert not [
        label for label in ax.get_yticklabels() if label.get_visible() and ax.yaxis.get_tick_params()["labelleft"]
    ]
    assert shares.get_xlabel() == "share of 20 bootstraps of the samples"


def test_one_feature():
    display = StabilityDisplay.from_stability(make_stability(1, 0, 0, n_bootstraps=2))
    display.figure_.draw_without_rendering()
    assert len(rows(display.axes_[0])) == 1


def test_names_are_readable():
    display = StabilityDisplay.from_stability(
        make_stability(1, 1, 0, names=["x" * 80, "$a$ and $b$"]), sort=False, name_length=21
    )
    assert list(rows(display.axes_[0])) == ["x" * 10 + "…" + "x" * 10, r"\$a\$ and \$b\$"]
    display.figure_.draw_without_rendering()


def test_plot_returns_itself_and_uses_the_axes_given():
    before = dict(mpl.rcParams)
    figure = Figure()
    axes = figure.subplots(1, 2)
    display = StabilityDisplay(make_stability())
    assert display.plot(axes) is display
    assert display.axes_ == tuple(axes)
    assert display.figure_ is figure
    assert len(rows(axes[0])) == 6
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


def test_needs_two_axes():
    with pytest.raises(ValueError, match="axes holds 3 axes; give 2, for the shares and the intervals"):
        StabilityDisplay(make_stability()).plot(Figure().subplots(3))


def test_from_estimator_passes_options_on():
    stability = make_stability()
    model = Answering().fit(stability.result, stability=stability)
    display = StabilityDisplay.from_estimator(model, n_bootstraps=5, sort=False)
    assert display.stability is stability
    assert model.asked_ == [("stability", (), {"n_bootstraps": 5})]
    assert list(rows(display.axes_[0])) == list(stability.result.feature_names)


def test_from_estimator_asks_for_a_fit():
    with pytest.raises(NotFittedError):
        StabilityDisplay.from_estimator(Answering())


def test_says_how_to_install_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"StabilityDisplay.plot needs matplotlib.*allrelevant\[plot\]"):
        StabilityDisplay(make_stability()).plot()

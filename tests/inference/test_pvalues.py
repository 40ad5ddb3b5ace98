"""P-values by counting and by a fitted tail, and the combination of several of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import cauchy, expon, norm

from allrelevant.inference import NullSample, cauchy_combination, remaining_pvalue

DRAWS = {
    "normal": norm.rvs,
    "exponential": expon.rvs,
    "heavy": lambda size, random_state: random_state.standard_t(3, size),
    "ties": lambda size, random_state: random_state.poisson(2.0, size).astype(float),
    "few": lambda size, random_state: random_state.normal(size=max(size // 20, 2)),
    "alike": lambda size, random_state: np.full(size, 0.3),
    "rounding": lambda size, random_state: 1.0 + 1e-13 * random_state.normal(size=size),
    "one outlier": lambda size, random_state: np.append(np.zeros(size), 5.0),
}
P = st.floats(1e-9, 0.89)


def sample(kind, seed, size=200):
    return np.asarray(DRAWS[kind](size=size, random_state=np.random.RandomState(seed)), dtype=float)


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("seed", range(3))
def test_pvalues_fall_with_the_statistic(kind, seed):
    values = sample(kind, seed)
    null = NullSample.of(values)
    middle, width = np.median(values), max(np.ptp(values), 1e-3)
    at = np.sort(np.concatenate([values, np.linspace(middle - 2 * width, middle + 20 * width, 500)]))
    found = null.pvalues(at)
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) <= 1e-12).all()


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("seed", range(3))
def test_limits_are_where_pvalues_are_reached(kind, seed):
    """At the limit the p-value is at most as given, just below it is greater."""
    null = NullSample.of(sample(kind, seed))
    wanted = np.concatenate([10.0 ** -np.arange(0.05, 6.0, 0.25), [0.3, 0.2, 0.15, 0.1, 0.01]])
    limits = null.limit(wanted)
    some = np.isfinite(limits)
    assert some.any()
    assert (null.pvalues(limits[some]) <= wanted[some] * (1 + 1e-9)).all()
    below = limits[some] - 1e-7 * np.maximum(np.abs(limits[some]), 1e-3) - 1e-12
    assert (null.pvalues(below) > wanted[some] * (1 - 1e-4)).all()
    # None but those below what counting can show, where no tail could be fitted.
    least = 1.0 / (1.0 + len(null.values))
    assert (wanted[~some] < least).all()
    assert np.isinf(null.start) or some.all()


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=25), st.floats(1e-6, 0.999))
def test_counting_is_inverted_whatever_the_ties(values, wanted):
    null = NullSample.of(np.array(values, dtype=float))
    limit = float(null.limit(np.array(wanted)))
    if np.isfinite(limit):
        assert null.pvalues(np.array(limit)) <= wanted * (1 + 1e-8)
        below = np.nextafter(limit, -np.inf)
        assert limit >= null.start or null.pvalues(np.array(below)) > wanted
    else:
        assert wanted < 1.0 / (1 + len(values)) + 1e-8


def test_counts_include_the_statistic_itself():
    null = NullSample.of(np.arange(19.0))
    np.testing.assert_allclose(null.pvalues(np.array([-1.0, 0.0, 0.5, 18.0, 18.5])), [1.0, 1.0, 0.95, 0.1, 0.05])
    assert np.isinf(null.start)  # too few for a tail


@pytest.mark.parametrize(("kind", "factor"), [("normal", 5.0), ("exponential", 2.0), ("heavy", 3.0)])
def test_pvalues_far_beyond_the_sample_are_about_right(kind, factor):
    """In the mean over many samples a p-value of 0.001 is not claimed too small; of light tails it may be too great."""
    laws = {"normal": norm, "exponential": expon}
    true = 1e-3
    quantile = laws[kind].isf(true) if kind in laws else 10.2145
    claimed = [float(NullSample.of(sample(kind, seed)).pvalues(np.array(quantile))) for seed in range(300)]
    assert 0.8 * true < np.mean(claimed) < factor * true


def test_excesses_that_are_all_alike_divide_nothing_by_zero():
    """Half of the sample at one value, and the rest at another: the greater excesses are all the same."""
    with np.errstate(all="raise"):
        for values in (np.full(100, 0.0), np.full(100, 7.0), np.repeat([0.0, 1.0], 50), np.repeat([0.0, 1.0], [95, 5])):
            null = NullSample.of(values)
            found = null.pvalues(np.array([-1.0, 0.0, 0.5, 1.0, 7.0, 8.0, 100.0]))
            assert np.isfinite(found).all()
            assert (np.diff(found) <= 0).all()
        alike = NullSample.of(np.full(100, 0.3))
        np.testing.assert_allclose(alike.pvalues(np.array([0.3, 0.30001])), [1.0, 1 / 101])


def test_the_tail_has_no_end():
    """The greatest of a sample on a bounded interval does not make what lies beyond it impossible."""
    null = NullSample.of(np.linspace(0.0, 1.0, 400))
    assert null.shape == 0.0
    assert (null.pvalues(np.array([1.0, 1.2, 2.0])) > 0).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 10.0])
def test_units_change_nothing(scale, shift):
    values, at = sample("exponential", 0), np.array([0.1, 1.0, 3.0, 9.0])
    one, two = NullSample.of(values), NullSample.of(scale * (values + shift))
    np.testing.assert_allclose(two.pvalues(scale * (at + shift)), one.pvalues(at), rtol=1e-6)


@given(st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=4))
def test_cauchys_rule_is_that_of_the_mean_of_cauchy_values(pvalues):
    """With p-values above 0.9 counted as 0.9."""
    expected = cauchy.sf(np.mean([cauchy.isf(min(p, 0.9)) for p in pvalues]))
    assert cauchy_combination(*(np.array([p]) for p in pvalues))[0] == pytest.approx(expected, rel=1e-6)


@given(P, st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=3))
def test_the_remaining_pvalue_inverts_the_combination(one, others):
    others = [np.array([p]) for p in others]
    combined = cauchy_combination(np.array([one]), *others)
    assume(combined[0] < 0.9)
    assert remaining_pvalue(combined, *others)[0] == pytest.approx(one, rel=1e-5)
    smaller, greater = np.array([one * 0.9]), np.array([min(one * 1.1, 0.9)])
    assert cauchy_combination(smaller, *others)[0] <= combined[0]
    assert cauchy_combination(greater, *others)[0] >= combined[0]


@given(st.floats(1e-9, 0.5), st.floats(1e-9, 1.0))
def test_what_remains_is_the_greatest_that_does(combined, other):
    needed = remaining_pvalue(np.array([combined]), np.array([other]))[0]
    assert 0 <= needed <= 1
    for p, within in ((needed * (1 - 1e-5), True), (needed * (1 + 1e-5), False)):
        if 1e-14 < p < 0.9:
            found = cauchy_combination(np.array([p]), np.array([other]))[0]
            assert (found <= combined * (1 + 1e-9)) if within else (found > combined * (1 - 1e-9))
    if needed > 0.9:  # any p-value will do: the other one is evidence enough
        assert cauchy_combination(np.array([1.0]), np.array([other]))[0] <= combined * (1 + 1e-9)


def test_evidence_is_not_cancelled_by_a_pvalue_near_one():
    found = cauchy_combination(np.array([1e-4]), np.array([1.0]))[0]
    assert found == pytest.approx(2e-4, rel=0.01)
    assert cauchy_combination(np.array([0.0]), np.array([1.0]))[0] < 1e-14
    assert cauchy_combination(np.array([1.0]), np.array([1.0]))[0] == pytest.approx(0.9)


@pytest.mark.parametrize("correlation", [0.0, 0.6, 1.0, -0.9])
def test_the_combination_holds_its_level_whatever_the_dependence(correlation):
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(2, 20_000))
    other = correlation * one + np.sqrt(1 - correlation**2) * other
    combined = cauchy_combination(norm.sf(one), norm.sf(other))
    for level in (0.01, 0.05):
        assert np.mean(combined <= level) <= level + 3 * np.sqrt(level / 20_000)

"""P-values against the null distribution that row-permuted copies make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allrelevant.inference import CopiesNull, copies_pvalues
from allrelevant.inference.copies import SAME


def exchangeable(rng, n_sets, d, between=0.0, law="exponential"):
    """Statistics of noise, and of its copies: each feature with a level of its own, and the same law around it."""
    draws = getattr(rng, law)(size=(1 + n_sets, d))
    values = draws + between * rng.normal(size=d) + 10.0
    return values[0], values[1:]


@pytest.mark.parametrize("n_sets", [1, 3, 12])
@pytest.mark.parametrize("between", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("law", ["exponential", "standard_normal"])
def test_pvalues_of_exchangeable_noise_hold(n_sets, between, law):
    """Whatever features differ by; a single copy of each cannot tell that, and is then no more than safe."""
    rng = np.random.default_rng(0)
    pvalues = np.concatenate([copies_pvalues(*exchangeable(rng, n_sets, 40, between, law)) for _ in range(150)])
    for level in (0.002, 0.01, 0.05, 0.2):
        error = 3 * np.sqrt(level / len(pvalues))
        share = np.mean(pvalues <= level)
        # A centre that is shrunk or not, as few copies say, leaves some of the differences to the deviations.
        assert share <= 1.25 * level + error
        if n_sets > 1:
            assert share >= 0.3 * level - error


def test_the_smallest_pvalue_of_a_set_of_noise_is_rarely_small():
    rng = np.random.default_rng(1)
    for d in (8, 40):
        least = [copies_pvalues(*exchangeable(rng, max(60 // d, 3), d)).min() * d for _ in range(500)]
        # A tail that is fitted to 20 of 60 values is not quite the true one.
        assert np.mean(np.array(least) <= 0.05) <= 0.065 + 3 * np.sqrt(0.065 / 500)


def test_centres_are_shrunk_wholly_where_features_do_not_differ():
    null = CopiesNull.of(np.tile([[1.0], [2.0], [3.0]], 5))  # all of the variance is within features
    np.testing.assert_allclose(null.centre, 2.0)
    np.testing.assert_allclose(null.deviations.values, np.repeat([-1.0, 0.0, 1.0], 5))


def test_centres_are_those_of_each_feature_where_all_variance_is_between_them():
    levels = np.arange(1.0, 8.0)
    null = CopiesNull.of(np.tile(levels, (3, 1)))
    np.testing.assert_allclose(null.centre, levels)
    np.testing.assert_allclose(null.deviations.values, 0.0, atol=1e-12)


def test_shrinkage_lies_between_and_is_that_of_empirical_bayes():
    copies = np.random.default_rng(2).normal(size=(4, 30)) + np.random.default_rng(3).normal(size=30)
    mean, within = copies.mean(axis=0), copies.var(axis=0, ddof=1).mean() / 4
    share = 1 - within / mean.var(ddof=1)
    assert 0.5 < share < 0.95
    np.testing.assert_allclose(CopiesNull.of(copies).centre, mean.mean() + share * (mean - mean.mean()))


def test_deviations_are_from_the_other_copies():
    """One copy that stands out is not part of what it is compared with."""
    copies = np.tile(np.arange(5.0) * 100.0, (3, 1))
    copies[0, 2] += 30.0
    deviations = CopiesNull.of(copies).deviations.values
    assert deviations.max() == pytest.approx(30.0, rel=0.01)


@given(st.integers(1, 4), st.integers(1, 30), st.integers(0, 2**16), st.floats(1e-4, 0.9))
def test_limits_are_where_pvalues_are_reached(n_sets, d, seed, wanted):
    rng = np.random.default_rng(seed)
    _, copies = exchangeable(rng, n_sets, d, 1.0)
    null = CopiesNull.of(copies)
    limits = null.limits(np.full(d, wanted))
    some = np.isfinite(limits)
    above, below = limits + 1e-9, limits - 1e-4
    assert (null.pvalues(np.where(some, above, 0.0)) <= wanted * (1 + 1e-6))[some].all()
    assert (null.pvalues(np.where(some, below, 0.0)) > wanted * (1 - 1e-2))[some].all()
    assert some.all() or wanted <= 1.0 / (1 + n_sets * d)


@pytest.mark.parametrize("value", [0.0, 0.3, 1e-300])
@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 60), (3, 60)])
def test_statistics_that_are_all_alike_are_chance(value, shape):
    """And nothing is divided by zero."""
    with np.errstate(all="raise", under="ignore"):
        copies = np.full(shape, value)
        np.testing.assert_allclose(copies_pvalues(np.full(shape[1], value), copies), 1.0)
        found = copies_pvalues(np.full(shape[1], value + 1.0), copies)
    assert (found <= 1.0 / (1 + np.prod(shape)) + 1e-12).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_differences_within_the_error_of_the_statistic_are_none(scale):
    rng = np.random.default_rng(0)
    copies = scale * (0.3 + 1e-9 * rng.normal(size=(3, 40)))
    same = scale * (0.3 + np.full(40, 0.1 * SAME))
    assert (copies_pvalues(same, copies) > 0.5).all()


def test_features_without_all_copies_have_no_small_pvalue():
    rng = np.random.default_rng(0)
    copies = rng.exponential(size=(3, 30))
    copies[1:, [4, 7]] = np.nan
    statistic = np.full(30, 50.0)
    found = copies_pvalues(statistic, copies)
    assert (found[[4, 7]] == 0.5).all()
    assert (np.delete(found, [4, 7]) < 1e-3).all()
    # The null distribution is learnt from complete features only.
    whole = np.delete(np.arange(30), [4, 7])
    np.testing.assert_allclose(found[whole], copies_pvalues(statistic[whole], copies[:, whole]), rtol=0.2)


def test_units_and_order_change_nothing():
    rng = np.random.default_rng(4)
    statistic, copies = exchangeable(rng, 3, 20, 1.0)
    found = copies_pvalues(statistic, copies)
    np.testing.assert_allclose(copies_pvalues(1e3 * statistic, 1e3 * copies), found, rtol=1e-6)
    order = rng.permutation(20)
    np.testing.assert_allclose(copies_pvalues(statistic[order], copies[:, order]), found[order], rtol=1e-6)
    np.testing.assert_allclose(copies_pvalues(statistic, copies[::-1]), found, rtol=1e-6)

"""Adjusted p-values, and the p-value up to which each feature would be found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from allrelevant.inference import CONTROLS, adjusted_pvalues, borderline, pvalue_limits

#: Few values, so that many of them are equal, and any.
SOME = st.lists(
    st.one_of(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.025, 0.05, 0.5, 1.0]), st.floats(0.0, 1.0)), max_size=12
)
LEVELS = st.one_of(st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.5]), st.floats(1e-4, 0.9))


def step_down(pvalues):
    """Holm's adjusted p-values by their definition."""
    m = len(pvalues)
    order = sorted(range(m), key=lambda k: pvalues[k])
    out, reached = [0.0] * m, 0.0
    for rank, k in enumerate(order):
        reached = max(reached, min(1.0, (m - rank) * pvalues[k]))
        out[k] = reached
    return out


def step_up(pvalues, level):
    """Who Benjamini and Hochberg's procedure rejects: all up to the greatest p below its line."""
    m = len(pvalues)
    below = [p for k, p in enumerate(sorted(pvalues), start=1) if p * m <= level * k]
    return [bool(below) and p <= max(below) for p in pvalues]


@given(SOME)
def test_benjamini_and_hochberg_are_those_of_scipy(pvalues):
    expected = false_discovery_control(pvalues) if pvalues else []
    np.testing.assert_allclose(adjusted_pvalues(np.array(pvalues)), expected, rtol=1e-12)


@given(st.lists(st.integers(0, 64), min_size=1, max_size=8), st.sampled_from([1 / 64, 1 / 16, 1 / 8, 1 / 4]))
def test_the_found_are_those_of_the_step_up_procedure(numerators, level):
    # The numbers of the procedure are exact in binary for eight features.
    pvalues = np.array(numerators + [64] * (8 - len(numerators))) / 64
    assert (adjusted_pvalues(pvalues) <= level).tolist() == step_up(pvalues.tolist(), level)


@given(SOME)
def test_holm_is_the_step_down_procedure(pvalues):
    np.testing.assert_allclose(adjusted_pvalues(np.array(pvalues), "fwer"), step_down(pvalues), rtol=1e-12)


def test_known_values():
    pvalues = np.array([0.04, 0.01, 0.03, 0.005])
    np.testing.assert_allclose(adjusted_pvalues(pvalues, "fwer"), [0.06, 0.03, 0.06, 0.02])
    np.testing.assert_allclose(adjusted_pvalues(pvalues, "fdr"), [0.04, 0.02, 0.04, 0.02])
    np.testing.assert_array_equal(adjusted_pvalues(pvalues, "none"), pvalues)


@pytest.mark.parametrize("control", CONTROLS)
@given(pvalues=SOME, level=LEVELS)
def test_who_is_within_the_limit_is_found_and_nobody_else(control, pvalues, level):
    given_pvalues = np.array(pvalues)
    found = adjusted_pvalues(given_pvalues, control) <= level
    limits = pvalue_limits(given_pvalues, level, control)
    # Both are products of the same numbers in another order.
    near = np.isclose(given_pvalues, limits, rtol=1e-12, atol=0.0)
    np.testing.assert_array_equal((given_pvalues <= limits)[~near], found[~near])


@pytest.mark.parametrize("control", CONTROLS)
@given(pvalues=SOME.filter(bool), level=LEVELS, data=st.data())
def test_the_limit_is_where_a_feature_begins_to_be_found(control, pvalues, level, data):
    """With its p-value just within the limit it is found, with one just beyond it is not; the others stay."""
    k = data.draw(st.integers(0, len(pvalues) - 1))
    limit = pvalue_limits(np.array(pvalues), level, control)[k]
    for p, expected in ((limit * (1 - 1e-6), True), (limit * (1 + 1e-6), False)):
        changed = np.array(pvalues)
        changed[k] = min(p, 1.0)
        assert (adjusted_pvalues(changed, control)[k] <= level) == expected


@pytest.mark.parametrize("control", CONTROLS)
@given(pvalues=SOME, seed=st.integers(0, 99))
def test_order_changes_nothing(control, pvalues, seed):
    order = np.random.default_rng(seed).permutation(len(pvalues))
    shuffled = np.array(pvalues)[order]
    np.testing.assert_array_equal(
        adjusted_pvalues(shuffled, control), adjusted_pvalues(np.array(pvalues), control)[order]
    )


@pytest.mark.parametrize("control", CONTROLS)
def test_one_feature_has_the_level_to_itself(control):
    np.testing.assert_allclose(pvalue_limits(np.array([0.2]), 0.05, control), [0.05])
    assert adjusted_pvalues(np.array([0.2]), control) == [0.2]


def test_what_is_near_the_level_is_borderline():
    adjusted = np.array([0.0, 0.0249, 0.025, 0.05, 0.1, 0.101, 1.0, np.nan])
    assert borderline(adjusted, 0.05).tolist() == [False, False, True, True, True, False, False, False]


@pytest.mark.parametrize("function", [adjusted_pvalues, lambda p, control: pvalue_limits(p, 0.05, control)])
def test_unknown_controls_are_refused(function):
    with pytest.raises(ValueError, match="control='bonferroni' is unknown; choose one of 'fdr', 'fwer', 'none'"):
        function(np.array([0.1]), "bonferroni")

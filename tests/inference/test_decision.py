"""The decision: one rule in two forms, by adjusted p-values and by limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.inference import CONTROLS, Decision, adjusted_pvalues, cauchy_combination, copies_pvalues, decide


@st.composite
def problems(draw):
    """Statistics, copies and p-values alone, with ties, zeros and features that stand out."""
    d, n_sets = draw(st.integers(1, 25)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    statistic, copies = rng.exponential(size=d), rng.exponential(size=(n_sets, d))
    if draw(st.booleans()):
        statistic, copies = np.round(statistic), np.round(copies)
    strong = rng.random(d) < draw(st.floats(0, 1))
    statistic[strong] += draw(st.sampled_from([0.5, 3.0, 100.0]))
    alone = np.where(rng.random(d) < 0.3, 10.0 ** rng.uniform(-8, -1, d), rng.uniform(size=d))
    which = draw(st.sampled_from(["both", "both", "together", "alone"]))
    return statistic, None if which == "alone" else copies, None if which == "together" else alone


@settings(deadline=None)
@given(problems(), st.sampled_from(CONTROLS), st.sampled_from([0.001, 0.05, 0.2]))
def test_both_forms_of_the_rule_are_one(problem, control, level):
    statistic, copies, alone = problem
    found = decide(statistic, copies, alone, level=level, control=control)
    np.testing.assert_array_equal(found.relevant, found.adjusted <= level)
    np.testing.assert_array_equal(found.adjusted, adjusted_pvalues(found.pvalues, control))
    if copies is None:
        assert np.isnan(found.limits).all()
        assert np.isnan(found.together).all()
        np.testing.assert_array_equal(found.pvalues, alone)
    else:
        np.testing.assert_array_equal(found.relevant, statistic > found.limits)
        expected = np.where(statistic > 0, copies_pvalues(statistic, copies), 1.0)
        np.testing.assert_array_equal(found.together, expected)
    if alone is None:
        assert np.isnan(found.alone).all()
        np.testing.assert_array_equal(found.pvalues, found.together)
    elif copies is not None:
        np.testing.assert_array_equal(found.alone, alone)
        np.testing.assert_array_equal(found.pvalues, cauchy_combination(found.together, alone))


@settings(deadline=None)
@given(problems(), st.sampled_from(CONTROLS), st.integers(0, 24))
def test_a_feature_that_passes_its_limit_is_found(problem, control, place):
    """The limit says what the statistic would have to be, all other features being what they are."""
    statistic, copies, alone = problem
    if copies is None:
        return
    k = place % len(statistic)
    limit = decide(statistic, copies, alone, control=control).limits[k]
    if not np.isfinite(limit):
        limit = 1e9  # not even that is enough
        expected = False
    else:
        expected = True
    changed = statistic.copy()
    changed[k] = max(limit + 1e-5 * max(abs(limit), 1.0), 1e-5)
    assert decide(changed, copies, alone, control=control).relevant[k] == expected


def test_nothing_to_compare_with_is_nothing_found():
    found = decide(np.array([1.0, 2.0]), None, None)
    assert not found.relevant.any()
    np.testing.assert_array_equal(found.pvalues, 1.0)
    none = Decision.nothing(3)
    assert not none.relevant.any()
    np.testing.assert_array_equal(none.adjusted, 1.0)
    assert np.isnan([none.together, none.alone, none.limits]).all()


def test_a_statistic_of_zero_is_no_evidence():
    rng = np.random.default_rng(0)
    copies = np.zeros((3, 30))
    found = decide(np.append(np.zeros(29), 1.0), copies, None)
    np.testing.assert_array_equal(found.together[:-1], 1.0)
    below = decide(np.zeros(30), -rng.exponential(size=(3, 30)), None)
    assert not below.relevant.any()


def test_evidence_of_one_kind_is_enough():
    rng = np.random.default_rng(1)
    statistic, copies, alone = rng.uniform(size=30), rng.exponential(size=(3, 30)), rng.uniform(0.1, 1, 30)
    statistic[0], alone[1] = 60.0, 1e-6
    found = decide(statistic, copies, alone)
    assert np.flatnonzero(found.relevant).tolist() == [0, 1]
    assert found.limits[1] < statistic[1]
    assert (found.limits[2:] > statistic[2:]).all()


@pytest.mark.parametrize("control", CONTROLS)
def test_noise_is_found_at_most_as_often_as_the_level_says(control):
    rng = np.random.default_rng(2)
    any_found, share = [], []
    for _ in range(400):
        relevant = decide(
            rng.exponential(size=30), rng.exponential(size=(3, 30)), rng.uniform(size=30), control=control
        ).relevant
        any_found.append(relevant.any())
        share.append(relevant.mean())
    rate = np.mean(share) if control == "none" else np.mean(any_found)
    # Of noise alone all that is found is false: the share of false is 1 wherever anything is found.
    assert rate <= 0.05 + 3 * np.sqrt(0.05 / 400)

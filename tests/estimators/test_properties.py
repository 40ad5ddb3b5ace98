"""What must hold for any data (hypothesis)."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from allrelevant import LinearRelevanceClassifier, RelevanceWarning
from problems import KINDS, problem

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
problems = st.tuples(st.sampled_from(KINDS), st.integers(0, 10_000)).map(lambda key: problem(*key))
penalties = st.sampled_from([0.1, 1.0, 10.0])


def fit(X, y, weight=None, **parameters):
    parameters = {"n_copies": 1, "random_state": 0} | parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        return LinearRelevanceClassifier(**parameters).fit(X, y, sample_weight=weight)


def same(one, two, columns=slice(None)):
    """Bitwise: the same path was taken, not just the same optimum found.

    Equal columns may trade places, and with them the last digit of their p-values.
    """
    np.testing.assert_array_equal(one.intervals_[columns], two.intervals_)
    np.testing.assert_array_equal(one.relevance_classes_[columns], two.relevance_classes_)
    for name in ("pvalues", "together_pvalues", "alone_pvalues", "limits"):
        given, other = getattr(one.result_, name)[columns], getattr(two.result_, name)
        np.testing.assert_allclose(given, other, rtol=1e-9, atol=1e-12, err_msg=name)
    assert repr(one.thresholds_) == repr(two.thresholds_)


@SETTINGS
@given(problems, penalties)
def test_the_baseline_lies_within_the_intervals(data, C):
    X, y, weight = data
    model = fit(X, y, weight, C=C)
    share = np.abs(model.result_.baseline)
    low, high = model.intervals_.T
    assert (low >= 0).all()
    assert (low <= share + 1e-6).all()
    assert (share <= high + 1e-6).all()
    assert model.result_.max_gap <= 1e-6


@SETTINGS
@given(problems, penalties, st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.5))
def test_intervals_grow_with_slack(data, C, norm_slack, loss_slack, more):
    X, y, weight = data
    narrow = fit(X, y, weight, C=C, norm_slack=norm_slack, loss_slack=loss_slack).intervals_
    wide = fit(X, y, weight, C=C, norm_slack=norm_slack + more, loss_slack=loss_slack + more).intervals_
    assert (wide[:, 0] <= narrow[:, 0] + 2e-6).all()
    assert (wide[:, 1] >= narrow[:, 1] - 2e-6).all()


@SETTINGS
@given(problems, st.integers(0, 2**31 - 1), st.sampled_from([None, 1.0]))
def test_the_order_of_rows_does_not_matter(data, seed, C):
    X, y, weight = data
    order = np.random.RandomState(seed).permutation(len(X))
    same(fit(X, y, weight, C=C), fit(X[order], y[order], weight[order], C=C))


@SETTINGS
@given(problems, st.integers(0, 2**31 - 1), st.sampled_from([None, 1.0]))
def test_the_order_of_columns_does_not_matter(data, seed, C):
    X, y, weight = data
    order = np.random.RandomState(seed).permutation(X.shape[1])
    same(fit(X, y, weight, C=C), fit(X[:, order], y, weight, C=C), order)


@SETTINGS
@given(problems, st.integers(0, 2**31 - 1), st.sampled_from([None, 1.0]))
def test_signs_of_columns_do_not_matter(data, seed, C):
    X, y, weight = data
    signs = np.random.RandomState(seed).choice([-1.0, 1.0], size=X.shape[1])
    one, two = fit(X, y, weight, C=C), fit(X * signs, y, weight, C=C)
    same(one, two)
    np.testing.assert_array_equal(one.coef_, two.coef_ * signs)


@SETTINGS
@given(problems, st.integers(0, 2**31 - 1), st.sampled_from([None, 1.0]))
def test_a_weight_of_two_is_a_row_given_twice(data, seed, C):
    """To the models; permutations exchange two rows each by itself, and one row of twice the weight as one."""
    X, y, _ = data
    twice = np.random.RandomState(seed).rand(len(X)) < 0.4
    repeated = np.concatenate([np.arange(len(X)), np.flatnonzero(twice)])
    weighted, doubled = fit(X, y, 1.0 + twice, C=C), fit(X[repeated], y[repeated], C=C)
    np.testing.assert_array_equal(weighted.intervals_, doubled.intervals_)
    np.testing.assert_array_equal(weighted.coef_, doubled.coef_)


@SETTINGS
@given(problems, st.integers(0, 2**31 - 1))
def test_a_weight_of_zero_is_a_row_left_out(data, seed):
    X, y, _ = data
    kept = np.random.RandomState(seed).rand(len(X)) < 0.8
    assume(min((y[kept] < 0).sum(), (y[kept] > 0).sum()) >= 3)
    same(fit(X, y, kept.astype(float), C=1.0), fit(X[kept], y[kept], C=1.0))


@SETTINGS
@given(st.integers(0, 10_000), penalties)
def test_a_duplicate_makes_a_strong_feature_weak(seed, C):
    X, y, _ = problem("plain", seed)
    alone = fit(X, y, C=C)
    k = int(np.argmax(alone.intervals_[:, 0]))
    assume(alone.intervals_[k, 0] > 1e-4)
    both = fit(np.hstack([X, X[:, [k]]]), y, C=C)
    assert both.intervals_[k, 0] == 0.0
    np.testing.assert_array_equal(both.intervals_[k], both.intervals_[-1])


@SETTINGS
@given(problems, st.floats(-6, 6))
def test_units_do_not_matter(data, exponent):
    X, y, weight = data
    plain, scaled = (fit(Z, y, weight, C=1.0) for Z in (X, 10.0**exponent * X + 5.0))
    np.testing.assert_allclose(plain.intervals_, scaled.intervals_, atol=1e-5)

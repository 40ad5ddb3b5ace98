from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, pearsonr

from allrelevant.forest.alone import evidence_alone
from allrelevant.forest.boruta import Importances
from allrelevant.forest.evidence import Evidence
from allrelevant.forest.learner import Sample, Target
from allrelevant.inference import adjusted_pvalues, cauchy_combination
from allrelevant.inference.exchange import exchangeability


def of(X, y, n_classes=0, categorical=None, groups=None):
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    mask = np.zeros(X.shape[1], dtype=bool) if categorical is None else np.array(categorical)
    return Sample(X, Target(y, n_classes), np.ones(len(X)), mask, exchangeability(len(X), y, groups))


def evidence(means, alone, n_permutations=np.inf, level=0.05, control="fdr"):
    rng = np.random.default_rng(0)
    copies = rng.standard_normal((40, len(means)))
    return Evidence(Importances(np.tile(means, (10, 1)), copies), np.array(alone), n_permutations, level, control)


def test_numbers_are_judged_by_their_correlation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = 0.3 * X[:, 0] + rng.standard_normal(120)
    found = evidence_alone(of(X, y), seed=0)
    for k in range(4):
        assert found[k] == pytest.approx(pearsonr(X[:, k], y).pvalue, rel=0.7, abs=0.08)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_categories_are_judged_by_their_codes(n_classes):
    rng = np.random.default_rng(1)
    code = rng.integers(4, size=150)
    y = np.where(rng.random(150) < 0.4, np.array([1, 0, 0, 1])[code], rng.integers(n_classes, size=150))
    other = rng.integers(4, size=150)
    assert chi2_contingency(np.histogram2d(code, y, [4, n_classes])[0]).pvalue < 1e-4
    # As numbers, the codes are of no use: the outer ones are alike, and so are the inner ones.
    as_numbers = evidence_alone(of(np.column_stack([code, other]), y, n_classes), seed=0)
    as_categories = evidence_alone(of(np.column_stack([code, other]), y, n_classes, [True, True]), seed=0)
    assert as_numbers[0] > 0.01
    assert as_categories[0] < 0.002
    assert as_categories[1] > 0.02


def test_that_a_value_is_missing_can_tell():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 2))
    y = rng.standard_normal(100)
    X[np.argsort(-y + 0.5 * rng.standard_normal(100))[:30], 0] = np.nan
    X[rng.permutation(100)[:30], 1] = np.nan
    found = evidence_alone(of(X, y), seed=0)
    assert found[0] < 0.001
    assert found[1] > 0.02


def test_any_number_of_columns_at_a_time_is_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    data = of(np.where(rng.random((60, 7)) < 0.1, np.nan, rng.integers(3, size=(60, 7))), rng.standard_normal(60))
    data = Sample(data.X, data.target, data.weight, np.arange(7) % 2 > 0, data.rows)
    together = evidence_alone(data, seed=0)
    monkeypatch.setattr("allrelevant.forest.alone.AT_ONCE", 3)
    np.testing.assert_allclose(evidence_alone(data, seed=0), together)
    assert evidence_alone(of(np.empty((10, 0)), np.arange(10)), seed=0).shape == (0,)


def test_groups_change_places_as_a_whole():
    groups = np.repeat(np.arange(10), 8)
    rng = np.random.default_rng(4)
    y = np.repeat(rng.permutation(10) % 2, 8)
    X = rng.standard_normal((10, 20))[groups]
    free, whole = (evidence_alone(of(X, y, 2, groups=one), seed=0) for one in (None, groups))
    assert np.mean(free < 0.05) > 0.3
    assert np.mean(whole < 0.05) < 0.25


def test_either_kind_of_evidence_is_enough():
    found = evidence([0.0, 8.0, 0.0, 0.0, 0.0], [0.5, 0.9, 1e-6, 0.3, 0.7])
    np.testing.assert_array_equal(found.relevant, [False, True, True, False, False])
    np.testing.assert_allclose(found.pvalues, cauchy_combination(found.together.pvalues, found.alone))
    np.testing.assert_allclose(found.adjusted, adjusted_pvalues(found.pvalues))


def test_no_pvalue_is_below_one_arrangement_of_the_target():
    found = evidence([9.0, 0.0], [1e-9, 0.5], n_permutations=28)
    assert found.pvalues[0] == 1 / 28
    assert not evidence([9.0, 0.0], [1e-9, 0.5], n_permutations=28, level=0.01).relevant.any()
    assert np.isinf(evidence([9.0, 0.0], [1e-9, 0.5], n_permutations=28, level=0.01).limits()).all()


@pytest.mark.parametrize("control", ["fdr", "fwer", "none"])
def test_limits_are_what_the_importance_has_to_exceed(control):
    rng = np.random.default_rng(5)
    for _ in range(20):
        found = evidence(2.0 * rng.standard_normal(6), rng.uniform(size=6) ** 2, control=control)
        limits, mean = found.limits(), found.together.mean
        np.testing.assert_array_equal(mean > limits, found.relevant)
        for k in np.flatnonzero(np.isfinite(limits) & (limits > 0.0)):
            for step, relevant in ((1e-6, True), (-0.1, False)):
                moved = mean.copy()
                moved[k] = limits[k] + step
                again = Importances(np.tile(moved, (10, 1)), found.together.copies)
                other = Evidence(again, found.alone, np.inf, 0.05, control)
                assert other.relevant[k] == relevant

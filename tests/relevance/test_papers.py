"""The papers' rule as it is published: probes that replace a feature, and their prediction interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

import oracle
from allrelevant import LinearRelevanceClassifier
from allrelevant._progress import Progress
from allrelevant.formulations import Classification
from allrelevant.inference.prediction import prediction_limit
from allrelevant.lp import GAP_LIMIT
from allrelevant.relevance.baseline import fit_baseline
from allrelevant.relevance.copies import Sample
from allrelevant.relevance.nearoptimal import near_optimal_set
from allrelevant.relevance.papers import (
    Probes,
    chance_of,
    draw_probes,
    papers_decision,
    replaced_probes,
    varying_features,
)
from allrelevant.relevance.solving import Solving
from problems import problem

RNG = np.random.RandomState(0)


def test_the_limit_is_the_prediction_interval_of_the_probes():
    values = RNG.uniform(size=30)
    expected = values.mean() + stats.t.ppf(0.999, 29) * values.std(ddof=1) * np.sqrt(1 + 1 / 30)
    low, high = Probes(np.zeros(30), values, 40).limits(0.001)
    assert high == pytest.approx(expected)
    assert low == GAP_LIMIT  # a minimum below what a proof can tell from 0 is none


@pytest.mark.parametrize("level", [0.1, 0.001, 0.0001])
def test_the_chance_at_the_limit_is_the_level(level):
    values = RNG.uniform(0.1, 0.2, size=50)
    limit = prediction_limit(values, 1 - level)
    assert chance_of(np.array([limit]), values)[0] == pytest.approx(level, rel=1e-6)
    assert 0.5 < chance_of(np.array([0.0]), values)[0] <= 1.0


def test_probes_without_spread():
    same = np.full(5, 0.2)
    np.testing.assert_array_equal(chance_of(np.array([0.1, 0.2, 0.3]), same), [1.0, 1.0, 0.0])
    assert Probes(np.zeros(5), np.zeros(5), 5).limits(0.001) == (GAP_LIMIT, GAP_LIMIT)


def test_features_beyond_the_limit_are_relevant():
    found = papers_decision(np.array([0.05, 0.2, 0.1, 0.0]), Probes(np.zeros(5), np.full(5, 0.1), 5), 0.001)
    np.testing.assert_array_equal(found.relevant, [False, True, False, False])
    np.testing.assert_allclose(found.limits, 0.1 + GAP_LIMIT)
    np.testing.assert_array_equal(found.pvalues, [1.0, 0.0, 1.0, 1.0])
    np.testing.assert_array_equal(found.adjusted, found.pvalues)
    assert np.isnan(found.alone).all()
    values = RNG.uniform(0.1, 0.2, size=20)
    found = papers_decision(np.linspace(0.05, 0.4, 50), Probes(np.zeros(20), values, 20), 0.01)
    np.testing.assert_array_equal(found.relevant, found.pvalues <= 0.01)


def test_too_few_probes_prove_nothing():
    probes = Probes(np.zeros(2), np.array([0.1, 0.2]), 5)
    assert np.isnan(probes.limits(0.05)).all()
    found = papers_decision(np.array([0.5, 1.0]), probes, 0.05)
    assert not found.relevant.any()
    np.testing.assert_array_equal(found.pvalues, 1.0)


def test_probes_are_permutations_of_varying_features():
    X = np.column_stack([RNG.normal(size=20), np.ones(20), RNG.normal(size=20)])
    for data in (X, sparse.csr_array(X)):
        source, values = draw_probes(data, 100, varying_features(data, np.arange(3)), np.random.RandomState(1))
        assert set(source) == {0, 2}
        for k, column in zip(source, values, strict=True):
            assert column.shape == (20, 1)
            assert column[0, 0] > column[1, 0]
            same = [np.array_equal(np.sort(column[:, 0]), np.sort(sign * X[:, k])) for sign in (1, -1)]
            assert sum(same) == 1
            assert not np.array_equal(column[:, 0], X[:, k])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_probes_stand_in_the_place_of_their_feature(form):
    """The programs of the papers by scipy: the probe replaces the feature, within the budgets of the baseline."""
    X, y, _ = problem("noisy", 2)
    Z, weight, C = (X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(y)), 1.0
    data = form(Z)
    base = fit_baseline(Classification(), data, y, weight, C=C, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.2, loss_slack=0.2)
    source, values = draw_probes(data, 6, np.arange(Z.shape[1]), np.random.RandomState(0))
    columns = list(values)
    found = replaced_probes(near, Classification(), Sample(data, y, weight), source, iter(columns), Solving())
    expected = []
    for k, column in zip(source, columns, strict=True):
        other = Z.copy()
        other[:, [k]] = column
        try:
            rows = oracle.classification(other, y, weight)
            expected.append(oracle.relevance(*rows, near.budget.norm, near.budget.loss)[k] / near.mu)
        except AssertionError:  # no near-optimal model is left
            continue
    assert len(expected) > 0
    assert (found.n_drawn, found.late) == (6, 0)
    np.testing.assert_allclose(np.column_stack([found.minimum, found.maximum]), expected, atol=2e-6)


def test_needed_features_leave_no_model_to_their_probes():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] > 0
    model = LinearRelevanceClassifier(C=1.0, threshold_rule="papers", level=0.001, n_probes=20, random_state=0).fit(
        X, y
    )
    assert 3 <= model.thresholds_.n_usable < 20
    assert (model.thresholds_.rule, model.thresholds_.control, model.thresholds_.level) == ("papers", "none", 0.001)
    np.testing.assert_array_equal(model.relevance_classes_, [2, 0, 0, 0])
    np.testing.assert_allclose(model.result_.limits, model.thresholds_.max_relevance + GAP_LIMIT)
    np.testing.assert_array_equal(model.relevance_classes_ > 0, model.intervals_[:, 1] > model.result_.limits)

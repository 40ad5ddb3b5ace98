from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from allrelevant.stats.prediction import prediction_limit
from allrelevant.stats.probes import Probes, concentrated_features, draw_probes, varying_features
from allrelevant.stats.thresholds import chance_of, classify, find_thresholds

RNG = np.random.RandomState(0)
POWERS = (1 / 3, 1 / 2, 1.0)


def test_the_limit_holds_for_normal_draws():
    """Of many next draws the promised share stays below."""
    draws = RNG.normal(10, 1, size=(20_000, 11))
    below = [row[10] <= prediction_limit(row[:10], 0.95) for row in draws]
    assert np.mean(below) == pytest.approx(0.95, abs=0.005)


def test_cube_roots_hold_better_for_skewed_draws():
    draws = RNG.gamma(4, size=(20_000, 51))
    above = {power: np.mean([row[50] > prediction_limit(row[:50], 0.999, power) for row in draws]) for power in POWERS}
    assert above[1 / 3] < 0.003 < above[1.0]


def test_the_limit_holds_for_the_greater_of_two_draws():
    draws = RNG.normal(10, 1, size=(20_000, 32))
    above = [row[30:].max() > prediction_limit(row[:30], 0.95, sides=2) for row in draws]
    assert 0.04 < np.mean(above) < 0.052


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("sides", [1, 2, 6])
def test_the_chance_at_the_limit_is_what_confidence_leaves(power, sides):
    values = RNG.uniform(0.1, 0.2, size=50)
    for confidence in (0.9, 0.999, 0.9999):
        limit = prediction_limit(values, confidence, power, sides)
        assert chance_of(np.array([limit]), values, power, sides)[0] == pytest.approx(1 - confidence, rel=1e-6)
        assert chance_of(np.array([0.0]), values, power, sides)[0] <= 1.0


def test_probes_without_spread():
    same = np.full(5, 0.2)
    assert prediction_limit(same, 0.999) == pytest.approx(0.2)
    np.testing.assert_array_equal(chance_of(np.array([0.1, 0.2, 0.3]), same), [1.0, 1.0, 0.0])
    nothing = Probes("added", np.zeros(5), np.zeros(5), 5, 0.0, 10)
    assert find_thresholds(nothing, 0.999).max_relevance > 0


def test_the_papers_rule_is_the_prediction_interval():
    values = RNG.uniform(size=30)
    expected = values.mean() + stats.t.ppf(0.999, 29) * values.std(ddof=1) * np.sqrt(1 + 1 / 30)
    probes = Probes("papers", np.zeros(30), values, 40, 0.0, 60)
    found = find_thresholds(probes, 0.999)
    assert found.max_relevance == pytest.approx(expected)
    assert (found.n_probes, found.n_usable, found.rule) == (40, 30, "papers")


def test_classes():
    limits = find_thresholds(Probes("added", np.zeros(5), np.full(5, 0.1), 5, 0.0, 10), 0.999)
    classes = classify(np.array([0.0, 0.0, 0.05, 0.0]), np.array([0.05, 0.2, 0.2, 0.1]), limits)
    np.testing.assert_array_equal(classes, [0, 1, 2, 0])


def test_probes_are_permutations_of_varying_features():
    X = np.column_stack([RNG.normal(size=20), np.ones(20), RNG.normal(size=20)])
    source, values = draw_probes(X, 200, varying_features(X, np.arange(3)), np.random.RandomState(1))
    assert set(source) == {0, 2}
    for k, column in zip(source, values, strict=True):
        assert column.shape == (20, 1)
        assert column[0, 0] > column[1, 0]
        same = [np.array_equal(np.sort(column[:, 0]), np.sort(sign * X[:, k])) for sign in (1, -1)]
        assert sum(same) == 1
        assert not np.array_equal(column[:, 0], X[:, k])


def test_features_that_vary_in_few_samples_are_found():
    X = RNG.normal(size=(300, 6))
    X[:, 2] = 0.0
    X[:5, 2] = 1.0
    X[:, 4] = 7.0
    varying = varying_features(X, np.arange(6))
    np.testing.assert_array_equal(varying, [0, 1, 2, 3, 5])
    twice = np.where(np.arange(300) % 2, 2.0, 1.0)
    for weight in (np.ones(300), twice):
        for data in (X, sparse.csr_array(X)):
            np.testing.assert_array_equal(concentrated_features(data, weight, varying), [2])
    assert not len(concentrated_features(X, twice, varying[:0]))

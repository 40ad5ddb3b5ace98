"""Limits that the next draw stays below."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from allrelevant.inference.prediction import prediction_limit

RNG = np.random.RandomState(0)


def test_the_limit_holds_for_normal_draws():
    """Of many next draws the promised share stays below."""
    draws = RNG.normal(10, 1, size=(20_000, 11))
    below = [row[10] <= prediction_limit(row[:10], 0.95) for row in draws]
    assert np.mean(below) == pytest.approx(0.95, abs=0.005)


def test_the_limit_is_that_of_the_t_distribution():
    values = RNG.uniform(size=30)
    expected = values.mean() + stats.t.ppf(0.999, 29) * values.std(ddof=1) * np.sqrt(1 + 1 / 30)
    assert prediction_limit(values, 0.999) == pytest.approx(expected)


def test_values_without_spread():
    assert prediction_limit(np.full(5, 0.2), 0.999) == pytest.approx(0.2)


def test_importances_have_no_limit_below_zero():
    assert prediction_limit(np.array([-3.0, -2.0, -2.5]), 0.9) == 0.0

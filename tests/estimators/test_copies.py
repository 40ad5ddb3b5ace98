"""Columns in other units are the same features: scaled and shifted copies must be treated alike."""

from __future__ import annotations

import numpy as np
import pytest

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant.datasets import make_relevance_classification, make_relevance_ordinal, make_relevance_regression
from allrelevant.estimators._copies import unite_copies
from allrelevant.relevance import baseline


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_what_differs_by_rounding_becomes_the_same():
    rng = np.random.RandomState(0)
    base = rng.normal(size=(200, 6))
    given = np.column_stack([base, 2.54 * base[:, 1], 32.0 - 1.8 * base[:, 1], base[:, 2] * 1e-7, base[:, 3] + 1e3])
    X = standardised(given)
    before = X.copy()
    assert not np.array_equal(X[:, 6], X[:, 1])
    unite_copies(X, np.abs(given.mean(axis=0)) / given.std(axis=0))
    for k, first, sign in ((6, 1, 1), (7, 1, -1), (8, 2, 1), (9, 3, 1)):
        np.testing.assert_array_equal(X[:, k], sign * X[:, first])
    np.testing.assert_allclose(X, before, atol=1e-11)
    np.testing.assert_array_equal(X[:, :6], before[:, :6])


@pytest.mark.parametrize("difference", [1e-9, 1e-12])
def test_what_differs_by_more_stays_as_it_is(difference):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(50, 3))
    X[:, 2] = X[:, 0]
    X[7, 2] += difference
    before = X.copy()
    unite_copies(X, np.zeros(3))
    np.testing.assert_array_equal(X, before)


def test_columns_with_one_product_are_compared_one_by_one():
    """Columns that look the same from one side, and those of nothing."""
    n = 40
    direction = np.cos(np.arange(n) + 0.5)
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n, 5))
    X -= np.outer(direction, direction @ X) / (direction @ direction)  # all products are 0, but for rounding
    X[:, 3] = X[:, 1] * (1 + 1e-16)
    X[:, 4] = 0.0
    before = X.copy()
    unite_copies(X, np.zeros(5))
    np.testing.assert_allclose(X, before, atol=1e-14)
    np.testing.assert_array_equal(X[:, 3], X[:, 1])
    unite_copies(np.empty((0, 3)), np.zeros(3))
    unite_copies(np.empty((3, 0)), np.zeros(0))


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (LinearRelevanceClassifier, make_relevance_classification),
        (LinearRelevanceRegressor, make_relevance_regression),
        (LinearRelevanceOrdinal, make_relevance_ordinal),
    ],
)
def test_copies_in_other_units_have_one_answer(kind, make, monkeypatch):
    X, y, _ = make(200, n_strong=2, n_weak=0, n_irrelevant=4, noise=0.2, random_state=0)
    units = np.column_stack([X, 2.54 * X[:, 0], 32.0 - 1.8 * X[:, 0], X[:, 0] / 3.0])
    widths, search = [], baseline.search
    monkeypatch.setattr(baseline, "search", lambda f, X, *rest: widths.append(X.shape[1]) or search(f, X, *rest))
    result = kind(random_state=0).fit(units, y).result_
    copies = [0, 6, 7, 8]
    np.testing.assert_array_equal(result.intervals[copies], result.intervals[[0] * 4])
    assert (result.classes[copies] == 1).all()
    assert result.classes[1] == 2
    # The search needs but one of them.
    assert widths == [6]
    # The model uses one of them.
    assert np.count_nonzero(result.baseline[copies]) <= 1


def test_the_answer_is_that_of_equal_columns():
    X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=0, n_irrelevant=4, noise=0.2, random_state=0)
    equal = np.column_stack([X, X[:, [0, 0, 0]]])
    units = np.column_stack([X, 2.54 * X[:, 0], 32.0 - 1.8 * X[:, 0], X[:, 0] / 3.0])
    answers = [
        LinearRelevanceClassifier(random_state=0, C=0.3, n_probes=200).fit(some, y).result_ for some in (equal, units)
    ]
    np.testing.assert_allclose(answers[1].intervals, answers[0].intervals, atol=1e-8)
    np.testing.assert_array_equal(answers[1].classes, answers[0].classes)

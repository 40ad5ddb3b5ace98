"""What data mean does not change with names of labels, order, units, origins, and columns that say nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor


def counts():
    """A few rows of whole numbers, with ties, of two classes of one size (like SPECTF)."""
    rng = np.random.RandomState(0)
    X = np.clip(np.round(65 + 10 * rng.normal(size=(80, 12)) + 4 * rng.normal(size=(80, 1))), 0, 100)
    return X, (X[:, 0] - X[:, 3] + 8 * rng.normal(size=80) > 0).astype(int)


def wine():
    X, y = load_wine(return_X_y=True)
    return X[:, :6], y


def levels():
    X, y = load_diabetes(return_X_y=True)
    return X[:200], np.digitize(y[:200], [90.0, 150.0])


DATA = {
    "breast cancer": (LinearRelevanceClassifier, lambda: load_breast_cancer(return_X_y=True)),
    "counts": (LinearRelevanceClassifier, counts),
    "wine": (LinearRelevanceClassifier, wine),
    "diabetes": (LinearRelevanceRegressor, lambda: load_diabetes(return_X_y=True)),
    "levels": (LinearRelevanceOrdinal, levels),
}


@cache
def fitted(name):
    kind, load = DATA[name]
    return kind(random_state=0).fit(*load())


def assert_same(one, two, columns=slice(None), tolerance=1e-9):
    """Choices are the same; numbers are but for rounding."""
    chosen, other = (model.result_.hyperparameters for model in (one, two))
    assert chosen == pytest.approx(other, rel=1e-12)
    scores, others = (model.result_.scores["cross_validated"] for model in (one, two))
    assert scores == pytest.approx(others, rel=1e-9)
    np.testing.assert_array_equal(one.relevance_classes_, two.relevance_classes_[columns])
    # Limits of a tail follow from values that are proven to one part in a million.
    np.testing.assert_allclose(one.pvalues_, two.pvalues_[columns], atol=max(tolerance, 1e-6))
    np.testing.assert_allclose(one.result_.alone_pvalues, two.result_.alone_pvalues[columns], rtol=1e-6)
    np.testing.assert_allclose(one.intervals_, two.intervals_[columns], atol=tolerance)


@pytest.mark.parametrize("name", DATA)
def test_order_of_rows_and_columns(name):
    kind, load = DATA[name]
    X, y = load()
    rng = np.random.RandomState(0)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    other = kind(random_state=0).fit(X[rows][:, columns], y[rows])
    assert_same(fitted(name), other, np.argsort(columns))


@pytest.mark.parametrize("change", ["milli", "kilo", "mixed", "shift"])
@pytest.mark.parametrize("name", DATA)
def test_units_and_origins(name, change):
    kind, load = DATA[name]
    X, y = load()
    units = 10.0 ** np.random.RandomState(1).randint(-3, 4, X.shape[1])
    changed = {"milli": 1e-3 * X, "kilo": 1e3 * X, "mixed": units * X, "shift": X + 100.0 * X.std(axis=0)}[change]
    assert_same(fitted(name), kind(random_state=0).fit(changed, y))


@pytest.mark.parametrize("name", DATA)
def test_a_constant_column_more(name):
    """Its own bounds are solved in one batch with the others', which costs them the last digits."""
    kind, load = DATA[name]
    X, y = load()
    other = kind(random_state=0).fit(np.insert(X, 1, 3.0, axis=1), y)
    assert_same(fitted(name), other, np.delete(np.arange(X.shape[1] + 1), 1), tolerance=1e-7)


@pytest.mark.parametrize("name", ["breast cancer", "counts", "wine"])
def test_names_of_labels(name):
    kind, load = DATA[name]
    X, y = load()
    one = fitted(name)
    names = np.array(["b", "a"] if name != "wine" else ["c", "a", "b"])
    two = kind(random_state=0).fit(X, names[y])
    assert_same(one, two)
    np.testing.assert_array_equal(names[one.predict(X)], two.predict(X))
    order = np.searchsorted(two.classes_, names)
    if len(names) == 2:
        np.testing.assert_array_equal(one.coef_, -two.coef_)
        np.testing.assert_array_equal(one.intercept_, -two.intercept_)
        np.testing.assert_array_equal(one.result_.baseline, -two.result_.baseline)
    else:
        np.testing.assert_allclose(one.coef_, two.coef_[order], atol=1e-12)
        difference = one.decision_function(X) - two.decision_function(X)[:, order]
        np.testing.assert_allclose(difference, np.repeat(difference[:, :1], 3, axis=1), atol=1e-9)


def test_units_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    other = LinearRelevanceRegressor(random_state=0).fit(X, 1e3 * y + 77.0)
    np.testing.assert_array_equal(fitted("diabetes").relevance_classes_, other.relevance_classes_)
    np.testing.assert_allclose(fitted("diabetes").intervals_, other.intervals_, atol=1e-9)


@pytest.mark.parametrize("privileged", ["residual", "kept"])
def test_privileged_features(privileged):
    X, y = load_breast_cancer(return_X_y=True)
    X, P, y = X[:120, :4], X[:120, 20:23], y[:120]
    model = LinearRelevanceClassifier(random_state=0, gamma=1.0, privileged=privileged)
    rng = np.random.RandomState(0)
    rows = rng.permutation(120)

    def found(X, y, P):
        model.fit(X, y, X_privileged=P)
        return model.intervals_, model.privileged_intervals_, model.result_.baseline, model.coef_

    one = found(X, y, P)
    two = found(1e3 * X[rows] + 5.0, 1 - y[rows], 1e-3 * P[rows])
    for a, b in zip(one[:2], two[:2], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)
    np.testing.assert_allclose(one[2], -two[2], atol=1e-7)
    np.testing.assert_allclose(one[3], -1e3 * two[3], atol=1e-7)

from __future__ import annotations

import numpy as np
import pytest

from allrelevant.formulations import FORMULATIONS, Classification, Formulation, Regression, get_formulation, regression


def test_rows_are_margins():
    X, y = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([1.0, -1.0])
    program = Classification().program(X, y, np.array([1.0, 0.5]))
    w, b = np.array([0.5, -1.0]), np.array([0.25])
    np.testing.assert_allclose(program.rows(w, b), y * (X @ w - 0.25))
    slack = np.maximum(0, 1 - y * (X @ w - 0.25))
    assert program.loss(w, b) == pytest.approx(slack @ [1.0, 0.5])
    np.testing.assert_array_equal(Classification().predict(X, w, b), np.sign(X @ w - 0.25))


@pytest.mark.parametrize("kind", FORMULATIONS.values())
def test_contract(kind: type[Formulation]):
    """What every problem type must keep to; a new one is tested by being in the registry."""
    rng = np.random.RandomState(0)
    formulation = kind()
    labels = [-1.0, 1.0] if kind is Classification else [0.0, 1.0]
    X, target, weight = rng.normal(size=(20, 3)), np.repeat(labels, 10), np.ones(20)
    program = formulation.program(X, target, weight)
    features = [formulation.feature(k, 3) for k in range(3)]
    # Every weight belongs to one feature, those of a feature stand together and depend on it alone.
    np.testing.assert_array_equal(np.concatenate([one.weights for one in features]), np.arange(program.n_weights))
    alone = formulation.program(X[:, [1]], target, weight)
    np.testing.assert_array_equal(program.A[:, features[1].weights], alone.A)
    assert features[1].contrasts.shape[1] == len(features[1].weights)
    w, b = rng.normal(size=program.n_weights), rng.normal(size=program.n_offsets)
    prediction = formulation.predict(X, w, b)
    assert prediction.shape == target.shape
    reached = formulation.score(X, target, weight, w, b)
    assert reached == formulation.metric.function(target, prediction, weight)
    assert formulation.metric.function(target, target, weight) >= reached
    assert get_formulation(formulation.name) is kind
    assert list(formulation.candidates(target))
    assert formulation.resolution(20) >= 0
    # Losses are never negative, as the certificate of the baseline assumes.
    assert program.loss(w, b) >= 0


def test_unknown_problem_type():
    with pytest.raises(ValueError, match="unknown problem type 'ranking'; choose one of classification"):
        get_formulation("ranking")


@pytest.mark.parametrize(("n", "widths"), [(50, [0.3, 0.1]), (100, [0.3, 0.1]), (500, [0.3, 0.1, 0.03]), (2000, 4)])
def test_tubes_narrower_than_a_tie_are_not_tried(n, widths):
    tried = [candidate.epsilon for candidate in Regression().candidates(np.zeros(n))]
    assert tried == (list(regression.WIDTHS) if widths == 4 else widths)
    # What the last of them can cost is a tie, or there is none left.
    assert tried[-1] ** 2 <= Regression().resolution(n) * (1 + 1e-9)
    assert all(width**2 > Regression().resolution(n) for width in tried[:-1])
    assert [candidate.epsilon for candidate in Regression(epsilon=0.2).candidates(np.zeros(n))] == [0.2]

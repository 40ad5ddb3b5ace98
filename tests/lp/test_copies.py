"""Of equal columns a few must say as much as all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from allrelevant.formulations import Classification, MultiClass, OrdinalExplicit, Regression
from allrelevant.lp import BoundSolver, PenalisedSolver, Targets
from allrelevant.lp.copies import distinct_columns, equal_columns, equal_weights
from allrelevant.lp.highs import HighsBounds
from allrelevant.relevance.nearoptimal import near_optimal_set

#: Columns 0, 3 and 4 are one, 4 with the other sign; 1 and 5 are one.
FIRST, SIGN = [0, 1, 2, 0, 0, 1, 6], [1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0]


def table(n=80, seed=0):
    base = np.random.RandomState(seed).normal(size=(n, 7))
    return base[:, FIRST] * SIGN


def problem(kind="classification", n=80, budgets="split"):
    rng = np.random.RandomState(1)
    X = table(n)
    score = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=n)
    target, formulation = {
        "classification": (np.where(score > 0, 1.0, -1.0), Classification()),
        "regression": (score, Regression(epsilon=0.1)),
        "ordinal": (np.digitize(score, [-0.7, 0.7]).astype(float), OrdinalExplicit(3)),
    }[kind]
    program = formulation.program(X, target, np.ones(n))
    w, b = PenalisedSolver(program).solve(0.2)
    near = near_optimal_set(program, w, b, 0.2, norm_slack=0.1, loss_slack=0.1, budgets=budgets)
    return program, near.budget, (w, b)


def both_sides(d):
    return Targets.single(np.repeat(np.arange(d), 2), np.tile([1.0, -1.0], d))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_columns_are_found(form):
    first, sign = equal_columns(form(table()))
    assert first.tolist() == FIRST
    assert sign.tolist() == SIGN


def test_what_stands_beside_tells_columns_apart():
    beside = np.zeros((1, 7))
    beside[0, 3] = 1.0
    assert equal_columns(table(), beside)[0].tolist() == [0, 1, 2, 3, 0, 1, 6]
    beside[0, [0, 3, 4]] = 2.0, 2.0, -2.0
    assert equal_columns(table(), beside)[0].tolist() == FIRST
    beside[0, 4] = 2.0  # the column is the negative, but this is not
    assert equal_columns(table(), beside)[0].tolist() == [0, 1, 2, 0, 4, 1, 6]


def test_columns_that_reach_equally_far_are_compared():
    X = np.array([[1.0, 1.0, -1.0, 0.0, 0.0], [0.5, 0.25, -0.5, 0.0, -0.0]])
    first, sign = equal_columns(X)
    assert first.tolist() == [0, 1, 0, 3, 3]
    assert sign.tolist() == [1.0, 1.0, -1.0, 1.0, 1.0]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_of_nothing_are_equal(form):
    X = np.zeros((4, 3))
    X[1, 1] = 2.0
    assert equal_columns(form(X))[0].tolist() == [0, 1, 0]
    assert distinct_columns(form(X)).tolist() == [0, 1]


def test_weights_that_are_bounded_or_weigh_differently_stand_by_themselves():
    program, *_ = problem()
    assert equal_weights(program)[0].tolist() == FIRST
    lower = np.full(7, -np.inf)
    lower[3] = 0.0
    assert equal_weights(program.with_box(lower, np.full(7, np.inf)))[0].tolist() == [0, 1, 2, 3, 0, 1, 6]
    gamma = np.ones(7)
    gamma[5] = 2.0
    assert equal_weights(replace(program, gamma=gamma))[0].tolist() == [0, 1, 2, 0, 0, 5, 6]


def test_distinct_columns():
    assert distinct_columns(table()).tolist() == [0, 1, 2, 6]
    assert distinct_columns(np.random.RandomState(0).normal(size=(20, 5))) is None
    X = np.random.RandomState(0).normal(size=(20, 30))
    X[:, 7] = X[:, 3]
    assert distinct_columns(X) is None  # one of thirty is not worth while


@pytest.mark.parametrize(
    ("kind", "budgets"),
    [("classification", "split"), ("regression", "split"), ("ordinal", "split"), ("classification", "joint")],
)
def test_copies_are_bounded_like_any_other(kind, budgets):
    program, budget, start = problem(kind, budgets=budgets)
    targets = both_sides(7)
    found = BoundSolver(program, budget, start).solve(targets, points=True)
    expected = targets.value(HighsBounds(program, budget).solve(targets)[0])
    np.testing.assert_allclose(found.value, expected, atol=2e-6 * budget.norm)
    assert found.gap <= 1e-6
    assert found.n_reference == 0
    # Points of the whole program: they attain what is said, within the budget.
    np.testing.assert_allclose(targets.value(found.points), found.value, atol=1e-9)
    assert (program.norm(found.points) <= budget.norm * (1 + 1e-9)).all()
    # A copy is bounded like any other, its negative from the other side.
    sides = found.value.reshape(7, 2)
    np.testing.assert_allclose(sides[3], sides[0], atol=2e-6 * budget.norm)
    np.testing.assert_allclose(sides[4], sides[0, ::-1], atol=2e-6 * budget.norm)


def test_targets_about_several_copies():
    program, budget, start = problem()
    index = np.array([[0, 3], [0, 1], [4, 2]])
    targets = Targets(index, np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]))
    found = BoundSolver(program, budget, start).solve(targets)
    expected = targets.value(HighsBounds(program, budget).solve(targets)[0])
    np.testing.assert_allclose(found.value, expected, atol=2e-6 * budget.norm)


def test_weights_that_fill_up_a_target_are_not_moved():
    """Of a target about the first copy, whose second place is filled with another copy that has no part in it."""
    program, budget, start = problem()
    targets = Targets(np.array([[0, 3], [4, 2]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    found = BoundSolver(program, budget, start).solve(targets, points=True)
    np.testing.assert_allclose(targets.value(found.points), found.value, atol=1e-9)


def test_copies_of_classes():
    """Of several classes every column has several weights, which are copies one by one."""
    n = 60
    X = table(n)
    target = np.argmax(X[:, :3], axis=1).astype(float)
    program = MultiClass(3).program(X, target, np.ones(n))
    first, _ = equal_weights(program)
    per_column = program.n_weights // 7
    assert first.reshape(7, per_column).tolist() == [[f * per_column + k for k in range(per_column)] for f in FIRST]

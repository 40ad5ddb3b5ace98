"""Intervals against scipy's linprog on the papers' formulation, on more than 200 small problems of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
from allrelevant._progress import Progress
from allrelevant.formulations import Classification, OrdinalExplicit, OrdinalImplicit, Regression
from allrelevant.relevance.baseline import fit_baseline
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.nearoptimal import near_optimal_set
from problems import KINDS, problem


def standardised(X, weight):
    mean = weight @ X / weight.sum()
    spread = np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    return (X - mean) / np.where(spread > 1e-12, spread, np.inf)


def every(formulation, Z):
    """All features."""
    return [formulation.feature(k, Z.shape[1]) for k in range(Z.shape[1])]


def check(formulation, Z, target, weight, C, rows, engine, budgets="split"):
    """Baseline and intervals against the oracle."""
    base = fit_baseline(formulation, Z, target, weight, C=C, folds=(), progress=Progress())
    ours = base.program.norm(base.w) + C * base.program.loss(base.w, base.b)
    assert ours == pytest.approx(oracle.baseline(*rows(Z), C), rel=1e-6, abs=1e-9)
    near = near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.1, loss_slack=0.1, budgets=budgets)
    if near.mu < 1e-9:
        return
    ours = relevance_intervals(near, every(formulation, Z), engine=engine, n_jobs=1, progress=Progress())
    theirs = np.zeros((Z.shape[1], 2))
    varying = np.ptp(Z, axis=0) > 0  # a column that does not vary is part of no model
    limits = near.budget.norm, near.budget.loss, near.budget.price
    theirs[varying] = oracle.relevance(*rows(Z[:, varying]), *limits) / near.mu
    np.testing.assert_allclose(np.column_stack([ours.minimum, ours.maximum]), theirs, atol=1e-6, rtol=0)
    assert ours.gap <= 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(21))  # a few have a baseline without weights, and no intervals to compare
def test_classification_equals_three_programs_by_scipy(kind, seed):
    X, y, weight = problem(kind, seed)
    C = 10.0 ** np.random.RandomState(seed).uniform(-1, 2)
    engine = ("interior", "highs")[seed % 2]
    check(
        Classification(), standardised(X, weight), y, weight, C, lambda Z: oracle.classification(Z, y, weight), engine
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("engine", ["interior", "highs"])
def test_joint_budgets_equal_three_programs_by_scipy(kind, seed, engine):
    X, y, weight = problem(kind, seed)
    rows = lambda Z: oracle.classification(Z, y, weight)  # noqa: E731
    check(Classification(), standardised(X, weight), y, weight, 0.8, rows, engine, budgets="joint")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["interior", "highs"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_equals_three_programs_by_scipy(kind, engine, epsilon):
    X, y, weight = problem(kind, 1)
    Z = standardised(X, weight)
    rng = np.random.RandomState(2)
    target = Z @ rng.normal(size=Z.shape[1]) + 0.5 * y + (kind == "noisy") * rng.normal(size=len(y))
    check(Regression(epsilon), Z, target, weight, 0.7, lambda Z: oracle.regression(Z, target, weight, epsilon), engine)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["interior", "highs"])
@pytest.mark.parametrize("order", ["explicit", "implicit"])
def test_ordinal_equals_three_programs_by_scipy(kind, engine, order):
    X, y, weight = problem(kind, 3)
    Z = standardised(X, weight)
    place = Z @ np.random.RandomState(4).normal(size=Z.shape[1]) + (kind == "noisy") * y
    target = np.digitize(place, np.quantile(place, [0.2, 0.5, 0.7])).astype(float)
    formulation = {"explicit": OrdinalExplicit, "implicit": OrdinalImplicit}[order](4)
    rows = getattr(oracle, f"ordinal_{order}")
    check(formulation, Z, target, weight, 0.7, lambda Z: rows(Z, target, weight, 4), engine)


def test_both_engines_agree():
    X, y, weight = problem("noisy", 7)
    Z = standardised(X, weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=0.1, loss_slack=0.1)
    one, two = (
        relevance_intervals(near, every(Classification(), Z), engine=engine, n_jobs=1, progress=Progress())
        for engine in ("highs", "interior")
    )
    np.testing.assert_allclose(one.maximum, two.maximum, atol=1e-6)
    np.testing.assert_allclose(one.minimum, two.minimum, atol=1e-6)


@pytest.mark.parametrize("slack", [(0.0, 0.0), (1e-3, 0.0), (0.0, 1e-3), (1.0, 1.0)])
@pytest.mark.parametrize("engine", ["highs", "interior"])
def test_any_slack_is_solved_and_proven(slack, engine):
    X, y, weight = problem("plain", 3)
    Z = standardised(X, weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=slack[0], loss_slack=slack[1])
    ours = relevance_intervals(near, every(Classification(), Z), engine=engine, n_jobs=1, progress=Progress())
    share = np.abs(near.w) / near.mu
    assert (ours.minimum <= share + 1e-6).all()
    assert (ours.maximum >= share - 1e-6).all()


def test_known_answers_need_no_programs():
    X, y, weight = problem("plain", 5)
    Z = standardised(np.hstack([X, X, -X, np.ones((len(X), 2))]), weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=0.1, loss_slack=0.1)
    ours = relevance_intervals(near, every(Classification(), Z), engine="auto", n_jobs=1, progress=Progress())
    d = X.shape[1]
    assert ours.n_programs <= 2 * d
    for shift in (d, 2 * d):
        np.testing.assert_array_equal(ours.maximum[:d], ours.maximum[shift : shift + d])
    assert (ours.maximum[3 * d :] == 0).all()

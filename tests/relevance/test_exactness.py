"""Intervals against scipy's linprog on the papers' formulation, on more than 200 small problems of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
from allrelevant._progress import Progress
from allrelevant.formulations import (
    Classification,
    ExplainedSlack,
    Feature,
    MultiClass,
    OrdinalExplicit,
    OrdinalImplicit,
    Regression,
    Residual,
)
from allrelevant.relevance import intervals as intervals_module
from allrelevant.relevance.baseline import fit_baseline
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.nearoptimal import near_optimal_set
from allrelevant.relevance.solving import Solving
from problems import KINDS, problem
from reference import ENGINES, solved_by


def standardised(X, weight):
    mean = weight @ X / weight.sum()
    spread = np.sqrt(weight @ (X - mean) ** 2 / weight.sum())
    return (X - mean) / np.where(spread > 1e-12, spread, np.inf)


def every(formulation, Z):
    """All features."""
    return [formulation.feature(k, Z.shape[1]) for k in range(Z.shape[1])]


def check_intervals(near, features, theirs, engines=ENGINES):
    """Intervals by every engine against those of the oracle."""
    for engine in engines:
        with solved_by(engine):
            ours = relevance_intervals(near, features, Solving())
        found = np.column_stack([ours.minimum, ours.maximum])
        np.testing.assert_allclose(found, theirs, atol=1e-6, rtol=0, err_msg=engine)
        assert ours.gap <= 1e-6, engine


def check(formulation, Z, target, weight, C, rows, engines=ENGINES, budgets="split"):
    """Baseline and intervals against the oracle."""
    base = fit_baseline(formulation, Z, target, weight, C=C, folds=(), progress=Progress())
    ours = base.program.norm(base.w) + C * base.program.loss(base.w, base.b)
    assert ours == pytest.approx(oracle.baseline(*rows(Z), C), rel=1e-6, abs=1e-9)
    near = near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.1, loss_slack=0.1, budgets=budgets)
    if near.mu < 1e-9:
        return
    theirs = np.zeros((Z.shape[1], 2))
    varying = np.ptp(Z, axis=0) > 0  # a column that does not vary is part of no model
    limits = near.budget.norm, near.budget.loss, near.budget.price
    theirs[varying] = oracle.relevance(*rows(Z[:, varying]), *limits) / near.mu
    check_intervals(near, every(formulation, Z), theirs, engines)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(21))  # a few have a baseline without weights, and no intervals to compare
def test_classification_equals_three_programs_by_scipy(kind, seed):
    X, y, weight = problem(kind, seed)
    C = 10.0 ** np.random.RandomState(seed).uniform(-1, 2)
    rows = lambda Z: oracle.classification(Z, y, weight)  # noqa: E731
    check(Classification(), standardised(X, weight), y, weight, C, rows, ENGINES[seed % 2 : seed % 2 + 1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_joint_budgets_equal_three_programs_by_scipy(kind, seed):
    X, y, weight = problem(kind, seed)
    rows = lambda Z: oracle.classification(Z, y, weight)  # noqa: E731
    check(Classification(), standardised(X, weight), y, weight, 0.8, rows, budgets="joint")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_equals_three_programs_by_scipy(kind, epsilon):
    X, y, weight = problem(kind, 1)
    Z = standardised(X, weight)
    rng = np.random.RandomState(2)
    target = Z @ rng.normal(size=Z.shape[1]) + 0.5 * y + (kind == "noisy") * rng.normal(size=len(y))
    check(Regression(epsilon), Z, target, weight, 0.7, lambda Z: oracle.regression(Z, target, weight, epsilon))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["explicit", "implicit"])
def test_ordinal_equals_three_programs_by_scipy(kind, order):
    X, y, weight = problem(kind, 3)
    Z = standardised(X, weight)
    place = Z @ np.random.RandomState(4).normal(size=Z.shape[1]) + (kind == "noisy") * y
    target = np.digitize(place, np.quantile(place, [0.2, 0.5, 0.7])).astype(float)
    formulation = {"explicit": OrdinalExplicit, "implicit": OrdinalImplicit}[order](4)
    rows = getattr(oracle, f"ordinal_{order}")
    check(formulation, Z, target, weight, 0.7, lambda Z: rows(Z, target, weight, 4))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "constant"])
@pytest.mark.parametrize("budgets", ["split", "joint"])
def test_multi_class_equals_three_programs_by_scipy(kind, budgets):
    X, _, weight = problem(kind, 5)
    Z = standardised(X, weight)
    rng = np.random.RandomState(6)
    place = Z @ rng.normal(size=(Z.shape[1], 3)) + (kind == "noisy") * rng.normal(size=(len(Z), 3))
    target = np.argmax(place, axis=1).astype(float)
    target[:3] = 0.0, 1.0, 2.0
    formulation, C = MultiClass(3), 0.6
    base = fit_baseline(formulation, Z, target, weight, C=C, folds=(), progress=Progress())
    *rows, sharing = oracle.multi_class(Z, target, weight, 3)
    ours = base.program.norm(base.w) + C * base.program.loss(base.w, base.b)
    assert ours == pytest.approx(oracle.baseline(*rows, C, sharing=sharing), rel=1e-6)
    near = near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.1, loss_slack=0.1, budgets=budgets)
    # A class against the mean of the two others, for every feature in turn.
    one = np.array([[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]])
    contrasts = np.kron(np.eye(Z.shape[1]), one)
    limits = near.budget.norm, near.budget.loss, near.budget.price
    theirs = oracle.relevance(*rows, *limits, contrasts=contrasts, sharing=sharing) / near.mu
    check_intervals(near, every(formulation, Z), theirs.reshape(-1, 3, 2).max(axis=1))


def privileged_problem(name, seed):
    """Data, formulation, the papers' rows, and the privileged features and kind of slack of every row."""
    rng = np.random.RandomState(seed)
    n, d, q = 25, 3, 2
    Z, P, weight = rng.normal(size=(n, d)), rng.normal(size=(n, q)), rng.choice([1.0, 2.0], size=n)
    signal = 2 * Z @ rng.normal(size=d) + 0.3 * P[:, 0]
    if name == "classification":
        target = np.where(signal > 0, 1.0, -1.0)
        rows = oracle.classification(Z, target, weight)
        explained = [(P[i], 0) for i in range(n)]
        return Classification(), Z, P, target, weight, rows, explained, 1
    if name == "regression":
        rows = oracle.regression(Z, signal, weight, 0.1)
        explained = [(P[i], side) for i in range(n) for side in (0, 1)]
        return Regression(0.1), Z, P, signal, weight, rows, explained, 2
    target = np.digitize(signal, np.quantile(signal, [0.3, 0.6])).astype(float)
    rows = getattr(oracle, f"ordinal_{name}")(Z, target, weight, 3)
    # The sign of the offsets' entries tells which side of a boundary a row is on.
    sample = [i for i in range(n) for _ in range(2 if name == "implicit" else int(target[i] < 2) + int(target[i] > 0))]
    explained = [(P[i], int(min(row[1]) < 0)) for i, row in zip(sample, rows[0], strict=True)]
    kind = {"explicit": OrdinalExplicit, "implicit": OrdinalImplicit}[name]
    return kind(3), Z, P, target, weight, rows, explained, 2


@pytest.mark.parametrize("name", ["classification", "regression", "explicit", "implicit"])
@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_privileged_equals_the_papers_programs_by_scipy(name, keeps, seed):
    base_formulation, Z, P, target, weight, rows, stars, kinds = privileged_problem(name, seed)
    gamma, C, d = 0.5, 0.9, Z.shape[1]
    formulation = ExplainedSlack(base_formulation, keeps, P.shape[1], gamma)
    base = fit_baseline(formulation, np.hstack([Z, P]), target, weight, C=C, folds=(), progress=Progress())
    rows, hard, linear = oracle.explained(*rows, stars, kinds, keeps)
    more = {"gamma": np.append(np.ones(d), np.full(P.shape[1] * kinds, gamma)), "linear": linear}
    ours = base.program.norm(base.w) + C * base.program.loss(base.w, base.b)
    assert ours == pytest.approx(oracle.baseline(rows, hard, C, **more), rel=1e-6)
    near = near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.1, loss_slack=0.1)
    if near.mu == 0.0:  # explained slacks alone may be the optimum: the papers' collapse
        return
    features = [formulation.feature(k, d + P.shape[1]) for k in range(d + P.shape[1])]
    limits = near.budget.norm, near.budget.loss
    theirs = oracle.relevance(rows, hard, *limits, **more) / near.mu
    # Maximum over the kinds of slack of the minima, and of the maxima, as shares of the norm.
    theirs = np.vstack([theirs[:d], gamma * theirs[d:].reshape(-1, kinds, 2).max(axis=1)])
    check_intervals(near, features, theirs)


@pytest.mark.parametrize("name", ["classification", "regression", "explicit", "implicit"])
@pytest.mark.parametrize("seed", range(3))
def test_residual_equals_three_programs_by_scipy(name, seed):
    """Decisions at hand are one more free coefficient: an offset with values of its own."""
    base_formulation, Z, P, target, weight, *_ = privileged_problem(name, seed)
    rng = np.random.RandomState(seed + 50)
    given = Z @ rng.normal(size=Z.shape[1]) + rng.normal(size=len(Z))
    P[:, 0] += target
    papers = {
        "classification": lambda X: oracle.classification(X, target, weight),
        "regression": lambda X: oracle.regression(X, target, weight, 0.1),
        "explicit": lambda X: oracle.ordinal_explicit(X, target, weight, 3),
        "implicit": lambda X: oracle.ordinal_implicit(X, target, weight, 3),
    }[name]
    rows, hard = papers(P)
    values, _ = papers(given[:, None])
    rows = [(x, np.append(offsets, f[0][0]), right, s) for (x, offsets, right, s), f in zip(rows, values, strict=True)]
    hard = [(x, np.append(offsets, 0.0), right) for x, offsets, right in hard]
    formulation, C = Residual(base_formulation), 2.0
    base = fit_baseline(formulation, np.column_stack([given, P]), target, weight, C=C, folds=(), progress=Progress())
    ours = base.program.norm(base.w) + C * base.program.loss(base.w, base.b)
    assert ours == pytest.approx(oracle.baseline(rows, hard, C), rel=1e-6)
    near = near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.1, loss_slack=0.1)
    assert near.mu > 0
    features = [formulation.feature(k, 1 + P.shape[1]) for k in range(1, 1 + P.shape[1])]
    check_intervals(near, features, oracle.relevance(rows, hard, near.budget.norm, near.budget.loss) / near.mu)


@pytest.mark.parametrize("name", ["classification", "regression", "explicit", "implicit"])
@pytest.mark.parametrize("keeps", [True, False])
def test_privileged_problems_have_weights(name, keeps):
    """The comparison above skips those that have none."""
    count = 0
    for seed in range(3):
        formulation, Z, P, target, weight, *_ = privileged_problem(name, seed)
        both = ExplainedSlack(formulation, keeps, P.shape[1], 0.5)
        base = fit_baseline(both, np.hstack([Z, P]), target, weight, C=0.9, folds=(), progress=Progress())
        count += bool(base.w.any())
    assert count >= 2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("engine", ENGINES)
def test_groups_equal_a_mixed_integer_program(seed, engine):
    X, y, weight = problem("plain", seed + 30)
    Z = standardised(np.hstack([X, np.random.RandomState(seed).normal(size=(len(X), 3))]), weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=0.1, loss_slack=0.1)
    group = np.array([0, Z.shape[1] - 1, Z.shape[1] - 2])
    feature = Feature.join([Classification().feature(int(k), Z.shape[1]) for k in group], base.program.gamma)
    with solved_by(engine):
        found = relevance_intervals(near, [feature], Solving())
    theirs = oracle.group_relevance(*oracle.classification(Z, y, weight), near.budget.norm, near.budget.loss, group)
    np.testing.assert_allclose([found.minimum[0], found.maximum[0]], np.array(theirs) / near.mu, atol=2e-6)
    assert found.exact.all()
    assert found.gap <= 1e-6


def test_groups_of_many_columns_are_attained_but_not_proven(monkeypatch):
    X, y, weight = problem("plain", 33)
    Z = standardised(np.hstack([X, np.random.RandomState(0).normal(size=(len(X), 3))]), weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=0.1, loss_slack=0.1)
    feature = Feature.join([Classification().feature(k, Z.shape[1]) for k in range(4)], base.program.gamma)
    exact = relevance_intervals(near, [feature], Solving())
    monkeypatch.setattr(intervals_module, "EXACT_TOTAL", 2)
    climbed = relevance_intervals(near, [feature], Solving())
    assert exact.exact.all()
    assert not climbed.exact.any()
    assert climbed.minimum == pytest.approx(exact.minimum, abs=1e-6)
    assert 0.5 * exact.maximum[0] < climbed.maximum[0] <= exact.maximum[0] + 1e-6


def test_both_engines_agree():
    X, y, weight = problem("noisy", 7)
    Z = standardised(X, weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=0.1, loss_slack=0.1)
    found = []
    for engine in ENGINES:
        with solved_by(engine):
            found.append(relevance_intervals(near, every(Classification(), Z), Solving()))
    one, two = found
    np.testing.assert_allclose(one.maximum, two.maximum, atol=1e-6)
    np.testing.assert_allclose(one.minimum, two.minimum, atol=1e-6)


@pytest.mark.parametrize("slack", [(0.0, 0.0), (1e-3, 0.0), (0.0, 1e-3), (1.0, 1.0)])
@pytest.mark.parametrize("engine", ENGINES)
def test_any_slack_is_solved_and_proven(slack, engine):
    X, y, weight = problem("plain", 3)
    Z = standardised(X, weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=slack[0], loss_slack=slack[1])
    with solved_by(engine):
        ours = relevance_intervals(near, every(Classification(), Z), Solving())
    share = np.abs(near.w) / near.mu
    assert (ours.minimum <= share + 1e-6).all()
    assert (ours.maximum >= share - 1e-6).all()


def test_known_answers_need_no_programs():
    X, y, weight = problem("plain", 5)
    Z = standardised(np.hstack([X, X, -X, np.ones((len(X), 2))]), weight)
    base = fit_baseline(Classification(), Z, y, weight, C=1.0, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 1.0, norm_slack=0.1, loss_slack=0.1)
    ours = relevance_intervals(near, every(Classification(), Z), Solving())
    d = X.shape[1]
    assert ours.n_programs <= 2 * d
    for shift in (d, 2 * d):
        np.testing.assert_array_equal(ours.maximum[:d], ours.maximum[shift : shift + d])
    assert (ours.maximum[3 * d :] == 0).all()

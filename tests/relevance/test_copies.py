"""Bounds of row-permuted copies that stand beside all features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import oracle
from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant._progress import Progress
from allrelevant.formulations import (
    Classification,
    ExplainedSlack,
    MultiClass,
    OrdinalExplicit,
    OrdinalImplicit,
    Regression,
    Residual,
)
from allrelevant.lp.deadline import Deadline
from allrelevant.relevance import copies as copies_module
from allrelevant.relevance.baseline import fit_baseline
from allrelevant.relevance.copies import Sample, bound_copies, default_copies
from allrelevant.relevance.nearoptimal import near_optimal_set
from allrelevant.relevance.solving import Solving
from reference import ENGINES, solved_by

N, D = 24, 4
RNG = np.random.RandomState(0)
Z = RNG.normal(size=(N, D))
SIGNAL = Z[:, 0] + 0.5 * Z[:, 1] + 0.5 * RNG.normal(size=N)
WEIGHT = RNG.choice([1.0, 2.0], size=N)
ORDERS = [np.random.default_rng(seed).permutation(N) for seed in range(2)]
PROBLEMS = {
    "classification": (Classification(), np.where(SIGNAL > 0, 1.0, -1.0)),
    "regression": (Regression(0.1), SIGNAL),
    "explicit": (OrdinalExplicit(3), np.digitize(SIGNAL, [-0.5, 0.5]).astype(float)),
    "implicit": (OrdinalImplicit(3), np.digitize(SIGNAL, [-0.5, 0.5]).astype(float)),
}
PAPERS = {
    "classification": lambda X, y: oracle.classification(X, y, WEIGHT),
    "regression": lambda X, y: oracle.regression(X, y, WEIGHT, 0.1),
    "explicit": lambda X, y: oracle.ordinal_explicit(X, y, WEIGHT, 3),
    "implicit": lambda X, y: oracle.ordinal_implicit(X, y, WEIGHT, 3),
}


def near_of(formulation, X, target, C=0.8, budgets="split"):
    base = fit_baseline(formulation, X, target, WEIGHT, C=C, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.1, loss_slack=0.1, budgets=budgets)
    assert near.mu > 0
    return near


def bounded(near, formulation, X, target, columns, n_sets=2, *, maximum=None, engine="reference", fixed=0, **options):
    orders = iter(ORDERS)
    maximum = np.zeros(len(columns)) if maximum is None else maximum
    sample = Sample(X, target, WEIGHT, fixed)
    with solved_by(engine):
        return bound_copies(
            near, formulation, sample, columns, maximum, lambda: next(orders), n_sets, Solving(), **options
        )


def singles(first, last):
    return [np.array([k]) for k in range(first, last)]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("budgets", ["split", "joint"])
def test_copies_are_bounded_as_columns_beside_all_features(name, engine, budgets):
    """The papers' programs by scipy on [Z, Z[π]], within the budgets of the baseline on Z."""
    formulation, target = PROBLEMS[name]
    near = near_of(formulation, Z, target, budgets=budgets)
    found = bounded(near, formulation, Z, target, singles(0, D), engine=engine)
    assert found.maximum.shape == (2, D)
    assert (found.n_drawn, found.n_programs) == (2, 2 * 2 * D)
    assert found.gap <= 1e-6
    for order, values in zip(ORDERS, found.maximum, strict=True):
        rows = PAPERS[name](np.hstack([Z, Z[order]]), target)
        theirs = oracle.relevance(*rows, near.budget.norm, near.budget.loss, near.budget.price)[D:, 1] / near.mu
        np.testing.assert_allclose(values, theirs, atol=2e-6)


def test_some_columns_only():
    """Copies of columns 1 and 3 stand beside all four, and no others."""
    formulation, target = PROBLEMS["classification"]
    near = near_of(formulation, Z, target)
    found = bounded(near, formulation, Z, target, [np.array([1]), np.array([3])], 1)
    rows = PAPERS["classification"](np.hstack([Z, Z[ORDERS[0]][:, [1, 3]]]), target)
    theirs = oracle.relevance(*rows, near.budget.norm, near.budget.loss)[D:, 1] / near.mu
    np.testing.assert_allclose(found.maximum[0], theirs, atol=2e-6)


def test_copies_of_a_group_are_permuted_together():
    formulation, target = PROBLEMS["classification"]
    near = near_of(formulation, Z, target)
    columns = [np.array([0, 2]), np.array([1]), np.array([3])]
    found = bounded(near, formulation, Z, target, columns, 1)
    rows = PAPERS["classification"](np.hstack([Z, Z[ORDERS[0]]]), target)
    limits = near.budget.norm, near.budget.loss
    group = oracle.group_relevance(*rows, *limits, np.array([D, D + 2]))[1] / near.mu
    single = oracle.relevance(*rows, *limits)[[D + 1, D + 3], 1] / near.mu
    np.testing.assert_allclose(found.maximum[0], [group, *single], atol=3e-6)


@pytest.mark.parametrize("budgets", ["split", "joint"])
def test_several_classes(budgets):
    formulation, target = MultiClass(3), np.digitize(SIGNAL, [-0.5, 0.5]).astype(float)
    near = near_of(formulation, Z, target, budgets=budgets)
    found = bounded(near, formulation, Z, target, singles(0, D), 1)
    *rows, sharing = oracle.multi_class(np.hstack([Z, Z[ORDERS[0]]]), target, WEIGHT, 3)
    one = np.array([[1.0, -0.5, -0.5], [-0.5, 1.0, -0.5], [-0.5, -0.5, 1.0]])
    limits = near.budget.norm, near.budget.loss, near.budget.price
    theirs = oracle.relevance(*rows, *limits, contrasts=np.kron(np.eye(2 * D), one), sharing=sharing) / near.mu
    np.testing.assert_allclose(found.maximum[0], theirs.reshape(-1, 3, 2).max(axis=1)[D:, 1], atol=2e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_privileged_features_that_explain_what_is_left(name):
    """The decision values at hand are neither permuted nor bounded."""
    base, target = PROBLEMS[name]
    given = Z[:, :1] + 0.5 * RNG.normal(size=(N, 1))
    P = np.column_stack([target + 0.3 * RNG.normal(size=N), Z[:, 2]])
    X, formulation = np.hstack([given, P]), Residual(base)
    near = near_of(formulation, X, target, C=3.0)
    found = bounded(near, formulation, X, target, singles(1, 3), 1, fixed=1)
    rows, hard = PAPERS[name](np.hstack([P, P[ORDERS[0]]]), target)
    values, _ = PAPERS[name](given, target)
    rows = [(x, np.append(offsets, f[0][0]), right, s) for (x, offsets, right, s), f in zip(rows, values, strict=True)]
    hard = [(x, np.append(offsets, 0.0), right) for x, offsets, right in hard]
    theirs = oracle.relevance(rows, hard, near.budget.norm, near.budget.loss)[2:, 1] / near.mu
    np.testing.assert_allclose(found.maximum[0], theirs, atol=2e-6)


@pytest.mark.parametrize("name", ["classification", "regression"])
@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("privileged", [False, True])
def test_privileged_features_in_one_program(name, keeps, privileged):
    """Copies of regular features stand before the privileged ones, copies of these after them."""
    base, target = PROBLEMS[name]
    P, gamma = np.column_stack([SIGNAL**2, Z[:, 3]]), 0.5
    kinds, q = base.n_slacks, 2
    formulation, X = ExplainedSlack(base, keeps, q, gamma), np.hstack([Z, P])
    near = near_of(formulation, X, target, C=0.9)
    columns = singles(D, D + q) if privileged else singles(0, D)
    found = bounded(near, formulation, X, target, columns, 1, privileged=privileged)
    order = ORDERS[0]
    wide, stars = (Z, np.hstack([P, P[order]])) if privileged else (np.hstack([Z, Z[order]]), P)
    explained = [(stars[i], side) for i in range(N) for side in range(kinds)]
    rows, hard, linear = oracle.explained(*PAPERS[name](wide, target), explained, kinds, keeps)
    d = wide.shape[1]
    more = {"gamma": np.append(np.ones(d), np.full(stars.shape[1] * kinds, gamma)), "linear": linear}
    theirs = oracle.relevance(rows, hard, near.budget.norm, near.budget.loss, **more)[:, 1] / near.mu
    theirs = gamma * theirs[d:].reshape(-1, kinds).max(axis=1)[q:] if privileged else theirs[D:d]
    np.testing.assert_allclose(found.maximum[0], theirs, atol=2e-6)


def test_sparse_data_have_the_same_bounds():
    formulation, target = PROBLEMS["classification"]
    thin = np.where(np.random.RandomState(1).rand(N, D) < 0.6, Z, 0.0)
    dense, stored = (
        bounded(near_of(formulation, X, target), formulation, X, target, singles(0, D))
        for X in (thin, sparse.csr_array(thin))
    )
    np.testing.assert_allclose(stored.maximum, dense.maximum, atol=2e-6)


def test_what_noise_can_do_a_copy_can():
    """Features of noise and copies of them are alike in the mean, also where their columns depend on each other."""
    found, copied = [], []
    for seed in range(8):
        rng = np.random.RandomState(seed)
        X = rng.normal(size=(60, 6))
        X[:, 3:] = X[:, 3:4] + 0.2 * rng.normal(size=(60, 3))  # near-copies of each other
        y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
        base = fit_baseline(Classification(), X, y, np.ones(60), C=0.5, folds=(), progress=Progress())
        near = near_optimal_set(base.program, base.w, base.b, 0.5, norm_slack=0.1, loss_slack=0.1)
        order = rng.permutation(60)
        stacked = np.hstack([X, X[order]])
        rows = oracle.classification(stacked, y, np.ones(60))
        both = oracle.relevance(*rows, near.budget.norm, near.budget.loss)[:, 1] / near.mu
        found.append(both[3:6].mean())
        copied.append(both[9:].mean())
        ours = bound_copies(
            near,
            Classification(),
            Sample(X, y, np.ones(60)),
            singles(0, 6),
            np.zeros(6),
            lambda order=order: order,
            1,
            Solving(),
        )
        np.testing.assert_allclose(ours.maximum[0], both[6:], atol=2e-6)
    assert np.mean(found) == pytest.approx(np.mean(copied), rel=0.3)


def test_features_far_below_all_copies_need_no_more_of_them(monkeypatch):
    """Beyond the first set, those have copies whose own relevance is above the median, or among the greatest."""
    monkeypatch.setattr(copies_module, "COMPARED", 2)
    formulation, target = PROBLEMS["classification"]
    near = near_of(formulation, Z, target)
    found = bounded(near, formulation, Z, target, singles(0, D), maximum=np.array([9.0, 0.0, 9.0, 1e-3]))
    assert np.isfinite(found.maximum[0]).all()
    np.testing.assert_array_equal(np.isfinite(found.maximum[1]), [True, False, True, False])
    whole = bounded(near, formulation, Z, target, singles(0, D), maximum=np.full(D, 9.0))
    some = np.isfinite(found.maximum)
    assert np.isfinite(whole.maximum).all()
    np.testing.assert_allclose(found.maximum[some], whole.maximum[some], atol=2e-6)


def test_what_time_runs_out_for_is_left_out():
    formulation, target = PROBLEMS["classification"]
    near = near_of(formulation, Z, target)
    with Deadline(1e-9).watched():
        found = bounded(near, formulation, Z, target, singles(0, D))
    assert found.maximum.shape == (0, D)
    assert (found.n_drawn, found.n_programs) == (2, 0)


@pytest.mark.parametrize(("n_features", "count"), [(1, 12), (5, 12), (8, 8), (20, 3), (1000, 2)])
def test_few_features_have_more_copies(n_features, count):
    assert default_copies(n_features) == count


KINDS = {
    "classification": (LinearRelevanceClassifier, lambda s: s > 0),
    "several classes": (LinearRelevanceClassifier, lambda s: np.digitize(s, [-0.7, 0.7])),
    "regression": (LinearRelevanceRegressor, lambda s: s),
    "ordinal": (LinearRelevanceOrdinal, lambda s: np.digitize(s, [-0.7, 0.7])),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_equal_are_permuted_each_by_itself(kind):
    """The models merge equal rows; the copies are those of the rows as given, in any order of them."""
    make, encode = KINDS[kind]
    rng = np.random.RandomState(0)
    X = rng.randint(3, size=(90, 4)).astype(float)
    y = encode(X[:, 0] - X[:, 1])
    assert len(np.unique(np.column_stack([X, y]), axis=0)) < 80
    model = make(C=0.3, random_state=0, n_copies=2)
    one, order = model.fit(X, y).result_, rng.permutation(90)
    two = model.fit(X[order], y[order]).result_
    np.testing.assert_array_equal(one.intervals, two.intervals)
    np.testing.assert_array_equal(one.pvalues, two.pvalues)
    np.testing.assert_array_equal(one.limits, two.limits)
    np.testing.assert_array_equal(one.classes > 0, [True, True, False, False])


@pytest.mark.parametrize("form", ["residual", "kept"])
def test_copies_of_privileged_features_judge_them(form):
    rng = np.random.RandomState(0)
    X, P = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.8 * P[:, 0], [-0.7, 0.7])
    gamma = None if form == "residual" else 1e-3
    model = LinearRelevanceOrdinal(C=1.0, gamma=gamma, privileged=form, level=0.01, random_state=0)
    model.fit(X, y, X_privileged=P)
    privileged = model.result_.privileged
    assert privileged.thresholds.rule == "copies"
    assert np.isfinite(privileged.together_pvalues).all()
    # Alone they say nothing of the slacks that they explain.
    assert np.isfinite(privileged.alone_pvalues).all() == (form == "residual")
    np.testing.assert_array_equal(privileged.classes > 0, privileged.intervals[:, 1] > privileged.limits)
    np.testing.assert_array_equal(privileged.classes > 0, privileged.adjusted_pvalues <= 0.01)
    if form == "residual":
        np.testing.assert_array_equal(privileged.classes > 0, [True, False, False])


def test_features_that_are_joined():
    """A class of dummies as one feature: its copy is a class of dummies again."""
    rng = np.random.RandomState(3)
    kinds = rng.randint(3, size=120)
    X = np.column_stack([np.eye(3)[kinds], rng.normal(size=(120, 3))])
    y = (kinds == 1) ^ (rng.rand(120) < 0.1)
    model = LinearRelevanceClassifier(C=0.5, feature_groups={"kind": [0, 1, 2]}, level=0.01, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.result_.classes > 0, [True, False, False, False])
    assert model.result_.together_pvalues[0] < 0.05

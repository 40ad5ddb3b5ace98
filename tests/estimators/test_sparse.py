"""Sparse data: the answers are those of the same data as an array, and storage has no say in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant.estimators import _linear
from allrelevant.formulations import Classification
from allrelevant.lp import BoundSolver, Budget, PenalisedSolver, Targets
from allrelevant.lp.matrix import power_sums
from reference import ENGINES, solved_by

FORMATS = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array]
PROBLEMS = ("classification", "multi-class", "regression", "ordinal")


def make(name, n=120, d=7, seed=0):
    """An estimator's class, data with a duplicate, a constant column and shifted values, targets and weights."""
    rng = np.random.RandomState(seed)
    X = np.round(rng.normal(1.0, 1.0, size=(n, d)) * (rng.rand(n, d) < 0.3), 3)
    signal = X[:, 0] + X[:, 1] - X[:, 2] + 0.2 * rng.normal(size=n)
    X[:, 4], X[:, 6] = X[:, 1], 2.5
    X[1] = X[0]
    classes = np.digitize(signal, np.quantile(signal, [1 / 3, 2 / 3]))
    kind, y = {
        "classification": (LinearRelevanceClassifier, signal > np.median(signal)),
        "multi-class": (LinearRelevanceClassifier, classes),
        "regression": (LinearRelevanceRegressor, np.round(signal, 3)),
        "ordinal": (LinearRelevanceOrdinal, classes),
    }[name]
    y[1] = y[0]
    return kind, X, y, rng.choice([0.5, 1.0, 2.0], n)


def fit(kind, X, y, weight=None, **parameters):
    return kind(**{"n_copies": 1, "random_state": 0} | parameters).fit(X, y, sample_weight=weight)


def assert_equal_results(one, two, columns=slice(None)):
    assert_array_equal(one.intervals_[columns], two.intervals_)
    assert_array_equal(one.relevance_classes_[columns], two.relevance_classes_)
    assert_allclose(one.pvalues_[columns], two.pvalues_, rtol=1e-9)
    assert_allclose(one.result_.limits[columns], two.result_.limits, rtol=1e-9)


@pytest.mark.parametrize(
    ("engine", "parameters"),
    [
        ("kernel", {}),
        ("reference", {"C": 1.0}),
        ("kernel", {"C": 1.0, "standardize": False}),
        ("kernel", {"C": 1.0, "threshold_rule": "papers", "n_probes": 12, "loss_slack": 2.0, "norm_slack": 1.0}),
        ("kernel", {"C": 1.0, "budgets": "joint"}),
    ],
    ids=["search", "reference", "raw", "papers", "joint"],
)
@pytest.mark.parametrize("name", PROBLEMS)
def test_sparse_and_dense_agree(name, engine, parameters):
    kind, X, y, weight = make(name)
    with solved_by(engine):
        dense, thin = (fit(kind, data, y, weight, **parameters) for data in (X, sparse.csr_array(X)))
    assert_allclose(thin.intervals_, dense.intervals_, atol=1e-8)
    assert_array_equal(thin.relevance_classes_, dense.relevance_classes_)
    assert_allclose(thin.pvalues_, dense.pvalues_, atol=1e-6)
    assert thin.result_.engine == dense.result_.engine
    assert_array_equal(thin.intervals_[6], 0.0)
    assert_array_equal(thin.intervals_[4], thin.intervals_[1])


@pytest.mark.parametrize("name", ["classification", "ordinal"])
def test_groups_of_sparse_columns(name):
    kind, X, y, weight = make(name)
    dense, thin = (
        fit(kind, data, y, weight, C=1.0, feature_groups=[[0, 3], [2, 5]]) for data in (X, sparse.csr_array(X))
    )
    assert_allclose(thin.intervals_, dense.intervals_, atol=1e-8)
    assert_array_equal(thin.relevance_classes_, dense.relevance_classes_)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_model_fitted_on_either_predicts_either(name):
    kind, X, y, weight = make(name)
    X = X[:, [0, 1, 2, 3, 5]]  # without the duplicate there is one best model
    dense, thin = (fit(kind, data, y, weight, C=1.0) for data in (X, sparse.csc_array(X)))
    assert_allclose(thin.coef_, dense.coef_, atol=1e-10)
    for container in (np.asarray, *FORMATS):
        assert_allclose(thin.predict(container(X)), dense.predict(X), atol=1e-10)
        if name != "regression":
            values, expected = thin.decision_function(container(X)), dense.decision_function(X)
            if name == "multi-class":  # what is added to the scores of all classes is arbitrary
                values, expected = values - values[:, :1], expected - expected[:, :1]
            assert_allclose(values, expected, atol=1e-9)
    small = thin.transform(sparse.csr_array(X))
    assert sparse.issparse(small)
    assert_array_equal(small.toarray(), dense.transform(X))


@pytest.mark.parametrize("name", PROBLEMS)
def test_neither_format_nor_explicit_zeros_matter(name):
    kind, X, y, weight = make(name)
    one = fit(kind, sparse.csr_array(X), y, weight, C=1.0)
    for container in FORMATS:
        assert_equal_results(one, fit(kind, container(X), y, weight, C=1.0))
    full = sparse.csr_array(np.where(X == 0.0, 1.0, X))
    full.data[(X == 0.0).ravel()] = np.tile([0.0, -0.0], X.size)[: (X == 0.0).sum()]
    assert full.nnz == X.size
    assert_equal_results(one, fit(kind, full, y, weight, C=1.0))
    rows, columns = np.nonzero(X)
    halves = sparse.coo_array((np.tile(X[rows, columns] / 2, 2), (np.tile(rows, 2), np.tile(columns, 2))), X.shape)
    assert_equal_results(one, fit(kind, halves, y, weight, C=1.0))


@pytest.mark.parametrize("C", [None, 1.0])
@pytest.mark.parametrize("name", PROBLEMS)
def test_arrangement_does_not_matter(name, C):
    kind, X, y, weight = make(name)
    rng = np.random.RandomState(1)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    signs = rng.choice([-1.0, 1.0], X.shape[1])
    one = fit(kind, sparse.csr_array(X), y, weight, C=C)
    other = sparse.csr_array((X * signs)[np.ix_(rows, columns)])
    assert_equal_results(one, fit(kind, other, y[rows], weight[rows], C=C), columns)


def test_a_weight_of_two_is_a_sample_given_twice_and_of_zero_one_left_out():
    kind, X, y, _ = make("classification")
    weight = np.arange(len(X)) % 3
    repeated = sparse.csr_array(X[np.repeat(np.arange(len(X)), weight)])
    one, two = fit(kind, sparse.csr_array(X), y, weight), fit(kind, repeated, np.repeat(y, weight))
    assert_array_equal(one.intervals_, two.intervals_)
    assert_array_equal(one.coef_, two.coef_)
    kept = weight > 0
    assert_equal_results(
        fit(kind, sparse.csr_array(X), y, kept.astype(float)), fit(kind, sparse.csr_array(X[kept]), y[kept])
    )


def test_the_data_given_stay_as_they_are():
    kind, X, y, weight = make("classification")
    given = sparse.csr_array(np.where(X == 0.0, 1.0, X))
    given.data[(X == 0.0).ravel()] = 0.0
    before = given.copy()
    fit(kind, given, y, weight, C=1.0)
    for part in ("data", "indices", "indptr"):
        assert_array_equal(getattr(given, part), getattr(before, part))


def test_wide_sparse_data():
    rng = np.random.RandomState(0)
    X = sparse.csr_array(sparse.random(20, 90, density=0.3, random_state=rng))
    y = (X[:, [0]] - X[:, [1]]).toarray()[:, 0] + 0.01 * rng.normal(size=20) > 0
    for engine in ENGINES:
        with solved_by(engine):
            dense, thin = (fit(LinearRelevanceClassifier, data, y, C=1.0) for data in (X.toarray(), X))
        assert_allclose(thin.intervals_, dense.intervals_, atol=1e-8)


@pytest.mark.parametrize("shape", [(1500, 80_000), (60_000, 2400)], ids=str)
def test_nothing_large_is_made_dense(shape, monkeypatch):
    """Of a program that would be more than 2^26 numbers (0.5 GiB) as an array, no such array is made."""
    rng = np.random.RandomState(0)
    n, d = shape
    few, many = (sparse.random(n, k, density=share, random_state=rng) for k, share in ((5, 0.5), (d - 5, 1e-3)))
    X = sparse.csr_array(sparse.hstack([few, many]))
    signal = X[:, :3].sum(axis=1)
    program = Classification().program(X, np.where(signal > np.quantile(signal, 0.7), 1.0, -1.0), np.ones(n))
    monkeypatch.setattr(sparse.csr_array, "toarray", _only_small)
    w, b = PenalisedSolver(program).solve(30.0 / n)
    assert w.any()
    budget = Budget(1.1 * program.norm(w), 1.1 * program.loss(w, b))
    found = BoundSolver(program, budget, (w, b)).solve(Targets.single([0, 0], [1.0, -1.0]))
    assert not found.open.any()


def _only_small(self, *args, **kwargs):
    assert np.prod(self.shape) <= 2**26, f"an array of {self.shape}"
    return sparse.coo_array(self).toarray(*args, **kwargs)


@pytest.mark.parametrize("engine", ENGINES)
def test_bounds_of_a_sparse_program_are_those_of_the_dense_one(engine):
    X = sparse.csr_array(sparse.random(60, 6, density=0.4, random_state=0))
    program = Classification().program(X, np.where(X.toarray()[:, 0] > 0, 1.0, -1.0), np.ones(60))
    w, b = PenalisedSolver(program).solve(1.0)
    budget = Budget(1.1 * program.norm(w), 1.1 * program.loss(w, b) + 0.1)
    targets = Targets.single(np.repeat(np.arange(6), 2), np.tile([1.0, -1.0], 6))
    with solved_by(engine):
        values = [
            BoundSolver(one, budget, (w, b)).solve(targets).value
            for one in (program, replace(program, A=program.A.toarray()))
        ]
    assert_allclose(values[0], values[1], atol=1e-8 * budget.norm)


def test_moments_of_columns_that_are_stored_in_full():
    """The weight of the zeros, of which there are none, must not be what rounding leaves of a difference."""
    rng = np.random.RandomState(0)
    X = 1e6 + 1e-4 * rng.normal(size=(500, 3))
    X[::2, 2] = 0.0
    weight = rng.uniform(0.1, 3, 500)
    centre = (weight @ X) / weight.sum()
    for power in (1, 2, 4):
        thin, dense = (power_sums(data, weight, centre, power) for data in (sparse.csr_array(X), X))
        scale = np.abs(power_sums(X, weight, 0 * centre, power)) if power == 1 else np.abs(dense)
        assert_allclose(thin / scale, dense / scale, atol=1e-12)


def test_columns_that_hardly_vary_are_constant():
    kind, X, y, weight = make("classification")
    X[:, 3] = 1e6 + 1e-9 * (np.arange(len(X)) % 2)
    for data in (X, sparse.csr_array(X)):
        assert_array_equal(fit(kind, data, y, weight, C=1.0).intervals_[3], 0.0)


def test_privileged_features_beside_sparse_data():
    kind, X, y, weight = make("classification")
    P = np.random.RandomState(2).normal(size=(len(X), 2))
    one, two = (
        kind(C=1.0, n_copies=1, random_state=0).fit(data, y, sample_weight=weight, X_privileged=P)
        for data in (X, sparse.csr_array(X))
    )
    assert_allclose(one.privileged_intervals_, two.privileged_intervals_, atol=1e-6)
    with pytest.raises(TypeError, match=r"X_privileged is a csr_array.*X_privileged.toarray\(\)"):
        kind().fit(X, y, X_privileged=sparse.csr_array(P))
    for form in ("kept", "replaced"):
        with pytest.raises(TypeError, match=f"X is sparse, but privileged='{form}'.*privileged='residual'"):
            kind(privileged=form).fit(sparse.csr_array(X), y, X_privileged=P)


def test_sparse_columns_with_zeros_are_scaled_but_not_shifted():
    kind, X, y, weight = make("classification")
    data = _linear.canonical_form(sparse.csr_array(X), np.where(y, 1.0, -1.0), weight)
    stored = data.X.nnz
    data, shift, scale = kind()._standardize(data)
    assert not shift[np.isfinite(scale)].any()
    assert data.X.nnz == stored - len(data.target)  # all but the constant column
    plain = data.X.toarray()
    varying = np.ptp(plain, axis=0) > 0
    mean = data.sample_weight @ plain / data.sample_weight.sum()
    variance = data.sample_weight @ (plain - mean) ** 2 / data.sample_weight.sum()
    assert_allclose(variance[varying], 1.0, rtol=1e-12)

"""Problems that once ended badly, as small as they could be made (found by `tests/fuzz`)."""

from __future__ import annotations

import warnings
from importlib.metadata import version

import numpy as np
import pytest
from scipy import sparse

from allrelevant import (
    ForestRelevanceRegressor,
    LinearRelevanceClassifier,
    LinearRelevanceRegressor,
    RelevanceWarning,
)
from allrelevant.errors import SolverError
from allrelevant.lp import PenalisedSolver
from allrelevant.lp.certificate import repair
from allrelevant.lp.highs import HighsPenalised
from allrelevant.lp.program import Duals
from fuzz.cases import Case
from fuzz.checks import check_fit, fit_case, fitted
from fuzz.forests import ForestCase, check_forest
from problems import problem
from programs import random_program
from reference import ENGINES, only_reference, solved_by

HIGHS = tuple(int(part) for part in version("highspy").split(".")[:2])


def fit(X, y, weight=None, estimator=LinearRelevanceClassifier, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        return estimator(**{"n_copies": 1, "random_state": 0, "C": 1.0} | parameters).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-20, 2.0**20, 2.0**40])
def test_the_unit_of_weights_does_not_matter(unit):
    """The least slack was meant for weights of 1: with weights of 1e-9 every model was near-optimal."""
    X, y, weight = problem("weighted", 3)
    plain, other = fit(X, y, weight), fit(X, y, unit * weight, C=1.0 / unit)
    np.testing.assert_allclose(other.intervals_, plain.intervals_, atol=2e-5)
    assert other.result_.hyperparameters["C"] == 1.0 / unit
    # Also where C is searched: the same path, in other units.
    found = [fit(X, y, factor * np.ones(len(y)), C=None, cv=2) for factor in (0.5 * unit, unit)]
    assert 0.0 < found[0].intervals_[:, 1].max() < 1.1 + 1e-6
    assert found[0].result_.hyperparameters["C"] * unit < 1e4


@pytest.mark.parametrize("exponent", [-280, -160, 160, 300])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_the_unit_of_columns_does_not_matter_however_far(exponent, stored):
    """Squares of the values were infinite, or all 0 as if the columns were constant."""
    X, y, _ = problem("plain", 1)
    plain, far = fit(X, y), fit(stored(X * 10.0**exponent), y)
    np.testing.assert_allclose(far.intervals_, plain.intervals_, atol=1e-5)
    np.testing.assert_array_equal(far.predict(stored(X * 10.0**exponent)), plain.predict(X))


def test_columns_of_next_to_nothing_are_refused():
    X, y, _ = problem("plain", 1)
    X[:, 1] *= 1e-300
    with pytest.raises(ValueError, match="X has a column, 1, whose values are all below 1e-290"):
        fit(X, y)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_the_unit_of_the_target_does_not_matter_however_far(factor):
    X = problem("plain", 1)[0]
    y = X[:, 0] + 0.1 * X[:, 1] ** 2
    plain, far = (fit(X, k * y, estimator=LinearRelevanceRegressor) for k in (1.0, factor))
    np.testing.assert_allclose(far.intervals_, plain.intervals_, atol=1e-5)
    np.testing.assert_allclose(far.predict(X) / factor, plain.predict(X), rtol=1e-6)


def test_weights_of_zero_only():
    X = problem("plain", 1)[0]
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        fit(X, X[:, 0], np.zeros(len(X)), estimator=LinearRelevanceRegressor)


def test_sparse_columns_without_zeros_far_from_zero():
    """They were scaled but not shifted: 1e8 ± 1 became a column of equal numbers, and nothing was proven."""
    for case in (
        Case(shift=1e8, weight="ratio", storage="csr"),
        Case(n=12, d=5, values="binary", twins="nearer", storage="csc"),
    ):
        assert check_fit(case) == "proven"


def test_constant_privileged_features():
    """An IndexError: without features that vary there was nothing to draw probes from."""
    case = Case(n=8, constant=0.0, privileged="replaced")
    assert check_fit(case) == "proven"


def test_a_model_at_hand_that_says_nothing():
    """A singular matrix: the decisions of a constant model are one more offset that does what another one does."""
    case = Case(problem="explicit", C=1e-3, target="noise", privileged="residual")
    for engine in ENGINES:
        with solved_by(engine):
            assert not fit_case(case).coef_.any()
            assert check_fit(case) == "proven"


def test_iterates_that_overflow_do_not_warn():
    check_fit(
        Case(
            problem="implicit", d=2, rank=2, values="heavy", twins="near", constant=3.0, shift=1.0, rows="equal",
            weight="large", loss_slack=0.0, seed=645,
        )
    )  # fmt: skip


def test_multipliers_that_are_no_numbers_prove_nothing():
    program = random_program(0)[0]
    wild = Duals(np.full((2, program.n_rows), np.nan), np.zeros((2, program.n_hard)), np.ones(2))
    wild.alpha[1] = 0.0
    fixed, _ = repair(program, wild)
    assert np.isfinite(fixed.alpha).all()
    assert fixed.lam.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("C", [1e-12, 1e-8, 1e-6])
def test_penalties_of_next_to_nothing(C):
    """Multipliers that are limited by less than the tolerance of HiGHS were left at random, and nothing was proven."""
    program = random_program(1, hard=False, linear=False)[0]
    w, b = PenalisedSolver(program).solve(C)
    assert not w.any()
    best = HighsPenalised(program).solve(1e-4)[1]
    np.testing.assert_allclose(program.loss(w, b), program.loss(w, best), rtol=1e-6)


def test_the_kernel_solves_where_highs_gives_up():
    """Rows that are 1e-9 apart: HiGHS alone proves nothing, or ends with "Unknown"."""
    case = Case(rows="near", loss_slack=0.0)
    with only_reference():
        assert isinstance(fit_case(case), SolverError)
    assert check_fit(case) == "proven"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            Case(values="binary", twins="near", shift=1.0, target="noise", C=None),
            marks=pytest.mark.xfail(
                strict=True,
                reason="columns 1e-9 apart need weights of 1e9 to differ: for the greatest C of the path HiGHS "
                "says Unknown, and its point is not proven to the gap of the search; it ends with SolverError",
            ),
        ),
        Case(n=40, d=2, shift=1e8, weight="small", C=None, standardize=False),
        pytest.param(
            Case(problem="multi-class", n=25, d=2, weight="large", seed=983),
            marks=pytest.mark.xfail(
                HIGHS < (1, 13),
                strict=True,
                reason="HiGHS before 1.13 stops at a gap of 1e-5: it ends with SolverError",
            ),
        ),
    ],
)
def test_what_highs_does_not_know_at_once(case):
    """HiGHS said "Unknown" of programs that it solves by primal simplex, or without scaling."""
    assert check_fit(case) == "proven"


def test_forests_of_a_handful_of_samples():
    """An error of LightGBM, which was given no sample to grow a tree on."""
    X, y = np.arange(12.0).reshape(4, 3), np.arange(4.0)
    with pytest.raises(ValueError, match=r"X has 2 samples of positive weight, but at least 3 are needed.*n_folds=3"):
        ForestRelevanceRegressor().fit(X, y, sample_weight=[1, 1, 0, 0])
    assert check_forest(ForestCase(problem="regression", n=4)) == "found"
    few = ForestRelevanceRegressor(n_estimators=10, n_copies=6, bagging_fraction=0.1, random_state=0)
    assert isinstance(fitted(few, X, y), ForestRelevanceRegressor)


@pytest.mark.parametrize(
    "case",
    [
        ForestCase(
            problem="regression", n=6, d=5, missing=0.3, categories="all", twins=True, target="noise",
            importance="gain", level=0.99, control="none", min_samples_leaf=20, seed=282,
        ),
        ForestCase(
            problem="regression", n=6, d=12, constant="first", twins=True, weight="few", decomposition="refit", seed=78
        ),
        ForestCase(
            problem="regression", n=6, d=12, missing=0.9, categories="numbers", constant="first", scale=1e-12,
            twins=True, target="noise", weight="few", decomposition="refit", level=0.99, control="none",
            min_samples_leaf=20, seed=316,
        ),
        ForestCase(
            problem="regression", n=6, d=5, categories="all", constant="all", twins=True, target="noise",
            weight="few", importance="gain", decomposition="refit", level=0.99, control="none", seed=688,
        ),
        ForestCase(
            problem="regression", n=6, d=12, missing=0.9, categories="numbers", constant="all", scale=1e-12,
            weight="few", decomposition="refit", level=0.99, control="none", seed=759,
        ),
    ],
)  # fmt: skip
def test_forest_of_trees_without_a_split(case):
    """LightGBM leaves anything in the one leaf of such a tree, also what is no number."""
    assert check_forest(case) == "found"


def test_forest_with_a_category_of_one_value():
    """An IndexError: the entropy of a category that does not vary was asked for."""
    case = ForestCase(
        problem="regression", n=6, d=12, categories="all", weight="few", level=0.99, control="none", seed=225
    )
    assert check_forest(case) == "found"


def test_forest_with_values_whose_squares_overflow():
    assert check_forest(ForestCase(n=8, d=12, scale=1e200, level=0.99, control="none", seed=213)) == "found"


@pytest.mark.parametrize(
    "case",
    [
        Case(
            problem="explicit", d=2, rank=4, values="rounded", twins="near", constant=0.0, rows="equal", weight="large",
            storage="csr", C=1e-3, norm_slack=1.0, loss_slack=1e-9, budgets="joint", seed=215,
        ),
        Case(
            d=6, rank=4, values="binary", twins="equal", constant=0.0, scale=1e-12, target="coarse", weight="large",
            C=0.1, norm_slack=1.0, budgets="joint", q=5, seed=411,
        ),
    ],
)  # fmt: skip
def test_shares_of_a_small_norm_are_stored(case):
    """A common budget is mostly loss where samples weigh much: intervals were many times what a file might hold."""
    assert check_fit(case) == "proven"
    assert fit_case(case).result_.intervals.max() > 1e6


@pytest.mark.parametrize(
    "case",
    [
        Case(
            problem="implicit", n=30, rank=4, values="few", twins="negated", constant=0.0, scale=1e-12, shift=1.0,
            target="large", weight="ratio", storage="fortran", C=10.0, norm_slack=0.0, loss_slack=1e-9, budgets="joint",
            privileged="residual", q=5, seed=262,
        ),
        Case(
            problem="regression", n=10, d=20, rank=1, values="few", scale="mixed", rows="equal", target="large",
            storage="float32", C=1e-3, norm_slack=1e-9, loss_slack=0.0, privileged="replaced", q=2,
            rule="papers", standardize=False, seed=79,
        ),
        Case(
            problem="implicit", n=40, d=1, values="binary", twins="negated", shift=1e8, rows="near", target="exact",
            weight="mild", storage="int", C=0.1, norm_slack=0.0, loss_slack=1e-9, q=5, seed=646,
        ),
    ],
)  # fmt: skip
def test_ends_of_an_interval_are_in_order(case):
    """With next to no slack the ends crossed, by less than the gap of their proofs."""
    assert check_fit(case) == "proven"


@pytest.mark.parametrize("kind", [LinearRelevanceClassifier, LinearRelevanceRegressor])
def test_somewhat_more_than_very_many_rows(kind):
    """A SolverError from 50,001 to 79,999 rows, of which no sample was large enough."""
    rng = np.random.RandomState(0)
    n = 60_000 if kind is LinearRelevanceClassifier else 30_000
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    model = kind(C=1e-3, n_copies=1, random_state=0).fit(X, score if kind is LinearRelevanceRegressor else score > 0)
    assert model.result_.max_gap <= 1e-6
    np.testing.assert_array_equal(model.relevance_classes_ > 0, [True, False, False])

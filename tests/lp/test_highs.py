from __future__ import annotations

import numpy as np
import pytest

from allrelevant.errors import InfeasibleProgram, SolverError, UnboundedProgram
from allrelevant.lp import BoundSolver, PenalisedSolver, optimum
from allrelevant.lp import solve as solving
from allrelevant.lp.certificate import certify
from allrelevant.lp.generation import solve_by_generation
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.interior import InteriorBounds
from allrelevant.lp.penalised import ALL_WEIGHTS, HighsPenalised
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.simplex import INFINITY
from allrelevant.lp.targets import Columns, Duals, Targets


def svm(n=40, d=5, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)[:, None]
    return Program.build(y * X, -y, np.ones(n))


ONE = Targets.single(np.array([0]), np.ones(1))


def test_an_empty_budget_is_a_typed_error():
    program = Program.build(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1), G=[[1.0]], H=[[0.0]], h=[5.0])
    with pytest.raises(InfeasibleProgram, match="no feasible point"):
        HighsBounds(program, Budget(1.0, 1.0)).solve(ONE)


def test_the_least_spending_tells_whether_a_budget_is_empty():
    program = svm()
    w, b = PenalisedSolver(program).solve(1.0)
    norm, loss = float(program.norm(w)), float(program.loss(w, b))
    engine = HighsBounds(program, Budget(norm, loss + 0.1))
    assert program.loss(*engine.least_spending()) == pytest.approx(loss, abs=1e-7)
    solved = engine.solve(ONE)  # the budgets are as before
    assert program.loss(solved[0][0], solved[1][0]) <= loss + 0.1 + 1e-7
    assert program.loss(*HighsBounds(program, Budget(0.1 * norm, loss)).least_spending()) > loss


def test_an_unbounded_program_is_a_typed_error():
    program = Program.build(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1))
    with pytest.raises(UnboundedProgram):
        HighsBounds(program, Budget(INFINITY, INFINITY)).solve(ONE)


def test_paths_do_not_depend_on_where_they_start():
    program = svm()
    solver = PenalisedSolver(program)
    for C in (0.05, 0.5, 5.0):
        warm, cold = solver.solve(C), PenalisedSolver(program).solve(C)
        values = [program.norm(w) + C * program.loss(w, b) for w, b in (warm, cold)]
        assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_many_more_weights_than_rows_are_generated_as_needed():
    program = svm(n=20, d=3 * ALL_WEIGHTS)
    w, b = PenalisedSolver(program).solve(2.0)
    small = HighsPenalised(program)
    assert len(small._weights) == ALL_WEIGHTS
    from scipy.optimize import linprog

    n, d = program.A.shape
    solved = linprog(
        np.concatenate([np.ones(2 * d), [0.0], np.full(n, 2.0)]),
        A_ub=-np.hstack([program.A, -program.A, program.B, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n,
    )
    assert program.norm(w) + 2.0 * program.loss(w, b) == pytest.approx(solved.fun, rel=1e-7)


def bound_solver(engine="interior"):
    program = svm()
    w, b = PenalisedSolver(program).solve(1.0)
    budget = Budget(1.1 * float(program.norm(w)), 1.1 * float(program.loss(w, b)) + 0.1)
    return BoundSolver(program, budget, (w, b), engine)


@pytest.mark.parametrize("engine", ["interior", "highs"])
def test_a_lying_engine_is_caught_and_solved_again(engine, monkeypatch):
    targets = Targets.single(np.arange(5), np.ones(5))
    expected = bound_solver(engine).solve(targets)
    broken = InteriorBounds if engine == "interior" else HighsBounds
    honest = broken.solve

    def lie(self, targets, **options):
        w, b, duals = honest(self, targets, **options)
        return (w, b, duals) if options.get("cold") else (0.5 * w, b, Duals(0 * duals.alpha, duals.beta, duals.lam))

    monkeypatch.setattr(broken, "solve", lie)
    solved = bound_solver(engine).solve(targets)
    np.testing.assert_allclose(solved.value, expected.value, atol=1e-6)
    assert solved.n_reference == 5


def test_an_optimum_nobody_can_prove_is_an_error(monkeypatch):
    solver = bound_solver()
    for module in (solving, optimum):
        monkeypatch.setattr(module, "GAP_LIMIT", -1.0)
    with pytest.raises(SolverError, match="weight 0 was not proven"):
        solver.solve(ONE)
    with pytest.raises(SolverError, match="not proven optimal"):
        PenalisedSolver(svm()).solve(1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": np.ones(3)}, "A has 1 dimensions"),
        ({"B": np.ones((2, 1))}, r"B has shape \(2, 1\)"),
        ({"r": np.ones(4)}, r"r has shape \(4,\)"),
        ({"s": -np.ones(3)}, "s has negative entries"),
        ({"gamma": np.zeros(2)}, "gamma has entries <= 0"),
        ({"h": np.ones(2), "G": np.ones((1, 2))}, r"G has shape \(1, 2\)"),
    ],
)
def test_programs_check_their_parts(change, message):
    parts = {"A": np.ones((3, 2)), "B": np.ones((3, 1)), "r": np.ones(3)} | change
    with pytest.raises(ValueError, match=message):
        Program.build(**parts)


def test_unknown_engine():
    with pytest.raises(ValueError, match="engine='simplex' is unknown; choose one of 'auto', 'highs', 'interior'"):
        solving.choose_engine(svm(), "simplex")


@pytest.mark.parametrize(("n", "d", "engine"), [(40, 5, "interior"), (5, 40, "interior"), (12, 12, "highs")])
def test_the_engine_fits_the_shape(n, d, engine, monkeypatch):
    monkeypatch.setattr(solving, "INTERIOR_SIZE", 10)
    assert solving.choose_engine(svm(n, d), "auto") == engine
    assert solving.choose_engine(svm(n, d), "highs") == "highs"


@pytest.mark.parametrize("own", [False, True])
def test_weights_generated_as_needed_reach_the_optimum_of_all(own):
    program = svm(n=20, d=120, seed=1)
    w, b = PenalisedSolver(program).solve(1.0)
    budget = Budget(1.1 * float(program.norm(w)), 1.1 * float(program.loss(w, b)) + 0.1)
    targets = Targets.single(np.arange(10), np.tile([1.0, -1.0], 5))
    if own:
        rng = np.random.RandomState(0)
        program, w = program.with_slots([1.0]), np.append(w, 0.0)
        columns = Columns(rng.normal(size=(10, 1, 20)), np.zeros((10, 1, 0)), np.zeros((10, 1)))
        targets = Targets.single(np.full(10, 120), np.tile([1.0, -1.0], 5), columns)
    found = solve_by_generation(program, budget, targets, np.tile(w, (10, 1)), w)
    proof = certify(program, budget, targets, *found, (w, b))
    assert ((proof.upper - proof.lower) <= 1e-6 * budget.norm).all()
    whole = HighsBounds(program, budget).solve(targets)[0]
    np.testing.assert_allclose(proof.lower, targets.value(whole), atol=1e-6)


def test_wide_programs_are_handed_to_generation_where_the_fast_engine_fails(monkeypatch):
    program = svm(n=20, d=120, seed=2)
    w, b = PenalisedSolver(program).solve(1.0)
    budget = Budget(1.1 * float(program.norm(w)), 1.1 * float(program.loss(w, b)) + 0.1)
    targets = Targets.single(np.arange(5), np.ones(5))
    expected = BoundSolver(program, budget, (w, b), "highs").solve(targets)
    honest = InteriorBounds.solve

    def lie(self, targets):
        w, b, duals = honest(self, targets)
        return np.full_like(w, np.nan), b, duals

    monkeypatch.setattr(InteriorBounds, "solve", lie)
    solved = BoundSolver(program, budget, (w, b), "interior").solve(targets)
    np.testing.assert_allclose(solved.value, expected.value, atol=1e-6)
    assert solved.n_reference == 5

"""The reference engine: what it finds is what SciPy finds, and what it does not find it says."""

from __future__ import annotations

import numpy as np
import pytest

from allrelevant.errors import InfeasibleProgram, SolverError, SolverTimeout, TimeLimitReached, UnboundedProgram
from allrelevant.lp import BoundSolver, PenalisedSolver, bounds, highs
from allrelevant.lp.certificate import certify, penalised_gap
from allrelevant.lp.deadline import Deadline
from allrelevant.lp.highs import INFINITY, HighsBounds, HighsPenalised
from allrelevant.lp.program import Budget, Program, Targets
from programs import ByLinprog, draw


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


KINDS = [
    (),
    ("shared",),
    ("hard",),
    ("box",),
    ("fixed",),
    ("linear", "weighted"),
    ("joint",),
    ("charged",),
    ("sparse",),
]


@pytest.mark.parametrize("kind", KINDS, ids="+".join)
@pytest.mark.parametrize("cold", [False, True])
def test_bounds_are_those_of_scipy(kind, cold):
    drawn = draw(3, *kind)
    program, budget, targets = drawn.program, drawn.budget, drawn.targets
    w, b, duals = HighsBounds(program, budget).solve(targets, cold=cold)
    expected = ByLinprog(program).bounds(budget, targets)
    np.testing.assert_allclose(targets.value(w), expected, rtol=0, atol=1e-7 * budget.norm)
    proof = certify(program, budget, targets, w, b, duals, BoundSolver(program, budget, drawn.start)._anchor)
    assert (proof.upper - proof.lower <= 1e-6 * budget.norm).all()


@pytest.mark.parametrize(
    "kind", [(), ("shared",), ("hard",), ("linear", "weighted"), ("wide",), ("sparse",)], ids="+".join
)
def test_optima_are_those_of_scipy_from_wherever_they_start(kind):
    program = draw(3, *kind).program
    engine = HighsPenalised(program)
    for C in (0.05, 5.0, 0.5):
        w, b, duals = engine.solve(C)
        assert program.norm(w) + C * program.loss(w, b) == pytest.approx(ByLinprog(program).penalised(C)[0], rel=1e-7)
        assert penalised_gap(program, np.array([C]), w[None], b[None], duals)[0] <= 1e-7


def test_a_bound_nobody_can_prove_is_an_error(monkeypatch):
    drawn = draw(0)
    solver = BoundSolver(drawn.program, drawn.budget, drawn.start)
    monkeypatch.setattr(bounds, "GAP_LIMIT", -1.0)
    weight = drawn.targets.index[0, 0]
    with pytest.raises(SolverError, match=f"weight {weight} was not proven: .*a wider budget or better scaled data"):
        solver.solve(drawn.targets)


def test_going_round_in_circles_is_a_typed_error(monkeypatch):
    monkeypatch.setattr(highs, "MOST_ITERATIONS", -1)
    drawn = draw(0)
    with pytest.raises(SolverTimeout, match="came to no end"):
        HighsBounds(drawn.program, drawn.budget).solve(drawn.targets)


def test_time_that_runs_out_leaves_what_was_found():
    drawn = draw(0)
    with Deadline(0.0).watched():
        w, _, duals = HighsBounds(drawn.program, drawn.budget).solve(drawn.targets)
        with pytest.raises(TimeLimitReached):
            HighsPenalised(drawn.program).solve(1.0)
    assert not w.any()
    assert not duals.lam.any()

"""Working sets of rows and weights lead to the optimum over all of them, however they begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from allrelevant.formulations import Classification, OrdinalExplicit, Regression
from allrelevant.lp import BoundSolver, PenalisedSolver, Targets, _kernel, kernel, matrix
from allrelevant.lp.certificate import certify, penalised_gap
from allrelevant.lp.kernel import Kernel, QuadraticModel
from allrelevant.lp.program import Budget, Duals, Program, Slacks
from allrelevant.lp.view import RowView
from allrelevant.relevance.nearoptimal import near_optimal_set
from programs import ByLinprog, draw

N, D = 1000, 5


def program_of(kind, n=N, d=D, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)
    target, formulation = {
        "classification": (np.sign(score), Classification()),
        "regression": (score, Regression(epsilon=0.1)),
        "ordinal": (np.digitize(score, [-1.0, 1.0]).astype(float), OrdinalExplicit(3)),
    }[kind]
    return formulation.program(X, target, np.ones(n))


def both_sides(d):
    return Targets.single(np.repeat(np.arange(d), 2), np.tile([1.0, -1.0], d))


def assert_some_right(program, region, found):
    """Every third of both sides of all weights, which SciPy takes long for."""
    expected = ByLinprog(program).bounds(region.budget, both_sides(D).take(np.arange(0, 2 * D, 3)))
    np.testing.assert_allclose(found.value[::3], expected, rtol=0, atol=1e-6 * region.budget.norm)
    assert found.n_reference == 0
    assert found.gap <= 1e-6


def prepared(program, w=None):
    """A kernel that knows which weights an optimum uses, or knows of none."""
    return Kernel(program, None if w is None else np.append(w, np.zeros(program.n_offsets)))


def near(program, C=0.1, slack=0.1, budgets="split"):
    w, b = PenalisedSolver(program).solve(C)
    return near_optimal_set(program, w, b, C, norm_slack=slack, loss_slack=slack, budgets=budgets)


@pytest.fixture
def sizes(monkeypatch):
    """Rows and columns of all problems that the compiled routine is asked to solve."""
    seen, honest = [], _kernel.solve

    def watched(K, *rest):
        seen.append(K.shape)
        return honest(K, *rest)

    monkeypatch.setattr(_kernel, "solve", watched)
    return seen


@pytest.mark.parametrize("kind", ["classification", "regression", "ordinal"])
def test_most_rows_are_never_looked_at_closely(kind, sizes):
    program = program_of(kind)
    region = near(program)
    sizes.clear()
    found = BoundSolver(program, region.budget, (region.w, region.b)).solve(both_sides(D))
    assert np.mean([rows for rows, _ in sizes]) < program.n_rows / 4
    assert_some_right(program, region, found)


def test_most_weights_are_never_looked_at_closely(sizes):
    program = draw(0, "wide", n=40).program
    region = near(program, C=0.3)
    sizes.clear()
    targets = both_sides(program.n_weights)
    found = BoundSolver(program, region.budget, (region.w, region.b)).solve(targets)
    assert np.mean([columns for _, columns in sizes]) < program.n_weights / 2
    assert found.n_reference == 0
    some = targets.take(np.arange(0, len(targets), 7))
    expected = ByLinprog(program).bounds(region.budget, some)
    np.testing.assert_allclose(found.value[::7], expected, rtol=0, atol=1e-6 * region.budget.norm)


TINY = {"FIRST_ROWS": 0.2, "NEXT_ROWS": 0.2, "FIRST_COLUMNS": 1, "MORE_COLUMNS": 1, "MANY": 1.0}


@pytest.mark.parametrize("names", [("FIRST_ROWS",), ("FIRST_ROWS", "NEXT_ROWS"), ("FIRST_COLUMNS",), tuple(TINY)])
@pytest.mark.parametrize(
    "kind", [(), ("shared",), ("shared", "weighted", "linear"), ("hard", "box"), ("joint",), ("charged",), ("wide",),
             ("wide", "hard"), ("wide", "shared", "joint"), ("offsets", "repeated"), ("no hinge rows",)], ids="+".join
)  # fmt: skip
def test_a_first_working_set_that_is_far_too_small_grows(names, kind, monkeypatch):
    drawn = draw(4, *kind, n=90)
    for name in names:
        monkeypatch.setattr(kernel, name, TINY[name])
    found = BoundSolver(drawn.program, drawn.budget, drawn.start).solve(drawn.targets)
    expected = ByLinprog(drawn.program).bounds(drawn.budget, drawn.targets)
    np.testing.assert_allclose(found.value, expected, rtol=0, atol=1e-6 * drawn.budget.norm)
    assert found.n_reference == 0
    if not {"joint", "box"} & set(kind):
        w, b = PenalisedSolver(drawn.program).solve(drawn.C)
        value = drawn.program.norm(w) + drawn.C * drawn.program.loss(w, b)
        assert value == pytest.approx(ByLinprog(drawn.program).penalised(drawn.C)[0], rel=1e-6)


@pytest.mark.parametrize("slack", [0.01, 1.0, 10.0])
def test_a_set_in_which_all_rows_change_sides(slack):
    """Far from the start nearly all rows are where they were not."""
    program = program_of("classification", n=400)
    region = near(program, slack=slack)
    found = BoundSolver(program, region.budget, (region.w, region.b)).solve(both_sides(D))
    assert_some_right(program, region, found)


@pytest.mark.parametrize("kind", ["", "hard", "wide", "shared", "sparse", "box"])
def test_multipliers_of_a_working_set_prove_the_whole(kind):
    drawn = draw(9, *kind.split(), n=200 if kind != "wide" else 40)
    program, budget, targets = drawn.program, drawn.budget, drawn.targets.take(np.arange(1))
    solver, goal = prepared(program, drawn.start[0]), targets.spread(targets.coefficient, program.n_weights)[0]
    found = solver.bound(budget, goal, np.zeros_like(goal), np.concatenate(drawn.start), 1.0, 1.0)
    d = program.n_weights
    duals = Duals(found.alpha[None], found.beta[None], np.array([found.lam]))
    point = found.x[None, :d], found.x[None, d:]
    proof = certify(program, budget, targets, *point, duals, drawn.start)
    assert proof.upper[0] - proof.lower[0] <= 1e-6 * budget.norm
    assert found.value == pytest.approx(proof.lower[0], abs=1e-6 * budget.norm)


def test_optima_of_a_working_set_prove_the_whole():
    program = program_of("classification")
    found = prepared(program).penalised(0.1, np.zeros(D + 1))
    duals = Duals(found.alpha[None], found.beta[None], np.array([0.1]))
    gap = penalised_gap(program, np.array([0.1]), found.x[None, :D], found.x[None, D:], duals)
    assert abs(gap[0]) <= 1e-6
    assert found.lam == pytest.approx(0.1)


def test_once_it_is_beaten_an_objective_is_left_alone(sizes):
    drawn = draw(0, n=200)
    program, budget = drawn.program, drawn.budget
    solver = prepared(program, drawn.start[0])
    goal, none = np.eye(5)[0], np.zeros(5)
    start = QuadraticModel(program, budget, *drawn.start).start(goal)
    exact = solver.bound(budget, goal, none, *start)
    left = solver.bound(budget, goal, none, *start, 100.0 * abs(exact.value))
    assert left.value <= exact.value + 1e-6 * budget.norm


@pytest.mark.parametrize("goals", [1e-12, 1e-3, 1e6])
def test_objectives_of_any_size(goals):
    drawn = draw(1)
    targets = replace(drawn.targets, coefficient=goals * drawn.targets.coefficient)
    solver = BoundSolver(drawn.program, drawn.budget, drawn.start)
    expected = solver.solve(drawn.targets).value
    found = solver.solve(targets) if goals < 1.0 else None  # gaps are measured by the norm budget alone
    if found is not None:
        np.testing.assert_allclose(found.value / goals, expected, rtol=0, atol=1e-6 / goals)
    goal = np.eye(5)[drawn.targets.index[0, 0]]
    x, lam, nu = solver._model.start(goal)
    one = solver._kernel.bound(drawn.budget, goals * goal, np.zeros(5), x, goals * lam, goals * nu)
    assert one.value / goals == pytest.approx(expected[0], abs=1e-6 * drawn.budget.norm)


# --- Very many rows ---------------------------------------------------------------------------------------------------


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(kernel, "TALL", 400)
    monkeypatch.setattr(matrix, "MANY_ROWS", 400)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("kind", ["classification", "regression", "ordinal"])
@pytest.mark.parametrize("budgets", ["split", "joint"])
def test_of_very_many_rows_a_sample_comes_first(kind, budgets):
    program = program_of(kind)
    assert isinstance(program.A, RowView)
    region = near(program, budgets=budgets)
    value = region.mu + 0.1 * region.rho
    assert value == pytest.approx(ByLinprog(program).penalised(0.1)[0], rel=1e-6)
    solver = BoundSolver(program, region.budget, (region.w, region.b))
    assert solver._kernel._sample is not None
    found = solver.solve(both_sides(D))
    assert_some_right(program, region, found)


@pytest.mark.usefixtures("few_are_many")
def test_a_sample_that_misleads_does_no_harm():
    """Every row of the sample belongs to one class of samples that the others contradict."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(N, D)), np.ones(N)
    y[X[:, 0] < 0.0] = -1.0
    y[:: kernel.SAMPLED] *= -1.0
    program = Classification().program(X, y, rng.choice([0.1, 5.0], N))
    region = near(program)
    found = BoundSolver(program, region.budget, (region.w, region.b)).solve(both_sides(D))
    assert_some_right(program, region, found)


@pytest.mark.usefixtures("few_are_many")
def test_rows_that_share_slacks_are_not_split():
    program = program_of("classification")
    shared = replace(program, slacks=Slacks.of(np.arange(N) // 2, N), s=np.ones(N // 2))
    assert prepared(program)._sample is not None
    assert prepared(shared)._sample is None


# --- Tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["array", "sparse", "view"])
def test_rows_are_read_alike_in_every_form(form):
    rng = np.random.RandomState(0)
    A, B, r = rng.normal(size=(30, 4)), rng.normal(size=(30, 2)), rng.normal(size=30)
    whole = prepared(Program.build(A, B, r, G=rng.normal(size=(1, 4)), H=rng.normal(size=(1, 2)), h=np.zeros(1)))
    given = {"array": A, "sparse": sparse.csr_array(A), "view": RowView(2.0 * A, None, np.full(30, 0.5))}[form]
    other = prepared(replace(whole.program, A=given))
    x, alpha, rows, columns = rng.normal(size=6), rng.uniform(size=30), np.array([3, 17, 4]), np.array([1, 2, 4, 5])
    np.testing.assert_allclose(other.margins(x), whole.margins(x), atol=1e-12)
    np.testing.assert_allclose(other.pull(alpha), whole.pull(alpha), atol=1e-12)
    for some in (np.arange(6), columns):
        np.testing.assert_allclose(other.block(rows, some), whole.block(rows, some), atol=1e-14)


@pytest.mark.parametrize("kind", ["", "wide", "offsets", "joint", "sparse"])
def test_starts_are_near_what_is_asked_for(kind):
    drawn = draw(2, *kind.split(), n=40)
    program = drawn.program
    model = QuadraticModel(program, drawn.budget, *drawn.start)
    goal = np.eye(program.n_weights)[0]
    (up, lam, nu), (down, *_) = model.start(goal), model.start(-goal)
    assert np.isfinite(up).all()
    assert lam > 0.0
    assert nu > 0.0
    assert up[0] > drawn.start[0][0] > down[0]


def test_a_program_of_one_row_and_one_weight():
    program = Program.build([[1.0]], [[0.0]], [1.0])
    found = BoundSolver(program, Budget(2.0, 0.5), (np.ones(1), np.zeros(1))).solve(both_sides(1))
    np.testing.assert_allclose(found.value, [2.0, -0.5], atol=2e-6)

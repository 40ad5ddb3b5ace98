"""Programs of the targets' own must lead to the optimum over all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from allrelevant.formulations import Classification, OrdinalImplicit, Regression
from allrelevant.lp import BoundSolver, PenalisedSolver, Targets, matrix, tall
from allrelevant.lp.certificate import certify
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.penalised import HighsPenalised
from allrelevant.lp.program import Slacks
from allrelevant.lp.targets import Columns
from allrelevant.lp.view import RowView
from allrelevant.relevance.nearoptimal import near_optimal_set

N, D = 1500, 5


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in {"MANY_ROWS": 500, "SAMPLE": 150, "KEPT": (200, 800, 3200)}.items():
        monkeypatch.setattr(tall, name, value)
    monkeypatch.setattr(matrix, "MANY_ROWS", 500)


def program_of(kind):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(N, D))
    score = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=N)
    target, formulation = {
        "classification": (np.sign(score), Classification()),
        "regression": (score, Regression(epsilon=0.1)),
        "ordinal": (np.digitize(score, [-1.0, 1.0]).astype(float), OrdinalImplicit(3)),
    }[kind]
    return formulation.program(X, target, np.ones(N))


@pytest.mark.parametrize("kind", ["classification", "regression", "ordinal"])
def test_the_best_model_of_all_rows_is_found(kind):
    program = program_of(kind)
    assert isinstance(program.A, RowView)
    assert isinstance(program.dense().A, np.ndarray)
    assert tall.is_tall(program)
    for C in (0.001, 0.1):
        w, b = PenalisedSolver(program).solve(C)
        best_w, best_b, _ = HighsPenalised(program).solve(C)
        expected = program.norm(best_w) + C * program.loss(best_w, best_b)
        assert program.norm(w) + C * program.loss(w, b) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", ["classification", "regression", "ordinal"])
@pytest.mark.parametrize("budgets", ["split", "joint"])
@pytest.mark.parametrize("own", [False, True])
def test_bounds_hold_on_all_rows_and_are_attained(kind, budgets, own, monkeypatch):
    program = program_of(kind)
    w, b = PenalisedSolver(program).solve(0.1)
    near = near_optimal_set(program, w, b, 0.1, norm_slack=0.1, loss_slack=0.1, budgets=budgets)
    targets = Targets.single(np.repeat(np.arange(D), 2), np.tile([1.0, -1.0], D))
    if own:
        program, w = program.with_slots([1.0]), np.append(w, 0.0)
        rng = np.random.RandomState(1)
        columns = Columns(rng.normal(size=(2, 1, program.n_rows)), np.zeros((2, 1, program.n_hard)), np.zeros((2, 1)))
        targets = Targets.single([D, D], [1.0, -1.0], columns)
    solver = BoundSolver(program, near.budget, (w, b), "interior")
    found = solver.solve(targets)
    assert found.gap <= 1e-6
    assert found.n_reference == 0
    # All are proven; by simplex, which is slow here, both sides of one weight.
    some = targets.take(np.arange(2))
    expected = HighsBounds(program, near.budget).solve(some)[0]
    np.testing.assert_allclose(found.value[:2], some.value(expected), atol=2e-6 * near.budget.norm)


def test_rows_that_were_left_out_wrongly_are_taken_in(monkeypatch):
    program = program_of("classification")
    w, b = PenalisedSolver(program).solve(0.1)
    near = near_optimal_set(program, w, b, 0.1, norm_slack=1.0, loss_slack=1.0)
    solver = tall.TallBounds(program, near.budget, (w, b))
    target = Targets.single([2], [-1.0])
    monkeypatch.setattr(tall, "KEPT", (10,))
    few = certify(program, near.budget, target, *solver.solve(target), (w, b))
    monkeypatch.setattr(tall, "KEPT", (10, 750))
    enough = certify(program, near.budget, target, *solver.solve(target), (w, b))
    assert few.upper - few.lower > 1e-3 * near.budget.norm
    assert enough.upper - enough.lower < 1e-6 * near.budget.norm


@pytest.mark.parametrize("many", [501, 750, 1199, 1200, 1500])
def test_every_number_of_rows_has_a_sample(many):
    """From the least that is very many on: between that and eight times the smallest sample there once was none."""
    program = program_of("classification")
    slacks, _ = program.slacks.take(np.arange(many))
    rows = {"A": program.A[np.arange(many)], "B": program.B[:many], "r": program.r[:many], "s": program.s[:many]}
    program = replace(program, **rows, slacks=slacks)
    assert tall.is_tall(program)
    samples = [len(chosen) for _, chosen in tall._samples(program)]
    assert samples == sorted(samples)
    assert tall.SAMPLE <= samples[0] <= samples[-1] <= many // 2
    w, b = PenalisedSolver(program).solve(0.1)
    best_w, best_b, _ = HighsPenalised(program).solve(0.1)
    expected = program.norm(best_w) + 0.1 * program.loss(best_w, best_b)
    assert program.norm(w) + 0.1 * program.loss(w, b) == pytest.approx(expected, rel=1e-6)
    near = near_optimal_set(program, w, b, 0.1, norm_slack=0.1, loss_slack=0.1)
    found = BoundSolver(program, near.budget, (w, b), "interior").solve(Targets.single([0, 0], [1.0, -1.0]))
    assert found.gap <= 1e-6
    assert found.n_reference == 0


def test_rows_that_share_slacks_are_not_split():
    program = program_of("classification")
    shared = replace(program, slacks=Slacks.of(np.arange(N) // 2, N))
    assert not tall.is_tall(shared)

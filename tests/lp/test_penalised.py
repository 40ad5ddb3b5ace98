"""Penalised optima of programs of all kinds are those that SciPy finds, and need no help from the reference engine.

The penalised problem is one without a box.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.errors import RelevanceWarning, SolverError, TimeLimitReached
from allrelevant.formulations import Classification, OrdinalExplicit, OrdinalImplicit, Regression
from allrelevant.lp import PenalisedSolver, Program, _kernel, penalised, penalised_paths
from allrelevant.lp.deadline import Deadline
from allrelevant.lp.highs import HighsPenalised
from programs import ByLinprog, draw

KINDS = [
    (),
    ("shared",),
    ("hard",),
    ("linear",),
    ("weighted",),
    ("offsets",),
    ("no offset",),
    ("wide",),
    ("sparse",),
    ("viewed",),
    ("copies",),
    ("repeated",),
    ("no hinge rows",),
    ("shared", "hard", "linear", "weighted"),
    ("wide", "shared"),
    ("wide", "hard"),
    ("wide", "sparse"),
    ("wide", "copies", "weighted"),
]
#: How near the objective must come, as a share of it: what is proven.
LIMIT = 1e-6


@pytest.fixture
def by_kernel_alone(monkeypatch):
    def asked(*_, **__):
        raise AssertionError("the reference engine was asked")

    monkeypatch.setattr(HighsPenalised, "solve", asked)


def objective(program, C, point):
    w, b = point
    return program.norm(w) + C * program.loss(w, b)


def scale(program, C):
    """What an objective of next to nothing is measured against: the loss of a model that does nothing."""
    return 1e-6 * C * float(program.slacks.greatest(np.abs(program.r)) @ program.s)


def assert_least(program, C, point):
    least = ByLinprog(program).penalised(C)[0]
    found = objective(program, C, point)
    assert program.hard_violation(*point) <= 1e-9
    assert -1e-8 * abs(least) - 1e-12 <= found - least <= LIMIT * max(abs(found), scale(program, C), 1e-12) + 1e-12


@pytest.mark.parametrize("kind", KINDS, ids="+".join)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("by_kernel_alone")
def test_optima_are_those_of_scipy(kind, seed):
    program = draw(seed, *kind).program
    for C in (1e-3, 0.05, 1.0, 50.0):
        assert_least(program, C, PenalisedSolver(program).solve(C))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**31 - 1),
    chosen=st.sets(st.sampled_from(["shared", "hard", "linear", "weighted", "offsets", "sparse", "copies"])),
    n=st.integers(6, 80),
    C=st.floats(1e-4, 1e3),
)
def test_oddities_may_come_together(seed, chosen, n, C):
    program = draw(seed, *chosen, n=n).program
    assert_least(program, C, PenalisedSolver(program).solve(C))


@pytest.mark.parametrize("kind", [(), ("wide",), ("shared", "hard")], ids="+".join)
@pytest.mark.usefixtures("by_kernel_alone")
def test_paths_are_optimal_at_every_value(kind):
    program, values = draw(5, *kind).program, np.logspace(-3, 2, 9)
    w, b = PenalisedSolver(program).path(values, 1e-6)
    for k, C in enumerate(values):
        assert_least(program, C, (w[k], b[k]))
    (again,) = penalised_paths([program], [values], 1e-6)
    np.testing.assert_array_equal(again[0], w)


@pytest.mark.parametrize("near", [None, 0.0, 1.0, 1e6])
@pytest.mark.parametrize("kind", [(), ("hard",), ("wide",)], ids="+".join)
@pytest.mark.usefixtures("by_kernel_alone")
def test_where_it_begins_makes_no_difference(near, kind):
    program = draw(6, *kind).program
    rng = np.random.RandomState(0)
    point = None if near is None else (near * rng.normal(size=program.n_weights), near * rng.normal(size=1))
    assert_least(program, 0.3, PenalisedSolver(program).solve(0.3, point))


@pytest.mark.parametrize("formulation", [Classification(), Regression(0.1), OrdinalExplicit(3), OrdinalImplicit(3)])
@pytest.mark.usefixtures("by_kernel_alone")
def test_what_users_ask_for(formulation):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(120, 6)) * np.logspace(-2, 2, 6)
    score = X[:, 0] * 100 + X[:, 5] / 100 + 0.5 * rng.normal(size=120)
    target = {"Regression": score, "Classification": np.sign(score)}.get(
        type(formulation).__name__, np.digitize(score, [-0.7, 0.7]).astype(float)
    )
    program = formulation.program(X, target, rng.choice([0.5, 1.0, 3.0], 120))
    for C in (0.01, 1.0):
        assert_least(program, C, PenalisedSolver(program).solve(C))


def test_weights_that_are_not_needed_are_0():
    program = draw(0, "wide").program
    w, _ = PenalisedSolver(program).solve(0.3)
    assert 0 < np.count_nonzero(w) <= program.n_rows


def test_a_model_that_is_not_worth_its_norm_is_0():
    program = Program.build(np.eye(3), np.ones((3, 1)), np.ones(3))
    w, b = PenalisedSolver(program).solve(1e-3)
    assert program.norm(w) <= 1e-12
    assert program.loss(w, b) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("error", [FloatingPointError, MemoryError, np.linalg.LinAlgError])
@pytest.mark.parametrize("kind", [(), ("shared", "hard"), ("wide",)], ids="+".join)
def test_where_the_kernel_fails_the_reference_engine_takes_over(error, kind, monkeypatch):
    def fails(*_):
        raise error("no more")

    program = draw(1, *kind).program
    monkeypatch.setattr(_kernel, "solve", fails)
    with pytest.warns(RelevanceWarning, match=rf"engine failed \({error.__name__}: no more\); 1 of 1 models are left"):
        found = PenalisedSolver(program).solve(0.3)
    assert_least(program, 0.3, found)


@pytest.mark.parametrize("value", [0.0, 1.0, np.nan, 1e30])
@pytest.mark.parametrize("kind", [(), ("shared", "hard"), ("wide",)], ids="+".join)
def test_what_is_wrong_is_never_believed(value, kind, monkeypatch):
    honest = _kernel.solve

    def lie(*args):
        x, multipliers, _, _, _, *rest = honest(*args)
        return np.full_like(x, value), np.full_like(multipliers, value), 1.0, 1.0, 0.0, *rest

    program = draw(1, *kind).program
    monkeypatch.setattr(_kernel, "solve", lie)
    assert_least(program, 0.3, PenalisedSolver(program).solve(0.3))


def test_one_value_that_fails_does_no_harm_to_the_others(monkeypatch):
    honest, calls = _kernel.solve, []

    def solve(*args):
        calls.append(args[10])  # C
        if args[10] == 0.3:
            raise FloatingPointError
        return honest(*args)

    program, values = draw(1).program, np.array([0.03, 0.3, 3.0])
    monkeypatch.setattr(_kernel, "solve", solve)
    with pytest.warns(RelevanceWarning, match=r"engine failed \(FloatingPointError\); 1 of 3 models are left"):
        w, b = PenalisedSolver(program).path(values, 1e-6)
    assert set(calls) == set(values)
    for k, C in enumerate(values):
        assert_least(program, C, (w[k], b[k]))


@pytest.mark.filterwarnings("ignore:the compiled engine failed")
def test_what_nobody_finds_is_a_typed_error(monkeypatch):
    def fails(*_, **__):
        raise MemoryError("no more")

    program = draw(1).program
    monkeypatch.setattr(_kernel, "solve", fails)
    monkeypatch.setattr(HighsPenalised, "solve", fails)
    with pytest.raises(SolverError, match="the baseline model was not found: memory is short"):
        PenalisedSolver(program).solve(0.3)


def test_an_optimum_nobody_can_prove_is_an_error(monkeypatch):
    monkeypatch.setattr(penalised, "GAP_LIMIT", -1.0)
    with pytest.raises(SolverError, match="not proven optimal"):
        PenalisedSolver(draw(1).program).solve(1.0)


def test_without_any_time_there_is_no_optimum():
    with Deadline(0.0).watched(), pytest.raises(TimeLimitReached, match="time_limit=0"):
        PenalisedSolver(draw(1).program).solve(1.0)

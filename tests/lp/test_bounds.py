"""Bounds of programs of all kinds are those that SciPy finds; they are proven, without the reference engine."""

from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.errors import RelevanceWarning, SolverError
from allrelevant.lp import BoundSolver, PenalisedSolver, Program, Targets, _kernel, bounds
from allrelevant.lp.certificate import GAP_LIMIT, certify
from allrelevant.lp.deadline import Deadline
from allrelevant.lp.kernel import Kernel
from allrelevant.relevance.nearoptimal import near_optimal_set
from programs import ODDITIES, ByLinprog, all_targets, draw, random_program

KINDS = [
    "",
    *ODDITIES,
    "shared hard linear weighted",
    "joint linear",
    "joint shared charged",
    "joint wide",
    "wide hard",
    "wide shared linear",
    "wide box",
    "wide sparse",
    "wide offsets weighted",
    "hard box",
    "repeated hard offsets",
    "viewed shared",
]


def solved(drawn, **options):
    return BoundSolver(drawn.program, drawn.budget, drawn.start).solve(drawn.targets, **options)


def oddities(kind):
    """Names of a kind, some of which are two or three words."""
    for phrase in ("no offset", "no hinge rows"):
        if kind == phrase:
            return (kind,)
    return tuple(kind.split())


def assert_right(drawn, found):
    """Within a proven gap of what SciPy finds, on both sides."""
    norm = drawn.budget.norm
    expected = ByLinprog(drawn.program).bounds(drawn.budget, drawn.targets)
    assert not found.open.any()
    assert 0.0 <= found.gap <= GAP_LIMIT
    np.testing.assert_allclose(found.value, expected, rtol=0, atol=1e-6 * norm)
    assert (found.value <= expected + 1e-8 * norm).all()
    assert (found.upper >= expected - 1e-8 * norm).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_scipy(kind, seed):
    drawn = draw(seed, *oddities(kind))
    found = solved(drawn, points=True)
    assert_right(drawn, found)
    assert found.n_reference == 0
    # The points attain what is said, within all limits.
    program, budget = drawn.program, drawn.budget
    np.testing.assert_allclose(drawn.targets.value(found.points), found.value, rtol=0, atol=1e-9 * budget.norm)
    if budget.price is None:
        assert (program.norm(found.points) <= budget.norm * (1 + 1e-9)).all()
    assert (found.points >= program.lower - 1e-9).all()
    assert (found.points <= program.upper + 1e-9).all()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**31 - 1),
    chosen=st.sets(st.sampled_from([each for each in ODDITIES if each != "no offset"]), max_size=6),
    n=st.integers(8, 90),
    d=st.integers(5, 9),
)
def test_oddities_may_come_together(seed, chosen, n, d):
    if "no hinge rows" in chosen:
        chosen -= {"viewed", "joint", "linear"}
    drawn = draw(seed, *chosen, n=n if "wide" not in chosen else min(n, 30), d=d, n_targets=4)
    assert_right(drawn, solved(drawn))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_the_start_need_not_be_an_optimum(seed, box, shared):
    program, budget, point = random_program(seed, box=box, shared=shared)
    targets = all_targets(4)
    found = BoundSolver(program, budget, point).solve(targets)
    expected = ByLinprog(program).bounds(budget, targets)
    np.testing.assert_allclose(found.value, expected, rtol=0, atol=1e-6 * budget.norm)
    assert found.n_reference == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["", "wide", "shared", "joint"])
def test_of_a_pair_only_the_greater_is_solved_to_the_end(seed, kind):
    drawn = draw(seed, *oddities(kind))
    index = np.arange(5)[:, None]
    pairs = Targets.sides(index, np.ones((5, 1)))
    expected = ByLinprog(drawn.program).bounds(drawn.budget, pairs).reshape(-1, 2)
    found = solved(replace(drawn, targets=pairs))
    value, upper = found.value.reshape(-1, 2), found.upper.reshape(-1, 2)
    assert found.n_reference == 0
    assert not found.open.any()
    atol = 1e-6 * drawn.budget.norm
    np.testing.assert_allclose(value.max(axis=1), expected.max(axis=1), rtol=0, atol=atol)
    # What is said of the other side holds, though it may not be all there is to say.
    assert (value <= expected + 1e-2 * atol).all()
    assert (upper >= expected - 1e-2 * atol).all()


@pytest.mark.parametrize("kind", ["", "shared hard", "wide", "joint box", "sparse", "viewed", "charged"])
def test_targets_have_nothing_to_do_with_each_other(kind, monkeypatch):
    """To the last bit; only the proofs are products of whole batches, which are rounded in other places."""
    drawn = draw(7, *oddities(kind), n_targets=10)
    targets, order = drawn.targets, np.random.RandomState(0).permutation(10)
    claims = []

    def watched(program, budget, targets, w, b, duals, anchor):
        claims.append((w, b, duals.alpha, duals.beta, duals.lam))
        return certify(program, budget, targets, w, b, duals, anchor)

    monkeypatch.setattr(bounds, "certify", watched)
    together = BoundSolver(drawn.program, drawn.budget, drawn.start).solve(targets)
    solver = BoundSolver(drawn.program, drawn.budget, drawn.start)
    parts = [solver.solve(targets.take(part)) for part in np.split(order, [1, 4])]
    for whole, *split in zip(*claims, strict=True):
        np.testing.assert_array_equal(np.concatenate(split), whole[order])
    for name in ("value", "upper"):
        found = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_allclose(found, getattr(together, name)[order], rtol=0, atol=1e-12 * drawn.budget.norm)


def test_threads_change_nothing():
    drawn = draw(3, "hard", n=200, d=12)
    batches = [Targets.single([k, k], [1.0, -1.0]) for k in range(12)]
    alone = BoundSolver(drawn.program, drawn.budget, drawn.start)
    expected = [alone.solve(batch) for batch in batches]
    shared = BoundSolver(drawn.program, drawn.budget, drawn.start)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(shared.solve, batches))
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_array_equal(one.upper, other.upper)


def test_solvers_can_be_sent():
    drawn = draw(0)
    solver = BoundSolver(drawn.program, drawn.budget, drawn.start)
    expected = solver.solve(drawn.targets)
    again = pickle.loads(pickle.dumps(solver)).solve(drawn.targets)
    np.testing.assert_array_equal(again.value, expected.value)


# --- Hard inputs ------------------------------------------------------------------------------------------------------


def classes(seed=0, n=120, d=6, *, apart=0.5):
    """Data of two classes, labels of ±1."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.5 * X[:, 1] + apart * rng.normal(size=n)
    return X, np.where(score > np.median(score), 1.0, -1.0)


def separable():
    X, y = classes(apart=0.0)
    return X + 0.3 * y[:, None] * np.array([2.0, 1.0, 0, 0, 0, 0]), y


def scaled():
    X, y = classes()
    return X * np.logspace(-3, 3, 6), y


def outliers():
    X, y = classes()
    X[::17] *= 1000.0
    return X, y


def ties():
    X, y = classes()
    return np.round(X), y


def near_duplicates():
    X, y = classes()
    rng = np.random.RandomState(1)
    return np.hstack([X, X[:, :2] + 1e-9 * rng.normal(size=(len(X), 2)), -X[:, :1] + 1e-9]), y


def equal_rows():
    X, y = classes()
    return np.repeat(X[:12], 10, axis=0), np.repeat(y[:12], 10)


def more_weights():
    return classes(n=25, d=80)


HARD = [classes, separable, scaled, outliers, ties, near_duplicates, equal_rows, more_weights]


@pytest.mark.parametrize("slack", [1e-9, 1e-6, 0.1])
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0, 1e4])
@pytest.mark.parametrize("data", HARD)
def test_hard_inputs_are_proven_or_a_typed_error_says_why_not(data, C, slack):
    X, y = data()
    program = Program.build(y[:, None] * X, -y[:, None], np.ones(len(X)))
    began = time.process_time()
    try:
        w, b = PenalisedSolver(program).solve(C)
        near = near_optimal_set(program, w, b, C, norm_slack=slack, loss_slack=slack)
        if near.mu == 0.0:
            return
        found = BoundSolver(program, near.budget, (w, b)).solve(all_targets(6))
        assert not found.open.any()
        assert found.gap <= GAP_LIMIT
        sides = found.value.reshape(6, 2)
        assert (sides[:, 0] >= w[:6] - 1e-6 * near.budget.norm).all()
        assert (-sides[:, 1] <= w[:6] + 1e-6 * near.budget.norm).all()
    except SolverError:
        pass
    assert time.process_time() - began < 20.0


@pytest.mark.parametrize("data", [separable, more_weights])
@pytest.mark.parametrize("budgets", ["split", "joint"])
def test_a_loss_budget_of_next_to_nothing(data, budgets):
    X, y = data()
    program = Program.build(y[:, None] * X, -y[:, None], np.ones(len(X)))
    w, b = PenalisedSolver(program).solve(1e3)
    near = near_optimal_set(program, w, b, 1e3, norm_slack=0.1, loss_slack=0.0, budgets=budgets)
    budget = near.budget if budgets == "joint" else replace(near.budget, loss=near.rho + 1e-9)
    targets = all_targets(5)
    found = BoundSolver(program, budget, (w, b)).solve(targets)
    np.testing.assert_allclose(found.value, ByLinprog(program).bounds(budget, targets), atol=2e-6 * budget.norm)
    assert found.gap <= GAP_LIMIT


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("kind", ["", "hard", "wide"])
def test_weights_in_other_units(unit, kind):
    """A norm of next to nothing, or a very large one, of data in other units."""
    drawn = draw(11, *oddities(kind))
    program, budget, (w, b) = drawn.program, drawn.budget, drawn.start
    expected = ByLinprog(program).bounds(budget, drawn.targets)
    other = replace(program, A=program.A / unit, G=program.G / unit)
    found = BoundSolver(other, replace(budget, norm=budget.norm * unit), (w * unit, b)).solve(drawn.targets)
    np.testing.assert_allclose(found.value / unit, expected, rtol=0, atol=2e-6 * budget.norm)
    assert found.gap <= GAP_LIMIT


# --- Time, and what fails ---------------------------------------------------------------------------------------------


def assert_valid(drawn, found):
    expected = ByLinprog(drawn.program).bounds(drawn.budget, drawn.targets)
    assert (found.value <= expected + 1e-8 * drawn.budget.norm).all()
    assert (found.upper >= expected - 1e-8 * drawn.budget.norm).all()
    assert (found.outer >= expected - 1e-6 * drawn.budget.norm).all()


@pytest.mark.parametrize("kind", ["", "joint", "charged", "box", "copies"])
def test_without_any_time_what_is_said_still_holds(kind):
    drawn = draw(1, *oddities(kind))
    with Deadline(0.0).watched():
        found = solved(drawn)
    assert found.open.any() if kind == "charged" else found.open.all()  # some of a group need not be used at all
    assert found.n_reference == 0
    assert_valid(drawn, found)
    assert_valid(drawn, BoundSolver(drawn.program, drawn.budget, drawn.start).unsolved(drawn.targets))


@pytest.mark.parametrize("kind", ["", "hard", "wide", "joint"])
def test_time_runs_out_between_two_targets(kind, monkeypatch):
    drawn = draw(1, *oddities(kind))
    asked = iter([False] * 4)
    monkeypatch.setattr(bounds, "time_is_up", lambda: next(asked, True))
    found = solved(drawn)
    assert found.open.tolist() == [False] * 4 + [True] * 2
    assert found.gap <= GAP_LIMIT
    assert_valid(drawn, found)


@pytest.mark.parametrize("seconds", [1e-4, 3e-3, 3e-2])
def test_wherever_time_runs_out_both_sides_hold(seconds):
    drawn = draw(0, "hard", n=600, d=60, n_targets=60)
    solver = BoundSolver(drawn.program, drawn.budget, drawn.start)
    whole = solver.solve(drawn.targets)
    with Deadline(seconds).watched():
        found = solver.solve(drawn.targets)
    assert found.open.any()
    assert found.n_reference == 0
    assert found.gap <= GAP_LIMIT
    assert (found.value <= whole.upper + 1e-9).all()
    assert (found.upper >= whole.value - 1e-9).all()


@pytest.mark.parametrize("error", [FloatingPointError, MemoryError, np.linalg.LinAlgError])
@pytest.mark.parametrize("kind", ["", "hard", "copies", "charged"])
def test_where_the_kernel_fails_the_reference_engine_takes_over(error, kind, monkeypatch):
    def fails(*_):
        raise error("no more")

    drawn = draw(2, *oddities(kind))
    monkeypatch.setattr(_kernel, "solve", fails)
    with pytest.warns(RelevanceWarning, match=f"{error.__name__}: no more.*6 bounds are left to the reference"):
        found = solved(drawn)
    assert found.n_reference == 6
    assert_right(drawn, found)


#: What may stand in the place of points and multipliers, and of those of the budgets and the complementarity.
LIES = {
    "no numbers": (lambda part: np.full_like(part, np.nan), (np.nan, np.nan, np.nan)),
    "no numbers that look well": (lambda part: np.full_like(part, np.nan), (np.nan, 1.0, 0.0)),
    "anything": (lambda part: np.random.RandomState(0).normal(size=len(part)), (-1.0, 2.0, 0.0)),
    "far too much": (lambda part: np.full_like(part, 1e200), (1e200, 1e200, 0.0)),
    "nothing": (np.zeros_like, (0.0, 0.0, 0.0)),
    "no complementarity": (np.array, (1.0, 1.0, np.inf)),
}


def lying(lie, honest=_kernel.solve):
    """The compiled routine, with something else in the place of what it finds."""
    parts, numbers = LIES[lie]

    def solve(*args):
        x, multipliers, _, _, _, *rest = honest(*args)
        return parts(x), parts(multipliers), *numbers, *rest

    return solve


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("kind", ["", "hard", "wide", "shared", "joint"])
def test_what_is_wrong_is_never_believed(lie, kind, monkeypatch):
    drawn = draw(2, *oddities(kind))
    monkeypatch.setattr(_kernel, "solve", lying(lie))
    found = solved(drawn)
    assert found.n_reference == 6
    assert_right(drawn, found)


def test_mistakes_of_ours_are_not_covered_up(monkeypatch):
    def mistaken(*_):
        raise TypeError("an int is required")

    drawn = draw(2)
    monkeypatch.setattr(_kernel, "solve", mistaken)
    with pytest.raises(TypeError, match="an int is required"):
        solved(drawn)


def test_what_takes_long_to_prepare_is_prepared_once(monkeypatch):
    made = []
    prepare = Kernel.__init__
    monkeypatch.setattr(Kernel, "__init__", lambda self, *args: made.append(1) or prepare(self, *args))
    drawn = draw(0, "hard")
    solver = BoundSolver(drawn.program, drawn.budget, drawn.start)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: solver.solve(drawn.targets), range(8)))
    assert made == [1]

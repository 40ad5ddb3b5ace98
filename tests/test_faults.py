"""Engines that raise, lie, stall or run out of memory: the answer is proven all the same, or an error of its own type.

Faults cannot be had otherwise, so engines are broken on purpose here.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import highspy
import numpy as np
import pytest

from allrelevant import LinearRelevanceClassifier, RelevanceWarning, SolverError
from allrelevant.datasets import make_relevance_classification
from allrelevant.errors import SolverTimeout, TimeLimitReached
from allrelevant.lp import BoundSolver, PenalisedSolver, highs, kernel
from allrelevant.lp.certificate import GAP_LIMIT
from allrelevant.lp.highs import HighsBounds, HighsPenalised
from allrelevant.lp.kernel import Kernel, QuadraticModel
from allrelevant.lp.program import Duals
from leftovers import check_threads
from programs import all_targets, random_program
from reference import ENGINES, only_reference, solved_by

#: Failures of arithmetic or memory, which are nobody's mistake.
NUMERICAL = [np.linalg.LinAlgError("singular"), FloatingPointError("overflow"), MemoryError("no room")]
#: Mistakes of this library.
MISTAKES = [TypeError("a string"), ValueError("shape"), IndexError("beyond"), RuntimeError("lost")]
#: What HiGHS, or the way to it, may raise.
ERRORS = [*NUMERICAL[:2], RuntimeError("lost"), ValueError("shape")]
#: Where the kernel may break.
PLACES = {
    "preparation": (Kernel, "__init__"),
    "model": (QuadraticModel, "__init__"),
    "bound": (Kernel, "bound"),
    "routine": (kernel._kernel, "solve"),
}


def named(error):
    return type(error).__name__


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


def data():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 8))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=60)
    return X, X[:, 0] + X[:, 2] + 0.3 * rng.normal(size=60) > 0


def fit(**options):
    options = {"C": 0.5, "n_probes": 10, "random_state": 0, **options}
    return LinearRelevanceClassifier(**options).fit(*data())


@pytest.fixture(scope="module")
def expected():
    return fit().result_


def check_same(result, expected):
    np.testing.assert_array_equal(result.classes, expected.classes)
    np.testing.assert_allclose(result.intervals, expected.intervals, rtol=0, atol=3e-6)
    assert result.max_gap <= 1e-6
    assert not result.incomplete


# The kernel --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the compiled engine failed")
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("error", NUMERICAL, ids=named)
def test_a_fast_engine_that_raises_is_replaced(where, error, expected, monkeypatch):
    monkeypatch.setattr(*PLACES[where], raising(error))
    told = rf"engine failed \({named(error)}: {error}\); \d+ bounds are left to the reference engine"
    with pytest.warns(RelevanceWarning, match=told):
        check_same(fit().result_, expected)


@pytest.mark.parametrize("form", [{}, {"hard": False}, {"box": True}, {"shared": True, "n": 15}], ids=str)
@pytest.mark.parametrize("where", PLACES)
def test_whatever_the_program_the_reference_engine_takes_over(where, form, monkeypatch):
    program, budget, start = random_program(0, **form)
    expected = BoundSolver(program, budget, start).solve(all_targets(4))
    monkeypatch.setattr(*PLACES[where], raising(np.linalg.LinAlgError("singular")))
    with pytest.warns(RelevanceWarning, match="; 8 bounds are left to the reference engine"):
        found = BoundSolver(program, budget, start).solve(all_targets(4))
    assert found.n_reference == 8
    np.testing.assert_allclose(found.value, expected.value, rtol=0, atol=2e-6 * budget.norm)


def test_a_fast_engine_that_raises_once_is_asked_again(expected, monkeypatch):
    honest, asked = Kernel.bound, []

    def bound(self, *arguments):
        asked.append(None)
        if len(asked) == 5:
            raise FloatingPointError("once")
        return honest(self, *arguments)

    monkeypatch.setattr(Kernel, "bound", bound)
    with pytest.warns(RelevanceWarning, match="once") as told:
        check_same(fit().result_, expected)
    assert sum("once" in str(one.message) for one in told) == 1
    assert len(asked) > 20


@pytest.mark.parametrize("where", ["model", "bound"])
@pytest.mark.parametrize("error", MISTAKES, ids=named)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_mistake_of_this_library_is_raised_as_it_is(where, error, n_jobs, monkeypatch):
    before = threading.active_count()
    monkeypatch.setattr(*PLACES[where], raising(error))
    with pytest.raises(type(error), match=str(error)) as caught:
        fit(n_jobs=n_jobs)
    assert caught.value is error
    check_threads(before)


def _halved(found):
    return replace(found, x=0.5 * found.x)


def _beyond(found):
    return replace(found, x=10.0 * found.x)


def _unproven(found):
    return replace(found, alpha=0.0 * found.alpha)


def _too_sure(found):
    """Multipliers that would prove less than the truth, were they admissible."""
    return replace(found, alpha=3.0 * found.alpha, lam=0.0)


def _no_point(found):
    return replace(found, x=np.full_like(found.x, np.nan))


def _no_duals(found):
    return replace(found, alpha=np.full_like(found.alpha, np.nan))


def _infinite(found):
    return replace(found, x=np.full_like(found.x, np.inf), lam=np.inf)


def _swapped(found):
    """The optimum of the other side."""
    return replace(found, x=-found.x, alpha=found.alpha[::-1])


LIES = (_halved, _beyond, _unproven, _too_sure, _no_point, _no_duals, _infinite, _swapped)


def lying(lie, monkeypatch):
    honest = Kernel.bound
    monkeypatch.setattr(Kernel, "bound", lambda self, *arguments: lie(honest(self, *arguments)))


def lying_too(monkeypatch, *, points=True, duals=True):
    """Let HiGHS return points that are too short, or multipliers that prove nothing."""
    honest = HighsBounds.solve

    def solve(self, targets, **options):
        w, b, found = honest(self, targets, **options)
        found = Duals(0.0 * found.alpha, found.beta, found.lam) if duals else found
        return (0.5 * w if points else w), b, found

    monkeypatch.setattr(HighsBounds, "solve", solve)


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_optimum_is_caught_and_solved_again(lie, expected, monkeypatch):
    lying(lie, monkeypatch)
    check_same(fit().result_, expected)


@pytest.mark.parametrize("lie", LIES)
def test_if_all_lie_there_is_no_result(lie, monkeypatch):
    lying(lie, monkeypatch)
    lying_too(monkeypatch)
    with pytest.raises(SolverError, match="was not proven"):
        fit()


@pytest.mark.parametrize("what", [{"points": False}, {"duals": False}], ids=str)
def test_a_wrong_optimum_of_the_reference_engine_is_no_result(what, monkeypatch):
    lying_too(monkeypatch, **what)
    with only_reference(), pytest.raises(SolverError, match="was not proven"):
        fit()


@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_value_cannot_hide_the_greater_side(lie, expected, monkeypatch):
    """What the first side of a pair is said to reach, beyond the truth, lets the other one go unsolved at most."""
    honest = Kernel.bound
    monkeypatch.setattr(Kernel, "bound", lambda self, *arguments: replace(lie(honest(self, *arguments)), value=1e6))
    check_same(fit().result_, expected)


def test_a_fast_engine_that_gets_nowhere_is_replaced(expected, monkeypatch):
    """It says so itself."""
    honest = kernel._kernel.solve

    def nowhere(*arguments):
        x, alpha, lam, nu, gap, _ = honest(*arguments)
        return x, alpha, lam, nu, gap, False

    monkeypatch.setattr(kernel._kernel, "solve", nowhere)
    check_same(fit().result_, expected)


def test_a_fast_engine_that_stops_too_early_is_replaced(expected, monkeypatch):
    honest = kernel._kernel.solve
    monkeypatch.setattr(kernel._kernel, "solve", lambda *arguments: honest(*arguments[:-2], 2, arguments[-1]))
    check_same(fit().result_, expected)


# The reference engine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("error", ERRORS, ids=named)
@pytest.mark.filterwarnings("ignore:the compiled engine failed")
def test_if_the_reference_engine_raises_too_it_is_an_error(engine, error, monkeypatch):
    monkeypatch.setattr(Kernel, "bound", raising(ArithmeticError("of no use")))
    monkeypatch.setattr(HighsBounds, "solve", raising(error))
    with solved_by(engine), pytest.raises(SolverError, match=rf"the engine failed \({named(error)}") as caught:
        fit()
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("where", ["__init__", "solve"])
@pytest.mark.filterwarnings("ignore:the compiled engine failed")
def test_if_memory_is_short_everywhere_the_error_says_what_to_do(where, n_jobs, monkeypatch):
    before = threading.active_count()
    monkeypatch.setattr(Kernel, "bound", raising(MemoryError()))
    monkeypatch.setattr(HighsBounds, where, raising(MemoryError()))
    with pytest.raises(SolverError, match=r"memory is short .* fewer threads \(n_jobs\)"):
        fit(n_jobs=n_jobs)
    check_threads(before)


@pytest.mark.filterwarnings("ignore:the compiled engine failed")
@pytest.mark.parametrize("error", [*ERRORS, MemoryError()], ids=named)
@pytest.mark.parametrize("C", [None, 0.5])
def test_without_a_baseline_model_it_is_an_error(error, C, monkeypatch):
    monkeypatch.setattr(Kernel, "penalised", raising(ArithmeticError("of no use")))
    monkeypatch.setattr(HighsPenalised, "solve", raising(error))
    with pytest.raises(SolverError, match="baseline model was not found"):
        fit(C=C)


@pytest.mark.parametrize("error", NUMERICAL, ids=named)
def test_a_baseline_model_that_the_kernel_cannot_find(error, expected, monkeypatch):
    monkeypatch.setattr(Kernel, "penalised", raising(error))
    with pytest.warns(RelevanceWarning, match=rf"engine failed \({type(error).__name__}.*1 of 1 models are left"):
        check_same(fit().result_, expected)
    with pytest.warns(RelevanceWarning, match="engine failed"):
        searched = fit(C=None).result_
    assert searched.max_gap <= 1e-6
    np.testing.assert_array_equal(searched.classes > 0, expected.classes > 0)


@pytest.mark.parametrize("wrong", [0.5, 1.001, np.nan])
def test_a_wrong_baseline_model_is_caught(wrong, expected, monkeypatch):
    honest, solve = Kernel.penalised, HighsPenalised.solve

    def penalised(self, *arguments):
        found = honest(self, *arguments)
        return replace(found, x=wrong * found.x)

    monkeypatch.setattr(Kernel, "penalised", penalised)
    check_same(fit().result_, expected)

    def always(self, C, *, cold=False):
        w, b, duals = solve(self, C, cold=cold)
        return wrong * w, b, duals

    monkeypatch.setattr(HighsPenalised, "solve", always)
    with pytest.raises(SolverError, match="not proven optimal"):
        fit()


class Stalling(highspy.Highs):
    """A solver that never comes to an end, and says so after every slice of its work."""

    status = highspy.HighsModelStatus.kIterationLimit
    pause = 0.0
    slices = 0

    def run(self):
        Stalling.slices += 1
        time.sleep(self.pause)

    def getModelStatus(self):
        return self.status


STATUSES = ("kIterationLimit", "kTimeLimit", "kUnknown", "kSolveError", "kInterrupt")


@pytest.mark.filterwarnings("ignore:the compiled engine failed")
@pytest.mark.parametrize("name", STATUSES)
def test_a_reference_engine_without_an_end_is_an_error(name, monkeypatch):
    program, budget, start = random_program(0)
    monkeypatch.setattr(highs.highspy, "Highs", Stalling)
    monkeypatch.setattr(Kernel, "penalised", raising(ArithmeticError("of no use")))
    monkeypatch.setattr(Stalling, "status", getattr(highspy.HighsModelStatus, name))
    kind = SolverTimeout if name.endswith("Limit") else SolverError
    with pytest.raises(kind, match="came to no end" if kind is SolverTimeout else "was not solved"):
        PenalisedSolver(program).solve(1.0)
    solver = BoundSolver(program, budget, start)
    assert solver.solve(all_targets(4)).gap <= GAP_LIMIT  # by the kernel
    with only_reference(), pytest.raises(kind):
        solver.solve(all_targets(4))
    monkeypatch.setattr(Kernel, "bound", raising(ArithmeticError("of no use")))
    with pytest.warns(RelevanceWarning, match="engine failed"), pytest.raises(kind):
        solver.solve(all_targets(4))


@pytest.mark.filterwarnings("ignore:the compiled engine failed")
def test_a_limit_of_time_ends_a_baseline_that_stalls(monkeypatch):
    monkeypatch.setattr(Kernel, "penalised", raising(ArithmeticError("of no use")))
    monkeypatch.setattr(highs.highspy, "Highs", Stalling)
    monkeypatch.setattr(Stalling, "pause", 0.2)
    monkeypatch.setattr(Stalling, "slices", 0)
    with pytest.raises(TimeLimitReached):
        fit(time_limit=1.0)
    # As many as there is time for, at most; a clock would also show what else a machine does.
    assert 0 < Stalling.slices <= 6


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_limit_of_time_ends_bounds_that_stall(engine, n_jobs, expected, monkeypatch):
    before = threading.active_count()

    def crawl(self, *problem):
        steps.append(time.sleep(0.2))
        return bound(self, *problem)

    def slowly(self, **options):
        steps.append(time.sleep(0.2))
        return run(self, **options)

    steps, bound, run = [], Kernel.bound, HighsBounds._run
    monkeypatch.setattr(Kernel, "bound", crawl)
    monkeypatch.setattr(HighsBounds, "_run", slowly)
    with solved_by(engine), pytest.warns(RelevanceWarning, match="time limit was reached"):
        result = fit(n_jobs=n_jobs, time_limit=1.5).result_
    # As many as there is time for, and the one that every thread was in.
    assert 0 < len(steps) <= 9 * n_jobs
    check_threads(before)
    assert result.incomplete
    assert (result.intervals[:, 0] <= expected.intervals[:, 0] + 3e-6).all()
    assert (result.intervals[:, 1] >= expected.intervals[:, 1] - 3e-6).all()
    assert (result.classes[[name not in result.tentative for name in result.feature_names]] >= 0).all()


# Proofs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_nothing_known_is_still_a_bound(seed):
    program, budget, start = random_program(seed, hard=False)
    targets = all_targets(4)
    solver = BoundSolver(program, budget, start)
    with only_reference():
        solved, nothing = solver.solve(targets), solver.unsolved(targets)
    assert nothing.open.all()
    assert not solved.open.any()
    assert (nothing.upper >= solved.upper - 1e-9).all()
    assert (nothing.value <= solved.value + 1e-9).all()
    joint = replace(budget, price=1.0, norm=float(program.norm(start[0]) + program.loss(*start)) + 1.0)
    solver = BoundSolver(program, joint, start)
    with only_reference():
        assert (solver.unsolved(targets).upper >= solver.solve(targets).upper - 1e-9).all()


def test_copies_that_cannot_be_bounded_leave_what_is_proven(monkeypatch):
    """No engine proves a bound of copies: intervals stay, features are judged alone, and a warning says so."""

    def fails(*_):
        raise SolverError("no engine could prove a bound")

    monkeypatch.setattr("allrelevant.relevance.copies.relevance_intervals", fails)
    X, y, relevance = make_relevance_classification(100, n_strong=2, n_weak=2, n_irrelevant=3, random_state=0)
    with pytest.warns(RelevanceWarning, match="Only 0 of 9 sets of copies could be bounded"):
        model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.relevance_classes_ > 0, relevance > 0)
    assert np.isnan(model.result_.together_pvalues).all()
    assert not model.result_.tentative

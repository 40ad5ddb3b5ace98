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
from allrelevant.lp import BoundSolver, PenalisedSolver, simplex
from allrelevant.lp.certificate import GAP_LIMIT
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.interior import InteriorBounds
from allrelevant.lp.penalised import HighsPenalised
from allrelevant.lp.targets import Duals, Targets
from leftovers import check_threads
from programs import all_targets, random_program


class OutOfMemoryError(RuntimeError):
    """What torch raises when the memory of a GPU is full."""


ERRORS = [np.linalg.LinAlgError("singular"), RuntimeError("lost"), ValueError("shape"), FloatingPointError("overflow")]
SHORTAGES = [MemoryError("no room"), OutOfMemoryError("CUDA out of memory")]


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


def data():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 8))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=60)
    return X, X[:, 0] + X[:, 2] + 0.3 * rng.normal(size=60) > 0


def fit(engine="interior", **options):
    options = {"C": 0.5, "n_probes": 10, "random_state": 0, **options}
    return LinearRelevanceClassifier(engine=engine, **options).fit(*data())


@pytest.fixture(scope="module")
def expected():
    return fit().result_


def check_same(result, expected):
    np.testing.assert_array_equal(result.classes, expected.classes)
    np.testing.assert_allclose(result.intervals, expected.intervals, rtol=0, atol=3e-6)
    assert result.max_gap <= 1e-6
    assert not result.incomplete


# The fast engine ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["__init__", "_centre", "solve", "_iterate"])
@pytest.mark.parametrize("error", [*ERRORS, *SHORTAGES], ids=lambda error: type(error).__name__)
def test_a_fast_engine_that_raises_is_replaced(where, error, expected, monkeypatch):
    monkeypatch.setattr(InteriorBounds, where, raising(error))
    with pytest.warns(RelevanceWarning, match=rf"engine failed \({type(error).__name__}"):
        check_same(fit().result_, expected)


def _halved(w, b, duals):
    return 0.5 * w, b, duals


def _beyond(w, b, duals):
    return 10.0 * w, b, duals


def _unproven(w, b, duals):
    return w, b, Duals(0.0 * duals.alpha, duals.beta, duals.lam)


def _too_sure(w, b, duals):
    """Multipliers that would prove less than the truth, were they admissible."""
    return w, b, Duals(3.0 * duals.alpha, duals.beta, 0.0 * duals.lam)


def _no_point(w, b, duals):
    return np.full_like(w, np.nan), b, duals


def _no_duals(w, b, duals):
    return w, b, Duals(np.full_like(duals.alpha, np.nan), duals.beta, duals.lam)


def _infinite(w, b, duals):
    return np.full_like(w, np.inf), np.full_like(b, -np.inf), Duals(duals.alpha, duals.beta, np.inf + duals.lam)


def _swapped(w, b, duals):
    return w[::-1], b[::-1], Duals(duals.alpha[::-1], duals.beta[::-1], duals.lam[::-1])


LIES = (_halved, _beyond, _unproven, _too_sure, _no_point, _no_duals, _infinite, _swapped)


def lying(kind, lie, monkeypatch, *, always=False):
    honest = kind.solve

    def solve(self, targets, **options):
        found = honest(self, targets, **options)
        return found if options.get("cold") and not always else lie(*found)

    monkeypatch.setattr(kind, "solve", solve)


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("kind", [InteriorBounds, HighsBounds])
def test_a_wrong_optimum_is_caught_and_solved_again(kind, lie, expected, monkeypatch):
    lying(kind, lie, monkeypatch)
    check_same(fit("interior" if kind is InteriorBounds else "highs").result_, expected)


@pytest.mark.parametrize("lie", LIES)
def test_if_all_lie_there_is_no_result(lie, monkeypatch):
    lying(InteriorBounds, lie, monkeypatch)
    lying(HighsBounds, lie, monkeypatch, always=True)
    with pytest.raises(SolverError, match="was not proven"):
        fit()


def test_a_fast_engine_that_gets_nowhere_is_replaced(expected, monkeypatch):
    monkeypatch.setattr(InteriorBounds, "_iterate", lambda *_: 1.0)
    check_same(fit().result_, expected)


@pytest.mark.parametrize("error", SHORTAGES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("most", [1, 2, 7])
def test_batches_that_are_too_large_are_halved(error, most, monkeypatch):
    program, budget, start = random_program(0, d=20)
    targets = Targets.sides(np.arange(20)[:, None], np.ones((20, 1)))
    expected = BoundSolver(program, budget, start, "interior").solve(targets)
    honest, sizes = InteriorBounds.solve, []

    def solve(self, targets, **options):
        if len(targets) > most:
            raise error
        sizes.append(len(targets))
        return honest(self, targets, **options)

    monkeypatch.setattr(InteriorBounds, "solve", solve)
    solver = BoundSolver(program, budget, start, "interior")
    if most == 1:  # the two sides of a magnitude stay together
        with pytest.warns(RelevanceWarning, match=type(error).__name__):
            found = solver.solve(targets)
        assert found.n_reference == len(targets)
    else:
        found = solver.solve(targets)
        assert sizes
        assert found.n_reference == expected.n_reference
    greater = [np.maximum(one.value[::2], one.value[1::2]) for one in (found, expected)]
    np.testing.assert_allclose(*greater, rtol=0, atol=2e-6 * budget.norm)


def test_a_proof_that_is_too_large_is_halved(monkeypatch):
    from allrelevant.lp import solve as module

    program, budget, start = random_program(0)
    expected = BoundSolver(program, budget, start, "interior").solve(all_targets(4))
    honest = module.certify

    def certify(program, budget, targets, *claim):
        if len(targets) > 3:
            raise MemoryError
        return honest(program, budget, targets, *claim)

    monkeypatch.setattr(module, "certify", certify)
    found = BoundSolver(program, budget, start, "interior").solve(all_targets(4))
    np.testing.assert_allclose(found.value, expected.value, rtol=0, atol=1e-9)


# The reference engine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["interior", "highs"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.filterwarnings("ignore:An engine failed")
def test_if_the_reference_engine_raises_too_it_is_an_error(engine, error, monkeypatch):
    monkeypatch.setattr(InteriorBounds, "solve", raising(error))
    monkeypatch.setattr(HighsBounds, "solve", raising(error))
    with pytest.raises(SolverError, match=rf"the engine failed \({type(error).__name__}") as caught:
        fit(engine)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("where", ["__init__", "solve"])
@pytest.mark.filterwarnings("ignore:An engine failed")
def test_if_memory_is_short_everywhere_the_error_says_what_to_do(where, n_jobs, monkeypatch):
    before = threading.active_count()
    monkeypatch.setattr(InteriorBounds, "solve", raising(MemoryError()))
    monkeypatch.setattr(HighsBounds, where, raising(MemoryError()))
    with pytest.raises(SolverError, match=r"memory is short .* smaller memory_limit"):
        fit(n_jobs=n_jobs)
    check_threads(before)


@pytest.mark.parametrize("error", [*ERRORS, MemoryError()], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("C", [None, 0.5])
def test_without_a_baseline_model_it_is_an_error(error, C, monkeypatch):
    monkeypatch.setattr(HighsPenalised, "path", raising(error))
    with pytest.raises(SolverError, match="baseline model was not found"):
        fit(C=C)


@pytest.mark.parametrize("wrong", [0.5, 1.001, np.nan])
def test_a_wrong_baseline_model_is_caught(wrong, expected, monkeypatch):
    path, solve = HighsPenalised.path, HighsPenalised.solve
    monkeypatch.setattr(HighsPenalised, "path", lambda self, C: (wrong * path(self, C)[0], *path(self, C)[1:]))
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


@pytest.mark.parametrize("name", STATUSES)
def test_a_reference_engine_without_an_end_is_an_error(name, monkeypatch):
    program, budget, start = random_program(0)
    monkeypatch.setattr(simplex.highspy, "Highs", Stalling)
    monkeypatch.setattr(Stalling, "status", getattr(highspy.HighsModelStatus, name))
    kind = SolverTimeout if name.endswith("Limit") else SolverError
    with pytest.raises(kind, match="came to no end" if kind is SolverTimeout else "was not solved"):
        PenalisedSolver(program).solve(1.0)
    solver = BoundSolver(program, budget, start, "highs")
    with pytest.warns(RelevanceWarning, match="engine failed"):
        assert solver.solve(all_targets(4)).gap <= GAP_LIMIT  # by the other one
    monkeypatch.setattr(InteriorBounds, "solve", raising(ArithmeticError("of no use")))
    with pytest.warns(RelevanceWarning, match="engine failed"), pytest.raises(kind):
        solver.solve(all_targets(4))


def test_a_limit_of_time_ends_a_baseline_that_stalls(monkeypatch):
    monkeypatch.setattr(simplex.highspy, "Highs", Stalling)
    monkeypatch.setattr(Stalling, "pause", 0.2)
    monkeypatch.setattr(Stalling, "slices", 0)
    with pytest.raises(TimeLimitReached):
        fit(time_limit=1.0)
    # As many as there is time for, at most; a clock would also show what else a machine does.
    assert 0 < Stalling.slices <= 6


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("engine", ["interior", "highs"])
def test_a_limit_of_time_ends_bounds_that_stall(engine, n_jobs, expected, monkeypatch):
    before = threading.active_count()
    iterate = InteriorBounds._iterate

    def crawl(self, *state):
        steps.append(time.sleep(0.2))
        return iterate(self, *state)

    def slowly(self, **options):
        steps.append(time.sleep(0.2))
        return run(self, **options)

    steps, run = [], HighsBounds._run
    monkeypatch.setattr(InteriorBounds, "_iterate", crawl)
    monkeypatch.setattr(HighsBounds, "_run", slowly)
    with pytest.warns(RelevanceWarning, match="time limit was reached"):
        result = fit(engine, n_jobs=n_jobs, time_limit=1.5).result_
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
    solver = BoundSolver(program, budget, start, "highs")
    solved, nothing = solver.solve(targets), solver.unsolved(targets)
    assert nothing.open.all()
    assert not solved.open.any()
    assert (nothing.upper >= solved.upper - 1e-9).all()
    assert (nothing.value <= solved.value + 1e-9).all()
    joint = replace(budget, price=1.0, norm=float(program.norm(start[0]) + program.loss(*start)) + 1.0)
    solver = BoundSolver(program, joint, start, "highs")
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

"""The smooth way to the optima: its steps are Newton's, it ends near the optima, and who does not arrive is helped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from allrelevant.datasets import make_relevance_regression, make_simulation
from allrelevant.formulations import Classification, Regression
from allrelevant.lp import BoundSolver, band, interior, lockstep, smooth
from allrelevant.lp.backend import NumpyBackend
from allrelevant.lp.band import SmoothPenaltySystem, SmoothSystem, few_pairs
from allrelevant.lp.certificate import certify
from allrelevant.lp.interior import InteriorBounds
from allrelevant.lp.iterates import Batch
from allrelevant.lp.optimum import PenalisedSolver
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.rows import Rows
from allrelevant.lp.smooth import Smoothed
from allrelevant.lp.targets import Columns, Duals, Targets
from programs import random_program

N, D, T = 40, 4, 3


def smooth_problem(seed, *, hard, columns, charge):
    """A batch of smoothed problems at random iterates, in double precision, and their parts in plain arrays."""
    rng = np.random.RandomState(seed)
    program, budget, _ = random_program(seed, hard=hard, n=N, d=D)
    if columns:  # the weight they belong to stands in no row
        empty = np.arange(D) < D - 1
        program = replace(program, A=program.A * empty, G=program.G * empty)
    rows = Rows(program, budget, NumpyBackend())
    own = rng.normal(size=(T, 1, N + program.n_hard)) if columns else None
    linear = np.repeat(rows.linear[None], T, axis=0)
    goal, cost = rng.normal(size=(T, D)), rng.uniform(0.1, 0.5, size=(T, D)) if charge else None
    batch = Batch(goal, cost, own, linear, rows.s[None])
    pairs = 2 * D + program.n_hard + 2
    P, Z = rng.uniform(0.2, 2.0, size=(2, T, pairs))
    b = rng.normal(size=(T, 2))
    at = Smoothed(P, Z, b, np.zeros((T, N)), rng.uniform(0.5, 2.0, size=T), rng.uniform(0.1, 0.5, size=T))
    return rows, batch, at


def left_sides(rows, batch, P, b):
    """Rows at every point, one target after the other."""
    out = []
    for k in range(T):
        K = rows.K.copy()
        if batch.columns is not None:
            K[:, D - 1] = batch.columns[k, 0]
        out.append((K, K @ np.concatenate([P[k, :D] - P[k, D : 2 * D], b[k]]) - rows.right))
    return out


def residuals(rows, batch, at, z):
    """All equations of the smoothed problem at `z`, evaluated as they are written down."""
    count, m = 2 * D + rows.m + 2, rows.m
    P, Z, b = (z[:, part] for part in np.split(np.arange(z.shape[1]), [count, 2 * count]))
    out = []
    for k, (K, left) in enumerate(left_sides(rows, batch, P, b)):
        margin, width = left[:N], at.width[k]
        lam, nu = Z[k, -2], Z[k, -1]
        loss = np.where(margin >= width, 0.0, np.where(margin <= -width, -margin, (width - margin) ** 2 / (4 * width)))
        share = np.clip((width - margin) / (2 * width), 0.0, 1.0)
        pull = K.T @ np.concatenate([lam * rows.s * share, Z[k, 2 * D : 2 * D + m]]) - lam * batch.linear[k]
        y = pull[:D] + batch.goal[k]
        cost = nu * rows.gamma + (0.0 if batch.charge is None else batch.charge[k])
        x = np.concatenate([P[k, :D] - P[k, D : 2 * D], b[k]])
        out.append(
            np.concatenate(
                [
                    cost - y - Z[k, :D],
                    cost + y - Z[k, D : 2 * D],
                    pull[D:],
                    left[N:] - P[k, 2 * D : 2 * D + m],
                    [rows.budget.loss - rows.s @ loss - x @ batch.linear[k] - P[k, -2]],
                    [rows.budget.norm - (P[k, :D] + P[k, D : 2 * D]) @ rows.gamma - P[k, -1]],
                    P[k] * Z[k] - at.tau[k],
                ]
            )
        )
    return np.array(out)


@pytest.mark.parametrize("hard", [0, 3, 20])
@pytest.mark.parametrize("columns", [None, "mirrored", "other"])
@pytest.mark.parametrize("weighted", [False, True])
def test_mirror_images_make_no_difference_to_steps(hard, columns, weighted):
    """Also with as many hard rows as mirror images: there are as many hinge rows then as rows that are no images."""
    rng, half, d = np.random.RandomState(7), 20, 3
    first, G = rng.normal(size=(half, d + 1)), rng.normal(size=(hard, d + 1))
    first[:, d - 1], G[:, d - 1] = 0.0, 0.0  # the place of columns of the targets' own
    K = np.vstack([first, -first])
    s = rng.uniform(0.5, 2.0, size=2 * half) if weighted else np.ones(2 * half)
    program = Program.build(
        K[:, :d], K[:, d:], rng.normal(size=2 * half), s=s, G=G[:, :d], H=G[:, d:], h=-np.ones(hard)
    )
    own = None
    if columns is not None:
        A = rng.normal(size=(2, 1, 2 * half))
        if columns == "mirrored":
            A[:, :, half:] = -A[:, :, :half]
        own = Columns(A, rng.normal(size=(2, 1, hard)), np.zeros((2, 1)))
    P, Z = rng.uniform(0.2, 2.0, size=(2, T, 2 * d + hard + 2))
    b, margin, width, tau = rng.normal(size=(T, 1)), rng.normal(size=(T, 2 * half)), np.full(T, 0.7), np.full(T, 0.1)
    goal = rng.normal(size=(T, d))
    found = []
    for mirrors in (True, False):
        rows = Rows(program, Budget(20.0, 30.0), NumpyBackend(), mirrors=mirrors)
        assert rows.mirrored == half * mirrors
        batch = Batch(goal, None, rows.whole(own), rows.linear[None], rows.s[None])
        at = Smoothed(P.copy(), Z.copy(), b.copy(), margin.copy(), width.copy(), tau.copy())
        system = SmoothSystem(few_pairs(rows), at, batch)
        found.append((system.inside, *system.step(at.tau)))
        at.follow(rows, batch)
        found[-1] += (at.P, at.Z, at.b, at.margin)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("charge", [False, True])
@pytest.mark.parametrize("penalised", [False, True])
def test_steps_are_those_of_newton(seed, hard, columns, charge, penalised, monkeypatch):
    """Along the step all residuals fall at the rate at which it is taken."""
    monkeypatch.setattr(band, "BEYOND", 0.0)
    rows, batch, at = smooth_problem(seed, hard=hard, columns=columns, charge=charge)
    at.margin = np.array([left[:N] for _, left in left_sides(rows, batch, at.P, at.b)])
    if penalised:
        system = SmoothPenaltySystem(few_pairs(rows), at, batch)
    else:
        system = SmoothSystem(few_pairs(rows), at, batch)
        # The residual of the loss is that of the hinges as they are; here they are to be rounded off.
        system.due_budgets[:, 0] -= band.rounding(at.margin, at.width[:, None], rows.s)
    dP, dZ, dx = system.step(at.tau)
    budgets = slice(-2, None)
    if penalised:
        np.testing.assert_array_equal(dZ[:, budgets], 0.0)
    np.testing.assert_allclose(dx[:, :D], dP[:, :D] - dP[:, D : 2 * D], atol=1e-8)
    here = np.concatenate([at.P, at.Z, at.b], axis=1)
    way = np.concatenate([dP, dZ, dx[:, D:]], axis=1)
    before = residuals(rows, batch, at, here)
    small = 1e-6
    after = residuals(rows, batch, at, here + small * way)
    scale = 1.0 + np.abs(before).max() + np.abs(way).max() ** 2
    asked = np.ones(before.shape[1], dtype=bool)
    if penalised:  # of the budgets themselves nothing is asked: their equations stand before the products
        asked[-at.P.shape[1] - 2 : -at.P.shape[1]] = False
    np.testing.assert_allclose(((after - before) / small)[:, asked], -before[:, asked], rtol=0, atol=1e-4 * scale)


def problem(kind, seed=0, *, C=None):
    """Program, budgets and best model of a set, with slacks of a tenth."""
    if kind == "regression":
        X, y, _ = make_relevance_regression(500, noise=0.1, random_state=seed)
        formulation, target, C = Regression(epsilon=0.1), y, C or 0.05
    else:
        X, y, _ = make_simulation("sim3", random_state=seed)
        formulation, target, C = Classification(), np.where(y > 0, 1.0, -1.0), C or 0.1
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    program = formulation.program(X, target, np.ones(len(y)))
    w, b = PenalisedSolver(program).solve(C)
    return program, Budget(1.1 * float(program.norm(w)), 1.1 * float(program.loss(w, b)) + 1e-6), (w, b)


def sides(d):
    return Targets.single(np.repeat(np.arange(d), 2), np.tile([1.0, -1.0], d))


@pytest.mark.parametrize("kind", ["regression", "classification"])
@pytest.mark.parametrize("probes", [False, True])
def test_it_arrives_near_the_optima(kind, probes, monkeypatch):
    program, budget, point = problem(kind)
    d, targets = program.n_weights, sides(program.n_weights)
    if probes:
        columns = np.random.RandomState(0).normal(size=(20, 1, program.n_rows))
        targets = Targets.single(np.full(20, d), np.ones(20), Columns(columns, np.zeros((20, 1, 0)), np.zeros((20, 1))))
        program, point = program.with_slots([1.0]), (np.append(point[0], 0.0), point[1])
    arrivals, follow = [], Smoothed.follow
    monkeypatch.setattr(Smoothed, "follow", lambda *args: arrivals.append(follow(*args)) or arrivals[-1].copy())
    engine = InteriorBounds(program, budget, point)
    w, _, _ = engine.solve(targets)
    assert arrivals[0].mean() > 0.9
    exact, _, _ = engine.solve(targets, exact=True)
    np.testing.assert_allclose(targets.value(w), targets.value(exact), atol=1e-8 * budget.norm)
    # Before anything else is done, the values are off by a few hundredths of the way.
    batch = engine._batch(engine._rows, targets)
    state = engine._approached(batch, None).begin(engine._rows, batch)
    wp, wm, *_ = engine._rows.parts
    near = targets.value(state.P[:, wp] - state.P[:, wm])
    way = targets.value(exact) - targets.value(np.broadcast_to(point[0], exact.shape))
    assert np.median(np.abs(near - targets.value(exact)) / way) < 0.05


def test_the_bounds_are_those_of_highs():
    program, budget, point = problem("regression", 1)
    targets = sides(program.n_weights)
    found = BoundSolver(program, budget, point, "interior").solve(targets)
    expected = BoundSolver(program, budget, point, "highs").solve(targets)
    np.testing.assert_allclose(found.value, expected.value, atol=1e-6 * budget.norm)
    assert found.gap <= 1e-7
    assert found.n_reference == 0


def test_edges_are_not_rounded_off_where_they_are_all_that_matters():
    """Without loss to speak of, and with few rows, the other way is taken."""
    program, budget, point = problem("classification")
    engine = InteriorBounds(program, replace(budget, loss=float(program.loss(*point)) + 1e-6), point)
    batch = engine._batch(engine._rows, sides(program.n_weights))
    assert Smoothed.near(engine._rows, batch, *point) is None
    # Without weights all margins are the same: rounding off costs nothing there, but nothing is left either.
    nothing = np.zeros(program.n_weights), np.zeros(1)
    rows = Rows(program, Budget(1.0, float(program.loss(*nothing))), NumpyBackend())
    assert Smoothed.near(rows, batch, *nothing) is None
    purse = Rows(program, Budget(budget.norm + budget.loss, price=1.0), NumpyBackend())
    assert Smoothed.near(purse, batch, *point) is None
    few = replace(program, A=program.A[:100], B=program.B[:100], r=program.r[:100], s=program.s[:100])
    few = replace(few, slacks=program.slacks.take(np.arange(100))[0])
    engine = InteriorBounds(few, budget, point)
    batch = engine._batch(engine._rows, sides(program.n_weights))
    assert Smoothed.near(engine._rows, batch, *point) is None


@pytest.mark.parametrize("which", ["late", "no number"])
def test_who_does_not_arrive_goes_the_other_way(which, monkeypatch):
    program, budget, point = problem("regression", 2)
    targets = sides(program.n_weights)
    engine = InteriorBounds(program, budget, point)
    exact, _, _ = engine.solve(targets, exact=True)
    follow, steps, approach, others = Smoothed.follow, Smoothed._take_steps, lockstep.Lockstep._approach, []

    def late(self, *args):
        arrived = follow(self, *args)
        arrived[::3] = False
        return arrived

    def without_number(self, *args):
        arrived = steps(self, *args)
        self.P[::3] = np.nan
        return arrived

    name, spoilt = ("follow", late) if which == "late" else ("_take_steps", without_number)
    monkeypatch.setattr(Smoothed, name, spoilt)
    monkeypatch.setattr(
        lockstep.Lockstep,
        "_approach",
        lambda self, state, *rest: others.append(len(state.P)) or approach(self, state, *rest),
    )
    w, _, _ = engine.solve(targets)
    assert others == [len(targets) // 3]
    np.testing.assert_allclose(targets.value(w), targets.value(exact), atol=1e-8 * budget.norm)


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_what_is_outdone_is_not_followed(kind, monkeypatch):
    """Of two sides of a weight, the lesser ends with the smooth problem if that shows it; the proof confirms it."""
    program, budget, point = problem(kind)
    d = program.n_weights
    targets = Targets.sides(np.arange(d)[:, None], np.ones((d, 1)))
    followed, finish = [], lockstep.Lockstep._finish

    def watched(self, rows, start, *rest, **options):
        followed.append(len(start))
        return finish(self, rows, start, *rest, **options)

    monkeypatch.setattr(lockstep.Lockstep, "_finish", watched)
    fewer = BoundSolver(program, budget, point, "interior").solve(targets)
    monkeypatch.setattr(InteriorBounds, "_gap", lambda self, rows, start, batch: np.full(len(start), np.inf))
    followed.append(None)
    everyone = BoundSolver(program, budget, point, "interior").solve(targets)
    assert followed[0] < len(targets)
    assert followed[followed.index(None) + 1] == len(targets)
    assert fewer.n_reference == everyone.n_reference == 0
    for bounds in (fewer, everyone):
        assert bounds.gap <= 1e-6
    greatest = (bounds.value.reshape(d, 2).max(axis=1) for bounds in (fewer, everyone))
    np.testing.assert_allclose(*greatest, atol=1e-8 * budget.norm)


@pytest.mark.parametrize("kind", ["regression", "classification"])
@pytest.mark.parametrize("charge", [False, True])
def test_the_gap_is_no_less_than_the_proof_says(kind, charge):
    program, budget, point = problem(kind)
    targets = sides(program.n_weights)
    if charge:
        targets = replace(targets, charge=np.full((len(targets), 1), 0.1))
    engine = InteriorBounds(program, budget, point)
    batch = engine._batch(engine._rows, targets)
    at = engine._approached(batch, None)
    assert isinstance(at, Smoothed)
    w, b, alpha, beta, lam = at.optima(engine._rows, batch)
    proof = certify(program, budget, targets, w, b, Duals(alpha, beta, lam), point)
    gap = engine._gap(engine._rows, at, batch)
    assert (proof.upper <= targets.value(w) + gap).all()
    assert np.median(gap) <= 0.05 * budget.norm


def test_steps_end_with_the_time(monkeypatch):
    program, budget, point = problem("regression")
    engine = InteriorBounds(program, budget, point)
    batch = engine._batch(engine._rows, sides(program.n_weights))
    at = Smoothed.near(engine._rows, batch, *point)
    before = at.P.copy()
    monkeypatch.setattr(smooth, "time_is_up", lambda: True)
    assert not at.follow(engine._rows, batch).any()
    np.testing.assert_array_equal(at.P, before)


def test_a_tube_without_width_has_its_edges_in_one_place():
    X, y, _ = make_relevance_regression(300, noise=0.1, random_state=0)
    twins = [
        Rows(Regression(epsilon=epsilon).program(X, y, np.ones(300)), Budget(1.0, 1.0), NumpyBackend()).twins
        for epsilon in (0.0, 0.1)
    ]
    assert twins == [2, 1]
    program, budget, point = problem("classification")
    assert Rows(program, budget, NumpyBackend()).twins == 1
    assert interior.InteriorBounds(program, budget, point)._rows.twins == 1


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_single_precision_goes_on_with_rows_of_their_own(kind, monkeypatch):
    """Down to the gap that it is good for; the rest, over the same rows, is done in double precision."""
    program, budget, point = problem(kind, 3)
    targets = sides(program.n_weights)
    stretches, follow = [], lockstep.Lockstep._follow

    def watched(self, rows, state, *rest, **options):
        found = follow(self, rows, state, *rest, **options)
        gap = (found.P.astype(float) * found.Z).sum(axis=1) / budget.norm
        stretches.append((found.P.dtype.itemsize, rows.n, np.median(gap)))
        return found

    monkeypatch.setattr(lockstep.Lockstep, "_follow", watched)
    engine = InteriorBounds(program, budget, point)
    w, _, _ = engine.solve(targets)
    (single, rows, coarse), (double, same, fine) = stretches[:2]
    assert (single, double) == (4, 8)
    assert rows == same < program.n_rows / 2
    assert fine < 1e-8 < coarse <= lockstep.FINE
    exact, _, _ = engine.solve(targets, exact=True)
    np.testing.assert_allclose(targets.value(w), targets.value(exact), atol=1e-8 * budget.norm)

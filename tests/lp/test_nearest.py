"""Rows of every target's own: the same bounds, whatever rows it keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant import LinearRelevanceClassifier
from allrelevant.datasets import make_simulation
from allrelevant.formulations import Classification, OrdinalExplicit, Regression
from allrelevant.lp import BoundSolver, interior, lockstep, nearest, paths
from allrelevant.lp.backend import NumpyBackend
from allrelevant.lp.certificate import certify, penalised_gap
from allrelevant.lp.interior import InteriorBounds
from allrelevant.lp.iterates import Batch, State
from allrelevant.lp.nearest import Nearest, OwnRows, nearest_count
from allrelevant.lp.program import Budget
from allrelevant.lp.rows import Rows
from allrelevant.lp.smooth import Smoothed
from allrelevant.lp.targets import Columns, Duals, Targets
from allrelevant.relevance.penalties import penalty_path
from allrelevant.relevance.search import SEARCH_GAP
from programs import all_targets, random_program

N, D = 120, 4


@pytest.fixture
def kept(monkeypatch):
    """How many rows were kept of how many, for each batch that had rows of its own."""
    seen, make = [], Nearest.__init__

    def recorded(self, rows, state, batch, count):
        make(self, rows, state, batch, count)
        seen.append((self.rows.n, rows.n))

    monkeypatch.setattr(Nearest, "__init__", recorded)
    return seen


def program_and_targets(seed, *, price=None, probes=False, **options):
    program, budget, point = random_program(seed, n=N, linear=price is None, **options)
    if price is not None:
        budget = Budget(budget.norm + price * budget.loss, price=price)
    targets = all_targets(D)
    if probes:
        rng = np.random.RandomState(seed)
        columns = Columns(rng.normal(size=(8, 1, N)), 0.1 * rng.normal(size=(8, 1, 3)), 0.01 * rng.normal(size=(8, 1)))
        targets = Targets.single(np.full(8, D), np.tile([1.0, -1.0], 4), columns)
        program, point = program.with_slots([1.0]), (np.append(point[0], 0.0), point[1])
    return program, budget, point, targets


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("price", [None, 0.5])
@pytest.mark.parametrize("probes", [False, True])
@pytest.mark.parametrize("box", [False, True])
def test_bounds_are_those_over_all_rows(seed, price, probes, box, kept):
    program, budget, point, targets = program_and_targets(seed, price=price, probes=probes, box=box)
    engine = InteriorBounds(program, budget, point)
    exact = certify(program, budget, targets, *engine.solve(targets, exact=True), engine.centre)
    assert not kept
    found = certify(program, budget, targets, *engine.solve(targets), engine.centre)
    # Twice as many where they were too few.
    first = int(nearest.NEAREST * (D + probes + 2))
    assert kept[0] == (first, N)
    assert {count for count, _ in kept} <= {first, 2 * first, 4 * first}
    assert ((found.upper - found.lower) <= 1e-7 * budget.norm).all()
    np.testing.assert_allclose(found.lower, exact.lower, rtol=0, atol=1e-8 * budget.norm)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("more", [0, 2])
def test_what_a_row_that_was_left_out_contradicts_is_followed_over_more(seed, more, kept, monkeypatch):
    program, budget, point, targets = program_and_targets(seed)
    engine = InteriorBounds(program, budget, point)
    exact = certify(program, budget, targets, *engine.solve(targets, exact=True), engine.centre)
    monkeypatch.setattr(nearest, "NEAREST", 1)
    wrong, otherwise = [], Nearest.otherwise
    monkeypatch.setattr(Nearest, "otherwise", lambda *args: wrong.append(otherwise(*args)) or wrong[-1].copy())
    monkeypatch.setattr(lockstep, "FEASIBLE", 0)
    monkeypatch.setattr(interior, "COARSE", 100.0)  # much too early
    monkeypatch.setattr(Smoothed, "near", lambda *_: None)
    monkeypatch.setattr(InteriorBounds, "more", more)
    found = certify(program, budget, targets, *engine.solve(targets), engine.centre)
    assert kept[0] == (D + 2, N)
    assert (len(kept) == 1) == (more == 0)
    assert wrong[0].any()
    assert ((found.upper - found.lower) <= 1e-7 * budget.norm).all()
    np.testing.assert_allclose(found.lower, exact.lower, rtol=0, atol=1e-8 * budget.norm)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("probes", [False, True])
@pytest.mark.parametrize("when", [(1,), (3, 6)])
def test_rows_are_chosen_once_more_on_the_way(seed, probes, when, monkeypatch):
    program, budget, point, targets = program_and_targets(seed, probes=probes)
    engine = InteriorBounds(program, budget, point)
    exact = certify(program, budget, targets, *engine.solve(targets, exact=True), engine.centre)
    renewed, renew = [], Nearest.renew

    def recorded(*given):
        renewed.append(renew(*given))
        return renewed[-1]

    monkeypatch.setattr(Nearest, "renew", recorded)
    monkeypatch.setattr(lockstep, "RENEWED", when)
    monkeypatch.setattr(nearest, "NEAREST", 1.5)
    monkeypatch.setattr(interior, "COARSE", 1.0)  # too early
    monkeypatch.setattr(Smoothed, "near", lambda *_: None)
    found = certify(program, budget, targets, *engine.solve(targets), engine.centre)
    assert any(len(places) for places in renewed)
    assert ((found.upper - found.lower) <= 1e-7 * budget.norm).all()
    np.testing.assert_allclose(found.lower, exact.lower, rtol=0, atol=1e-8 * budget.norm)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_mended_together(seed, kept, monkeypatch):
    program, budget, point, _ = program_and_targets(seed)
    pairs = Targets.sides(np.arange(D)[:, None], np.ones((D, 1)))
    expected = BoundSolver(program, budget, point, "highs").solve(pairs).value.reshape(-1, 2).max(axis=1)
    monkeypatch.setattr(nearest, "NEAREST", 1)
    monkeypatch.setattr(interior, "COARSE", 100.0)
    monkeypatch.setattr(Smoothed, "near", lambda *_: None)
    engine = InteriorBounds(program, budget, point)
    proof = certify(program, budget, pairs, *engine.solve(pairs), engine.centre)
    assert kept
    found, upper = (part.reshape(-1, 2).max(axis=1) for part in (proof.lower, proof.upper))
    np.testing.assert_allclose(found, expected, atol=1e-6 * budget.norm)
    np.testing.assert_allclose(upper, expected, atol=1e-6 * budget.norm)


@pytest.mark.parametrize("name", ["sim1", "sim3"])
def test_rows_that_were_left_out_for_all_come_back(name, monkeypatch):
    X, y, _ = make_simulation(name, random_state=2)
    wider, repeated = BoundSolver._solve_wider, []

    def recorded(self, targets, points):
        repeated.append(len(targets))
        return wider(self, targets, points)

    monkeypatch.setattr(BoundSolver, "_solve_wider", recorded)
    chosen = LinearRelevanceClassifier(C=0.05, random_state=2).fit(X, y).result_
    assert not repeated
    monkeypatch.setattr(interior, "EVERY", 0)  # too many rows to choose from
    reduced = LinearRelevanceClassifier(C=0.05, random_state=2).fit(X, y).result_
    assert repeated
    np.testing.assert_array_equal(chosen.classes, reduced.classes)
    np.testing.assert_allclose(chosen.intervals, reduced.intervals, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("charge", [False, True])
def test_what_rounding_costs_is_not_less_than_the_proof_says(seed, charge):
    """Multipliers that are off a little: the bound that they prove is no higher than what is reckoned with."""
    program, budget, point, targets = program_and_targets(seed)
    if charge:
        targets = replace(targets, charge=np.full((len(targets), 1), 0.1))
    engine = InteriorBounds(program, budget, point)
    batch = engine._batch(engine._rows, targets)
    state = engine._follow(engine._rows, engine._starts(batch), batch, None, 1e-2)
    rng = np.random.RandomState(seed)
    state.Z[:, engine._rows.rows] *= 1.0 + 1e-3 * rng.normal(size=(len(targets), N + program.n_hard))
    w, b, alpha, beta, lam = state.optima(engine._rows, batch)
    proof = certify(program, budget, targets, w, b, Duals(alpha, beta, lam), engine.centre)
    gap = engine._gap(engine._rows, state, batch)
    assert (gap > (state.P * state.Z).sum(axis=1)).any()
    assert (proof.upper <= targets.value(w) + gap + 1e-2 * budget.norm).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.integers(1, N - 1))
def test_own_rows_are_some_of_the_rows(seed, probes, count):
    program, budget, _, targets = program_and_targets(seed, probes=probes)
    rows, rng = Rows(program.dense(), budget, NumpyBackend()), np.random.RandomState(seed)
    t, size = len(targets), rows.parts[-1].stop
    state = State(rng.uniform(0.1, 1, (t, size)), rng.uniform(0.1, 1, (t, size)), rng.normal(size=(t, 2)), np.ones(t))
    columns = rows.whole(targets.columns)
    linear = np.repeat(rows.linear[None], t, axis=0)
    near = Nearest(rows, state, Batch(np.ones((t, rows.d)), None, columns, linear, rows.s[None]), count)
    own = near.rows
    assert own.K.shape == (t, count + 3, rows.d + 2)
    x = rng.normal(size=(t, rows.d + 2))
    margin = state.P[:, rows.parts[3]] - state.P[:, rows.parts[2]]
    for k in range(t):
        kept = np.sort(np.argsort(np.abs(margin[k]))[:count])
        order = np.argsort(near._kept[k])
        np.testing.assert_array_equal(near._kept[k][order], kept)
        K = rows.K.copy()
        if probes:
            K[:, rows.d - 1] = columns[k, 0]
        some = np.append(near._kept[k], N + np.arange(3))
        y = rng.normal(size=count + 3)
        one = own.take(np.array([k]))
        np.testing.assert_array_equal(one.K[0], K[some])
        np.testing.assert_allclose(one.forward(x[[k]], None)[0], K[some] @ x[k], atol=1e-12)
        np.testing.assert_allclose(one.adjoint(y[None], None)[0], K[some].T @ y, atol=1e-12)
        np.testing.assert_allclose(one.gram(y[None] ** 2)[0], K[some].T @ np.diag(y**2) @ K[some], atol=1e-10)
        # The loss is what it was, as long as the rows that are left out stay on their side.
        left = np.maximum(rows.right[some] - K[some] @ x[k], 0.0)[:count]
        others = np.setdiff1d(np.arange(N), kept)
        others = others[margin[k][others] < 0]
        loss = rows.s[others] @ (rows.right[others] - K[others] @ x[k]) + rows.s[near._kept[k]] @ left
        found = one.weigh(left[None])[0] + near.batch.linear[k] @ x[k] + one.spent[0]
        assert found == pytest.approx(loss + linear[k] @ x[k], abs=1e-9)
        assert one.loss_limit(np.ones(1)) == pytest.approx(budget.loss - one.spent)


@pytest.mark.parametrize("kind", ["classification", "regression", "ordinal"])
def test_the_search_finds_the_same_models(kind, kept, monkeypatch):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 5))
    signal = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=400)
    formulation, target = {
        "classification": (Classification(), np.sign(signal)),
        "regression": (Regression(0.2), signal),
        "ordinal": (OrdinalExplicit(3), np.digitize(signal, [-0.5, 0.5]).astype(float)),
    }[kind]
    programs = [formulation.program(X[k::2], target[k::2], rng.uniform(0.5, 2, 200)) for k in range(2)]
    values = [penalty_path(programs[0])] * 2
    engine = paths.InteriorPaths(programs, values)
    few = engine.solve()
    assert len(kept) == 1
    assert kept[0][0] < kept[0][1] / 2
    monkeypatch.setattr(lockstep, "nearest_count", lambda *_: 0)
    for program, C, one, two in zip(programs, values, few, engine.solve(), strict=True):
        assert penalised_gap(program, C, *one).max() <= SEARCH_GAP
        objectives = [program.norm(w) + C * program.loss(w, b) for w, b, _ in (one, two)]
        np.testing.assert_allclose(*objectives, rtol=1e-6)
    assert len(kept) == 1


@pytest.mark.parametrize("count", [1, 7, 29])
@pytest.mark.parametrize("values", ["distinct", "ties", "equal", "lost"])
def test_least_values_are_found_with_ties_or_without(values, count):
    rng = np.random.RandomState(0)
    table = {
        "distinct": rng.normal(size=(20, 30)),
        "ties": rng.randint(5, size=(20, 30)).astype(float),
        "equal": np.ones((20, 30)),
        "lost": np.where(rng.rand(20, 30) < 0.1, np.nan, rng.normal(size=(20, 30))),
    }[values]
    places = nearest._places_of_least(table, count)
    assert places.shape == (20, count)
    for row, some in zip(table, places, strict=True):
        assert len(set(some.tolist())) == count
        np.testing.assert_array_equal(np.sort(row[some]), np.sort(row)[:count])


@pytest.mark.parametrize(
    ("features", "squares"),
    [
        ({"baseline": ["SSE", "SSE2"], "found": ["AVX2", "AVX512F", "AVX512_SKX"]}, False),
        ({"baseline": ["X86_V2"], "found": ["X86_V3", "X86_V4"]}, False),
        ({"baseline": ["X86_V2"], "found": ["X86_V3"], "not found": ["X86_V4"]}, True),
        ({"baseline": ["NEON"]}, True),
        (None, True),
    ],
)
def test_squares_pay_without_avx_512(features, squares, monkeypatch):
    about = {} if features is None else {"SIMD Extensions": features}
    monkeypatch.setattr(np, "show_config", lambda mode: about)
    assert nearest._squares_pay.__wrapped__() is squares


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_own_rows_whichever_way_is_faster(squares, dtype, monkeypatch):
    monkeypatch.setattr(nearest, "_squares_pay", lambda: squares)
    program, budget, _, _ = program_and_targets(0)
    rng = np.random.RandomState(1)
    t, n = 2 * nearest.AT_ONCE + 3, 11
    K, weights = rng.normal(size=(t, n, 5)).astype(dtype), rng.rand(t, n).astype(dtype)
    rows = OwnRows(Rows(program, budget, NumpyBackend(dtype)), K, K[:, :, 0], weights, 0.0)
    found = rows.gram(weights)
    assert found.dtype == dtype
    exact = np.einsum("tni,tn,tnj->tij", K.astype(float), weights.astype(float), K.astype(float))
    rounding = 2 * n * np.finfo(dtype).eps * np.einsum("tni,tn,tnj->tij", np.abs(K), weights, np.abs(K))
    assert (np.abs(found - exact) <= rounding).all()


def test_rows_of_their_own_only_where_they_are_few_and_small():
    assert nearest_count(31, 500) == 77
    assert nearest_count(31, 115) == 0  # two thirds of them or more
    assert nearest_count(31, 116) == 77
    assert nearest_count(201, 2000) == 0  # more memory than the iterates
    assert nearest_count(201, 10_000) == 502
    assert nearest_count(31, 1000, 2) == 155  # two rows with their edges in one place

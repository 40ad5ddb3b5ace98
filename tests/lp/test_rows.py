"""Rows as an operator over a batch: what their products skip must not show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.formulations import Classification, Regression
from allrelevant.lp import BoundSolver
from allrelevant.lp.backend import NumpyBackend, TorchBackend
from allrelevant.lp.curvature import Curvature
from allrelevant.lp.iterates import Batch
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.rows import Rows
from allrelevant.lp.targets import Columns, Targets
from programs import all_targets, random_program


def mirrored_program(seed, half, rest, hard, d=3):
    """Rows, their negatives, a few others, and hard rows."""
    rng = np.random.RandomState(seed)
    first, others = rng.normal(size=(half, d + 1)), rng.normal(size=(rest, d + 1))
    K, G = np.vstack([first, -first, others]), rng.normal(size=(hard, d + 1))
    return Program.build(
        K[:, :d], K[:, d:], rng.normal(size=len(K)), s=np.ones(len(K)), G=G[:, :d], H=G[:, d:], h=-np.ones(hard)
    )


def backends():
    """NumPy, and torch where that is installed."""
    yield NumpyBackend()
    try:
        yield TorchBackend("cpu")
    except ImportError:
        return


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(0, 3), st.integers(0, 2), st.integers(0, 4), st.booleans())
def test_products_with_rows_and_their_negatives(seed, half, rest, hard, own, alike):
    """Also with columns of their own for all, or the last, of the targets, that are mirrored as the rows are or not."""
    program = mirrored_program(seed, half, rest, hard)
    rng = np.random.RandomState(seed)
    K = np.block([[program.A, program.B], [program.G, program.H]])
    t, (n, size) = 4, K.shape
    columns = rng.normal(size=(own, 1, n)) if own else None
    if own and alike:
        columns[:, :, half : 2 * half] = -columns[:, :, :half]
    each = np.repeat(K[None], t, axis=0)
    if own:
        each[:, :, size - 2] = 0.0  # the place of the last weight, which is empty in the program
        each[t - own :, :, size - 2] = columns[:, 0]
        program = replace(program, A=program.A.copy(), G=program.G.copy())
        program.A[:, -1] = program.G[:, -1] = 0.0
    x, values, weights = rng.normal(size=(t, size)), rng.normal(size=(t, n)), rng.uniform(size=(t, n))
    for backend in backends():
        rows = Rows(program, Budget(1.0, 1.0), backend)
        assert rows.mirrored == half
        array, numpy = backend.asarray, backend.to_numpy
        count = program.n_rows
        given = None if columns is None else Columns(columns[:, :, :count], columns[:, :, count:], np.zeros((own, 1)))
        given_columns = rows.whole(given)
        assert rows.folds(given_columns) == (alike or not own)
        left_sides = np.einsum("tnk,tk->tn", each, x)
        np.testing.assert_allclose(numpy(rows.forward(array(x), given_columns)), left_sides)
        moved = array(values[:, :count].copy())
        rows.add(moved, rows.folded_forward(array(x), given_columns))
        np.testing.assert_allclose(numpy(moved), (values + left_sides)[:, :count])
        np.testing.assert_allclose(
            numpy(rows.adjoint(array(values), given_columns)), np.einsum("tnk,tn->tk", each, values), atol=1e-12
        )
        left = np.block([[program.A, program.B], [program.G, program.H]])
        expected = np.einsum("nk,tn,nl->tkl", left, weights, left)
        np.testing.assert_allclose(numpy(rows.gram(array(weights))), expected, atol=1e-12)
        hinge, hard_rows = np.split(1.0 / weights, [program.n_rows], axis=1)
        curve = Curvature(rows, array(0.5 * hinge), array(0.5 * hinge), array(hard_rows))
        np.testing.assert_allclose(
            numpy(curve.gram(given_columns)), np.einsum("tnk,tn,tnl->tkl", each, weights, each), atol=1e-10
        )
        kept = np.array([rng.permutation(program.n_rows)[:2] for _ in range(t)])
        found = numpy(rows.gather(kept, given_columns))
        np.testing.assert_array_equal(found[:, :2], np.take_along_axis(each, kept[:, :, None], axis=1))
        np.testing.assert_array_equal(found[:, 2:], each[:, program.n_rows :])


def test_columns_stay_with_their_owners():
    goal, columns = np.arange(12.0).reshape(6, 2), np.arange(3.0)[:, None, None] + np.zeros((3, 1, 5))
    batch = Batch(goal, None, columns, goal[:1], goal[:1])
    for keep, own in (([0, 3, 5], [0.0, 2.0]), ([1, 2, 3, 4], [0.0, 1.0]), ([4], [1.0]), (range(6), [0.0, 1.0, 2.0])):
        some = batch.take(np.array(keep))
        np.testing.assert_array_equal(some.columns[:, 0, 0], own)
        assert Rows.owners(some.goal, some.columns) == slice(len(keep) - len(own), len(keep))
    assert batch.take(np.array([0, 2])).columns is None


def test_which_rows_are_mirrored():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)

    def mirrored(program):
        return Rows(program, Budget(1.0, 1.0), NumpyBackend()).mirrored

    regression = Regression(0.1).program(X, y, np.ones(30))
    assert mirrored(regression) == 30
    almost = regression.A.copy()
    almost[-1, -1] += 1e-12
    assert mirrored(replace(regression, A=almost)) == 0
    assert mirrored(Classification().program(X, np.sign(y), np.ones(30))) == 0
    # Fewer rows than weights are not multiplied row by row, and rows that share a slack not one by one.
    assert mirrored(Regression(0.1).program(X[:2], y[:2], np.ones(2))) == 0
    together = Program.build(regression.A, regression.B, regression.r, s=np.ones(30), slack=np.repeat(np.arange(30), 2))
    assert mirrored(together) == 0


@pytest.mark.parametrize("hard", [False, True])
def test_surplus_less_slack(hard):
    program, budget, _ = random_program(0, hard=hard)
    rows = Rows(program, budget, NumpyBackend())
    P = np.random.RandomState(0).uniform(size=(3, rows.parts[-1].stop))
    expected = P[:, rows.rows].copy()
    expected[:, : rows.n] -= P[:, rows.parts[2]]
    np.testing.assert_array_equal(rows.net(P), expected)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_and_others_in_one_batch(seed):
    """As they are in batches of their own."""
    d, n, rng = 12, 60, np.random.RandomState(seed)
    program, budget, (w, b) = random_program(seed, d=d, n=n)
    solver = BoundSolver(program.with_slots([1.0]), budget, (np.append(w, 0.0), b), "interior")
    columns = Columns(rng.normal(size=(9, 1, n)), 0.1 * rng.normal(size=(9, 1, 3)), 0.01 * rng.normal(size=(9, 1)))
    others = Targets.single(np.full(9, d), np.tile([1.0, -1.0, 1.0], 3), columns)
    pairs = Targets.sides(np.arange(d)[:, None], np.ones((d, 1)))
    both = Targets.followed(pairs, others)
    assert len(both) == 2 * d + 9
    assert both.paired == 2 * d
    found = solver.solve(both)
    assert found.gap <= 1e-6
    exact = solver.solve(all_targets(d)).value.reshape(-1, 2)
    limit = 1e-6 * budget.norm
    np.testing.assert_allclose(found.take(slice(2 * d)).value.reshape(-1, 2).max(axis=1), exact.max(axis=1), atol=limit)
    np.testing.assert_allclose(found.take(slice(2 * d, None)).value, solver.solve(others).value, atol=limit)


def test_what_is_left_of_pairs_that_others_follow():
    columns = Columns(np.ones((3, 1, 5)), np.ones((3, 1, 0)), np.ones((3, 1)))
    others = Targets.single(np.full(3, 7), np.ones(3), columns)
    both = Targets.followed(Targets.sides(np.arange(2)[:, None], np.ones((2, 1))), others)
    for chosen, paired in (([2, 3, 5], 2), ([0, 1, 2, 3, 4], 4), ([4, 5, 6], 0), ([1, 2, 5], 0), ([4, 0, 1], 0)):
        some = both.take(np.array(chosen))
        assert some.paired == paired
        np.testing.assert_array_equal(some.columns.u[:, 0], np.array(chosen) >= 4)
    # Beyond the pairs nobody is outdone.
    value = np.array([1.0, 0.5, 0.0, 2.0, 0.1, 5.0, 0.1])
    np.testing.assert_array_equal(np.flatnonzero(both.outdone(value, value)), [1, 2])

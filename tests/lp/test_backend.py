"""The interior engine on torch must say what it says on NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from allrelevant.lp.backend import NumpyBackend, TorchBackend
from allrelevant.lp.certificate import certify
from allrelevant.lp.interior import InteriorBounds
from allrelevant.lp.program import Slacks
from allrelevant.lp.targets import Columns, Targets
from programs import all_targets, random_program

pytest.importorskip("torch")


@pytest.mark.parametrize("d", [4, 40])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_same_bounds(d, shared, own):
    program, budget, (w, b) = random_program(1, d=d, shared=shared)
    targets = all_targets(d)
    if own:
        rng = np.random.RandomState(0)
        program, w = program.with_slots([0.5]), np.append(w, 0.0)
        columns = Columns(rng.normal(size=(6, 1, 15)), 0.1 * rng.normal(size=(6, 1, 3)), np.zeros((6, 1)))
        targets = Targets.single(np.full(6, d), np.tile([1.0, -1.0], 3), columns)
    proofs = []
    for backend in (NumpyBackend(), TorchBackend("cpu")):
        engine = InteriorBounds(program, budget, (w, b), backend)
        proofs.append(certify(program, budget, targets, *engine.solve(targets), engine.centre))
    for proof in proofs:
        assert ((proof.upper - proof.lower) <= 1e-6 * budget.norm).all()
    np.testing.assert_allclose(proofs[0].lower, proofs[1].lower, atol=1e-6)


def test_kernels_agree():
    rng = np.random.RandomState(0)
    one, two = NumpyBackend(), TorchBackend("cpu")
    slacks = Slacks.of(np.repeat([0, 1, 2], [2, 1, 3]), 6)
    values = rng.choice([1.0, 2.0, 3.0], size=(4, 6))
    for name in ("total", "heaviest"):
        np.testing.assert_allclose(getattr(two, name)(two.asarray(values), slacks), getattr(one, name)(values, slacks))
    root = rng.normal(size=(3, 5, 5))
    matrices = root @ root.transpose(0, 2, 1)
    right = rng.normal(size=(3, 2, 5))
    theirs = two.solve(two.factor(two.asarray(matrices)), two.asarray(right))
    np.testing.assert_allclose(theirs, one.solve(one.factor(matrices), right), rtol=1e-8)


@pytest.mark.parametrize("kind", [NumpyBackend, TorchBackend])
def test_matrices_that_rounding_spoilt_are_factored_all_the_same(kind):
    backend = kind()
    flat = np.ones((1, 3, 3)) - 1e-15 * np.eye(3)
    factor = backend.factor(backend.asarray(flat))
    assert np.isfinite(backend.to_numpy(backend.solve(factor, backend.asarray(np.ones((1, 1, 3)))))).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sides", [1, 3])
def test_right_sides_are_solved_in_their_place(dtype, sides):
    rng = np.random.RandomState(0)
    backend, root = NumpyBackend(dtype), rng.normal(size=(4, 6, 9))
    matrices = backend.asarray(root @ root.transpose(0, 2, 1))
    factors = backend.factor(matrices.copy())
    for _ in range(2):  # with the matrices, and with their factors
        right = backend.asarray(rng.normal(size=(4, sides, 6)))
        expected = np.linalg.solve(matrices, right.transpose(0, 2, 1)).transpose(0, 2, 1)
        assert backend.solve(factors, right) is right
        np.testing.assert_allclose(right, expected, rtol=1e-6 if dtype is np.float64 else 0.02, atol=1e-3)

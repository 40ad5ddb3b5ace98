"""Where the path of penalties begins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from allrelevant.formulations import Classification, OrdinalExplicit, Regression
from allrelevant.lp.highs import HighsPenalised
from allrelevant.relevance import penalties


def programs(seed):
    """Programs of one offset: classes of all shares, targets with ties, weights that may be 0."""
    rng = np.random.RandomState(seed)
    n = rng.randint(2, 60)
    X, weight = rng.normal(size=(n, 2)), rng.choice([0.0, 0.3, 1.0, 2.0], n)
    yield Classification().program(X, np.where(rng.rand(n) < rng.rand(), 1.0, -1.0), np.ones(n))
    yield Classification().program(X, np.ones(n), weight)
    yield Regression(epsilon=rng.choice([0.0, 0.1])).program(X, np.round(rng.normal(size=n), 1), weight)


@pytest.mark.parametrize("seed", range(20))
def test_one_offset_is_a_quantile(seed, monkeypatch):
    for program in programs(seed):
        none = np.zeros(2)
        b = penalties.null_offsets(program)
        _, best, _ = HighsPenalised(penalties._without_weights(program)).solve(1.0)
        assert program.loss(none, b) <= program.loss(none, best) * (1 + 1e-9) + 1e-12
        path = penalties.penalty_path(program)
        with monkeypatch.context() as patch:
            patch.setattr(penalties, "null_offsets", lambda _, best=best: best)
            assert_allclose(path, penalties.penalty_path(program), rtol=1e-12)


def test_rows_without_weight_or_offset_say_nothing():
    program = Classification().program(np.ones((3, 1)), np.array([1.0, -1.0, 1.0]), np.zeros(3))
    assert penalties.null_offsets(program) == 0.0


def test_several_offsets_are_found_by_a_linear_program():
    rng = np.random.RandomState(0)
    target = rng.randint(3, size=30).astype(float)
    program = OrdinalExplicit(3).program(rng.normal(size=(30, 2)), target, np.ones(30))
    b = penalties.null_offsets(program)
    assert b.shape == (2,)
    better = [program.loss(np.zeros(2), b + step) for step in 0.1 * rng.normal(size=(50, 2))]
    assert program.loss(np.zeros(2), b) <= min(better) + 1e-12

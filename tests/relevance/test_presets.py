"""Held features against scipy: the same programs with the limits written as rows."""

from __future__ import annotations

import numpy as np
import pytest

import oracle
from allrelevant._progress import Progress
from allrelevant.formulations import Classification, Feature, MultiClass, Regression
from allrelevant.relevance.baseline import fit_baseline
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.nearoptimal import near_optimal_set
from allrelevant.relevance.presets import Limit, bounded_intervals, find_conflict, held_sets
from allrelevant.relevance.solving import Solving
from problems import problem
from reference import ENGINES, solved_by


def near_of(formulation, X, target, C=1.0, budgets="split"):
    weight = np.ones(len(X))
    base = fit_baseline(formulation, X, target, weight, C=C, folds=(), progress=Progress())
    return near_optimal_set(base.program, base.w, base.b, C, norm_slack=0.1, loss_slack=0.1, budgets=budgets)


def case(kind, seed):
    X, y, _ = problem(kind, seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    near = near_of(Classification(), X, y)
    features = [Classification().feature(k, X.shape[1]) for k in range(X.shape[1])]
    return X, y, near, features, relevance_intervals(near, features, Solving())


def scipy_intervals(X, y, near, limits, flip=1.0):
    """The intervals with the limits as hard rows, for the signs of the baseline model or the other ones."""
    rows, hard = oracle.classification(X, y, np.ones(len(X)))
    for k, limit in limits.items():
        sign = flip * (-1.0 if near.w[k] < 0 else 1.0)
        unit = np.eye(X.shape[1])[k]
        if limit.low > 0:
            hard.append((sign * unit, [0.0], limit.low * near.mu))
            hard.append((-sign * unit, [0.0], -limit.high * near.mu))
        else:
            hard += [(side * unit, [0.0], -limit.high * near.mu) for side in (1.0, -1.0)]
    return oracle.relevance(rows, hard, near.budget.norm, near.budget.loss, near.budget.price) / near.mu


@pytest.mark.parametrize("kind", ["plain", "noisy", "wide", "duplicate", "binary"])
@pytest.mark.parametrize("seed", range(4))
def test_intervals_under_limits_equal_scipys(kind, seed):
    X, y, near, features, ends = case(kind, seed)
    assert near.mu > 0.1
    rng = np.random.RandomState(seed)
    k, j = rng.permutation(len(features))[:2]
    used = int(np.argmax(np.abs(near.w)))
    middle = 0.5 * (ends.minimum[used] + ends.maximum[used])
    for limits in (
        {k: Limit(0.0, 0.4 * ends.maximum[k])},
        {used: Limit(middle, middle)},
        {used: Limit(0.9 * middle, 1.1 * middle), j: Limit(0.0, 0.9 * ends.maximum[j])},
    ):
        by_engine = []
        for engine in ENGINES:
            with solved_by(engine):
                by_engine.append(bounded_intervals(near, features, limits, ends, Solving()))
        if None in by_engine:
            assert by_engine == [None, None]
            assert not held_sets(near, features, limits, ends)
            continue
        expected = scipy_intervals(X, y, near, limits)
        for engine, found in zip(ENGINES, by_engine, strict=True):
            ours = np.column_stack([found.minimum, found.maximum])
            np.testing.assert_allclose(ours, expected, atol=2e-6, err_msg=engine)
            assert found.gap <= 1e-6, engine


@pytest.mark.parametrize("side", ["minimum", "maximum"])
@pytest.mark.parametrize("seed", range(6))
def test_ends_of_intervals_can_be_held(side, seed):
    X, y, near, features, ends = case("plain", seed)
    for k in range(len(features)):
        value = float(getattr(ends, side)[k])
        found = bounded_intervals(near, features, {k: Limit(value, value)}, ends, Solving())
        assert found is not None
        others = np.arange(len(features)) != k
        touched = {k: Limit(max(value - 1e-5, 0.0), value + 1e-5)}
        if value > 0 and near.w[k] == 0:  # the union of both signs
            continue
        limits = touched if value > 0 else {k: Limit(0.0, 0.0)}
        try:
            expected = scipy_intervals(X, y, near, limits)
        except AssertionError:  # only the other sign than the baseline's can have that value
            expected = scipy_intervals(X, y, near, limits, flip=-1.0)
        np.testing.assert_allclose(np.column_stack([found.minimum, found.maximum])[others], expected[others], atol=1e-5)


def test_open_signs_are_both_tried():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    near = near_of(Classification(), X, y, C=0.05)
    features = [Classification().feature(k, 3) for k in range(3)]
    ends = relevance_intervals(near, features, Solving())
    unused = int(np.argmin(np.abs(near.w)))
    assert near.w[unused] == 0.0
    limits = {unused: Limit(0.3 * ends.maximum[unused], ends.maximum[unused])}
    assert len(held_sets(near, features, limits, ends)) == 2
    used = int(np.argmax(np.abs(near.w)))
    one = {used: Limit(ends.maximum[used] * 0.5, ends.maximum[used])}
    assert len(held_sets(near, features, one, ends)) == 1
    found = bounded_intervals(near, features, limits, ends, Solving())
    assert found is not None
    assert found.minimum[unused] == pytest.approx(limits[unused].low, abs=1e-6)


def test_contradictions_are_told_apart_and_smallest():
    rng = np.random.RandomState(1)
    base = rng.normal(size=(80, 3))
    X = np.column_stack([base[:, 0], base[:, 0], base[:, 1], base[:, 2]])
    y = np.where(base[:, 0] + base[:, 1] > 0, 1.0, -1.0)
    near = near_of(Classification(), X, y, C=10.0)
    features = [Classification().feature(k, 4) for k in range(4)]
    ends = relevance_intervals(near, features, Solving())
    outside = find_conflict(near, features, {2: Limit(0.0, 0.0), 0: Limit(0.0, 0.0)}, ends, Solving())
    assert not outside.joint
    assert set(outside.ranges) == {2}
    assert outside.ranges[2] == pytest.approx((ends.minimum[2], ends.maximum[2]))
    limits = {0: Limit(0.0, 0.0), 3: Limit(0.0, 0.0), 1: Limit(0.0, 0.0)}
    assert bounded_intervals(near, features, limits, ends, Solving()) is None
    conflict = find_conflict(near, features, limits, ends, Solving())
    assert conflict.joint
    assert set(conflict.ranges) == {0, 1}
    for k, (low, high) in conflict.ranges.items():
        assert 0.0 < low < high
        # What is said to be possible is: at its edge, and not beyond.
        rest = {j: limit for j, limit in limits.items() if j in conflict.ranges and j != k}
        assert held_sets(near, features, {**rest, k: Limit(0.0, 1.001 * low)}, ends)
        assert not held_sets(near, features, {**rest, k: Limit(0.0, 0.99 * low)}, ends)


@pytest.mark.parametrize("formulation", ["multi-class", "group"])
def test_features_of_several_weights(formulation):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 4))
    if formulation == "multi-class":
        kind = MultiClass(3)
        target = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.2 * rng.normal(size=60), [-0.5, 0.5]).astype(float)
        near = near_of(kind, X, target)
        features = [kind.feature(k, 4) for k in range(4)]
    else:
        kind = Regression(epsilon=0.1)
        near = near_of(kind, X, X[:, 0] + 0.5 * X[:, 1] + 0.2 * rng.normal(size=60))
        single = [kind.feature(k, 4) for k in range(4)]
        features = [Feature.join(single[:2], near.program.gamma), *single[2:]]
    ends = relevance_intervals(near, features, Solving())
    middle = 0.5 * float(ends.minimum[0] + ends.maximum[0])
    for limit in (Limit(middle, float(ends.maximum[0])), Limit(0.0, middle), Limit(middle, middle)):
        found = bounded_intervals(near, features, {0: limit}, ends, Solving())
        assert found is not None
        assert found.minimum[0] >= limit.low - 2e-5
        assert found.maximum[0] <= limit.high + 2e-5
        assert (found.minimum >= ends.minimum - 1e-9)[1:].all()
        assert (found.maximum <= ends.maximum + 1e-9)[1:].all()
        for one in held_sets(near, features, {0: limit}, ends):
            assert one.budget.room(one.program.norm(one.w), one.program.loss(one.w, one.b)) >= -1e-9


def test_large_groups_can_only_be_excluded():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 9))
    kind = Regression(epsilon=0.1)
    near = near_of(kind, X, X[:, 0] + X[:, 8])
    single = [kind.feature(k, 9) for k in range(9)]
    features = [Feature.join(single[:8], near.program.gamma), single[8]]
    ends = relevance_intervals(near, features, Solving())
    with pytest.raises(ValueError, match="can only be excluded"):
        held_sets(near, features, {0: Limit(0.0, 0.1)}, ends)
    assert held_sets(near, features, {0: Limit(0.0, 0.0)}, ends) == []

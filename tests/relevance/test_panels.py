"""Panels and substitutes against brute force over all subsets, on problems with known redundancy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

import oracle
from allrelevant import LinearRelevanceClassifier
from allrelevant._progress import Progress
from allrelevant.errors import SolverTimeout
from allrelevant.formulations import Classification
from allrelevant.relevance.baseline import fit_baseline
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.nearoptimal import near_optimal_set
from allrelevant.relevance.panels import PanelSearch
from allrelevant.relevance.solving import Solving
from allrelevant.relevance.substitutes import Exclusions, find_exclusions


def redundant_problem(seed):
    """Up to nine features: strong ones, groups of noisy copies, noise."""
    rng = np.random.RandomState(seed)
    sizes = [1, *rng.randint(1, 4, size=2)]
    hidden = rng.normal(size=(60, len(sizes)))
    columns = [hidden[:, g] + 0.05 * rng.normal(size=60) for g, size in enumerate(sizes) for _ in range(size)]
    columns += [rng.normal(size=60) for _ in range(rng.randint(0, 3))]
    X = np.column_stack(columns)
    y = np.where(hidden.sum(axis=1) + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    base = fit_baseline(Classification(), X, y, np.ones(60), C=0.5, folds=(), progress=Progress())
    near = near_optimal_set(base.program, base.w, base.b, 0.5, norm_slack=0.1, loss_slack=0.1)
    features = [Classification().feature(k, X.shape[1]) for k in range(X.shape[1])]
    return X, y, near, features, relevance_intervals(near, features, Solving())


def admitted(X, y, near, chosen):
    """Whether the least loss of a model of some features, within the norm budget, is within the loss budget: scipy."""
    rows, _ = oracle.classification(X[:, list(chosen)], y, np.ones(len(X)))
    if not chosen:
        rows = [(np.zeros(1), offsets, right, s) for _, offsets, right, s in rows]
    A, b, bounds = oracle._constraints(rows, [])
    b[-1] = near.budget.norm
    kept = np.delete(np.arange(len(A)), -2)
    least = linprog(A[-2], A_ub=A[kept], b_ub=b[kept], bounds=bounds, method="highs", options=oracle.TIGHT)
    assert least.status == 0
    return least.fun <= near.budget.loss * (1 + 1e-7) + 1e-9


def smallest_panels(X, y, near, d):
    """All sets that admit a near-optimal model and of which none can be left out."""
    # A set without a feature that all others cannot do without admits none: its models are models of all others.
    needed = {k for k in range(d) if not admitted(X, y, near, [j for j in range(d) if j != k])}
    found = []
    for size in range(len(needed), d + 1):
        for chosen in combinations(range(d), size):
            could = needed <= set(chosen) and not any(set(one) <= set(chosen) for one in found)
            if could and admitted(X, y, near, chosen):
                found.append(chosen)
    return found


@pytest.mark.parametrize("seed", range(50))
def test_the_best_panels_are_those_of_brute_force(seed):
    X, y, near, features, ends = redundant_problem(seed)
    d = X.shape[1]
    costs = np.ones(d) if seed % 2 else np.random.RandomState(seed).choice([0.5, 1.0, 2.0, 3.5], size=d)
    expected = smallest_panels(X, y, near, d)
    prices = sorted(float(costs[list(one)].sum()) for one in expected)
    search = PanelSearch(near, features, ends, range(d), costs, range(d))
    k = min(10, len(expected) + 1)
    found = search.search(k, include=(), max_size=None, time_limit=60.0, solving=Solving())
    assert {*found.chosen} <= {*expected}
    assert len({*found.chosen}) == len(found.chosen) == min(k, len(expected))
    np.testing.assert_allclose(found.costs, prices[: len(found.costs)], rtol=1e-9)
    assert found.gaps == [0.0] * len(found.costs)
    assert found.complete == (len(expected) < k)
    assert not found.timed_out


@pytest.mark.parametrize("seed", range(12))
def test_substitutes_block_together_and_not_alone(seed):
    X, y, near, features, _ = redundant_problem(seed)
    d = X.shape[1]
    for k in range(d):
        others = [j for j in range(d) if j != k]
        for one in find_exclusions(near, features, k, others, 5):
            assert one.features[0] == k
            left = [j for j in range(d) if j not in one.features]
            assert not admitted(X, y, near, left)
            for spared in one.features:
                assert admitted(X, y, near, [*left, spared])
            assert all(need > 0 for need in one.needed)
            assert one.loss_growth > near.budget.loss / near.rho - 1.0
    asked = Exclusions(near, features)
    for size in (1, 2, 3):
        for chosen in list(combinations(range(d), size))[:8]:
            assert asked.possible(chosen) == admitted(X, y, near, [j for j in range(d) if j not in chosen])


def test_wishes_of_the_user():
    X, y, near, features, ends = redundant_problem(1)
    d = X.shape[1]
    every = smallest_panels(X, y, near, d)
    assert len(every) > 1
    size = min(map(len, every))
    free = sorted({k for one in every for k in one} - set.intersection(*map(set, every)))
    search = PanelSearch(near, features, ends, range(d), np.ones(d), range(d))
    options = {"time_limit": 60.0, "solving": Solving()}
    with_one = search.search(20, include=[free[0]], max_size=None, **options)
    assert all(free[0] in one for one in with_one.chosen)
    small = search.search(20, include=(), max_size=size, **options)
    assert {*small.chosen} == {one for one in every if len(one) <= size}
    without = PanelSearch(near, features, ends, [k for k in range(d) if k != free[0]], np.ones(d), range(d))
    assert {*without.search(20, include=(), max_size=None, **options).chosen} == {
        one for one in every if free[0] not in one
    }
    needed = set.intersection(*map(set, every))
    nothing = PanelSearch(near, features, ends, [k for k in range(d) if k not in needed], np.ones(d), range(d))
    assert nothing.search(3, include=(), max_size=None, **options).chosen == []


def test_features_that_cost_nothing_do_not_fill_panels():
    X, y, near, features, ends = redundant_problem(3)
    d = X.shape[1]
    found = PanelSearch(near, features, ends, range(d), np.zeros(d), range(d)).search(
        5, include=(), max_size=None, time_limit=60.0, solving=Solving()
    )
    assert {*found.chosen} <= {*smallest_panels(X, y, near, d)}


def test_no_time():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    model = LinearRelevanceClassifier(C=0.3, n_copies=1, random_state=0).fit(X, y)
    with pytest.raises(SolverTimeout, match="time limit"):
        model.panels(time_limit=1e-3)

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.datasets import make_friedman1

from allrelevant.datasets import RelevanceData, make_relevance_interaction

KINDS = ["xor", "product", "sine", "friedman"]
#: Those of which no feature can be found by itself.
PURE = ["xor", "product", "sine"]


def largest_mean(values, columns, n_bins=4):
    """The largest mean of `values` over the cells of a grid of quantiles, in standard errors."""
    cells = np.zeros(len(values), dtype=int)
    for column in columns.T:
        cells = cells * n_bins + (rankdata(column) - 1).astype(int) * n_bins // len(column)
    _, cells, counts = np.unique(cells, return_inverse=True, return_counts=True)
    return np.max(np.abs(np.bincount(cells, weights=values)) / np.sqrt(counts)) / values.std()


@pytest.mark.parametrize("problem", ["classification", "regression"])
@pytest.mark.parametrize("kind", KINDS)
def test_result_is_a_named_triple(kind, problem):
    data = make_relevance_interaction(kind=kind, problem=problem, random_state=0)
    assert isinstance(data, RelevanceData)
    n_strong = 5 if kind == "friedman" else 2
    assert data.X.shape == (500, n_strong + 10)
    assert data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.relevance, [2] * n_strong + [0] * 10)
    assert data.y.dtype == (np.int64 if problem == "classification" else np.float64)
    if problem == "classification":
        np.testing.assert_array_equal(np.unique(data.y), [-1, 1])
        assert abs(data.y.mean()) < 0.15


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("kind", PURE)
@pytest.mark.parametrize("problem", ["classification", "regression"])
def test_without_one_of_them_the_informative_columns_say_nothing(kind, problem, order):
    X, y, _ = make_relevance_interaction(
        20_000, kind=kind, order=order, problem=problem, n_irrelevant=1, noise=0, random_state=0
    )
    for some in range(1, order):
        for chosen in combinations(range(order), some):
            assert largest_mean(y, X[:, chosen]) < 4
    assert largest_mean(y, X[:, [order]]) < 4
    assert largest_mean(y, X[:, :order]) > 10


@pytest.mark.parametrize("order", [2, 3, 5])
def test_together_they_determine_the_class(order):
    X, y, _ = make_relevance_interaction(2000, order=order, noise=0, random_state=0)
    n_negative = (X[:, :order] < 0).sum(axis=1)
    np.testing.assert_array_equal(y, np.where(n_negative % 2 == 0, 1, -1))


def test_classes_of_a_product_are_those_of_xor():
    xor, product = (make_relevance_interaction(kind=kind, order=3, random_state=0) for kind in ("xor", "product"))
    for a, b in zip(xor, product, strict=True):
        np.testing.assert_array_equal(a, b)


def test_regression_has_the_score_of_the_classes():
    for kind, centre in zip(KINDS, (0, 0, 0, 14.4), strict=True):
        X, y, _ = make_relevance_interaction(kind=kind, random_state=0)
        same, score, _ = make_relevance_interaction(kind=kind, problem="regression", random_state=0)
        np.testing.assert_array_equal(X, same)
        np.testing.assert_array_equal(y, np.where(score > centre, 1, -1))


def test_scores_are_functions_of_the_columns():
    X, y, _ = make_relevance_interaction(kind="product", problem="regression", noise=0, random_state=0)
    np.testing.assert_allclose(y, X[:, 0] * X[:, 1])
    X, y, _ = make_relevance_interaction(kind="sine", problem="regression", noise=0, random_state=0)
    a, b = np.pi * X[:, :2].T
    np.testing.assert_allclose(y, np.sin(a) * np.cos(b) + np.cos(a) * np.sin(b), atol=1e-12)


def test_friedman_equals_scikit_learn():
    X, y, _ = make_relevance_interaction(100, kind="friedman", problem="regression", noise=0, random_state=7)
    columns, target = make_friedman1(100, n_features=5, random_state=7)
    np.testing.assert_array_equal(X[:, :5], columns)
    np.testing.assert_allclose(y, target, rtol=1e-12)


@pytest.mark.parametrize("transform", ["shift", "monotone"])
@pytest.mark.parametrize("kind", ["xor", "friedman"])
def test_groups_take_the_place_of_the_first_columns(kind, transform):
    arguments = {"kind": kind, "order": 5, "noise": 0, "random_state": 0}
    plain = make_relevance_interaction(**arguments)
    X, y, relevance = make_relevance_interaction(n_weak=5, partition=[2, 3], transform=transform, **arguments)
    np.testing.assert_array_equal(y, plain.y)
    np.testing.assert_array_equal(relevance, [2] * 3 + [1] * 5 + [0] * 10)
    np.testing.assert_array_equal(X[:, :3], plain.X[:, 2:5])
    np.testing.assert_array_equal(rankdata(X[:, 3:8], axis=0), rankdata(plain.X[:, [0, 0, 1, 1, 1]], axis=0))


@pytest.mark.parametrize("noise", [0, 0.1])
def test_shifted_copies_differ_by_a_constant_and_noise(noise):
    X, _, _ = make_relevance_interaction(5000, n_weak=3, noise=noise, random_state=0)
    differences = X[:, 2:4] - X[:, [1]]
    assert np.all(np.abs(differences.mean(axis=0)) < 1)
    spread = np.sqrt(2) * noise / np.sqrt(3)  # the standard deviation of a uniform column in (-1, 1) is 1 / √3
    np.testing.assert_allclose(differences.std(axis=0), spread, rtol=0.05, atol=1e-12)


def test_bent_copies_determine_each_other_and_are_all_different():
    n_samples, n_weak = 5000, 9
    X, _, _ = make_relevance_interaction(
        n_samples, n_weak=n_weak, n_irrelevant=0, transform="monotone", noise=0, random_state=0
    )
    copies = X[:, 1:]
    assert all(len(np.unique(copy)) == n_samples for copy in copies.T)
    ranks = rankdata(copies, axis=0)
    np.testing.assert_array_equal(ranks, ranks[:, [0] * n_weak])
    # None is a straight line of another.
    correlation = np.corrcoef(copies, rowvar=False)[np.triu_indices(n_weak, k=1)]
    assert correlation.min() > 0.8
    assert correlation.max() < 1 - 1e-6


@pytest.mark.parametrize("noise", [0.1, 1.0, 1000.0])
def test_bending_keeps_the_order_of_noisy_copies(noise):
    shifted, bent = (
        make_relevance_interaction(n_weak=4, transform=transform, noise=noise, random_state=0).X
        for transform in ("shift", "monotone")
    )
    assert np.all(np.isfinite(bent))
    np.testing.assert_array_equal(rankdata(bent, axis=0), rankdata(shifted, axis=0))
    others = [0, *range(5, 15)]
    np.testing.assert_array_equal(bent[:, others], shifted[:, others])


def test_copies_say_nothing_without_the_other_group():
    X, y, relevance = make_relevance_interaction(
        20_000, n_weak=4, partition=[2, 2], transform="monotone", noise=0, random_state=0
    )
    np.testing.assert_array_equal(relevance, [1] * 4 + [0] * 10)
    assert largest_mean(y, X[:, :2]) < 4
    assert largest_mean(y, X[:, 2:4]) < 4
    for pair in ([0, 2], [0, 3], [1, 2], [1, 3]):
        assert largest_mean(y, X[:, pair]) > 10


def test_noise_is_a_share_of_the_spread_of_each_column():
    quiet, noisy = (
        make_relevance_interaction(5000, kind="friedman", noise=noise, random_state=0).X for noise in (0, 0.3)
    )
    np.testing.assert_allclose((noisy - quiet).std(axis=0), 0.3 * quiet.std(axis=0), rtol=0.05)


@pytest.mark.parametrize("flip_y", [0.01, 0.29, 0.75])
def test_flips_hit_distinct_rows_and_leave_X_alone(flip_y):
    clean = make_relevance_interaction(100, random_state=0)
    flipped = make_relevance_interaction(100, flip_y=flip_y, random_state=0)
    assert np.count_nonzero(clean.y != flipped.y) == round(100 * flip_y)
    np.testing.assert_array_equal(clean.X, flipped.X)


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_data(kind):
    first, again, other = (
        make_relevance_interaction(50, kind=kind, n_weak=3, transform="monotone", flip_y=0.1, random_state=seed)
        for seed in (3, np.random.RandomState(3), 4)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.X, other.X)


@settings(deadline=None, max_examples=40)
@given(
    kind=st.sampled_from(KINDS),
    problem=st.sampled_from(["classification", "regression"]),
    transform=st.sampled_from(["shift", "monotone"]),
    n_samples=st.integers(60, 80),
    order=st.integers(3, 5),
    groups=st.lists(st.integers(2, 6), max_size=3),
    n_irrelevant=st.integers(0, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_shapes_and_truth_add_up(kind, problem, transform, n_samples, order, groups, n_irrelevant, seed):
    X, y, relevance = make_relevance_interaction(
        n_samples,
        kind=kind,
        order=order,
        problem=problem,
        n_weak=sum(groups),
        n_irrelevant=n_irrelevant,
        partition=groups,
        transform=transform,
        random_state=seed,
    )
    n_strong = (5 if kind == "friedman" else order) - len(groups)
    np.testing.assert_array_equal(relevance, [2] * n_strong + [1] * sum(groups) + [0] * n_irrelevant)
    assert X.shape == (n_samples, len(relevance))
    assert y.shape == (n_samples,)
    assert np.all(np.isfinite(X))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 1}, ValueError, r"n_samples=1 .*>= 2"),
        ({"n_samples": 10.0}, TypeError, r"n_samples=10\.0 .*float.*integer"),
        ({"kind": "and"}, ValueError, r"kind='and' .*xor, product, sine, friedman"),
        ({"kind": None}, ValueError, r"kind=None "),
        ({"order": 1}, ValueError, r"order=1 .*>= 2"),
        ({"order": 2.5}, TypeError, r"order=2\.5 .*integer"),
        ({"problem": "ordinal"}, ValueError, r"problem='ordinal' .*classification, regression"),
        ({"transform": "even"}, ValueError, r"transform='even' .*shift, monotone"),
        ({"n_weak": 1}, ValueError, r"n_weak=1 .*>= 2"),
        ({"n_weak": -2}, ValueError, r"n_weak=-2 .*>= 0"),
        ({"n_irrelevant": -1}, ValueError, r"n_irrelevant=-1 .*>= 0"),
        ({"n_weak": 4, "partition": [2, 3]}, ValueError, r"partition=\[2, 3\] sums to 5, but n_weak=4"),
        ({"n_weak": 4, "partition": 4}, TypeError, r"partition=4 .*not iterable"),
        (
            {"n_weak": 6, "partition": [2, 2, 2]},
            ValueError,
            r"partition=\[2, 2, 2\] has 3 groups, but kind='xor' and order=2 .*at most 2 groups, or raise order$",
        ),
        (
            {"kind": "friedman", "n_weak": 12, "partition": [2] * 6},
            ValueError,
            r"has 6 groups, .*kind='friedman' .*at most 5 groups$",
        ),
        ({"noise": -0.1}, ValueError, r"noise=-0\.1 .*\[0, inf\)"),
        ({"noise": "loud"}, TypeError, r"noise='loud' .*str"),
        ({"flip_y": 1.0}, ValueError, r"flip_y=1\.0 .*\[0, 1\)"),
        ({"flip_y": 0.1, "problem": "regression"}, ValueError, r"flip_y=0\.1 .*'regression'.*pass flip_y=0 or"),
        ({"n_samples": 2, "random_state": 0}, ValueError, r"n_samples=2 and random_state=0 .*one class only"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_relevance_interaction(**arguments)


@pytest.mark.parametrize("partition", [(2, 2), np.array([2, 2]), iter([2, 2])])
def test_partition_may_be_any_iterable(partition):
    data = make_relevance_interaction(20, n_weak=4, partition=partition, random_state=0)
    np.testing.assert_array_equal(data.relevance, [1] * 4 + [0] * 10)

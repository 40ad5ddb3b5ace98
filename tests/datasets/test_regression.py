from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.datasets import RelevanceData, make_relevance_regression

# What the reference generator gives (arfs-gen 1.2.1, NumPy 1.26):
# genRegressionData(n_samples=4, n_features=8, n_strel=1, n_redundant=4, n_repeated=1, partition=[2, 2], noise=0.5,
#                   random_state=7)
REFERENCE_COLUMNS = [
    [1.690525703800356, 0.40751628299650783, -0.0008903858579313628, 0.6004985159195494],
    [1.465268649148189, 1.1422829910632832, 0.17648171334360097, 1.305777045722262],
    [0.5589618570095152, 0.2359761989246093, -0.7298250787950729, 0.39947025358358823],
    [1.6333690811427068, 1.6026144903700708, 2.618206923127616, 1.4290006562684014],
    [1.98294966409223, 1.9521950733195939, 2.967787506077139, 1.7785812392179245],
    [1.690525703800356, 0.40751628299650783, -0.0008903858579313628, 0.6004985159195494],
    [0.4894595120928867, -0.5486863677998846, -0.08259937989063482, 0.7063697816341747],
    [-1.557105693374017, -1.2602218708568502, 2.3966666065583975, -0.3659831689788509],
]
REFERENCE_TARGET = [0.6298722361798081, -0.24448055941280827, -0.3427615452982309, -0.7855643220182748]


def test_equals_the_reference_generator():
    X, y, relevance = make_relevance_regression(
        4, n_strong=1, n_weak=4, n_repeated=1, n_irrelevant=2, partition=[2, 2], noise=0.5, random_state=7
    )
    np.testing.assert_allclose(X.T, REFERENCE_COLUMNS, rtol=1e-13)
    np.testing.assert_allclose(y, REFERENCE_TARGET, rtol=1e-12)
    np.testing.assert_array_equal(relevance, [1, 1, 1, 1, 1, 1, 0, 0])  # the clone is one of the strong column


def test_defaults_equal_the_reference_generator():
    # genRegressionData(n_samples=500, n_features=30, n_strel=4, n_redundant=4, random_state=0)
    X, y, _ = make_relevance_regression(random_state=0)
    assert X.sum() == pytest.approx(2745.2051728910483, rel=1e-12)
    assert X[-1, -1] == pytest.approx(-0.7653915296240359, rel=1e-12)
    assert y.sum() == pytest.approx(-13.9009807677705, rel=1e-11)


def test_result_is_a_named_triple():
    data = make_relevance_regression(random_state=0)
    assert isinstance(data, RelevanceData)
    X, y, relevance = data
    assert (X.shape, y.shape, relevance.shape) == ((500, 30), (500,), (30,))
    assert (X.dtype, y.dtype, relevance.dtype) == (np.float64, np.float64, np.int64)
    np.testing.assert_array_equal(relevance, [2] * 4 + [1] * 4 + [0] * 22)


def test_the_target_is_linear_with_equal_weights():
    X, y, _ = make_relevance_regression(n_strong=3, n_weak=4, n_irrelevant=5, partition=[2, 2], random_state=0)
    one_of_each_group = np.c_[np.ones(500), X[:, [0, 1, 2, 3, 5, 7, 8]]]
    weights = np.linalg.lstsq(one_of_each_group, y, rcond=None)[0]
    np.testing.assert_allclose(weights[1:], [0.3] * 5 + [0.0] * 2, atol=1e-12)


def test_noise_is_on_the_target_and_has_the_documented_scale():
    X, y, _ = make_relevance_regression(4000, n_strong=3, n_weak=0, noise=0.7, random_state=0)
    assert (y - 0.3 * X[:, :3].sum(axis=1)).std() == pytest.approx(0.7, rel=0.05)


def test_same_seed_same_data():
    first, again, other = (
        make_relevance_regression(50, n_repeated=2, noise=0.1, random_state=seed)
        for seed in (3, np.random.RandomState(3), 4)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.X, other.X)


@settings(deadline=None, max_examples=60)
@given(
    n_samples=st.integers(2, 60),
    n_strong=st.integers(1, 5),
    groups=st.lists(st.integers(2, 4), max_size=3),
    n_repeated=st.integers(0, 3),
    n_irrelevant=st.integers(0, 5),
    noise=st.floats(0, 10),
    seed=st.integers(0, 2**32 - 1),
)
def test_shapes_and_truth_add_up(n_samples, n_strong, groups, n_repeated, n_irrelevant, noise, seed):
    X, y, relevance = make_relevance_regression(
        n_samples,
        n_strong=n_strong,
        n_weak=sum(groups),
        n_repeated=n_repeated,
        n_irrelevant=n_irrelevant,
        partition=groups,
        noise=noise,
        random_state=seed,
    )
    n_features = n_strong + sum(groups) + n_repeated + n_irrelevant
    assert X.shape == (n_samples, n_features)
    assert y.shape == (n_samples,)
    assert np.all(np.isfinite(X))
    assert np.all(np.isfinite(y))
    assert np.count_nonzero(relevance == 0) == n_irrelevant
    assert np.count_nonzero(relevance == 1) >= sum(groups) + n_repeated


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 1}, ValueError, r"n_samples=1 .*>= 2"),
        ({"n_samples": "many"}, TypeError, r"n_samples='many' .*integer"),
        ({"n_weak": 1}, ValueError, r"n_weak=1 .*>= 2"),
        ({"n_strong": 0, "n_weak": 0}, ValueError, r"n_strong=0 and n_weak=0 .*n_strong >= 1"),
        ({"partition": [2, 3]}, ValueError, r"partition=\[2, 3\] sums to 5, but n_weak=4"),
        ({"noise": -0.1}, ValueError, r"noise=-0\.1 .*\[0, inf\)"),
        ({"noise": np.nan}, ValueError, r"noise=nan "),
        ({"noise": None}, TypeError, r"noise=None .*NoneType"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_relevance_regression(**arguments)

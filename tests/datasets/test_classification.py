from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.datasets import (
    SIMULATIONS,
    RelevanceData,
    SimulationSpec,
    make_relevance_classification,
    make_simulation,
)
from allrelevant.datasets._columns import ColumnPlan, expand

# What the reference generator gives (arfs-gen 1.2.1, NumPy 1.26):
# genClassificationData(n_samples=4, n_features=6, n_strel=2, n_redundant=3, random_state=7)
REFERENCE_COLUMNS = [
    [1.7684226512532661, 0.2795745241163175, 0.04162974017871983, 0.7200590499529427],
    [-0.45670501971263455, -0.8029014908545898, -1.701240408823972, -0.737106515755745],
    [1.3272642933648064, 1.0826232861266305, 2.3679246097749886, 1.0553803012307468],
    [1.8437277147541642, 1.8966382574818705, 2.768149507551476, 1.5440266818098305],
    [1.316997356858544, 1.0148611010752466, 2.198570071405862, 0.984867737772229],
    [0.8536661987479318, -0.11693727478135914, -0.08348790624487326, -0.19059584180666547],
]
REFERENCE_LABELS = [1, -1, -1, -1]


def test_equals_the_reference_generator():
    X, y, relevance = make_relevance_classification(4, n_strong=2, n_weak=3, n_irrelevant=1, random_state=7)
    # The last digit of X.std(), and with it of the noise, is up to NumPy's order of summation.
    np.testing.assert_allclose(X.T, REFERENCE_COLUMNS, rtol=1e-13)
    np.testing.assert_array_equal(y, REFERENCE_LABELS)
    np.testing.assert_array_equal(relevance, [2, 2, 1, 1, 1, 0])


def test_defaults_equal_the_reference_generator():
    # genClassificationData(n_samples=500, n_features=30, n_strel=4, n_redundant=4, random_state=0)
    X, y, _ = make_relevance_classification(random_state=0)
    assert X.sum() == pytest.approx(2755.7136022988816, rel=1e-12)
    assert X[-1, -1] == pytest.approx(-0.7743481674658338, rel=1e-12)
    assert y.sum() == -18


def test_result_is_a_named_triple():
    data = make_relevance_classification(random_state=0)
    assert isinstance(data, RelevanceData)
    X, y, relevance = data
    assert (X.shape, y.shape, relevance.shape) == ((500, 30), (500,), (30,))
    assert (X.dtype, y.dtype, relevance.dtype) == (np.float64, np.int64, np.int64)
    assert X.flags.c_contiguous
    assert set(y) == {-1, 1}
    np.testing.assert_array_equal(relevance, [2] * 4 + [1] * 4 + [0] * 22)


def test_feature_names_follow_the_truth():
    data = make_relevance_classification(n_strong=2, n_weak=2, n_irrelevant=1, random_state=0)
    assert data.feature_names == ["strong0", "strong1", "weak0", "weak1", "irrelevant0"]


def test_labels_are_the_sign_of_the_sum():
    X, y, _ = make_relevance_classification(n_strong=3, n_weak=0, n_irrelevant=2, noise=0, random_state=0)
    np.testing.assert_array_equal(y, np.sign(X[:, :3].sum(axis=1)))


def test_weak_columns_are_shifted_copies():
    X, y, _ = make_relevance_classification(n_strong=2, n_weak=3, n_irrelevant=0, noise=0, random_state=0)
    shifts = X[:, 2:] - X[:, [2]]
    np.testing.assert_allclose(shifts, np.broadcast_to(shifts[0], shifts.shape), atol=1e-12)
    assert np.all(np.abs(shifts) < 1)
    assert np.all((X[:, 2:].mean(axis=0) > 0.8) & (X[:, 2:].mean(axis=0) < 2.2))
    assert np.mean(np.sign(X[:, :2].sum(axis=1)) == y) < 0.9  # the strong columns alone do not tell the class


@pytest.mark.parametrize("linear", [True, False])
def test_only_members_of_a_group_correlate(linear):
    groups = [2, 3, 4]
    X, _, _ = make_relevance_classification(
        2000, n_strong=2, n_weak=9, n_irrelevant=5, partition=groups, linear=linear, random_state=0
    )
    group = np.r_[0, 1, np.repeat([2, 3, 4], groups), 5:10]
    together = group[:, np.newaxis] == group
    correlation = np.abs(np.corrcoef(X, rowvar=False))
    assert correlation[together].min() > 0.9
    assert correlation[~together].max() < (0.2 if linear else 0.9)


def test_noise_has_the_documented_scale():
    quiet = make_relevance_classification(2000, noise=0, random_state=0).X
    noisy = make_relevance_classification(2000, noise=0.3, random_state=0).X
    assert (noisy - quiet).std() == pytest.approx(0.3 / quiet.std(), rel=0.02)


@pytest.mark.parametrize("seed", range(10))
def test_a_repeated_column_and_its_clone_are_weak(seed):
    X, _, relevance = make_relevance_classification(
        n_strong=4, n_weak=2, n_repeated=3, n_irrelevant=5, noise=0, random_state=seed
    )
    np.testing.assert_array_equal(relevance[6:], [1] * 3 + [0] * 5)
    duplicates = (np.abs(np.corrcoef(X, rowvar=False)) > 1 - 1e-12).sum(axis=0) > 1
    np.testing.assert_array_equal(relevance == 1, duplicates)
    assert np.all(relevance[:4][~duplicates[:4]] == 2)


def test_all_columns_of_a_repeated_feature_are_weak():
    X, _, relevance = make_relevance_classification(
        n_strong=1, n_weak=0, n_repeated=2, n_irrelevant=0, noise=0, random_state=0
    )
    np.testing.assert_array_equal(relevance, [1, 1, 1])
    np.testing.assert_array_equal(X, X[:, [0, 0, 0]])


@pytest.mark.parametrize("flip_y", [0.01, 0.29, 0.5, 0.75])
def test_flips_hit_distinct_rows_and_leave_X_alone(flip_y):
    clean = make_relevance_classification(100, random_state=0)
    flipped = make_relevance_classification(100, flip_y=flip_y, random_state=0)
    assert np.count_nonzero(clean.y != flipped.y) == round(100 * flip_y)
    np.testing.assert_array_equal(clean.X, flipped.X)


def test_clusters_need_more_than_a_plane():
    X, y, relevance = make_relevance_classification(
        600, n_strong=2, n_weak=0, n_irrelevant=3, noise=0, linear=False, random_state=0
    )
    assert set(y) == {-1, 1}
    np.testing.assert_array_equal(relevance, [2, 2, 0, 0, 0])
    assert not np.array_equal(y, np.sign(X[:, :2].sum(axis=1)))
    # Four clusters of 150 rows, in order, of alternating class.
    np.testing.assert_array_equal(y, np.repeat([-1, 1, -1, 1], 150))


@pytest.mark.parametrize("linear", [True, False])
def test_same_seed_same_data(linear):
    first, again, other = (
        make_relevance_classification(50, n_repeated=2, flip_y=0.1, linear=linear, random_state=seed)
        for seed in (3, np.random.RandomState(3), 4)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.X, other.X)


def test_the_global_generator_is_used_without_a_seed():
    np.random.seed(5)  # noqa: NPY002
    first = make_relevance_classification(20)
    np.testing.assert_array_equal(first.X, make_relevance_classification(20, random_state=5).X)


@settings(deadline=None, max_examples=60)
@given(
    n_samples=st.integers(40, 60),
    n_strong=st.integers(1, 5),
    groups=st.lists(st.integers(2, 4), max_size=3),
    n_repeated=st.integers(0, 3),
    n_irrelevant=st.integers(0, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_shapes_and_truth_add_up(n_samples, n_strong, groups, n_repeated, n_irrelevant, seed):
    X, y, relevance = make_relevance_classification(
        n_samples,
        n_strong=n_strong,
        n_weak=sum(groups),
        n_repeated=n_repeated,
        n_irrelevant=n_irrelevant,
        partition=groups,
        random_state=seed,
    )
    n_features = n_strong + sum(groups) + n_repeated + n_irrelevant
    assert X.shape == (n_samples, n_features)
    assert y.shape == (n_samples,)
    assert np.all(np.isfinite(X))
    n_demoted = n_strong - np.count_nonzero(relevance == 2)
    assert 0 <= n_demoted <= n_repeated
    assert np.count_nonzero(relevance == 1) == sum(groups) + n_repeated + n_demoted
    assert np.count_nonzero(relevance == 0) == n_irrelevant
    assert not np.any(relevance[n_features - n_irrelevant :])


def test_expand_reads_one_informative_column_per_group():
    plan = ColumnPlan(n_strong=1, weak_groups=(2, 3), n_repeated=0, n_irrelevant=1)
    informative = np.arange(12.0).reshape(4, 3)
    X, relevance = expand(informative, plan, np.random.RandomState(0))
    assert (plan.n_informative, plan.n_features) == (3, 7)
    np.testing.assert_array_equal(relevance, [2, 1, 1, 1, 1, 1, 0])
    shifts = X[:, :6] - informative[:, [0, 1, 1, 2, 2, 2]]
    np.testing.assert_allclose(shifts, np.broadcast_to(shifts[0], shifts.shape), atol=1e-12)
    assert shifts[0, 0] == 0
    assert np.all((shifts[0, 1:] >= 1) & (shifts[0, 1:] < 2))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 1}, ValueError, r"n_samples=1 .*>= 2"),
        ({"n_samples": 10.0}, TypeError, r"n_samples=10\.0 .*float.*integer"),
        ({"n_strong": -1}, ValueError, r"n_strong=-1 .*>= 0"),
        ({"n_strong": True}, TypeError, r"n_strong=True .*bool"),
        ({"n_weak": -2}, ValueError, r"n_weak=-2 .*>= 0"),
        ({"n_weak": 1}, ValueError, r"n_weak=1 .*>= 2"),
        ({"n_irrelevant": -3}, ValueError, r"n_irrelevant=-3 .*>= 0"),
        ({"n_repeated": -1}, ValueError, r"n_repeated=-1 .*>= 0"),
        ({"n_repeated": None}, TypeError, r"n_repeated=None .*NoneType"),
        ({"n_strong": 0, "n_weak": 0}, ValueError, r"n_strong=0 and n_weak=0 .*n_strong >= 1"),
        ({"partition": [2, 3]}, ValueError, r"partition=\[2, 3\] sums to 5, but n_weak=4"),
        ({"partition": []}, ValueError, r"partition=\[\] sums to 0, but n_weak=4"),
        ({"partition": [3, 1]}, ValueError, r"partition\[1\]=1 .*>= 2"),
        ({"partition": [4, 0]}, ValueError, r"partition\[1\]=0 .*>= 2"),
        ({"partition": [2.0, 2.0]}, TypeError, r"partition\[0\]=2\.0 .*integer"),
        ({"partition": 4}, TypeError, r"partition=4 .*not iterable"),
        ({"noise": -0.1}, ValueError, r"noise=-0\.1 .*\[0, inf\)"),
        ({"noise": np.nan}, ValueError, r"noise=nan "),
        ({"noise": np.inf}, ValueError, r"noise=inf "),
        ({"noise": "loud"}, TypeError, r"noise='loud' .*str"),
        ({"flip_y": -0.1}, ValueError, r"flip_y=-0\.1 .*\[0, 1\)"),
        ({"flip_y": 1.0}, ValueError, r"flip_y=1\.0 .*\[0, 1\)"),
        ({"linear": "no"}, TypeError, r"linear='no' .*True or False"),
        ({"linear": False, "n_strong": 1, "n_weak": 0}, ValueError, r"n_strong=1 .*raise n_strong"),
        ({"linear": False, "n_strong": 0}, ValueError, r"n_weak=4 in 1 group\(s\) .*partition"),
        ({"n_samples": 2, "random_state": 0}, ValueError, r"n_samples=2 and random_state=0 .*one class only"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_relevance_classification(**arguments)


@pytest.mark.parametrize("partition", [(2, 2), np.array([2, 2]), iter([2, 2])])
def test_partition_may_be_any_iterable(partition):
    assert make_relevance_classification(10, partition=partition, random_state=0).X.shape == (10, 30)


@pytest.mark.parametrize("name", ["sim1", "sim2", "sim3", "sim4", "sim5"])
def test_simulations_have_the_numbers_of_the_thesis(name):
    X, y, relevance = make_simulation(name, random_state=0)
    assert X.shape == (500, 30)
    assert y.shape == (500,)
    n_irrelevant, n_weak, n_strong = np.bincount(relevance, minlength=3)
    assert SIMULATIONS[name] == SimulationSpec(n_strong, n_weak, n_irrelevant)


def test_simulation_passes_its_arguments_on():
    data = make_simulation("sim1", n_samples=30, noise=0.5, random_state=1)
    np.testing.assert_array_equal(data.X, make_relevance_classification(30, noise=0.5, random_state=1).X)


@pytest.mark.parametrize("name", ["sim6", "Sim1", 1, ["sim1"]])
def test_unknown_simulation_names_the_known(name):
    with pytest.raises(ValueError, match="sim1, sim2, sim3, sim4, sim5"):
        make_simulation(name)


def test_simulations_are_read_only():
    with pytest.raises(TypeError):
        SIMULATIONS["sim6"] = SimulationSpec(1, 0, 0)

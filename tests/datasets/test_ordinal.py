from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.datasets import (
    ORDINAL_SETS,
    OrdinalSpec,
    RelevanceData,
    make_ordinal_set,
    make_relevance_ordinal,
)

# What the reference generator gives (arfs-gen 1.2.1, NumPy 1.26):
# genOrdinalRegressionData(n_samples=7, n_features=6, n_strel=2, n_redundant=2, n_repeated=1, n_target_bins=3,
#                          noise=0.5, random_state=7)
REFERENCE_COLUMNS = [
    [
        -0.28404430476690506,
        0.10705531171231131,
        -0.2980563000000409,
        0.5619132128148612,
        2.1740572458465546,
        -2.710571417863685,
        0.5853269360846671,
    ],
    [
        -2.014368822905146,
        -0.22600536058415233,
        -2.5097446425072487,
        0.2379573881117738,
        -0.23498788775371607,
        0.5781011146435975,
        -0.36573795917726476,
    ],
    [
        3.257234601114028,
        1.6900526875170168,
        2.3408711096557884,
        1.8812257998157258,
        1.4194875690663324,
        1.8624607939025233,
        0.7181629783070174,
    ],
    [
        3.5130494261059453,
        0.5119920509664464,
        3.441444774194234,
        2.2929378688440387,
        1.5205413585622387,
        0.7447092789762086,
        1.2201379944753055,
    ],
    [
        3.4371325646515567,
        2.424814753605772,
        3.0311543482563605,
        2.4912837541880744,
        2.5300455515343447,
        1.7327722284423743,
        1.241645740190794,
    ],
    [
        -1.7345869731880226,
        2.988505645175788,
        0.15968269901030102,
        -0.4663497990945165,
        -0.2887567006224819,
        0.13408451821572998,
        0.7207960585906319,
    ],
]
REFERENCE_LABELS = [2, 1, 0, 1, 2, 0, 2]


def test_equals_the_reference_generator():
    X, y, relevance = make_relevance_ordinal(
        7, n_classes=3, n_strong=2, n_weak=2, n_repeated=1, n_irrelevant=1, noise=0.5, random_state=7
    )
    np.testing.assert_allclose(X.T, REFERENCE_COLUMNS, rtol=1e-13)
    np.testing.assert_array_equal(y, REFERENCE_LABELS)
    np.testing.assert_array_equal(relevance, [2, 2, 1, 1, 1, 0])


@pytest.mark.parametrize(
    ("name", "total", "last", "moment"),
    [
        # genOrdinalRegressionData(n_samples=256, n_features=18, n_strel=6, n_redundant=6, n_target_bins=5,
        #                          noise=0.5, random_state=0)
        ("set4", 2079.6848684663555, 0.31891949350823656, 127.72618605752399),
        # genOrdinalRegressionData(n_samples=1000, n_features=230, n_strel=10, n_redundant=20, n_target_bins=5,
        #                          noise=0.5, random_state=0)
        ("set9", 30545.78725288093, 1.0471426767628422, 390.8404812389857),
    ],
)
def test_sets_equal_the_reference_generator(name, total, last, moment):
    X, y, _ = make_ordinal_set(name, noise=0.5, random_state=0)
    assert X.sum() == pytest.approx(total, rel=1e-12)
    assert X[-1, -1] == pytest.approx(last, rel=1e-12)
    assert X[:, 0] @ y == pytest.approx(moment, rel=1e-12)


def test_result_is_a_named_triple():
    data = make_relevance_ordinal(random_state=0)
    assert isinstance(data, RelevanceData)
    X, y, relevance = data
    assert (X.shape, y.shape, relevance.shape) == ((500, 30), (500,), (30,))
    assert (X.dtype, y.dtype, relevance.dtype) == (np.float64, np.int64, np.int64)
    assert X.flags.c_contiguous
    np.testing.assert_array_equal(relevance, [2] * 4 + [1] * 4 + [0] * 22)


def test_classes_follow_the_sum_of_the_informative_columns():
    X, y, _ = make_relevance_ordinal(n_strong=3, n_weak=2, n_irrelevant=2, random_state=0)
    score = X[:, :4].sum(axis=1)  # one member of the weak group suffices
    np.testing.assert_array_equal(y[np.argsort(score)], np.repeat(np.arange(5), 100))


def test_rows_are_in_random_order():
    y = make_relevance_ordinal(random_state=0).y
    assert abs(np.corrcoef(np.arange(500), y)[0, 1]) < 0.2


@pytest.mark.parametrize(
    ("n_samples", "n_classes", "sizes"),
    [(10, 2, [5, 5]), (11, 3, [3, 3, 5]), (14, 5, [2, 2, 2, 2, 6]), (5, 5, [1] * 5)],
)
def test_the_highest_class_has_the_remainder(n_samples, n_classes, sizes):
    y = make_relevance_ordinal(n_samples, n_classes=n_classes, random_state=0).y
    np.testing.assert_array_equal(np.bincount(y), sizes)


def test_noise_has_the_documented_scale_and_leaves_the_classes_alone():
    quiet = make_relevance_ordinal(2000, random_state=0)
    noisy = make_relevance_ordinal(2000, noise=0.3, random_state=0)
    np.testing.assert_array_equal(quiet.y, noisy.y)
    assert (noisy.X - quiet.X).std() == pytest.approx(0.3, rel=0.02)


def test_same_seed_same_data():
    first, again, other = (
        make_relevance_ordinal(50, n_repeated=2, noise=0.1, random_state=seed)
        for seed in (3, np.random.RandomState(3), 4)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.X, other.X)


@settings(deadline=None, max_examples=60)
@given(
    n_samples=st.integers(8, 60),
    n_classes=st.integers(2, 8),
    n_strong=st.integers(1, 5),
    groups=st.lists(st.integers(2, 4), max_size=3),
    n_repeated=st.integers(0, 3),
    n_irrelevant=st.integers(0, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_shapes_and_truth_add_up(n_samples, n_classes, n_strong, groups, n_repeated, n_irrelevant, seed):
    X, y, relevance = make_relevance_ordinal(
        n_samples,
        n_classes=n_classes,
        n_strong=n_strong,
        n_weak=sum(groups),
        n_repeated=n_repeated,
        n_irrelevant=n_irrelevant,
        partition=groups,
        random_state=seed,
    )
    assert X.shape == (n_samples, n_strong + sum(groups) + n_repeated + n_irrelevant)
    assert np.all(np.isfinite(X))
    np.testing.assert_array_equal(np.bincount(y)[:-1], [n_samples // n_classes] * (n_classes - 1))
    assert np.count_nonzero(relevance == 0) == n_irrelevant
    assert np.count_nonzero(relevance == 1) >= sum(groups) + n_repeated


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 1}, ValueError, r"n_samples=1 .*>= 2"),
        ({"n_samples": 4}, ValueError, r"n_samples=4 .*n_classes=5 .*raise n_samples"),
        ({"n_classes": 1}, ValueError, r"n_classes=1 .*>= 2"),
        ({"n_classes": 3.0}, TypeError, r"n_classes=3\.0 .*integer"),
        ({"n_weak": 1}, ValueError, r"n_weak=1 .*>= 2"),
        ({"n_strong": 0, "n_weak": 0}, ValueError, r"n_strong=0 and n_weak=0 .*n_strong >= 1"),
        ({"partition": [2, 3]}, ValueError, r"partition=\[2, 3\] sums to 5, but n_weak=4"),
        ({"noise": -0.1}, ValueError, r"noise=-0\.1 .*\[0, inf\)"),
        ({"noise": "loud"}, TypeError, r"noise='loud' .*str"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_relevance_ordinal(**arguments)


@pytest.mark.parametrize("name", ORDINAL_SETS)
def test_sets_have_the_numbers_of_the_thesis(name):
    X, y, relevance = make_ordinal_set(name, random_state=0)
    n_irrelevant, n_weak, n_strong = np.bincount(relevance, minlength=3)
    assert ORDINAL_SETS[name] == OrdinalSpec(len(y), n_strong, n_weak, n_irrelevant)
    assert X.shape == (len(y), n_strong + n_weak + n_irrelevant)
    np.testing.assert_array_equal(np.unique(y), range(5))


def test_sets_are_the_nine_of_the_table():
    assert list(ORDINAL_SETS) == [f"set{k}" for k in range(1, 10)]
    assert [sum(spec[1:]) for spec in ORDINAL_SETS.values()] == [12, 12, 10, 18, 14, 21, 41, 40, 230]
    assert [spec.n_samples for spec in ORDINAL_SETS.values()] == [150, 150, 150, 256, 512, 200, 200, 1000, 1000]


@pytest.mark.parametrize("name", ["set10", "Set 1", 1, ["set1"]])
def test_unknown_set_names_the_known(name):
    with pytest.raises(ValueError, match=r"name=.*set1, set2, .*, set9"):
        make_ordinal_set(name)


def test_sets_are_read_only():
    with pytest.raises(TypeError):
        ORDINAL_SETS["set10"] = OrdinalSpec(10, 1, 0, 0)

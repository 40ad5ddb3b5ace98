from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allrelevant.datasets import (
    PRIVILEGED_SETS,
    PrivilegedData,
    PrivilegedSpec,
    make_privileged_set,
    make_relevance_privileged,
)

PROBLEMS = ["classification", "regression", "ordinal"]

# What the reference generator gives (arfs-gen 1.2.1, NumPy 1.26), without the last column of each part, which it
# adds to those asked for:
# genLupiData(problem, n_samples=4, n_strel=1, n_weakrel=2, n_repeated=1, n_irrel=1, n_ordinal_bins=3, random_state=7)
REFERENCE_PRIVILEGED = [
    [1.690525703800356, 0.0328201636785844, -0.7889230286257386, -0.0008903858579313628],
    [1.2132926255801078, 2.0867462791174485, 1.6812955690268887, -0.07549431022448028],
    [1.3378016655635427, 2.2112553191008835, 1.8058046090103237, 0.04901472975895471],
    [1.690525703800356, 0.0328201636785844, -0.7889230286257386, -0.0008903858579313628],
    [1.611119629503022, -0.9894012940973428, 1.2110461466940412, 1.0755165457677756],
]
REFERENCE_REGULAR = {
    "classification": [
        [2.0570461070255823, -0.2569526450087001, -1.791451220740273, 0.27036096825296024],
        [1.0818598985189232, 2.401880288234374, 0.8699132979135535, -0.3397907700367921],
        [1.9066808048700095, 1.8579886431847605, 3.3488763801807933, -1.0551512634385107],
        [1.1519243665629026, -0.02036068804131822, -1.0245579288781932, -1.2115080097722861],
        [2.0264323713557335, -0.5346116011693184, 1.1201316016059422, 1.3768150764413392],
    ],
    "regression": [
        [1.9724644755120684, -0.19008199685009594, -1.5600985610215343, 0.20776450191967755],
        [1.1121905278407351, 2.3291570553612373, 1.0571553604781694, -0.27879927931087395],
        [1.7754010034915941, 1.9395117222423273, 2.9927828945260693, -0.8003437265467879],
        [1.2762169828484689, -0.008088183798263766, -0.9701806442045497, -0.9321347119458964],
        [1.9305909693897232, -0.6395630687680933, 1.1411118812416572, 1.3072846462859014],
    ],
    "ordinal": [
        [1.803301212485041, -0.05634070053288775, -1.097393241584057, 0.08257156925311222],
        [1.1728517864843586, 2.183710589614964, 1.431639485607401, -0.15681629785903775],
        [1.5128414007347633, 2.102557880357461, 2.280595923216622, -0.29072865276334237],
        [1.524802215419601, 0.016456824687845133, -0.8614260748572631, -0.37338811629311747],
        [1.7389081654577023, -0.849466003965643, 1.1830724405130877, 1.168223785975026],
    ],
}
REFERENCE_TARGET = {
    "classification": [1, 1, -1, -1],
    "regression": [0.4950980732837463, 0.38033525223759773, -0.42272392167792555, -1.5621125488721737],
    "ordinal": [2, 2, 1, 0],
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_equals_the_reference_generator(problem):
    data = make_relevance_privileged(
        problem, 4, n_classes=3, n_strong=1, n_weak=2, n_repeated=1, n_irrelevant=1, random_state=7
    )
    np.testing.assert_allclose(data.X_privileged.T, REFERENCE_PRIVILEGED, rtol=1e-13)
    # The last digit of the standard deviation, and with it of the noise, is up to NumPy's order of summation.
    np.testing.assert_allclose(data.X.T, REFERENCE_REGULAR[problem], rtol=1e-12)
    np.testing.assert_allclose(data.y, REFERENCE_TARGET[problem], rtol=1e-12)
    np.testing.assert_array_equal(data.relevance, [1, 1, 1, 1, 0])  # the clone is one of the strong column


@pytest.mark.parametrize(
    ("name", "regular", "privileged", "moment"),
    [
        # genLupiData(ProblemName.LUPI_ORDREGRESSION, n_samples=200, n_strel=6, n_weakrel=6, n_irrel=0,
        #             n_ordinal_bins=5, random_state=0)
        ("set3", 1621.8818869054583, 1626.177830019637, 49.093998070799884),
        # n_strel=1, n_weakrel=40, n_irrel=10, the first 51 columns
        ("set6", 11654.963405108403, 11686.471583008512, 135.98051933445294),
    ],
)
def test_sets_equal_the_reference_generator(name, regular, privileged, moment):
    data = make_privileged_set(name, random_state=0)
    assert data.X.sum() == pytest.approx(regular, rel=1e-12)
    assert data.X_privileged.sum() == pytest.approx(privileged, rel=1e-12)
    assert data.X[:, 0] @ data.y == pytest.approx(moment, rel=1e-11)


@pytest.mark.parametrize(
    ("problem", "dtype", "values"),
    [("classification", np.int64, [-1, 1]), ("regression", np.float64, None), ("ordinal", np.int64, range(5))],
)
def test_result_is_a_named_tuple(problem, dtype, values):
    data = make_relevance_privileged(problem, random_state=0)
    assert isinstance(data, PrivilegedData)
    X, X_privileged, y, relevance, relevance_privileged = data
    assert (X.shape, X_privileged.shape, y.shape) == ((500, 30), (500, 30), (500,))
    assert y.dtype == dtype
    if values is not None:
        np.testing.assert_array_equal(np.unique(y), values)
    np.testing.assert_array_equal(relevance, [2] * 4 + [1] * 4 + [0] * 22)
    np.testing.assert_array_equal(relevance_privileged, relevance)
    assert not np.shares_memory(relevance_privileged, relevance)


def test_the_score_is_linear_in_the_privileged_columns():
    _, clean, y, _, _ = make_relevance_privileged(
        "regression", n_strong=3, n_weak=4, n_irrelevant=2, partition=[2, 2], random_state=0
    )
    one_of_each_group = np.c_[np.ones(500), clean[:, [0, 1, 2, 3, 5, 7, 8]]]
    weights = np.linalg.lstsq(one_of_each_group, y, rcond=None)[0]
    assert np.all((weights[1:6] >= 0.5) & (weights[1:6] < 1))
    np.testing.assert_allclose(weights[6:], 0, atol=1e-12)


@pytest.mark.parametrize("n_random_privileged", [None, 2])
def test_the_problems_share_their_scores(n_random_privileged):
    classes, score, ranks = (
        make_relevance_privileged(problem, n_random_privileged=n_random_privileged, random_state=0).y
        for problem in PROBLEMS
    )
    np.testing.assert_array_equal(classes, np.sign(score))
    np.testing.assert_array_equal(ranks[np.argsort(score)], np.repeat(np.arange(5), 100))


@pytest.mark.parametrize(
    ("n_samples", "n_classes", "sizes"),
    [(5, 5, [1, 1, 1, 1, 1]), (6, 5, [1, 1, 1, 1, 2]), (11, 3, [4, 3, 4]), (201, 5, [40, 40, 40, 40, 41])],
)
def test_no_ordinal_class_is_empty(n_samples, n_classes, sizes):
    y = make_relevance_privileged("ordinal", n_samples, n_classes=n_classes, random_state=0).y
    np.testing.assert_array_equal(np.bincount(y), sizes)


@pytest.mark.parametrize(("problem", "strength"), [("classification", 0.65), ("regression", 0.5), ("ordinal", 0.2)])
def test_default_noise_has_the_scale_of_the_reference(problem, strength):
    X, clean, *_ = make_relevance_privileged(problem, 2000, random_state=0)
    assert (X - clean).std() == pytest.approx(strength / clean.std(), rel=0.02)


@pytest.mark.parametrize("noise", [0, 0.3, 1.0])
def test_noise_is_a_standard_deviation(noise):
    X, clean, *_ = make_relevance_privileged("ordinal", 2000, noise=noise, random_state=0)
    assert (X - clean).std() == pytest.approx(noise, rel=0.02)
    np.testing.assert_array_equal(clean, make_relevance_privileged("ordinal", 2000, random_state=0).X_privileged)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_random_privileged_features_are_noise_beside_clean_regular_ones(problem):
    paired = make_relevance_privileged(problem, 2000, n_irrelevant=3, random_state=0)
    data = make_relevance_privileged(problem, 2000, n_irrelevant=3, n_random_privileged=4, random_state=0)
    np.testing.assert_array_equal(data.X, paired.X_privileged)
    np.testing.assert_array_equal(data.y, paired.y)
    np.testing.assert_array_equal(data.relevance, paired.relevance)
    np.testing.assert_array_equal(data.relevance_privileged, [0] * 4)
    everything = np.c_[data.X_privileged, data.X, data.y]
    assert np.abs(np.corrcoef(everything, rowvar=False)[:4, 4:]).max() < 0.1


def test_noise_also_applies_beside_random_privileged_features():
    quiet, noisy = (
        make_relevance_privileged(n_samples=2000, n_random_privileged=2, noise=noise, random_state=0)
        for noise in (None, 0.4)
    )
    assert (noisy.X - quiet.X).std() == pytest.approx(0.4, rel=0.02)
    np.testing.assert_array_equal(noisy.X_privileged, quiet.X_privileged)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_same_seed_same_data(problem):
    first, again, other = (
        make_relevance_privileged(problem, 50, n_repeated=2, random_state=seed)
        for seed in (3, np.random.RandomState(3), 4)
    )
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.X, other.X)


@settings(deadline=None, max_examples=60)
@given(
    problem=st.sampled_from(PROBLEMS),
    n_samples=st.integers(40, 60),
    n_strong=st.integers(1, 5),
    groups=st.lists(st.integers(2, 4), max_size=3),
    n_repeated=st.integers(0, 3),
    n_irrelevant=st.integers(0, 5),
    n_random_privileged=st.none() | st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_shapes_and_truth_add_up(
    problem, n_samples, n_strong, groups, n_repeated, n_irrelevant, n_random_privileged, seed
):
    data = make_relevance_privileged(
        problem,
        n_samples,
        n_strong=n_strong,
        n_weak=sum(groups),
        n_repeated=n_repeated,
        n_irrelevant=n_irrelevant,
        partition=groups,
        n_random_privileged=n_random_privileged,
        random_state=seed,
    )
    n_features = n_strong + sum(groups) + n_repeated + n_irrelevant
    n_privileged = n_random_privileged or n_features
    assert data.X.shape == (n_samples, n_features)
    assert data.X_privileged.shape == (n_samples, n_privileged)
    assert data.y.shape == (n_samples,)
    assert data.relevance.shape == (n_features,)
    assert data.relevance_privileged.shape == (n_privileged,)
    assert np.all(np.isfinite(data.X))
    assert np.count_nonzero(data.relevance == 0) == n_irrelevant
    assert np.count_nonzero(data.relevance_privileged == 0) == (n_random_privileged or n_irrelevant)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"problem": "ranking"}, ValueError, r"problem='ranking' .*classification, regression, ordinal"),
        ({"problem": None}, ValueError, r"problem=None "),
        ({"n_samples": 1}, ValueError, r"n_samples=1 .*>= 2"),
        ({"problem": "ordinal", "n_samples": 4}, ValueError, r"n_samples=4 .*n_classes=5 .*raise n_samples"),
        ({"problem": "ordinal", "n_classes": 1}, ValueError, r"n_classes=1 .*>= 2"),
        ({"n_weak": 1}, ValueError, r"n_weak=1 .*>= 2"),
        ({"n_strong": 0, "n_weak": 0}, ValueError, r"n_strong=0 and n_weak=0 .*n_strong >= 1"),
        ({"partition": [2, 3]}, ValueError, r"partition=\[2, 3\] sums to 5, but n_weak=4"),
        ({"noise": -0.1}, ValueError, r"noise=-0\.1 .*\[0, inf\)"),
        ({"noise": "loud"}, TypeError, r"noise='loud' .*str"),
        ({"n_random_privileged": 0}, ValueError, r"n_random_privileged=0 .*>= 1"),
        ({"n_random_privileged": 1.5}, TypeError, r"n_random_privileged=1\.5 .*integer"),
        ({"n_samples": 2, "random_state": 0}, ValueError, r"n_samples=2 and random_state=0 .*one class only"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_relevance_privileged(**arguments)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", PRIVILEGED_SETS)
def test_sets_have_the_numbers_of_the_thesis(name, problem):
    data = make_privileged_set(name, problem, random_state=0)
    n_irrelevant, n_weak, n_strong = np.bincount(data.relevance, minlength=3)
    n_random = len(data.relevance_privileged) if name in ("set7", "set8") else None
    assert PRIVILEGED_SETS[name] == PrivilegedSpec(len(data.y), n_strong, n_weak, n_irrelevant, n_random)
    assert data.X.shape == (200, len(data.relevance))
    assert data.X_privileged.shape == (200, len(data.relevance_privileged))
    if n_random is None:
        np.testing.assert_array_equal(data.relevance, data.relevance_privileged)


def test_sets_are_the_eight_of_the_table():
    assert list(PRIVILEGED_SETS) == [f"set{k}" for k in range(1, 9)]
    assert [sum(spec[1:4]) for spec in PRIVILEGED_SETS.values()] == [9, 15, 12, 9, 5, 51, 8, 6]


def test_set_passes_its_arguments_on():
    data = make_privileged_set("set5", "regression", noise=1.0, random_state=1)
    same = make_relevance_privileged("regression", 200, n_strong=1, n_weak=4, n_irrelevant=0, noise=1.0, random_state=1)
    for a, b in zip(data, same, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["set9", "Set 1", 1, ["set1"]])
def test_unknown_set_names_the_known(name):
    with pytest.raises(ValueError, match=r"name=.*set1, set2, .*, set8"):
        make_privileged_set(name)


def test_sets_are_read_only():
    with pytest.raises(TypeError):
        PRIVILEGED_SETS["set9"] = PrivilegedSpec(10, 1, 0, 0, None)

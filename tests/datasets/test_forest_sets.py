from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from allrelevant.datasets import (
    LINEAR_SETS,
    NONLINEAR_SETS,
    LinearSpec,
    RelevanceData,
    SimulationSpec,
    make_linear_set,
    make_nonlinear_set,
    make_relevance_classification,
)


@pytest.mark.parametrize("name", LINEAR_SETS)
def test_linear_sets_have_the_numbers_of_the_thesis(name):
    data = make_linear_set(name, random_state=0)
    assert isinstance(data, RelevanceData)
    n_irrelevant, n_weak, n_strong = np.bincount(data.relevance, minlength=3)
    assert LINEAR_SETS[name] == LinearSpec(len(data.y), n_strong, n_weak, n_irrelevant)
    assert data.X.shape == (len(data.y), len(data.relevance))
    assert set(data.y) == {-1, 1}


@pytest.mark.parametrize("name", NONLINEAR_SETS)
def test_nonlinear_sets_have_the_numbers_of_the_thesis(name):
    data = make_nonlinear_set(name, random_state=0)
    assert isinstance(data, RelevanceData)
    n_irrelevant, n_weak, n_strong = np.bincount(data.relevance, minlength=3)
    assert NONLINEAR_SETS[name] == SimulationSpec(n_strong, n_weak, n_irrelevant)
    assert data.X.shape == (1000, len(data.relevance))
    np.testing.assert_array_equal(np.unique(data.y, return_counts=True), [[-1, 1], [500, 500]])


def test_sets_are_those_of_the_tables():
    assert list(LINEAR_SETS) == [f"set{k}" for k in range(1, 9)]
    assert [sum(spec[1:]) for spec in LINEAR_SETS.values()] == [12, 12, 10, 18, 14, 21, 41, 70]
    assert list(NONLINEAR_SETS) == ["nl1", "nl2", "nl3", "nl4"]
    assert [sum(spec) for spec in NONLINEAR_SETS.values()] == [20, 20, 50, 80]  # n_features of Table 5.5


def test_sets_pass_their_arguments_on():
    pairs = [
        (
            make_linear_set("set4", noise=0.3, random_state=1),
            make_relevance_classification(256, n_strong=6, n_weak=6, n_irrelevant=6, noise=0.3, random_state=1),
        ),
        (
            make_nonlinear_set("nl2", n_samples=60, noise=0.3, random_state=1),
            make_relevance_classification(
                60, n_strong=4, n_weak=10, n_irrelevant=6, noise=0.3, linear=False, random_state=1
            ),
        ),
    ]
    for data, same in pairs:
        for a, b in zip(data, same, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_plane_separates_the_linear_sets_only():
    X, y, _ = make_linear_set("set1", random_state=0)
    assert LogisticRegression(C=1e6, max_iter=5000).fit(X, y).score(X, y) == 1
    X, y, _ = make_nonlinear_set("nl1", random_state=0)
    X = StandardScaler().fit_transform(X)
    assert LogisticRegression().fit(X, y).score(X, y) < 0.85
    assert DecisionTreeClassifier(random_state=0).fit(X, y).score(X, y) == 1


@pytest.mark.parametrize(("make", "name"), [(make_linear_set, "set3"), (make_nonlinear_set, "nl2")])
def test_same_seed_same_data(make, name):
    first, again, other = (make(name, random_state=seed) for seed in (3, np.random.RandomState(3), 4))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("name", ["set9", "Set 1", "nl1", 1, ["set1"]])
def test_unknown_linear_set_names_the_known(name):
    with pytest.raises(ValueError, match=r"name=.*set1, set2, .*, set8"):
        make_linear_set(name)


@pytest.mark.parametrize("name", ["nl5", "NL 1", "set1", None])
def test_unknown_nonlinear_set_names_the_known(name):
    with pytest.raises(ValueError, match=r"name=.*nl1, nl2, nl3, nl4"):
        make_nonlinear_set(name)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 1}, ValueError, r"n_samples=1 .*>= 2"),
        ({"n_samples": 1e3}, TypeError, r"n_samples=1000\.0 .*integer"),
        ({"noise": -1}, ValueError, r"noise=-1 .*\[0, inf\)"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_nonlinear_set("nl1", **arguments)


def test_sets_are_read_only():
    with pytest.raises(TypeError):
        LINEAR_SETS["set9"] = LinearSpec(10, 1, 0, 0)
    with pytest.raises(TypeError):
        NONLINEAR_SETS["nl5"] = SimulationSpec(1, 0, 0)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from allrelevant.cli._prepare import Wishes, prepare
from allrelevant.cli._problems import Problem
from allrelevant.cli._read import Table

N = 40


def prepared(columns, target="y", **wishes):
    rng = np.random.RandomState(1)
    frame = pd.DataFrame({"x": rng.normal(size=N), **columns})
    if "y" not in frame:
        frame["y"] = np.tile([0, 1], N // 2)
    notices = []
    out = prepare(Table(frame, Path("data.csv"), "00"), Wishes(target, **wishes), notices)
    return out, " ".join(notices)


def test_identifiers_are_left_out_unless_kept():
    columns = {
        "name": [f"person {k}" for k in range(N)],
        "patient_id": np.random.RandomState(0).permutation(N) * 7,
        "Unnamed: 0": np.arange(N) + 5,
        "score": np.random.RandomState(0).permutation(N),
    }
    found, notices = prepared(columns)
    assert list(found.X.columns) == ["x", "score"]
    assert "--keep name,patient_id,Unnamed: 0" in notices
    found, _ = prepared(columns, keep=["patient_id"])
    assert list(found.X.columns) == ["x", "patient_id", "score"]


def test_constants_dates_and_empty_columns_are_left_out():
    columns = {
        "same": 1,
        "empty": np.nan,
        "day": pd.date_range("2020-01-01", periods=N),
        "written": ["2020-01-02", "2021-03-04"] * (N // 2),
        "german": ["02.01.2020", "04.03.2021"] * (N // 2),
    }
    found, notices = prepared(columns)
    assert list(found.X.columns) == ["x"]
    assert "same is the same in all rows" in notices
    assert "day, written and german hold dates" in notices
    assert "empty has no values" in notices
    with pytest.raises(Problem, match="turn it into one first"):
        prepared(columns, keep=["day"])


def test_copies_are_kept_and_said():
    values = np.random.RandomState(0).normal(size=N)
    found, notices = prepared({"a": values, "b": values})
    assert list(found.X.columns) == ["x", "a", "b"]
    assert "b says the same as a" in notices


def test_a_feature_that_is_the_target_is_said():
    _, notices = prepared({"leak": np.tile([7, 9], N // 2)})
    assert "leak says exactly what the target y says" in notices


def test_categories_are_one_feature_each():
    columns = {
        "sex": ["f", "m"] * (N // 2),
        "race": ["a", "b", "c", "d"] * (N // 4),
        "smokes": [True, False, False, True] * (N // 4),
        "code": [1, 2, 3, 4] * (N // 4),
    }
    found, notices = prepared(columns, categories=["code"])
    assert found.groups == {
        "sex": ["sex=m"],
        "race": ["race=a", "race=b", "race=c", "race=d"],
        "code": ["code=1", "code=2", "code=3", "code=4"],
    }
    assert found.features == ["sex", "race", "code", "x", "smokes"]
    assert set(found.X.dtypes) == {np.dtype(float)}
    assert "3 categories were encoded" in notices


def test_too_many_levels():
    texts = [f"level {k % 30}" for k in range(N)]
    found, notices = prepared({"text": texts})
    assert list(found.X.columns) == ["x"]
    assert "text (30) has too many different texts" in notices
    found, _ = prepared({"text": texts}, keep=["text"])
    assert len(found.groups["text"]) == 30


def test_texts_among_numbers_are_refused():
    values = [str(k / 2) for k in range(N)]
    values[3] = "<0.5"
    with pytest.raises(Problem, match=r"'<0.5'.*--drop lab"):
        prepared({"lab": values})


def test_missing_values_are_named_with_the_remedy():
    number, text = np.arange(N) * 1.5, np.array(["a", "b", "b", "c"] * (N // 4), dtype=object)
    number[:3], text[5] = np.nan, None
    columns = {"number": number, "text": text}
    with pytest.raises(Problem, match=r"number \(3\) and text \(1\).*--impute median"):
        prepared(columns)
    for how in ("mean", "median"):
        found, notices = prepared(columns, impute=how)
        assert found.X["number"][0] == getattr(np, f"nan{how}")(number)
        assert found.X["text=b"][5] == 1.0
        assert "4 missing values were filled" in notices
        assert "number (3)" in found.facts["imputed"]


def test_infinite_values_are_refused():
    with pytest.raises(Problem, match="infinite values in a"):
        prepared({"a": np.r_[np.inf, np.arange(N - 1.0)]})


def test_rows_without_a_target_are_left_out():
    y = np.tile([0.0, 1.0], N // 2)
    y[:4] = np.nan
    found, notices = prepared({"y": y})
    assert len(found.X) == len(found.target.values) == N - 4
    assert "4 rows without a value of y were left out" in notices


@pytest.mark.parametrize(
    ("values", "problem", "said"),
    [
        ([0, 1], "classification", "0 (20) and 1 (20)"),
        ([0.0, 1.0], "classification", "0 (20) and 1 (20)"),
        (["yes", "no"], "classification", "no (20) and yes (20)"),
        ([True, False], "classification", "False (20) and True (20)"),
        ([0.5, 1.5], "classification", "0.5 (20) and 1.5 (20)"),
        ([1, 2, 3, 4], "classification", "--problem ordinal"),
        (list(range(20)), "regression", "0 to 19"),
        ([0.5, 1.25, 3.5, 4.5], "regression", "0.5 to 4.5"),
    ],
)
def test_the_problem_is_found_and_said(values, problem, said):
    found, notices = prepared({"y": values * (N // len(values))})
    assert found.target.problem == problem
    assert said in notices
    assert "--problem" in notices


def test_ordered_classes():
    texts = ["low", "high", "medium", "low"] * (N // 4)
    found, notices = prepared({"y": texts}, order=["low", "medium", "high"])
    assert found.target.problem == "ordinal"
    assert found.target.values.codes[:4].tolist() == [0, 2, 1, 0]
    assert "low < medium < high" in notices
    found, _ = prepared({"y": [3.0, 1.0, 2.0, 1.0] * (N // 4)}, order=["3", "2", "1"])
    assert found.target.values.codes[:4].tolist() == [0, 2, 1, 2]
    found, _ = prepared({"y": [3, 1, 2, 1] * (N // 4)}, problem="ordinal")
    assert found.target.values[:4].tolist() == [3, 1, 2, 1]


TEXTS, FRACTIONS = ["low", "high"] * (N // 2), np.arange(N) / 7


@pytest.mark.parametrize(
    ("y", "wishes", "sentence"),
    [
        ([1] * N, {}, "1 in all rows"),
        ([np.nan] * N, {}, "no values at all"),
        (pd.date_range("2020", periods=N), {}, "dates"),
        (TEXTS, {"problem": "regression"}, "cannot be a regression"),
        (TEXTS, {"problem": "ordinal"}, "--order high,low"),
        (TEXTS, {"order": ["low"]}, "does not name 'high'"),
        (TEXTS, {"order": ["low", "high", "low"]}, "twice"),
        (TEXTS, {"order": ["low", "high"], "problem": "regression"}, "leave one of the two out"),
        (FRACTIONS, {"problem": "ordinal"}, "--problem regression"),
        (FRACTIONS, {"problem": "classification"}, "too many for classes"),
        ([f"t{k}" for k in range(N)], {}, "too many for classes"),
        (["a", "b", *["c"] * (N - 2)], {}, "Only one row has y a or b|Only one row has y b or a"),
        (np.r_[np.inf, np.arange(N - 1)], {}, "infinite"),
    ],
)
def test_targets_that_cannot_be_used(y, wishes, sentence):
    with pytest.raises(Problem, match=sentence):
        prepared({"y": y}, **wishes)


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"target": "Y"}, "did you mean 'y'"),
        ({"target": "outcome"}, "there are 'x'"),
        ({"drop": ["z"]}, "--drop: there is no column 'z'"),
        ({"drop": ["y"]}, "--target and to --drop"),
        ({"drop": ["x"], "keep": ["x"]}, "--drop and to --keep"),
        ({"drop": ["x"]}, "No feature is left"),
        ({"privileged": ["x"]}, "names all features"),
        ({"sample_weight": "t"}, "number of at least 0"),
    ],
)
def test_columns_that_cannot_be_meant(wishes, sentence):
    columns = {"t": ["a", "b"] * (N // 2)} if wishes.get("sample_weight") else {}
    with pytest.raises(Problem, match=sentence):
        prepared(columns, **wishes)


def test_a_table_without_a_header():
    frame = pd.DataFrame({"1.5": [1.0, 2.0], "7": [3, 4], "8": [5, 6]})
    with pytest.raises(Problem, match="no header row"):
        prepare(Table(frame, Path("data.csv"), "00"), Wishes("y"), [])


def test_privileged_columns_and_weights_are_set_apart():
    columns = {"p": np.arange(N) ** 2.0, "q": ["a", "b", "c", "a"] * (N // 4), "w": np.arange(N) % 3}
    found, _ = prepared(columns, privileged=["p", "q"], sample_weight="w")
    assert list(found.X.columns) == ["x"]
    assert list(found.privileged.columns) == ["p", "q=a", "q=b", "q=c"]
    assert found.groups == {}
    assert found.weight.tolist() == columns["w"].tolist()


def test_groups_and_strata_are_set_apart():
    columns = {
        "who": np.repeat([f"p{k}" for k in range(10)], 4),
        "site": np.repeat([1.5, 2.5], N // 2),
        "z": np.arange(N) ** 2,
    }
    found, notices = prepared(columns, groups="who", strata="site")
    assert list(found.X.columns) == ["x", "z"]
    assert found.belonging["groups"].tolist() == columns["who"].tolist()
    assert found.belonging["strata"].tolist() == columns["site"].tolist()
    assert "The rows are of 10 groups by who, with 4 rows each." in notices
    assert "The rows are of 2 strata by site, with 20 rows each." in notices
    assert found.facts["groups of rows"] == "who (10)"
    assert found.facts["strata"] == "site (2)"
    assert found.features == ["x", "z"]
    found, notices = prepared({"who": pd.Categorical(["a", "b", "c", "d"] * 10, categories=[*"abcde"])}, groups="who")
    assert "4 groups by who, with 10 rows each" in notices
    assert prepared({}, target="y")[0].belonging == {}


def test_rows_without_a_target_leave_their_groups():
    y = np.tile([0.0, 1.0], N // 2)
    y[:4] = np.nan
    found, notices = prepared({"who": np.repeat(np.arange(10), 4), "y": y}, groups="who")
    assert len(found.X) == len(found.belonging["groups"]) == N - 4
    assert "9 groups by who" in notices


@pytest.mark.parametrize("option", ["groups", "strata"])
@pytest.mark.parametrize(
    ("values", "more", "sentence"),
    [
        (np.where(np.arange(N) < 3, np.nan, np.arange(N) % 5), {}, "'c' has no value in 3 rows; give every row"),
        (np.arange(N) % 5, {"drop": ["c"]}, "'c' is given to --{0} and to --drop"),
        (np.arange(N) % 5, {"target": "c"}, "'c' is given to --{0} and to --target"),
        (np.arange(N) % 5, {"keep": ["c"]}, "'c' is given to --{0} and to --keep"),
        (np.arange(N) % 5, {"sample_weight": "c"}, "'c' is given to --{0} and to --sample-weight"),
    ],
)
def test_columns_of_groups_and_strata_that_cannot_be_used(option, values, more, sentence):
    with pytest.raises(Problem, match=sentence.format(option)):
        prepared({"c": values}, **{option: "c"}, **more)


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"groups": "whom"}, "--groups: there is no column 'whom' in data.csv; did you mean 'who'"),
        ({"strata": "where"}, "--strata: there is no column 'where'"),
        ({"groups": "two"}, "--groups: 'two' has too few different values, 2; at least 3 are needed"),
        ({"strata": "each"}, "--strata: 'each' differs in all rows"),
        ({"groups": "who", "strata": "two"}, "--strata: 'two' differs between the rows of one group, who 0"),
        ({"groups": "who", "strata": "who"}, "'who' is given to --groups and to --strata"),
    ],
)
def test_groups_and_strata_that_cannot_be_meant(wishes, sentence):
    columns = {"who": np.repeat(np.arange(10), 4), "two": np.arange(N) % 2, "each": np.arange(N) * 1.5}
    with pytest.raises(Problem, match=sentence):
        prepared(columns, **wishes)


def test_forests_get_gaps_and_categories_as_they_are():
    number, text = np.arange(N) * 1.5, np.array(["a", "b", "b", "c"] * (N // 4), dtype=object)
    number[:3], text[5] = np.nan, None
    columns = {
        "number": number,
        "text": text,
        "sex": ["f", "m"] * (N // 2),
        "code": [1, 2, 3, 4] * (N // 4),
        "smokes": [True, False, False, True] * (N // 4),
        "whole": pd.array([1, None] * (N // 2), dtype="Int64"),
        "agrees": pd.array([True, False, None, False] * (N // 4), dtype="boolean"),
    }
    columns["whole"][2] = 7  # so that it is not the same in all rows
    found, notices = prepared(columns, method="forest", categories=["code"])
    assert found.method == "forest"
    assert found.groups == {}
    assert found.features == ["x", *columns]
    assert [str(one) for one in found.X.dtypes] == [
        *("float64", "float64", "category", "category", "category", "float64", "float64", "float64")
    ]
    assert found.X.isna().sum().to_dict() == {
        **dict.fromkeys(found.features, 0), "number": 3, "text": 1, "whole": N // 2, "agrees": N // 4
    }  # fmt: skip
    assert "missing values were kept, as forests take them: number (3), text (1)" in notices
    assert "3 columns were taken as categories (levels): text (3), sex (2) and code (4)" in notices
    assert found.facts["imputed"] == "nothing"
    found, notices = prepared(columns, method="forest", impute="mean")
    assert not found.X.isna().any(axis=None)
    assert "filled with the mean or the most frequent value" in notices


def test_forests_take_ordered_classes_as_ranks():
    texts = ["low", "high", "medium", "low"] * (N // 4)
    found, notices = prepared({"y": texts}, method="forest", order=["low", "medium", "high"])
    assert found.target.problem == "regression"
    assert found.target.values[:4].tolist() == [0.0, 2.0, 1.0, 0.0]
    assert "low < medium < high" in notices
    assert "the ranks 0 to 2 are predicted: regression" in notices
    found, _ = prepared({"y": [3, 1, 7, 1] * (N // 4)}, method="forest", problem="ordinal")
    assert found.target.values[:4].tolist() == [1.0, 0.0, 2.0, 0.0]


def test_forests_take_no_privileged_features():
    with pytest.raises(Problem, match=r"--privileged is for --method linear.*--drop p"):
        prepared({"p": np.arange(N) ** 2.0}, method="forest", privileged=["p"])

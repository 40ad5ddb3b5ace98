from __future__ import annotations

import numpy as np
import pytest

from allrelevant.plotting._rows import arrange, shorten
from allrelevant.result import RelevanceClass
from handmade import make_result


def rows_of(result, *, max_features=None, sort=True, name_length=32):
    return arrange(result, max_features=max_features, sort=sort, name_length=name_length)


def test_ranking_is_by_class_then_by_maximum():
    result = make_result(3, 5, 7)
    order = result.ranking()
    keys = [(-result.classes[k], -result.intervals[k, 1]) for k in order]
    assert keys == sorted(keys)
    assert sorted(order) == list(range(15))


def test_every_feature_has_a_row_without_a_limit():
    result = make_result(3, 5, 7)
    rows = rows_of(result)
    assert sorted(row.label for row in rows) == sorted(result.feature_names)
    assert [row.label for row in rows if row.relevance == 2] == result.names(RelevanceClass.STRONG)


def test_a_row_holds_the_numbers_of_its_feature():
    result = make_result(1, 1, 1)
    for row in rows_of(result):
        k = result.feature_names.index(row.label)
        assert (row.low, row.high) == tuple(result.intervals[k])
        assert row.baseline == abs(result.baseline[k])
        assert row.relevance == result.classes[k]


def test_unsorted_rows_keep_the_order_of_columns():
    result = make_result(3, 5, 7)
    assert [row.label for row in rows_of(result, sort=False)] == list(result.feature_names)


def test_what_does_not_fit_shares_a_row_per_class():
    result = make_result(2, 10, 188)
    rows = rows_of(result, max_features=5)
    assert [row.n_features for row in rows] == [1, 1, 1, 1, 1, 7, 188]
    weak, irrelevant = rows[-2:]
    assert weak.label.startswith("… 7 more weak, up to 0.")
    assert irrelevant.label.startswith("… 188 irrelevant, up to 0.")
    assert irrelevant.high == result.intervals[result.classes == 0, 1].max()
    assert irrelevant.baseline is None


@pytest.mark.parametrize("sort", [True, False])
def test_no_feature_is_lost(sort):
    result = make_result(4, 9, 30)
    for limit in range(1, 45):
        assert sum(row.n_features for row in rows_of(result, max_features=limit, sort=sort)) == 43


def test_a_single_left_over_feature_keeps_its_name():
    rows = rows_of(make_result(2, 2, 1), max_features=3)
    assert [row.n_features for row in rows] == [1] * 5


def test_sorted_classes_are_sections():
    classes = [row.relevance for row in rows_of(make_result(5, 5, 50), max_features=3)]
    assert classes == sorted(classes, reverse=True)


@pytest.mark.parametrize(
    ("name", "length", "expected"),
    [
        ("short", 5, "short"),
        ("abcdefghij", 5, "ab…ij"),
        ("abcdefghij", 1, "…"),
        ("two\nlines\tand a tab", 32, "two lines and a tab"),
        ("bell\x07", 32, "bell"),
        ("", 32, ""),
    ],
)
def test_shorten(name, length, expected):
    assert shorten(name, length) == expected


@pytest.mark.parametrize("length", range(1, 30))
def test_shortened_names_fit(length):
    assert len(shorten("a name of twenty-nine letters", length)) <= length


@pytest.mark.parametrize("name", ["max_features", "name_length"])
def test_limits_are_checked(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        rows_of(make_result(), **{name: 0})
    with pytest.raises(TypeError, match=f"{name} must be an integer, got 2.5"):
        rows_of(make_result(), **{name: 2.5})
    assert rows_of(make_result(), **{name: np.int64(2)})

"""Several columns as one feature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from allrelevant import (
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
    RelevanceWarning,
)


def categories(seed=0, n=250):
    """A number, a category that matters and one that does not, one-hot; and noise."""
    rng = np.random.RandomState(seed)
    what, noise = rng.randint(4, size=n), rng.randint(3, size=n)
    frame = pd.DataFrame({"number": rng.normal(size=n)})
    for name, values in (("what", what), ("noise", noise)):
        for level in range(values.max() + 1):
            frame[f"{name}={level}"] = (values == level).astype(float)
    frame["other"] = rng.normal(size=n)
    signal = frame["number"].to_numpy() + np.array([-1.5, 0.0, 0.5, 2.0])[what] + 0.3 * rng.normal(size=n)
    groups = {name: [c for c in frame if c.startswith(f"{name}=")] for name in ("what", "noise")}
    return frame, signal, groups


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (LinearRelevanceClassifier, lambda s: s > 0),
        (LinearRelevanceClassifier, lambda s: np.digitize(s, [-1, 1])),
        (LinearRelevanceRegressor, lambda s: s),
        (LinearRelevanceOrdinal, lambda s: np.digitize(s, [-1, 0, 1])),
    ],
    ids=["two classes", "three classes", "regression", "ordinal"],
)
def test_truth(kind, target):
    X, signal, groups = categories()
    model = kind(random_state=0, feature_groups=groups).fit(X, target(signal))
    result = model.result_
    assert result.feature_names == ("number", "what", "noise", "other")
    np.testing.assert_array_equal(result.classes, [2, 2, 0, 0])
    np.testing.assert_array_equal(model.relevance_classes_, [2, 2, 2, 2, 2, 0, 0, 0, 0])
    np.testing.assert_array_equal(model.intervals_[1:5], np.tile(result.intervals[1], (4, 1)))
    assert model.transform(X).shape[1] == 5
    assert (result.intervals[:, 0] <= np.abs(result.baseline) + 1e-6).all()
    assert (result.intervals[:, 1] >= np.abs(result.baseline) - 1e-6).all()
    assert result.max_gap <= 1e-6


def test_positions_names_and_lists_are_the_same():
    X, signal, groups = categories()
    y = signal > 0
    positions = {name: [X.columns.get_loc(c) for c in columns] for name, columns in groups.items()}
    options = {"C": 1.0, "random_state": 0}
    one = LinearRelevanceClassifier(**options, feature_groups=groups).fit(X, y)
    two = LinearRelevanceClassifier(**options, feature_groups=positions).fit(X, y)
    three = LinearRelevanceClassifier(**options, feature_groups=list(positions.values())).fit(X.to_numpy(), y)
    for other in (two, three):
        np.testing.assert_array_equal(one.intervals_, other.intervals_)
    assert three.result_.feature_names == ("x0", "group0", "group1", "x8")


def test_order_of_columns_does_not_matter():
    X, signal, groups = categories()
    y = signal > 0
    one = LinearRelevanceClassifier(random_state=0, feature_groups=groups).fit(X, y)
    order = np.random.RandomState(1).permutation(X.shape[1])
    two = LinearRelevanceClassifier(random_state=0, feature_groups=groups).fit(X.iloc[:, order], y)
    np.testing.assert_array_equal(one.intervals_[order], two.intervals_)
    np.testing.assert_array_equal(one.pvalues_[order], two.pvalues_)


def test_a_group_of_one_is_a_column():
    X, signal, _ = categories()
    y = signal > 0
    plain = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    named = LinearRelevanceClassifier(C=1.0, random_state=0, feature_groups={"n": ["number"]}).fit(X, y)
    np.testing.assert_array_equal(plain.intervals_, named.intervals_)
    assert named.result_.feature_names[0] == "n"


def test_a_group_bounds_its_members():
    X, signal, groups = categories()
    y = signal > 0
    single = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y).intervals_
    together = LinearRelevanceClassifier(C=1.0, random_state=0, feature_groups=groups).fit(X, y).intervals_
    assert together[1, 0] >= single[1:5, 0].max() - 1e-6
    assert single[1:5, 1].max() - 1e-6 <= together[1, 1] <= single[1:5, 1].sum() + 1e-6


def test_everything_in_groups():
    X, signal, groups = categories()
    groups = {**groups, "numbers": ["number", "other"]}
    model = LinearRelevanceClassifier(C=1.0, random_state=0, feature_groups=groups).fit(X, signal > 0)
    np.testing.assert_array_equal(model.result_.classes, [2, 2, 0])


def test_large_groups_are_noted():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(100, 10))
    y = X[:, 0] + X[:, 1] > 0
    model = LinearRelevanceClassifier(C=1.0, random_state=0, feature_groups={"rest": range(2, 10)}).fit(X, y)
    assert any("rest" in note and "not proven" in note for note in model.result_.notes)
    np.testing.assert_array_equal(model.relevance_classes_, [2, 2] + [0] * 8)


def test_the_papers_rule_knows_no_groups():
    X, signal, groups = categories()
    model = LinearRelevanceClassifier(C=1.0, random_state=0, feature_groups=groups, threshold_rule="papers")
    with pytest.warns(RelevanceWarning, match="compares single columns that vary, and some features are none"):
        model.fit(X, signal > 0)
    assert model.thresholds_.rule == "copies"
    np.testing.assert_array_equal(model.result_.classes, [2, 2, 0, 0])


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"a": [0, 1], "b": [1, 2]}, ValueError, "column 'what=0' is in 'a' and in 'b'; groups must not overlap"),
        ({"a": [0, 0]}, ValueError, "column 'number' is in group 'a' twice"),
        ([[0, 1], [1]], ValueError, "column 'what=0' is in 'group0' and in 'group1'"),
        ({"a": []}, ValueError, "group 'a' is empty"),
        ({"a": [0, 9]}, ValueError, "column 9 of group 'a' is out of range; the columns of X are 0 to 8"),
        ({"a": [-1]}, ValueError, "column -1 of group 'a' is out of range"),
        ({"a": ["nothing"]}, ValueError, "column 'nothing' of group 'a' is none of the features of X"),
        ({"a": [0.5]}, TypeError, "column 0.5 of group 'a' is neither a position nor a name"),
        ({"a": [True]}, TypeError, "column True of group 'a' is neither a position nor a name"),
        ({"a": "number"}, TypeError, "group 'a' is 'number'; give a list of columns"),
        ({"a": 3}, TypeError, "group 'a' is 3; give a list of columns"),
        ("what", TypeError, "feature_groups is 'what'; give a dictionary"),
        (3, TypeError, "feature_groups is 3; give a dictionary"),
    ],
)
def test_bad_groups(groups, error, message):
    X, signal, _ = categories()
    with pytest.raises(error, match=message):
        LinearRelevanceClassifier(C=1.0, feature_groups=groups).fit(X, signal > 0)

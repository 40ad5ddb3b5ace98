"""Rows that belong together: groups and strata."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allrelevant import (
    ForestRelevanceClassifier,
    ForestRelevanceRegressor,
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
    RelevanceWarning,
)
from allrelevant.estimators import _exploring
from allrelevant.estimators._canonical import canonical_form
from allrelevant.estimators._folds import search_folds
from allrelevant.estimators._input import check_rows
from allrelevant.inference.bootstrap import bootstrap

RNG = np.random.default_rng(0)
SUBJECTS, EACH = 12, 5
N = SUBJECTS * EACH
GROUPS = np.repeat(np.arange(SUBJECTS), EACH)
SITES = GROUPS % 3
X = RNG.normal(size=(N, 4)) + RNG.normal(size=(SUBJECTS, 4))[GROUPS]
Y = (X[:, 0] + 0.5 * RNG.normal(size=N) > 0).astype(int)
FEW_TREES = {"n_estimators": 45}
ESTIMATORS = [
    (LinearRelevanceClassifier(random_state=0), Y),
    (LinearRelevanceClassifier(random_state=0), Y + (X[:, 1] > 0)),
    (LinearRelevanceRegressor(random_state=0), X[:, 0]),
    (LinearRelevanceOrdinal(random_state=0), Y + (X[:, 0] > 1)),
    (ForestRelevanceClassifier(random_state=0, **FEW_TREES), Y),
    (ForestRelevanceRegressor(random_state=0, **FEW_TREES), X[:, 0]),
]


def quietly(estimator, *data, **rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        return estimator.fit(*data, **rows)


def folds_of(monkeypatch, estimator, X, y, **given):
    """Fit, and return the request, the canonical data and the folds of the search."""
    seen = []

    def keep(cv, request, data, **options):
        found = list(search_folds(cv, request, data, **options))
        seen.append((request, data, found))
        return iter(found)

    monkeypatch.setattr("allrelevant.estimators._linear.search_folds", keep)
    quietly(estimator, X, y, **given)
    return seen[0]


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS)
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"groups": GROUPS[:-1]}, ValueError, r"groups has shape \(59,\), but X has 60 rows; give one label per row"),
        ({"strata": GROUPS[:, None]}, ValueError, r"strata has shape \(60, 1\)"),
        ({"groups": "subject"}, TypeError, r"groups is the text 'subject'; .*frame\['subject'\]"),
        ({"groups": 3}, ValueError, r"groups has shape \(\)"),
        ({"groups": [*GROUPS[:-2], None, np.nan]}, ValueError, "groups has no label in row 58 and 1 more; give every"),
        ({"strata": [*"ab" * 29, "a", np.nan]}, ValueError, "strata has no label in row 59; give every row"),
        ({"groups": np.where(GROUPS == 0, np.nan, GROUPS)}, ValueError, "groups has no label in row 0 and 4 more"),
        ({"groups": pd.Series(GROUPS).astype("Int64").replace(3, pd.NA)}, ValueError, "no label in row 15 and 4 more"),
        ({"groups": pd.to_datetime(pd.Series([None, *["2020-01-01"] * 59]))}, ValueError, "no label in row 0;"),
        ({"groups": [[1, 2]] * 60}, ValueError, r"groups has shape \(60, 2\)"),
        ({"groups": [{1}] * 60}, TypeError, "groups has labels that cannot be told apart .*; give texts or numbers"),
        ({"groups": ["one"] * 60}, ValueError, "groups is 'one' in all rows, .*; give the label .*, or leave groups"),
        ({"strata": np.arange(60)}, ValueError, "strata has another label in every row, .* or leave strata out"),
        (
            {"groups": GROUPS, "strata": np.arange(60) // 7 % 2},
            ValueError,
            "groups: group 1 has rows in stratum 0 and in stratum 1; give strata that hold whole groups",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(estimator, y, given, error, words):
    with pytest.raises(error, match=words):
        estimator.fit(X, y, **given)


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS)
def test_every_estimator_takes_groups_and_strata(estimator, y):
    found = quietly(estimator, X, y, groups=GROUPS, strata=SITES)
    assert found.relevance_classes_[0] > 0
    assert pickle.loads(pickle.dumps(found)).result_.classes.tolist() == found.result_.classes.tolist()


@pytest.mark.parametrize("estimator", [LinearRelevanceClassifier(random_state=0), ESTIMATORS[4][0]])
def test_labels_of_any_type_are_the_same(estimator):
    kinds = [
        GROUPS,
        GROUPS.tolist(),
        [f"subject {k}" for k in GROUPS],
        GROUPS * -0.7,
        pd.Series(GROUPS, index=np.arange(N)[::-1]).astype(str).astype("category"),
        [None if k > 0 else k for k in np.zeros(N)] and [(bool(k % 2), int(k))[1] for k in GROUPS],
        ["a" if k == 0 else int(k) for k in GROUPS],
        pd.Timestamp("2020-01-01") + pd.to_timedelta(GROUPS, unit="D"),
    ]
    found = [quietly(estimator, X, Y, groups=kind).result_ for kind in kinds]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].intervals, other.intervals)
        np.testing.assert_array_equal(found[0].pvalues, other.pvalues)
        assert found[0].hyperparameters == other.hyperparameters


@pytest.mark.parametrize("y", [Y, Y[GROUPS * EACH]], ids=["varies", "constant within groups"])
def test_order_of_rows_and_columns_and_names_of_groups_change_nothing(y):
    count = RNG.integers(2, size=(N, 3)).astype(float)  # rows that many groups have in common
    table = np.column_stack([X[:, :2], count])
    plain = quietly(LinearRelevanceClassifier(random_state=0), table, y, groups=GROUPS, strata=SITES)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, columns, names = rng.permutation(N), rng.permutation(5), rng.permutation(SUBJECTS)
        other = quietly(
            LinearRelevanceClassifier(random_state=0),
            table[np.ix_(rows, columns)],
            y[rows],
            groups=names[GROUPS][rows],
            strata=-SITES[rows],
        )
        np.testing.assert_array_equal(plain.intervals_[columns], other.intervals_)
        np.testing.assert_array_equal(plain.pvalues_[columns], other.pvalues_)


def test_rows_of_different_groups_are_not_merged():
    few = RNG.integers(2, size=(N, 2)).astype(float)
    data = canonical_form(few, Y, np.ones(N), groups=GROUPS, strata=SITES)
    keys = {(*row, y, g) for row, y, g in zip(few.tolist(), Y, GROUPS, strict=True)}
    assert len(data.target) == len(keys)
    assert len(canonical_form(few, Y, np.ones(N)).target) == len({key[:3] for key in keys})
    # Numbers of groups, where every row of a group went.
    for k in range(SUBJECTS):
        assert len(set(data.groups[data.position[k == GROUPS]])) == 1
        assert len(set(data.strata[data.position[SITES[k == GROUPS][0] == SITES]])) == 1
    assert list(dict.fromkeys(data.groups)) == list(range(SUBJECTS))
    assert list(dict.fromkeys(data.strata)) == [0, 1, 2]


def test_order_of_like_rows_depends_on_what_their_groups_hold():
    """All rows are alike, and only the sizes of groups tell them apart."""
    groups = np.repeat(np.arange(6), np.arange(1, 7))
    y = np.ones(21)
    table = np.zeros((21, 2))
    weight = np.random.default_rng(1).uniform(1, 2, 21)
    one = canonical_form(table, y, weight, groups=groups)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows, names = rng.permutation(21), rng.permutation(6)
        two = canonical_form(table, y, weight[rows], groups=names[groups][rows])
        np.testing.assert_array_equal(one.groups, two.groups)
        np.testing.assert_array_equal(one.sample_weight, two.sample_weight)


def test_given_rows_follow_the_canonical_order():
    table = np.repeat(RNG.normal(size=(5, 2)), 3, axis=0)
    weight = np.tile([2.0, 0.0, 1.0], 5)
    data = canonical_form(table, np.zeros(15), weight)
    rows = data.unmerged(weight)
    assert sorted(rows) == np.flatnonzero(weight).tolist()
    assert data.position[rows].tolist() == np.repeat(np.arange(5), 2).tolist()
    assert weight[rows].tolist() == [1.0, 2.0] * 5


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS[:4])
def test_folds_keep_groups_whole_and_strata_in_proportion(monkeypatch, estimator, y):
    _, data, folds = folds_of(monkeypatch, estimator, X, y, groups=GROUPS, strata=SITES)
    assert len(folds) == 5 * 3  # five times three folds
    tested = np.zeros(len(data.target))
    for fold in folds:
        assert not set(data.groups[fold.train > 0]) & set(data.groups[fold.test > 0])
        sites = np.bincount(data.strata, fold.test) / np.bincount(data.strata, data.sample_weight)
        assert (sites > 0).all()
        tested += fold.test
    np.testing.assert_array_equal(tested, 5 * data.sample_weight)


def test_folds_keep_strata_in_proportion_without_groups(monkeypatch):
    y = RNG.normal(size=N)
    _, data, folds = folds_of(monkeypatch, LinearRelevanceRegressor(random_state=0), X, y, strata=SITES)
    for fold in folds:
        assert np.ptp(np.bincount(data.strata[fold.test > 0])) <= 1


def test_pairs_as_strata_leave_the_classes_in_proportion(monkeypatch):
    y = np.tile([0, 1], N // 2)
    _, data, folds = folds_of(
        monkeypatch, LinearRelevanceClassifier(random_state=0), X, y, strata=np.repeat(np.arange(N // 2), 2)
    )
    for fold in folds:
        assert data.target[fold.test > 0].sum() == 0


def test_weights_count_as_rows_of_the_group(monkeypatch):
    weight = np.where(np.arange(N) % EACH == 0, 2.0, 1.0)
    weight[:EACH] = 0.0
    _, data, folds = folds_of(
        monkeypatch, LinearRelevanceClassifier(random_state=0), X, Y, sample_weight=weight, groups=GROUPS
    )
    assert len(set(data.groups)) == SUBJECTS - 1
    for fold in folds:
        assert not set(data.groups[fold.train > 0]) & set(data.groups[fold.test > 0])
        np.testing.assert_array_equal(fold.train + fold.test, data.sample_weight)


def test_too_few_groups_for_the_folds_are_refused():
    two = (np.arange(N) >= 30).astype(int)
    with pytest.raises(ValueError, match=r"groups has only 2 groups, but cv=3 folds.*; lower cv to 2, or give C"):
        LinearRelevanceClassifier().fit(X, Y, groups=two)
    with pytest.raises(ValueError, match="at least 2 groups of each class, but a class has only 1 group"):
        LinearRelevanceClassifier().fit(X, (np.arange(N) < 2).astype(int), groups=np.arange(N) // 2)
    for model in (LinearRelevanceClassifier(cv=2), LinearRelevanceClassifier(C=1.0)):
        assert quietly(model, X, Y, groups=two).result_.n_features == 4


def test_splitters_receive_the_groups_as_they_are(monkeypatch):
    names = np.array([f"s{k}" for k in GROUPS])
    model = LinearRelevanceClassifier(cv=LeaveOneGroupOut(), random_state=0)
    _, data, folds = folds_of(monkeypatch, model, X, Y, groups=names)
    assert len(folds) == SUBJECTS
    assert all(len(set(data.groups[fold.test > 0])) == 1 for fold in folds)


def test_splits_that_divide_groups_are_noticed():
    words = "In 2 of the 2 splits of cv, rows of one group are in training and test"
    with pytest.warns(RelevanceWarning, match=words):
        found = LinearRelevanceClassifier(cv=KFold(2, shuffle=True, random_state=0)).fit(X, Y, groups=GROUPS)
    assert any(words in note for note in found.result_.notes)
    found = quietly(LinearRelevanceClassifier(cv=GroupKFold(3)), X, Y, groups=GROUPS)
    assert "splits of cv" not in found.result_.summary()


@pytest.mark.parametrize(("estimator", "y"), [ESTIMATORS[0], ESTIMATORS[2], ESTIMATORS[4]])
def test_one_row_per_group_is_the_same_as_none(estimator, y):
    words = "groups has another label in every row, which is the same as no groups"
    plain = quietly(estimator, X, y).result_
    with pytest.warns(RelevanceWarning, match=words), pytest.warns(RelevanceWarning, match=r"strata is 0\.0"):
        found = estimator.fit(X, y, groups=np.arange(N)[::-1], strata=np.zeros(N)).result_
    np.testing.assert_array_equal(plain.intervals, found.intervals)
    np.testing.assert_array_equal(plain.pvalues, found.pvalues)
    assert any(words in note for note in found.notes)
    assert any("strata is 0.0 in all rows, which is the same as no strata" in note for note in found.notes)


def test_groups_that_cannot_change_places_are_noticed():
    sizes = [2] * 6 + [14, 11, 9, 8, 6]
    groups = np.repeat(np.arange(11), sizes)
    y = groups % 2
    with pytest.warns(RelevanceWarning, match="so 80% of the rows keep their values of the target"):
        LinearRelevanceClassifier(C=1.0).fit(X, y, groups=groups)
    assert check_rows(groups, None, X, Y.astype(float), np.ones(N)).notes == ()  # the target varies within groups


def repeated(table, times=3):
    return np.repeat(table, times, axis=0)


@pytest.mark.parametrize(
    "table",
    [
        repeated(RNG.normal(size=(20, 3))),
        repeated(np.column_stack([RNG.integers(2, size=(20, 4)), RNG.normal(size=20)])),
        np.vstack([RNG.normal(size=(50, 3)), np.ones((10, 1)) * [[1.0, 2.0, 3.0]]])[np.r_[:60, :20]],
        sparse.csr_array(repeated(RNG.normal(size=(20, 3)))),
    ],
)
def test_rows_that_repeat_are_noticed(table):
    n = table.shape[0]
    y = np.arange(n) % 2
    with pytest.warns(RelevanceWarning, match=f"of {n} rows of X repeat another one exactly.*: give groups"):
        LinearRelevanceClassifier(C=1.0).fit(table, y)
    groups = np.arange(n) // 3
    assert not any("repeat another" in note for note in check_rows(groups, None, table, y, np.ones(n)).notes)
    shuffled = np.random.default_rng(1).permutation(n)
    assert check_rows(None, None, table[shuffled], y, np.ones(n)).notes


@pytest.mark.parametrize(
    "table",
    [
        RNG.integers(2, size=(200, 4)).astype(float),
        RNG.poisson(2.0, size=(200, 3)).astype(float),
        np.column_stack([RNG.integers(18, 90, size=400), RNG.integers(2, size=400)]) / 7.0,  # years, in another unit
        RNG.normal(size=(100, 2)).round(1),
        RNG.normal(size=(60, 1))[np.arange(120) // 2],
        np.vstack([RNG.normal(size=(100, 3)), np.zeros((20, 3))]),
        np.where(RNG.random((300, 2)) < 0.4, np.nan, RNG.normal(size=(300, 2))),
        RNG.normal(size=(100, 3))[np.r_[:100, :4]],
        sparse.csr_array(RNG.normal(size=(100, 2)) * (RNG.random((100, 2)) < 0.3)),
    ],
)
def test_rows_that_repeat_by_nature_are_not(table):
    n = table.shape[0]
    assert check_rows(None, None, table, np.zeros(n), np.ones(n)).notes == ()


def test_rows_without_weight_do_not_count():
    weight = np.ones(N)
    weight[GROUPS == 3] = 0.0
    strata = np.where(GROUPS == 3, np.arange(N) % 2, SITES)  # group 3 would be torn
    found = check_rows(GROUPS, strata, X, Y, weight)
    assert len(np.unique(found.groups[weight > 0])) == SUBJECTS - 1
    with pytest.raises(ValueError, match="groups is 3 in all rows"):
        check_rows(GROUPS, None, X, Y, (GROUPS == 3).astype(float))


@pytest.mark.parametrize("labels", [None, SITES, Y])
def test_bootstraps_draw_whole_groups(labels):
    weight = RNG.uniform(0.5, 2, N)
    for seed in range(5):
        times = bootstrap(weight, labels, np.random.RandomState(seed), GROUPS) / weight
        drawn = np.array([times[k == GROUPS] for k in range(SUBJECTS)])
        np.testing.assert_allclose(drawn, np.rint(drawn[:, :1]) * np.ones((1, EACH)))
        assert drawn[:, 0].sum() == pytest.approx(SUBJECTS)
        if labels is SITES:
            np.testing.assert_allclose(np.bincount(SITES[::EACH], drawn[:, 0]), [4, 4, 4])
        if labels is Y:
            assert all((times[label == Y] > 0).any() for label in (0, 1))


def test_stability_draws_groups_within_strata(monkeypatch):
    drawn = []

    def keep(*context, **more):
        drawn.append((bootstrap(*context, **more), context))
        return drawn[-1][0]

    model = quietly(LinearRelevanceClassifier(random_state=0), X, Y, groups=GROUPS, strata=SITES)
    monkeypatch.setattr(_exploring, "bootstrap", keep)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        model.stability(n_bootstraps=3)
    data = model._exploration.spaces[0].data
    assert len(drawn) == 3
    for counts, (_, labels, _, groups) in drawn:
        np.testing.assert_array_equal(groups, data.groups)
        assert len(set(labels)) == len({*zip(data.target, data.strata, strict=True)})
        for k in range(SUBJECTS):
            times = counts[data.groups == k] / data.sample_weight[data.groups == k]
            assert np.ptp(times) == 0


@pytest.mark.parametrize("privileged", ["residual", "kept", "replaced"])
def test_privileged_features_are_of_the_same_groups(monkeypatch, privileged):
    P = X[:, [0]] + RNG.normal(size=(N, 1))
    model = LinearRelevanceClassifier(privileged=privileged, random_state=0)
    request, data, folds = folds_of(monkeypatch, model, X, Y, X_privileged=P, groups=GROUPS, strata=SITES)
    np.testing.assert_array_equal(request.rows.groups, GROUPS)
    assert not any(set(data.groups[fold.train > 0]) & set(data.groups[fold.test > 0]) for fold in folds)
    assert all(space.data.groups is not None for space in model._exploration.spaces)


def test_metadata_routing_brings_groups_and_strata(monkeypatch):
    seen = []
    original = LinearRelevanceClassifier._fit_relevance

    def keep(self, formulation, X, y, target, weight, X_privileged, groups, strata, *more):
        seen.append((len(X), groups, strata))
        return original(self, formulation, X, y, target, weight, X_privileged, groups, strata, *more)

    monkeypatch.setattr(LinearRelevanceClassifier, "_fit_relevance", keep)
    with config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)
        inner = LinearRelevanceClassifier(random_state=0, C=1.0).set_fit_request(groups=True, strata=True)
        pipeline = make_pipeline(StandardScaler(), inner).fit(X, Y, groups=GROUPS, strata=SITES)
        assert pipeline[-1].n_features_in_ == 4
        search = GridSearchCV(inner, {"norm_slack": [0.1, 0.2]}, cv=GroupKFold(3))
        search.fit(X, Y, groups=GROUPS, strata=SITES)
    (n, groups, strata), *others = seen
    assert n == N
    np.testing.assert_array_equal(groups, GROUPS)
    np.testing.assert_array_equal(strata, SITES)
    assert len(others) == 2 * 3 + 1
    for n, groups, strata in others:
        assert len(groups) == len(strata) == n
    assert all(len(set(groups)) == SUBJECTS - 4 for _, groups, _ in others[:-1])

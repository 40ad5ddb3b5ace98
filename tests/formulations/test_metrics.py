"""Scores are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import get_scorer_names

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant.datasets import make_relevance_classification
from allrelevant.estimators._folds import search_folds
from allrelevant.formulations import Classification, MultiClass, OrdinalExplicit, Regression, Residual
from allrelevant.relevance.search import fold_scores

THEIRS = {
    "f1_weighted": lambda t, p, w: metrics.f1_score(t, p, average="weighted", sample_weight=w, zero_division=0.0),
    "f1_macro": lambda t, p, w: metrics.f1_score(t, p, average="macro", sample_weight=w, zero_division=0.0),
    "accuracy": lambda t, p, w: metrics.accuracy_score(t, p, sample_weight=w),
    "balanced_accuracy": lambda t, p, w: metrics.balanced_accuracy_score(t, p, sample_weight=w),
    "roc_auc": lambda t, d, w: metrics.roc_auc_score(t, d, sample_weight=w),
    "roc_auc_ovr": lambda t, d, w: np.mean(
        [metrics.roc_auc_score(t == k, d[:, k], sample_weight=w) for k in range(d.shape[1])]
    ),
    "neg_mean_absolute_error": lambda t, p, w: -metrics.mean_absolute_error(t, p, sample_weight=w),
    "neg_mean_squared_error": lambda t, p, w: -metrics.mean_squared_error(t, p, sample_weight=w),
    "neg_median_absolute_error": lambda t, p, _: -metrics.median_absolute_error(t, p),
    "neg_macro_mean_absolute_error": lambda t, p, w: (
        -np.mean([metrics.mean_absolute_error(t[t == k], p[t == k], sample_weight=w[t == k]) for k in np.unique(t)])
    ),
    "r2": lambda t, p, w: metrics.r2_score(t, p, sample_weight=w),
}
KINDS = {
    "two classes": (Classification(), lambda rng, n: rng.choice([-1.0, 1.0], n)),
    "three classes": (MultiClass(3), lambda rng, n: rng.choice([0.0, 1.0, 2.0], n)),
    "ordered classes": (OrdinalExplicit(3), lambda rng, n: rng.choice([0.0, 1.0, 2.0], n)),
    "numbers": (Regression(0.1), lambda rng, n: rng.normal(size=n)),
}
CASES = [(kind, name) for kind, (formulation, _) in KINDS.items() for name in formulation.metrics]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_scores_are_scikit_learns(kind, name):
    formulation, draw = KINDS[kind]
    formulation = formulation.scored_by(name)
    rng = np.random.RandomState(0)
    for n in (9, 40, 41):
        target, X = draw(rng, n), np.round(rng.normal(size=(n, 2)), 1)  # with ties
        weight = np.ones(n) if name == "neg_median_absolute_error" else rng.choice([0.5, 1.0, 2.0], n)
        program = formulation.program(X, target, weight)
        w, b = np.round(rng.normal(size=program.n_weights), 1), np.round(rng.normal(size=program.n_offsets), 1)
        judged = formulation.decision if formulation.metric.of_decisions else formulation.predict
        expected = THEIRS[name](target, np.round(judged(X, w, b), 9), weight)
        assert formulation.score(X, target, weight, w, b) == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_weight_of_two_is_a_sample_twice(kind, name):
    formulation, draw = KINDS[kind]
    formulation = formulation.scored_by(name)
    rng = np.random.RandomState(1)
    target, X, twice = draw(rng, 31), rng.normal(size=(31, 2)), rng.rand(31) < 0.4
    program = formulation.program(X, target, np.ones(31))
    point = rng.normal(size=program.n_weights), rng.normal(size=program.n_offsets)
    rows = np.concatenate([np.arange(31), np.flatnonzero(twice)])
    once = formulation.score(X, target, 1.0 + twice, *point)
    assert once == pytest.approx(formulation.score(X[rows], target[rows], np.ones(len(rows)), *point))


def test_names_are_scikit_learns():
    own = {"neg_macro_mean_absolute_error"}
    assert {name for _, name in CASES} - own <= set(get_scorer_names())


def test_decisions_that_tie_but_for_rounding_tie():
    auc = Classification(scoring="roc_auc").metric.function
    target = np.array([1.0, -1.0, 1.0, -1.0])
    for error in (-1e-14, 1e-14):
        assert auc(target, np.array([0.5, 0.5 + error, 2.0, -1.0]), np.ones(4)) == 0.875
    assert auc(np.ones(4), np.arange(4.0), np.ones(4)) == 0.5


def test_privileged_forms_have_the_score_of_theirs():
    formulation = Residual(Classification("accuracy"))
    assert formulation.metric.label == "accuracy"
    assert formulation.candidates(np.ones(2))[0].metric is formulation.metric
    assert {one.scoring for one in Regression(scoring="neg_mean_absolute_error").candidates(np.ones(500))} == {
        "neg_mean_absolute_error"
    }


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_relevance_classification(150, n_strong=2, n_weak=2, n_irrelevant=4, flip_y=0.15, random_state=0)
    return X, y, X[:, 0] + X[:, 1] + 0.5 * np.random.RandomState(0).normal(size=150)


@pytest.mark.parametrize(
    ("kind", "name", "label"),
    [
        (LinearRelevanceClassifier, None, "weighted F1"),
        (LinearRelevanceClassifier, "roc_auc", "area under the ROC curve"),
        (
            LinearRelevanceRegressor,
            "neg_median_absolute_error",
            "median absolute error, by",
        ),
        (LinearRelevanceOrdinal, "accuracy", "accuracy"),
    ],
)
def test_the_search_goes_by_the_score(data, kind, name, label):
    X, y, score = data
    target = {LinearRelevanceRegressor: score, LinearRelevanceOrdinal: np.digitize(score, [-1.0, 1.0])}.get(kind, y)
    model = kind(scoring=name, random_state=0, n_probes=5).fit(X, target)
    found = model.result_.scores
    assert found["metric"].startswith(label)
    space = model._exploration.spaces[0]
    folds = list(search_folds(model.cv, space.request, space.data))
    formulation, C = space.baseline.formulation, space.baseline.C
    by_hand = fold_scores(formulation, space.data.X, space.data.target, folds, C).mean()
    sign = -1.0 if formulation.metric.is_error else 1.0
    assert found["cross_validated"] == pytest.approx(sign * by_hand, abs=0.02)
    assert model.panels(k=1).metric == found["metric"]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (LinearRelevanceClassifier, "r2", "'r2' is not a score for classification; choose one of 'f1_weighted', "),
        (LinearRelevanceRegressor, "accuracy", "'accuracy' is not a score for regression; choose one of 'r2', "),
        (LinearRelevanceOrdinal, "roc_auc", "'roc_auc' is not a score for ordinal regression, explicit order; choose"),
        (LinearRelevanceRegressor, 3, "3"),
    ],
)
def test_what_is_no_score(data, kind, name, said):
    X, y, score = data
    with pytest.raises(ValueError, match=said):
        kind(scoring=name).fit(X, score if kind is LinearRelevanceRegressor else y.astype(int))


def test_the_score_of_two_classes_is_not_that_of_three(data):
    X, _, score = data
    with pytest.raises(ValueError, match=r"'roc_auc' is not a score for multi-class.*; choose .*'roc_auc_ovr', or"):
        LinearRelevanceClassifier(scoring="roc_auc").fit(X, np.digitize(score, [-1, 1]))

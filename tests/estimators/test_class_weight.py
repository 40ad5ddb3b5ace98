"""Weights of classes weigh losses, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, RelevanceWarning
from allrelevant.datasets import make_relevance_classification
from allrelevant.estimators._folds import search_folds

OPTIONS = {"random_state": 0, "n_probes": 5}


def rare(n_classes=2, n=160):
    X, _, _ = make_relevance_classification(n, n_strong=3, n_weak=0, n_irrelevant=3, random_state=4)
    score = X[:, :3].sum(axis=1) + np.random.RandomState(0).normal(size=n)
    cuts = np.quantile(score, [0.85, 0.95][: n_classes - 1])
    return X, np.digitize(score, cuts)


def assert_same(one, two):
    np.testing.assert_allclose(one.intervals_, two.intervals_, atol=1e-9)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-9)
    assert one.result_.hyperparameters == pytest.approx(two.result_.hyperparameters)


@pytest.mark.parametrize(
    ("kind", "n_classes"),
    [(LinearRelevanceClassifier, 2), (LinearRelevanceClassifier, 3), (LinearRelevanceOrdinal, 3)],
)
def test_they_multiply_losses(kind, n_classes):
    X, y = rare(n_classes, 90)
    weights = {0: 0.5, 1: 3.0}
    one = kind(C=0.3, class_weight=weights, standardize=False, **OPTIONS).fit(X, y)
    two = kind(C=0.3, standardize=False, **OPTIONS).fit(X, y, sample_weight=np.array([0.5, 3.0, 1.0])[y])
    assert_same(one, two)


@pytest.mark.parametrize("kind", [LinearRelevanceClassifier, LinearRelevanceOrdinal])
def test_balanced(kind):
    X, y = rare(3, 90)
    weights = dict(enumerate(compute_class_weight("balanced", classes=np.arange(3), y=y)))
    one, two = (kind(C=0.3, class_weight=given, **OPTIONS).fit(X, y) for given in ("balanced", weights))
    assert_same(one, two)


def test_a_sample_of_weight_two_is_balanced_as_two():
    X, y = rare()
    twice = np.random.RandomState(1).rand(len(X)) < 0.4
    repeated = np.concatenate([np.arange(len(X)), np.flatnonzero(twice)])
    model = LinearRelevanceClassifier(class_weight="balanced", **OPTIONS)
    one = model.fit(X, y, sample_weight=1.0 + twice)
    intervals, C = one.intervals_, one.result_.hyperparameters["C"]
    with pytest.warns(RelevanceWarning, match="repeat another one"):
        two = model.fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(intervals, two.intervals_)
    assert two.result_.hyperparameters["C"] == C


def test_names_of_labels_do_not_matter():
    X, y = rare()
    one = LinearRelevanceClassifier(class_weight={1: 4.0}, **OPTIONS).fit(X, y)
    names = np.array(["zero", "more"])
    two = LinearRelevanceClassifier(class_weight={"more": 4.0}, **OPTIONS).fit(X, names[y])
    np.testing.assert_array_equal(one.intervals_, two.intervals_)
    np.testing.assert_array_equal(names[one.predict(X)], two.predict(X))


def test_folds_and_scores_take_samples_as_they_are():
    X, y = rare()
    plain, weighted = (LinearRelevanceClassifier(class_weight=w, **OPTIONS).fit(X, y) for w in (None, "balanced"))
    spaces = [model._exploration.spaces[0] for model in (plain, weighted)]
    folds = [
        list(search_folds(model.cv, space.request, space.data))
        for model, space in zip((plain, weighted), spaces, strict=True)
    ]
    factor = spaces[1].data.sample_weight
    assert len(np.unique(factor)) == 2
    for one, two in zip(*folds, strict=True):
        np.testing.assert_array_equal(one.test, two.test)
        np.testing.assert_allclose(one.train * factor, two.train)
    np.testing.assert_array_equal(spaces[0].data.X, spaces[1].data.X)
    # The rare class is found more often.
    assert weighted.predict(X).sum() > plain.predict(X).sum()


def test_questions_after_the_fit():
    X, y = rare()
    model = LinearRelevanceClassifier(class_weight="balanced", **OPTIONS).fit(X, y)
    assert 0.5 < model.panels(k=1)[0].score <= 1.0
    assert model.stability(2).intervals.shape == (2, 6, 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({7: 1.0}, "class_weight names the label 7, which y does not have; its labels are 0, 1"),
        ({0: -1.0}, "class_weight of the label 0 is -1"),
        ({0: 0.0}, "class_weight of the label 0 is 0"),
        ({0: np.inf}, "class_weight of the label 0 is inf"),
        ("even", "class_weight"),
        (3.0, "class_weight"),
    ],
)
def test_what_is_no_weight(given, said):
    X, y = rare()
    with pytest.raises(ValueError, match=said):
        LinearRelevanceClassifier(class_weight=given).fit(X, y)

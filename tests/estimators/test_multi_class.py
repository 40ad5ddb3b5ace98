"""More than two classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score

from allrelevant import LinearRelevanceClassifier
from allrelevant.formulations import MultiClass
from reference import solved_by


def three_classes(seed, n=240):
    """Two strong features, a weak pair, three irrelevant ones; classes by angle."""
    rng = np.random.RandomState(seed)
    core = rng.normal(size=(n, 3))
    angle = np.arctan2(core[:, 0], core[:, 1] + core[:, 2])
    y = np.digitize(angle, [-np.pi / 3, np.pi / 3])
    copy = core[:, 2] + 0.01 * rng.normal(size=n)
    X = np.column_stack([core, copy, rng.normal(size=(n, 3))])
    return X, y, np.array([2, 2, 1, 1, 0, 0, 0])


@pytest.mark.parametrize("seed", range(3))
def test_truth(seed):
    X, y, relevance = three_classes(seed)
    model = LinearRelevanceClassifier(random_state=seed).fit(X, y)
    np.testing.assert_array_equal(model.relevance_classes_, relevance)
    assert model.score(X, y) > 0.9
    assert model.result_.max_gap <= 1e-6
    assert model.result_.problem == "multi-class classification"


def test_a_feature_of_one_class_alone_is_relevant():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2, 3], 60)
    X = rng.normal(size=(240, 4))
    for k in range(3):  # class 3 differs from the others in all three
        X[y == k, k] += 4.0
    model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.relevance_classes_, [2, 2, 2, 0])


def test_labels_and_shapes():
    X, y, _ = three_classes(0)
    names = np.array(["low", "high", "middle"])[y]
    model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, names)
    assert list(model.classes_) == ["high", "low", "middle"]
    assert model.coef_.shape == (3, 7)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (240, 3)
    best = model.classes_[np.argmax(model.decision_function(X), axis=1)]
    np.testing.assert_array_equal(model.predict(X), best)
    assert np.mean(model.predict(X) == names) > 0.9
    assert set(np.flatnonzero(model.get_support())) <= set(range(7))


def test_order_of_rows_columns_and_labels_does_not_matter():
    X, y, _ = three_classes(1)
    rng = np.random.RandomState(0)
    rows, columns = rng.permutation(len(X)), rng.permutation(7)
    one = LinearRelevanceClassifier(random_state=0).fit(X, y)
    two = LinearRelevanceClassifier(random_state=0).fit(X[np.ix_(rows, columns)], y[rows])
    np.testing.assert_array_equal(one.intervals_[columns], two.intervals_)
    np.testing.assert_array_equal(one.relevance_classes_[columns], two.relevance_classes_)


def test_both_engines_and_any_number_of_jobs_agree():
    X, y, _ = three_classes(2, n=90)
    results = []
    for engine, n_jobs in (("reference", None), ("kernel", None), ("kernel", 2)):
        with solved_by(engine):
            results.append(LinearRelevanceClassifier(C=1.0, n_jobs=n_jobs, random_state=0).fit(X, y).intervals_)
    np.testing.assert_allclose(results[0], results[1], atol=1e-6)
    np.testing.assert_array_equal(results[1], results[2])


def test_two_classes_of_three_with_weight_are_two():
    X, y, _ = three_classes(0)
    weight = (y != 2).astype(float)
    one = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y, sample_weight=weight)
    two = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X[y != 2], y[y != 2])
    assert list(one.classes_) == [0, 1]
    np.testing.assert_array_equal(one.intervals_, two.intervals_)


def test_papers_rule_and_joint_budgets():
    X, y, relevance = three_classes(0, n=120)
    for options in ({"threshold_rule": "papers", "level": 0.001, "n_probes": 10}, {"budgets": "joint"}):
        model = LinearRelevanceClassifier(C=1.0, random_state=0, **options).fit(X, y)
        assert (model.relevance_classes_[relevance > 0] > 0).all()
        assert model.result_.max_gap <= 1e-6


def test_score_is_scikit_learns():
    rng = np.random.RandomState(0)
    truth, found, weight = rng.randint(4, size=50), rng.randint(4, size=50), rng.uniform(size=50)
    expected = f1_score(truth, found, average="weighted", sample_weight=weight)
    assert MultiClass(4).metric.function(truth.astype(float), found.astype(float), weight) == pytest.approx(expected)


def test_iris():
    X, y = load_iris(return_X_y=True)
    model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    assert (model.relevance_classes_[2:] > 0).all()  # of the petals


def test_a_class_of_one_sample():
    X, y, _ = three_classes(0, n=40)
    y = np.where(y == 2, 1, y)
    y[0] = 2
    with pytest.raises(ValueError, match="a class has only 1 sample; give C"):
        LinearRelevanceClassifier().fit(X, y)
    assert LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y).coef_.shape == (3, 7)

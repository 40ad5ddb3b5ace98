from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from allrelevant._progress import Progress
from allrelevant.forest import boruta
from allrelevant.forest.boruta import CONFIRMED, REJECTED, TENTATIVE, Shadows, Verdicts, all_relevant
from allrelevant.forest.learner import Sample, Target
from allrelevant.forest.light import LightForest

FOREST = LightForest(n_estimators=60, feature_fraction=0.3)


def sample(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    y = (X[:, 0] + X[:, 1] > 0).astype(float)
    return Sample(X, Target(y, 2), np.ones(n), np.zeros(6, dtype=bool))


def find(data, **settings):
    n_jobs = settings.pop("n_jobs", None)
    return all_relevant(data, FOREST, Shadows(**settings), seed=0, n_jobs=n_jobs, progress=Progress())


def test_finds_what_matters():
    found = find(sample())
    np.testing.assert_array_equal(found.status[:2], CONFIRMED)
    assert np.all(found.status[2:] < CONFIRMED)
    assert np.all(found.pvalues[:2] < 0.05 / 6)
    assert found.pvalues[2:].min() > 0.05


def test_a_decision_is_a_binomial_test():
    found = find(sample())
    for hits, trials, pvalue in zip(found.hits, found.trials, found.pvalues, strict=True):
        assert pvalue == pytest.approx(binomtest(int(hits), int(trials), 0.5, alternative="greater").pvalue)
    confirmed = found.status == CONFIRMED
    assert np.all(found.pvalues[confirmed] <= 0.05 / 6)


@pytest.mark.parametrize("two_step", [False, True])
def test_decisions(two_step):
    status = np.zeros(4, dtype=np.intp)
    trials = np.full(4, 20)
    settings = Shadows(two_step=two_step)
    found = boruta._decisions(status, np.array([20, 10, 0, 14]), trials, settings)
    np.testing.assert_array_equal(found, [CONFIRMED, TENTATIVE, REJECTED, TENTATIVE])
    # What is decided stays decided.
    again = boruta._decisions(found, np.array([0, 10, 20, 14]), trials, settings)
    np.testing.assert_array_equal(again, found)


def test_no_decision_is_reported_as_such():
    found = find(sample(), max_rounds=3)
    np.testing.assert_array_equal(found.status, TENTATIVE)
    np.testing.assert_array_equal(found.trials, 3)


def test_rejected_features_leave():
    found = find(sample())
    rejected = found.status == REJECTED
    assert rejected.any()
    assert np.isnan(found.importances[:, rejected]).any() or len(found.limits) <= 12


def test_gives_up_after_a_while(monkeypatch):
    def one(sample, columns, forest, shadows, seed, number):
        return np.full(len(columns), number % 2, dtype=float), 0.5

    monkeypatch.setattr(boruta, "_round", one)
    found = find(sample(), patience=4, max_rounds=500)
    assert len(found.limits) < 40
    np.testing.assert_array_equal(found.status, TENTATIVE)


@pytest.mark.parametrize("two_step", [False, True])
def test_rounds_that_cannot_decide_anything_are_not_played(two_step):
    settings, rng, seen = Shadows(two_step=two_step), np.random.default_rng(0), set()
    for _ in range(200):
        trials = np.full(5, rng.integers(8, 30))
        hits = rng.binomial(trials, rng.choice([0.1, 0.5, 0.9], 5))
        status = boruta._decisions(np.zeros(5, dtype=int), hits, trials, settings)
        rounds = int(rng.integers(1, 9))
        further = [(k, rng.binomial(k, rng.random(5))) for k in range(1, rounds + 1) for _ in range(20)]
        could = boruta._open(status, hits, trials, settings, rounds)
        if not could:
            for k, more in further:
                found = boruta._decisions(status, hits + more, trials + k, settings)
                np.testing.assert_array_equal(found, status)
        seen.add(could)
    assert seen == {True, False}


def test_threads_do_not_matter():
    one, two = find(sample(), n_jobs=1), find(sample(), n_jobs=2)
    np.testing.assert_array_equal(one.importances, two.importances)
    np.testing.assert_array_equal(one.status, two.status)


def test_ties_with_permuted_features_are_no_hits():
    data = sample()
    flags = (np.random.default_rng(1).random((300, 6)) < 0.01).astype(float)
    found = find(Sample(flags, data.target, data.weight, data.categorical), max_rounds=20)
    assert np.all(found.hits < found.trials / 2)


def test_false_positives_are_rare():
    wrong = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 10))
        y = (rng.random(150) < 0.5).astype(float)
        data = Sample(X, Target(y, 2), np.ones(150), np.zeros(10, dtype=bool))
        wrong += int((find(data, max_rounds=16).status == CONFIRMED).sum())
    assert wrong <= 5  # of 100


def test_mean_excess_is_that_of_the_rounds_a_feature_took_part_in():
    importances = np.array([[0.0, 3.0, 1.0], [9.0, 1.0, np.nan]])
    verdicts = Verdicts(
        np.zeros(3, dtype=int), np.array([1, 1, 0]), np.array([2, 2, 1]), importances, np.array([1.0, 2.0]), 0.99
    )
    np.testing.assert_allclose(verdicts.mean_excess, [3.0, 0.5, 0.0])

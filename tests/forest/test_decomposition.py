from __future__ import annotations

import numpy as np
import pytest

from allrelevant._progress import Progress
from allrelevant.forest.decomposition import Refitting, conditional, refit
from allrelevant.forest.imitation import imitate
from allrelevant.forest.learner import Sample, Target
from allrelevant.forest.light import LightForest

FOREST = LightForest(n_estimators=120)
CONTEXT = {"seed": 0, "n_jobs": None, "progress": Progress()}


def of(X, y, n_classes=2, categorical=None):
    X = np.asarray(X, dtype=float)
    mask = np.zeros(X.shape[1], dtype=bool) if categorical is None else np.array(categorical)
    return Sample(X, Target(np.asarray(y, dtype=float), n_classes), np.ones(len(X)), mask)


def copies(n=400, noise=0.05, seed=0):
    """Two features of their own, and three noisy copies of a third."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3))
    X = np.column_stack([x[:, 0], x[:, 1], *(x[:, 2] + noise * rng.standard_normal(n) for _ in range(3))])
    return X, x.sum(axis=1)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_copies_can_stand_in_for_each_other(n_classes):
    X, signal = copies()
    y = signal if not n_classes else np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    found = conditional(of(X, y, n_classes), FOREST, **CONTEXT)
    np.testing.assert_array_equal(found.strong, [True, True, False, False, False])
    assert np.all(found.imitated[2:] > 0.9)
    assert np.all(found.imitated[:2] < 0.2)
    assert np.all(found.needed[:2] > 5 * np.abs(found.needed[2:]).max())


def test_a_linear_combination_is_redundant():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((500, 2))
    X = np.column_stack([x, x.sum(axis=1) + 0.02 * rng.standard_normal(500), rng.standard_normal(500)])
    y = (X[:, 2] + X[:, 3] > 0).astype(float)
    np.testing.assert_array_equal(conditional(of(X, y), FOREST, **CONTEXT).strong, [False, False, False, True])


def test_correlated_features_that_know_different_things_are_strong():
    rng = np.random.default_rng(2)
    shared = rng.standard_normal(1500)
    a, b = (shared + 0.7 * rng.standard_normal(1500) for _ in range(2))
    found = conditional(of(np.column_stack([a, b]), a - b > 0), FOREST, **CONTEXT)
    assert found.strong.all()
    assert np.all(found.imitated > 0.3)


def test_non_linear_copies():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (800, 2))
    X = np.column_stack([x[:, 0], np.sin(1.4 * x[:, 0]) + 0.01 * rng.standard_normal(800), x[:, 1]])
    y = x[:, 0] * x[:, 1] > 0
    np.testing.assert_array_equal(conditional(of(X, y), FOREST, **CONTEXT).strong, [False, False, True])


def test_the_only_feature_is_strong():
    X = np.random.default_rng(0).standard_normal((200, 1))
    assert conditional(of(X, X[:, 0] > 0), FOREST, **CONTEXT).strong.all()
    whole = of(X, X[:, 0] > 0)
    assert refit(whole, whole, FOREST, Refitting(n_probes=5), **CONTEXT).strong.all()


@pytest.mark.parametrize("loss", ["held_out", "training"])
def test_refitting_as_in_the_thesis(loss):
    X, signal = copies(n=600)
    noise = np.random.default_rng(5).standard_normal((600, 3))
    pool = of(np.hstack([X, noise]), signal > 0)
    found = refit(of(X, signal > 0), pool, FOREST, Refitting(n_probes=20, loss=loss), **CONTEXT)
    np.testing.assert_array_equal(found.strong[:2], True)
    assert found.strong[2:].sum() <= 1
    assert np.isnan(found.imitated).all()


def test_threads_do_not_matter():
    X, signal = copies(n=200)
    one, two = (conditional(of(X, signal > 0), FOREST, seed=0, n_jobs=jobs, progress=Progress()) for jobs in (1, 2))
    np.testing.assert_array_equal(one.needed, two.needed)


def test_draws_of_an_imitation_have_the_values_of_the_feature():
    X, signal = copies()
    imitation = imitate(of(X, signal > 0), **CONTEXT)[2]
    rows = np.arange(400)
    rng = np.random.default_rng(0)
    drawn = imitation.draw(rows, rng.permuted(np.tile(rows, (5, 1)), axis=1), rng)
    assert drawn.shape == (5, 400)
    for line in drawn:
        assert np.corrcoef(line, X[:, 2])[0, 1] > 0.99
        assert line.std() == pytest.approx(X[:, 2].std(), rel=0.05)
    alone = imitate(of(X, signal > 0), **CONTEXT)[0]
    drawn = alone.draw(rows, rng.permuted(np.tile(rows, (5, 1)), axis=1), rng)
    assert abs(np.corrcoef(drawn[0], X[:, 0])[0, 1]) < 0.3


def test_missing_values_stay_as_many():
    X, signal = copies()
    X[::7, 2] = np.nan
    imitation = imitate(of(X, signal > 0), **CONTEXT)[2]
    rows = np.arange(400)
    rng = np.random.default_rng(0)
    drawn = imitation.draw(rows, rng.permuted(rows[None], axis=1), rng)
    assert np.isnan(drawn).sum() == np.isnan(X[:, 2]).sum()
    assert imitation.share > 0.9


def test_categories_are_imitated_by_their_probabilities():
    rng = np.random.default_rng(0)
    code = rng.integers(3, size=600)
    X = np.column_stack([code, code, rng.integers(4, size=600), rng.standard_normal(600)])
    data = of(X, code == 1, categorical=[True, True, True, False])
    made = imitate(data, **CONTEXT)
    assert made[0].share > 0.8
    assert made[2].share < 0.1
    rows = np.arange(600)
    drawn = made[0].draw(rows, np.tile(rows, (3, 1)), rng)
    assert set(np.unique(drawn)) <= {0.0, 1.0, 2.0}
    assert np.mean(drawn == code) > 0.8
    drawn = made[2].draw(rows, np.tile(rows, (3, 1)), rng)
    np.testing.assert_allclose(
        np.bincount(drawn.astype(int).ravel()) / 1800, np.bincount(X[:, 2].astype(int)) / 600, atol=0.06
    )
    strong = conditional(data, FOREST, **CONTEXT).strong
    assert not strong[0]
    assert not strong[1]

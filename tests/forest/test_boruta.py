from __future__ import annotations

import numpy as np
import pytest

from allrelevant._progress import Progress
from allrelevant.forest.boruta import Copies, Importances, compare_with_copies
from allrelevant.forest.learner import Sample, Target
from allrelevant.forest.light import LightForest
from allrelevant.forest.permutation import row_permutation
from allrelevant.inference import NullSample, adjusted_pvalues
from allrelevant.inference.exchange import exchangeability

FOREST = LightForest(n_estimators=60, feature_fraction=0.3)


def of(X, y, n_classes=2, groups=None):
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    rows = exchangeability(len(X), y, groups)
    return Sample(X, Target(y, n_classes), np.ones(len(X)), np.zeros(X.shape[1], dtype=bool), rows)


def sample(seed=0, n=300):
    X = np.random.default_rng(seed).standard_normal((n, 6))
    return of(X, X[:, 0] + X[:, 1] > 0)


def compare(data, n_jobs=None, seed=0, **settings):
    return compare_with_copies(data, FOREST, Copies(**settings), seed=seed, n_jobs=n_jobs, progress=Progress())


def test_finds_what_matters():
    found = compare(sample())
    assert np.all(found.pvalues[:2] < 1e-4)
    assert found.pvalues[2:].min() > 0.01


def test_number_of_copies_and_forests():
    for d, count in ((1, 40), (8, 40), (10, 32), (16, 20), (500, 20)):
        assert 2 * Copies().n_forests(d) == count
    found = compare(sample(), n_copies=7)
    assert found.features.shape == (4, 6)
    assert found.copies.shape == (8, 6)


def test_evident_features_keep_their_place():
    found = compare(sample())
    missing = np.isnan(found.copies)
    # Of two copies side by side in one forest, only the first makes way for the feature.
    assert np.all(missing[::2, :2])
    assert not missing[1::2].any()
    assert not missing[:, 2:].any()


def test_pvalues_are_those_of_each_copy_against_the_other_copies_of_its_feature():
    rng = np.random.default_rng(0)
    copies = rng.standard_normal((10, 5)) * [1, 2, 3, 4, 5] + np.arange(5)
    copies[:5, 0] = np.nan
    features = rng.standard_normal((4, 5)) + 3.0
    found = Importances(features, copies)
    squares = (copies - np.nanmean(copies, axis=0)) ** 2
    shared = np.nansum(squares) / (45 - 5)
    null, statistic = [], []
    for k in range(5):
        own = copies[~np.isnan(copies[:, k]), k]
        for b in range(len(own)):
            rest = np.delete(own, b)
            spread = ((rest - rest.mean()) ** 2).sum() + 2 * shared
            null.append((own[b] - rest.mean()) / np.sqrt(spread / (len(rest) - 1 + 2)))
        spread = np.sqrt((((own - own.mean()) ** 2).sum() + 2 * shared) / (len(own) - 1 + 2))
        statistic.append((features[:, k].mean() - own.mean()) / spread)
    np.testing.assert_allclose(np.sort(found.null.values), np.sort(null))
    np.testing.assert_allclose(found.pvalues, NullSample.of(np.array(null)).pvalues(np.array(statistic)))


def test_limits_are_where_pvalues_are():
    found = compare(sample(1))
    allowed = np.full(6, 0.03)
    limits = found.limits(allowed)
    for step, compared in ((1e-9, np.less_equal), (-1e-9, np.greater)):
        moved = Importances(np.tile(limits + step, (3, 1)), found.copies)
        assert np.all(compared(moved.pvalues, allowed))


def test_units_of_a_feature_do_not_matter():
    """Copies of a feature have its own spread: of few values, or of many that resemble each other."""
    rng = np.random.default_rng(0)
    scale = np.array([1.0, 1e-3, 1e3, 1.0])
    copies = rng.standard_normal((40, 4))
    features = np.tile([4.0, 4.0, 4.0, 0.0], (20, 1))
    found = Importances(features * scale, copies * scale).pvalues
    assert found[2] < 0.001
    assert found[3] > 0.3


def test_nothing_can_be_split_nothing_is_found():
    found = compare(sample(), n_copies=4)
    nothing = Importances(0.0 * found.features, 0.0 * found.copies)
    np.testing.assert_array_equal(nothing.pvalues, 1.0)
    empty = compare(of(np.empty((30, 0)), np.arange(30) % 2))
    assert empty.pvalues.shape == (0,)


def test_rows_are_permuted_by_what_is_exchangeable():
    groups = np.repeat(np.arange(6), 5)
    data = of(np.arange(30.0)[:, None], groups % 2, groups=groups)
    for seed in range(20):
        order = row_permutation(data, np.random.default_rng(seed))
        np.testing.assert_array_equal(groups[order].reshape(6, 5), groups[order].reshape(6, 5)[:, :1].repeat(5, axis=1))
    free = Sample(data.X, data.target, data.weight, data.categorical)
    assert len(set(np.diff(row_permutation(free, np.random.default_rng(0))))) > 5


def test_copies_keep_what_features_have_in_common(monkeypatch):
    """All features of a copy have their rows permuted by one permutation."""
    seen = []

    def keep(forest, data, kind, n_folds, rng):
        seen.append(data.X)
        return np.zeros(data.X.shape[1])

    monkeypatch.setattr("allrelevant.forest.boruta.importances", keep)
    x = np.random.default_rng(0).standard_normal((50, 1))
    compare(of(np.hstack([x, x, x]), x[:, 0] > 0), n_copies=4)
    assert len(seen) == 4
    for number, X in enumerate(seen):
        kinds = np.unique(X, axis=1)
        assert kinds.shape[1] == 2  # not one kind per column
        assert np.all(np.sort(kinds, axis=0) == np.sort(x, axis=0))
        # The features themselves are in the first half of the forests alone.
        assert (kinds == x).all(axis=0).any() == (number < 2)


def test_threads_do_not_matter():
    one, two = compare(sample(), n_jobs=1), compare(sample(), n_jobs=2)
    np.testing.assert_array_equal(one.features, two.features)
    np.testing.assert_array_equal(one.copies, two.copies)


def test_flags_that_are_hardly_ever_set_are_no_better_than_copies():
    data = sample()
    flags = (np.random.default_rng(1).random((300, 6)) < 0.01).astype(float)
    found = compare(Sample(flags, data.target, data.weight, data.categorical))
    assert found.pvalues.min() > 0.01


@pytest.mark.parametrize("factors", [0, 2])
def test_error_where_there_is_nothing_to_find(factors):
    """In 20 sets of 8 features something is found at 5 % in one on average; 5 or more have a chance of .3 %."""
    forest = LightForest(n_estimators=30)
    wrong, small = 0, []
    for seed in range(20):
        rng = np.random.default_rng(5000 + seed)
        X = rng.standard_normal((40, 8)) + 1.5 * rng.standard_normal((40, factors)) @ rng.standard_normal((factors, 8))
        data = of(X, rng.permutation(40) % 2)
        compared = compare_with_copies(data, forest, Copies(n_copies=20), seed=seed, n_jobs=None, progress=Progress())
        pvalues = compared.pvalues
        wrong += int((adjusted_pvalues(pvalues) <= 0.05).any())
        small.append(pvalues)
    assert wrong <= 4
    assert 0.01 < np.mean(np.array(small) <= 0.1) < 0.2

"""The search for C: how far paths are followed, which candidate and which C are chosen, what is scored."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from allrelevant import LinearRelevanceClassifier, LinearRelevanceRegressor
from allrelevant._progress import Progress
from allrelevant.datasets import make_relevance_classification, make_relevance_privileged, make_relevance_regression
from allrelevant.errors import RelevanceWarning
from allrelevant.estimators._folds import search_folds
from allrelevant.formulations import Classification, MultiClass, OrdinalExplicit, Regression, Residual
from allrelevant.relevance import search
from allrelevant.relevance.penalties import N_PENALTIES
from allrelevant.relevance.search import Fold, one_standard_error_rule

NOTHING = (np.zeros(1), np.zeros(1))


def test_the_largest_penalty_within_one_standard_error():
    rng = np.random.RandomState(0)
    for _ in range(50):
        scores = np.cumsum(rng.normal(size=6)) + rng.normal(size=(15, 6))
        mean = scores.mean(axis=0)
        best = mean.argmax()
        error = np.sqrt(((scores[:, best] - mean[best]) ** 2).sum() / 14) / np.sqrt(15)
        first = next(k for k in range(6) if mean[k] >= mean[best] - error)
        assert one_standard_error_rule(scores) == first


@pytest.mark.parametrize(
    ("scores", "place"),
    [
        ([[0.5, 0.9, 1.0], [0.5, 0.9, 0.8], [0.5, 0.9, 0.9]], 1),  # the second is as good as the best
        ([[0.5, 0.85, 1.0], [0.5, 0.85, 0.8], [0.5, 0.85, 0.9]], 1),  # 0.9 - 0.1 / √3 is 0.84
        ([[0.5, 0.83, 1.0], [0.5, 0.83, 0.8], [0.5, 0.83, 0.9]], 2),
        ([[0.5, 0.6, 0.6 + 1e-12, 0.6]], 1),  # a single fold has no error, but there is rounding
    ],
)
def test_one_standard_error_by_hand(scores, place):
    assert one_standard_error_rule(np.array(scores)) == place


class Scores:
    """A search whose models have the given scores: one row per fold, one column per value of C."""

    def __init__(self, monkeypatch, given):
        self.given, self.tried = given, []
        monkeypatch.setattr(search, "_models", lambda parts, *_, **__: [[NOTHING] * len(p.values) for p in parts])
        monkeypatch.setattr(search._FoldPath, "scores", lambda part, *_: self.scores(part))
        monkeypatch.setattr(search, "penalty_path", lambda *_: 10.0 ** np.arange(1.0, 10.0))

    def scores(self, part):
        places = np.rint(np.log10(part.values)).astype(int) - 1
        self.tried.append((part.formulation.hyperparameters.get("epsilon"), len(places)))
        table = np.array(self.given[part.formulation.hyperparameters.get("epsilon")])
        return table[int(part.fold.train[0]) - 1, places]


def folds_of(n_samples, count, repeats=1):
    """Folds whose training weights say which they are."""
    return [
        Fold(np.full(n_samples, k + 1.0), np.where(np.arange(n_samples) % count == k % count, 1.0, 0.0))
        for k in range(count * repeats)
    ]


def test_other_repeats_are_scored_for_the_chosen_candidate_only(monkeypatch):
    rising = np.minimum(0.1 * np.arange(1, 10), 0.6)
    table = {width: np.tile(rising - width, (6, 1)) for width in (0.3, 0.1, 0.03, 0.0)}
    table[0.1] += 0.5
    faked = Scores(monkeypatch, table)
    X = np.zeros((600, 1))
    found = search.search(Regression(), X, np.arange(600.0), np.ones(600), folds_of(600, 3, 2), Progress(), 600.0)
    assert found.formulation.epsilon == 0.1
    assert found.C == 1e6
    later = [width for width, count in faked.tried if count > search.STRETCH]
    assert later == [0.1] * 3


@pytest.mark.parametrize(("count", "repeats"), [(3, 2), (2, 3), (6, 1)])
def test_repeats_are_told_by_how_often_a_sample_is_tested(count, repeats, monkeypatch):
    seen = []
    Scores(monkeypatch, {None: np.tile(np.linspace(0.1, 0.9, 9), (6, 1))})
    honest = search._repeat
    monkeypatch.setattr(
        search,
        "_repeat",
        lambda path, X, y, folds, progress: seen.append(len(folds)) or honest(path, X, y, folds, progress),
    )
    target = np.tile([-1.0, 1.0], 30)
    found = search.search(
        Classification(), np.zeros((60, 1)), target, np.ones(60), folds_of(60, count, repeats), Progress(), 60.0
    )
    assert seen == [count * (repeats - 1)]
    assert (found.C, found.score) == (1e9, pytest.approx(0.9))


@pytest.mark.parametrize(
    ("rows", "C"),
    [
        ([[0.8, 0.91, 0.9, 0.9], [0.8, 0.91, 0.94, 0.94]], 10.0),
        ([[0.8, 0.79, 0.9, 0.9], [0.8, 0.79, 0.7, 0.7]], 0.0),  # as good as none
        ([[0.8, 0.805, 0.9, 0.9], [0.8, 0.805, 0.76, 0.76]], 100.0),  # within one error, but no better than none
    ],
)
def test_no_weights_at_all_are_chosen_where_nothing_beats_them(rows, C, monkeypatch):
    monkeypatch.setattr(search, "_best_candidate", lambda *_: path)
    path = search._Path(Residual(Classification()), np.array([0.0, 10.0, 100.0, 1000.0]), np.array(rows))
    path.models = [NOTHING] * 4
    found = search.search(
        path.formulation, np.zeros((100, 2)), np.ones(100), np.ones(100), folds_of(100, 2), Progress(), 100.0
    )
    assert found.C == C


def test_weights_that_are_rounding_do_not_predict():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    program = Classification().program(X, np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4))
    (small, offset), (large, _) = search._without_rounding(program, np.array([[1e-9], [0.5]]), np.zeros((2, 1)))
    assert_array_equal(small, 0.0)
    assert_array_equal(offset, -1.0)
    assert_array_equal(large, 0.5)


@pytest.mark.parametrize("seed", range(3))
def test_privileged_features_in_place_of_slacks(seed):
    """They leave the regular features weights of 1e-14, whose signs predicted the folds."""
    data = make_relevance_privileged("classification", 100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=seed)
    model = LinearRelevanceClassifier(privileged="replaced", random_state=0, n_copies=1)
    with pytest.warns(RelevanceWarning, match="no weights at all.*privileged='replaced'.*Try another form"):
        model.fit(data.X, data.y, X_privileged=data.X_privileged)
    scores = model.result_.scores
    assert scores["cross_validated"] < scores["training"] + 0.2


def test_decisions_that_tie_but_for_rounding():
    X, w = np.array([[1.0], [1.0]]), np.array([1.0])
    for error in (-1e-15, 1e-15):
        assert_array_equal(Classification().predict(X, w, np.array([1.0 + error])), -1.0)
        assert_array_equal(OrdinalExplicit(2).predict(X, w, np.array([1.0 + error])), 0.0)
        offsets = np.array([1.0, 1.0 + error])
        assert_array_equal(MultiClass(3).predict(X, np.zeros(3), offsets), 0.0)


def test_the_search_repeats_its_folds():
    X, y, _ = make_relevance_classification(120, n_strong=2, n_weak=0, n_irrelevant=6, random_state=1)
    model = LinearRelevanceClassifier(random_state=0, n_copies=1).fit(X, y)
    space = model._exploration.spaces[0]
    folds = list(search_folds(model.cv, space.request, space.data))
    assert len(folds) == 15
    for first in range(0, 15, 3):
        assert_array_equal(sum(fold.test for fold in folds[first : first + 3]), space.data.sample_weight)
    assert len({tuple(fold.test) for fold in folds}) == 15
    assert len(list(search_folds(model.cv, space.request, space.data, repeats=1))) == 3
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=5, random_state=0)
    once = StratifiedKFold(n_splits=3, shuffle=True, random_state=0)
    for cv in (repeated, once):
        assert LinearRelevanceClassifier(cv=cv, n_copies=1, random_state=0).fit(X, y).result_.hyperparameters["C"] > 0


def test_many_samples_need_fewer_repeats():
    X, y, _ = make_relevance_classification(4000, n_strong=2, n_weak=0, n_irrelevant=1, random_state=1)
    model = LinearRelevanceClassifier(C=0.1, random_state=0, n_copies=1).fit(X, y)
    space = model._exploration.spaces[0]
    assert len(list(search_folds(model.cv, space.request, space.data))) == 6


def test_C_hardly_depends_on_the_seed():
    X, y, _ = make_relevance_classification(150, n_strong=3, n_weak=3, n_irrelevant=10, flip_y=0.1, random_state=5)
    C = [
        LinearRelevanceClassifier(random_state=seed, n_copies=1).fit(X, y).result_.hyperparameters["C"]
        for seed in range(6)
    ]
    assert np.ptp(np.log10(C)) <= 0.5 + 1e-9  # one step of the path


@pytest.mark.parametrize("kind", [LinearRelevanceClassifier, LinearRelevanceRegressor])
def test_a_path_ends_where_the_score_no_longer_rises(kind, monkeypatch):
    X, y, _ = make_relevance_regression(300, n_irrelevant=3, noise=0.3, random_state=0)
    counts, part = [], search._Path.part
    monkeypatch.setattr(search._Path, "part", lambda self, fold, count: counts.append(count) or part(self, fold, count))
    kind(random_state=0, n_copies=1).fit(X, y if kind is LinearRelevanceRegressor else y > 0)
    assert counts[:3] == [search.STRETCH] * 3
    solved = counts.count(search.STRETCH) / (6 if kind is LinearRelevanceRegressor else 3)
    assert solved * search.STRETCH < N_PENALTIES


def followed(scores, *, n_samples=500, nothing=0.0, monkeypatch=None):
    """How many values of a path are tried where the scores are these."""
    X, target = np.zeros((n_samples, 1)), np.arange(n_samples, dtype=float)
    path = search._Path(Regression(epsilon=0.1), 10.0 ** np.arange(len(scores)))
    fold = Fold(np.ones(n_samples), np.ones(n_samples))
    monkeypatch.setattr(search._FoldPath, "scores", lambda *_: np.array([nothing]))
    for end in range(search.STRETCH, len(scores) + search.STRETCH, search.STRETCH):
        path.scores = np.array([scores[:end]])
        if path.ended([fold], X, target):
            break
    return path.scores.shape[1]


@pytest.mark.parametrize(
    ("scores", "count"),
    [
        ([0.5, 0.8, 0.8, 0.9, 0.95], 3),  # it has not risen with the last value
        ([0.5, 0.8, 0.9, 0.9, 0.9, 0.9, 0.95], 6),
        ([0.5, 0.8, 0.9, 0.9, 0.9, 0.95, 0.9], 7),  # it has
        ([0.5, 0.8, 0.8018, 0.9, 0.95], 3),  # not by a sample's share
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.95, 0.9], 7),  # it has yet to rise
        ([0.9, 0.9, 0.9, 0.95, 0.9], 3),  # it has risen with the first
        ([0.9, 0.8, 0.7, 0.95, 0.9], 3),
        ([0.5, 0.8], 2),  # a path that is shorter
    ],
)
def test_a_path_is_followed_as_far_as_the_score_rises(scores, count, monkeypatch):
    assert followed(scores, monkeypatch=monkeypatch) == count


@pytest.mark.parametrize(
    ("scores", "best", "reached"),
    [
        ([0.5, 0.7, 0.8], 0.898, True),  # half as much with each of the 6 values that are left
        ([0.5, 0.7, 0.8], 0.899, False),
        ([0.3, 0.4, 0.5], 1.0, True),  # it rises as before
        ([0.2, 0.3, 0.5], 1.6, True),
        ([0.2, 0.3, 0.5], 1.8, False),
        ([0.5, 0.95, 0.85], 0.95, True),  # it was there
        ([0.5, 0.95, 0.85], 0.96, False),
        ([0.5, 0.5, 0.5], 0.9, True),  # it has yet to rise
    ],
)
def test_a_path_that_cannot_win_is_not_followed(scores, best, reached):
    path = search._Path(Regression(epsilon=0.1), 10.0 ** np.arange(9.0), scores=np.array([scores]))
    assert path.may_reach(best) == reached


def tubes(best, n_samples, monkeypatch):
    """Widths tried where the best scores are these."""
    tried = []

    def extend(paths, *_):
        for path in paths:
            tried.append(path.formulation.epsilon)
            path.scores, path.models = np.full((1, 9), best[len(tried) - 1]), [NOTHING] * 9

    monkeypatch.setattr(search, "_extend", extend)
    X, weight = np.random.RandomState(0).normal(size=(n_samples, 1)), np.ones(n_samples)
    found = search._best_candidate(Regression(), X, X[:, 0], weight, [], Progress())
    return tried, found.formulation.epsilon


@pytest.mark.parametrize(
    ("best", "n_samples", "tried", "chosen"),
    [
        ([0.9, 0.95, 0.97], 500, [0.3, 0.1, 0.03], 0.03),  # a ninth of 0.05 is more than a tie
        ([0.9, 0.915, 0.97], 500, [0.3, 0.1], 0.1),
        ([0.9, 0.8, 0.97], 500, [0.3, 0.1], 0.3),
        ([0.9, 0.915, 0.917, 0.99], 2000, [0.3, 0.1, 0.03], 0.03),
        ([0.9, 0.95, 0.96, 0.97], 2000, [0.3, 0.1, 0.03, 0.0], 0.0),
        ([0.9, 0.99], 50, [0.3, 0.1], 0.1),
    ],
)
def test_a_narrower_tube_is_tried_where_it_may_gain(best, n_samples, tried, chosen, monkeypatch):
    assert tubes(best, n_samples, monkeypatch) == (tried, chosen)


def test_what_a_narrower_tube_gains_grows_with_the_square_of_the_width():
    """Errors that a tube hides are at most its width, and evenly spread."""
    candidates = [Regression(width) for width in (0.3, 0.1, 0.03, 0.0)]
    scores = [1.0 - each.epsilon**2 / 3 for each in candidates]
    for count in (2, 3):
        gain = Regression().next_gain(candidates, scores[:count])
        assert gain == pytest.approx(scores[count] - scores[count - 1])
    assert Regression().next_gain(candidates, scores[:1]) == np.inf
    assert Regression().next_gain(candidates, scores) == np.inf
    assert Classification().next_gain([Classification()], [0.5]) == np.inf


@pytest.mark.parametrize(("ahead", "followed"), [(0.001, True), (0.003, False)])
def test_a_wider_tube_that_may_reach_a_tie_is_followed(ahead, followed, monkeypatch):
    """Of two that are a tie the wider one is taken: it need not become the best."""
    # The first rises half as much with each value, and 6 are left.
    within_reach = 0.8 + 0.1 * (1.0 - 0.5**6)
    scores = {0.3: [0.5, 0.7, 0.8, *([0.0] * 6)], 0.1: [0.5, *([within_reach + ahead] * 8)]}
    paths = [search._Path(Regression(width), 10.0 ** np.arange(9.0)) for width in scores]
    second = []

    def found(part, *_):
        begin = 0 if part.values[0] == 1.0 else 3
        second.extend([part.formulation.epsilon] * (begin > 0))
        return np.array(scores[part.formulation.epsilon][begin : begin + len(part.values)])

    monkeypatch.setattr(search, "_models", lambda parts, *_, **__: [[NOTHING] * len(part.values) for part in parts])
    monkeypatch.setattr(search._FoldPath, "scores", found)
    everyone = np.ones(500)
    search._extend(paths, [], np.zeros((500, 1)), np.zeros(500), [Fold(everyone, everyone)], Progress())
    assert second == [0.3] * followed

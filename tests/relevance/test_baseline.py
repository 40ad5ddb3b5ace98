"""What the search for the baseline begins with."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from allrelevant import LinearRelevanceClassifier, LinearRelevanceRegressor
from allrelevant._progress import Progress
from allrelevant.datasets import make_relevance_regression
from allrelevant.formulations import Classification, OrdinalExplicit, Regression
from allrelevant.lp import PenalisedSolver
from allrelevant.relevance import baseline
from allrelevant.relevance.baseline import Fold


def programs(seed):
    """Programs of one offset: classes of all shares, targets with ties, weights that may be 0."""
    rng = np.random.RandomState(seed)
    n = rng.randint(2, 60)
    X, weight = rng.normal(size=(n, 2)), rng.choice([0.0, 0.3, 1.0, 2.0], n)
    yield Classification().program(X, np.where(rng.rand(n) < rng.rand(), 1.0, -1.0), np.ones(n))
    yield Classification().program(X, np.ones(n), weight)
    yield Regression(epsilon=rng.choice([0.0, 0.1])).program(X, np.round(rng.normal(size=n), 1), weight)


@pytest.mark.parametrize("seed", range(20))
def test_one_offset_is_a_quantile(seed, monkeypatch):
    for program in programs(seed):
        none = np.zeros(2)
        b = baseline._bare_offsets(program)
        _, best = PenalisedSolver(baseline._bare(program)).solve(1.0)
        assert program.loss(none, b) <= program.loss(none, best) * (1 + 1e-9) + 1e-12
        path = baseline.penalty_path(program)
        with monkeypatch.context() as patch:
            patch.setattr(baseline, "_bare_offsets", lambda _, best=best: best)
            assert_allclose(path, baseline.penalty_path(program), rtol=1e-12)


def test_rows_without_weight_or_offset_say_nothing():
    program = Classification().program(np.ones((3, 1)), np.array([1.0, -1.0, 1.0]), np.zeros(3))
    assert baseline._bare_offsets(program) == 0.0


def test_several_offsets_are_found_by_a_linear_program():
    rng = np.random.RandomState(0)
    target = rng.randint(3, size=30).astype(float)
    program = OrdinalExplicit(3).program(rng.normal(size=(30, 2)), target, np.ones(30))
    b = baseline._bare_offsets(program)
    assert b.shape == (2,)
    better = [program.loss(np.zeros(2), b + step) for step in 0.1 * rng.normal(size=(50, 2))]
    assert program.loss(np.zeros(2), b) <= min(better) + 1e-12


def followed(scores, *, n_samples=500, nothing=0.0, monkeypatch=None):
    """How many values of a path are tried where the scores are these."""
    X, target = np.zeros((n_samples, 1)), np.arange(n_samples, dtype=float)
    track = baseline._Track(Regression(epsilon=0.1), 10.0 ** np.arange(len(scores)))
    fold = Fold(np.ones(n_samples), np.ones(n_samples))
    monkeypatch.setattr(baseline._Job, "scores", lambda *_: np.array([nothing]))
    for _ in range(0, len(scores), baseline.STRETCH):
        job = track.job(fold, baseline.STRETCH)
        models = [(np.zeros(1), np.zeros(1))] * len(job.path)
        track.add(job, models, np.array(scores)[job.begin : job.begin + len(models)])
        if track.ended([fold], X, target):
            break
    return len(track.scores)


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


@pytest.mark.parametrize("given", [{}, {"epsilon": 0.1}])
def test_only_smooth_scores_end_a_path(given, monkeypatch):
    X, y, _ = make_relevance_regression(300, n_irrelevant=3, noise=0.3, random_state=0)
    followed, job = [], baseline._Track.job
    monkeypatch.setattr(
        baseline._Track, "job", lambda self, fold, count: followed.append(count) or job(self, fold, count)
    )
    LinearRelevanceRegressor(random_state=0, **given).fit(X, y)
    assert followed[0] == baseline.STRETCH
    followed.clear()
    LinearRelevanceClassifier(random_state=0).fit(X, y > 0)
    assert set(followed) == {baseline.N_PENALTIES}


def test_shares_of_folds_add_up():
    track = baseline._Track(Regression(epsilon=0.1), np.array([1.0, 2.0, 4.0]))
    fold, model = Fold(np.ones(3), np.ones(3)), (np.zeros(1), np.zeros(1))
    for stretch, shares in ((2, [0.1, 0.2]), (2, [0.3])):
        jobs = [track.job(fold, stretch) for _ in range(2)]
        for job in jobs:
            track.add(job, [model] * len(job.path), np.array(shares))
    assert_allclose(track.scores, [0.2, 0.4, 0.6])
    assert len(track.models) == 3
    assert track.ended([fold], np.zeros((3, 1)), np.zeros(3))


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
    ],
)
def test_a_path_that_cannot_win_is_not_followed(scores, best, reached):
    track = baseline._Track(Regression(epsilon=0.1), 10.0 ** np.arange(9.0), scores=np.array(scores))
    assert track.may_reach(best) == reached


def tubes(best, n_samples, monkeypatch):
    """Widths tried where the best scores are these."""
    tried = []

    def follow(tracks, *_):
        for track in tracks:
            tried.append(track.formulation.epsilon)
            track.scores, track.models = np.full(9, best[len(tried) - 1]), [(np.zeros(1), np.zeros(1))] * 9

    monkeypatch.setattr(baseline, "_follow", follow)
    X, weight = np.random.RandomState(0).normal(size=(n_samples, 1)), np.ones(n_samples)
    found = baseline._search(Regression(), X, X[:, 0], weight, [], Progress())
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
    tracks = [baseline._Track(Regression(width), 10.0 ** np.arange(9.0)) for width in scores]
    model, second = (np.zeros(1), np.zeros(1)), []

    def found(job, *_):
        second.extend([job.formulation.epsilon] * (job.begin > 0))
        return np.array(scores[job.formulation.epsilon][job.begin : job.begin + len(job.path)])

    monkeypatch.setattr(baseline, "_models", lambda jobs, *_, **__: [[model] * len(job.path) for job in jobs])
    monkeypatch.setattr(baseline._Job, "scores", found)
    everyone = np.ones(500)
    baseline._follow(tracks, [], np.zeros((500, 1)), np.zeros(500), [Fold(everyone, everyone)], Progress())
    assert second == [0.3] * followed

"""The penalised problem, many at once: as good as one by one by HiGHS."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant.datasets import make_relevance_classification, make_relevance_ordinal, make_relevance_regression
from allrelevant.errors import RelevanceWarning, SolverError
from allrelevant.formulations import Classification, OrdinalExplicit, OrdinalImplicit, Regression
from allrelevant.lp import PenalisedSolver, lockstep, optimum, paths, penalised_paths
from allrelevant.lp.band import SmoothPenaltySystem
from allrelevant.lp.certificate import penalised_gap
from allrelevant.lp.penalised import HighsPenalised
from allrelevant.lp.program import Program
from allrelevant.lp.smooth import Smoothed
from allrelevant.lp.targets import Duals
from allrelevant.relevance import search
from allrelevant.relevance.penalties import penalty_path
from allrelevant.relevance.search import SEARCH_GAP


def samples(kind, n, seed):
    """Formulations, data and target."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 5)) * rng.choice([0.1, 1.0, 10.0], 5)
    signal = X[:, 0] / X[:, 0].std() + 0.5 * rng.normal(size=n)
    if kind == "classification":
        return [Classification()], X, np.where(signal > 0.3, 1.0, -1.0)
    if kind == "regression":
        return [Regression(0.3), Regression(0.0)], X, signal
    ordinal = OrdinalExplicit if kind == "explicit order" else OrdinalImplicit
    return [ordinal(4)], X, np.digitize(signal, [-0.8, 0.0, 0.9]).astype(float)


KINDS = ["classification", "regression", "explicit order", "implicit order"]


def folds(kind, n=90, seed=0):
    """Programs of folds of different sizes, and penalties."""
    formulations, X, target = samples(kind, n, seed)
    programs, values = [], []
    weight = np.random.RandomState(seed).choice([0.5, 1.0, 3.0], n)
    for left in (slice(0, n // 3), slice(n // 4, n // 2), slice(n - 1, n)):
        train = np.ones(n, dtype=bool)
        train[left] = False
        for formulation in formulations:
            programs.append(formulation.program(X[train], target[train], weight[train]))
            values.append(penalty_path(formulation.program(X, target, weight)))
    return programs, values


def objectives(program, C, points):
    w, b = points
    return program.norm(w) + C * program.loss(w, b)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_optima_as_one_by_one(kind, seed):
    programs, values = folds(kind, seed=seed)
    found = paths.InteriorPaths(programs, values).solve()
    for program, C, (w, b, duals) in zip(programs, values, found, strict=True):
        assert duals.alpha.shape == (len(C), program.n_rows)
        assert penalised_gap(program, C, w, b, duals).max() <= SEARCH_GAP
        exact = objectives(program, C, PenalisedSolver(program).path(C, 1e-9))
        np.testing.assert_allclose(objectives(program, C, (w, b)), exact, rtol=1e-5)


def test_programs_of_the_same_rows_share_them():
    programs, values = folds("regression")
    engine = paths.InteriorPaths(programs, values)
    assert len(engine._rows.each) == 3  # folds; each has two widths of the tube
    assert engine._rows.ends.tolist() == [18, 36, 54]


def test_what_is_not_proven_is_left_to_highs(monkeypatch):
    programs, values = folds("explicit order")
    monkeypatch.setattr(lockstep, "MAX_ITERATIONS", 4)
    claims = paths.InteriorPaths(programs, values).solve()
    assert all(
        penalised_gap(p, C, *claim).max() > SEARCH_GAP for p, C, claim in zip(programs, values, claims, strict=True)
    )
    found = penalised_paths(programs, values, SEARCH_GAP, at_once=True)
    for program, C, points in zip(programs, values, found, strict=True):
        exact = objectives(program, C, PenalisedSolver(program).path(C, 1e-9))
        np.testing.assert_allclose(objectives(program, C, points), exact, rtol=SEARCH_GAP)


def test_where_the_engine_fails_highs_takes_over(monkeypatch):
    def fails(*_):
        raise MemoryError("no room")

    programs, values = folds("classification")
    monkeypatch.setattr(optimum, "InteriorPaths", fails)
    with pytest.warns(RelevanceWarning, match="no room"):
        found = penalised_paths(programs, values, SEARCH_GAP, at_once=True)
    for program, C, (w, b) in zip(programs, values, found, strict=True):
        exact = PenalisedSolver(program).path(C, SEARCH_GAP)
        np.testing.assert_array_equal(w, exact[0])
        np.testing.assert_array_equal(b, exact[1])


def test_folds_of_few_samples_are_left_to_highs():
    X, y, _ = make_relevance_classification(300, n_irrelevant=40, random_state=0)
    assert paths.problems_at_once(Classification().program(X, np.where(y > 0, 1.0, -1.0), np.ones(300))) > 0
    few = ShuffleSplit(3, train_size=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = LinearRelevanceClassifier(cv=few, random_state=0).fit(X, y).result_
    assert result.max_gap <= 1e-6


def test_single_precision_stops_where_it_is_lost(monkeypatch):
    # With a large C, multipliers in single precision are off by more than what is missing, if they go far.
    monkeypatch.setattr(paths, "NEAR", 1e-3)
    X, y, _ = make_relevance_ordinal(500, n_irrelevant=20, n_strong=4, n_weak=6, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    formulation, target = OrdinalExplicit(5), y.astype(float)
    fold = np.random.default_rng(0).permutation(np.arange(500) % 3)
    programs = [formulation.program(X[fold != k], target[fold != k], np.ones((fold != k).sum())) for k in range(3)]
    values = [penalty_path(formulation.program(X, target, np.ones(500)))] * 3

    def residuals():
        """What residuals cost when double precision takes over, as a share of the gap then, and the gap at last."""
        engine, seen = paths.InteriorPaths(programs, values), []
        finish = engine._finish

        def watched(rows, state, batch, *rest):
            seen.append(engine._missing(rows, state, batch, (state.P * state.Z).sum(axis=1)))
            return finish(rows, state, batch, *rest)

        engine._finish = watched
        found = engine.solve()
        gaps = [penalised_gap(p, C, *claim).max() for p, C, claim in zip(programs, values, found, strict=True)]
        ((share, cost, _),) = seen
        return (cost / share).max(), max(gaps)

    kept, gap = residuals()
    assert kept < 100.0
    assert gap < 1e-5
    monkeypatch.setattr(paths, "LOST", np.inf)
    assert residuals()[0] > 10 * kept


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (LinearRelevanceClassifier, make_relevance_classification),
        (LinearRelevanceRegressor, make_relevance_regression),
        (LinearRelevanceOrdinal, make_relevance_ordinal),
    ],
)
def test_the_search_decides_the_same(kind, make, monkeypatch):
    X, y, _ = make(300, n_irrelevant=5, noise=0.5, random_state=0)
    batches = []
    solve = paths.InteriorPaths.solve
    monkeypatch.setattr(paths.InteriorPaths, "solve", lambda self: batches.append(len(self._C)) or solve(self))
    together = kind(random_state=0).fit(X, y).result_
    assert batches[0] == (18 if kind is LinearRelevanceRegressor else 9)
    before = len(batches)
    monkeypatch.setattr(search, "problems_at_once", lambda *_: 20)
    by_two = kind(random_state=0).fit(X, y).result_
    assert batches[before] == 6
    monkeypatch.setattr(search, "problems_at_once", lambda *_: 0)
    before = len(batches)
    alone = kind(random_state=0).fit(X, y).result_
    assert len(batches) == before
    for other in (by_two, alone):
        assert other.hyperparameters == together.hyperparameters
        np.testing.assert_allclose(other.intervals, together.intervals, atol=1e-8)


def test_which_programs_go_together():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(300, 4)), np.where(rng.rand(300) < 0.5, 1.0, -1.0)[:, None]
    program = Program.build(y * X, -y, np.ones(300))
    assert paths.problems_at_once(program) > 27
    few = Program.build((y * X)[:50], -y[:50], np.ones(50))
    wide = Program.build(rng.normal(size=(300, 200)), -y, np.ones(300))
    linear = Program.build(y * X, -y, np.ones(300), v=np.ones(1))
    shared = Program.build(y * X, -y, np.ones(300), slack=np.repeat(np.arange(150), 2))
    assert [paths.problems_at_once(other) for other in (few, wide, linear, shared)] == [0, 0, 0, 0]
    many = Program.build(np.ones((50_000, 1)), np.ones((50_000, 1)), np.ones(50_000))
    assert 1 <= paths.problems_at_once(many) < 9
    # The problems of one path go together also where they are more than a batch should be; not at any price.
    assert [paths.problems_at_once(many, least) for least in (9, 10, 50)] == [9, 10, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_nearby_saves_iterations_and_changes_nothing(kind):
    formulations, X, target = samples(kind, 300, 1)
    program = formulations[-1].program(X, target, np.ones(300))
    some = formulations[-1].program(X[:200], target[:200], np.ones(200))
    C = float(penalty_path(program)[5])
    near = PenalisedSolver(some).solve(C)
    spent = []
    for point in (None, near):
        engine = HighsPenalised(program)
        if point is not None:
            engine.begin(C, *point)
        w, b, _ = engine.solve(C)
        spent.append((engine._highs.getInfo().simplex_iteration_count, objectives(program, C, (w, b))))
    assert spent[1][0] < spent[0][0]
    assert spent[1][1] == pytest.approx(spent[0][1], rel=1e-9)


def test_a_point_that_is_far_off_does_no_harm():
    programs, values = folds("explicit order")
    program, C = programs[0], float(values[0][4])
    exact = objectives(program, C, PenalisedSolver(program).solve(C))
    rng = np.random.RandomState(0)
    for near in [(rng.normal(size=5), rng.normal(size=3)), (1e6 * np.ones(5), np.zeros(3)), (np.zeros(5), np.zeros(3))]:
        found = PenalisedSolver(program).solve(C, near)
        assert objectives(program, C, found) == pytest.approx(exact, rel=1e-9)


def test_a_beginning_that_fails_is_a_typed_error(monkeypatch):
    def fails(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(HighsPenalised, "begin", fails)
    program = folds("classification")[0][0]
    with pytest.raises(SolverError, match="no room"):
        PenalisedSolver(program).solve(1.0, (np.ones(5), np.zeros(1)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_start_is_near_the_least_squares(kind):
    programs, values = folds(kind)
    engine = paths.InteriorPaths(programs, values)
    x = engine._least_squares()
    rows, first = engine._programs_rows, np.cumsum([0, *(len(C) for C in values)])[:-1]
    state = engine._starts(x, rows.forward(x, None) - rows.right)
    wp, wm, xi, surplus, *_ = engine._part
    assert (state.P > 0).all()
    assert (state.Z > 0).all()
    for program, place, at in zip(programs, engine._places, first, strict=True):
        root = np.sqrt(program.s)
        K = np.hstack([program.A, program.B])
        matrix = K.T @ (program.s[:, None] * K)
        ridge = np.sqrt(paths.RIDGE * np.trace(matrix) / len(matrix) + paths.LEAST) * np.eye(len(matrix))
        goal = np.append(root * (program.r + paths.BEYOND), np.zeros(len(matrix)))
        x = np.linalg.lstsq(np.vstack([root[:, None] * K, ridge]), goal, rcond=None)[0]
        found = np.append(state.P[at, wp] - state.P[at, wm], state.b[at])
        np.testing.assert_allclose(found, x, atol=1e-8)
        margin = (state.P[at, surplus] - state.P[at, xi])[place]
        np.testing.assert_allclose(margin, K @ x - program.r, atol=1e-8)


def noisy(noise, n=250, seed=0):
    """Programs of folds of different sizes for two tubes, and penalties."""
    X, y, _ = make_relevance_regression(n, n_irrelevant=4, noise=noise, random_state=seed)
    y = (y - y.mean()) / y.std()
    programs, values = [], []
    for left in (slice(0, n // 3), slice(n // 3, 2 * n // 3 + 1)):
        train = np.ones(n, dtype=bool)
        train[left] = False
        for width in (0.3, 0.1):
            programs.append(Regression(width).program(X[train], y[train], np.ones(train.sum())))
            values.append(penalty_path(programs[-1])[:5])
    return programs, values


@pytest.mark.parametrize(("noise", "smooth"), [(0.0, 0), (0.2, 20), (1.0, 14)])
def test_a_loss_that_stays_is_approached_smoothly(noise, smooth, monkeypatch):
    """Without noise the loss vanishes, and with it what is smooth."""
    tried, arrivals, follow = [], [], Smoothed.follow

    def watched(self, rows, batch, system):
        assert system is SmoothPenaltySystem
        arrived = follow(self, rows, batch, system)
        tried.append(len(arrived))
        arrivals.append(int(arrived.sum()))
        return arrived

    monkeypatch.setattr(Smoothed, "follow", watched)
    programs, values = noisy(noise)
    found = paths.InteriorPaths(programs, values).solve()
    assert sum(tried) == smooth
    assert sum(arrivals) >= 0.8 * smooth
    for program, C, (w, b, duals) in zip(programs, values, found, strict=True):
        assert penalised_gap(program, C, w, b, duals).max() <= 1e-5
        exact = objectives(program, C, PenalisedSolver(program).path(C, 1e-9))
        np.testing.assert_allclose(objectives(program, C, (w, b)), exact, rtol=1e-6)


@pytest.mark.parametrize("late", [slice(0, 20, 3), slice(0, 20)])
def test_who_does_not_arrive_smoothly_goes_the_other_way(late, monkeypatch):
    programs, values = noisy(0.2)
    others, approach, follow = [], lockstep.Lockstep._approach, Smoothed.follow

    def spoilt(self, *args):
        arrived = follow(self, *args)
        arrived[late] = False
        return arrived

    def watched(self, state, *rest):
        others.append(len(state))
        approach(self, state, *rest)

    monkeypatch.setattr(Smoothed, "follow", spoilt)
    monkeypatch.setattr(lockstep.Lockstep, "_approach", watched)
    found = paths.InteriorPaths(programs, values).solve()
    assert others == [len(range(20)[late])]
    for program, C, claim in zip(programs, values, found, strict=True):
        assert penalised_gap(program, C, *claim).max() <= 1e-5


def test_rows_that_are_added_keep_mirror_images():
    programs, values = noisy(1.0)
    engine = paths.InteriorPaths(programs, values)
    sizes = [program.n_rows for program in programs]
    assert len(set(sizes)) > 1
    assert [rows.mirrored for rows in engine._rows.each] == [max(sizes) // 2] * 2
    x = np.random.RandomState(0).normal(size=(len(programs), engine._rows.d + 1))
    left = engine._programs_rows.forward(x, None) - engine._programs_rows.right
    for k, (program, place) in enumerate(zip(programs, engine._places, strict=True)):
        here = program.A @ x[k, :-1] + program.B @ x[k, -1:] - program.r
        np.testing.assert_allclose(left[k, place], here, atol=1e-12)
        assert (np.delete(left[k], place) == 1.0).all() if sizes[k] < max(sizes) else len(left[k]) == sizes[k]


def test_programs_with_other_mirror_images_do_without():
    rng = np.random.RandomState(0)
    A, signs = rng.normal(size=(40, 3)), np.repeat([1.0, -1.0], 40)[:, None]
    mirrored = Program.build(np.vstack([A, -A]), signs, np.ones(80))
    plain = Program.build(np.vstack([A, 1.0 - A]), signs, np.ones(80))
    C = np.array([0.1, 1.0])
    engine = paths.InteriorPaths([mirrored, plain], [C, C])
    assert [rows.mirrored for rows in engine._rows.each] == [0, 0]
    assert [rows.mirrored for rows in paths.InteriorPaths([mirrored], [C])._rows.each] == [40]
    for program, claim in zip((mirrored, plain), engine.solve(), strict=True):
        assert penalised_gap(program, C, *claim).max() <= SEARCH_GAP


def test_programs_that_differ_in_right_sides_only_share_their_proofs(monkeypatch):
    """Padded, proven and solved together as they would be each by itself."""
    rng = np.random.RandomState(0)
    calls = []

    def counted(program, *claim):
        calls.append(program.r.shape)
        return penalised_gap(program, *claim)

    monkeypatch.setattr(optimum, "penalised_gap", counted)
    wide, narrow = Regression(0.3), Regression(0.05)
    folds = []
    for n in (150, 149):
        X = rng.normal(size=(n, 4))
        y = X @ [1.0, 0.5, 0.0, 0.0] + 0.3 * rng.normal(size=n)
        first = wide.program(X, y, np.ones(n))
        second = narrow.restated(first, y)
        stated = narrow.program(X, y, np.ones(n))
        assert second.restates(first)
        assert not stated.restates(first)
        np.testing.assert_array_equal(second.r, stated.r)
        np.testing.assert_array_equal(second.A, stated.A)
        folds.append(([first, second], [first, stated]))
    C = [np.array([0.1, 1.0]), np.array([0.2, 2.0, 20.0])] * 2
    shared, apart = (
        penalised_paths([program for fold in folds for program in fold[k]], C, SEARCH_GAP, at_once=True) for k in (0, 1)
    )
    assert calls == [(5, 300), (5, 298), (2, 300), (3, 300), (2, 298), (3, 298)]
    for (w, b), (other_w, other_b) in zip(shared, apart, strict=True):
        np.testing.assert_array_equal(w, other_w)
        np.testing.assert_array_equal(b, other_b)


def test_gaps_of_points_with_right_sides_of_their_own():
    rng = np.random.RandomState(1)
    X, y, C = rng.normal(size=(60, 3)), rng.normal(size=60), np.array([1.0])
    programs = [Regression(width).program(X, y, np.ones(60)) for width in (0.1, 0.4)]
    claims = [HighsPenalised(program).path(C) for program in programs]
    claims[1] = claims[1][0] + 0.01, *claims[1][1:]
    alone = [penalised_gap(program, C, *claim)[0] for program, claim in zip(programs, claims, strict=True)]
    (w, b, duals), (other_w, other_b, other_duals) = claims
    both = Duals(*(np.concatenate([getattr(duals, k), getattr(other_duals, k)]) for k in ("alpha", "beta", "lam")))
    together = penalised_gap(
        replace(programs[0], r=np.stack([program.r for program in programs])),
        np.repeat(C, 2),
        np.concatenate([w, other_w]),
        np.concatenate([b, other_b]),
        both,
    )
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-15)
    assert together[0] < 1e-9 < 1e-4 < together[1]

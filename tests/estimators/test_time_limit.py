"""Fits that run out of time: what they return is proven, and what they do not know they do not claim."""

from __future__ import annotations

import itertools
import os
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config

from allrelevant import (
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
    RelevanceResult,
    RelevanceWarning,
)
from allrelevant.errors import TimeLimitReached
from allrelevant.lp import GAP_LIMIT, deadline
from allrelevant.lp.deadline import Deadline
from allrelevant.relevance import solving
from allrelevant.report import write_csv, write_markdown, write_report
from leftovers import check_threads
from reference import ENGINES, solved_by

GROUPS = {"pair": [2, 3], "many": [4, 5, 6, 7, 8, 9, 10]}
CASES = {
    "kernel": (LinearRelevanceClassifier, {}),
    "reference": (LinearRelevanceClassifier, {}),
    "joint": (LinearRelevanceClassifier, {"budgets": "joint"}),
    "each": (LinearRelevanceClassifier, {"control": "none", "level": 0.01}),
    "groups": (LinearRelevanceClassifier, {"feature_groups": GROUPS}),
    "papers": (LinearRelevanceClassifier, {"threshold_rule": "papers", "level": 0.01}),
    "regression": (LinearRelevanceRegressor, {}),
    "ordinal": (LinearRelevanceOrdinal, {}),
    "several classes": (LinearRelevanceClassifier, {}),
}
#: Targets per batch, so that there are several.
FEW = 4
#: How closely two proofs of a bound agree.
PROVEN = 3 * GAP_LIMIT
CUTS = {"several classes": [-1, 1], "ordinal": [-1, 1]}


def data(case):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 12))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=60)
    signal = X[:, 0] + X[:, 2] + X[:, 4] + 0.3 * rng.normal(size=60)
    return X, signal if case == "regression" else np.digitize(signal, CUTS.get(case, [0]))


def fit(case, time_limit=None, **more):
    kind, options = CASES[case]
    options = {"C": 0.5, "n_probes": 12, "n_copies": 2, "random_state": 0, **options, **more}
    with warnings.catch_warnings(), solved_by("reference" if case == "reference" else "kernel"):
        warnings.simplefilter("ignore", RelevanceWarning)
        return kind(time_limit=time_limit, **options).fit(*data(case))


def ticking(monkeypatch):
    """A clock that goes on by a second whenever somebody looks at it, and says how late it is."""
    clock = itertools.count()
    now = [0]

    def look():
        now[0] = next(clock)
        return float(now[0])

    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=look))
    monkeypatch.setattr(solving, "BATCH", FEW)
    return now


@pytest.fixture
def ticks(monkeypatch):
    return ticking(monkeypatch)


@pytest.mark.parametrize("case", CASES)
def test_whatever_is_returned_is_true(case, ticks):
    full = fit(case, time_limit=1e6)
    whole, expected = ticks[0], full.result_
    assert not expected.incomplete
    assert not expected.tentative
    seen = {"early": 0, "incomplete": 0, "decided": 0, "undecided": 0}
    for limit in (1.0, *(share * whole for share in (0.05, 0.1, 0.2, 0.35, 0.6, 0.97))):
        try:
            result = fit(case, time_limit=limit).result_
        except TimeLimitReached:
            seen["early"] += 1
            continue
        # The true intervals are within those returned, and equal to those that are not said to be wider.
        assert (result.intervals[:, 0] <= expected.intervals[:, 0] + PROVEN).all()
        exact = np.array([name not in result.incomplete for name in result.feature_names])
        np.testing.assert_allclose(result.intervals[exact], expected.intervals[exact], rtol=0, atol=PROVEN)
        proven = np.ones(len(exact), dtype=bool)
        if "many" in result.feature_names:  # attained only, if all goes well
            proven[result.feature_names.index("many")] = False
        assert (result.intervals[proven, 1] >= expected.intervals[proven, 1] - PROVEN).all()
        limits = result.thresholds
        if limits.n_usable == expected.thresholds.n_usable:
            assert (result.classes <= expected.classes).all()
            decided = np.array([name not in result.tentative for name in result.feature_names])
            np.testing.assert_array_equal(result.classes[decided], expected.classes[decided])
        if limits.rule == "papers" and limits.n_usable < 3:
            assert np.isnan(limits.max_relevance)
            assert not result.classes.any()
            assert len(result.tentative) == (result.intervals[:, 1] > 1e-6).sum()
        if limits.rule == "copies" and not limits.n_usable:  # then there is the evidence alone, which takes no bounds
            assert np.isnan([result.together_pvalues, result.limits]).all()
            np.testing.assert_array_equal(result.pvalues, expected.alone_pvalues)
            np.testing.assert_array_equal(result.classes > 0, result.adjusted_pvalues <= limits.level)
            missing = (result.classes == 0) & (result.intervals[:, 1] > 1e-6)
            assert {result.feature_names[k] for k in np.flatnonzero(missing)} <= set(result.tentative)
        assert (result.pvalues >= expected.pvalues - 1e-6).all() or limits.n_usable < expected.thresholds.n_usable
        if result.incomplete or result.tentative:
            assert any("time limit" in note for note in result.notes)
        assert any("time limit" in note for note in result.notes) == (limits.n_usable < limits.n_probes)
        seen["incomplete"] += bool(result.incomplete)
        seen["decided"] += not result.tentative and not result.incomplete
        seen["undecided"] += bool(result.tentative)
        assert RelevanceResult.from_json(result.to_json()) == result
    assert min(seen.values()) > 0, seen


@pytest.mark.parametrize("case", ["kernel", "reference", "groups", "papers"])
def test_a_limit_that_is_not_reached_changes_nothing(case):
    free, limited = (fit(case, limit).result_.to_dict() for limit in (None, 600.0))
    for one in (free, limited):
        del one["cpu_seconds"], one["parameters"]["time_limit"]
    assert str(free) == str(limited)  # with numbers that are unknown


def wide():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(1000, 200))
    return X, X[:, :20].sum(axis=1) + 3 * rng.normal(size=1000) > 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_ends_in_time(engine, n_jobs):
    before = threading.active_count()
    model = LinearRelevanceClassifier(C=0.05, n_jobs=n_jobs, time_limit=1.0, random_state=0)
    began = time.process_time()
    with solved_by(engine), pytest.warns(RelevanceWarning, match="time limit was reached"):
        model.fit(*wide())
    # Whatever else a machine does; and far less than the fit would take, half a minute or minutes.
    assert time.process_time() - began < 7.0
    check_threads(before)
    assert len(model.result_.incomplete) > 0
    assert model.result_.intervals.max() <= 1.1 + 1e-9  # the norm budget


def cpu_seconds():
    """Of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


def test_processes_end_in_time():
    from joblib.externals.loky import get_reusable_executor

    model = LinearRelevanceClassifier(C=0.05, time_limit=1.0, random_state=0)
    with parallel_config(backend="loky", n_jobs=2):
        fit("kernel")  # starts the processes, which takes a while
        began = cpu_seconds()
        with pytest.warns(RelevanceWarning, match="time limit was reached"):
            model.fit(*wide())
    get_reusable_executor().shutdown(wait=True)
    # Of three processes, two of them with their imports.
    assert cpu_seconds() - began < 3 * 7.0 + 2 * 7.0
    assert len(model.result_.incomplete) > 0


def test_without_a_baseline_there_is_nothing_to_return():
    model = LinearRelevanceClassifier(time_limit=0.3)
    with pytest.raises(TimeLimitReached, match=r"time_limit=0\.3 .* baseline model .* allow more time"):
        model.fit(*wide())
    assert not hasattr(model, "result_")


@pytest.mark.parametrize("value", [0.0, -1.0, "1 min"])
def test_the_limit_is_checked(value):
    with pytest.raises(ValueError, match="'time_limit' parameter"):
        fit("kernel", value)


@pytest.fixture(scope="module")
def late():
    """A fit that some intervals were too late for: those with ever smaller limits, until one is."""
    with pytest.MonkeyPatch.context() as patch:
        ticks = ticking(patch)
        for limit in range(60, 0, -4):
            ticks[0] = 0
            found = fit("kernel", time_limit=float(limit))
            if found.result_.incomplete:
                return found
    raise AssertionError("no limit is early enough")


def test_the_fixture_is_incomplete_and_undecided(late):
    assert late.result_.incomplete
    assert late.result_.tentative


def test_a_result_says_what_is_missing(late, tmp_path):
    result = late.result_
    name = result.tentative[0]
    summary = result.summary()
    assert "Time ran out before all bounds were found" in summary
    assert "All bounds are proven" not in summary
    assert f"decided about {name}" in summary
    listed = [line for line in summary.splitlines() if " relevant (" in line or " irrelevant (" in line]
    assert not any(name in line.split(": ", 1)[1].split(", ") for line in listed)
    assert "?" in result.table()
    assert "?" in result._repr_html_()
    frame = result.to_frame()
    assert frame.loc[list(result.incomplete), "incomplete"].all()
    assert frame["incomplete"].sum() == len(result.incomplete)
    page = write_report(result, tmp_path / "report.html").read_text()
    assert "whose interval may be far too wide" in page
    assert "no bound can be further off" not in page
    assert "Time ran out" in write_markdown(result, tmp_path / "report.md").read_text()
    head = write_csv(result, tmp_path / "report.csv").read_text().splitlines()[0]
    assert {"tentative", "incomplete"} <= set(head.split(","))


def test_results_of_before_are_complete(late):
    content = late.result_.to_dict()
    del content["incomplete"]
    assert RelevanceResult.from_dict(content).incomplete == ()
    content["incomplete"] = ["nobody"]
    with pytest.raises(ValueError, match="incomplete names 'nobody'"):
        RelevanceResult.from_dict(content)


def test_questions_need_all_intervals(late):
    for ask in (
        lambda: late.constrain({0: 0.0}),
        late.group_features,
        lambda: late.substitutes(0),
        late.panels,
    ):
        with pytest.raises(TimeLimitReached, match="larger time_limit"):
            ask()


def test_privileged_features_are_warned_of(ticks):
    X, y = data("kernel")
    kind, options = CASES["kernel"]
    model = kind(C=0.5, n_copies=2, random_state=0, time_limit=1e6, **options)
    model.fit(X[:, :6], y, X_privileged=X[:, 6:])
    # Ever earlier, until it is too early for some intervals of the privileged features, which come last.
    for limit in range(ticks[0] - 5, 0, -5):
        model.set_params(time_limit=float(limit))
        with pytest.warns(RelevanceWarning, match="time limit"):
            model.fit(X[:, :6], y, X_privileged=X[:, 6:])
        if model.result_.privileged.incomplete:
            break
    assert model.result_.privileged.incomplete
    assert not model.result_.incomplete
    assert "Time ran out" in model.result_.summary()


def test_a_deadline_that_travels(monkeypatch):
    import pickle

    sent = pickle.dumps(Deadline(100.0))
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + 60.0))
    assert pickle.loads(sent).left == pytest.approx(40.0, abs=1.0)
    monkeypatch.setattr(deadline, "platform", SimpleNamespace(node=lambda: "elsewhere"))
    assert pickle.loads(sent).left == pytest.approx(100.0, abs=1.0)

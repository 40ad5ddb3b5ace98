"""What must hold of every fit."""

from __future__ import annotations

import re
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from allrelevant import RelevanceResult, RelevanceWarning
from allrelevant.errors import AllRelevantError
from allrelevant.lp import GAP_LIMIT
from fuzz.cases import Case
from reference import ENGINES, solved_by

__all__ = ["Hang", "check_engines", "check_fit", "check_result", "fit_case", "fitted", "within"]

#: CPU seconds after which a fit hangs; such small ones take less than one, as a rule.
PATIENCE = 20
#: Arguments that an error about bad input has to name, one of them at least.
ARGUMENTS = r"\b(X|y|X_privileged|[Ss]ample.weights?|C|cv|(feature_)?groups|strata|epsilon|gamma|standardize|class)\b"


class Hang(AssertionError):
    """A fit did not end in time."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raise if the block takes more CPU seconds; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise Hang(f"not done after {seconds} CPU seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fitted(estimator: Any, *data: Any, **more: Any) -> Any:
    """The fitted estimator, or the typed error with which it ended; anything else is raised."""
    with warnings.catch_warnings(), within(PATIENCE):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RelevanceWarning)
        try:
            return estimator.fit(*data, **more)
        except AllRelevantError as error:
            return error
        except (ValueError, TypeError) as error:
            if not re.search(ARGUMENTS, str(error)):
                raise
            return error


def fit_case(case: Case, **changes: Any) -> Any:
    """Fit a case, or return the typed error."""
    X, y, weight, more = case.data()
    return fitted(case.estimator(**changes), X, y, sample_weight=weight, X_privileged=more, **case.together())


def check_fit(case: Case) -> str:
    """Check one case; return how it ended, "proven" or the name of the error."""
    model = fit_case(case)
    if isinstance(model, Exception):
        return type(model).__name__
    result = model.result_
    spaces = model._exploration.spaces
    check_result(result, spaces[0].near)
    if result.privileged is not None:
        check_result(result.privileged, spaces[-1].near)
    X = case.data()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prediction = model.predict(X)
    assert len(prediction) == case.n
    assert np.isfinite(np.asarray(prediction, dtype=float)).all()
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), name
    return "proven"


def check_result(result: RelevanceResult, near: Any) -> None:
    """Check what a result says of itself."""
    low, high = result.intervals.T
    for values in (result.intervals, result.pvalues, result.baseline):
        assert np.isfinite(values).all()
    assert 0.0 <= result.max_gap <= GAP_LIMIT
    assert ((low >= 0.0) & (low <= high)).all()
    # Gaps are shares of the norm budget, intervals of the baseline's norm.
    share = np.abs(result.baseline)
    room = 0.0 if near.mu == 0.0 else 2 * GAP_LIMIT * near.budget.norm / near.mu
    bound = np.array([note.split()[3].rstrip(",") for note in result.notes if "not proven to be" in note])
    exact = ~np.isin(result.feature_names, bound)
    constant = high == 0.0
    assert (low <= share + room).all()
    assert (share <= high + room)[exact & ~constant].all()
    limits = result.thresholds
    assert limits.min_relevance >= 0.0
    assert limits.max_relevance >= 0.0 or np.isnan(limits.max_relevance)
    for values in (result.pvalues, result.adjusted_pvalues):
        assert ((values >= 0.0) & (values <= 1.0)).all()
    assert (result.adjusted_pvalues >= result.pvalues).all()
    assert np.isin(result.classes, (0, 1, 2)).all()
    # Where there is no limit there is no relevance either.
    np.testing.assert_array_equal(result.classes > 0, high > np.where(np.isnan(result.limits), np.inf, result.limits))
    if limits.rule == "copies":
        np.testing.assert_array_equal(result.classes > 0, result.adjusted_pvalues <= limits.level)
    assert (low > limits.min_relevance)[result.classes == 2].all()
    assert (low <= limits.min_relevance)[result.classes == 1].all()
    assert RelevanceResult.from_json(result.to_json()) == result
    assert result.summary()
    assert result.table()


def check_engines(case: Case) -> str:
    """Both engines must find the same bounds, to what their proofs leave open, or end with an error."""
    models = []
    for engine in ENGINES:
        with solved_by(engine):
            models.append(fit_case(case))
    kinds = [type(model).__name__ for model in models]
    if any(isinstance(model, Exception) for model in models):
        alike = all(isinstance(model, ValueError) for model in models)
        assert alike or all(not isinstance(model, ValueError) for model in models), kinds
        return "/".join(kinds)
    one, two = (model.result_ for model in models)
    pairs = [(one, two, models[0]._exploration.spaces[0].near)]
    if one.privileged is not None:
        pairs.append((one.privileged, two.privileged, models[0]._exploration.spaces[-1].near))
    for first, second, near in pairs:
        room = 0.0 if near.mu == 0.0 else 2 * GAP_LIMIT * near.budget.norm / near.mu
        bound = [note.split()[3].rstrip(",") for note in first.notes if "not proven to be" in note]
        exact = ~np.isin(first.feature_names, bound)
        np.testing.assert_allclose(first.intervals[exact], second.intervals[exact], rtol=0, atol=room)
        np.testing.assert_allclose(first.intervals[:, 0], second.intervals[:, 0], rtol=0, atol=room)
    return "agree"

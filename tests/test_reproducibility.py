"""The same data and the same seed give the same answer, whoever computes it and in whatever arrangement."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone

from allrelevant.relevance import solving
from golden import write
from reference import ENGINES, solved_by

PROBLEMS = tuple(write.estimators())
LINEAR = tuple(problem for problem in PROBLEMS if problem != "forest")


@pytest.fixture(scope="module")
def expected():
    return {problem: model.result_ for problem, model in write.fits().items()}


@pytest.fixture(scope="module", autouse=True)
def _no_processes_left():
    """Those of joblib stay for the next fit, which would import everything again."""
    yield
    get_reusable_executor().shutdown(wait=True)


def fit(problem, columns=slice(None), rows=slice(None), **options):
    """The result of a fit of the same data in another arrangement, carried back."""
    X, targets = write.data()
    estimator, name = write.estimators()[problem]
    return clone(estimator).set_params(**options).fit(X[rows][:, columns], targets[name][rows]).result_


def check(result, expected, columns=slice(None), tolerance=1e-9):
    """Classes must agree bit for bit; intervals to 1e-9, as a busy HiGHS does not keep the last digits."""
    np.testing.assert_array_equal(result.classes, expected.classes[columns])
    np.testing.assert_allclose(result.intervals, expected.intervals[columns], rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.pvalues, expected.pvalues[columns], rtol=0, atol=1e-6)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_number_of_threads(problem, n_jobs, expected):
    check(fit(problem, n_jobs=n_jobs), expected[problem])


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_who_computes(problem, backend, expected):
    """Clusters: `tests/test_distributed.py`."""
    with parallel_config(backend=backend, n_jobs=2):
        check(fit(problem), expected[problem])


@pytest.mark.parametrize("problem", LINEAR)
@pytest.mark.parametrize("engine", ENGINES)
def test_how_much_at_a_time(problem, engine, monkeypatch):
    """How many programs are solved together changes no more than the last digits."""
    with solved_by(engine):
        whole = fit(problem)
        monkeypatch.setattr(solving, "BATCH", 2)
        check(fit(problem), whole)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_order_of_columns(problem, expected):
    columns = [3, 0, 4, 2, 1]
    check(fit(problem, columns), expected[problem], columns)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_order_of_rows(problem, expected):
    rows = np.random.default_rng(0).permutation(len(write.data()[0]))
    check(fit(problem, rows=rows), expected[problem])


CODE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from allrelevant.relevance import solving
from golden import write
from reference import ENGINES, solved_by
found = {problem: model.result_ for problem, model in write.fits().items()}
print(json.dumps({problem: [one.classes.tolist(), one.intervals.tolist()] for problem, one in found.items()}))
"""


def test_another_process(expected):
    """Two fresh processes, in which strings have different hashes."""
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", CODE, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout)
        assert set(found) == set(PROBLEMS)
        for problem, (classes, intervals) in found.items():
            np.testing.assert_array_equal(classes, expected[problem].classes)
            np.testing.assert_allclose(intervals, expected[problem].intervals, rtol=0, atol=1e-9)

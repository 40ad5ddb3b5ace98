"""Ctrl-C in the middle of a long fit comes back at once and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leftovers import check_session

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to a child process needs POSIX")


def interrupt(code, *arguments, sign, pause):
    """Run code in a process of its own, and interrupt it a moment after it has printed a sign."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stderr is not None
    for line in child.stderr:
        if sign in line:
            break
    time.sleep(pause)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    # Generous for a busy machine; the whole work would take far longer.
    out, _ = child.communicate(timeout=30)
    assert out.strip() == "interrupted"
    assert child.returncode == 3
    check_session(child.pid)


LINEAR = """
import sys
import numpy as np
from joblib import parallel_config
sys.path.insert(0, sys.argv[5])
from allrelevant import LinearRelevanceClassifier
from allrelevant.relevance import solving
from reference import solved_by
solving.BATCH = 16
rng = np.random.RandomState(0)
X = rng.normal(size=(1500, 200))
y = X[:, :20].sum(axis=1) + 3 * rng.normal(size=1500) > 0
engine, n_jobs, backend = sys.argv[1], int(sys.argv[2]), sys.argv[3]
limit = None if sys.argv[4] == "None" else float(sys.argv[4])
model = LinearRelevanceClassifier(C=0.05, n_jobs=n_jobs, time_limit=limit, verbose=1)
try:
    with solved_by(engine), parallel_config(backend=backend, n_jobs=n_jobs):
        model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(3)
"""


@pytest.mark.parametrize(
    ("engine", "n_jobs", "backend", "time_limit"),
    [
        ("reference", 1, "threading", None),
        ("kernel", 1, "threading", None),
        ("kernel", 2, "threading", None),
        ("reference", 1, "threading", 600.0),
        ("kernel", 2, "threading", 600.0),
        ("kernel", 2, "loky", 600.0),
    ],
)
def test_interrupt_in_mid_fit(engine, n_jobs, backend, time_limit):
    # Then intervals and copies, which take a minute or more, have begun.
    pause = 3.0 if backend == "loky" else 0.5
    interrupt(LINEAR, engine, n_jobs, backend, time_limit, Path(__file__).parent, sign="baseline", pause=pause)


FOREST = """
import sys
import numpy as np
from allrelevant import ForestRelevanceClassifier
from allrelevant._progress import watched
rng = np.random.RandomState(0)
X = rng.normal(size=(10000, 200))
y = X[:, :20].sum(axis=1) + 3 * rng.normal(size=10000) > 0
try:
    with watched(lambda stage, *_: print(stage, file=sys.stderr, flush=True)):
        ForestRelevanceClassifier(n_jobs=int(sys.argv[1])).fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(3)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_of_a_forest(n_jobs):
    interrupt(FOREST, n_jobs, sign="shadow features", pause=0.5)


PANELS = """
import sys
from sklearn.datasets import load_breast_cancer
from allrelevant import LinearRelevanceClassifier
from allrelevant.lp.support import CheapestSupport
X, y = load_breast_cancer(return_X_y=True)
model = LinearRelevanceClassifier(C=0.3, n_probes=10, random_state=0).fit(X[:200], y[:200])
solve = CheapestSupport.solve
def told(self, time_limit):
    print("searching", file=sys.stderr, flush=True)
    return solve(self, time_limit)
CheapestSupport.solve = told
try:
    model.panels(k=1000, scope="all", time_limit=600)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(3)
"""


def test_interrupt_of_a_search_for_panels():
    # The first of the mixed-integer programs has begun; there are up to a thousand.
    interrupt(PANELS, sign="searching", pause=0.5)

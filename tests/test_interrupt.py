"""Ctrl-C in the middle of a long fit comes back at once and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to a child process needs POSIX")


def interrupt(code, *arguments, sign, pause):
    """Run code in a process of its own, and interrupt it a moment after it has printed a sign."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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


LINEAR = """
import sys
import numpy as np
from allrelevant import LinearRelevanceClassifier
rng = np.random.RandomState(0)
X = rng.normal(size=(3000, 200))
y = X[:, :20].sum(axis=1) + 3 * rng.normal(size=3000) > 0
try:
    LinearRelevanceClassifier(C=0.05, engine=sys.argv[1], n_jobs=int(sys.argv[2]), verbose=1).fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(3)
"""


@pytest.mark.parametrize(("engine", "n_jobs"), [("highs", 1), ("interior", 1), ("interior", 2)])
def test_interrupt_in_mid_fit(engine, n_jobs):
    # Then the intervals, which take minutes, have begun.
    interrupt(LINEAR, engine, n_jobs, sign="baseline", pause=1.0)


FOREST = """
import sys
import numpy as np
from allrelevant import ForestRelevanceClassifier
rng = np.random.RandomState(0)
X = rng.normal(size=(20000, 200))
y = X[:, :20].sum(axis=1) + 3 * rng.normal(size=20000) > 0
print("growing", file=sys.stderr, flush=True)
try:
    ForestRelevanceClassifier(n_jobs=int(sys.argv[1])).fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(3)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_of_a_forest(n_jobs):
    interrupt(FOREST, n_jobs, sign="growing", pause=3.0)


PANELS = """
import sys
from sklearn.datasets import load_breast_cancer
from allrelevant import LinearRelevanceClassifier
X, y = load_breast_cancer(return_X_y=True)
model = LinearRelevanceClassifier(C=0.3, n_probes=10, random_state=0).fit(X, y)
print("searching", file=sys.stderr, flush=True)
try:
    model.panels(k=1000, scope="all", time_limit=600)
except KeyboardInterrupt:
    print("interrupted")
    sys.exit(3)
"""


def test_interrupt_of_a_search_for_panels():
    # Long enough for the mixed-integer programs to have begun, on any machine not long enough to end.
    interrupt(PANELS, sign="searching", pause=6.0)

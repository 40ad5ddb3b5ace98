"""What the verdict costs: CPU time of a whole default fit, of this tree against another one, in one run.

``python -m benchmarks.truth.cost --before PATH``, where PATH is the folder ``src`` of a checkout of the version to
compare with (``git worktree add``). The fits of both take turns, each in a process of its own. Results go to
``results/cost.csv``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ROUNDS = 5
SIZES = ((500, 30), (300, 90))
#: One fit after a first one, so that no import is counted.
FIT = """
import json, sys, time, warnings
from allrelevant import LinearRelevanceClassifier, LinearRelevanceRegressor
from allrelevant.datasets import make_relevance_classification, make_relevance_regression
warnings.simplefilter("ignore")
n, d, kind, seed = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
make, Estimator = {
    "classification": (make_relevance_classification, LinearRelevanceClassifier),
    "regression": (make_relevance_regression, LinearRelevanceRegressor),
}[kind]
X, y, _ = make(n_samples=n, n_strong=4, n_weak=4, n_irrelevant=d - 8, random_state=seed)
for _ in range(2):
    start = time.process_time()
    Estimator(random_state=seed).fit(X, y)
    spent = time.process_time() - start
print(json.dumps(spent))
"""


def seconds(source: Path, n: int, d: int, kind: str, seed: int) -> float:
    """CPU seconds of one fit by the code in a folder."""
    env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FIT, str(n), str(d), kind, str(seed)]
    return float(json.loads(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout))


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True)
    before = parser.parse_args().before
    now = HERE.parents[1] / "src"
    rows = []
    for n, d in SIZES:
        for kind in ("classification", "regression"):
            pairs = [(seconds(before, n, d, kind, s), seconds(now, n, d, kind, s)) for s in range(ROUNDS)]
            ratio = [new / old for old, new in pairs]
            row = {
                "rows": n,
                "features": d,
                "kind": kind,
                "before, CPU s": round(float(np.median([old for old, _ in pairs])), 3),
                "now, CPU s": round(float(np.median([new for _, new in pairs])), 3),
                "ratio, median of 5 data sets": round(float(np.median(ratio)), 2),
                "least": round(min(ratio), 2),
                "greatest": round(max(ratio), 2),
            }
            rows.append(row)
            print(", ".join(f"{key}: {value}" for key, value in row.items()), flush=True)
    with (HERE / "results" / "cost.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

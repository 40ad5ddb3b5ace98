"""The whole default fit with many more features than samples: CPU and wall seconds.

``simulated`` is 100 x 20,000: eight common factors behind all columns, and 20 columns that tell of the class. The other
data are not part of the project: colon (62 x 2000), leukemia (72 x 7129) and prostate (102 x 6033), as CSV files
with a column ``target`` in the folder ``classification`` of ``--data``. Positive intensities are taken as logarithms.

Usage: ``python -m benchmarks.scaling.wide --data FOLDER [--sets colon leukemia prostate] [--jobs 1] [--resume]``
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from allrelevant import LinearRelevanceClassifier
from benchmarks._common import Results, print_table, short

HERE = Path(__file__).parent
FILES = {
    "colon": "colon_alon.csv",
    "leukemia": "golub_leukemia_72x7129.csv.gz",
    "prostate": "prostate_singh_102x6033.csv.gz",
}


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read a set of intensities."""
    frame = pd.read_csv(path)
    X, y = frame.drop(columns="target").to_numpy(dtype=float), frame["target"]
    return (np.log(X) if (X > 0).all() else X), y.to_numpy()


def simulated(n: int = 100, d: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Draw columns with common factors."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 8)) @ rng.normal(size=(8, d))
    X[:, :20] += np.outer(y - 0.5, np.linspace(0.5, 2.0, 20))
    return X, y


def run(X: np.ndarray, y: np.ndarray, jobs: int = 1) -> dict[str, object]:
    """Fit one set, in so many threads."""
    began, cpu = time.perf_counter(), time.process_time()
    with threadpool_limits(1, user_api="blas"):
        result = LinearRelevanceClassifier(random_state=0, n_jobs=jobs).fit(X, y).result_
    return {
        "n": X.shape[0],
        "d": X.shape[1],
        "jobs": jobs,
        "cpu_seconds": time.process_time() - cpu,
        "wall_seconds": time.perf_counter() - began,
        **{f"{stage}_cpu_seconds": result.cpu_seconds.get(stage, 0.0) for stage in ("search", "intervals", "copies")},
        "programs": result.n_programs,
        "max_gap": result.max_gap,
        "strong": int((result.classes == 2).sum()),
        "weak": int((result.classes == 1).sum()),
        "weighted_f1": result.scores["cross_validated"],
    }


def main() -> None:
    """Run, print and write; sets that were not asked for keep their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("ALLRELEVANT_DATA"), help="or ALLRELEVANT_DATA")
    parser.add_argument("--sets", nargs="+", choices=["simulated", *FILES], default=list(FILES))
    parser.add_argument("--jobs", type=int, default=1, help="threads; CPU seconds are of all of them together")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    results = Results(options.out / "wide.csv", ("set",))
    found = {"simulated": simulated}
    for name, file in FILES.items():
        if options.data is not None and (path := Path(options.data) / "classification" / file).exists():
            found[name] = partial(read, path)
    for name in options.sets:
        if name not in found:
            print(f"skipped: {name} is not in {options.data}; name its folder by --data or ALLRELEVANT_DATA")
    wanted = [(name,) for name in options.sets if name in found]
    for (name,) in results.missing(wanted, resume=options.resume):
        results.add({"set": name, **run(*found[name](), options.jobs)})
    if results.rows:
        print_table(list(results.rows[-1]), [[short(cell) for cell in row.values()] for row in results.rows])


if __name__ == "__main__":
    main()

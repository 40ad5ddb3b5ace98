"""Peak memory of a whole fit, over the size of the data: dense, of single precision, mapped from a file, sparse.

With ``--large`` also very many samples, and very many features; the latter for a minute, in which the search, copies
and many batches come and go: what is added from then on is more of the same.

Every fit runs in a process of its own, which makes the data, fits and says how much memory it has held at most. What
interpreter and libraries take is measured before and left out. ``ratio`` counts the data themselves: 1 would be a fit
that takes nothing; ``allowed_mb`` is three times the data and 200 MB.

Usage: ``python -m benchmarks.scaling.memory [--storage float64 float32 ...] [--large]``
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import print_table, write_csv

HERE = Path(__file__).parent
STORAGE = ("float64", "float32", "mapped", "sparse")
#: Samples, features, penalty, seconds: of all kinds of storage, and large.
PLAIN = (20_000, 20, 0.01, None)
LARGE = ((1_000_000, 20, 0.01, None), (100, 20_000, None, 60.0))
#: Share of the entries of sparse data that are not 0.
DENSITY = 0.05


def make(n: int, d: int, storage: str, folder: str) -> tuple[Any, np.ndarray, float]:
    """Data, targets, and the bytes that the data take; made in blocks, so that making them is not the peak."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    if storage == "sparse":
        X = sparse.csr_array(sparse.random(n, d, density=DENSITY, random_state=rng))
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    else:
        dtype = np.float32 if storage == "float32" else np.float64
        X = np.empty((n, d), dtype=dtype)
        if storage == "mapped":
            X = np.lib.format.open_memmap(f"{folder}/X.npy", mode="w+", dtype=dtype, shape=(n, d))
        for k in range(0, n, 10_000):
            X[k : k + 10_000] = rng.normal(size=X[k : k + 10_000].shape)
        size = X.nbytes
    signal = X @ (np.arange(d) < d // 2).astype(X.dtype)
    return X, signal + 0.5 * signal.std() * rng.normal(size=n) > signal.mean(), float(size)


def peak() -> int:
    """Most bytes that this process has held, as Linux counts them; `resource` would count the parent's, too."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def measure(n: int, d: int, C: float | None, seconds: float | None, storage: str) -> dict[str, Any]:
    """Fit in this process; peaks are in bytes."""
    from allrelevant import LinearRelevanceClassifier, RelevanceWarning

    with tempfile.TemporaryDirectory() as folder:
        LinearRelevanceClassifier(C=1.0, n_copies=1).fit([[0.0], [1.0], [1.5], [2.0], [2.5], [3.5]], [0, 0, 0, 1, 1, 1])
        bare = peak()
        X, y, size = make(n, d, storage, folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)  # of time that runs out
            result = LinearRelevanceClassifier(C=C, random_state=0, time_limit=seconds).fit(X, y).result_
        return {
            "bare": bare,
            "peak": peak(),
            "size": size,
            "cpu_seconds": sum(result.cpu_seconds.values()),
            "programs": result.n_programs,
            "max_gap": result.max_gap,
        }


def run(n: int, d: int, C: float | None, seconds: float | None, storage: str = "float64") -> dict[str, object]:
    """Measure in a process of its own."""
    call = [sys.executable, "-m", "benchmarks.scaling.memory", "--measure", json.dumps([n, d, C, seconds, storage])]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=HERE.parents[1])
    found = json.loads(done.stdout.splitlines()[-1])
    return {
        "storage": storage,
        "n": n,
        "d": d,
        "data_mb": found["size"] / 1e6,
        "peak_mb": (found["peak"] - found["bare"]) / 1e6,
        "ratio": (found["peak"] - found["bare"]) / found["size"],
        "allowed_mb": 3 * found["size"] / 1e6 + 200,
        "bare_mb": found["bare"] / 1e6,
        "cpu_seconds": found["cpu_seconds"],
        "programs": found["programs"],
        "max_gap": found["max_gap"],
        "time_limit": "" if seconds is None else seconds,
    }


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--storage", nargs="+", choices=STORAGE, default=list(STORAGE))
    parser.add_argument("--large", action="store_true", help="minutes")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*json.loads(options.measure))))
        return
    rows = [run(*PLAIN, storage) for storage in options.storage]
    rows += [run(*shape) for shape in LARGE if options.large]
    write_csv(options.out / "memory.csv", rows)
    print_table(list(rows[0]), [list(row.values()) for row in rows])


if __name__ == "__main__":
    main()

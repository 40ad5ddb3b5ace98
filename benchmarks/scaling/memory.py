"""Peak memory of a whole fit, over the size of the data: dense, of single precision, mapped from a file, sparse.

Every fit runs in a process of its own, which makes the data, fits and says how much memory it has held at most. What
interpreter and libraries take is measured before and left out. ``ratio`` counts the data themselves: 1 would be a fit
that takes nothing.

Usage: ``python -m benchmarks.scaling.memory [--n 20000] [--d 20] [--C 1e-2] [--storage float64 float32 ...]``
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import print_table, write_csv

HERE = Path(__file__).parent
STORAGE = ("float64", "float32", "mapped", "sparse")
#: Share of the entries of sparse data that are not 0.
DENSITY = 0.05


def make(n: int, d: int, storage: str, folder: str) -> tuple[Any, np.ndarray, float]:
    """Data, targets, and the bytes that the data take; made in blocks, so that making them is not the peak."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    if storage == "sparse":
        X = sparse.random_array((n, d), density=DENSITY, rng=rng, format="csr")
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


def measure(n: int, d: int, C: float, storage: str) -> dict[str, Any]:
    """Fit in this process; peaks are in bytes."""
    from allrelevant import LinearRelevanceClassifier

    with tempfile.TemporaryDirectory() as folder:
        LinearRelevanceClassifier(C=1.0, n_probes=3).fit([[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1])
        bare = peak()
        X, y, size = make(n, d, storage, folder)
        result = LinearRelevanceClassifier(C=C, n_probes=50, random_state=0).fit(X, y).result_
        seconds = sum(result.cpu_seconds.values())
        return {"bare": bare, "peak": peak(), "size": size, "cpu_seconds": seconds, "engine": result.engine}


def run(n: int, d: int, C: float, storage: str) -> dict[str, object]:
    """Measure in a process of its own."""
    call = [sys.executable, "-m", "benchmarks.scaling.memory", "--measure", str(n), str(d), str(C), storage]
    done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=HERE.parents[1])
    found = json.loads(done.stdout.splitlines()[-1])
    return {
        "storage": storage,
        "n": n,
        "d": d,
        "data_mb": found["size"] / 1e6,
        "peak_mb": (found["peak"] - found["bare"]) / 1e6,
        "ratio": (found["peak"] - found["bare"]) / found["size"],
        "bare_mb": found["bare"] / 1e6,
        "cpu_seconds": found["cpu_seconds"],
        "engine": found["engine"],
    }


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--d", type=int, default=20)
    parser.add_argument("--C", type=float, default=1e-2)
    parser.add_argument("--storage", nargs="+", choices=STORAGE, default=list(STORAGE))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        n, d, C, storage = options.measure
        print(json.dumps(measure(int(n), int(d), float(C), storage)))
        return
    rows = [run(options.n, options.d, options.C, storage) for storage in options.storage]
    write_csv(options.out / "memory.csv", rows)
    print_table(list(rows[0]), [list(row.values()) for row in rows])


if __name__ == "__main__":
    main()

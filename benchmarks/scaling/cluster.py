"""One fit in one thread, in two threads, and on a Dask cluster of two worker processes: wall seconds of each.

The cluster runs on this machine, so that nothing differs but the way of the batches: to processes over TCP, or to
threads. ``overhead`` is the wall time times the workers over the wall time of one thread; 1 means that nothing is lost.
The workers run before the clock does, and the best of some repeats counts. ``cpu_seconds`` is that of all processes.
``difference`` is the largest one of an interval's ends from those of one thread. By default Dask has its workers give
freed memory back at once (MALLOC_TRIM_THRESHOLD_), and they pay for it with every larger array: measured without and
with it.

Usage: ``python -m benchmarks.scaling.cluster [--n 1000] [--d 230] [--repeats 3]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import numpy as np
from distributed import Client, LocalCluster
from joblib import parallel_config

from allrelevant import LinearRelevanceClassifier
from benchmarks._common import print_table, write_csv
from benchmarks.scaling.programs import make

HERE = Path(__file__).parent
C = 0.1
TRIM = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"


@contextmanager
def cluster(workers: int, *, trimming: bool) -> Iterator[None]:
    """Worker processes on this machine, and all batches sent to them."""
    with (
        TemporaryDirectory() as folder,
        dask.config.set({} if trimming else {TRIM: None}),
        LocalCluster(workers, threads_per_worker=1, dashboard_address=":0", local_directory=folder) as local,
        Client(local),
        parallel_config(backend="dask"),
    ):
        yield


#: Name, number of workers, and where they are.
WAYS: tuple[tuple[str, int, Callable[[int], AbstractContextManager[None]]], ...] = (
    ("1 thread", 1, nullcontext),
    ("2 threads", 2, nullcontext),
    # Without comes first: once set, the variable stays in the environment of this process.
    ("2 workers of Dask", 2, partial(cluster, trimming=False)),
    ("2 workers of Dask, trimming", 2, partial(cluster, trimming=True)),
)


def run(n: int, d: int, repeats: int = 3) -> list[dict[str, object]]:
    """Fit the same data in every way."""
    X, y = make(n, d)
    rows: list[dict[str, object]] = []
    first, alone = None, 0.0
    for name, workers, where in WAYS:
        with where(workers):
            runs = []
            for _ in range(repeats):
                began = time.perf_counter()
                result = LinearRelevanceClassifier(C=C, n_jobs=workers, random_state=0).fit(X, y).result_
                runs.append((time.perf_counter() - began, sum(result.cpu_seconds.values())))
        seconds, cpu = min(runs)
        alone = alone or seconds
        first = first or result
        difference = float(np.abs(result.intervals - first.intervals).max())
        if difference > 1e-9 or (result.classes != first.classes).any():
            raise AssertionError(f"{name}: the intervals differ by {difference:.1e} from those of {WAYS[0][0]}")
        rows.append(
            {"way": name, "n": n, "d": d, "programs": result.n_programs, "seconds": seconds, "cpu_seconds": cpu,
             "overhead": seconds * workers / alone, "difference": difference}
        )  # fmt: skip
    return rows


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--d", type=int, default=230)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    rows = run(options.n, options.d, options.repeats)
    print_table(list(rows[0]), [list(row.values()) for row in rows])
    write_csv(options.out / "cluster.csv", rows)


if __name__ == "__main__":
    main()

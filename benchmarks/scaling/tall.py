"""The whole fit on very many samples: wall and CPU seconds, and memory as a multiple of the data.

Simulated classification data, a million samples of 20 features by default. The fit runs in a process of its own, after
a first fit of a few samples; ``peak_over_data`` is the most memory that the process ever held, interpreter and data
included, over the size of the features in memory, ``added_over_data`` what the fit added to it; ``stages`` has the CPU
seconds of each.

Usage: ``python -m benchmarks.scaling.tall [--samples 1000000] [--features 20] [--seed 0] [--resume]``
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks._common import Results, make_mix, print_table, short
from benchmarks.competitors.calling import data_file, fit

HERE = Path(__file__).parent


def run(n: int, d: int, seed: int = 0) -> dict[str, Any]:
    """Fit one shape."""
    X, y, relevance = make_mix(n, d, seed)
    size = X.nbytes
    with data_file(X, y) as data:
        del X, y
        done = fit("allrelevant", "classification", data, seed)
    row: dict[str, Any] = {"n": n, "d": d, "seed": seed, "note": done.note, "data_bytes": size}
    names = ("cpu_seconds", "wall_seconds", "peak_bytes", "max_gap", "programs")
    row.update({name: done.found.get(name, "") for name in names})
    row["stages"] = ", ".join(f"{name} {spent:.3g}" for name, spent in done.found.get("stages", {}).items())
    row["peak_over_data"] = row["added_over_data"] = ""
    if done.found:
        row["peak_over_data"] = row["peak_bytes"] / size
        row["added_over_data"] = (row["peak_bytes"] - done.found["bytes_before"]) / size
    row["f1"], row["accuracy"] = done.scores(relevance)
    return row


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", nargs="+", type=int, default=[1_000_000])
    parser.add_argument("--features", nargs="+", type=int, default=[20])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    results = Results(options.out / "tall.csv", ("n", "d", "seed"))
    wanted = [(n, d, options.seed) for n in options.samples for d in options.features]
    for n, d, seed in results.missing(wanted, resume=options.resume):
        results.add(run(n, d, seed))
    if results.rows:
        print_table(list(results.rows[-1]), [[short(cell) for cell in row.values()] for row in results.rows])


if __name__ == "__main__":
    main()

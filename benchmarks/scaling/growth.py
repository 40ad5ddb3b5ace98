"""How the cost of the whole fit grows with samples and with features: CPU seconds, and exponents in a log-log line.

Simulated classification data; samples vary at 20 features, features at 500 samples. fri 9.0.0 is measured in the same
run, in a process of its own, as long as it stays within the limit: the first size at which it does not is its last one.
Exponents are by least squares over all sizes that a library finished and, to compare like with like, over the sizes
that both did.

Usage: ``python -m benchmarks.scaling.growth [--samples 100 200 ...] [--features 10 20 ...] [--seeds 1] [--limit 300]``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import Results, make_mix, number, print_table, write_csv
from benchmarks.competitors.calling import data_file, fit, peer_python

HERE = Path(__file__).parent
SAMPLES = (100, 200, 500, 1000, 2000, 5000, 10000)
FEATURES = (10, 20, 50, 100, 200, 500)
#: The other dimension.
FIXED = {"n": ("d", 20), "d": ("n", 500)}
LIBRARIES = ("allrelevant", "fri")


def run(
    axis: str, size: int, seed: int, interpreters: Mapping[str, Path | str], limits: Mapping[str, float]
) -> dict[str, Any]:
    """Fit one size by the libraries given; the cells of others stay empty."""
    other, fixed = FIXED[axis]
    shape = {axis: size, other: fixed}
    X, y, relevance = make_mix(shape["n"], shape["d"], seed)
    row: dict[str, Any] = {"axis": axis, "n": shape["n"], "d": shape["d"], "seed": seed}
    with data_file(X, y) as data:
        for library in LIBRARIES:
            row[f"{library}_cpu_seconds"] = row[f"{library}_f1"] = ""
            row[f"{library}_note"] = "" if library in interpreters else "not tried"
            if library in interpreters:
                done = fit(library, "classification", data, seed, limit=limits[library], python=interpreters[library])
                row[f"{library}_cpu_seconds"], row[f"{library}_note"] = done.cpu_seconds, done.note
                row[f"{library}_f1"] = done.scores(relevance)[0]
    return row


def _within(results: Results, axis: str, size: int) -> bool:
    """Whether fri reached its limit at no smaller size."""
    return not any(
        row["axis"] == axis and int(row[axis]) <= size and "limit" in row["fri_note"] for row in results.rows
    )


def exponents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Slopes of log time over log size, per axis and library."""
    out: list[dict[str, Any]] = []
    for axis in FIXED:
        chosen = sorted((row for row in rows if row["axis"] == axis), key=lambda row: int(row[axis]))
        finished = {library: [row for row in chosen if row[f"{library}_cpu_seconds"] != ""] for library in LIBRARIES}
        both = [row for row in finished["allrelevant"] if row in finished["fri"]]
        for library in LIBRARIES:
            for name, part in (("all it finished", finished[library]), ("both finished", both)):
                if len(part) < 2:
                    continue
                size = np.log([number(row[axis]) for row in part])
                seconds = np.log([number(row[f"{library}_cpu_seconds"]) for row in part])
                slope = float(np.polyfit(size, seconds, 1)[0])
                out.append({"axis": axis, "library": library, "sizes": name, "first": part[0][axis],
                            "last": part[-1][axis], "points": len(part), "exponent": slope})  # fmt: skip
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", nargs="*", type=int, default=list(SAMPLES))
    parser.add_argument("--features", nargs="*", type=int, default=list(FEATURES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300.0, help="CPU seconds that a fit of fri may take")
    parser.add_argument("--without-fri", action="store_true")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    interpreters: dict[str, Path | str] = {"allrelevant": sys.executable}
    if not options.without_fri:
        interpreters["fri"] = peer_python("fri", options.environments)
    limits = {"allrelevant": 1e6, "fri": options.limit}
    results = Results(options.out / "growth.csv", ("axis", "n", "d", "seed"))
    wanted = []
    for axis, sizes in (("n", options.samples), ("d", options.features)):
        other, fixed = FIXED[axis]
        shapes = [{axis: size, other: fixed} for size in sorted(sizes)]
        wanted += [(axis, shape["n"], shape["d"], seed) for shape in shapes for seed in range(options.seeds)]
    for axis, n, d, seed in results.missing(wanted, resume=options.resume):
        size = n if axis == "n" else d
        tried = {name: python for name, python in interpreters.items() if name != "fri" or _within(results, axis, size)}
        results.add(run(axis, size, seed, tried, limits))
    if results.rows:
        columns = [
            "axis",
            "n",
            "d",
            "allrelevant_cpu_seconds",
            "fri_cpu_seconds",
            "allrelevant_f1",
            "fri_f1",
            "fri_note",
        ]
        print_table(columns, [[row[name] for name in columns] for row in results.rows])
    slopes = exponents(results.rows)
    if slopes:
        print_table(list(slopes[0]), [list(row.values()) for row in slopes])
        write_csv(options.out / "growth_exponents.csv", slopes)


if __name__ == "__main__":
    main()

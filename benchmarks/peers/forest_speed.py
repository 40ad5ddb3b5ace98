"""Speed and accuracy of a whole fit by forests, beside BorutaPy 0.4.3 and squamish: CPU time, one thread, one run.

Sim1 to Sim5 (500 samples, 30 features). All libraries run with their defaults (BorutaPy with trees of scikit-learn
of depth 5, as many as it sees fit) in processes of their own, on the same files, taking turns; a first fit of a few
samples loads everything and is not timed. Where one does not finish, its cells are empty and a note says why. Ratios
are how many times longer a library takes than ours. The F1 is that of all relevant features; ``accuracy`` is the share
of features in the right of three classes; BorutaPy, which has two, has no such column.

squamish is not in the package registry: its environment in ``--environments`` must hold it, or it is left out.

Usage: ``python -m benchmarks.peers.forest_speed [--cases sim1 ...] [--seeds 2] [--peers boruta squamish]
[--limit 600] [--environments .peers] [--resume]``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant.datasets import SIMULATIONS, make_simulation
from benchmarks._common import Results, mean_cell, number, print_table, write_csv
from benchmarks.competitors.calling import data_file, fit, peer_pythons

HERE = Path(__file__).parent
PEERS = ("boruta", "squamish")
LIBRARIES = ("forest", *PEERS)


def run(name: str, seed: int, interpreters: Mapping[str, Path | str], limit: float = 600.0) -> dict[str, Any]:
    """Fit one set by the libraries given; the cells of others stay empty."""
    X, y, relevance = make_simulation(name, random_state=seed)
    row: dict[str, Any] = {"case": name, "seed": seed, "n": X.shape[0], "d": X.shape[1]}
    with data_file(X, y) as data:
        for library in LIBRARIES:
            for what in ("cpu_seconds", "f1", "accuracy"):
                row[f"{library}_{what}"] = ""
            row[f"{library}_note"] = "" if library in interpreters else "not tried"
            if library in interpreters:
                done = fit(library, "classification", data, seed, limit=limit, python=interpreters[library])
                row[f"{library}_cpu_seconds"], row[f"{library}_note"] = done.cpu_seconds, done.note
                row[f"{library}_f1"], row[f"{library}_accuracy"] = done.scores(relevance)
    del row["boruta_accuracy"]
    for library in PEERS:
        times = [number(row[f"{each}_cpu_seconds"]) for each in (library, "forest")]
        row[f"{library}_ratio"] = times[0] / times[1] if np.isfinite(times).all() else ""
    return row


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means per set and over all of them, of the runs that finished; ratios of the runs that both finished."""
    names = [name for name in SIMULATIONS if any(row["case"] == name for row in rows)]
    out: list[dict[str, Any]] = []
    for name in [*names, "all"]:
        chosen = [row for row in rows if name in (row["case"], "all")]
        line: dict[str, Any] = {"case": name, "runs": len(chosen)}
        for column in (column for column in rows[0] if column.endswith(("cpu_seconds", "f1", "accuracy"))):
            line[column] = mean_cell(chosen, column)
        for library in PEERS:
            both = [row for row in chosen if row[f"{library}_ratio"] != ""]
            times = [sum(number(row[f"{each}_cpu_seconds"]) for row in both) for each in (library, "forest")]
            line[f"{library}_ratio"] = times[0] / times[1] if both else ""
        out.append(line)
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=list(SIMULATIONS), default=list(SIMULATIONS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds that a fit may take")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    interpreters = {"forest": sys.executable, **peer_pythons(options.peers, options.environments)}
    results = Results(options.out / "forest_speed.csv", ("case", "seed"))
    wanted = [(name, seed) for name in options.cases for seed in range(options.seeds)]
    for name, seed in results.missing(wanted, resume=options.resume):
        results.add(run(name, seed, interpreters, options.limit))
    summary = summarise(results.rows)
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    write_csv(options.out / "forest_speed_summary.csv", summary)


if __name__ == "__main__":
    main()

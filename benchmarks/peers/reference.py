"""The whole fit by the engine that is chosen, against that with all bounds by the reference engine: the same answer.

The cases of :mod:`benchmarks.peers.speed`, with the same seeds. ``apart`` is the largest difference of an end of an
interval, in units of the norm of the baseline model; ``same_classes`` whether no feature has another class. The search
for the baseline model is the same in both. CPU seconds are those of one fit each, whatever else the machine does:
:mod:`benchmarks.peers.speed` is the place for speed.

Usage: ``python -m benchmarks.peers.reference [--cases sim1 set8 ...] [--seeds 3] [--limit 600] [--resume]``
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import Results, standardised
from benchmarks.competitors.calling import data_file, fit
from benchmarks.peers.speed import CASES

HERE = Path(__file__).parent
METHODS = {"chosen": "allrelevant", "reference": "allrelevant_reference"}


def run(name: str, seed: int, limit: float = 600.0) -> dict[str, Any]:
    """Fit one case by both."""
    problem, make = CASES[name]
    X, y, relevance = make(seed)
    row: dict[str, Any] = {"case": name, "seed": seed, "n": X.shape[0], "d": X.shape[1]}
    with data_file(standardised(X), y) as data:
        done = {way: fit(method, problem, data, seed, limit=limit) for way, method in METHODS.items()}
    for way, one in done.items():
        row[f"{way}_cpu_seconds"], row[f"{way}_f1"] = one.cpu_seconds, one.scores(relevance)[0]
        row[f"{way}_gap"], row[f"{way}_note"] = one.found.get("max_gap", ""), one.note
    chosen, reference = (one.found for one in done.values())
    row["apart"] = row["same_classes"] = ""
    if chosen and reference:
        row["apart"] = float(np.abs(np.subtract(chosen["intervals"], reference["intervals"])).max())
        row["same_classes"] = chosen["classes"] == reference["classes"]
    return row


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=[name for name in CASES if name != "set9"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds that a fit may take")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    results = Results(options.out / "reference.csv", ("case", "seed"))
    wanted = [(name, seed) for name in options.cases for seed in range(options.seeds)]
    for name, seed in results.missing(wanted, resume=options.resume):
        results.add(run(name, seed, options.limit))


if __name__ == "__main__":
    main()

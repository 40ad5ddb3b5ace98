"""Speed and accuracy of the whole fit against fri 9.0.0: CPU time, one thread, one run.

Simulated classification (Sim1 to Sim5, and more features), regression with noise and without, and large ordinal sets.
Both libraries run with their defaults in processes of their own, on the same files, taking turns; a first fit of a few
samples loads everything and is not timed. What takes less than two CPU seconds is repeated for as long, and the median
counts; of the library at hand, the mean of two such medians, from before and after the other. Where fri does not
finish, its cells are empty and a note says why. Beside Sim1 to Sim5 stands a sparse logistic model of scikit-learn
(elastic net, by cross-validation), which finds one model, not all features.

``results/other_runs`` has the regression without noise in four more runs (``--out``), one of them with
``OPENBLAS_CORETYPE=Haswell NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL"``, as on a processor without AVX-512.

fri needs an environment of its own (NumPy below 1.27 and two dependencies it does not declare); the script makes it in
``--environments`` on first use.

Usage: ``python -m benchmarks.peers.speed [--cases sim1 set8 ...] [--seeds 3] [--limit 600] [--resume]``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant.datasets import (
    SIMULATIONS,
    RelevanceData,
    make_ordinal_set,
    make_relevance_regression,
    make_simulation,
)
from benchmarks._common import Results, make_mix, mean_cell, number, print_table, standardised, write_csv
from benchmarks.competitors.calling import data_file, fit, peer_python

HERE = Path(__file__).parent
#: CPU seconds for which short fits are repeated.
LEAST = 2.0


def _cases() -> dict[str, tuple[str, Callable[[int], RelevanceData]]]:
    """Problem type and generator of every case."""
    cases: dict[str, tuple[str, Callable[[int], RelevanceData]]] = {
        name: ("classification", lambda seed, name=name: make_simulation(name, random_state=seed))
        for name in SIMULATIONS
    }
    for d in (100, 200):
        cases[f"classification_{d}"] = ("classification", lambda seed, d=d: make_mix(500, d, seed))
    for name, noise in (("regression_30", 0.1), ("regression_30_exact", 0.0)):
        cases[name] = (
            "regression",
            lambda seed, noise=noise: make_relevance_regression(500, noise=noise, random_state=seed),
        )
    for name in ("set8", "set9"):
        cases[name] = ("ordinal", lambda seed, name=name: make_ordinal_set(name, random_state=seed))
    return cases


CASES = _cases()


def run(name: str, seed: int, interpreters: Mapping[str, Path | str], limit: float = 600.0) -> dict[str, Any]:
    """Fit one case by every library."""
    problem, make = CASES[name]
    X, y, relevance = make(seed)
    row: dict[str, Any] = {"case": name, "seed": seed, "n": X.shape[0], "d": X.shape[1]}
    # fri leaves scaling to its users; allrelevant would do it itself.
    with data_file(standardised(X), y) as data:
        for library, python in interpreters.items():
            done = fit(library, problem, data, seed, limit=limit, least=LEAST, python=python)
            row[f"{library}_cpu_seconds"] = done.cpu_seconds
            row[f"{library}_f1"], row[f"{library}_accuracy"] = done.scores(relevance)
            row[f"{library}_note"] = done.note
        # Other work on the machine comes and goes: the shorter fits once more, on the other side of the longer ones.
        first = next(iter(interpreters))
        after = fit(first, problem, data, seed, limit=limit, least=LEAST, python=interpreters[first]).cpu_seconds
        if row[f"{first}_cpu_seconds"] != "" and after != "":
            row[f"{first}_cpu_seconds"] = (row[f"{first}_cpu_seconds"] + after) / 2
        row["ratio"] = _ratio(row)
        row["elastic_net_cpu_seconds"] = row["elastic_net_f1"] = ""
        if name in SIMULATIONS:
            done = fit("elastic_net_path", problem, data, seed, least=LEAST)
            row["elastic_net_cpu_seconds"], row["elastic_net_f1"] = done.cpu_seconds, done.scores(relevance)[0]
    return row


def _ratio(row: Mapping[str, Any]) -> float | str:
    """How many times longer fri takes, where both finished."""
    times = [number(row.get(f"{library}_cpu_seconds", "")) for library in ("allrelevant", "fri")]
    return times[1] / times[0] if np.isfinite(times).all() else ""


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means per case, and over Sim1 to Sim5, of the runs that finished."""
    names = [name for name in CASES if any(row["case"] == name for row in rows)]
    out: list[dict[str, Any]] = []
    for group in [*([name] for name in names), list(SIMULATIONS)]:
        chosen = [row for row in rows if row["case"] in group]
        if not chosen:
            continue
        row: dict[str, Any] = {"case": group[0] if len(group) == 1 else "sim1 to sim5", "runs": len(chosen)}
        for library in ("allrelevant", "fri", "elastic_net"):
            for what in ("cpu_seconds", "f1", "accuracy"):
                row[f"{library}_{what}"] = mean_cell(chosen, f"{library}_{what}")
        del row["elastic_net_accuracy"]
        row["fri_finished"] = sum(each.get("fri_cpu_seconds", "") != "" for each in chosen)
        both = [each for each in chosen if each["ratio"] != ""]
        times = [sum(number(each[f"{library}_cpu_seconds"]) for each in both) for library in ("fri", "allrelevant")]
        row["ratio"] = times[0] / times[1] if both else ""
        out.append(row)
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds that a fit may take")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    interpreters = {"allrelevant": sys.executable, "fri": peer_python("fri", options.environments)}
    results = Results(options.out / "speed.csv", ("case", "seed"))
    wanted = [(name, seed) for name in options.cases for seed in range(options.seeds)]
    for name, seed in results.missing(wanted, resume=options.resume):
        results.add(run(name, seed, interpreters, options.limit))
    summary = summarise(results.rows)
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    write_csv(options.out / "speed_summary.csv", summary)


if __name__ == "__main__":
    main()

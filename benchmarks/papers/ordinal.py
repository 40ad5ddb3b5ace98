"""Accuracy of the relevance classes on the ordinal sets, clean and noisy (thesis, Tables 4.1 to 4.3).

Runs that are in the results already are not repeated, so a long run may be done in pieces.

Usage: ``python -m benchmarks.papers.ordinal [--sets set1 set2 ...] [--orders explicit] [--seeds 30]``
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from allrelevant import LinearRelevanceOrdinal, RelevanceWarning
from allrelevant.datasets import ORDINAL_SETS, make_ordinal_set
from benchmarks._common import f1_of_set, print_table, read_csv, write_csv

HERE = Path(__file__).parent
NOISES = (0.0, 0.5)
ORDERS = ("explicit", "implicit")
PIECE = 40


def run(name: str, noise: float, order: str, seed: int, device: str = "cpu") -> dict[str, object]:
    """Fit one set and compare with its truth."""
    X, y, relevance = make_ordinal_set(name, noise=noise, random_state=seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RelevanceWarning)
        model = LinearRelevanceOrdinal(order=order, random_state=seed, device=device).fit(X, y)
    classes = model.relevance_classes_
    return {
        "set": name,
        "noise": f"{noise:g}",
        "order": order,
        "seed": seed,
        "device": device,
        "f1": f1_of_set(relevance, classes > 0),
        "accuracy": float((classes == relevance).mean()),
        "false_positives": int(((classes > 0) & (relevance == 0)).sum()),
        "false_negatives": int(((classes == 0) & (relevance > 0)).sum()),
        "C": model.result_.hyperparameters["C"],
        "mmae": model.result_.scores["cross_validated"],
        "max_gap": model.result_.max_gap,
        "cpu_seconds": time.process_time() - began,
    }


def main() -> None:
    """Run what is missing, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(ORDINAL_SETS))
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=list(ORDERS))
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    path = options.out / "ordinal.csv"
    rows: list[dict[str, object]] = [dict(row) for row in read_csv(path)] if path.exists() else []
    for name in options.sets:
        done = {(row["set"], row["noise"], row["order"], int(str(row["seed"]))) for row in rows}
        seeds = range(options.seeds)
        wanted = [(name, noise, order, seed) for order in options.orders for seed in seeds for noise in NOISES]
        missing = [key for key in wanted if (key[0], f"{key[1]:g}", key[2], key[3]) not in done]
        # In pieces, so that a long run may be stopped and taken up again.
        for k in range(0, len(missing), PIECE):
            rows += Parallel(n_jobs=options.jobs)(delayed(run)(*key, options.device) for key in missing[k : k + PIECE])
            write_csv(path, rows)
    summary = summarise(rows)
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    write_csv(options.out / "ordinal_summary.csv", summary)


def summarise(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Mean scores beside the papers' F1."""
    published = {(row["set"], row["noise"]): row for row in read_csv(HERE / "published" / "thesis_tables_4_2_4_3.csv")}
    out: list[dict[str, object]] = []
    for name in ORDINAL_SETS:
        for noise in NOISES:
            for order in ORDERS:
                key = (name, f"{noise:g}", order)
                same = [row for row in rows if (row["set"], row["noise"], row["order"]) == key]
                if not same:
                    continue
                numbers = {
                    field: np.array([float(str(row[field])) for row in same])
                    for field in ("f1", "accuracy", "mmae", "max_gap", "cpu_seconds")
                }
                out.append(
                    {
                        "set": name,
                        "noise": f"{noise:g}",
                        "order": order,
                        "runs": len(same),
                        "f1": float(numbers["f1"].mean()),
                        "f1_published": float(published[name, f"{noise:g}"][order]),
                        "accuracy": float(numbers["accuracy"].mean()),
                        "mmae": float(numbers["mmae"].mean()),
                        "max_gap": float(numbers["max_gap"].max()),
                        "cpu_seconds": float(numbers["cpu_seconds"].mean()),
                    }
                )
    return out


if __name__ == "__main__":
    main()

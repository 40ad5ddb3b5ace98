"""Accuracy of the relevance classes on the simulated sets Sim1 to Sim5 (thesis, Tables 3.1 and 3.3).

The defaults of the estimator (threshold rule, confidence, form of the loss budget, ties of C) were chosen with seeds 0
to 49 in view. ``--first 1000`` runs seeds that had no part in that choice; its results end in ``_from_1000``.

Usage: ``python -m benchmarks.papers.simulations [--seeds 50] [--first 0] [--jobs 1] [--rule added]``
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from allrelevant import LinearRelevanceClassifier
from allrelevant.datasets import SIMULATIONS, make_simulation
from benchmarks._common import f1_of_set, print_table, read_csv, write_csv

HERE = Path(__file__).parent


def run(name: str, seed: int, **parameters: object) -> dict[str, object]:
    """Fit one set and compare with its truth."""
    X, y, relevance = make_simulation(name, random_state=seed)
    began = time.process_time()
    model = LinearRelevanceClassifier(random_state=seed, **parameters).fit(X, y)
    spent = time.process_time() - began
    classes = model.relevance_classes_
    return {
        "set": name,
        "seed": seed,
        "f1": f1_of_set(relevance, classes > 0),
        "accuracy": float((classes == relevance).mean()),
        "false_positives": int(((classes > 0) & (relevance == 0)).sum()),
        "false_negatives": int(((classes == 0) & (relevance > 0)).sum()),
        "C": model.result_.hyperparameters["C"],
        "score": model.result_.scores["cross_validated"],
        "max_gap": model.result_.max_gap,
        "cpu_seconds": spent,
    }


def summarise(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Mean scores per set and over all sets, beside the papers' F1."""
    papers = {row["set"]: float(row["f1"]) for row in read_csv(HERE / "published" / "thesis_table_3_3.csv")}
    out: list[dict[str, object]] = []
    names = [name for name in SIMULATIONS if any(row["set"] == name for row in rows)]
    for name in [*names, "all"]:
        chosen = [row for row in rows if name in (row["set"], "all")]
        published = papers[name] if name in papers else float(np.mean([papers[each] for each in names]))
        f1 = [float(row["f1"]) for row in chosen]  # type: ignore[arg-type]
        out.append(
            {
                "set": name,
                "runs": len(chosen),
                "f1": float(np.mean(f1)),
                "f1_standard_error": float(np.std(f1, ddof=1) / np.sqrt(len(f1))) if len(f1) > 1 else 0.0,
                "f1_published": published,
                "accuracy": float(np.mean([row["accuracy"] for row in chosen])),
                "max_gap": max(float(row["max_gap"]) for row in chosen),  # type: ignore[arg-type]
                "cpu_seconds": float(np.mean([row["cpu_seconds"] for row in chosen])),
            }
        )
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rule", default="added")
    parser.add_argument("--confidence", type=float, default=0.9999)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    rows = Parallel(n_jobs=options.jobs)(
        delayed(run)(name, seed, threshold_rule=options.rule, confidence=options.confidence)
        for name in SIMULATIONS
        for seed in range(options.first, options.first + options.seeds)
    )
    summary = summarise(rows)
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    suffix = "" if options.rule == "added" else f"_{options.rule}_{options.confidence:g}"
    suffix += f"_from_{options.first}" if options.first else ""
    write_csv(options.out / f"simulations{suffix}.csv", rows)
    write_csv(options.out / f"simulations{suffix}_summary.csv", summary)


if __name__ == "__main__":
    main()

"""Groups of redundant features: V-measure and CPU time on the thesis' Sets 1 to 3 (Table 3.7), beside fri 9.0.0.

Pairs of identical columns are the true groups; unique features are groups of one, and all noise is one group, as in the
thesis. Correlation clustering (single linkage of one minus the magnitude of Pearson's correlation, cut at the same
share of its height as fri cuts) and HDBSCAN on the columns (smallest cluster 2) stand beside. Times are CPU seconds of
the grouping alone, after the fit, in processes of their own that take turns. fri gets the data standardised.

Usage: ``python -m benchmarks.papers.grouping [--seeds 10] [--limit 600] [--environments .peers] [--without-fri]``
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import HDBSCAN
from sklearn.metrics import v_measure_score

from allrelevant.datasets import make_relevance_classification
from benchmarks._common import Results, mean_cell, number, print_table, read_csv, standardised, write_csv
from benchmarks.peers.processes import data_file, fit, peer_python

HERE = Path(__file__).parent
#: Unique relevant features, pairs, noise.
SETS = {"set1": (0, 5, 10), "set2": (3, 5, 5), "set3": (0, 5, 0)}
CUTOFF = 0.55


def make_pairs(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data of 100 samples and the true group of every column, -1 for noise."""
    n_unique, n_pairs, n_noise = SETS[name]
    k = n_unique + n_pairs
    X, y, _ = make_relevance_classification(100, n_strong=k, n_weak=0, n_irrelevant=n_noise, random_state=seed)
    X = np.hstack([X[:, :n_unique], np.repeat(X[:, n_unique:k], 2, axis=1), X[:, k:]])
    truth = np.concatenate([np.arange(n_unique), np.repeat(np.arange(n_unique, k), 2), np.full(n_noise, -1)])
    return standardised(X), y, truth


def correlation_groups(X: np.ndarray) -> np.ndarray:
    """Single linkage of one minus the magnitude of the correlation."""
    apart = np.clip(1.0 - np.abs(np.corrcoef(X.T)), 0.0, None)
    np.fill_diagonal(apart, 0.0)
    links = linkage(squareform(apart, checks=False), method="single")
    return fcluster(links, CUTOFF * links[:, 2].max(), criterion="distance")


def hdbscan_groups(X: np.ndarray) -> np.ndarray:
    """Density-based clusters of the columns; what is in none is one group."""
    return HDBSCAN(min_cluster_size=2, copy=True).fit_predict(X.T)


def run(name: str, seed: int, python: Path | None, limit: float) -> dict[str, Any]:
    """Group one set by all methods."""
    X, y, truth = make_pairs(name, seed)
    row: dict[str, Any] = {"set": name, "seed": seed}
    for method, labels in {"correlation": correlation_groups(X), "hdbscan": hdbscan_groups(X)}.items():
        row[f"{method}_v"] = float(v_measure_score(truth, labels))
    with data_file(X, y) as data:
        for library, interpreter in {"allrelevant": sys.executable, "fri": python}.items():
            row[f"{library}_v"] = row[f"{library}_grouping_seconds"] = row[f"{library}_fit_seconds"] = ""
            row[f"{library}_note"] = "not asked for" if interpreter is None else ""
            if interpreter is None:
                continue
            done = fit(f"{library}_groups", "classification", data, seed, limit=limit, python=interpreter)
            row[f"{library}_note"] = done.note
            if done.found:
                spent = done.found["grouping_seconds"]
                row[f"{library}_v"] = float(v_measure_score(truth, done.found["labels"]))
                row[f"{library}_grouping_seconds"] = spent
                row[f"{library}_fit_seconds"] = done.found["cpu_seconds"] - spent
    times = [number(row[f"{library}_grouping_seconds"]) for library in ("fri", "allrelevant")]
    row["ratio"] = times[0] / times[1] if np.isfinite(times).all() else ""
    return row


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means per set beside the papers' figures; fri's of the runs that it finished."""
    published = {row["set"]: row for row in read_csv(HERE / "published" / "thesis_table_3_7.csv")}
    out = []
    for name in SETS:
        chosen = [row for row in rows if row["set"] == name]
        if not chosen:
            continue
        line: dict[str, Any] = {"set": name, "runs": len(chosen)}
        for method in ("allrelevant", "fri", "correlation", "hdbscan"):
            line[f"{method}_v"] = mean_cell(chosen, f"{method}_v")
            line[f"{method}_v_published"] = published[name].get(method, "")
        del line["allrelevant_v_published"]
        line["fri_finished"] = sum(row["fri_v"] != "" for row in chosen)
        both = [row for row in chosen if row["ratio"] != ""]
        for library in ("allrelevant", "fri"):
            line[f"{library}_grouping_seconds"] = mean_cell(both or chosen, f"{library}_grouping_seconds")
        line["ratio"] = line["fri_grouping_seconds"] / line["allrelevant_grouping_seconds"] if both else ""
        out.append(line)
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds that fit and grouping may take")
    parser.add_argument("--without-fri", action="store_true")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    python = None if options.without_fri else peer_python("fri", options.environments)
    results = Results(options.out / "grouping.csv", ("set", "seed"))
    wanted = [(name, seed) for name in options.sets for seed in range(options.seeds)]
    for name, seed in results.missing(wanted, resume=options.resume):
        results.add(run(name, seed, python, options.limit))
    summary = summarise(results.rows)
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    write_csv(options.out / "grouping_summary.csv", summary)


if __name__ == "__main__":
    main()

"""Which threshold rule deserves to be the default? Rules, scales and confidences side by side on Sim1 to Sim5.

The baseline, the intervals and the probes of a set are computed once; only the limit drawn from the probes differs.

Usage: ``python -m benchmarks.papers.thresholds [--seeds 50] [--jobs 1]``
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from allrelevant import LinearRelevanceClassifier
from allrelevant._progress import Progress
from allrelevant.datasets import SIMULATIONS, make_simulation
from allrelevant.formulations import Classification
from allrelevant.relevance.baseline import fit_baseline
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.nearoptimal import near_optimal_set
from allrelevant.relevance.solving import Solving
from allrelevant.stats.prediction import prediction_limit
from allrelevant.stats.probes import added_probes, draw_probes, probe_columns, replaced_probes
from benchmarks._common import f1_of_set, print_table, write_csv

HERE = Path(__file__).parent
POWERS = {"values": 1.0, "square roots": 0.5, "cube roots": 1.0 / 3.0}
CONFIDENCES = (0.999, 0.9995, 0.9999, 0.99999)


def run(name: str, seed: int) -> list[dict[str, object]]:
    """Score all rules on one set."""
    X, y, relevance = make_simulation(name, random_state=seed)
    Z, target, weight = (X - X.mean(axis=0)) / X.std(axis=0), y.astype(float), np.ones(len(X))
    progress = Progress()
    C = LinearRelevanceClassifier(random_state=seed, n_probes=3).fit(X, y).result_.hyperparameters["C"]
    baseline = fit_baseline(Classification(), Z, target, weight, C=C, folds=(), progress=progress)
    near = near_optimal_set(baseline.program, baseline.w, baseline.b, baseline.C, norm_slack=0.1, loss_slack=0.1)
    features = [Classification().feature(k, Z.shape[1]) for k in range(Z.shape[1])]
    intervals = relevance_intervals(near, features, Solving())
    source, values = draw_probes(Z, 50, np.arange(Z.shape[1]), np.random.RandomState(seed))
    context = (target, weight)
    drawn = list(values)
    columns = probe_columns(Classification(), np.hstack(drawn), len(drawn), *context)
    added = added_probes(near, features[0], 50, lambda _: columns, Solving())
    sides = np.random.RandomState(seed).randint(2, size=50)
    one_side = added_probes(near, features[0], 50, lambda _: columns, Solving(), sides)
    replaced = replaced_probes(near, Classification(), Z, source, iter(drawn), *context, Solving())
    rows: list[dict[str, object]] = []
    for label, probes in (("added", one_side), ("added, both sides", added), ("papers", replaced)):
        for scale, power in POWERS.items():
            for confidence in CONFIDENCES:
                limit = np.inf
                if len(probes.maximum) > 2:
                    limit = prediction_limit(probes.maximum, confidence, power, probes.sides)
                selected = intervals.maximum > limit
                rows.append(
                    {
                        "set": name,
                        "seed": seed,
                        "probes": label,
                        "usable": len(probes.maximum),
                        "scale": scale,
                        "confidence": confidence,
                        "f1": f1_of_set(relevance, selected),
                        "false_positives": int((selected & (relevance == 0)).sum()),
                        "false_negatives": int((~selected & (relevance > 0)).sum()),
                    }
                )
    return rows


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    parts = Parallel(n_jobs=options.jobs)(
        delayed(run)(name, seed) for name in SIMULATIONS for seed in range(options.seeds)
    )
    rows = [row for part in parts for row in part]
    summary = []
    for probes in ("added", "added, both sides", "papers"):
        for scale in POWERS:
            for confidence in CONFIDENCES:
                same = [
                    row
                    for row in rows
                    if (row["probes"], row["scale"], row["confidence"]) == (probes, scale, confidence)
                ]
                by_set = {name: np.mean([row["f1"] for row in same if row["set"] == name]) for name in SIMULATIONS}
                summary.append(
                    {
                        "probes": probes,
                        "scale": scale,
                        "confidence": str(confidence),
                        **{name: float(value) for name, value in by_set.items()},
                        "least_usable": min(int(row["usable"]) for row in same),  # type: ignore[call-overload]
                        "false_positives": sum(int(row["false_positives"]) for row in same),  # type: ignore[call-overload]
                        "false_negatives": sum(int(row["false_negatives"]) for row in same),  # type: ignore[call-overload]
                    }
                )
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    write_csv(options.out / "thresholds_summary.csv", summary)


if __name__ == "__main__":
    main()

"""How the default was chosen: null distributions, sets of copies and kinds of evidence on the same bounds.

``python -m benchmarks.truth.study [--seeds 6] [--designs …]`` bounds all features and three sets of copies of designs
that are not reserved, on seeds below 1000, once; every rule then looks at the same numbers. It prints and writes
``results/study.csv``: the share of false among the found and F1, and for designs of nothing but noise how often
anything is found and the share of p-values below .001.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant.inference import (
    CopiesNull,
    NullSample,
    adjusted_pvalues,
    alone_pvalues,
    cauchy_combination,
    copies_pvalues,
)
from allrelevant.relevance.baseline import in_units
from allrelevant.relevance.intervals import relevance_intervals
from allrelevant.relevance.solving import Solving
from benchmarks.competitors._input import scaled
from benchmarks.truth.every import DESIGNS
from benchmarks.truth.record import Record
from benchmarks.truth.scoring import scores

RESULTS = Path(__file__).with_name("results") / "study.csv"
LEVEL, SETS, COMPARED = 0.05, 3, 34
ESTIMATORS = {
    "classification": LinearRelevanceClassifier,
    "multiclass": LinearRelevanceClassifier,
    "regression": LinearRelevanceRegressor,
    "ordinal": LinearRelevanceOrdinal,
}


@dataclass(frozen=True)
class Bounds:
    """``maxRel`` of features, of features beside every set of copies, and of the copies; p-values of each alone."""

    features: np.ndarray
    beside: np.ndarray
    copies: np.ndarray
    alone: np.ndarray


def bounds(record: Record, seed: int) -> Bounds:
    """Fit, and bound everything beside three sets of copies."""
    model = ESTIMATORS[record.kind](random_state=seed, n_copies=1).fit(scaled(record.X), record.y)
    space = model._exploration.spaces[0]
    near, data, baseline = space.near, space.data, space.baseline
    X, weight = np.asarray(data.X), in_units(data.sample_weight, baseline.unit)
    d, formulation = X.shape[1], baseline.formulation
    beside, copies = np.zeros((2, SETS, d))
    for b in range(SETS if near.mu > 0.0 else 0):
        stacked = np.hstack([X, X[np.random.default_rng([seed, b]).permutation(len(X))]])
        program = formulation.program(stacked, data.target, weight)
        wider = replace(near, program=program, w=np.append(near.w, np.zeros(program.n_weights - len(near.w))))
        features = [formulation.feature(k, 2 * d) for k in range(2 * d)]
        with threadpool_limits(1):
            found = relevance_intervals(wider, features, Solving("auto", "cpu", 1, None)).maximum
        beside[b, data.columns], copies[b, data.columns] = found[:d], found[d:]
    rng = np.random.default_rng([seed, SETS])
    y = formulation.scores(data.target, False)
    alone = np.ones(d)
    alone[data.columns] = alone_pvalues(X, y, (rng.permutation(len(X)) for _ in range(1000)), sample_weight=weight)
    return Bounds(model.result_.intervals[:, 1], beside, copies, alone)


def own(statistic: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Each feature against the mean of its own copies, not shrunk."""
    mean, n = copies.mean(axis=0), len(copies)
    others = (mean * n - copies) / (n - 1)
    return NullSample.of((copies - others).ravel()).pvalues(statistic - mean)


def pooled(statistic: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """All features against all copies."""
    return NullSample.of(copies.ravel()).pvalues(statistic)


def candidates(n_sets: int) -> Callable[[Bounds], np.ndarray]:
    """The default: those above the median of the first set have further copies, and are bounded beside the second."""

    def run(found: Bounds) -> np.ndarray:
        copies = found.copies[:n_sets].copy()
        above = found.features > np.median(copies[0])
        greatest = np.argsort(-found.features, kind="stable")[:COMPARED]
        further = above.copy()
        further[greatest] = True
        copies[1:, ~further] = np.nan
        statistic = np.where(above, np.maximum(found.features, found.beside[1]), found.features)
        return CopiesNull.of(copies).pvalues(statistic)

    return run


TOGETHER: dict[str, Callable[[Bounds], np.ndarray]] = {
    "own, 3 sets, features beside all": lambda found: own(found.beside.mean(axis=0), found.copies),
    "pooled, 3 sets, features beside all": lambda found: pooled(found.beside.mean(axis=0), found.copies),
    "shrunk, 3 sets, features beside all": lambda found: copies_pvalues(found.beside.mean(axis=0), found.copies),
    "shrunk, 3 sets, features beside none": lambda found: copies_pvalues(found.features, found.copies),
    "shrunk, 2 sets, features beside none": lambda found: copies_pvalues(found.features, found.copies[:2]),
    "pooled, 1 set, features beside none": lambda found: pooled(found.features, found.copies[:1]),
    "shrunk, 3 sets, candidates": candidates(3),
    "shrunk, 2 sets, candidates (default)": candidates(2),
}


def rules(found: Bounds) -> dict[str, np.ndarray]:
    """P-values by every rule."""
    out = {"alone": found.alone}
    for name, rule in TOGETHER.items():
        together = rule(found) if found.copies.any() else np.ones(len(found.alone))
        together = np.where(found.features > 0.0, together, 1.0)
        out[f"together: {name}"] = together
        out[f"both: {name}"] = cauchy_combination(together, found.alone)
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--designs", nargs="+")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = [
        design
        for name, design in DESIGNS.items()
        if not design.reserved and design.family != "rows" and (given.designs is None or name in given.designs)
    ]
    signal, noise = defaultdict(list), defaultdict(list)
    for design in chosen:
        for seed in range(given.seeds):
            record = design(seed)
            if record.X_privileged is not None:
                continue
            for name, pvalues in rules(bounds(record, seed)).items():
                called = (adjusted_pvalues(pvalues) <= LEVEL).astype(int)
                found = scores(record.truth, called)
                if found["f1"] is None:
                    noise[name].append((called.any(), (pvalues < 0.001).mean()))
                else:
                    signal[name].append((found["false_share"], found["f1"]))
        print(design.name, flush=True)
    rows = []
    for name in signal or noise:
        row: dict[str, object] = {"rule": name}
        for what, values in (("signal", signal[name]), ("noise", noise[name])):
            if not values:
                continue
            mean, error = np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(len(values))
            labels = ("false share", "F1") if what == "signal" else ("anything found", "p < .001")
            for label, one, spread in zip(labels, mean, error, strict=True):
                row |= {label: round(float(one), 4), f"{label}, standard error": round(float(spread), 4)}
        rows.append(row)
        print(", ".join(f"{key}: {value}" for key, value in row.items()))
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

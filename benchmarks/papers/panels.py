"""The smallest panels of the breast-cancer data, and panels against brute force on problems of known redundancy.

Breast cancer (scikit-learn's copy, 569 x 30): the smallest sets of features that admit a model as good as that of all
30, with the cross-validated score of a model fitted on each. Brute force: on random problems of up to nine features all
subsets are tried, each by a linear program of scipy; the panels found must be the same.

Usage: ``python -m benchmarks.papers.panels [--count 10] [--problems 50]``
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer

from allrelevant import LinearRelevanceClassifier
from benchmarks._common import print_table, write_csv

HERE = Path(__file__).parent


def breast_cancer(count: int) -> list[dict[str, Any]]:
    """The smallest panels with their scores."""
    data = load_breast_cancer(as_frame=True)
    model = LinearRelevanceClassifier(random_state=0).fit(data.data, data.target)
    began = time.process_time()
    panels = model.panels(k=count, time_limit=600)
    spent = time.process_time() - began
    return [
        {
            "panel": number,
            "size": len(panel.features),
            "score": panel.score,
            "score_of_all_features": panels.baseline_score,
            "proven": panel.gap == 0.0,
            "features": "; ".join(panel.features),
            "cpu_seconds_of_all": spent,
        }
        for number, panel in enumerate(panels)
    ]


def redundant_problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Up to nine features: one alone, two groups of noisy copies, noise."""
    rng = np.random.RandomState(seed)
    sizes = [1, *rng.randint(1, 4, size=2)]
    hidden = rng.normal(size=(60, len(sizes)))
    columns = [hidden[:, g] + 0.05 * rng.normal(size=60) for g, size in enumerate(sizes) for _ in range(size)]
    columns += [rng.normal(size=60) for _ in range(rng.randint(0, 3))]
    X = np.column_stack(columns)
    y = np.where(hidden.sum(axis=1) + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _programs(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows over (w+, w-, b, slacks) with their right sides, and the norm of the columns."""
    n, d = X.shape
    signed = y[:, None] * X
    rows = -np.hstack([signed, -signed, -y[:, None], np.eye(n)])
    return rows, np.full(n, -1.0), np.concatenate([np.ones(2 * d), np.zeros(1 + n)])


def least_loss(X: np.ndarray, y: np.ndarray, norm: float) -> float:
    """Least loss of a model of these columns within a norm."""
    A, b, weights = _programs(X, y)
    cost = np.concatenate([np.zeros(2 * X.shape[1] + 1), np.ones(len(X))])
    bounds = [(0, None)] * (2 * X.shape[1]) + [(None, None)] + [(0, None)] * len(X)
    found = linprog(cost, np.vstack([A, weights]), np.append(b, norm), bounds=bounds, method="highs")
    return float(found.fun)


def brute_force(seed: int, C: float = 0.5, slack: float = 0.1) -> dict[str, Any]:
    """Compare all panels of one problem."""
    X, y = redundant_problem(seed)
    n, d = X.shape
    A, b, weights = _programs(X, y)
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    best = linprog(weights + C * np.append(np.zeros(2 * d + 1), np.ones(n)), A, b, bounds=bounds, method="highs").x
    mu, rho = best[: 2 * d].sum(), best[2 * d + 1 :].sum()
    norm, loss = (1 + slack) * mu, rho + slack * (rho + mu / C) + 1e-6 * max(1.0, mu)
    expected: list[tuple[int, ...]] = []
    for size in range(1, d + 1):
        for chosen in combinations(range(d), size):
            if not any(set(one) <= set(chosen) for one in expected) and least_loss(X[:, chosen], y, norm) <= loss:
                expected.append(chosen)
    model = LinearRelevanceClassifier(C=C, n_copies=1, random_state=0).fit(X, y)
    panels = model.panels(k=1000, scope="all")
    found = {tuple(int(name[1:]) for name in panel.features) for panel in panels}
    return {"seed": seed, "d": d, "panels": len(expected), "found": len(found), "same": found == set(expected)}


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10, help="panels of the breast-cancer data")
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    rows = [brute_force(seed) for seed in range(options.problems)]
    print(f"same panels as brute force on {sum(row['same'] for row in rows)} of {len(rows)} problems")
    write_csv(options.out / "panels_brute_force.csv", rows)
    smallest = breast_cancer(options.count)
    print_table(list(smallest[0]), [list(row.values()) for row in smallest])
    write_csv(options.out / "panels.csv", smallest)


if __name__ == "__main__":
    main()

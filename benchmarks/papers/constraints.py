"""The thesis' Figure 3.4: what holding one of three copies does to all other intervals.

8 features: 4 strongly relevant, 3 copies of one, 1 of noise. With the papers' slack, one copy at its ``minRel`` leaves
all others as they were; at its ``maxRel`` the other two drop to 0 and all other intervals shrink to points. With the
wider budgets that are the default here the same holds, but for one thing: the greatest weight of a copy is then reached
with the other copies at weights of the opposite sign, which cancel a part of it. Their sum is fixed; each of the two
may carry it.

Usage: ``python -m benchmarks.papers.constraints [--seeds 10]``
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from allrelevant import LinearRelevanceClassifier
from allrelevant.datasets import make_relevance_classification
from benchmarks._common import print_table, write_csv

HERE = Path(__file__).parent
SLACKS = {"papers": {"norm_slack": 0.001, "loss_slack": 0.0}, "default": {}}
OTHERS = [0, 1, 2, 3, 7]
COPIES = [5, 6]


def run(seed: int, slack: str) -> dict[str, object]:
    """Hold the fifth feature at both ends of its interval."""
    X, y, _ = make_relevance_classification(150, n_strong=4, n_weak=3, n_irrelevant=1, noise=0.0, random_state=seed)
    model = LinearRelevanceClassifier(random_state=seed, **SLACKS[slack]).fit(X, y)
    before = model.intervals_
    least, most = (model.constrain({4: float(end)}) for end in before[4])
    return {
        "slack": slack,
        "seed": seed,
        "copy_minimum": float(before[4, 0]),
        "copy_maximum": float(before[4, 1]),
        "largest_change_at_minimum": float(np.abs(np.delete(least.delta, 4, axis=0)).max()),
        "other_copies_at_maximum": float(most.intervals[COPIES].max()),
        "widest_interval_before": float(np.ptp(before[OTHERS], axis=1).max()),
        "widest_interval_at_maximum": float(np.ptp(most.intervals[OTHERS], axis=1).max()),
        "max_gap": max(least.max_gap, most.max_gap),
    }


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    rows = [run(seed, slack) for slack in SLACKS for seed in range(options.seeds)]
    print_table(
        list(rows[0]), [[f"{cell:.2g}" if isinstance(cell, float) else cell for cell in row.values()] for row in rows]
    )
    write_csv(options.out / "constraints.csv", rows)


if __name__ == "__main__":
    main()

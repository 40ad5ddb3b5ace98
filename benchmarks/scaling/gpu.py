"""Bounds of all features on a GPU: wall seconds, proofs included.

Data are standard normal, with a linear signal in a few features. ``bounds`` are the relevance intervals of all
features, by two linear programs each; ``fit`` is the whole estimator with its search, copies and classes.
``unproven`` counts the programs whose first solution did not prove itself and that were solved again. Threads on the
CPU prove what the GPU returns. ``first`` is the time of the first call for a shape, which loads kernels; ``seconds`` is
the median of three more, or the same for what takes long. The first row is the very first call, which starts the GPU.

Usage: ``python -m benchmarks.scaling.gpu [--device cuda] [--jobs 8] [--fit]``
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from allrelevant import LinearRelevanceClassifier
from allrelevant.lp import Targets
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving
from benchmarks._common import print_table, standardised, write_csv
from benchmarks.scaling.programs import near_optimal

HERE = Path(__file__).parent
#: Samples, features, penalty, seconds to stay below.
#: What takes longer is not repeated.
LONG = 10.0
SHAPES = ((1000, 230, 0.1, 0.5), (62, 2000, 1.0, 1.0), (100000, 100, 0.1, 5.0), (100, 20000, 0.5, 60.0))


def make(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standardised features, and labels by a noisy linear signal."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    X[:, 5] = X[:, 4] + 0.1 * rng.normal(size=n)
    y = np.where(X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return standardised(X), y


def baseline(n: int, d: int, C: float) -> NearOptimalSet:
    """The near-optimal set of the optimal model."""
    return near_optimal(*make(n, d), C)


def bounds(near: NearOptimalSet, device: str, jobs: int, every: int = 1) -> dict[str, object]:
    """Both programs of every feature, or of some of them."""
    features = np.arange(0, near.program.n_weights, every)
    targets = Targets.sides(features[:, None], np.ones((len(features), 1)))
    solving = Solving(engine="interior", device=device, n_jobs=jobs)
    began = time.perf_counter()
    with threadpool_limits(1, user_api="blas"):
        solver = solving.solver(near.program, near.budget, (near.w, near.b))
        found = solving.solve(solver, targets)
    spent = time.perf_counter() - began
    return {"seconds": spent, "programs": len(targets), "max_gap": found.gap, "unproven": found.n_reference}


def _write(options: argparse.Namespace, rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Write what there is so far."""
    header = ["what", "n", "d", "programs", "first", "seconds", "limit", "max_gap", "unproven"]
    table = [{key: row[key] for key in header} for row in rows]
    write_csv(options.out / f"gpu_{options.device}.csv", table)
    return table


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--fit", action="store_true", help="also the whole fit of 100 x 20000")
    parser.add_argument("--sample", type=int, default=1, help="of 20000 features take every so many-th")
    parser.add_argument("--largest", type=int, default=10**9, help="leave out shapes with more numbers")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    shapes = [shape for shape in SHAPES if shape[0] * shape[1] <= options.largest]
    began = time.perf_counter()
    bounds(baseline(50, 10, 1.0), options.device, options.jobs)
    rows: list[dict[str, object]] = [
        {"what": "start", "n": 50, "d": 10, "first": time.perf_counter() - began, "seconds": "", "limit": "",
         "programs": 20, "max_gap": "", "unproven": ""}
    ]  # fmt: skip
    for n, d, C, limit in shapes:
        every = options.sample if d > 10000 else 1
        near = baseline(n, d, C)
        found = bounds(near, options.device, options.jobs, every)
        found["first"] = first = float(found["seconds"])  # type: ignore[arg-type]
        if first < LONG:
            again = [bounds(near, options.device, options.jobs, every)["seconds"] for _ in range(3)]
            found["seconds"] = sorted(again)[1]  # type: ignore[type-var]
        what = "bounds" if every == 1 else f"bounds of every {every}th feature"
        rows.append({"what": what, "n": n, "d": d, "limit": limit, **found})
        print({key: str(value) for key, value in rows[-1].items()}, flush=True)
        _write(options, rows)
    if options.fit:
        X, y = make(100, 20000)
        began = time.perf_counter()
        result = LinearRelevanceClassifier(random_state=0, device=options.device, n_jobs=options.jobs).fit(X, y).result_
        spent = time.perf_counter() - began
        stages = ", ".join(f"{name} {value:.1f}" for name, value in result.cpu_seconds.items())
        print(f"fit: {spent:.1f} s (CPU seconds: {stages}); relevant: {np.flatnonzero(result.classes).tolist()}")
        rows.append({"what": "fit", "n": 100, "d": 20000, "first": "", "seconds": spent, "limit": 120.0,
                     "programs": result.n_programs, "max_gap": result.max_gap, "unproven": ""})  # fmt: skip
    table = _write(options, rows)
    header = list(table[0])
    print_table(header, [[f"{v:.1e}" if k == "max_gap" and v != "" else v for k, v in row.items()] for row in table])


if __name__ == "__main__":
    main()

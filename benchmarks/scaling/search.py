"""The search for C: all folds and penalties as one batch against warm-started HiGHS. CPU time, one thread, one run.

Both solve and prove the same penalised problems, nine values of C on three folds (times four widths of the tube for
regression). ``times`` is how much longer HiGHS takes, ``batch`` whether the library takes the batch, ``left`` how many
problems the batch leaves to HiGHS, ``apart`` the largest relative difference of two objectives.

Usage: ``python -m benchmarks.scaling.search [--shapes 500x30 2000x70] [--kinds classification regression ordinal]``
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from allrelevant.datasets import make_relevance_ordinal, make_relevance_regression
from allrelevant.formulations import Classification, Formulation, OrdinalExplicit, Regression
from allrelevant.lp import Array, PenalisedSolver, Program
from allrelevant.lp.certificate import penalised_gap
from allrelevant.lp.paths import InteriorPaths, problems_at_once
from allrelevant.relevance.penalties import penalty_path
from allrelevant.relevance.search import SEARCH_GAP
from benchmarks._common import Results, make_mix, print_table, standardised
from benchmarks.scaling.programs import cpu_time

HERE = Path(__file__).parent
SHAPES = (
    (100, 10), (100, 50), (200, 100), (500, 30), (500, 100), (500, 200),
    (1000, 230), (2000, 70), (10000, 20), (10000, 100), (40000, 20),
)  # fmt: skip
KINDS = ("classification", "regression", "ordinal")
N_FOLDS = 3


def problem(kind: str, n: int, d: int) -> tuple[Formulation, Array, Array]:
    """Formulation, standardised data and encoded target."""
    if kind == "classification":
        X, y, _ = make_mix(n, d, 0)
        return Classification(), standardised(X), y.astype(float)
    if kind == "regression":
        X, y, _ = make_relevance_regression(n, n_irrelevant=d - 10, n_strong=4, n_weak=6, noise=0.1, random_state=0)
        return Regression(), standardised(X), (y - y.mean()) / y.std()
    X, y, _ = make_relevance_ordinal(n, n_irrelevant=d - 10, n_strong=4, n_weak=6, n_classes=5, random_state=0)
    return OrdinalExplicit(n_classes=5), standardised(X), y.astype(float)


def run(kind: str, n: int, d: int) -> dict[str, Any]:
    """Time both on one shape."""
    formulation, X, target = problem(kind, n, d)
    fold = np.random.default_rng(0).permutation(np.arange(n) % N_FOLDS)
    programs: list[Program] = []
    values: list[Array] = []
    for k in range(N_FOLDS):
        train = fold != k
        for candidate in formulation.candidates(target):
            whole = candidate.program(X, target, np.ones(n))
            programs.append(candidate.program(X[train], target[train], np.ones(int(train.sum()))))
            values.append(penalty_path(whole))
    both = list(zip(programs, values, strict=True))
    batch, found = cpu_time(lambda: InteriorPaths(programs, values).solve(), least=0.3)
    proof, gaps = cpu_time(lambda: [penalised_gap(*one, *claim) for one, claim in zip(both, found, strict=True)])
    highs, points = cpu_time(lambda: [PenalisedSolver(program).path(C, SEARCH_GAP) for program, C in both], least=0.3)
    proven = np.concatenate(gaps) <= SEARCH_GAP
    objectives = [
        np.concatenate([p.norm(w) + C * p.loss(w, b) for (p, C), (w, b) in zip(both, answer, strict=True)])
        for answer in ([claim[:2] for claim in found], points)
    ]
    apart = np.abs(objectives[0] - objectives[1]) / objectives[1]
    together = problems_at_once(whole, len(values[0])) > 0
    return {
        "kind": kind, "n": n, "d": d, "problems": len(proven), "batch_seconds": batch + proof, "highs_seconds": highs,
        "times": highs / (batch + proof), "batch": together, "left": int((~proven).sum()),
        "apart": float(apart[proven].max(initial=0.0)),
    }  # fmt: skip


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=[f"{n}x{d}" for n, d in SHAPES])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    results = Results(options.out / "search.csv", ("kind", "n", "d"))
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes]
    wanted = [(kind, *shape) for kind in options.kinds for shape in shapes]
    with threadpool_limits(1):
        for kind, n, d in results.missing(wanted, resume=options.resume):
            results.add(run(kind, n, d))
    print_table(list(results.rows[0]), [list(row.values()) for row in results.rows])


if __name__ == "__main__":
    main()

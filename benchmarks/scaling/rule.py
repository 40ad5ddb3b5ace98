"""Which engine, and how many bounds at a time: CPU time per bound over a grid, and what ``engine="auto"`` makes of it.

Every shape is solved by both engines in batches of several sizes, set-up and proofs included, and once more as
``"auto"`` would. The whole fit for a given C stands beside, whose programs of copies count more than the features
where these are few. The summary says on which share of the shapes ``"auto"`` takes the faster engine, and how many
times longer than the best choice it takes; a second table says the same of rules that would leave small programs, by
samples times features, to HiGHS. On a busy machine figures differ by some tens of per cent.

Usage: ``python -m benchmarks.scaling.rule [--shapes 20x3 500x30] [--batches 1 10 50 200] [--slow 0.05] [--resume]``
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from allrelevant import LinearRelevanceClassifier
from allrelevant.lp import Bounds, BoundSolver, Targets, choose_engine
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving
from benchmarks._common import Results, make_mix, number, print_table, short, write_csv
from benchmarks.scaling.programs import both_sides, cpu_time, near_optimal

HERE = Path(__file__).parent
ENGINES = ("interior", "highs")
#: Samples times features, of the rules tried.
LIMITS = (0, 100, 200, 500, 1000, 2000, 5000)
BATCHES = (1, 5, 10, 20, 50, 100, 200)
SHAPES = (
    (20, 3), (20, 10), (50, 3), (50, 10), (50, 30), (100, 5), (100, 10), (100, 30), (100, 100), (200, 10), (200, 30),
    (500, 5), (500, 10), (500, 30), (500, 100), (2000, 10), (2000, 50), (10000, 5), (10000, 20), (30, 100), (30, 300),
    (60, 1000),
)  # fmt: skip


def run(n: int, d: int, C: float, batches: tuple[int, ...] = BATCHES, *, most: int = 200, slow: float = 0.05,
        least: float = 0.1) -> dict[str, Any] | None:  # fmt: skip
    """Time a shape by all engines and sizes of batches; None if the optimal model has no weights.

    Where a bound takes HiGHS longer than `slow` seconds it is timed on 10 bounds, in one batch; where all bounds of a
    fit would take it longer than a hundred times that, it is not timed in a fit.
    """
    X, y, _ = make_mix(n, d)
    near = near_optimal(X, y, C)
    if near.mu == 0.0:
        return None
    targets = both_sides(d, most)
    row: dict[str, Any] = {"n": n, "d": d, "C": f"{C:g}", "bounds": len(targets)}
    row["auto_engine"] = choose_engine(near.program, "auto")
    row["auto_batch"], row["auto_ms"] = _auto(near, targets, least)
    first, _ = cpu_time(lambda: _solve(near, "highs", 10, targets.take(np.arange(min(10, len(targets))))), least=least)
    first /= min(10, len(targets))
    for engine in ENGINES:
        for width in batches:
            row[f"{engine}_{width}_ms"] = ""
            # The first batch that takes all is the last.
            if any(len(targets) <= smaller < width for smaller in batches):
                continue
            if engine == "highs" and first > slow:
                continue
            spent, _ = cpu_time(lambda engine=engine, width=width: _solve(near, engine, width, targets), least=least)
            row[f"{engine}_{width}_ms"] = 1e3 * spent / len(targets)
        times = {width: number(row[f"{engine}_{width}_ms"]) for width in batches}
        best = min(times, key=lambda width: times[width] if np.isfinite(times[width]) else np.inf)
        row[f"{engine}_batch"], row[f"{engine}_ms"] = best, times[best]
        if not np.isfinite(times[best]):
            row["highs_batch"], row["highs_ms"] = min(10, len(targets)), 1e3 * first
    row["faster"] = min(ENGINES, key=lambda engine: float(row[f"{engine}_ms"]))
    # Clocks differ by a few per cent from one measurement to the next.
    row["loss"] = max(1.0, row["auto_ms"] / min(row[f"{engine}_ms"] for engine in ENGINES))
    for engine in ENGINES:
        row[f"fit_{engine}_s"] = ""
        if engine != "highs" or first * (2 * d + 100) <= 100 * slow:
            model = LinearRelevanceClassifier(C=C, engine=engine, random_state=0)
            row[f"fit_{engine}_s"], _ = cpu_time(lambda model=model: model.fit(X, y), least=least)
    fits = {engine: number(row[f"fit_{engine}_s"]) for engine in ENGINES}
    row["fit_loss"] = "" if np.isnan(fits["highs"]) else fits[row["auto_engine"]] / min(fits.values())
    return row


def _solve(near: NearOptimalSet, engine: str, width: int, targets: Targets) -> Bounds:
    solver = BoundSolver(near.program, near.budget, (near.w, near.b), engine)
    starts = range(0, len(targets), width)
    return Bounds.join([solver.solve(targets.take(np.arange(k, min(k + width, len(targets))))) for k in starts])


class _Counted:
    """A solver that remembers the largest batch it was given."""

    def __init__(self, solver: BoundSolver) -> None:
        self._solver, self.largest = solver, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._solver, name)

    def solve(self, targets: Targets) -> Bounds:
        self.largest = max(self.largest, len(targets))
        return self._solver.solve(targets)


def _auto(near: NearOptimalSet, targets: Targets, least: float) -> tuple[int, float]:
    """Batch and milliseconds per bound when all is left to the library."""
    solving = Solving()

    def work() -> int:
        solver = _Counted(solving.solver(near.program, near.budget, (near.w, near.b)))
        solving.solve(solver, targets)  # type: ignore[arg-type]
        return solver.largest

    spent, largest = cpu_time(work, least=least)
    return largest, 1e3 * spent / len(targets)


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How often the rule is right, and what it costs where it is not."""
    # What the engine alone loses: the best time of the one chosen over the best time of either.
    engine = [
        number(row[f"{row['auto_engine']}_ms"]) / min(number(row["interior_ms"]), number(row["highs_ms"]))
        for row in rows
    ]
    loss = [number(row["loss"]) for row in rows]
    fits = [number(row["fit_loss"]) for row in rows if row["fit_loss"] != ""]
    worst, costly = rows[int(np.argmax(engine))], rows[int(np.argmax(loss))]
    return {
        "shapes": len(rows),
        "right_engine": float(np.mean([row["faster"] == row["auto_engine"] for row in rows])),
        "worst_loss_of_engine": max(engine),
        "worst_engine_at": f"{worst['n']}x{worst['d']}",
        "worst_loss": max(loss),
        "worst_at": f"{costly['n']}x{costly['d']}",
        "mean_loss": float(np.exp(np.mean(np.log(loss)))),
        "worst_fit_loss": max(fits, default=np.nan),
    }


def candidates(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What would be lost if HiGHS took all programs up to some number of samples times features, and no others."""
    out = []
    for limit in LIMITS:
        row: dict[str, Any] = {"highs_up_to": limit}
        for what, name in (("bounds", "{}_ms"), ("fit", "fit_{}_s")):
            times = [{engine: number(each[name.format(engine)]) for engine in ENGINES} for each in rows]
            loss = np.array([
                time["highs" if int(each["n"]) * int(each["d"]) <= limit else "interior"] / min(time.values())
                for each, time in zip(rows, times, strict=True) if np.isfinite(list(time.values())).all()
            ])  # fmt: skip
            if len(loss):
                row[f"{what}_right"] = float(np.mean(loss == 1.0))
                row[f"{what}_mean_loss"] = float(np.exp(np.mean(np.log(loss))))
                row[f"{what}_worst_loss"] = float(loss.max())
        out.append(row)
    return out


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", nargs="+", default=[f"{n}x{d}" for n, d in SHAPES], help="samples x features")
    parser.add_argument("--penalties", nargs="+", type=float, default=[1.0], help="values of C")
    parser.add_argument("--batches", nargs="+", type=int, default=list(BATCHES))
    parser.add_argument("--most", type=int, default=200, help="bounds per shape, at most")
    parser.add_argument("--slow", type=float, default=0.05, help="seconds per bound from which HiGHS is sampled")
    parser.add_argument("--least", type=float, default=0.1, help="seconds that a measurement is repeated for")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    results = Results(options.out / "rule.csv", ("n", "d", "C"))
    shapes = [tuple(map(int, name.split("x"))) for name in options.shapes]
    wanted = [(n, d, f"{C:g}") for n, d in shapes for C in options.penalties]
    for n, d, C in results.missing(wanted, resume=options.resume):
        with threadpool_limits(1, user_api="blas"):
            row = run(n, d, float(C), tuple(options.batches), most=options.most, slow=options.slow, least=options.least)
        if row is None:
            print(f"{n} x {d}, C = {C}: the optimal model has no weights, so there is nothing to solve")
        else:
            results.add(row)
    if results.rows:
        columns = ["n", "d", "C", "bounds", "interior_batch", "interior_ms", "highs_batch", "highs_ms", "faster",
                   "auto_engine", "auto_batch", "auto_ms", "loss",
                   "fit_interior_s", "fit_highs_s", "fit_loss"]  # fmt: skip
        print_table(columns, [[short(row[name]) for name in columns] for row in results.rows])
        summary = summarise(results.rows)
        print_table(list(summary), [list(summary.values())])
        write_csv(options.out / "rule_summary.csv", [summary])
        rules = candidates(results.rows)
        print_table(list(rules[0]), [list(row.values()) for row in rules])
        write_csv(options.out / "rule_candidates.csv", rules)


if __name__ == "__main__":
    main()

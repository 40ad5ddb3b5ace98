"""The interior engine against HiGHS on the same bounds: CPU milliseconds per bound, one thread, one run.

Four ways to the two bounds of every weight:

- ``interior``: the interior engine in batches, with the rows it leaves out, its set-up and all proofs.
- ``highs``: warm-started primal simplex on the whole program, one resident model, two programs per weight.
- ``reduced``: the same without the rows that are decided; what is not proven then is solved on the whole program.
- ``generated``: for more weights than rows, the same on the weights that matter, others added as they price in.

HiGHS is timed on a sample. Loading its models and the first bound are not counted, nor are the bounds from which
generation learns the weights that matter, nor proofs, but for those that ``reduced`` cannot do without. ``best_highs``
is the fastest route of the shape. Gaps and differences are shares of the norm budget.

Usage: ``python -m benchmarks.scaling.engines [--shapes 500x30 2000x70] [--sample 20] [--penalties 1 0.1] [--resume]``
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from allrelevant.lp import Program, Targets
from allrelevant.lp.certificate import GAP_LIMIT, certify
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.reduction import reduce_rows
from allrelevant.lp.targets import Columns, Duals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.solving import Solving
from benchmarks._common import Results, print_table
from benchmarks.scaling.programs import both_sides, cpu_time, near_optimal_mix

HERE = Path(__file__).parent
SHAPES = ((500, 30), (2000, 70), (10000, 20), (1000, 230), (500, 500), (62, 2000))
#: Weights that generation adds per round.
MORE = 50

Claim = tuple[np.ndarray, np.ndarray, Duals]


def run(n: int, d: int, C: float, *, sample: int = 20, most: int = 400) -> dict[str, Any] | None:
    """Time all routes on one shape; None if the optimal model has no weights."""
    near = near_optimal_mix(n, d, C)
    if near.mu == 0.0:
        return None
    few = both_sides(d, sample)
    others = both_sides(d, most)
    others = others.take(np.flatnonzero(~np.isin(others.index[:, 0], few.index[:, 0])))
    # The sample comes first, the others after it.
    many = Targets(
        *(np.concatenate([getattr(part, name) for part in (few, others)]) for name in ("index", "coefficient"))
    )
    solving = Solving(engine="interior")
    spent, found = cpu_time(
        lambda: solving.solve(solving.solver(near.program, near.budget, (near.w, near.b)), many), least=0.2
    )
    interior = 1e3 * spent / len(many)
    row: dict[str, Any] = {
        "n": n, "d": d, "C": f"{C:g}", "interior_ms": interior, "interior_bounds": len(many),
        "interior_gap": found.gap, "unproven_at_first": found.n_reference, "highs_bounds": len(few),
    }  # fmt: skip
    routes = {"highs": Whole(near), "reduced": Reduced(near)}
    if d > n:
        routes["generated"] = Generated(near)
    warm_up = others if len(others) else few
    values = {}
    for name in ("highs", "reduced", "generated"):
        row[f"{name}_ms"] = row[f"{name}_gap"] = ""
        if name in routes:
            row[f"{name}_ms"], row[f"{name}_gap"], values[name] = _time(routes[name], few, warm_up)
    best = min(routes, key=lambda name: float(row[f"{name}_ms"]))
    row["best_highs"] = best
    row["times_highs"], row["times_best_highs"] = row["highs_ms"] / interior, row[f"{best}_ms"] / interior
    apart = [np.abs(value - found.value[: len(few)]).max() for value in values.values()]
    row["difference"] = float(max(apart) / near.budget.norm)
    return row


def _time(route: Whole, targets: Targets, warm_up: Targets) -> tuple[float, float, np.ndarray]:
    """Milliseconds per bound, largest certified gap, and the bounds, of a route of HiGHS."""
    route.solve(warm_up.take(np.arange(len(warm_up))[-route.n_warm_up :]))
    spent, claim = cpu_time(lambda: route.solve(targets))
    value, gap = route.prove(targets, claim)
    return 1e3 * spent / len(targets), float(gap.max()), value


class Whole:
    """Warm-started primal simplex on the whole program, one resident model."""

    n_warm_up = 1

    def __init__(self, near: NearOptimalSet) -> None:
        self.near = near
        self.whole = HighsBounds(near.program, near.budget)

    def solve(self, targets: Targets) -> Claim:
        """Solve every target from the basis of the last."""
        return self.whole.solve(targets)

    def prove(self, targets: Targets, claim: Claim) -> tuple[np.ndarray, np.ndarray]:
        """The attained values, and their distances to the proven bounds as shares of the norm budget."""
        near = self.near
        proof = certify(near.program, near.budget, targets, *claim, (near.w, near.b))
        return proof.lower, (proof.upper - proof.lower) / near.budget.norm


class Reduced(Whole):
    """The same without the rows that are decided all over the set."""

    def __init__(self, near: NearOptimalSet) -> None:
        super().__init__(near)
        self.reduction = reduce_rows(near.program, near.budget, near.w, near.b)
        self.reduced = HighsBounds(self.reduction.program, self.reduction.budget)

    def solve(self, targets: Targets) -> Claim:
        """Solve without the rows; once more with them what does not hold for all."""
        w, b, duals = self.reduced.solve(targets)
        duals = self.reduction.duals(duals)
        again = np.flatnonzero(~(self.prove(targets, (w, b, duals))[1] <= GAP_LIMIT))
        if len(again):
            w[again], b[again], right = self.whole.solve(targets.take(again))
            duals.alpha[again], duals.beta[again], duals.lam[again] = right.alpha, right.beta, right.lam
        return w, b, duals


class Generated(Whole):
    """The same on the weights that matter to any target so far, in one resident model, with a place for one more."""

    n_warm_up = 50

    def __init__(self, near: NearOptimalSet) -> None:
        super().__init__(near)
        self._load(np.flatnonzero(near.w))

    def _load(self, core: np.ndarray) -> None:
        self.core = core
        self.highs = HighsBounds(_restrict(self.near.program, core).with_slots(1.0), self.near.budget)

    def solve(self, targets: Targets) -> Claim:
        """Solve every target on some weights until no other one prices in."""
        pairs = zip(targets.index[:, 0], targets.coefficient[:, 0], strict=True)
        w, b, duals = zip(*(self._solve_one(int(weight), float(sign)) for weight, sign in pairs), strict=True)
        alpha, beta, lam = (
            np.concatenate([getattr(each, name) for each in duals]) for name in ("alpha", "beta", "lam")
        )
        return np.array(w), np.concatenate(b), Duals(alpha, beta, lam)

    def _solve_one(self, weight: int, sign: float) -> tuple[np.ndarray, np.ndarray, Duals]:
        program = self.near.program
        column = Columns(*(part[None, None, ..., weight] for part in (program.A, program.G, program.u)))
        goal = sign * (np.arange(program.n_weights) == weight)
        while True:
            used = np.append(self.core, weight)
            place = int(np.flatnonzero(used == weight)[0])
            inside = place < len(self.core)
            w, b, duals = self.highs.solve(Targets.single([place], [sign], None if inside else column))
            price = np.abs(_pull(program, duals) + goal) / program.gamma
            limit = max(float(price[used].max()), 0.0)
            price[used] = 0.0
            better = np.flatnonzero(price > limit * (1 + 1e-9) + 1e-12)
            if not len(better):
                break
            self._load(np.union1d(self.core, better[np.argsort(-price[better])[:MORE]]))
        whole = np.zeros(program.n_weights)
        np.add.at(whole, used, np.append(w[0, :-1], 0.0 if inside else w[0, -1]))
        return whole, b, duals


def _pull(program: Program, duals: Duals) -> np.ndarray:
    return (duals.alpha @ program.A + duals.beta @ program.G)[0] - duals.lam[0] * program.u


def _restrict(program: Program, chosen: np.ndarray) -> Program:
    """The program over some of its weights."""
    parts = {name: getattr(program, name)[chosen] for name in ("gamma", "u", "lower", "upper")}
    return replace(program, A=program.A[:, chosen], G=program.G[:, chosen], **parts)


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [f"{n}x{d}" for n, d in SHAPES]
    parser.add_argument("--shapes", nargs="+", default=names, help="samples x features, as in 500x30")
    parser.add_argument("--penalties", nargs="+", type=float, default=[1.0, 0.1], help="values of C")
    parser.add_argument("--sample", type=int, default=20, help="bounds by HiGHS")
    parser.add_argument("--most", type=int, default=400, help="bounds by the interior engine, at most")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    results = Results(options.out / "engines.csv", ("n", "d", "C"))
    shapes = [tuple(map(int, name.split("x"))) for name in options.shapes]
    wanted = [(n, d, f"{C:g}") for n, d in shapes for C in options.penalties]
    for n, d, C in results.missing(wanted, resume=options.resume):
        with threadpool_limits(1, user_api="blas"):
            row = run(n, d, float(C), sample=options.sample, most=options.most)
        if row is None:
            print(f"{n} x {d}, C = {C}: the optimal model has no weights, so all bounds are 0")
        else:
            results.add(row)
    if results.rows:
        columns = ["n", "d", "C", "interior_ms", "highs_ms", "best_highs", "times_highs", "times_best_highs"]
        print_table(columns, [[row[name] for name in columns] for row in results.rows])


if __name__ == "__main__":
    main()

"""CPU seconds of the same fits by this library and by an older checkout of it, of all kinds of data.

Two figures for every case: the ``bounds`` of all features for a given C, and the whole ``fit`` with the default
settings (of the wide case for the same C). Every repetition of either checkout is a process of its own, in which a
small fit comes first; they take turns, and the best one counts. One thread, nothing but the estimators of both. What is
compiled must lie beside its source in both.
``ratio`` is new over old, ``difference`` the largest one of an interval's ends. The cases of two and of three classes
have the same features, so that their ratio says what a further class costs.

Usage: ``python -m benchmarks.scaling.before PATH_OF_AN_OLD_CHECKOUT [--cases cancer wide] [--repeats 3] [--resume]``
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Table = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """Data, the estimator that they are for, and the C of its bounds."""

    make: Callable[[], Table]
    estimator: str = "LinearRelevanceClassifier"
    C: float = 0.1
    settings: dict[str, Any] = field(default_factory=dict)
    #: Whether the search for C is left out of the whole fit, too.
    fixed: bool = False


def _score(n: int, d: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal features, of which two are nearly one, and a linear score of the first fifth of them, five at most."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    used = min(5, d // 5)
    X[:, used] = X[:, used - 1] + 0.1 * rng.normal(size=n)
    return X, X[:, :used].sum(axis=1) + noise * rng.normal(size=n)


def cancer() -> Table:
    """The breast cancer data of scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return {"X": X, "y": y}


def regression(n: int, d: int, noise: float = 0.5) -> Table:
    """A score itself."""
    X, y = _score(n, d, noise)
    return {"X": X, "y": y}


def classes(n: int, d: int, count: int = 2, noise: float = 0.5) -> Table:
    """As many classes of equal size, in the order of a score."""
    X, score = _score(n, d, noise)
    return {"X": X, "y": np.digitize(score, np.quantile(score, np.arange(1, count) / count))}


def separable(n: int, d: int) -> Table:
    """Two classes with nothing between them."""
    X, score = _score(2 * n, d, 0.0)
    far = np.argsort(np.abs(score))[-n:]
    return {"X": X[far], "y": (score[far] > 0.0).astype(int)}


def privileged(n: int, d: int) -> Table:
    """Two classes by features that are known for training only; the others are blurred ones."""
    Z, score = _score(n, d, 0.2)
    return {"X": Z + np.random.default_rng(1).normal(size=Z.shape), "Z": Z, "y": (score > 0.0).astype(int)}


REGRESSOR, ORDINAL = "LinearRelevanceRegressor", "LinearRelevanceOrdinal"
CASES = {
    "cancer": Case(cancer),
    "classes 500 x 30": Case(partial(classes, 500, 30)),
    "three classes 500 x 30": Case(partial(classes, 500, 30, 3)),
    "classes 2000 x 100": Case(partial(classes, 2000, 100)),
    "regression 500 x 30": Case(partial(regression, 500, 30), REGRESSOR),
    "regression 2000 x 100": Case(partial(regression, 2000, 100), REGRESSOR),
    "regression without noise 200 x 30": Case(partial(regression, 200, 30, 0.0), REGRESSOR),
    "explicit order 500 x 30": Case(partial(classes, 500, 30, 4), ORDINAL, settings={"order": "explicit"}),
    "implicit order 500 x 30": Case(partial(classes, 500, 30, 4), ORDINAL, settings={"order": "implicit"}),
    "separable 200 x 30": Case(partial(separable, 200, 30)),
    "classes 60 x 20": Case(partial(classes, 60, 20)),
    "privileged 200 x (10 + 10)": Case(partial(privileged, 200, 10)),
    "wide 62 x 2000": Case(partial(classes, 62, 2000), fixed=True),
}
#: What is measured, and CPU seconds that the repetitions within a process are to fill.
LEAST = {"bounds": 0.05, "fit": 0.3}
PARTS = tuple(LEAST)


def measure(name: str, data: Path, answer: Path) -> None:
    """Fit in this process, by whatever checkout it imports."""
    import allrelevant

    case, table = CASES[name], dict(np.load(data))
    given = {"X_privileged": table["Z"]} if "Z" in table else {}
    kind = getattr(allrelevant, case.estimator)
    warnings.simplefilter("ignore")
    little = np.random.default_rng(0).normal(size=(30, 3))
    kind(C=1.0, n_copies=1).fit(little, np.digitize(little[:, 0], [-0.5, 0.5]))
    spent: dict[str, list[float]] = {part: [] for part in PARTS}
    settings = {"random_state": 0, "n_jobs": 1, **case.settings}
    for part, more in (("bounds", {"C": case.C, "n_copies": 1}), ("fit", {"C": case.C} if case.fixed else {})):
        while sum(spent[part]) < LEAST[part]:
            began = time.process_time()
            result = kind(**settings, **more).fit(table["X"], table["y"], **given).result_
            seconds = time.process_time() - began
            spent[part].append(result.cpu_seconds["intervals"] if part == "bounds" else seconds)
        if part == "bounds":
            intervals = result.intervals
    found = {**{part: min(each) for part, each in spent.items()}, "package": allrelevant.__file__}
    np.savez(answer, found=json.dumps(found), intervals=intervals)


def _measured(checkout: Path, name: str, data: Path) -> tuple[dict[str, Any], np.ndarray]:
    """The same in a process of its own, by the given checkout."""
    threads = {f"{each}_NUM_THREADS": "1" for each in ("OMP", "OPENBLAS", "MKL")}
    path = os.pathsep.join([str(checkout / "src"), str(ROOT)])
    answer = data.with_name("answer.npz")
    call = [sys.executable, "-m", "benchmarks.scaling.before", str(checkout), "--measure", name, str(data), str(answer)]
    done = subprocess.run(
        call, cwd=data.parent, env={**os.environ, **threads, "PYTHONPATH": path}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed by {checkout}:\n{done.stderr}")
    kept = np.load(answer)
    found = json.loads(str(kept["found"]))
    if not Path(found["package"]).resolve().is_relative_to(checkout.resolve()):
        raise RuntimeError(f"allrelevant was imported from {found['package']} instead of {checkout}")
    return found, kept["intervals"]


def run(name: str, old: Path, *, new: Path = ROOT, repeats: int = 3) -> list[dict[str, Any]]:
    """Measure one case by both checkouts in turns; one row for each part."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        table = CASES[name].make()
        np.savez(data, **table)  # type: ignore[arg-type]
        runs = [[_measured(checkout, name, data) for checkout in (old, new)] for _ in range(repeats)]
    n, d = table["X"].shape
    rows: list[dict[str, Any]] = []
    for part in PARTS:
        before, after = (min(float(each[side][0][part]) for each in runs) for side in (0, 1))
        difference = float(np.abs(runs[0][0][1] - runs[0][1][1]).max()) if part == "bounds" else ""
        rows.append(
            {"case": name, "part": part, "n": n, "d": d, "old_seconds": before, "new_seconds": after,
             "ratio": after / before if before else "", "difference": difference, "repeats": repeats}
        )  # fmt: skip
    return rows


def cost_of_a_class(rows: list[dict[str, Any]]) -> list[list[Any]]:
    """How many times longer three classes take than two, by part: of the old checkout and of this one."""
    seconds = {(row["case"], row["part"]): (float(row["old_seconds"]), float(row["new_seconds"])) for row in rows}
    out: list[list[Any]] = []
    for part in PARTS:
        two, three = (seconds.get((f"{name} 500 x 30", part)) for name in ("classes", "three classes"))
        if two and three:
            out.append([part, *(more / less for more, less in zip(three, two, strict=True))])
    return out


def main() -> None:
    """Run, print and write; cases that were not asked for keep their figures."""
    from benchmarks._common import Results, print_table, short

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="folder of the old checkout")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, data, answer = options.measure
        measure(name, Path(data), Path(answer))
        return
    results = Results(options.out / "before.csv", ("case", "part"))
    wanted = results.missing([(name, part) for name in options.cases for part in PARTS], resume=options.resume)
    for name in dict.fromkeys(name for name, _ in wanted):
        for row in run(name, options.old.resolve(), repeats=options.repeats):
            results.add(row)
    if results.rows:
        print_table(list(results.rows[0]), [[short(cell) for cell in row.values()] for row in results.rows])
        print_table(["three classes / two classes", "old", "new"], cost_of_a_class(results.rows))


if __name__ == "__main__":
    main()

"""Error, power and CPU of the forest estimators, where no linear model helps and where few samples are.

The designs that all methods share are fitted by ``python -m benchmarks.truth.run --methods forest``; this prints what
came of them by family, with standard errors, beside the forests of before (``forest_before``: hits counted over rounds,
as Boruta does, and leaves of 20 samples). ``--run`` fits, each seed once:

=============  ========================================================================================================
``xor``        two of 12 columns that matter only together, 500 rows
``friedman``   five of 15 columns, bent and multiplied, 300 rows, regression
``nl1``-``4``  the thesis' clusters, 1000 rows, 20 to 80 columns, half of them or less relevant and mostly redundant
``boruta``     the data of BorutaPy's own tests, 1000 rows: five columns of use and five of none
``gasoline``   near infrared spectra of 60 samples of petrol at 101 wavelengths: octane number, R² of five folds in each
               of which features are found anew (the file has 401 wavelengths, of which every fourth is taken)
=============  ========================================================================================================

What was chosen, on seeds below 1000; CPU seconds were some 20 minutes in all:

- *Learner*, on 17 designs of 4 seeds: random forests of LightGBM with leaves of one in 20 samples (2 to 20) found .82
  of what was relevant, with leaves of 20 samples .79 (and nothing below 64 rows), boosted trees .83 and extremely
  randomised trees .81; where 20 % of the labels were flipped .42, .45, .20 and .38. A tree uses no more features than
  there are samples: of 2000 genes of 62 samples (colon), 28 were found instead of 1 in the same time.
- *Null sample*: of pure noise, copies beside the features called something in 7 % of 490 data sets, copies that also
  take the features' place in 6 % of 300, on which tests that are exact did so in 5 %.
- *Units*: in units of a feature's own copies all of the weak features of ``nl2`` were found, in a common unit .84 of
  them, at the same error.
- *Evidence alone*: with it the F1 was .81 instead of .69 on 35 designs of 3 seeds, and .036 instead of .022 of what
  was found was false.
- *Verification* of what was found, by its use for predictions, refuted 6 needed features and 11 of noise in 72 data
  sets, as a level of .01 does: there is none any more.

Usage: ``python -m benchmarks.truth.forest [--run] [--seeds 4]``
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from allrelevant import ForestRelevanceClassifier, ForestRelevanceRegressor
from allrelevant.datasets import make_nonlinear_set, make_relevance_interaction
from benchmarks._common import Results, print_table
from benchmarks.experiment import data
from benchmarks.truth.every import DESIGNS
from benchmarks.truth.run import RESULTS, known_lines
from benchmarks.truth.scoring import scores

FIRST = 1000
FILE = "regression/gasoline_nir.csv"
Data = tuple[np.ndarray, np.ndarray, np.ndarray]
METHODS = ("forest", "forest_before")


def _interaction(n: int, n_irrelevant: int, **options: Any) -> Callable[[int], Data]:
    def make(seed: int) -> Data:
        X, y, relevance = make_relevance_interaction(n, n_irrelevant=n_irrelevant, random_state=seed, **options)
        return X, y, relevance

    return make


def _nonlinear(name: str) -> Callable[[int], Data]:
    def make(seed: int) -> Data:
        X, y, relevance = make_nonlinear_set(name, random_state=seed)
        return X, y, relevance

    return make


def boruta(seed: int) -> Data:
    """The data of BorutaPy's own tests (boruta/test/test_boruta.py), with any seed."""
    rng = np.random.RandomState(seed)
    y = rng.binomial(1, 0.5, 1000)
    flipped = np.clip(y - rng.binomial(1, 0.1, 1000) + rng.binomial(1, 0.1, 1000), 0, 1)
    X = [flipped, y * np.abs(rng.normal(0, 1, 1000)) + rng.normal(0, 0.1, 1000)]
    X += [y + rng.normal(0, 1, 1000), y**2 + rng.normal(0, 1, 1000), np.sqrt(y) + rng.binomial(2, 0.1, 1000)]
    X += [rng.normal(0, 1, 1000), rng.poisson(1, 1000), rng.binomial(1, 0.3, 1000), rng.normal(0, 1, 1000)]
    return np.column_stack([*X, rng.poisson(1, 1000)]), y, np.repeat([2, 0], 5)


SETS: dict[str, Callable[[int], Data]] = {
    "xor": _interaction(500, 10, kind="xor"),
    "friedman": _interaction(300, 10, kind="friedman", problem="regression"),
    **{name: _nonlinear(name) for name in ("nl1", "nl2", "nl3", "nl4")},
    "boruta": boruta,
}
#: Seeds of the sets that are asked for more often.
MORE = {"boruta": 36}


def fit(name: str, seed: int) -> dict[str, Any]:
    """Fit one set and compare with its grades."""
    X, y, grades = SETS[name](seed)
    kind = ForestRelevanceClassifier if len(np.unique(y)) == 2 else ForestRelevanceRegressor
    began = time.process_time()
    model = kind(random_state=seed).fit(X, y)
    used = time.process_time() - began
    found = scores(grades, model.relevance_classes_)
    missed = int(((grades > 0) & (model.relevance_classes_ == 0)).sum())
    return {"set": name, "seed": seed, **found, "missed": missed, "r2": "", "n_found": "", "cpu_seconds": used}


def gasoline(seed: int) -> dict[str, Any]:
    """Fit the spectra whole, and in five folds that are predicted by what the others say."""
    frame = pd.read_csv(data(FILE))
    X, y = frame.iloc[:, :-1:4].to_numpy(), frame.iloc[:, -1].to_numpy()
    began = time.process_time()
    whole = ForestRelevanceRegressor(random_state=seed).fit(X, y)
    used = time.process_time() - began
    unseen = np.empty(len(y))
    for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
        unseen[test] = ForestRelevanceRegressor(random_state=seed).fit(X[train], y[train]).predict(X[test])
    row = dict.fromkeys(("false_share", "any", "recall", "f1", "missed"), "")
    r2, n_found = float(r2_score(y, unseen)), int(whole.get_support().sum())
    return {"set": "gasoline", "seed": seed, **row, "r2": r2, "n_found": n_found, "cpu_seconds": used}


def cell(values: list[float]) -> str:
    """A mean with its standard error."""
    numbers = np.array(values, dtype=float)
    error = f" ± {numbers.std(ddof=1) / np.sqrt(len(numbers)):.3f}" if len(numbers) > 1 else ""
    return f"{numbers.mean():.3f}{error}" if len(numbers) else ""


def print_shared() -> None:
    """The designs that all methods share: means over designs, errors over designs; noise over fits."""
    lines = [line for name in METHODS for line in known_lines(RESULTS / f"{name}.jsonl") if "error" not in line]
    fair = {name: each for name, each in DESIGNS.items() if each.exchangeable}
    families = {
        "signal": [name for name, each in fair.items() if each.family == "signal" and not each.reserved],
        "reserved": [name for name, each in fair.items() if each.family == "signal" and each.reserved],
        "noise": [name for name, each in fair.items() if each.family == "noise" and not each.reserved],
    }
    rows = []
    for family, names in families.items():
        for method in METHODS:
            some = [line for line in lines if line["method"] == method and line["design"] in names]
            if not some:
                continue
            by_design = [[line for line in some if line["design"] == name] for name in names]
            by_design = [each for each in by_design if each]
            # Data sets of one design are alike; designs are what the mean is over, except where nothing is to be found.
            groups = [[line] for line in some] if family == "noise" else by_design
            columns = ["false_share", "f1"] if family != "noise" else ["any"]
            told = {
                column: cell([float(np.mean([line[column] for line in each])) for each in groups]) for column in columns
            }
            cpu = f"{np.mean([line['cpu_seconds'] for line in some]):.2f}"
            rows.append([family, method, len(some), *(told.get(one, "") for one in ("false_share", "f1", "any")), cpu])
    print_table(["family", "method", "fits", "false share", "F1", "some noise called", "CPU s"], rows)
    most = [
        [name, cell([line["false_share"] for line in each]), cell([line["f1"] for line in each])]
        for name in (*families["signal"], *families["reserved"])
        if (each := [line for line in lines if line["method"] == "forest" and line["design"] == name])
    ]
    print_table(["design", "false share", "F1"], most)


def print_more(rows: list[dict[str, Any]]) -> None:
    """The sets of this file, set by set."""
    table = []
    for name in (*SETS, "gasoline"):
        some = [row for row in rows if row["set"] == name]
        if some:
            told = [
                cell([float(row[column]) for row in some if row[column] != ""])
                for column in ("false_share", "recall", "missed", "r2", "n_found", "cpu_seconds")
            ]
            table.append([name, len(some), *told])
    print_table(["set", "fits", "false share", "found of relevant", "missed", "R²", "found", "CPU s"], table)


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="fit what is missing of the sets of this file")
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    results = Results(RESULTS / "forest_more.csv", ("set", "seed"))
    names = (*SETS, "gasoline")
    wanted = [(name, FIRST + seed) for name in names for seed in range(MORE.get(name, options.seeds))]
    missing = results.missing(wanted, resume=True)
    for name, seed in missing if options.run else []:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.add(gasoline(seed) if name == "gasoline" else fit(name, seed))
    print_shared()
    print_more(results.rows)


if __name__ == "__main__":
    main()

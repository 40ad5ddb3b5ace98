"""Relevance classes by forests on the linear and non-linear sets of the thesis (Tables 5.1 to 5.11).

Our three ways of telling strong from weak features stand beside BorutaPy 0.4.3 and squamish, the thesis' own library:

- ``conditional``: the default;
- ``refit``: forests grown without each feature, their loss on unseen samples;
- ``refit-training``: the same with the loss on the samples they were grown on, which is the thesis' Algorithm 2.

Every run is a fresh draw of its set: 10 draws of every linear and 20 of every non-linear one. The thesis' 20 runs on
the non-linear sets are fresh draws too, but its 10 on each linear set are bootstraps of a single draw, which hold
samples more than once and differ less from each other: its figures there are not those of quite the same experiment.

A precision is 1 where nothing was called, a recall is 1 where there is nothing to find; it was so in the thesis, whose
Set 1 has no weak features and Set 2 no strong ones. Features that a method is not certain of (``tentative``) count as
what it reports: ours as its best guess, those of the others as irrelevant. BorutaPy does not tell strong from weak.
squamish raises where it finds nothing; it is scored as having found nothing, and the note says so. The thesis'
accuracies are those of training samples; ours stand beside those of cross-validation.
Every fit is in a process of its own, with one thread; the thesis' seconds are those of another machine.

BorutaPy's environment is made in ``--environments`` on first use. squamish is not in the package registry: its
environment must hold it already, or it is left out.

Usage: ``python -m benchmarks.papers.forest [--sets set1 nl1 ...] [--methods conditional refit ...]
[--peers boruta squamish] [--seeds N] [--jobs 1] [--limit 600] [--environments .peers] [--resume]``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from allrelevant.datasets import LINEAR_SETS, NONLINEAR_SETS, make_linear_set, make_nonlinear_set
from benchmarks._common import (
    Results,
    f1_of_set,
    mean_cell,
    precision_recall,
    print_table,
    read_csv,
    write_csv,
)
from benchmarks.peers.processes import data_file, fit, peer_pythons

HERE = Path(__file__).parent
GROUPS = {"linear": tuple(LINEAR_SETS), "nonlinear": tuple(NONLINEAR_SETS)}
RUNS = {"linear": 10, "nonlinear": 20}
#: Our methods, and what the process that fits calls them.
METHODS = {"conditional": "forest", "refit": "forest_refit", "refit-training": "forest_refit_training"}
PEERS = ("boruta", "squamish")
PUBLISHED = ("thesis_tables_5_2_5_3_5_4_5_8_5_9.csv", "thesis_tables_5_6_5_7_5_10_5_11.csv")
CLASSES = {"strong": 2, "weak": 1}
SCORES = ("precision", "recall", "f1", *(f"{name}_{what}" for name in CLASSES for what in ("precision", "recall")))
SAID = ("tentative", "training_score", "cross_validated", "cpu_seconds")
MEASURED = (*SCORES, *SAID)


def run(name: str, seed: int, method: str, python: Path | str = sys.executable, limit: float = 600.0) -> dict[str, Any]:
    """Fit one draw of a set by one method, and compare with the truth."""
    make = make_linear_set if name in LINEAR_SETS else make_nonlinear_set
    X, y, relevance = make(name, random_state=seed)
    found, row = fit_by(method, X, y, seed, python, limit)
    return {"set": name, "seed": seed, "method": method, **scores(relevance, found, method), **row}


def fit_by(
    method: str, X: np.ndarray, y: np.ndarray, seed: int, python: Path | str, limit: float
) -> tuple[np.ndarray | None, dict[str, Any]]:
    """Return the classes that a method finds, None if it did not finish, and what else there is to say of the fit."""
    with data_file(X, y) as data:
        done = fit(METHODS.get(method, method), "classification", data, seed, limit=limit, python=python)
    classes = np.array(done.found["classes"]) if done.found else None
    said = {name: done.found.get(name) for name in SAID}
    return classes, {**{name: "" if cell is None else cell for name, cell in said.items()}, "note": done.note}


def scores(relevance: np.ndarray, classes: np.ndarray | None, method: str) -> dict[str, float | str]:
    """Precision and recall of the relevant, the strong and the weak features; empty cells where there are none."""
    out: dict[str, float | str] = dict.fromkeys(SCORES, "")
    if classes is None:
        return out
    out["precision"], out["recall"] = precision_recall(relevance > 0, classes > 0)
    out["f1"] = f1_of_set(relevance, classes > 0)
    if method != "boruta":
        for name, value in CLASSES.items():
            both = precision_recall(relevance == value, classes == value)
            out[f"{name}_precision"], out[f"{name}_recall"] = both
    return out


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means per set and method, and over all linear and all non-linear sets, the thesis' figures below ours."""
    published = [row for name in PUBLISHED for row in read_csv(HERE / "published" / name)]
    out: list[dict[str, Any]] = []
    for group, names in GROUPS.items():
        lines: list[dict[str, Any]] = []
        for name in names:
            chosen = [row for row in rows if row["set"] == name]
            for method in dict.fromkeys(row["method"] for row in chosen):
                lines.append(_line(name, method, [row for row in chosen if row["method"] == method]))
        thesis = [_thesis_line(row) for row in published if row["set"] in names]
        for name in names:
            if any(line["set"] == name for line in lines):
                out += [line for line in lines + thesis if line["set"] == name]
        means = _over_sets(group, names, lines)
        if means:
            given = [_thesis_line(row) for row in published if row["set"] == group]
            out += means + _with(_over_sets(group, names, thesis), given)
    return out


def _line(name: str, method: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means of the runs that ended."""
    line: dict[str, Any] = {"set": name, "method": method, "runs": len(rows)}
    line.update({what: mean_cell(rows, what) for what in MEASURED})
    line["finished"] = sum(row["cpu_seconds"] != "" for row in rows)
    return {**line, "thesis_seconds": ""}


def _thesis_line(row: Mapping[str, str]) -> dict[str, Any]:
    """Published figures in the columns of ours."""
    cells = {name: float(row[name]) if row.get(name) else "" for name in (*MEASURED, "seconds")}
    seconds = cells.pop("seconds")
    line = {"set": row["set"], "method": f"thesis {row['method']}", "runs": "", **cells}
    return {**line, "finished": "", "thesis_seconds": seconds}


def _over_sets(group: str, names: Iterable[str], lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over the sets of a group, of methods that have been through all of them."""
    out = []
    for method in dict.fromkeys(line["method"] for line in lines):
        chosen = [line for line in lines if line["method"] == method]
        if {line["set"] for line in chosen} != set(names):
            continue
        line: dict[str, Any] = {"set": group, "method": method}
        for name in list(chosen[0])[2:]:
            cells = [each[name] for each in chosen]
            whole = name in ("runs", "finished")
            line[name] = "" if "" in cells else sum(cells) if whole else float(np.mean(cells))
        out.append(line)
    return out


def _with(lines: list[dict[str, Any]], given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines in which the means that the thesis gives replace those of its rounded figures."""
    of = {line["method"]: {name: cell for name, cell in line.items() if cell != ""} for line in given}
    return [{**line, **of.get(line["method"], {})} for line in lines]


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [name for names in GROUPS.values() for name in names]
    parser.add_argument("--sets", nargs="+", choices=every, default=every)
    parser.add_argument("--seeds", type=int, help="runs of every set; 10 of the linear, 20 of the non-linear ones")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds that a fit may take")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time; more than cores cost CPU seconds")
    parser.add_argument("--resume", action="store_true", help="keep what is in the results already")
    parser.add_argument("--environments", type=Path, default=Path(".peers"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    pythons = {
        **dict.fromkeys(options.methods, sys.executable),
        **peer_pythons(options.peers, options.environments),
    }
    results = Results(options.out / "forest.csv", ("set", "seed", "method"))
    wanted = [
        (name, seed, method)
        for group, names in GROUPS.items()
        for name in names
        if name in options.sets
        for seed in range(options.seeds or RUNS[group])
        for method in pythons
    ]
    todo = results.missing(wanted, resume=options.resume)
    fits = (delayed(run)(*key, pythons[key[2]], options.limit) for key in todo)
    # Threads only wait for the processes that fit.
    for row in Parallel(n_jobs=options.jobs, prefer="threads", return_as="generator")(fits):
        results.add(row)
    summary = summarise(results.rows)
    if summary:
        print_table(list(summary[0]), [list(row.values()) for row in summary])
        write_csv(options.out / "forest_summary.csv", summary)


if __name__ == "__main__":
    main()

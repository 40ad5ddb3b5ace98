"""Relevant features, regular and privileged, on the sets with privileged features (thesis, Tables 4.8 and 4.9).

The regular features of Sets 1 to 6 are the privileged ones with noise. Its standard deviation is that of the reference
generator (``reference``: 0.2, divided by that of the clean data) or 1, as the text of the thesis says (``standard``).
Sets 7 and 8 have no noise on the regular features (``none``) and three privileged features that are noise.

A feature counts as found if its class is weak or strong. Where nothing is relevant, as among the privileged features of
Sets 7 and 8, F1, precision and recall are 1 and, as soon as one feature is found, F1 and precision are 0. Where
something is relevant and nothing is found, all three are 0.

Every run counts, also one whose baseline model has no weights on the regular or on the privileged features; the column
``without_weights`` has their number. A fit that ends in a solver error has no figures: it is counted in ``failed``, and
the means are those of the other runs. The MMAE is that of the cross-validation, in ranks.

Runs that are in the results already are not repeated, so a long run may be done in pieces. ``--first 1000`` runs other
seeds; its results end in ``_from_1000``.

Usage: ``python -m benchmarks.papers.privileged [--sets set1 ...] [--forms residual ...] [--noise both] [--seeds 10]``
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from allrelevant import LinearRelevanceOrdinal, RelevanceResult, RelevanceWarning
from allrelevant.datasets import PRIVILEGED_SETS, make_privileged_set
from allrelevant.errors import SolverError
from benchmarks._common import f1_of_set, mean, print_table, read_csv, write_csv

HERE = Path(__file__).parent
FORMS = ("residual", "kept", "replaced")
NOISES = {"reference": None, "standard": 1.0, "none": None}
PARTS = ("regular", "privileged")
SCORES = ("f1", "precision", "recall")


def run(name: str, noise: str, form: str, seed: int) -> dict[str, object]:
    """Fit one set and compare with its truth."""
    X, X_privileged, y, *relevance = make_privileged_set(name, noise=NOISES[noise], random_state=seed)
    model = LinearRelevanceOrdinal(privileged=form, random_state=seed)
    failed = ""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)  # a model without weights is a finding, and is counted
            model.fit(X, y, X_privileged=X_privileged)
    except SolverError as error:
        failed = type(error).__name__
    spent = time.process_time() - began
    results = dict.fromkeys(PARTS) if failed else {"regular": model.result_, "privileged": model.result_.privileged}
    figures = [found(part, truth, results[part]) for part, truth in zip(PARTS, relevance, strict=True)]
    return {
        "set": name,
        "noise": noise,
        "form": form,
        "seed": seed,
        "failed": failed,
        **figures[0],
        **figures[1],
        "C": "" if failed else model.result_.hyperparameters["C"],
        "mmae": "" if failed else model.result_.scores["cross_validated"],
        "notes": "" if failed else len(model.result_.notes),
        "cpu_seconds": spent,
    }


def found(part: str, relevance: np.ndarray, result: RelevanceResult | None) -> dict[str, object]:
    """Figures of one part of the features; empty without a result."""
    fields = (*SCORES, "false_positives", "false_negatives", "without_weights", "max_gap")
    if result is None:
        return {f"{part}_{field}": "" for field in fields}
    selected, relevant = result.classes > 0, relevance > 0
    both = int((selected & relevant).sum())
    values = (
        f1_of_set(relevance, selected),
        both / int(selected.sum()) if selected.any() else float(not relevant.any()),
        both / int(relevant.sum()) if relevant.any() else 1.0,
        int((selected & ~relevant).sum()),
        int((~selected & relevant).sum()),
        int(not result.baseline.any()),
        result.max_gap,
    )
    return {f"{part}_{field}": value for field, value in zip(fields, values, strict=True)}


def noises_of(name: str, wanted: str) -> list[str]:
    """Noises to run a set with."""
    if PRIVILEGED_SETS[name].n_random_privileged is not None:
        return ["none"]
    return ["reference", "standard"] if wanted == "both" else [wanted]


def summarise(rows: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
    """Mean figures of every part beside the papers'."""
    published = {(row["set"], row["part"]): row for row in read_csv(HERE / "published" / "thesis_table_4_9.csv")}
    out: list[dict[str, object]] = []
    keys = [(name, noise, form) for name in PRIVILEGED_SETS for noise in noises_of(name, "both") for form in FORMS]
    for name, noise, form in keys:
        same = [row for row in rows if (row["set"], row["noise"], row["form"]) == (name, noise, form)]
        ended = [row for row in same if not row["failed"]]
        if not same:
            continue
        for part in PARTS:
            scores: dict[str, object] = {}
            for score in SCORES:
                scores[score] = mean_of(ended, f"{part}_{score}")
                scores[f"{score}_published"] = float(published[name, part][score])
            out.append(
                {
                    "set": name,
                    "noise": noise,
                    "form": form,
                    "part": part,
                    "runs": len(same),
                    "failed": len(same) - len(ended),
                    "without_weights": sum(int(row[f"{part}_without_weights"]) for row in ended),
                    **scores,
                    "mmae": mean_of(ended, "mmae"),
                    "max_gap": max((float(row[f"{part}_max_gap"]) for row in ended), default=np.nan),
                    "cpu_seconds": mean_of(same, "cpu_seconds"),
                }
            )
    return out


def mean_of(rows: Sequence[dict[str, Any]], field: str) -> float:
    """Mean of a field."""
    return mean([float(row[field]) for row in rows])


def main() -> None:
    """Run what is missing, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(PRIVILEGED_SETS), default=list(PRIVILEGED_SETS))
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--noise", choices=("reference", "standard", "both"), default="both", help="of Sets 1 to 6")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    stem = "privileged" + (f"_from_{options.first}" if options.first else "")
    path = options.out / f"{stem}.csv"
    rows: list[dict[str, Any]] = [dict(row) for row in read_csv(path)] if path.exists() else []
    seeds = range(options.first, options.first + options.seeds)
    for name in options.sets:
        done = {(row["set"], row["noise"], row["form"], int(row["seed"])) for row in rows}
        noises = noises_of(name, options.noise)
        wanted = [(name, noise, form, seed) for noise in noises for form in options.forms for seed in seeds]
        missing = [key for key in wanted if key not in done]
        if missing:
            rows += Parallel(n_jobs=options.jobs)(delayed(run)(*key) for key in missing)
            write_csv(path, rows)
    summary = summarise(rows)
    shown = [row | {"max_gap": f"{row['max_gap']:.0e}"} for row in summary]
    print_table(list(shown[0]), [list(row.values()) for row in shown])
    write_csv(options.out / f"{stem}_summary.csv", summary)


if __name__ == "__main__":
    main()

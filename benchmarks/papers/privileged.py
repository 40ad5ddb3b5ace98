"""Relevant features, regular and privileged, on the sets with privileged features (thesis, Tables 4.8 and 4.9).

The regular features of Sets 1 to 6 are the privileged ones with noise. Its standard deviation is that of the reference
generator (``reference``: 0.2, divided by that of the clean data) or 1, as the text of the thesis says (``standard``).
Sets 7 and 8 have no noise on the regular features (``none``) and three privileged features that are noise.

A feature counts as found if its class is weak or strong. Where nothing is relevant, as among the privileged features of
Sets 7 and 8, F1, precision and recall are 1 and, as soon as one feature is found, F1 and precision are 0. Where
something is relevant and nothing is found, all three are 0.

Every run counts, also one whose baseline model has no weights on the regular or on the privileged features. A fit that
ends in a solver error has no figures, and the means are those of the other runs. Recursive elimination with the ordinal
model gets both kinds of features side by side, as in the thesis.

Where ours is marked: with noise of standard deviation 1 on features of that size, so little is left of them in 200
samples that no form of the model finds all of them; the form of the papers mostly ends with no weights at all. The
papers' figures fit the noise of their generator.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant import LinearRelevanceOrdinal, RelevanceWarning
from allrelevant.datasets import PRIVILEGED_SETS, make_privileged_set
from allrelevant.errors import SolverError
from benchmarks._common import f1_of_set
from benchmarks.blocks import Block, beside, prose, published, results
from benchmarks.competitors.calling import call
from benchmarks.experiment import Experiment, Key

TITLE = "Privileged features"
FORMS = ("residual", "kept", "replaced")
NOISES = {"reference": None, "standard": 1.0, "none": None}
PARTS = ("regular", "privileged")
#: Ours and what they stand beside.
METHODS = {
    "residual": "fri_explicit",
    "kept": "fri_explicit",
    "replaced": "fri_explicit",
    "rfecv_ordinal": "rfecv_ordinal",
}


def run(name: str, noise: str, method: str, seed: int) -> dict[str, Any]:
    """Fit one set and compare with its truth."""
    X, X_privileged, y, *relevance = make_privileged_set(name, noise=NOISES[noise], random_state=seed)
    if method not in FORMS:
        return _run_joint(method, X, X_privileged, y, relevance, seed)
    model = LinearRelevanceOrdinal(privileged=method, random_state=seed)
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelevanceWarning)  # a model without weights is a finding, and is counted
            model.fit(X, y, X_privileged=X_privileged)
    except SolverError as error:
        return {"cpu_seconds": time.process_time() - began, "note": type(error).__name__}
    spent, result = time.process_time() - began, model.result_
    parts = (result, result.privileged)
    return {
        **scores("regular", relevance[0], parts[0].classes),
        **scores("privileged", relevance[1], parts[1].classes),
        "without_weights": sum(not part.baseline.any() for part in parts),
        "mmae": result.scores["cross_validated"],
        "max_gap": max(part.max_gap for part in parts),
        "cpu_seconds": spent,
        "note": "",
    }


def _run_joint(
    method: str, X: np.ndarray, X_privileged: np.ndarray, y: np.ndarray, relevance: list[np.ndarray], seed: int
) -> dict[str, Any]:
    """A method that knows one kind of features only gets both side by side."""
    done = call(method, "ordinal", np.hstack([X, X_privileged]), y, seed)
    if done.classes is None:
        return {"note": done.note}
    regular, privileged = np.split(done.classes, [X.shape[1]])
    return {
        **scores("regular", relevance[0], regular),
        **scores("privileged", relevance[1], privileged),
        "cpu_seconds": done.cpu_seconds,
        "note": done.note,
    }


def scores(part: str, relevance: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """F1, precision and recall of one part of the features."""
    selected, relevant = classes > 0, relevance > 0
    both = int((selected & relevant).sum())
    return {
        f"{part}_f1": f1_of_set(relevance, selected),
        f"{part}_precision": both / int(selected.sum()) if selected.any() else float(not relevant.any()),
        f"{part}_recall": both / int(relevant.sum()) if relevant.any() else 1.0,
    }


def noises(name: str) -> tuple[str, ...]:
    """Noises to run a set with."""
    return ("reference", "standard") if PRIVILEGED_SETS[name].n_random_privileged is None else ("none",)


def keys(size: str) -> list[Key]:
    """Sets, noises, methods and seeds."""
    if size == "smoke":
        return [("set5", "reference", "residual", 0), ("set5", "reference", "rfecv_ordinal", 0)]
    return [
        (name, noise, method, seed)
        for method in (*FORMS, "rfecv_ordinal")
        for name in PRIVILEGED_SETS
        for noise in noises(name)
        for seed in range(1 if size == "quick" else 10)
    ]


EXPERIMENT = Experiment(
    "privileged",
    "features known in training only",
    "thesis, Table 4.9",
    ("set", "noise", "method", "seed"),
    keys,
    run,
)


def section(folder: Path) -> list[Block]:
    """Table 4.9, for the generator's noise and for that of the text."""
    rows, papers = results(folder, "privileged"), published("privileged")
    if rows.empty:
        return []
    blocks: list[Block] = [prose(__doc__)]
    for noise, words in (
        ("reference", "noise of the reference generator"),
        ("standard", "noise N(0, 1), as in the text"),
    ):
        chosen = rows[rows["noise"].isin([noise, "none"])].assign(condition="")
        for part in PARTS:
            blocks.append(
                beside(
                    f"Table 4.9: F1 of the relevant {part} features, {words}",
                    chosen,
                    f"{part}_f1",
                    PRIVILEGED_SETS,
                    METHODS,
                    papers,
                    paper_condition=part,
                    paper_measure="f1",
                )
            )
    return blocks

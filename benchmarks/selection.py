"""Experiments of one kind: several methods say which features of data with a known truth are relevant."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import f1_of_set, precision_recall
from benchmarks.competitors.calling import call
from benchmarks.experiment import Experiment, Key

#: Figures of a run, in the order of the columns.
MEASURED = (
    "f1",
    "precision",
    "recall",
    "strong_precision",
    "strong_recall",
    "weak_precision",
    "weak_recall",
    "accuracy",
    "n_selected",
    "n_strong",
    "n_weak",
    "tentative",
    "training_score",
    "cross_validated",
    "max_gap",
    "cpu_seconds",
)
KEY = ("set", "condition", "seed", "method")
#: What is added to seeds: the others had no part in the choice of any default.
OTHER_SEEDS = {"": 0, "other seeds": 1000}
#: CPU seconds after which a method that runs in a process of its own is given up.
LIMIT = 900.0
#: Methods that tell strong from weak.
THREE = frozenset(
    {
        "allrelevant",
        "allrelevant_implicit",
        "allrelevant_papers",
        "fri",
        "forest",
        "forest_refit",
        "forest_refit_training",
        "squamish",
    }
)
#: Where the environments of libraries are that need one of their own.
ENVIRONMENTS = Path(os.environ.get("ALLRELEVANT_PEERS", ".peers"))


@dataclass(frozen=True)
class Plan:
    """How often a method is run on every set.

    Attributes
    ----------
    quick, full : int
        Runs of the two sizes, of every set and condition.
    sets : tuple of str, optional
        Sets that it is run on, if not all.
    """

    quick: int
    full: int
    sets: tuple[str, ...] | None = None


def selection(
    name: str,
    title: str,
    reproduces: str,
    *,
    problem: str,
    sets: Iterable[str],
    make: Callable[[str, str, int], tuple[np.ndarray, np.ndarray, np.ndarray]],
    methods: Mapping[str, Plan],
    smoke: tuple[str, str],
    conditions: tuple[str, ...] = ("",),
) -> Experiment:
    """Return the experiment.

    Parameters
    ----------
    problem : str
        What the methods are told: classification, regression or ordinal.
    sets, conditions : iterable of str
        Data, and circumstances they are looked at in.
    make : callable
        From set, condition and seed to ``(X, y, relevance)``; at module level.
    methods : mapping of str to Plan
        Who is run, and how often.
    smoke : tuple of str
        Set and condition of the smallest size, which every method is run on once.
    """
    every = tuple(sets)

    def keys(size: str) -> list[Key]:
        if size == "smoke":
            return [(*smoke, 0, method) for method in methods]
        return [
            (each, condition, seed, method)
            for method, plan in methods.items()
            for each in plan.sets or every
            for condition in conditions
            for seed in range(plan.quick if size == "quick" else plan.full)
        ]

    return Experiment(name, title, reproduces, KEY, keys, partial(_run, problem, make))


def _run(problem: str, make: Callable[..., Any], name: str, condition: str, seed: int, method: str) -> dict[str, Any]:
    X, y, relevance = make(name, condition, seed)
    done = call(method, problem, X, y, seed, limit=LIMIT, environments=ENVIRONMENTS)
    cells: dict[str, Any] = {"n": X.shape[0], "d": X.shape[1], **dict.fromkeys(MEASURED, "")}
    if "classes" in done.found:
        cells.update(score(relevance, np.array(done.found["classes"]), three=method in THREE))
    cells.update({what: done.found[what] for what in MEASURED if what in done.found})
    return {**cells, "note": done.note}


def score(relevance: np.ndarray, classes: np.ndarray, *, three: bool) -> dict[str, float]:
    """Compare classes with the truth; strong and weak ones apart if the method has three classes.

    A precision is 1 where nothing was called, a recall is 1 where there is nothing to find.
    """
    precision, recall = precision_recall(relevance > 0, classes > 0)
    found = {
        "f1": f1_of_set(relevance, classes > 0),
        "precision": precision,
        "recall": recall,
        "n_selected": int((classes > 0).sum()),
    }
    if three:
        for label, value in (("strong", 2), ("weak", 1)):
            found[f"{label}_precision"], found[f"{label}_recall"] = precision_recall(
                relevance == value, classes == value
            )
            found[f"n_{label}"] = int((classes == value).sum())
        found["accuracy"] = float((classes == relevance).mean())
    return found

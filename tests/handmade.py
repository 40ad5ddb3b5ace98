"""Results made by hand, for tests that need no fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from allrelevant.result import RelevanceResult, Thresholds


def make_result(
    n_strong: int = 2,
    n_weak: int = 2,
    n_irrelevant: int = 1,
    *,
    names: Sequence[str] | None = None,
    seed: int = 0,
    **changes: Any,
) -> RelevanceResult:
    """Return a plausible result with the given number of features per class, columns in random order."""
    rng = np.random.default_rng(seed)
    classes = np.repeat([2, 1, 0], [n_strong, n_weak, n_irrelevant])
    start = np.where(classes == 2, rng.uniform(0.05, 0.2, classes.size), 0.0)
    length = np.choose(classes, [rng.uniform(0, 0.03, classes.size), rng.beta(1, 4, classes.size) * 0.3 + 0.05, 0.08])
    intervals = np.column_stack([start, start + length])
    order = rng.permutation(classes.size)
    classes, intervals = classes[order], intervals[order]
    content: dict[str, Any] = {
        "feature_names": names if names is not None else [f"feature {k}" for k in range(classes.size)],
        "intervals": intervals,
        "classes": classes,
        "pvalues": np.where(classes > 0, 1e-5, rng.uniform(0.05, 1, classes.size)),
        "baseline": rng.choice([-1, 1], classes.size) * intervals.mean(axis=1),
        "thresholds": Thresholds(0.011, 0.041, "papers", 0.001, "none", 50, 48),
        "problem": "classification",
        "n_samples": 569,
        "hyperparameters": {"C": 0.1778},
        "scores": {"metric": "weighted F1", "cross_validated": 0.9721, "training": 0.985},
        "parameters": {"C": None, "norm_slack": 0.1, "loss_slack": 0.1, "n_probes": 50},
        "seed": 0,
        "engine": "highs",
        "max_gap": 3.2e-9,
        "n_programs": 160,
        "cpu_seconds": {"baseline": 1.204, "intervals": 0.83, "probes": 2.119},
        "notes": (),
        "version": "0.1.0",
    }
    return RelevanceResult(**{**content, **changes})


def make_judged_result(
    *counts: int, borderline: int = 0, alone: int = 0, together: int = 0, **changes: Any
) -> RelevanceResult:
    """Return a result with two kinds of evidence, every feature with its limit.

    The last `alone` weak features of the ranking were found by themselves only, the first `together` ones beside others
    only; the last `borderline` relevant features, and the first irrelevant one if there are any, are near the level.
    """
    result = make_result(*counts, **changes)
    order, level = result.ranking(), 0.05
    relevant = result.classes > 0
    adjusted = np.where(relevant, 1e-4, 0.6)
    beside, single = np.where(relevant, 1e-5, 0.4), np.where(relevant, 1e-6, 0.8)
    limits = np.where(relevant, 0.7, 1.6) * result.intervals[:, 1]
    weak = [k for k in order if result.classes[k] == 1]
    for k in weak[len(weak) - alone :] if alone else []:
        beside[k], limits[k] = 0.3, 0.0
    single[weak[:together]] = 0.5
    companions = {result.feature_names[k]: (result.feature_names[order[0]],) for k in weak[:together]}
    if borderline:
        last = [k for k in order if relevant[k]][-borderline:]
        adjusted[last] = 0.96 * level
        adjusted[[k for k in order if not relevant[k]][:1]] = 1.006 * level
    judged: dict[str, Any] = {
        "thresholds": Thresholds(1e-6, np.nan, "copies", level, "fdr", 3, 3),
        "pvalues": adjusted / 2,
        "adjusted_pvalues": adjusted,
        "together_pvalues": beside,
        "alone_pvalues": single,
        "limits": limits,
        "companions": companions,
        "parameters": {"C": None, "level": level, "control": "fdr"},
    }
    return replace(result, **judged | {name: value for name, value in changes.items() if name in judged})


def make_forest_result(*counts: int, tentative: int = 1, **changes: Any) -> RelevanceResult:
    """Return the same as of forests, with the last so many features of the ranking undecided."""
    forest: dict[str, Any] = {
        "method": "forest",
        "thresholds": Thresholds(0.0, 0.041, "hits", 0.05, "none", 100, 100),
        "hyperparameters": {"n_estimators": 200},
        "scores": {"metric": "accuracy", "cross_validated": 0.9412, "training": 0.999},
        "parameters": {"n_estimators": 200, "n_copies": 100},
        "engine": "lightgbm",
        "max_gap": 0.0,
        "n_programs": 340,
        "cpu_seconds": {"shadow features": 3.2},
    }
    result = make_result(*counts, **{**forest, **changes})
    last = [result.feature_names[k] for k in result.ranking()[result.n_features - tentative :]]
    return replace(result, tentative=tuple(last), baseline=abs(result.baseline))

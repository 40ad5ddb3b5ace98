"""Who is asked: this library with its options, and competitors; all at the nominal level of .05, on scaled columns."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.competitors._input import scaled
from benchmarks.competitors.calling import METHODS, adapter, call
from benchmarks.truth.record import Record

#: CPU seconds that a fit in a process of its own may take.
LIMIT = 120.0
#: Options of this library's estimators by name: keyword arguments of all of them. ``estimator`` says which family:
#: ``"linear"`` (default) or ``"forest"``; ``groups=False`` keeps the groups of rows from it.
VARIANTS: dict[str, dict[str, Any]] = {
    "allrelevant": {},
    "papers": {"threshold_rule": "papers"},
    "forest": {"estimator": "forest"},
}
#: Competitors that run in this process, by their names in `benchmarks.competitors.calling`.
COMPETITORS = (
    "boruta",
    "lasso_cv",
    "randomised_lasso",
    "randomised_lasso_one",
    "ipss_l1",
    "ipss_boosted",
    "dcrt",
    "knockoffs",
)
#: Those whose requirements contradict ours: each fit has a process of its own, by the interpreter of their environment.
OWN_ENVIRONMENT = ("fri",)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says.

    Attributes
    ----------
    classes : ndarray of shape (n_columns,)
        0 not found, 1 found, 2 found and called indispensable; the privileged columns last.
    pvalues : ndarray of shape (n_columns,) or None
        P-values, where the method has any.
    cpu_seconds : float or None
        CPU seconds, where the method was run in another process.
    note : str
        What else is to be said.
    """

    classes: np.ndarray
    pvalues: np.ndarray | None = None
    cpu_seconds: float | None = None
    note: str = ""


Method = Callable[[Record, int], Answer]


def methods(variants: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Method]:
    """Every method by name; `variants` are further options of this library's estimators."""
    found: dict[str, Method] = {}
    for name, options in {**VARIANTS, **(variants or {})}.items():
        found[name] = _ours(dict(options))
    found |= {name: _competitor(name) for name in COMPETITORS}
    return found | {name: _elsewhere(name) for name in OWN_ENVIRONMENT}


def variant(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``name={"option": value}``.

    Raises
    ------
    ValueError
        If it is not that.
    """
    name, _, options = text.partition("=")
    try:
        read = json.loads(options)
    except ValueError as error:
        raise ValueError(f'variant {text!r} is not of the form name={{"option": value}}: {error}') from error
    if not name or not isinstance(read, dict):
        raise ValueError(f'variant {text!r} is not of the form name={{"option": value}}')
    return name, read


def _ours(options: dict[str, Any]) -> Method:
    family, use_groups = options.pop("estimator", "linear"), options.pop("groups", True)

    def run(record: Record, seed: int) -> Answer:
        import allrelevant

        kind = {"classification": "Classifier", "multiclass": "Classifier", "regression": "Regressor"}
        # Forests take ordered classes as numbers.
        other = "Regressor" if family == "forest" else "Ordinal"
        name = f"{family.capitalize()}Relevance{kind.get(record.kind, other)}"
        if not hasattr(allrelevant, name):
            raise ValueError(f"there is no {name}: this family does not know problems of kind {record.kind!r}")
        model = getattr(allrelevant, name)(random_state=seed, **options)
        more: dict[str, Any] = {}
        notes = []
        if record.X_privileged is not None:
            more["X_privileged"] = scaled(record.X_privileged)
        if record.groups is not None and use_groups and "groups" in inspect.signature(model.fit).parameters:
            more["groups"] = record.groups
            notes.append("groups of rows given")
        result = model.fit(scaled(record.X), record.y, **more).result_
        parts = [result] if result.privileged is None else [result, result.privileged]
        classes = np.concatenate([part.classes for part in parts])
        return Answer(classes, np.concatenate([part.pvalues for part in parts]), None, "; ".join(notes))

    return run


def _competitor(method: str) -> Method:
    def run(record: Record, seed: int) -> Answer:
        function = adapter(METHODS[method]).METHODS[method]
        return _answer(function(record.kind, scaled(record.columns), record.y, seed))

    return run


def _elsewhere(method: str) -> Method:
    def run(record: Record, seed: int) -> Answer:
        if record.kind == "multiclass":
            raise ValueError(f"{method} does not know problems of kind 'multiclass'")
        environments = Path(os.environ.get("ALLRELEVANT_PEERS", ".peers"))
        X, target = scaled(record.columns), scaled(record.y) if record.kind == "regression" else record.y
        fit = call(method, record.kind, X, target, seed, limit=LIMIT, environments=environments)
        if not fit.found:
            raise RuntimeError(fit.note)
        return _answer(fit.found)

    return run


def _answer(found: Mapping[str, Any]) -> Answer:
    pvalues = np.array(found["pvalues"]) if "pvalues" in found else None
    return Answer(np.array(found["classes"]), pvalues, found.get("cpu_seconds"), found.get("note", ""))

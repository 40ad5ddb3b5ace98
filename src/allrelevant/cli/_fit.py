"""Fits what was prepared, and asks the fitted model what a report should say."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor
from allrelevant.cli._columns import kind
from allrelevant.cli._prepare import Prepared
from allrelevant.cli._problems import Problem, closest, listed
from allrelevant.cli._read import Table, read_table
from allrelevant.errors import RelevanceWarning, SolverError
from allrelevant.findings import Findings
from allrelevant.redundancy import Substitutes
from allrelevant.result import RelevanceClass

__all__ = ["examine", "fit", "read_costs", "source"]

LINEAR: dict[str, Any] = {
    "classification": LinearRelevanceClassifier,
    "regression": LinearRelevanceRegressor,
    "ordinal": LinearRelevanceOrdinal,
}
NOTHING: Mapping[str, Any] = MappingProxyType({})
MOST_SUBSTITUTED = 10
MOST_GROUPED = 40  # features of a forest: each is told by each of the others
PATIENCE = 60.0  # seconds that groups, and substitutes, may take unless all is asked for


def fit(
    prepared: Prepared,
    *,
    seed: int,
    jobs: int,
    parameters: Mapping[str, Any] = NOTHING,
    time_limit: float | None = None,
) -> Any:
    """Return the fitted estimator, with parameters that say which error is allowed.

    Only linear ones have a limit of time, in seconds.
    """
    limit = {} if time_limit is None else {"time_limit": time_limit}
    options = {**_parameters(prepared, seed, jobs), **parameters, **limit}
    model = _estimators(prepared.method)[prepared.target.problem](**options)
    more: dict[str, Any] = dict(prepared.belonging)
    if prepared.privileged is not None:
        more["X_privileged"] = prepared.privileged
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)  # the summary of the result says the same
        return model.fit(prepared.X, prepared.target.values, sample_weight=prepared.weight, **more)


def _estimators(method: str) -> dict[str, Any]:
    """Return the estimators of a method by problem; a forest has none for ordered classes, which are ranks to it."""
    if method == "linear":
        return LINEAR
    from allrelevant import ForestRelevanceClassifier, ForestRelevanceRegressor

    return {"classification": ForestRelevanceClassifier, "regression": ForestRelevanceRegressor}


def _parameters(prepared: Prepared, seed: int, jobs: int) -> dict[str, Any]:
    groups = {"feature_groups": prepared.groups} if prepared.groups else {}
    return {**groups, "n_jobs": jobs, "random_state": seed}


def examine(
    model: Any,
    *,
    facts: Mapping[str, str],
    costs: Mapping[str, float] | None = None,
    substitutes: bool = True,
    thorough: bool = False,
) -> tuple[Findings, list[str]]:
    """Look for groups, for substitutes unless not wanted and, with costs, panels; of a forest for groups only.

    Returns
    -------
    findings : Findings
        What was found.
    notices : list of str
        What was not looked for or not found.
    """
    result, notices = model.result_, list[str]()
    if not result.words.answers:
        relevant = int((result.classes > 0).sum())
        grouped = 1 < relevant <= MOST_GROUPED
        if relevant > MOST_GROUPED:
            notices.append(
                f"Groups were not looked for among more than {MOST_GROUPED} relevant features; in Python, "
                "group_features finds them."
            )
        return Findings(result, model.group_features() if grouped else None, data=dict(facts)), notices
    if result.incomplete:
        notices.append("Groups, substitutes and panels were not looked for, as the time was up before.")
        return Findings(result, data=dict(facts)), notices
    weak = result.names(RelevanceClass.WEAK)
    groups, replaced, panels = None, list[Substitutes](), None
    expected = _seconds_of_groups(model)
    if expected > PATIENCE and not thorough:
        # A single question about substitutes can take longer than all groups, and there is no estimate of it.
        what = "Groups and substitutes" if substitutes else "Groups"
        notices.append(f"{what} were not looked for, as that may take many minutes; use --thorough for them.")
        substitutes = False
    elif result.classes.any():
        try:
            groups = model.group_features()
        except SolverError as error:
            notices.append(f"Groups were not found: {error}.")
    began = time.monotonic()
    try:
        for name in weak[:MOST_SUBSTITUTED] if substitutes else []:
            if not thorough and time.monotonic() - began > PATIENCE:
                notices.append(f"Substitutes were looked for {len(replaced)} features only; use --thorough for more.")
                break
            replaced.append(model.substitutes(name))
    except SolverError as error:
        notices.append(f"Substitutes were not found: {error}.")
    if costs is not None:
        try:
            panels = model.panels(costs)
        except SolverError as error:
            notices.append(f"Panels were not found: {error}.")
    return Findings(result, groups, tuple(replaced), panels, data=dict(facts)), notices


def _seconds_of_groups(model: Any) -> float:
    """Estimate the CPU seconds that groups take from what the programs of the fit took."""
    result, groups = model.result_, model.feature_groups or {}
    spent: float = sum(result.cpu_seconds.get(stage, 0.0) for stage in ("intervals", "copies"))
    relevant = [name for name, kind in zip(result.feature_names, result.classes, strict=True) if kind]
    # Every feature is held at both ends; the greatest weight of a category takes a program per pattern of signs.
    patterns = [2 ** min(len(groups.get(name, "1")) - 1, 5) for name in relevant]
    return float(spent / max(result.n_programs, 1) * 2 * len(relevant) * sum(1 + count for count in patterns))


def read_costs(path: Path, features: list[str], left_out: list[str]) -> tuple[dict[str, float], list[str]]:
    """Read what features cost from a table with the columns feature and cost.

    Returns
    -------
    costs : dict
        Cost of every feature that the table names.
    notices : list of str
        Which features have no cost, and which costs are of no feature.
    """
    frame = read_table(path).frame
    names = {str(name).casefold().strip(): name for name in frame.columns}
    for wanted in ("feature", "cost"):
        if wanted not in names:
            raise Problem(f"--costs: {path.name} has no column {wanted!r}; it needs the columns feature and cost.")
    given, amounts = frame[names["feature"]].astype(str).str.strip(), frame[names["cost"]]
    wrong = [] if kind(amounts) == "number" else [one for one in amounts.dropna().astype(str) if not _is_cost(one)]
    if wrong or amounts.isna().any() or (amounts.astype(float) < 0).any():
        example = f", not {wrong[0]!r}" if wrong else ""
        raise Problem(f"--costs: every cost in {path.name} must be a number of at least 0{example}.")
    twice = sorted(given[given.duplicated()])
    if twice:
        raise Problem(f"--costs: {path.name} names {twice[0]!r} more than once; leave one of them.")
    costs = dict(zip(given, amounts.astype(float), strict=True))
    for name in costs:
        if name not in features and name not in left_out:
            raise Problem(f"--costs: {path.name} names {name!r}, which is no feature; {closest(name, features)}")
    notices = []
    unused = [name for name in costs if name not in features]
    if unused:
        notices.append(f"The costs of {listed(unused)} were not used, as these are no features.")
    free = [name for name in features if name not in costs]
    if free:
        notices.append(f"Without a cost in {path.name}, so taken as 1: {listed(free)}.")
    return {name: cost for name, cost in costs.items() if name in features}, notices


def _is_cost(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False


def source(table: Table, prepared: Prepared, *, seed: int, jobs: int, parameters: Mapping[str, Any] = NOTHING) -> str:
    """Write the Python code that reads the file, prepares it in the same way and fits ``model``, a linear one."""
    name = LINEAR[prepared.target.problem].__name__
    groups = ["feature_groups=groups"] if prepared.groups else []
    chosen = [f"{key}={value!r}" for key, value in parameters.items()]
    arguments = ", ".join([*groups, *chosen, f"n_jobs={jobs}", f"random_state={seed}"])
    weight = [] if prepared.weight is None else ["sample_weight=weight"]
    privileged = [] if prepared.privileged is None else ["X_privileged=P"]
    belonging = [f"{option}=row_{option}" for option in prepared.belonging]
    reader = "read_parquet" if table.parquet else "read_csv"
    options = [f"{key}={value!r}" for key, value in table.options.items()]
    if not table.parquet:
        options.append("low_memory=False")
    return "\n".join(
        [
            "import pandas as pd",
            "",
            f"from allrelevant import {name}",
            "",
            f"frame = pd.{reader}({', '.join([repr(str(table.path.resolve())), *options])})",
            *table.steps,
            *prepared.code,
            f"model = {name}({arguments}).fit({', '.join(['X', 'y', *weight, *privileged, *belonging])})",
            "",
        ]
    )

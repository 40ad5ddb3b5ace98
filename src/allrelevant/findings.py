"""All answers about one data set in one value that can be kept in a file. Reports and explorers read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import is_valid_linkage

import allrelevant._reading as reading
from allrelevant._json import plain, restored
from allrelevant.redundancy import FeatureGroups, Panel, Panels, Stability, Substitutes, SubstituteSet
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["Findings"]

SCHEMA = 1
_FIELDS = {"schema", "kind", "result", "groups", "substitutes", "panels", "stability", "data"}


@dataclass(frozen=True, eq=False)
class Findings:
    """The result of a fit, and what else was asked about it.

    Parameters
    ----------
    result : RelevanceResult
        The result of the fit.
    groups : FeatureGroups, default=None
        Groups of features, if these were asked for.
    substitutes : sequence of Substitutes, default=()
        Substitutes of the features asked about, each feature once.
    panels : Panels, default=None
        Panels, if these were asked for.
    stability : Stability, default=None
        How classes and intervals vary over bootstraps, if this was asked for.
    data : mapping of str to str, default={}
        What is known of the data, such as ``{"file": "cells.csv", "SHA-256": "9f86d0…"}``, to recognise them by.

    Attributes
    ----------
    result, groups, substitutes, panels, stability, data
        As given.

    Raises
    ------
    ValueError
        If a part is about other features than `result`, or a feature has substitutes twice, or the result is of a
        method that has no substitutes and panels.

    See Also
    --------
    allrelevant.report.write_report : Writes the findings as a web page.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.findings import Findings
    >>> X, y, _ = make_relevance_classification(200, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    >>> model = LinearRelevanceClassifier(random_state=0).fit(X, y)
    >>> findings = Findings(model.result_, substitutes=(model.substitutes("x2"),), data={"file": "toy.csv"})
    >>> Findings.from_json(findings.to_json()) == findings
    True
    """

    result: RelevanceResult
    groups: FeatureGroups | None = None
    substitutes: tuple[Substitutes, ...] = ()
    panels: Panels | None = None
    stability: Stability | None = None
    data: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = self.result.feature_names
        object.__setattr__(self, "substitutes", tuple(self.substitutes))
        object.__setattr__(self, "data", {str(key): str(value) for key, value in self.data.items()})
        redundancy = {"substitutes": self.substitutes or None, "panels": self.panels}
        for part in (part for part, found in redundancy.items() if found is not None):
            if not self.result.words.answers:
                raise ValueError(f"{part} cannot go with a result of method {self.result.method!r}; leave it out")
        for part, other in (("groups", self.groups), ("stability", self.stability)):
            if other is not None and other.result.feature_names != names:
                raise ValueError(f"{part} is about other features than result; ask both of the same fit")
        asked = [one.feature for one in self.substitutes]
        mentioned = [*asked, *(name for one in self.substitutes for some in one.sets for name in some.features)]
        offered = () if self.panels is None else self.panels.feature_names
        parts = {"substitutes": mentioned, "panels": offered}
        for part, used in parts.items():
            strange = sorted(set(used) - set(names))
            if strange:
                raise ValueError(
                    f"{part} names {strange[0]!r}, which is no feature of result; ask both of the same fit"
                )
        in_panels = {name for panel in self.panels or () for name in panel.features}
        if not in_panels <= set(offered):
            raise ValueError(f"panels has {min(in_panels - set(offered))!r}, which is not among its feature_names")
        twice = sorted({name for name in asked if asked.count(name) > 1})
        if twice:
            raise ValueError(f"substitutes has {twice[0]!r} more than once; give each feature once")

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the findings as JSON text, which :meth:`from_json` reads back without loss.

        Parameters
        ----------
        indent : int, default=None
            Spaces per level; None gives a single line.

        Returns
        -------
        str
            JSON.
        """
        content = {
            "schema": SCHEMA,
            "kind": "findings",
            "result": self.result.to_dict(),
            "groups": None if self.groups is None else self._groups_dict(self.groups),
            "substitutes": [_substitutes_dict(one) for one in self.substitutes],
            "panels": None if self.panels is None else _panels_dict(self.panels),
            "stability": None if self.stability is None else self._stability_dict(self.stability),
            "data": dict(self.data),
        }
        return json.dumps(plain(content), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Findings:
        """Read findings written by :meth:`to_json`, or a bare result written by :meth:`.RelevanceResult.to_json`.

        Types, shapes and ranges are checked, and nothing of the text is executed: files of strangers can be read.

        Parameters
        ----------
        text : str
            JSON.

        Returns
        -------
        Findings
            What was written.

        Raises
        ------
        ValueError
            If the text is neither.
        """
        try:
            content = reading.parsed(text)
        except ValueError as error:
            raise ValueError(f"not findings: the text is not JSON ({error})") from error
        if not isinstance(content, dict) or "schema" not in content:
            raise ValueError("not findings: no field 'schema'; write them with Findings.to_json")
        if content.get("kind") != "findings":
            return cls(RelevanceResult.from_dict(content))
        if type(content["schema"]) is not int or content["schema"] != SCHEMA:
            raise ValueError(f"findings of schema {content['schema']!r}; this version reads schema {SCHEMA}")
        if set(content) != _FIELDS:
            raise ValueError(
                f"not findings: missing fields {sorted(_FIELDS - set(content))}, "
                f"unknown fields {sorted(set(content) - _FIELDS)}"
            )
        try:
            return cls._from_dict(content)
        except ValueError as error:
            raise ValueError(f"not findings: {error}") from error

    @classmethod
    def _from_dict(cls, content: Mapping[str, Any]) -> Findings:
        result = RelevanceResult.from_dict(content["result"])
        groups, panels, stability = content["groups"], content["panels"], content["stability"]
        return cls(
            result,
            None if groups is None else _groups(groups, result),
            reading.listed(_substitutes, content["substitutes"], "substitutes"),
            None if panels is None else _panels(panels),
            None if stability is None else _stability(stability, result),
            reading.mapping(content["data"], "data"),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Findings):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def _own(self, result: RelevanceResult) -> dict[str, Any] | None:
        """Return a result to be kept, None where it is the one that is kept anyway."""
        return None if result is self.result or result == self.result else result.to_dict()

    def _groups_dict(self, groups: FeatureGroups) -> dict[str, Any]:
        return {
            "result": self._own(groups.result),
            "members": list(groups.members),
            **{name: np.asarray(getattr(groups, name)).tolist() for name in _GROUP_ARRAYS},
            "height": groups.height,
            "n_programs": groups.n_programs,
        }

    def _stability_dict(self, stability: Stability) -> dict[str, Any]:
        return {
            "result": self._own(stability.result),
            "classes": stability.classes.tolist(),
            "intervals": stability.intervals.tolist(),
        }


_GROUP_ARRAYS = ("labels", "contexts", "distances", "linkage")


def _result(content: Any, default: RelevanceResult) -> RelevanceResult:
    return default if content is None else RelevanceResult.from_dict(content)


def _groups(given: Any, default: RelevanceResult) -> FeatureGroups:
    content = reading.mapping(given, "groups", {"result", "members", *_GROUP_ARRAYS, "height", "n_programs"})
    result = _result(content["result"], default)
    d = result.n_features
    members = reading.listed(reading.whole, content["members"], "groups.members", most=d - 1)
    m = len(members)
    if len(set(members)) < m:
        raise ValueError("groups.members has a feature more than once")
    shapes = {"contexts": (m, 2, m, 2), "distances": (m, m), "linkage": (max(m - 1, 0), 4)}
    values = {
        name: reading.array(reading.number, restored(content[name]), f"groups.{name}", shape, unknown=name != "linkage")
        for name, shape in shapes.items()
    }
    if m > 1 and not is_valid_linkage(values["linkage"]):
        raise ValueError("groups.linkage is no tree")
    labels = reading.array(reading.whole, content["labels"], "groups.labels", (d,), least=-1, most=d - 1)
    return FeatureGroups(
        result=result,
        labels=labels.astype(np.intp),
        members=members,
        **values,
        height=reading.number(restored(content["height"]), "groups.height", unknown=True),
        n_programs=reading.whole(content["n_programs"], "groups.n_programs"),
    )


def _stability(given: Any, default: RelevanceResult) -> Stability:
    content = reading.mapping(given, "stability", {"result", "classes", "intervals"})
    result = _result(content["result"], default)
    d, most = result.n_features, max(RelevanceClass)
    classes = reading.array(reading.whole, content["classes"], "stability.classes", (None, d), most=most)
    if not len(classes):
        raise ValueError("stability.classes is empty")
    intervals = reading.array(
        reading.number, restored(content["intervals"]), "stability.intervals", (len(classes), d, 2), unknown=True
    )
    return Stability(result, classes.astype(np.int64), intervals)


def _substitutes_dict(one: Substitutes) -> dict[str, Any]:
    sets = [
        {
            "features": list(some.features),
            "needed": list(some.needed),
            "own_needed": some.own_needed,
            "loss_growth": some.loss_growth,
            "norm_growth": some.norm_growth,
        }
        for some in one.sets
    ]
    # Names of features are values here, not keys: a feature may have any name, also one that means something in JSON.
    rises = [[name, *ends] for name, ends in one.rises.items()]
    return {"feature": one.feature, "sets": sets, "rises": rises, "timed_out": one.timed_out}


def _substitutes(given: Any, where: str) -> Substitutes:
    content = reading.mapping(restored(given), where, {"feature", "sets", "rises", "timed_out"})
    rises = reading.listed(_rise, content["rises"], f"{where}.rises")
    return Substitutes(
        reading.text(content["feature"], f"{where}.feature"),
        reading.listed(_substitute_set, content["sets"], f"{where}.sets"),
        dict(rises),
        reading.flag(content["timed_out"], f"{where}.timed_out"),
    )


def _substitute_set(given: Any, where: str) -> SubstituteSet:
    growths = ("own_needed", "loss_growth", "norm_growth")
    content = reading.mapping(given, where, {"features", "needed", *growths})
    features = reading.listed(reading.text, content["features"], f"{where}.features")
    needed = reading.array(reading.number, content["needed"], f"{where}.needed", (len(features),), unknown=True)
    numbers = (reading.number(content[name], f"{where}.{name}", unknown=True) for name in growths)
    return SubstituteSet(features, tuple(needed.tolist()), *numbers)


def _rise(given: Any, where: str) -> tuple[str, tuple[float, float]]:
    if not isinstance(given, list) or len(given) != 3:
        raise reading.wanted("a name and two numbers", given, where)
    before, after = (reading.number(one, where, unknown=True) for one in given[1:])
    return reading.text(given[0], where), (before, after)


def _panels_dict(panels: Panels) -> dict[str, Any]:
    return {
        "panels": [
            {"features": list(panel.features), "cost": panel.cost, "score": panel.score, "gap": panel.gap}
            for panel in panels.panels
        ],
        "feature_names": list(panels.feature_names),
        "metric": panels.metric,
        "baseline_score": panels.baseline_score,
        "complete": panels.complete,
        "timed_out": panels.timed_out,
        "notes": list(panels.notes),
    }


def _panels(given: Any) -> Panels:
    names = {"panels", "feature_names", "metric", "baseline_score", "complete", "timed_out", "notes"}
    content = reading.mapping(restored(given), "panels", names)
    return Panels(
        reading.listed(_panel, content["panels"], "panels.panels"),
        reading.listed(reading.text, content["feature_names"], "panels.feature_names"),
        reading.text(content["metric"], "panels.metric"),
        reading.optional(reading.number, content["baseline_score"], "panels.baseline_score", unknown=True),
        reading.flag(content["complete"], "panels.complete"),
        reading.flag(content["timed_out"], "panels.timed_out"),
        reading.listed(reading.text, content["notes"], "panels.notes"),
    )


def _panel(given: Any, where: str) -> Panel:
    content = reading.mapping(given, where, {"features", "cost", "score", "gap"})
    return Panel(
        reading.listed(reading.text, content["features"], f"{where}.features"),
        reading.number(content["cost"], f"{where}.cost", least=0.0),
        reading.optional(reading.number, content["score"], f"{where}.score", unknown=True),
        reading.number(content["gap"], f"{where}.gap", unknown=True),
    )

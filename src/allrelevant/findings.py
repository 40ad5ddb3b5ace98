"""All answers about one data set in one value that can be kept in a file. Reports and explorers read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allrelevant._json import plain, restored
from allrelevant.redundancy import FeatureGroups, Panel, Panels, Stability, Substitutes, SubstituteSet
from allrelevant.result import RelevanceResult

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
        parts = {"substitutes": mentioned, "panels": [] if self.panels is None else self.panels.feature_names}
        for part, used in parts.items():
            strange = sorted(set(used) - set(names))
            if strange:
                raise ValueError(
                    f"{part} names {strange[0]!r}, which is no feature of result; ask both of the same fit"
                )
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
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not findings: the text is not JSON ({error})") from error
        if not isinstance(content, dict) or "schema" not in content:
            raise ValueError("not findings: no field 'schema'; write them with Findings.to_json")
        try:
            if content.get("kind") != "findings":
                return cls(RelevanceResult.from_dict(content))
            if content["schema"] != SCHEMA:
                raise ValueError(f"findings of schema {content['schema']!r}; this version reads schema {SCHEMA}")
            if set(content) != _FIELDS:
                raise ValueError(
                    f"not findings: missing fields {sorted(_FIELDS - set(content))}, "
                    f"unknown fields {sorted(set(content) - _FIELDS)}"
                )
            return cls._from_dict(content)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"not findings: a field is not what it should be ({error!r})") from error

    @classmethod
    def _from_dict(cls, content: Mapping[str, Any]) -> Findings:
        result = RelevanceResult.from_dict(content["result"])
        groups, panels, stability = content["groups"], content["panels"], content["stability"]
        try:
            return cls(
                result,
                None if groups is None else _groups(groups, result),
                tuple(_substitutes(one) for one in content["substitutes"]),
                None if panels is None else _panels(panels),
                None if stability is None else _stability(stability, result),
                content["data"],
            )
        except ValueError as error:
            raise ValueError(f"not findings: {error}") from error

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


def _groups(content: Mapping[str, Any], default: RelevanceResult) -> FeatureGroups:
    result = _result(content["result"], default)
    members = tuple(int(k) for k in content["members"])
    m = len(members)
    values = {name: np.array(restored(content[name]), dtype=float) for name in _GROUP_ARRAYS[1:]}
    return FeatureGroups(
        result=result,
        labels=np.array(content["labels"], dtype=np.intp).reshape(result.n_features),
        members=members,
        contexts=values["contexts"].reshape(m, 2, m, 2),
        distances=values["distances"].reshape(m, m),
        linkage=values["linkage"].reshape(max(m - 1, 0), 4),
        height=float(restored(content["height"])),
        n_programs=int(content["n_programs"]),
    )


def _stability(content: Mapping[str, Any], default: RelevanceResult) -> Stability:
    result = _result(content["result"], default)
    d = result.n_features
    classes = np.array(content["classes"], dtype=np.int64).reshape(-1, d)
    intervals = np.array(restored(content["intervals"]), dtype=float).reshape(len(classes), d, 2)
    return Stability(result, classes, intervals)


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


def _substitutes(content: Mapping[str, Any]) -> Substitutes:
    sets = tuple(
        SubstituteSet(
            tuple(some["features"]),
            tuple(float(number) for number in some["needed"]),
            float(some["own_needed"]),
            float(some["loss_growth"]),
            float(some["norm_growth"]),
        )
        for some in restored(content["sets"])
    )
    rises = {name: (float(before), float(after)) for name, before, after in restored(content["rises"])}
    return Substitutes(content["feature"], sets, rises, bool(content["timed_out"]))


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


def _panels(content: Mapping[str, Any]) -> Panels:
    content = restored(dict(content))
    panels = tuple(
        Panel(tuple(one["features"]), float(one["cost"]), one["score"], float(one["gap"])) for one in content["panels"]
    )
    return Panels(
        panels,
        tuple(content["feature_names"]),
        str(content["metric"]),
        content["baseline_score"],
        bool(content["complete"]),
        bool(content["timed_out"]),
        tuple(content["notes"]),
    )

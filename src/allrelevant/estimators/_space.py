"""What a fitted estimator keeps for questions: the near-optimal models, and all features in them by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.errors import InfeasibleConstraint
from allrelevant.estimators._canonical import Canonical
from allrelevant.estimators._examined import Examined, Part, Request
from allrelevant.formulations import Feature
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices
from allrelevant.relevance.baseline import Baseline
from allrelevant.relevance.intervals import Intervals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.presets import Limit, bounded_intervals, find_conflict
from allrelevant.relevance.solving import Solving
from allrelevant.relevance.starts import Starts

__all__ = ["Exploration", "Space", "find_feature", "read_costs", "read_limits"]


@dataclass(frozen=True, eq=False)
class Space:
    """One near-optimal set, with the features of every kind in it, in canonical order."""

    request: Request
    data: Canonical
    baseline: Baseline
    near: NearOptimalSet
    parts: list[Part]

    @classmethod
    def of(cls, found: Examined) -> Space:
        """Keep what is found, but not the data as they were given."""
        return cls(found.request._replace(X=None), found.data, found.baseline, found.near, found.parts)

    @property
    def features(self) -> list[Feature]:
        """All features, kind by kind."""
        return [feature for part in self.parts for feature in part.features]

    @property
    def ends(self) -> Intervals:
        """Their intervals."""
        every = [part.intervals for part in self.parts]
        return Intervals(
            np.concatenate([one.minimum for one in every]),
            np.concatenate([one.maximum for one in every]),
            np.concatenate([one.exact for one in every]),
            max(one.gap for one in every),
            0,
            every[0].engine,
        )

    @property
    def informed(self) -> bool:
        """Whether the models have weights at all; if not, there is nothing to ask."""
        return any(part.verdict.informed for part in self.parts)

    def places(self, kind: int) -> Indices:
        """Where the features of one kind stand among all, in the order of the data given."""
        before = sum(len(part.features) for part in self.parts[:kind])
        return before + np.argsort(self.parts[kind].order, kind="stable")

    def columns(self, kind: int) -> list[Indices]:
        """Columns of the canonical data that belong to each feature of one kind, in the order of the data given."""
        place = np.argsort(self.data.columns)
        return [np.sort(place[columns]) for _, columns in self.parts[kind].members]

    @cached_property
    def starts(self) -> Starts:
        """Points that are known: the ends of features that were asked about."""
        return Starts(self.near, self.features)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "starts"}

    def bounded(self, limits: Mapping[int, Limit], names: Sequence[str], solving: Solving, **options: Any) -> Intervals:
        """Bound all features under limits.

        Raises
        ------
        InfeasibleConstraint
            If no near-optimal model meets them.
        """
        near, features, ends = self.near, self.features, self.ends
        if not self.informed:
            outside = {names[k]: (0.0, 0.0) for k, limit in limits.items() if limit.low > 0.0}
            if outside:
                raise InfeasibleConstraint(False, outside)
            return ends
        found = bounded_intervals(near, features, limits, ends, solving, starts=self.starts, **options)
        if found is None:
            both = bool(options.get("both_signs", False))
            conflict = find_conflict(near, features, limits, ends, solving, both_signs=both)
            raise InfeasibleConstraint(conflict.joint, {names[k]: span for k, span in conflict.ranges.items()})
        return found

    def verdict(self, kind: int, found: Intervals) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return intervals and classes of one kind, in the order of the data given."""
        part, back = self.parts[kind], np.argsort(self.parts[kind].order, kind="stable")
        before = sum(len(other.features) for other in self.parts[:kind])
        some = slice(before, before + len(part.features))
        minimum, maximum = found.minimum[some], found.maximum[some]
        classes = part.verdict.constrained(minimum, maximum)
        return np.column_stack([minimum, maximum])[back], classes[back]


@dataclass(frozen=True, eq=False)
class Exploration:
    """Where the features of every kind are: regular ones, and privileged ones if there are any."""

    spaces: list[Space]
    kinds: list[tuple[int, int]]
    contexts: dict[tuple[int, ...], tuple[Array, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Examined, beside: Examined | None) -> Exploration:
        """Privileged features have a set of their own, or the second place in that of the regular ones."""
        spaces = [Space.of(one) for one in (found, beside) if one is not None]
        kinds = [(0, kind) for kind in range(len(found.parts))]
        return cls(spaces, kinds if beside is None else [*kinds, (1, 0)])


def find_feature(feature: Any, names: Sequence[str], what: str) -> int:
    """Position of a feature given by name or position."""
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"{what} names {feature!r}, which is none of the {len(names)} features")
        return list(names).index(feature)
    if type(feature) is not bool and isinstance(feature, Integral):
        if not 0 <= int(feature) < len(names):
            raise ValueError(f"{what} names feature {feature}, which is out of range: they are 0 to {len(names) - 1}")
        return int(feature)
    raise TypeError(f"{what} names {feature!r}; give a feature by name or by position")


def read_limits(constraints: Any, names: Sequence[str], what: str) -> dict[int, Limit]:
    """Limits by position, from what a user wrote."""
    if not isinstance(constraints, Mapping):
        raise TypeError(f"{what} is {constraints!r}; give a dictionary of features and values or pairs (low, high)")
    out: dict[int, Limit] = {}
    for feature, value in constraints.items():
        k = find_feature(feature, names, what)
        if k in out:
            raise ValueError(f"{what} names the feature {names[k]!r} twice; leave one of them out")
        pair = isinstance(value, Iterable) and not isinstance(value, str)
        ends = list(value) if pair else [value, value]
        numbers = [end for end in ends if end is not None]
        if len(ends) != 2 or not all(type(end) is not bool and isinstance(end, Real) for end in numbers):
            raise TypeError(f"{what} of {names[k]!r} is {value!r}; give a number, or a pair (low, high) of numbers")
        low = 0.0 if ends[0] is None else float(ends[0])
        high = np.inf if ends[1] is None else float(ends[1])
        if not 0.0 <= low <= high or not np.isfinite(low):
            raise ValueError(
                f"{what} of {names[k]!r} is {value!r}; a relevance is at least 0, and low must not exceed high"
            )
        out[k] = Limit(low, high)
    return out


def read_costs(costs: Any, names: Sequence[str]) -> Array:
    """Cost of every feature: 1 where nothing is said."""
    out = np.ones(len(names))
    if costs is None:
        return out
    if isinstance(costs, Mapping):
        for feature, cost in costs.items():
            out[find_feature(feature, names, "costs")] = cost
    else:
        out = np.array(costs, dtype=float)
    if out.shape != (len(names),):
        raise ValueError(f"costs has shape {out.shape}; give one cost per feature ({len(names)}), or a dictionary")
    if not (np.isfinite(out) & (out >= 0.0)).all():
        raise ValueError("costs has entries that are negative or not finite; costs are at least 0")
    return out

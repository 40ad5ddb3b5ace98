"""Which features get a row of their own in a drawing, and which share one. No drawing happens here."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from allrelevant._words import BORDERLINE
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["MAX_FEATURES", "NAME_LENGTH", "Row", "arrange", "at_least_one", "limit_ticks", "own_limit", "shorten"]

MAX_FEATURES = 40  # what fits on a screen or a printed page
NAME_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the drawing: a feature, or several of a class folded together.

    Attributes
    ----------
    label : str
        What stands beside the line.
    relevance : RelevanceClass
        Class of the feature or features.
    low, high : float
        Interval of the feature, or the hull of the intervals.
    baseline : float or None
        Absolute share of weight in the baseline model; None for folded features.
    members : tuple of int
        Positions of the features that the line stands for.
    tentative : bool
        Whether the class of the feature is a best guess, which a question mark after its name says.
    borderline : bool
        Whether its adjusted p-value is near the level, which ``~`` after its name says.
    limit : float or None
        What its ``maxRel`` had to exceed; None where all features share a limit, or nothing was to be exceeded.
    """

    label: str
    relevance: RelevanceClass
    low: float
    high: float
    baseline: float | None
    members: tuple[int, ...]
    tentative: bool = False
    borderline: bool = False
    limit: float | None = None

    @property
    def n_features(self) -> int:
        """How many features the line stands for."""
        return len(self.members)


def arrange(
    result: RelevanceResult,
    *,
    max_features: int | None,
    sort: bool,
    name_length: int,
    keep: Collection[int] = (),
) -> tuple[Row, ...]:
    """Return the rows to draw, from top to bottom.

    The `max_features` features that rank highest get a row each, and those to `keep`; what is left of a class
    shares one row, unless that is a single feature, whose name it would only hide.
    """
    limit = at_least_one("max_features", max_features) if max_features is not None else result.n_features
    at_least_one("name_length", name_length)
    order = result.ranking()
    chosen = (np.arange(result.n_features) < limit) | np.isin(order, list(keep))
    own, rest = order[chosen], order[~chosen]
    left_over = {kind: rest[result.classes[rest] == kind] for kind in reversed(RelevanceClass)}
    own = np.concatenate([own, *(members for members in left_over.values() if len(members) == 1)])
    own = own if sort else np.sort(own)
    rows = [_single(result, int(k), name_length) for k in own]
    alone = set(result.classes[own].tolist())
    shared = [
        _shared(result, kind, members, more=int(kind) in alone)
        for kind, members in left_over.items()
        if len(members) > 1
    ]
    if not sort:
        return (*rows, *shared)
    # The sort is stable, so a shared row closes its own class.
    return tuple(sorted([*rows, *shared], key=lambda row: -row.relevance))


def own_limit(result: RelevanceResult, k: int) -> float | None:
    """Return what ``maxRel`` of a feature had to exceed; None where all share one, or there was nothing to exceed."""
    limit = float(result.limits[k])
    return limit if limit > 0.0 and not math.isfinite(result.thresholds.max_relevance) else None


def limit_ticks(limits: Sequence[float | None], ends: Sequence[float]) -> list[float]:
    """Return where the limits of features are drawn, NaN where they are not: the bars decide how far the axis reaches.

    Limits of more than twice the longest bar are drawn there, at infinity, as marks at the end of the axis.

    Examples
    --------
    >>> limit_ticks([0.1, None, 0.9], [0.3, 0.2, 0.1])
    [0.1, nan, inf]
    """
    reach = 2.0 * max(ends, default=0.0)
    return [math.nan if limit is None else limit if limit <= reach else math.inf for limit in limits]


def shorten(name: str, length: int) -> str:
    """Return a name on one line of at most `length` characters; an ellipsis replaces the middle.

    The middle goes because measurements are often told apart by how their names end.

    Examples
    --------
    >>> shorten("expression of gene 17, replicate 2", 24)
    'expression o…replicate 2'
    """
    line = "".join(sign if sign.isprintable() else " " for sign in name)
    line = " ".join(line.split())
    if len(line) <= length:
        return line
    tail = (length - 1) // 2
    head = length - 1 - tail
    return f"{line[:head].rstrip()}…{line[len(line) - tail :].lstrip()}"


def _single(result: RelevanceResult, k: int, name_length: int) -> Row:
    low, high = result.intervals[k].tolist()
    tentative = result.feature_names[k] in result.tentative
    borderline = bool(result.borderline[k]) and not tentative
    mark = " ?" if tentative else f" {BORDERLINE}" if borderline else ""
    return Row(
        shorten(result.feature_names[k], name_length) + mark,
        RelevanceClass(int(result.classes[k])),
        low,
        high,
        abs(float(result.baseline[k])),
        (k,),
        tentative,
        borderline,
        own_limit(result, k),
    )


def _shared(result: RelevanceResult, kind: RelevanceClass, members: NDArray[np.intp], *, more: bool) -> Row:
    low = float(result.intervals[members, 0].min())
    high = float(result.intervals[members, 1].max())
    label = f"… {len(members)} {'more ' if more else ''}{kind.label}, up to {high:.2g}"
    return Row(label, kind, low, high, None, tuple(members.tolist()))


def at_least_one(name: str, value: object) -> int:
    """Return an argument that must be a positive integer, or raise an error that names it."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value!r}")
    return int(value)

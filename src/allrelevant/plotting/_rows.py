"""Which features get a row of their own in a drawing, and which share one. No drawing happens here."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["MAX_FEATURES", "NAME_LENGTH", "Row", "arrange", "shorten"]

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
    n_features : int
        How many features the line stands for.
    """

    label: str
    relevance: RelevanceClass
    low: float
    high: float
    baseline: float | None
    n_features: int = 1


def arrange(result: RelevanceResult, *, max_features: int | None, sort: bool, name_length: int) -> tuple[Row, ...]:
    """Return the rows to draw, from top to bottom.

    The `max_features` features that rank highest get a row each; what is left of a class shares one row,
    unless that is a single feature, whose name it would only hide.
    """
    limit = _at_least_one("max_features", max_features) if max_features is not None else result.n_features
    _at_least_one("name_length", name_length)
    order = result.ranking()
    own, rest = order[:limit], order[limit:]
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
    return Row(
        shorten(result.feature_names[k], name_length),
        RelevanceClass(int(result.classes[k])),
        low,
        high,
        abs(float(result.baseline[k])),
    )


def _shared(result: RelevanceResult, kind: RelevanceClass, members: NDArray[np.intp], *, more: bool) -> Row:
    low = float(result.intervals[members, 0].min())
    high = float(result.intervals[members, 1].max())
    label = f"… {len(members)} {'more ' if more else ''}{kind.label}, up to {high:.2g}"
    return Row(label, kind, low, high, None, len(members))


def _at_least_one(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value!r}")
    return int(value)

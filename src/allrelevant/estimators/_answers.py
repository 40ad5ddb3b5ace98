"""Answers to the questions of a fitted estimator, in the order and by the names of the data given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from allrelevant.errors import SolverTimeout
from allrelevant.estimators._space import Exploration, Space
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices
from allrelevant.redundancy import FeatureGroups, Panel, Panels, Substitutes, SubstituteSet
from allrelevant.relevance.grouping import (
    context_distances,
    contexts,
    data_driven_cut,
    flat_groups,
    height_between,
    tree,
)
from allrelevant.relevance.intervals import Intervals
from allrelevant.relevance.panels import PanelSearch
from allrelevant.relevance.presets import Limit
from allrelevant.relevance.solving import Solving
from allrelevant.relevance.substitutes import find_exclusions
from allrelevant.result import RelevanceResult

__all__ = ["find_groups", "find_panels", "find_substitutes", "hold"]

#: A minRel that rises by more than this has risen.
RISEN = 1e-4
FILLED = (
    "The relevant features alone admit no near-optimal model: irrelevant ones, which fit the data by chance, were "
    "offered too."
)


def hold(
    exploration: Exploration,
    results: Sequence[RelevanceResult],
    limits: Sequence[Mapping[int, Limit]],
    wanted: Sequence[int] | None,
    solving: Solving,
    *,
    both_signs: bool,
) -> list[RelevanceResult]:
    """Return the results of every kind of features, regular and privileged ones, under the limits of each kind.

    Features of kinds that share a program feel the limits of each other. Of the regular ones those `wanted` are
    bounded, or all.
    """
    out = list(results)
    for where, space in enumerate(exploration.spaces):
        kinds = [(number, kind) for number, (place, kind) in enumerate(exploration.kinds) if place == where]
        names, together, chosen = [""] * len(space.features), dict[int, Limit](), list[int]()
        for number, kind in kinds:
            places = space.places(kind)
            for k, place in enumerate(places):
                names[place] = results[number].feature_names[k]
            together |= {int(places[k]): _closed(space, int(places[k]), one) for k, one in limits[number].items()}
            every = number > 0 or wanted is None
            chosen += [int(place) for place in (places if every else places[list(wanted or ())])]
        if not together:
            continue
        found = space.bounded(together, names, solving, both_signs=both_signs, wanted=sorted({*chosen, *together}))
        for number, kind in kinds:
            out[number] = _held(space, kind, results[number], {k: together[int(space.places(kind)[k])]
                                                               for k in limits[number]}, found, solving)  # fmt: skip
    return out


def _closed(space: Space, place: int, limit: Limit) -> Limit:
    """A limit whose open end is that of the interval."""
    return limit if np.isfinite(limit.high) else Limit(limit.low, max(limit.low, float(space.ends.maximum[place])))


def _held(
    space: Space,
    kind: int,
    result: RelevanceResult,
    limits: Mapping[int, Limit],
    found: Intervals,
    solving: Solving,
) -> RelevanceResult:
    intervals, classes = space.verdict(kind, found)
    return replace(
        result,
        intervals=intervals,
        classes=classes,
        constraints={result.feature_names[k]: (limit.low, limit.high) for k, limit in limits.items()},
        unconstrained=result.intervals,
        unconstrained_classes=result.classes,
        max_gap=max(result.max_gap, found.gap),
        n_programs=found.n_programs,
        cpu_seconds=solving.progress.cpu_seconds,
        engine=found.engine,
    )


def find_groups(
    exploration: Exploration,
    result: RelevanceResult,
    members: Sequence[int],
    *,
    alone: Sequence[int],
    cutoff: float | None,
    n_groups: int | None,
    method: str,
    solving: Solving,
) -> FeatureGroups:
    """Group some features; those of them that stand `alone` are groups of their own. Contexts are found once."""
    space, known = exploration.spaces[0], exploration.contexts
    chosen = tuple(int(place) for place in space.places(0)[list(members)])
    if chosen not in known:
        known[chosen] = np.zeros((len(members), 2, len(members), 2)), 0
        if space.informed and members:
            known[chosen] = contexts(space.near, space.features, chosen, space.ends, solving)
    changes, n_programs = known[chosen]
    distances = context_distances(changes)
    others = [i for i, k in enumerate(members) if k not in set(alone)]
    apart = distances[np.ix_(others, others)]
    links = tree(apart, method)
    if n_groups is not None:
        height = height_between(links, n_groups - len(alone))
    elif cutoff is None:
        height = data_driven_cut(apart, float(distances.max(initial=0.0)))
    else:
        height = cutoff * float(links[:, 2].max(initial=0.0))
    labels = np.full(result.n_features, -1, dtype=np.intp)
    if others:
        labels[[members[i] for i in others]] = flat_groups(links, len(others), height)
    labels[list(alone)] = np.arange(len(alone)) + labels.max(initial=-1) + 1
    labels[labels >= 0] = _in_order(labels[labels >= 0])
    return FeatureGroups(
        result, labels, tuple(members), changes, distances, tree(distances, method), height, n_programs
    )


def _in_order(labels: Indices) -> Indices:
    """Numbers of groups in the order of their first features."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[place.reshape(-1)], dtype=np.intp)


def find_substitutes(
    space: Space, result: RelevanceResult, k: int, n_sets: int, time_limit: float, solving: Solving
) -> Substitutes:
    """Find what can stand in for one feature, for so many seconds."""
    began = time.monotonic()
    names = result.feature_names
    if not space.informed:
        return Substitutes(names[k], (), {})
    places, ends = space.places(0), space.ends
    name = {int(place): names[number] for number, place in enumerate(places)}
    me = int(places[k])
    others = [int(places[j]) for j in np.flatnonzero(result.classes > 0) if j != k]
    # Those give way that could do the same, and rise when it is gone.
    falls, rises = dict.fromkeys(others, 0.0), dict.fromkeys(others, 0.0)
    if others:
        value = float(ends.maximum[me])
        most = space.bounded({me: Limit(value, value)}, [], solving, wanted=others)
        falls = {j: float(1.0 - most.maximum[j] / max(ends.maximum[j], RISEN)) for j in others}
        if ends.minimum[me] == 0.0:
            least = space.bounded({me: Limit(0.0, 0.0)}, [], solving, wanted=others)
            rises = {j: float(least.minimum[j] - ends.minimum[j]) for j in others}
    ranked = sorted(others, key=lambda j: (-rises[j] if rises[j] > RISEN else 0.0, -falls[j]))
    sets, found, timed_out = [], [], False
    try:
        left = time_limit - (time.monotonic() - began)
        for one in find_exclusions(space.near, space.features, me, ranked, n_sets, left):
            found.append(one)
    except SolverTimeout:
        timed_out = True
    for one in found:
        order = 1 + np.argsort([-needed for needed in one.needed[1:]], kind="stable")
        sets.append(
            SubstituteSet(
                tuple(name[one.features[i]] for i in order),
                tuple(one.needed[i] for i in order),
                one.needed[0],
                one.loss_growth,
                one.norm_growth,
            )
        )
    risen = sorted((j for j in others if rises[j] > RISEN), key=lambda j: -rises[j])
    return Substitutes(
        names[k],
        tuple(sorted(sets, key=lambda one: -one.loss_growth)),
        {name[j]: (float(ends.minimum[j]), float(ends.minimum[j]) + rises[j]) for j in risen},
        timed_out,
    )


def find_panels(
    space: Space,
    result: RelevanceResult,
    costs: Array,
    count: int,
    *,
    offered: Sequence[int],
    more: Sequence[int],
    include: Iterable[int],
    max_size: int | None,
    time_limit: float,
    score: Callable[[Sequence[int]], float | None],
    solving: Solving,
) -> Panels:
    """Find the cheapest panels of the features offered, or with `more` where these do not suffice."""
    places, names = space.places(0), result.feature_names
    prices = np.zeros(len(space.features))
    prices[places] = costs
    position = {int(place): number for number, place in enumerate(places)}
    notes: tuple[str, ...] = ()
    searches = (
        PanelSearch(space.near, space.features, space.ends, [int(places[j]) for j in some], prices, list(position))
        for some in (offered, more)
    )
    search = next(searches)
    if len(more) > len(offered) and not search.admits(search.offered):
        notes = (FILLED,)
        offered, search = more, next(searches)
    found = search.search(
        count,
        include=[int(places[j]) for j in include],
        max_size=max_size,
        time_limit=time_limit,
        solving=solving,
    )
    chosen = [sorted(position[j] for j in panel) for panel in found.chosen]
    panels = tuple(
        Panel(tuple(names[j] for j in panel), cost, score(panel), gap)
        for panel, cost, gap in zip(chosen, found.costs, found.gaps, strict=True)
    )
    whole = result.scores.get("cross_validated")
    return Panels(
        panels,
        tuple(names[j] for j in offered),
        str(result.scores.get("metric", "score")),
        score(range(len(names))) if whole is None else whole,
        found.complete,
        found.timed_out,
        notes if panels else (),
    )

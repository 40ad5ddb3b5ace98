"""What can stand in for a redundant feature, and what it costs to do without all of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from allrelevant.errors import SolverTimeout
from allrelevant.formulations import Feature
from allrelevant.lp import Targets
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.matrix import Indices
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.presets import WITHIN, excluded

__all__ = ["Exclusion", "Exclusions", "find_exclusions"]


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Features that no near-optimal model does without together, though it does without any but one of them.

    Attributes
    ----------
    features : tuple of int
        The feature asked about, first, and those that can stand in for it.
    needed : tuple of float
        Least relevance of each if all the others are excluded.
    loss_growth, norm_growth : float
        By how much, as a share, the least loss within the norm budget exceeds the baseline's if all are excluded, and
        the least norm within the loss budget; infinite if there is no such model.
    """

    features: tuple[int, ...]
    needed: tuple[float, ...]
    loss_growth: float
    norm_growth: float


class Exclusions:
    """Which features near-optimal models can do without together; one warm-started model answers all questions.

    Parameters
    ----------
    near : NearOptimalSet
        The models.
    features : sequence of Feature
        The features.
    until : float, default=inf
        Reading of the monotonic clock after which no question is answered any more.
    """

    def __init__(self, near: NearOptimalSet, features: Sequence[Feature], until: float = np.inf) -> None:
        self.near, self.features, self.until = near, features, until
        self._highs = HighsBounds(near.program, near.budget)

    def possible(self, chosen: Sequence[int]) -> bool:
        """Whether some near-optimal model uses none of the chosen features.

        Raises
        ------
        SolverTimeout
            If time is up.
        """
        near = self.near
        if time.monotonic() > self.until:
            raise SolverTimeout("time ran out; a larger time limit may help")
        self._exclude(chosen)
        w, b = self._highs.least_spending()
        room = near.budget.room(near.program.norm(w), near.program.loss(w, b))
        return bool(room >= -WITHIN * near.budget.norm)

    def blocking(self, feature: int, ranked: Sequence[int], always: Sequence[int] = ()) -> tuple[int, ...] | None:
        """Return features that near-optimal models can do without, but not together with the one asked about.

        They are excluded in the order given, as far as the feature can make up for them, until it cannot be excluded as
        well; then those are let in again that make no difference. Some are excluded `always`.

        Returns
        -------
        tuple of int or None
            Features of which none can be left out; empty if the feature alone cannot be excluded, None if it can be
            excluded whatever else is.
        """
        kept: list[int] = []
        ranked = list(ranked)
        while self.possible([*always, *kept, feature]):
            while ranked and not self.possible([*always, *kept, ranked[0]]):
                ranked.pop(0)
            if not ranked:
                return None
            kept.append(ranked.pop(0))
        for k in kept[:-1]:
            rest = [other for other in kept if other != k]
            if not self.possible([*always, *rest, feature]):
                kept = rest
        return tuple(kept)

    def describe(self, chosen: tuple[int, ...]) -> Exclusion:
        """Say what each of the features must do if the others are excluded, and what excluding all costs."""
        near = self.near
        needed = tuple(self._needed(k, [other for other in chosen if other != k]) for k in chosen)
        self._exclude(chosen)
        w, b = self._highs.least_spending()
        growth = {"loss": _growth(near.program.loss(w, b), near.rho), "norm": np.inf}
        w, b = self._highs.least_spending(limited=False)
        if near.program.loss(w, b) <= near.budget.loss:
            growth["norm"] = _growth(near.program.norm(self._highs.least_spending("norm")[0]), near.mu)
        return Exclusion(chosen, needed, growth["loss"], growth["norm"])

    def _needed(self, feature: int, others: Sequence[int]) -> float:
        """Least relevance of a feature if others are excluded."""
        one = self.features[feature]
        self._exclude(others)
        if one.total or len(one.weights) == 1:
            factors = np.abs(one.contrasts)
            w, _, _ = self._highs.solve(Targets(one.weights[None], np.zeros_like(factors), factors))
            return float((factors[0] * np.abs(w[0, one.weights])).sum()) / self.near.mu
        least = [self._least(one.weights, contrast) for contrast in one.contrasts]
        return max(least) / self.near.mu

    def _least(self, weights: Indices, contrast: np.ndarray) -> float:
        index, sides = np.repeat(weights[None], 2, axis=0), np.stack([contrast, -contrast])
        w, _, _ = self._highs.solve(Targets(index, sides))
        high, low = float(contrast @ w[0, weights]), float(contrast @ w[1, weights])
        return max(low, -high, 0.0)

    def _exclude(self, chosen: Sequence[int]) -> None:
        program = excluded(self.near, self.features, chosen)
        self._highs.set_box(program.lower, program.upper)


def _growth(spent: float, before: float) -> float:
    return float(spent) / before - 1.0 if before > 0.0 else np.inf


def find_exclusions(
    near: NearOptimalSet,
    features: Sequence[Feature],
    feature: int,
    ranked: Sequence[int],
    count: int,
    time_limit: float = np.inf,
) -> Iterator[Exclusion]:
    """Find up to so many sets of features that can stand in for one, which none is part of another.

    Parameters
    ----------
    near : NearOptimalSet
        The models.
    features : sequence of Feature
        The features.
    feature : int
        The one asked about.
    ranked : sequence of int
        Those that may stand in for it, the most likely first.
    count : int
        Number of sets.
    time_limit : float, default=inf
        Seconds that the search may take.

    Raises
    ------
    SolverTimeout
        When time is up; what was yielded until then holds.
    """
    asked = Exclusions(near, features, time.monotonic() + time_limit)
    found: list[frozenset[int]] = []
    waiting: list[frozenset[int]] = [frozenset()]
    seen = set(waiting)
    while waiting and len(found) < count:
        spared = waiting.pop(0)
        block = asked.blocking(feature, [k for k in ranked if k not in spared])
        if block is None:
            continue
        if frozenset(block) not in found:
            found.append(frozenset(block))
            yield asked.describe((feature, *block))
        for k in block:
            more = spared | {k}
            if more not in seen:
                seen.add(more)
                waiting.append(more)

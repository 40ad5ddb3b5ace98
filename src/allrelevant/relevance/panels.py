"""Panels: the cheapest sets of features that still admit a near-optimal model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from allrelevant.errors import SolverError, SolverTimeout
from allrelevant.formulations import Feature
from allrelevant.lp import Array
from allrelevant.lp.support import GAP, CheapestSupport
from allrelevant.relevance.intervals import Intervals
from allrelevant.relevance.nearoptimal import NearOptimalSet
from allrelevant.relevance.presets import excluded
from allrelevant.relevance.solving import Solving
from allrelevant.relevance.substitutes import Exclusions

__all__ = ["FoundPanels", "PanelSearch"]

#: Weights may exceed their proven bound by this share of the norm budget: what a proof leaves open.
ROOM = 1e-5
#: A feature is needed in every panel if its proven minRel is beyond what a proof leaves open.
NEEDED = 1e-5
#: Share of the time limit that preparations may take, and that the first panel always has.
PREPARATION, LEAST = 0.3, 0.3


@dataclass(frozen=True, eq=False)
class FoundPanels:
    """Panels in the order of their costs.

    Attributes
    ----------
    chosen : list of tuple of int
        Features of every panel.
    costs : list of float
        What it costs.
    gaps : list of float
        By how much, as a share, a cheaper panel that is not among those before might undercut it: 0 where it is proven
        that there is none, more where time ran out.
    complete : bool
        Whether there are no further panels.
    timed_out : bool
        Whether time ran out.
    """

    chosen: list[tuple[int, ...]]
    costs: list[float]
    gaps: list[float]
    complete: bool
    timed_out: bool


class PanelSearch:
    """Search for panels.

    Parameters
    ----------
    near : NearOptimalSet
        The models.
    features : sequence of Feature
        All features.
    ends : Intervals
        Their intervals.
    offered : sequence of int
        Features that panels may be made of.
    costs : ndarray of shape (n_features,)
        Cost of every feature.
    among : sequence of int
        Features that belong in a panel or not; others are free.
    """

    def __init__(
        self,
        near: NearOptimalSet,
        features: Sequence[Feature],
        ends: Intervals,
        offered: Sequence[int],
        costs: Array,
        among: Sequence[int],
    ) -> None:
        self.near, self.features, self.ends = near, features, ends
        self.offered, self.costs, self.among = list(offered), costs, among
        self._checks = Exclusions(near, features)
        self._banned = [k for k in among if k not in set(self.offered)]

    def admits(self, panel: Sequence[int]) -> bool:
        """Whether some near-optimal model uses no features but those of a panel."""
        return self._checks.possible([k for k in self.among if k not in set(panel)])

    def search(
        self,
        count: int,
        *,
        include: Sequence[int],
        max_size: int | None,
        time_limit: float,
        solving: Solving,
    ) -> FoundPanels:
        """Find the cheapest panels, none of which contains another.

        Raises
        ------
        SolverTimeout
            If time runs out before any panel is found.
        """
        found = FoundPanels([], [], [], False, False)
        began = time.monotonic()
        if not self.admits(self.offered):
            return replace(found, complete=True)
        if self.admits(include):
            return FoundPanels([tuple(sorted(include))], [float(self.costs[list(include)].sum())], [0.0], True, False)
        model = self._model(include, max_size, began + PREPARATION * time_limit)
        complete = timed_out = False
        with solving.progress.stage("panels", count):
            while len(found.chosen) < count and not complete:
                left = time_limit - (time.monotonic() - began)
                try:
                    support = model.solve(left if found.chosen else max(left, LEAST * time_limit))
                except SolverTimeout:
                    if not found.chosen:
                        raise
                    timed_out = True
                    break
                if support is None:
                    complete = True
                    break
                panel = [self.offered[k] for k in support.chosen]
                if not self.admits(panel):
                    # Weights as small as rounding allows were left outside: something else must come in.
                    outside = [k for k in range(len(self.offered)) if k not in support.chosen]
                    if not outside:
                        raise SolverError("the panel of all features admits no near-optimal model any more")
                    model.require(outside)
                    continue
                panel = self._smallest(panel, include)
                found.chosen.append(tuple(sorted(panel)))
                found.costs.append(float(self.costs[panel].sum()))
                proven = support.bound >= support.cost * (1.0 - GAP)
                found.gaps.append(0.0 if proven else 1.0 - max(support.bound, 0.0) / support.cost)
                timed_out = timed_out or not proven
                numbers = [self.offered.index(k) for k in panel if k not in include]
                if not numbers:
                    complete = True
                    break
                model.require(numbers, 0, len(numbers) - 1)
                solving.progress.step()
        return replace(found, complete=complete, timed_out=timed_out)

    def _smallest(self, panel: Sequence[int], include: Sequence[int]) -> list[int]:
        """Leave out what is not needed: features that cost nothing, or that time did not allow to drop."""
        kept = list(panel)
        for k in sorted(panel, key=lambda k: -self.costs[k]):
            rest = [other for other in kept if other != k]
            if k not in include and self.admits(rest):
                kept = rest
        return kept

    def _model(self, include: Sequence[int], max_size: int | None, until: float) -> CheapestSupport:
        near, program = self.near, self.near.program
        most = np.full(program.n_weights, near.budget.norm) / program.gamma
        for k in self.offered:
            weights = self.features[k].weights
            if len(weights) == 1 and self.ends.exact[k]:
                unit = abs(float(self.features[k].contrasts[0, 0]))
                limit = self.ends.maximum[k] * near.mu / unit + ROOM * near.budget.norm
                most[weights] = np.minimum(most[weights], limit)
        closed = excluded(near, self.features, self._banned)
        sets = [self.features[k].weights for k in self.offered]
        # Among panels of one cost the smaller ones come first.
        priced = self.costs[self.offered]
        tiny = 1e-7 * max(float(priced.max(initial=0.0)), 1e-9)
        model = CheapestSupport(closed, near.budget, sets, priced + tiny, most)
        for number, k in enumerate(self.offered):
            if k in include or self.ends.minimum[k] > NEEDED:
                model.fix(number)
        for block in self._blocks(until):
            model.require(block)
        if max_size is not None:
            model.require(range(len(self.offered)), 0, max_size)
        return model

    def _blocks(self, until: float) -> list[list[int]]:
        """Some sets of which every panel has a feature: they make the search shorter. The clock says until when."""
        out = []
        place = {k: number for number, k in enumerate(self.offered)}
        order = sorted(self.offered, key=lambda k: -self.ends.maximum[k])
        likeness = _likeness(self.near, self.features, self.offered)
        for k in order:
            if self.ends.minimum[k] > NEEDED:
                continue
            if time.monotonic() > until:
                break
            ranked = sorted((j for j in self.offered if j != k), key=lambda j: -likeness[place[k], place[j]])
            block = self._checks.blocking(k, ranked, self._banned)
            if block:
                out.append(sorted({place[k], *(place[j] for j in block)}))
        return [list(block) for block in dict.fromkeys(map(tuple, out))]


def _likeness(near: NearOptimalSet, features: Sequence[Feature], offered: Sequence[int]) -> Array:
    """Magnitude of the cosine of the columns of every two features; of several columns, the greatest."""
    weights = np.concatenate([features[k].weights for k in offered])
    columns = near.program.A[:, weights]
    columns = columns.toarray() if sparse.issparse(columns) else np.asarray(columns)
    length = np.sqrt((columns**2).sum(axis=0))
    columns = columns / np.where(length > 0.0, length, 1.0)
    every = np.abs(columns.T @ columns)
    starts = np.cumsum([0, *(len(features[k].weights) for k in offered)])[:-1]
    by_row = np.maximum.reduceat(every, starts, axis=0)
    return np.asarray(np.maximum.reduceat(by_row, starts, axis=1))

"""Points of a near-optimal set that are known already: mixtures of them meet limits without another large program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import linprog

from allrelevant.formulations import Feature
from allrelevant.lp import Array, Program, Targets
from allrelevant.lp.highs import HighsBounds
from allrelevant.relevance.nearoptimal import NearOptimalSet

__all__ = ["Starts"]


class Starts:
    """Known points of a near-optimal set.

    The set is convex, and so are the limits of its budgets: a mixture of points of the set is one of it. Whether some
    mixture meets limits is a program of a few variables.

    Parameters
    ----------
    near : NearOptimalSet
        The set.
    features : sequence of Feature
        The features.
    """

    def __init__(self, near: NearOptimalSet, features: Sequence[Feature]) -> None:
        self.near, self.features = near, features
        self._ends: dict[int, list[tuple[Array, Array]]] = {}

    def prepare(self, feature: int) -> None:
        """Find points in which a feature has its least and its greatest weights, if these are not known."""
        one = self.features[feature]
        if feature in self._ends or len(one.weights) > 1:
            return
        highs = HighsBounds(self.near.program, self.near.budget)
        weight, unit, none = one.weights[None], np.ones((1, 1)), np.zeros((1, 1))
        asked = [Targets(weight, none, unit), Targets(weight, unit), Targets(weight, -unit)]
        found = [highs.solve(target) for target in asked]
        self._ends[feature] = [(w[0], b[0]) for w, b, _ in found]

    def mixture(self, program: Program, held: Iterable[int]) -> tuple[Array, Array] | None:
        """Return a mixture that meets the bounds and the hard rows of a program, with as much of the baseline as can.

        Of the baseline and of the ends of the features that are held, so that it does not depend on what was asked
        before. None if there is no such mixture; there may be points of the set nevertheless.
        """
        points = [(self.near.w, self.near.b)]
        for feature in held:
            self.prepare(feature)
            points += self._ends.get(feature, [])
        W, B = (np.stack(part) for part in zip(*points, strict=True))
        boxed = np.flatnonzero(program.boxed)
        more = slice(self.near.program.n_hard, program.n_hard)
        rows = [W[:, boxed].T, -W[:, boxed].T, -(W @ program.G[more].T + B @ program.H[more].T).T]
        right = np.concatenate([program.upper[boxed], -program.lower[boxed], -program.h[more]])
        A, finite = np.vstack(rows), np.isfinite(right)
        cost = np.append(-1.0, np.zeros(len(points) - 1))
        found = linprog(cost, A[finite], right[finite], np.ones((1, len(points))), [1.0], method="highs")
        if found.status != 0:
            return None
        share = np.maximum(found.x, 0.0) / np.maximum(found.x, 0.0).sum()
        # What is fixed is so exactly, not only as exactly as a mixture is.
        w = np.clip(share @ W, program.lower, program.upper)
        return w, share @ B

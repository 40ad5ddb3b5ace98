"""What is asked of a program: batches of objectives, and the multipliers that answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allrelevant.lp.matrix import Array, Indices

__all__ = ["Duals", "Targets"]


@dataclass(frozen=True, eq=False)
class Targets:
    """A batch of objectives ``max Σ coefficient · w_index − charge · |w_index|``, summed over a few weights each.

    Attributes
    ----------
    index : ndarray of shape (t, k)
        The weights.
    coefficient : ndarray of shape (t, k)
        Their coefficients.
    charge : ndarray of shape (t, k) or None
        What a unit of their magnitude costs, at least 0: ``max −Σ |w_index|`` finds the least magnitude of a group.
    paired : int
        How many targets, first of all, follow each other in pairs of which only the greater value is wanted, as long as
        both are shown to reach 0: the two sides of a magnitude. The lesser need not be solved to the end.
    """

    index: Indices
    coefficient: Array
    charge: Array | None = None
    paired: int = 0

    @classmethod
    def single(cls, index: ArrayLike, sign: ArrayLike) -> Targets:
        """Objectives ``max sign · w_index`` of one weight each."""
        return cls(np.asarray(index, dtype=np.intp)[:, None], np.asarray(sign, dtype=float)[:, None])

    @classmethod
    def sides(cls, index: Indices, coefficient: Array) -> Targets:
        """Both sides of magnitudes ``|Σ coefficient · w_index|``, one pair each."""
        signs = np.tile([1.0, -1.0], len(index))[:, None]
        return cls(np.repeat(index, 2, axis=0), signs * np.repeat(coefficient, 2, axis=0), paired=2 * len(index))

    def __len__(self) -> int:
        return len(self.index)

    def take(self, chosen: Indices) -> Targets:
        """Some of the targets; pairs only where whole pairs are chosen."""
        charge = None if self.charge is None else self.charge[chosen]
        count = int(np.sum(chosen < self.paired))
        first, second = chosen[:count:2], chosen[1:count:2]
        whole = len(first) == len(second) and bool(np.all((first % 2 == 0) & (second == first + 1)))
        paired = count if whole and bool(np.all(chosen[:count] < self.paired)) else 0
        return Targets(self.index[chosen], self.coefficient[chosen], charge, paired)

    def outdone(self, lower: Array, upper: Array) -> NDArray[np.bool_]:
        """Mask of the targets that reach 0 and provably no further than the other of their pair."""
        out = np.zeros(len(self), dtype=bool)
        if self.paired:
            rival = np.arange(self.paired) ^ 1
            out[: self.paired] = (lower[: self.paired] >= 0.0) & (upper[: self.paired] <= lower[rival])
        return out

    def value(self, w: Array) -> Array:
        """Objectives at one point each."""
        chosen = np.take_along_axis(w, self.index, axis=1)
        value = (self.coefficient * chosen).sum(axis=1)
        return np.asarray(value if self.charge is None else value - (self.charge * np.abs(chosen)).sum(axis=1))

    def spread(self, values: Array, size: int) -> Array:
        """Values per listed weight as rows over all weights."""
        out = np.zeros((len(self), size))
        np.add.at(out, (np.arange(len(self))[:, None], self.index), values)
        return out


@dataclass(frozen=True, eq=False)
class Duals:
    """Multipliers, one row per target: of the hinge rows, of the hard rows, of the loss budget."""

    alpha: Array
    beta: Array
    lam: Array

    def take(self, chosen: Indices | NDArray[np.bool_]) -> Duals:
        """Those of some of the targets."""
        return Duals(self.alpha[chosen], self.beta[chosen], self.lam[chosen])

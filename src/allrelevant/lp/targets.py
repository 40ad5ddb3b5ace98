"""What is asked of a program: batches of objectives, with columns of their own, and the multipliers that answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allrelevant.lp.matrix import Array, Indices

__all__ = ["Columns", "Duals", "Targets"]


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns that each target of a batch brings along for the last ``m`` weights, which are empty in the program.

    Attributes
    ----------
    A, G : ndarray of shape (t, m, n), (t, m, n_hard)
        Their entries in the hinge rows and in the hard rows.
    u : ndarray of shape (t, m)
        Their part in the linear loss.
    """

    A: Array
    G: Array
    u: Array

    def slots(self, n_weights: int) -> slice:
        """Weights that the columns belong to, of a program that has so many."""
        return slice(n_weights - self.u.shape[1], n_weights)

    def forward(self, matrix: Array, w: Array) -> Array:
        """Contribution of the columns to the left sides at a batch of points."""
        return np.asarray(np.einsum("tm,tmn->tn", w[:, -self.u.shape[1] :], matrix))

    def pull(self, alpha: Array, beta: Array) -> Array:
        """What multipliers of the rows ask of the weights of the columns."""
        return np.asarray((self.A @ alpha[:, :, None] + self.G @ beta[:, :, None])[:, :, 0])

    def take(self, chosen: Indices) -> Columns:
        """Those of some of the targets; where they follow each other, without a copy."""
        some: Any = chosen
        if len(chosen) and np.array_equal(chosen, np.arange(chosen[0], chosen[0] + len(chosen))):
            some = slice(int(chosen[0]), int(chosen[0]) + len(chosen))
        return Columns(self.A[some], self.G[some], self.u[some])


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
    columns : Columns or None
        Columns of their own.
    paired : int
        How many targets, first of all, follow each other in pairs of which only the greater value is wanted, as long as
        both are shown to reach 0: the two sides of a magnitude. The lesser need not be solved to the end.
    own : ndarray of shape (t,) or None
        Which of the columns belong to each target, if not the first to the first and so on; for :meth:`take`, which
        copies no more than is taken.
    """

    index: Indices
    coefficient: Array
    charge: Array | None = None
    columns: Columns | None = None
    paired: int = 0
    own: Indices | None = None

    @classmethod
    def single(cls, index: ArrayLike, sign: ArrayLike, columns: Columns | None = None) -> Targets:
        """Objectives ``max sign · w_index`` of one weight each."""
        return cls(np.asarray(index, dtype=np.intp)[:, None], np.asarray(sign, dtype=float)[:, None], None, columns)

    @classmethod
    def sides(cls, index: Indices, coefficient: Array) -> Targets:
        """Both sides of magnitudes ``|Σ coefficient · w_index|``, one pair each."""
        signs = np.tile([1.0, -1.0], len(index))[:, None]
        return cls(np.repeat(index, 2, axis=0), signs * np.repeat(coefficient, 2, axis=0), paired=2 * len(index))

    @classmethod
    def followed(cls, first: Targets, second: Targets) -> Targets:
        """Objectives without columns of their own, followed by others, of as many weights each, that have such."""
        assert first.columns is None
        assert second.columns is not None
        assert not second.paired
        own, t = second.columns, len(first)
        columns = Columns(*(np.concatenate([np.zeros((t, *part.shape[1:])), part]) for part in (own.A, own.G, own.u)))
        index = np.concatenate([first.index, second.index])
        coefficient = np.concatenate([first.coefficient, second.coefficient])
        return cls(index, coefficient, None, columns, first.paired)

    def __len__(self) -> int:
        return len(self.index)

    def take(self, chosen: Indices) -> Targets:
        """Some of the targets; pairs only where whole pairs are chosen."""
        charge = None if self.charge is None else self.charge[chosen]
        own = chosen if self.own is None else self.own[chosen]
        columns = None if self.columns is None else self.columns.take(own)
        count = int(np.sum(chosen < self.paired))
        first, second = chosen[:count:2], chosen[1:count:2]
        whole = len(first) == len(second) and bool(np.all((first % 2 == 0) & (second == first + 1)))
        paired = count if whole and bool(np.all(chosen[:count] < self.paired)) else 0
        return Targets(self.index[chosen], self.coefficient[chosen], charge, columns, paired)

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

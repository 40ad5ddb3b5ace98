"""The targets of a batch, their iterates, and what these say of the optima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from allrelevant.lp.backend import Backend
from allrelevant.lp.matrix import Indices

if TYPE_CHECKING:
    from allrelevant.lp.rows import Rows

__all__ = ["Batch", "Optima", "State"]


class Optima(NamedTuple):
    """Weights, offsets, and the multipliers of hinge rows, hard rows and loss of every target."""

    w: Any
    b: Any
    alpha: Any
    beta: Any
    lam: Any


@dataclass
class State:
    """Iterates of a batch: primal and dual sides of all pairs in one array each, free offsets, norm budgets."""

    P: Any
    Z: Any
    b: Any
    m: Any

    def __len__(self) -> int:
        return len(self.P)

    def take(self, keep: Any) -> State:
        """Keep some of the targets."""
        return State(self.P[keep], self.Z[keep], self.b[keep], self.m[keep])

    def x(self, rows: Rows) -> Any:
        """Weights and offsets ``(w, b)``."""
        wp, wm, *_ = rows.parts
        return rows.backend.xp.concat([self.P[:, wp] - self.P[:, wm], self.b], axis=1)

    def begin(self, rows: Rows, batch: Batch) -> State:
        """Return the iterates over all rows: these."""
        return self

    def optima(self, rows: Rows, batch: Batch) -> Optima:
        """Return what the iterates say of the optima."""
        wp, wm, _, surplus, hard, loss, _ = rows.parts
        P, Z = self.P, self.Z
        return Optima(P[:, wp] - P[:, wm], self.b, Z[:, surplus], Z[:, hard], Z[:, loss][:, 0])

    def lifted(self, rows: Rows, every: Rows, batch: Batch, kept: Indices) -> State:
        """Return the iterates over every row, where these are over rows that were kept, for all targets or for each.

        The others stand where their margins have them, as well centred as these are on the average; in NumPy.
        """
        _, _, xi, surplus, _, _, norm = every.parts
        _, _, xi_kept, surplus_kept, _, loss_kept, _ = rows.parts
        margin = (every.forward(self.x(every), batch.columns) - every.right)[:, : every.n]
        mean = (every.backend.xp.vecdot(self.P, self.Z) / self.P.shape[1])[:, None]
        least = mean / (self.Z[:, loss_kept] * batch.s)
        P, Z = np.empty((2, len(margin), norm.stop))
        for part, distance in ((xi, -margin), (surplus, margin)):
            np.add(np.maximum(distance, 0.0), least, out=P[:, part])
            np.divide(mean, P[:, part], out=Z[:, part])
        for new, old in ((P, self.P), (Z, self.Z)):
            new[:, : xi.start], new[:, surplus.stop :] = old[:, : xi.start], old[:, surplus_kept.stop :]
            for part, part_kept in ((xi, xi_kept), (surplus, surplus_kept)):
                np.put_along_axis(new[:, part], np.atleast_2d(kept), old[:, part_kept], axis=1)
        return State(P, Z, self.b, self.m)

    def margins(self, rows: Rows) -> Any:
        """What hinge rows have beyond their right sides."""
        _, _, xi, surplus, *_ = rows.parts
        return self.P[:, surplus] - self.P[:, xi]

    def among(self, rows: Rows, kept: Indices, own: Rows, batch: Batch) -> State:
        """Return the iterates over some of the hinge rows, given by number for every target; in NumPy."""
        _, _, xi, surplus, *_ = rows.parts
        P, Z = (np.concatenate([
            part[:, : xi.start],
            *(np.take_along_axis(part[:, where], kept, axis=1) for where in (xi, surplus)),
            part[:, surplus.stop :],
        ], axis=1) for part in (self.P, self.Z))  # fmt: skip
        return State(P, Z, self.b, self.m)

    def put(self, places: Any, other: State) -> None:
        """Write others in the place of some of the targets."""
        self.P[places], self.Z[places], self.b[places], self.m[places] = other.P, other.Z, other.b, other.m

    def on(self, backend: Backend) -> State:
        """Return the same on another backend."""
        return State(*(backend.asarray(part) for part in (self.P, self.Z, self.b, self.m)))


@dataclass
class Batch:
    """What tells the targets of a batch apart.

    Attributes
    ----------
    goal : array of shape (t, d)
        Objectives: coefficients of the weights.
    charge : array of shape (t, d) or None
        Coefficients of their magnitudes.
    columns : array of shape (t, m, rows) or None
        Columns of their own, of all or of the last ones.
    linear : array of shape (t, d + p) or (1, d + p)
        Linear loss of weights and offsets.
    s : array of shape (t, n_slacks) or (1, n_slacks)
        Weights of the slacks.
    """

    goal: Any
    charge: Any
    columns: Any
    linear: Any
    s: Any

    def take(self, keep: Any) -> Batch:
        """Keep some of the targets."""
        linear, s = (part if part.shape[0] == 1 else part[keep] for part in (self.linear, self.s))
        charge, columns = None if self.charge is None else self.charge[keep], self.columns
        if columns is not None:
            others = len(self.goal) - len(columns)
            columns = columns[keep if not others else keep[keep >= others] - others]
            columns = columns if len(columns) else None
        return Batch(self.goal[keep], charge, columns, linear, s)

    def on(self, backend: Backend) -> Batch:
        """Return the same on another backend."""
        parts = self.goal, self.charge, self.columns, self.linear, self.s
        return Batch(*(None if part is None else backend.asarray(part) for part in parts))

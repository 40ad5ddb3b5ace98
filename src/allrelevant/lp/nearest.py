"""Rows of every target's own: for one target, most rows are decided long before it is solved.

Near its optimum, rows far from their right side have no slack, or one that is linear in the point, as in
:mod:`~allrelevant.lp.reduction`, but for this target alone, so that no more is left than a few rows per weight. If the
others turn out as they were taken to be, the optimum over these rows is that over all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.rows import Batch, Rows, State

__all__ = ["Nearest", "OwnRows", "lifted", "nearest_count"]

#: Rows that a target keeps, for each of its weights and offsets: more than any needed whose gap was below a
#: thousandth of the norm budget.
NEAREST = 3
#: How many times as many there must be for that to pay.
FEWER = 1.5
#: A row that is farther than this on the other side is not as it was taken to be.
OTHERWISE = 1e-9


def nearest_count(weights: int, rows: int, twins: int = 1) -> int:
    """How many of the rows targets of so many weights and offsets should keep; 0 if all.

    Rows of their own must be fewer, and take no more memory than the iterates. With twins, so many rows count as one.
    """
    count = NEAREST * twins * weights
    return count if FEWER * count < rows and count * weights <= 24 * (weights + rows) else 0


def lifted(rows: Rows, state: State, every: Rows, batch: Batch, kept: Indices) -> State:
    """Iterates over every row, given those over the rows that were kept for all targets.

    The others stand where their margins have them, as well centred as these are on the average.
    """
    wp, wm, xi, surplus, _, _, norm = every.parts
    _, _, xi_kept, surplus_kept, _, loss_kept, _ = rows.parts
    x = np.concatenate([state.P[:, wp] - state.P[:, wm], state.b], axis=1)
    margin = (every.forward(x, batch.columns) - every.right)[:, : every.n]
    mean = (every.backend.xp.vecdot(state.P, state.Z) / state.P.shape[1])[:, None]
    least = mean / (state.Z[:, loss_kept] * batch.s)
    P, Z = np.empty((2, len(margin), norm.stop))
    np.maximum(-margin, least, out=P[:, xi])
    np.maximum(margin, least, out=P[:, surplus])
    for part in (xi, surplus):
        np.divide(mean, P[:, part], out=Z[:, part])
    for new, old in ((P, state.P), (Z, state.Z)):
        new[:, : xi.start], new[:, surplus.stop :] = old[:, : xi.start], old[:, surplus_kept.stop :]
        new[:, xi.start + kept], new[:, surplus.start + kept] = old[:, xi_kept], old[:, surplus_kept]
    return State(P, Z, state.b, state.m)


class OwnRows(Rows):
    """Rows of every target's own, with its own columns in them.

    Parameters
    ----------
    rows : Rows
        The rows that all share.
    K : array of shape (t, n + m, d + p)
        Those of every target.
    right, s : array of shape (t, n + m) and (t, n)
        Their right sides, and the weights of their slacks.
    spent : array of shape (t,)
        Constant part of the loss.
    """

    def __init__(self, rows: Rows, K: Any, right: Any, s: Any, spent: Any) -> None:
        vars(self).update(vars(rows))
        self.K, self.right, self.s, self.spent = K, right, s, spent
        self.n = s.shape[1]
        self._divide(self.n)

    def take(self, keep: Any) -> OwnRows:
        """Return the rows of some of the targets."""
        return OwnRows(self, self.K[keep], self.right[keep], self.s[keep], self.spent[keep])

    def weigh(self, values: Any) -> Any:
        """Sums of values per slack, each times its weight."""
        return self.backend.xp.vecdot(values, self.s)

    def forward(self, x: Any, columns: Any) -> Any:
        """``A w + B b`` for every target."""
        return (self.K @ x[:, :, None])[:, :, 0]

    def gram(self, weights: Any) -> Any:
        """``[A B; G H]ᵀ diag(weights) [A B; G H]`` for every target."""
        # Not as a square: for matrices as small as these, BLAS is slower if it is to find one triangle only.
        return self.backend.xp.matrix_transpose(self.K * weights[:, :, None]) @ self.K

    def adjoint(self, rows: Any, columns: Any) -> Any:
        """``(Aᵀ rows, Bᵀ rows)`` for every target."""
        return (rows[:, None] @ self.K)[:, 0]


class Nearest:
    """The rows that are closest to their right side at the iterate of every target, and the way back; in NumPy.

    Parameters
    ----------
    rows : Rows
        All rows, no two with the same slack.
    state, batch : State, Batch
        The targets and where they are.
    count : int
        How many hinge rows each of them keeps.

    Attributes
    ----------
    rows, state, batch : OwnRows, State, Batch
        The same with the rows that are left. Residuals are not: they go with the first steps.
    """

    def __init__(self, rows: Rows, state: State, batch: Batch, count: int) -> None:
        _, _, xi, surplus, *_ = rows.parts
        n, t = rows.n, len(state.P)
        self._all, self._columns = rows, batch.columns
        margin = state.P[:, surplus] - state.P[:, xi]
        self._kept = np.argpartition(np.abs(margin), count, axis=1)[:, :count]
        self._side = np.sign(margin)
        np.put_along_axis(self._side, self._kept, 0.0, axis=1)
        s, right = (np.broadcast_to(part, (t, part.shape[-1])) for part in (batch.s, rows.right))
        linear = np.zeros((t, n + rows.m))
        self._weight = linear[:, :n] = np.where(self._side < 0.0, s, 0.0)
        self.rows = OwnRows(
            rows,
            rows.gather(self._kept, batch.columns),
            np.concatenate([self._left(right[:, :n]), right[:, n:]], axis=1),
            self._left(s),
            rows.backend.xp.vecdot(linear, right),
        )
        P, Z = (
            np.concatenate(
                [part[:, : xi.start], self._left(part[:, xi]), self._left(part[:, surplus]), part[:, surplus.stop :]],
                axis=1,
            )
            for part in (state.P, state.Z)
        )
        self.state = State(P, Z, state.b, state.m)
        self.batch = Batch(
            batch.goal, batch.charge, None, batch.linear - rows.adjoint(linear, batch.columns), self.rows.s
        )

    def _left(self, values: Array) -> Array:
        return np.take_along_axis(values, self._kept, axis=1)

    def alpha(self, state: State) -> Array:
        """Multipliers of all hinge rows: 0 or the full weight of those that are left out."""
        _, _, _, surplus, _, loss, _ = self.rows.parts
        out: Array = state.Z[:, loss] * self._weight
        np.put_along_axis(out, self._kept, state.Z[:, surplus], axis=1)
        return out

    def otherwise(self, x: Array) -> NDArray[np.bool_]:
        """Which targets have a row that is not as it was taken to be, at the points ``x = (w, b)``."""
        rows = self._all
        margin = (rows.forward(x, self._columns) - rows.right)[:, : rows.n]
        return np.asarray(np.min(margin * self._side, axis=1) < -OTHERWISE)

"""Rows of every target's own: for one target, most rows are decided long before it is solved.

Near its optimum, rows far from their right side have no slack, or one that is linear in the point, as in
:mod:`~allrelevant.lp.reduction`, but for this target alone, so that no more is left than a few rows per weight. If the
others turn out as they were taken to be, the optimum over these rows is that over all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.iterates import Batch, Optima, State
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.rows import Rows

__all__ = ["Nearest", "OwnRows", "Start", "nearest_count"]

#: Rows that a target keeps, for each of its weights and offsets: as many as nearly all need whose gap was below a
#: thousandth of the norm budget.
NEAREST = 2.5
#: How many times as many there must be for that to pay.
FEWER = 1.5
#: Targets whose rows are multiplied together: as many as a fast cache holds.
AT_ONCE = 16
#: A row that is farther than this on the other side is not as it was taken to be.
OTHERWISE = 1e-9
#: How NumPy calls AVX-512 among the features of a processor.
WIDE = re.compile("^AVX512|^X86_V4")

#: Products of matrices and vectors, one by one: of NumPy from 2.2 on, in two thirds of the time.
_forward: Callable[[Any, Any], Any] = getattr(np, "matvec", lambda K, x: (K @ x[:, :, None])[:, :, 0])
_adjoint: Callable[[Any, Any], Any] = getattr(np, "vecmat", lambda rows, K: (rows[:, None] @ K)[:, 0])


def nearest_count(weights: int, rows: int, twins: int = 1) -> int:
    """How many of the rows targets of so many weights and offsets should keep; 0 if all.

    Rows of their own must be fewer, and take no more memory than the iterates. With twins, so many rows count as one.
    """
    count = int(NEAREST * twins * weights)
    return count if FEWER * count < rows and count * weights <= 24 * (weights + rows) else 0


@cache
def _squares_pay() -> bool:
    """Whether the product of a small matrix with itself, of which BLAS finds one triangle only, takes less time.

    With the kernels of OpenBLAS for AVX2, a fifth less; with those for AVX-512, the whole product takes a third less.
    """
    about: Any = np.show_config(mode="dicts")
    features = about.get("SIMD Extensions", {})  # what would be empty is not there at all
    return not any(WIDE.search(name) for kind in ("baseline", "found") for name in features.get(kind, ()))


def _places_of_least(values: Any, count: int) -> Indices:
    """Places of so many least values of every row."""
    t, n = values.shape
    # Finding the value at the border takes half the time of finding the places, and will do where it stands there once.
    within = np.flatnonzero(values < np.partition(values, count, axis=1)[:, count, None])
    if len(within) == t * count:
        return np.asarray(within.reshape(t, count) - n * np.arange(t)[:, None])
    return np.asarray(np.argpartition(values, count, axis=1)[:, :count])


class Start(Protocol):
    """Where a batch of targets begins: at iterates, or at what leads to them.

    Attributes
    ----------
    P : array of shape (t, pairs)
        Primal sides of the pairs, of which those of the weights come first.
    """

    P: Any

    def __len__(self) -> int:
        """How many targets there are."""

    def take(self, keep: Any) -> Start:
        """Keep some of the targets."""

    def begin(self, rows: Rows, batch: Batch) -> State:
        """Iterates over all rows."""

    def optima(self, rows: Rows, batch: Batch) -> Optima:
        """What is known of the optima."""

    def lifted(self, rows: Rows, every: Rows, batch: Batch, kept: Indices) -> Start:
        """The same over every row, of which those that stand here were kept."""

    def margins(self, rows: Rows) -> Any:
        """What the hinge rows have beyond their right sides."""

    def among(self, rows: Rows, kept: Indices, own: Rows, batch: Batch) -> State:
        """Iterates over some of the hinge rows, given by number for every target, and as its own rows and batch."""


class OwnRows(Rows):
    """Rows of every target's own, with its own columns in them; in NumPy.

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
        return _forward(self.K, x)

    def gram(self, weights: Any) -> Any:
        """``[A B; G H]ᵀ diag(weights) [A B; G H]`` for every target."""
        (t, n, size), dtype, squares = self.K.shape, self.K.dtype, _squares_pay()
        factors = np.sqrt(weights) if squares else weights
        out, weighted = np.empty((t, size, size), dtype), np.empty((min(t, AT_ONCE), n, size), dtype)
        for first in range(0, t, AT_ONCE):
            some = slice(first, min(first + AT_ONCE, t))
            part = np.multiply(self.K[some], factors[some, :, None], out=weighted[: some.stop - first])
            np.matmul(part.transpose(0, 2, 1), part if squares else self.K[some], out=out[some])
        return out

    def adjoint(self, rows: Any, columns: Any) -> Any:
        """``(Aᵀ rows, Bᵀ rows)`` for every target."""
        return _adjoint(rows, self.K)


class Nearest:
    """The rows that are closest to their right side at the iterate of every target, and the way back; in NumPy.

    Parameters
    ----------
    rows : Rows
        All rows, no two with the same slack.
    start, batch : Start, Batch
        Where the targets begin, and what they are.
    count : int
        How many hinge rows each of them keeps.

    Attributes
    ----------
    rows, state, batch : OwnRows, State, Batch
        The same with the rows that are left. Residuals are not: they go with the first steps.
    renewed : bool
        Whether any of the targets has had other rows.
    """

    def __init__(self, rows: Rows, start: Start, batch: Batch, count: int) -> None:
        self.renewed = False
        margin = start.margins(rows)
        self._kept = _places_of_least(np.abs(margin), count)
        self._side = np.sign(margin)
        np.put_along_axis(self._side, self._kept, 0.0, axis=1)
        self._collect(rows, batch)
        self.state = start.among(rows, self._kept, self.rows, self.batch)

    def _collect(self, rows: Rows, batch: Batch) -> None:
        """Gather what is left of the rows."""
        n, t = rows.n, len(self._kept)
        self._all, self._batch = rows, batch
        s, right = (np.broadcast_to(part, (t, part.shape[-1])) for part in (batch.s, rows.right))
        linear = np.zeros((t, n + rows.m), dtype=s.dtype)
        # A product: choosing by a mask takes ten times as long.
        self._weight = np.multiply(self._side < 0.0, s, out=linear[:, :n])
        self.rows = OwnRows(
            rows,
            rows.gather(self._kept, batch.columns),
            np.concatenate([self._left(right[:, :n]), right[:, n:]], axis=1),
            self._left(s),
            rows.backend.xp.vecdot(linear, right),
        )
        self.batch = Batch(
            batch.goal, batch.charge, None, batch.linear - rows.adjoint(linear, batch.columns), self.rows.s
        )

    def go_on(self, rows: Rows, batch: Batch, state: State) -> None:
        """Let the rows, with the iterates that have been reached, be those of another precision."""
        self._collect(rows, batch)
        self.state = state.on(rows.backend)
        self.state.m = np.full(len(state), rows.budget.norm)

    def _left(self, values: Array) -> Array:
        return np.take_along_axis(values, self._kept, axis=1)

    def alpha(self, state: State) -> Array:
        """Multipliers of all hinge rows: 0 or the full weight of those that are left out."""
        _, _, _, surplus, _, loss, _ = self.rows.parts
        out: Array = state.Z[:, loss] * self._weight
        np.put_along_axis(out, self._kept, state.Z[:, surplus], axis=1)
        return out

    def otherwise(self, x: Array, some: Any = slice(None)) -> NDArray[np.bool_]:
        """Which of some targets have a row that is not as it was taken to be, at the points ``x = (w, b)``."""
        rows, batch, side = self._all, self._batch, self._side
        if not isinstance(some, slice):
            rows, batch, side = rows.take(some), batch.take(some), side[some]
        margin = (rows.forward(x, batch.columns) - rows.right)[:, : rows.n]
        return np.asarray(np.min(margin * side, axis=1) < -OTHERWISE)

    def renew(self, some: Indices, rows: OwnRows, state: State, batch: Batch) -> Indices:
        """Choose other rows for those of some targets that have one on its other side; return their places.

        Their rows, iterates and what else is given of them are replaced.
        """
        places = np.flatnonzero(self.otherwise(state.x(rows), some))
        if len(places):
            who, self.renewed = some[places], True
            every, whole = self._all.take(who), self._batch.take(who)
            own = state.take(places).lifted(rows, every, whole, self._kept[who])
            _, _, xi, surplus, _, loss, _ = every.parts
            # What has crossed its margin is likely to end there: its multiplier may become anything.
            crossed = own.margins(every) * self._side[who] < 0.0
            half = 0.5 * own.Z[:, loss] * whole.s
            for part in (xi, surplus):
                own.Z[:, part] = np.where(crossed, half, own.Z[:, part])
            new = Nearest(every, own, whole, rows.n)
            self._kept[who], self._side[who], self._weight[who] = new._kept, new._side, new._weight
            rows.K[places], rows.right[places] = new.rows.K, new.rows.right
            rows.s[places], rows.spent[places] = new.rows.s, new.rows.spent
            batch.linear[places], batch.s[places] = new.batch.linear, new.batch.s
            state.put(places, new.state)
        return places

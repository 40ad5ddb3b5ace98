"""The rows of a program over a batch of targets."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from allrelevant.lp.backend import Backend
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.table import Table
from allrelevant.lp.targets import Columns

__all__ = ["Rows", "StackedRows"]


class Rows:
    """All rows ``[A B; G H]`` as an operator over a batch, with columns of the targets' own for the last weights.

    Such columns are an array of shape (t, m, rows), of the last ``t`` targets; the same weights are empty for others.
    Where rows are followed by their mirror images, and columns are so too, they leave out the latter.

    Parameters
    ----------
    program, budget : Program, Budget
        What is solved.
    backend : Backend
        Where to compute.
    packed_bytes : float, default=inf
        How much the products of all pairs of columns may take to be kept; that pays for large batches.
    mirrors : bool, default=True
        Whether to look for rows that are followed by their negatives.

    Attributes
    ----------
    parts : list of slice
        Where ``w⁺, w⁻, ξ``, the surplus of the hinge rows, that of the hard rows, and the room of the loss and of the
        norm budget lie among the pairs.
    rows : slice
        Where the surplus of all rows lies.
    gamma_twice : array of shape (2 * d,)
        Costs of both sides of the weights.
    wide : bool
        Whether there are fewer rows than weights and offsets.
    mirrored : int
        How many hinge rows, first of all, are followed by their negatives: for products these are no rows of their own.
    twins : int
        2 where mirror images have their edges in one place, as the two sides of a tube without width do; 1 elsewhere.
    spent : float or array of shape (t,)
        Constant part of the loss.
    """

    def __init__(
        self,
        program: Program,
        budget: Budget,
        backend: Backend,
        *,
        packed_bytes: float = float("inf"),
        mirrors: bool = True,
    ) -> None:
        self.program, self.backend, self._packed_bytes = program, backend, packed_bytes
        # Plain numbers, which leave arrays in their precision.
        price = None if budget.price is None else float(budget.price)
        self.budget = Budget(float(budget.norm), float(budget.loss), price)
        array = backend.asarray
        K = np.concatenate([program.A, program.B], axis=1)
        if program.n_hard:
            K = np.concatenate([K, np.concatenate([program.G, program.H], axis=1)])
        self.right, self.s = array(np.concatenate([program.r, program.h])), array(program.s)
        self.gamma, self.linear = array(program.gamma), array(np.concatenate([program.u, program.v]))
        self.gamma_twice = array(np.tile(program.gamma, 2))
        self.slacks, self.of_row = program.slacks, backend.indices(program.slacks.of_row)
        self.n, self.m, self.d, self.p = program.n_rows, program.n_hard, program.n_weights, program.n_offsets
        self.spent: Any = 0.0
        self._divide(program.slacks.count)
        self.wide = self.n + self.m < self.d + self.p
        self.mirrored = _mirrored(K[: self.n]) if mirrors and not (self.wide or self.slacks.shared) else 0
        h = self.mirrored
        self.twins = 2 if h and np.array_equal(program.r[:h], -program.r[h : 2 * h]) else 1
        distinct = K[:h] if 2 * h == len(K) else np.delete(K, slice(h, 2 * h), axis=0)
        self.K, self.KT = array(K), array(distinct.T)
        self.left = array(distinct) if self.mirrored else self.K
        self.table = self._table()

    def _divide(self, n_slacks: int) -> None:
        """Say where everything lies among the pairs."""
        sizes = [0, self.d, self.d, n_slacks, self.n, self.m, 1, 1]
        self.parts = [slice(a, b) for a, b in pairwise(np.cumsum(sizes).tolist())]
        self.rows = slice(self.parts[3].start, self.parts[4].stop)

    def _table(self) -> Table:
        """What is factored, which changes with every iterate where rows share slacks."""
        factored = (self.KT[: self.d], self.K[:, : self.d]) if self.wide else (self.left, self.KT)
        return Table(self.backend, *factored, self._packed_bytes if self.wide or not self.slacks.shared else 0.0)

    def on(self, backend: Backend) -> Rows:
        """Return the same on a backend with arrays of the same kind."""
        out = copy(self)
        out.backend = backend
        for name in ("right", "s", "gamma", "gamma_twice", "linear", "K", "KT"):
            setattr(out, name, backend.asarray(getattr(self, name)))
        out.left = backend.asarray(self.left) if self.mirrored else out.K
        out.table = out._table()
        return out

    def take(self, keep: Any) -> Rows:
        """Return the rows of some of the targets: all have the same."""
        return self

    def loss_limit(self, m: Any) -> Any:
        """Loss budget that goes with norm budgets `m`."""
        budget = self.budget
        whole = 0.0 * m + budget.loss if budget.price is None else (budget.norm - m) / budget.price
        return whole - self.spent

    def weigh(self, values: Any) -> Any:
        """Sums of values per slack, each times its weight."""
        return values @ self.s

    def per_row(self, values: Any) -> Any:
        """Values per slack as values per hinge row."""
        return values[..., self.of_row] if self.slacks.shared else values

    def per_slack(self, values: Any) -> Any:
        """Sums over the hinge rows of every slack."""
        return self.backend.total(values, self.slacks) if self.slacks.shared else values

    def whole(self, columns: Columns | None) -> Any:
        """Columns over all rows, hinge and hard, of shape (t, m, rows), or over those that are no mirror images."""
        if columns is None:
            return None
        every, h = np.concatenate([columns.A, columns.G], axis=2), self.mirrored
        if h and np.array_equal(every[:, :, h : 2 * h], -every[:, :, :h]):
            every = np.delete(every, slice(h, 2 * h), axis=2)
        return self.backend.asarray(every)

    def folds(self, columns: Any) -> bool:
        """Whether columns, if there are any, are those of rows that are no mirror images."""
        return columns is None or columns.shape[-1] == len(self.left)

    def slots(self, columns: Any) -> slice:
        """Weights that columns of shape (t, m, rows) belong to."""
        return slice(self.d - columns.shape[1], self.d)

    @staticmethod
    def owners(targets: Any, columns: Any) -> slice:
        """Which of the targets, given anything of theirs, have columns of their own: the last ones."""
        return slice(len(targets) - len(columns), len(targets))

    def sides(self, values: Any) -> Any:
        """View of the two sides of the weights, of shape (t, 2, d), among values of all pairs."""
        return values[:, : 2 * self.d].reshape(len(values), 2, self.d)

    def net(self, values: Any) -> Any:
        """What pairs of surplus and slack add to every row: the surplus less the slack."""
        _, _, xi, surplus, *_ = self.parts
        if not self.m:
            return values[:, surplus] - self.per_row(values[:, xi])
        out = 1.0 * values[:, self.rows]
        out[:, : self.n] -= self.per_row(values[:, xi])
        return out

    def forward(self, x: Any, columns: Any) -> Any:
        """``A w + B b`` for every target, with ``x = (w, b)`` or weights alone."""
        return self._unfolded(self.folded_forward(x, columns))

    def folded_forward(self, x: Any, columns: Any) -> Any:
        """The same for rows that are no mirror images or, where columns are none of these, for all."""
        out = self._forward(x)
        if columns is not None:
            out = out if self.folds(columns) else self._unfolded(out)
            own, slots = self.owners(x, columns), self.slots(columns)
            for k in range(columns.shape[1]):
                out[own] += x[own, slots.start + k, None] * columns[:, k]
        return out

    def add(self, values: Any, more: Any) -> None:
        """Add to values per hinge row those of rows that are no mirror images, or of all."""
        h, n = self.mirrored, self.n
        if not self._is_folded(more):
            values += more[:, :n]
            return
        values[:, :h] += more[:, :h]
        values[:, h : 2 * h] -= more[:, :h]
        if 2 * h < n:
            values[:, 2 * h :] += more[:, h : n - h]

    def _is_folded(self, values: Any) -> bool:
        """Whether values leave out mirror images that there are."""
        return self.mirrored > 0 and values.shape[1] == len(self.left)

    def _unfolded(self, values: Any) -> Any:
        """Values per row, given those of rows that are no mirror images, or of all."""
        h = self.mirrored
        if not self._is_folded(values):
            return values
        return self.backend.xp.concat([values[:, :h], -values[:, :h], values[:, h:]], axis=1)

    def _forward(self, x: Any) -> Any:
        """The same without columns, for rows that are no mirror images."""
        return x @ (self.KT if x.shape[1] > self.d else self.KT[: self.d])

    def gather(self, kept: Indices, columns: Any) -> Any:
        """Some of the hinge rows for every target, and all hard rows, of shape (t, rows, d + p)."""
        hard = np.broadcast_to(np.arange(self.n, self.n + self.m), (len(kept), self.m))
        chosen = self.backend.indices(np.concatenate([kept, hard], axis=1))
        out = self.backend.xp.take(self.K, chosen.reshape(-1), axis=0).reshape(*chosen.shape, -1)
        if columns is None:
            return out
        own, slots, h = self.owners(chosen, columns), self.slots(columns), self.mirrored
        place = chosen[own]
        image = (place >= h) & (place < 2 * h) if self.folds(columns) and h else None
        if image is not None:
            place = place - h * (place >= h)
        for k in range(columns.shape[1]):
            values = self.backend.pick(columns[:, k], place)
            out[own, :, slots.start + k] = values if image is None else self.backend.xp.where(image, -values, values)
        return out

    def gram(self, weights: Any) -> Any:
        """``[A B; G H]ᵀ diag(weights) [A B; G H]`` for every target."""
        return self._gram(self.folded(weights))

    def _gram(self, weights: Any) -> Any:
        """The same, given weights of rows that are no mirror images."""
        return self.backend.gram(self.table, weights)

    def folded(self, rows: Any, combine: Callable[[Any, Any], Any] = operator.add) -> Any:
        """Values per row as values per row that is no mirror image, combined with those of the mirror images."""
        return rows if self._is_folded(rows) else self.fold(rows, combine)

    def fold(self, rows: Any, combine: Callable[[Any, Any], Any] = operator.add) -> Any:
        """The same for values of which it is known that they leave out nothing, of hinge rows alone or of all."""
        h = self.mirrored
        if not h:
            return rows
        both = combine(rows[:, :h], rows[:, h : 2 * h])
        return both if 2 * h == rows.shape[1] else self.backend.xp.concat([both, rows[:, 2 * h :]], axis=1)

    def adjoint(self, rows: Any, columns: Any) -> Any:
        """``(Aᵀ rows, Bᵀ rows)`` for every target."""
        folded = self.folded(rows, operator.sub)
        out = self._adjoint(folded)
        if columns is not None:
            own = self.owners(rows, columns)
            values = folded if self.folds(columns) else rows
            out[own, self.slots(columns)] = self.backend.xp.vecdot(columns, values[own, None])
        return out

    def _adjoint(self, rows: Any) -> Any:
        """The same without columns, given values of rows that are no mirror images."""
        return rows @ self.left


def _mirrored(hinge: Array) -> int:
    """How many of the first rows are followed by their negatives, such as the two sides of a tube; 0 if not all are."""
    n = len(hinge)

    def places() -> Iterator[int]:
        yield n // 2
        yield from np.flatnonzero((hinge == -hinge[:1]).all(axis=1))[:1].tolist()

    return next((h for h in places() if h and 2 * h <= n and np.array_equal(hinge[h : 2 * h], -hinge[:h])), 0)


class StackedRows(Rows):
    """Rows of several programs of one shape, for targets that stand program by program.

    Parameters
    ----------
    each : sequence of Rows
        The rows of the programs, all with as many mirror images.
    ends : ndarray of shape (n_programs,)
        Where, among the targets, those of each program end.
    right : array of shape (t, rows)
        Right sides of every target.
    """

    def __init__(self, each: Sequence[Rows], ends: Indices, right: Any) -> None:
        vars(self).update(vars(each[0]))
        self.each, self.ends, self.right = each, ends, right
        self.twins = max(rows.twins for rows in each)
        starts = np.append(0, ends[:-1])
        #: The rows of every program, and where its targets are.
        self.places = [(rows, slice(a, b)) for rows, a, b in zip(each, starts, ends, strict=True) if b > a]

    def on(self, backend: Backend) -> StackedRows:
        """Return the same on a backend with arrays of the same kind."""
        return StackedRows([rows.on(backend) for rows in self.each], self.ends, backend.asarray(self.right))

    def take(self, keep: Any) -> StackedRows:
        """Return the rows of some of the targets."""
        return StackedRows(self.each, np.searchsorted(keep, self.ends), self.right[keep])

    def _joined(self, part: Callable[[Rows, slice], Any]) -> Any:
        """What programs have for their targets, for all targets."""
        return self.backend.xp.concat([part(rows, some) for rows, some in self.places])

    def _forward(self, x: Any) -> Any:
        return self._joined(lambda rows, some: rows._forward(x[some]))

    def _adjoint(self, rows: Any) -> Any:
        return self._joined(lambda own, some: own._adjoint(rows[some]))

    def _gram(self, weights: Any) -> Any:
        return self._joined(lambda rows, some: rows._gram(weights[some]))

    def gather(self, kept: Indices, columns: Any) -> Any:
        """Some of the hinge rows for every target, and all hard rows, of shape (t, rows, d + p)."""
        return self._joined(lambda rows, some: rows.gather(kept[some], None))

"""The one linear program behind every bound, in canonical form, and what its points may spend.

With weights ``w``, free offsets ``b`` and slacks ``ξ``, one per hinge row or one that several rows share::

    hinge rows   A w + B b + ξ ≥ r,   ξ ≥ 0
    hard rows    G w + H b ≥ h
    box          lower ≤ w ≤ upper
    norm(w)      = Σ_k γ_k |w_k|
    loss(w, b)   = s·ξ + u·w + v·b

Two problems are posed over it: the *penalised* one, ``min norm + C · loss``, and the *bound*, ``max g·w`` over all
points whose norm and loss stay within a :class:`Budget`. Nothing here knows what the numbers stand for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from allrelevant.lp.matrix import Array, Indices, Matrix, as_matrix

__all__ = ["Budget", "Duals", "Program", "Slacks", "Targets"]


def _vector(value: ArrayLike | None, size: int, default: float, name: str) -> Array:
    if value is None:
        return np.full(size, default)
    array = np.ascontiguousarray(value, dtype=float)
    if array.shape != (size,):
        raise ValueError(f"{name} has shape {array.shape}, expected ({size},)")
    return array


def _matrix(value: ArrayLike | None, shape: tuple[int, int], name: str) -> Array:
    if value is None:
        return np.zeros(shape)
    array = np.ascontiguousarray(value, dtype=float)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    return array


@dataclass(frozen=True, eq=False)
class Slacks:
    """Which hinge rows share a slack.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    count : int
        Number of slacks.
    given : ndarray of shape (n_rows,) or None
        Slack of every row, in ascending order; None if each has its own, as an array of all rows would be a waste.
    """

    n_rows: int
    count: int
    given: Indices | None = None

    @classmethod
    def of(cls, of_row: Indices, n_rows: int) -> Slacks:
        """Slacks by the one of every row, from 0 in steps of 0 or 1."""
        steps = np.diff(of_row, prepend=-1) if of_row.shape == (n_rows,) else np.array([-1])
        if n_rows and (steps[0] != 1 or not np.isin(steps, (0, 1)).all()):
            raise ValueError(
                f"slack must have one number per row, from 0 in steps of 0 or 1; its shape is {of_row.shape}"
            )
        count = int(of_row[-1]) + 1 if n_rows else 0
        return cls(n_rows, count, of_row if count < n_rows else None)

    @property
    def of_row(self) -> Indices:
        """Slack of every row."""
        return np.arange(self.n_rows) if self.given is None else self.given

    @property
    def shared(self) -> bool:
        """Whether any slack has more than one row."""
        return self.given is not None

    @cached_property
    def starts(self) -> Indices:
        """First row of every slack."""
        return np.flatnonzero(np.diff(self.of_row, prepend=-1))

    @cached_property
    def matrix(self) -> Any:
        """Sparse matrix of shape (n, count) with a 1 for the slack of every row."""
        n = self.n_rows
        return sparse.csr_array((np.ones(n), (np.arange(n), self.of_row)), shape=(n, self.count))

    @cached_property
    def _sums(self) -> Any:
        # Sums are taken for one target at a time, and a transpose of scipy's takes longer than its product.
        return self.matrix.T

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values per slack (last axis) as values per row."""
        return values[..., self.of_row] if self.shared else values

    def greatest(self, values: Array) -> Array:
        """Greatest value of the rows of every slack."""
        return np.asarray(np.maximum.reduceat(values, self.starts, axis=-1)) if self.shared else values

    def total(self, values: Array) -> Array:
        """Sum of the values of the rows of every slack."""
        if not self.shared:
            return values
        flat = values.reshape(-1, values.shape[-1])
        return np.asarray((self._sums @ flat.T).T).reshape(*values.shape[:-1], self.count)

    def take(self, kept: Indices) -> tuple[Slacks, Indices]:
        """The slacks of some of the rows, and where they were before."""
        if not self.shared:
            return Slacks(len(kept), len(kept)), kept
        left, of_row = np.unique(self.of_row[kept], return_inverse=True)
        return Slacks.of(of_row.reshape(-1), len(kept)), left


@dataclass(frozen=True, eq=False)
class Program:
    """Frozen data of the canonical program; make it with :meth:`build`.

    Attributes
    ----------
    A, B, r : ndarray of shape (n, d), (n, p), (n,)
        Hinge rows. `A` may be a ``csr_array``.
    s : ndarray of shape (n_slacks,)
        Weights of the slacks.
    G, H, h : ndarray of shape (m, d), (m, p), (m,)
        Hard rows.
    gamma : ndarray of shape (d,)
        Positive weights of the norm.
    u, v : ndarray of shape (d,), (p,)
        Linear part of the loss.
    lower, upper : ndarray of shape (d,)
        Box bounds of the weights, infinite where there are none.
    slacks : Slacks
        Which hinge rows share a slack.
    """

    A: Matrix
    B: Array
    r: Array
    s: Array
    G: Array
    H: Array
    h: Array
    gamma: Array
    u: Array
    v: Array
    lower: Array
    upper: Array
    slacks: Slacks

    @classmethod
    def build(
        cls,
        A: ArrayLike | Matrix,
        B: ArrayLike,
        r: ArrayLike,
        *,
        s: ArrayLike | None = None,
        G: ArrayLike | None = None,
        H: ArrayLike | None = None,
        h: ArrayLike | None = None,
        gamma: ArrayLike | None = None,
        u: ArrayLike | None = None,
        v: ArrayLike | None = None,
        slack: ArrayLike | None = None,
    ) -> Program:
        """Check shapes and fill in what was left out (unit weights, no hard rows, no linear loss, no box).

        Rows with the same number in `slack`, which ascends from 0 in steps of 1, share a slack.
        """
        A = as_matrix(A)
        if A.ndim != 2:
            raise ValueError(f"A has {A.ndim} dimensions, expected 2")
        n, d = A.shape
        B = np.ascontiguousarray(B, dtype=float)
        if B.ndim != 2 or len(B) != n:
            raise ValueError(f"B has shape {B.shape}, expected ({n}, number of offsets)")
        p = B.shape[1]
        m = 0 if h is None else len(np.atleast_1d(np.asarray(h)))
        slacks = Slacks(n, n) if slack is None else Slacks.of(np.asarray(slack, dtype=np.intp), n)
        program = cls(
            A=A,
            B=B,
            r=_vector(r, n, 0.0, "r"),
            s=_vector(s, slacks.count, 1.0, "s"),
            G=_matrix(G, (m, d), "G"),
            H=_matrix(H, (m, p), "H"),
            h=_vector(h, m, 0.0, "h"),
            gamma=_vector(gamma, d, 1.0, "gamma"),
            u=_vector(u, d, 0.0, "u"),
            v=_vector(v, p, 0.0, "v"),
            lower=np.full(d, -np.inf),
            upper=np.full(d, np.inf),
            slacks=slacks,
        )
        if not (program.s >= 0).all():
            raise ValueError("s has negative entries; weights of slacks must be >= 0")
        if not (program.gamma > 0).all():
            raise ValueError("gamma has entries <= 0; weights of the norm must be > 0")
        return program

    @property
    def n_rows(self) -> int:
        """Number of hinge rows."""
        return int(self.A.shape[0])

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return len(self.gamma)

    @property
    def n_offsets(self) -> int:
        """Number of offsets."""
        return int(self.B.shape[1])

    @property
    def n_hard(self) -> int:
        """Number of hard rows."""
        return len(self.h)

    @property
    def row_weight(self) -> Array:
        """Weight of the slack of every hinge row."""
        return self.slacks.rows(self.s)

    @cached_property
    def boxed(self) -> NDArray[np.bool_]:
        """Mask of the weights with a finite bound."""
        return np.isfinite(self.lower) | np.isfinite(self.upper)

    @property
    def is_sparse(self) -> bool:
        """Whether the hinge rows are kept as a sparse matrix."""
        return bool(sparse.issparse(self.A))

    def with_box(self, lower: ArrayLike, upper: ArrayLike) -> Program:
        """Return the program with other box bounds, sharing all data."""
        d = self.n_weights
        return replace(self, lower=_vector(lower, d, 0.0, "lower"), upper=_vector(upper, d, 0.0, "upper"))

    def rows(self, w: Array, b: Array) -> Array:
        """Left sides ``A w + B b`` of the hinge rows, for one point or a batch of points."""
        left = np.asarray(w @ self.A.T)
        left += self.lift(b)
        return left

    def lift(self, b: Array) -> Array:
        """What offsets add to the left sides of the hinge rows, ``B b``, for one point or a batch."""
        # A product of matrices takes three times as long with one column.
        return np.asarray(b * self.B[:, 0] if self.n_offsets == 1 else b @ self.B.T)

    def pull(self, alpha: Array, beta: Array) -> Array:
        """What multipliers of the rows ask of the weights, ``Aᵀα + Gᵀβ``, for a batch of multipliers."""
        out = np.asarray(alpha @ self.A)
        return out + beta @ self.G if self.n_hard else out

    def norm(self, w: Array) -> Any:
        """Norm of one point or of each of a batch."""
        return np.abs(w) @ self.gamma

    def hard_rows(self, w: Array, b: Array) -> Array:
        """Left sides ``G w + H b`` of the hard rows, for one point or a batch of points."""
        return np.asarray(w @ self.G.T + b @ self.H.T)

    def loss(self, w: Array, b: Array) -> Any:
        """Loss of one point or of each of a batch, with the least slacks possible."""
        left = self.rows(w, b)
        slack = self.slacks.greatest(np.subtract(self.r, left, out=left).clip(0.0, np.inf, out=left))
        return slack @ self.s + w @ self.u + b @ self.v

    def hard_violation(self, w: Array, b: Array) -> Any:
        """Largest violation of a hard row or of the box, 0 if there is none."""
        return np.maximum(-self.hard_rooms(w, b), 0.0).max(axis=-1, initial=0.0)

    def hard_rooms(self, w: Array, b: Array) -> Array:
        """What is left of every hard row, and of both sides of the box where there is one; negative outside."""
        rooms = self.hard_rows(w, b) - self.h if self.n_hard else np.zeros((*w.shape[:-1], 0))
        return np.concatenate([rooms, w - self.lower, self.upper - w], axis=-1) if self.boxed.any() else rooms


@dataclass(frozen=True)
class Budget:
    """What a point may spend: ``norm(w) ≤ norm`` and ``loss(w, b) ≤ loss``, or both from one purse.

    Attributes
    ----------
    norm : float
        Limit of the norm; with a price, of the norm and the priced loss together.
    loss : float
        Limit of the loss; infinite with a price.
    price : float or None
        With a price `C` the one limit is ``norm(w) + C · loss(w, b) ≤ norm``.
    """

    norm: float
    loss: float = np.inf
    price: float | None = None

    def room(self, norm: Any, loss: Any) -> Any:
        """What is left, of the scarcer of the two limits; negative outside. For losses that are never negative."""
        return self.rooms(norm, loss).min(axis=-1)

    def rooms(self, norm: Any, loss: Any) -> Array:
        """What is left of each limit, last axis; negative outside."""
        if self.price is not None:
            return np.stack([self.norm - norm - self.price * loss], axis=-1)
        return np.stack([self.norm - norm, self.loss - loss], axis=-1)

    def less_loss(self, amount: float) -> Budget:
        """The budget that is left when so much loss is accounted for elsewhere."""
        if self.price is not None:
            return Budget(self.norm - self.price * amount, price=self.price)
        return Budget(self.norm, self.loss - amount)


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

"""Copies: columns that are equal, or each other's negatives, so that one weight can do whatever the other can.

Of many copies a model needs but one: moving the weights of all to the first changes no row and makes the norm no
larger. For the bounds of a copy it takes two, one that is bounded and one that stands for all the others. Multipliers
ask the same of all of them, so what they prove of the smaller program they prove of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from allrelevant.lp.matrix import Array, Indices, Matrix, as_matrix, entries, reach
from allrelevant.lp.program import Program
from allrelevant.lp.targets import Targets

__all__ = ["FewerCopies", "distinct_columns", "equal_columns", "equal_weights"]

#: Share of the weights that must be left out for that to pay.
WORTH = 0.1


def equal_columns(matrix: Matrix, beside: Array | None = None) -> tuple[Indices, Array]:
    """For every column the first that equals it, or its negative, and the sign by which they differ.

    Further rows may be given `beside` the matrix.
    """
    most = reach(matrix)
    if beside is not None:
        most = np.maximum(most, np.max(np.abs(beside), axis=0, initial=0.0))
    first, sign = np.arange(len(most)), np.ones(len(most))
    # Equal columns reach equally far: mostly there is nothing more to compare.
    order = np.argsort(most, kind="stable")
    same = np.flatnonzero(np.diff(most[order]) == 0.0)
    rivals = np.sort(order[np.union1d(same, same + 1)]).tolist()
    seen: dict[bytes, tuple[int, float]] = {}
    # Digests, because all columns together are as large as the data.
    for k, (rows, values) in zip(rivals, _columns(matrix, rivals), strict=True):
        whole = values if beside is None else np.concatenate([values, beside[:, k]])
        sign[k] = -1.0 if len(whole) and whole[np.argmax(whole != 0.0)] < 0.0 else 1.0
        digest = blake2b(rows + (whole * sign[k] + 0.0).tobytes()).digest()
        first[k], other = seen.setdefault(digest, (k, sign[k]))
        sign[k] *= other
    return first, sign


def _columns(matrix: Matrix, some: list[int]) -> Iterator[tuple[bytes, Array]]:
    """Values of columns and, of sparse ones, the rows of what is stored."""
    if sparse.issparse(matrix):
        yield from ((rows.tobytes(), values) for rows, values in entries(matrix, some))
    else:
        yield from ((b"", np.ascontiguousarray(matrix[:, k])) for k in some)


def distinct_columns(matrix: Matrix) -> Indices | None:
    """Columns of which no two are equal, or each other's negatives; None if these are nearly all."""
    d = matrix.shape[1]
    kept = np.flatnonzero(equal_columns(matrix)[0] == np.arange(d))
    return kept if len(kept) <= (1.0 - WORTH) * d else None


def equal_weights(program: Program) -> tuple[Indices, Array]:
    """For every weight the first that can stand for it, and the sign by which they differ.

    Weights that are bounded, and those that stand in no hinge row, which may be given columns, stand by themselves.
    """
    d, c, boxed = program.n_weights, program.A.shape[1], program.boxed
    first, sign = np.arange(d), np.ones(d)
    first[:c], sign[:c] = equal_columns(program.A, np.vstack([program.G[:, :c], program.u[None, :c]]))
    unlike = (program.gamma != program.gamma[first]) | boxed | boxed[first]
    return np.where(unlike, np.arange(d), first), np.where(unlike, 1.0, sign)


@dataclass(frozen=True, eq=False)
class FewerCopies:
    """A program with no more than two of any copies, and the way back.

    Attributes
    ----------
    program : Program
        The smaller program.
    kept : ndarray of int
        Weights that are left.
    group : ndarray of shape (d,)
        The first copy of every weight of the whole program.
    place, sign : ndarray of shape (d,)
        The weight of the smaller program that stands for each, and the sign by which the two differ.
    """

    program: Program
    kept: Indices
    group: Indices
    place: Indices
    sign: Array

    @classmethod
    def of(cls, program: Program) -> FewerCopies | None:
        """Leave out all copies but two; None if that leaves out few."""
        first, sign = equal_weights(program)
        every = np.arange(program.n_weights)
        others = np.flatnonzero(first != every)
        second = others[np.unique(first[others], return_index=True)[1]]
        if len(others) - len(second) < WORTH * len(every) or len(second) == len(others):
            return None
        stands = first.copy()
        stands[second] = second
        kept = np.flatnonzero(stands == every)
        smaller = replace(
            program,
            A=as_matrix(program.A[:, kept[kept < program.A.shape[1]]]),
            G=program.G[:, kept],
            gamma=program.gamma[kept],
            u=program.u[kept],
            lower=program.lower[kept],
            upper=program.upper[kept],
        )
        return cls(smaller, kept, first, np.searchsorted(kept, stands), np.where(stands == every, 1.0, sign))

    def weights(self, w: Array) -> Array:
        """Weights of a point of the smaller program that does the same."""
        return np.bincount(self.place, self.sign * w, minlength=len(self.kept)).astype(float)

    def targets(self, targets: Targets) -> Targets | None:
        """State targets for the smaller program; None if one of them is about several copies."""
        index = targets.index
        if index.shape[1] > 1:
            group = np.where(_counting(targets), self.group[index], -1 - np.arange(index.shape[1]))
            if (np.diff(np.sort(group, axis=1), axis=1) == 0).any():
                return None
        return replace(targets, index=self.place[index], coefficient=targets.coefficient * self.sign[index])

    def points(self, w: Array, targets: Targets) -> Array:
        """Points of the whole program, given those of the smaller one that belong to targets."""
        out = np.zeros((len(w), len(self.place)))
        out[:, self.kept] = w
        moved = (self.kept[self.place[targets.index]] != targets.index) & _counting(targets)
        row, column = np.nonzero(moved)
        index = targets.index[row, column]
        stand_in = self.kept[self.place[index]]
        out[row, index] = self.sign[index] * out[row, stand_in]
        out[row, stand_in] = 0.0
        return out


def _counting(targets: Targets) -> NDArray[np.bool_]:
    """Mask of the weights that have a part in their target; others are there to fill up."""
    charge = 0.0 if targets.charge is None else targets.charge
    return np.asarray((targets.coefficient != 0.0) | np.not_equal(charge, 0.0))

"""Copies: columns that are equal, or each other's negatives, so that one weight can do whatever the other can.

Of many copies a model needs but one: moving the weights of all to the first changes no row and makes the norm no
larger. What bounds one of them bounds all.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from scipy import sparse

from allrelevant.lp.matrix import Array, Indices, Matrix, entries, reach
from allrelevant.lp.program import Program

__all__ = ["distinct_columns", "equal_columns", "equal_weights"]

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

    Weights that are bounded stand by themselves.
    """
    d, boxed = program.n_weights, program.boxed
    first, sign = equal_columns(program.A, np.vstack([program.G, program.u[None]]))
    unlike = (program.gamma != program.gamma[first]) | boxed | boxed[first]
    return np.where(unlike, np.arange(d), first), np.where(unlike, 1.0, sign)

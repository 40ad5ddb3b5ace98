"""Products of all pairs of columns, for matrices that are multiplied with themselves under many weights."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from allrelevant.lp.backend import Backend

__all__ = ["Table"]


class Table:
    """A matrix of which ``Fᵀ diag(weights) F`` is wanted for many weights.

    If there is room for the products of all pairs of its columns, `packed_bytes` at most if they are doubles, and the
    backend wants so many, that is one product of matrices for all.
    """

    def __init__(self, backend: Backend, matrix: Any, transposed: Any, packed_bytes: float) -> None:
        rows, size = matrix.shape
        self.backend, self.F, self.FT, self.size = backend, matrix, transposed, size
        self.n_pairs = size * (size + 1) // 2
        self.packed = size <= backend.packed_size and 8 * rows * self.n_pairs <= min(packed_bytes, backend.packed_bytes)

    @cached_property
    def pairs(self) -> Any:
        """Products of all pairs of columns, one pair after the other; made when first asked for."""
        out = self.backend.empty((self.F.shape[0], self.n_pairs))
        for k in range(self.size):  # column by column: with many of them twice as fast as by index
            first = k * (k + 1) // 2
            out[:, first : first + k + 1] = self.F[:, : k + 1] * self.F[:, k : k + 1]
        return out

    @cached_property
    def place(self) -> Any:
        """Place of every entry of the matrix among the pairs."""
        return self.backend.indices(_places(self.size))


@lru_cache(maxsize=8)
def _places(size: int) -> Any:
    """Place of every entry of a symmetric matrix among its lower half, row by row."""
    i, j = np.tril_indices(size)
    place = np.zeros((size, size), dtype=np.intp)
    place[i, j] = place[j, i] = np.arange(len(i))
    return place.ravel()

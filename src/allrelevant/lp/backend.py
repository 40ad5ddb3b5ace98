"""Arrays and the few kernels of linear algebra that the interior-point engine needs, on NumPy or on torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import array_api_compat.numpy
import numpy as np
from scipy.linalg import lapack

from allrelevant.errors import MissingExtra
from allrelevant.lp.program import Slacks
from allrelevant.lp.table import Table

__all__ = ["Backend", "NumpyBackend", "TorchBackend", "diagonal", "get_backend", "has_gpu"]

#: How much a batch should take on a CPU, where larger ones are no faster.
BATCH_BYTES = 2**25
#: Share, in units of the precision, by which the diagonal of a matrix is raised that rounding spoilt.
RAISED = 450
#: Bytes that are read in the time that the update of a matrix takes.
UPDATE_BYTES = 2**21
#: Arrays up to this size are kept for the next of their kind.
KEPT_BYTES = 2**24


def has_gpu() -> bool:
    """Whether torch is installed and sees a GPU."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def get_backend(device: str) -> Backend:
    """Return NumPy for the CPU, torch for a GPU.

    Raises
    ------
    MissingExtra
        If a GPU is asked for and torch is not installed.
    ValueError
        If torch sees no GPU.
    """
    if device == "cpu":
        return NumpyBackend()
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtra("torch", "gpu", f"device={device!r}") from error
    if not has_gpu():
        raise ValueError(f"device={device!r}, but torch sees no GPU; use device='cpu' or install a build with CUDA")
    return TorchBackend(device)


def diagonal(matrices: Any) -> Any:
    """View of the diagonals of contiguous square matrices."""
    t, size, _ = matrices.shape
    return matrices.reshape(t, size * size)[:, :: size + 1]


class Backend(ABC):
    """Where the arrays live.

    Attributes
    ----------
    xp : module
        Their namespace, by the array API standard.
    packed_size, packed_bytes : float
        How many columns a matrix may have, and how many bytes the products of their pairs, for
        :class:`~allrelevant.lp.table.Table` to make use of these.
    batch_bytes : int
        How much a batch should take.
    alone : context manager
        To be held by whoever solves a batch, where that is one at a time.
    epsilon : float
        Relative distance of neighbouring numbers.
    """

    xp: Any
    epsilon: float = float(np.finfo(float).eps)
    packed_size: float
    packed_bytes: float
    batch_bytes: int
    alone: AbstractContextManager[Any]

    @abstractmethod
    def single(self) -> Backend | None:
        """Return the same with numbers of single precision; None where these are no faster."""

    @abstractmethod
    def asarray(self, values: Any) -> Any:
        """Floating-point numbers on this backend, contiguous."""

    @abstractmethod
    def indices(self, values: Any) -> Any:
        """Integers on this backend."""

    @abstractmethod
    def to_numpy(self, values: Any) -> Any:
        """Back to NumPy."""

    @abstractmethod
    def zeros(self, shape: tuple[int, ...]) -> Any:
        """Zeros on this backend."""

    @abstractmethod
    def empty(self, shape: tuple[int, ...]) -> Any:
        """Numbers on this backend that are yet to be written."""

    @abstractmethod
    def least(self, values: Any) -> Any:
        """Least value of every row; what the array API has for it is slow on small arrays."""

    @abstractmethod
    def greatest(self, values: Any) -> Any:
        """Greatest value of every row."""

    @abstractmethod
    def spread(self, values: Any, index: Any, size: int) -> Any:
        """Sums of values per index, of shape (t, k) both, as rows of a given size."""

    @abstractmethod
    def clip(self, values: Any, lower: float | None, upper: float | None) -> Any:
        """Values within two numbers; what the array API has for it is slow on small arrays."""

    @abstractmethod
    def pick(self, values: Any, index: Any) -> Any:
        """One value per index along the second axis, row by row."""

    @abstractmethod
    def total(self, values: Any, slacks: Slacks) -> Any:
        """Sum of values per row (last axis) over the rows of every slack."""

    @abstractmethod
    def heaviest(self, values: Any, slacks: Slacks) -> Any:
        """First row with the greatest value of every slack, for values of shape (t, n)."""

    @abstractmethod
    def gram(self, table: Table, weights: Any) -> Any:
        """``Fᵀ diag(weights) F`` for every row of weights."""

    @abstractmethod
    def factor(self, matrices: Any) -> Any:
        """What :meth:`solve` takes: Cholesky factors, perhaps in place.

        Matrices are raised a little where rounding spoilt them.
        """

    @abstractmethod
    def solve(self, factors: Any, right: Any) -> Any:
        """Solve for right sides of shape (t, sides, size), perhaps in their place."""


@dataclass
class Cholesky:
    """Matrices, or their Cholesky factors once these are ready."""

    matrices: Any
    ready: bool = False

    @cached_property
    def columnwise(self) -> list[Any]:
        """The matrices in the order that LAPACK wants: a symmetric one is its own transpose."""
        return list(self.matrices.transpose(0, 2, 1))


class NumpyBackend(Backend):
    """NumPy, with BLAS and LAPACK called matrix by matrix where that beats batches."""

    xp = array_api_compat.numpy
    # Beyond, one update of each matrix is faster.
    packed_size, packed_bytes = 128, 20 * 2**20
    batch_bytes = BATCH_BYTES
    alone = nullcontext()

    def __init__(self, dtype: Any = np.float64) -> None:
        self._dtype, self.epsilon = np.dtype(dtype), float(np.finfo(dtype).eps)
        self._potrf, self._potrs, self._posv = lapack.get_lapack_funcs(("potrf", "potrs", "posv"), dtype=self._dtype)
        # The allocator of glibc learns from what is freed how much to keep: otherwise it returns the arrays of every
        # step to the system, and a tenth of the time goes into getting them back, page by page.
        np.empty(KEPT_BYTES // 8)

    def single(self) -> NumpyBackend:
        """Return the same with numbers of single precision."""
        return NumpyBackend(np.float32)

    def asarray(self, values: Any) -> Any:
        """Floating-point numbers on this backend, contiguous."""
        return np.ascontiguousarray(values, dtype=self._dtype)

    def indices(self, values: Any) -> Any:
        """Integers on this backend."""
        return np.asarray(values, dtype=np.intp)

    def to_numpy(self, values: Any) -> Any:
        """Back to NumPy."""
        return values

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """Zeros on this backend."""
        return np.zeros(shape, dtype=self._dtype)

    def empty(self, shape: tuple[int, ...]) -> Any:
        """Numbers on this backend that are yet to be written."""
        return np.empty(shape, dtype=self._dtype)

    def least(self, values: Any) -> Any:
        """Least value of every row."""
        return np.minimum.reduce(values, axis=1)

    def greatest(self, values: Any) -> Any:
        """Greatest value of every row."""
        return np.maximum.reduce(values, axis=1)

    def spread(self, values: Any, index: Any, size: int) -> Any:
        """Sums of values per index, of shape (t, k) both, as rows of a given size."""
        out = self.zeros((len(values), size))
        np.add.at(out, (np.arange(len(values))[:, None], index), values)
        return out

    def clip(self, values: Any, lower: float | None, upper: float | None) -> Any:
        """Values within two numbers."""
        # With both numbers in half the time.
        return values.clip(-np.inf if lower is None else lower, np.inf if upper is None else upper)

    def pick(self, values: Any, index: Any) -> Any:
        """One value per index along the second axis, row by row."""
        return np.take_along_axis(values, index, axis=1)

    def total(self, values: Any, slacks: Slacks) -> Any:
        """Sum of values per row (last axis) over the rows of every slack."""
        return slacks.total(values)

    def heaviest(self, values: Any, slacks: Slacks) -> Any:
        """First row with the greatest value of every slack, for values of shape (t, n)."""
        n = values.shape[1]
        rank = np.where(values == slacks.rows(slacks.greatest(values)), np.arange(n, 0, -1), 0)
        return n - slacks.greatest(rank)

    def gram(self, table: Table, weights: Any) -> Any:
        """``Fᵀ diag(weights) F`` for every row of weights."""
        t, size = len(weights), table.size
        # All pairs are read, and made at first, for one target as for many: that takes as long as a few updates.
        if table.packed and t > 1 + len(table.F) * table.n_pairs * self._dtype.itemsize // UPDATE_BYTES:
            return np.take(weights @ table.pairs, table.place, axis=1).reshape(t, size, size)
        out = np.empty((t, size, size), dtype=self._dtype)
        root, scaled = np.sqrt(weights), np.empty_like(table.FT)
        for k in range(t):
            np.multiply(table.FT, root[k], out=scaled)
            np.matmul(scaled, scaled.T, out=out[k])  # one triangle, mirrored
        return out

    def factor(self, matrices: Any) -> Cholesky:
        """What :meth:`solve` takes; it factors in place, with the first right sides at hand."""
        return Cholesky(np.ascontiguousarray(matrices))

    def solve(self, factors: Cholesky, right: Any) -> Any:
        """Solve for right sides of shape (t, sides, size), in their place."""
        right = np.ascontiguousarray(right)  # or LAPACK would work on a copy
        matrices = factors.columnwise
        sides = right[:, 0] if right.shape[1] == 1 else right.transpose(0, 2, 1)
        if factors.ready:
            for factor, some in zip(matrices, sides, strict=True):
                self._potrs(factor, some, 1, 1)
            return right
        diagonals = diagonal(factors.matrices).copy()
        for k, (matrix, some) in enumerate(zip(matrices, sides, strict=True)):
            if self._posv(matrix, some, 1, 1, 1)[2]:
                self._raise(factors.matrices[k], diagonals[k])
                self._potrs(matrix, some, 1, 1)
        factors.ready = True
        return right

    def _raise(self, matrix: Any, main: Any) -> None:
        """Factor a matrix that was found not to be positive, raised as little as need be."""
        info, shift = 1, RAISED * self.epsilon
        while info and shift < 1.0:
            lower = np.tril(matrix, -1)  # the half that is still whole
            matrix[...] = lower + lower.T + np.diag(main * (1.0 + shift))
            _, info = self._potrf(matrix.T, lower=1, clean=0, overwrite_a=1)
            shift *= 100


class TorchBackend(Backend):
    """Torch in double precision, on the CPU or on a GPU, in batches throughout.

    Parameters
    ----------
    device : str
        Device of torch, such as ``"cuda"``.
    """

    packed_size, packed_bytes = np.inf, 2**33
    # Several at once would take as many times the memory and be no faster.
    alone = Lock()

    def __init__(self, device: str = "cpu") -> None:
        import array_api_compat.torch
        import torch

        self.xp = array_api_compat.torch
        self._torch = torch
        self.device = torch.device(device)
        cuda = self.device.type == "cuda"
        self.batch_bytes = torch.cuda.get_device_properties(self.device).total_memory // 4 if cuda else BATCH_BYTES

    def single(self) -> None:
        """Return None: it is the number of its steps that a GPU spends its time on."""

    def asarray(self, values: Any) -> Any:
        """Floating-point numbers on this backend, contiguous."""
        return self._torch.as_tensor(values, dtype=self._torch.float64, device=self.device).contiguous()

    def indices(self, values: Any) -> Any:
        """Integers on this backend."""
        return self._torch.as_tensor(np.asarray(values), dtype=self._torch.int64, device=self.device)

    def to_numpy(self, values: Any) -> Any:
        """Back to NumPy."""
        return values.detach().cpu().numpy()

    def zeros(self, shape: tuple[int, ...]) -> Any:
        """Zeros on this backend."""
        return self._torch.zeros(shape, dtype=self._torch.float64, device=self.device)

    def empty(self, shape: tuple[int, ...]) -> Any:
        """Numbers on this backend that are yet to be written."""
        return self._torch.empty(shape, dtype=self._torch.float64, device=self.device)

    def least(self, values: Any) -> Any:
        """Least value of every row."""
        return values.amin(dim=1)

    def greatest(self, values: Any) -> Any:
        """Greatest value of every row."""
        return values.amax(dim=1)

    def spread(self, values: Any, index: Any, size: int) -> Any:
        """Sums of values per index, of shape (t, k) both, as rows of a given size."""
        return self.zeros((len(values), size)).scatter_add_(1, self.indices(index), self.asarray(values))

    def clip(self, values: Any, lower: float | None, upper: float | None) -> Any:
        """Values within two numbers."""
        return values.clamp(lower, upper)

    def pick(self, values: Any, index: Any) -> Any:
        """One value per index along the second axis, row by row."""
        return self._torch.take_along_dim(values, index, dim=1)

    def total(self, values: Any, slacks: Slacks) -> Any:
        """Sum of values per row (last axis) over the rows of every slack."""
        out = values.new_zeros((*values.shape[:-1], slacks.count))
        return out.index_add_(values.ndim - 1, self.indices(slacks.of_row), values)

    def heaviest(self, values: Any, slacks: Slacks) -> Any:
        """First row with the greatest value of every slack, for values of shape (t, n)."""
        n, group = values.shape[1], self.indices(slacks.of_row)
        place = group.expand(values.shape)
        most = values.new_zeros((len(values), slacks.count)).scatter_reduce(
            1, place, values, "amax", include_self=False
        )
        rank = self._torch.where(values == most[:, group], self._torch.arange(n, 0, -1, device=self.device), 0)
        first = rank.new_zeros((len(values), slacks.count)).scatter_reduce(1, place, rank, "amax", include_self=False)
        return n - first

    def gram(self, table: Table, weights: Any) -> Any:
        """``Fᵀ diag(weights) F`` for every row of weights."""
        t, size = len(weights), table.size
        if table.packed:
            return (weights @ table.pairs)[:, table.place].reshape(t, size, size)
        scaled = table.F[None] * weights.sqrt()[:, :, None]
        return scaled.transpose(1, 2) @ scaled

    def factor(self, matrices: Any) -> Any:
        """Cholesky factors, perhaps in place; matrices are raised a little where rounding spoilt them."""
        torch = self._torch
        factors, info = torch.linalg.cholesky_ex(matrices)
        shift = RAISED * self.epsilon
        while shift < 1.0 and bool((info != 0).any()):
            bad = info.nonzero()[:, 0]
            raised = matrices[bad].clone()
            raised.diagonal(dim1=1, dim2=2).mul_(1.0 + shift)
            factors[bad], info[bad] = torch.linalg.cholesky_ex(raised)
            shift *= 100
        return factors

    def solve(self, factors: Any, right: Any) -> Any:
        """Solve for right sides of shape (t, sides, size), perhaps in their place."""
        return self._torch.cholesky_solve(right.transpose(1, 2), factors).transpose(1, 2)

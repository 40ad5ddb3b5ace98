"""The penalised problem by HiGHS: one model in the dual form, for one penalty after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from allrelevant.lp.matrix import Array, Indices, entries
from allrelevant.lp.program import Program
from allrelevant.lp.simplex import BASIC, DUAL, INFINITY, LOWER, TOLERANCE, UPPER, Simplex, indices
from allrelevant.lp.targets import Duals

__all__ = ["HighsPenalised"]

#: Multipliers of the penalised model that are limited by less than this are given in a smaller unit.
SMALL_MULTIPLIERS = 1e-5
#: Loss that is none, as a share of what the rows ask for.
NO_LOSS = 1e-12
#: Weights that are none, as a share of the mean.
NO_WEIGHT = 1e-5
#: Up to this many weights all their rows stand in the penalised model from the start; beyond, they are generated.
ALL_WEIGHTS = 300


class HighsPenalised(Simplex):
    """The penalised problem ``min norm + C · loss``, in the dual form, by warm-started dual simplex.

    The dual has one bounded column per row of the program and one row per weight and offset::

        max r·α + h·β   with   |Aᵀα + Gᵀβ − C u| / γ ≤ 1,   Bᵀα + Hᵀβ = C v,   0 ≤ α ≤ C s,   β ≥ 0

    (with sums of α over the rows that share a slack, in rows of their own), so its basis is small, another `C` changes
    bounds only, and dual simplex flips bounds in passing: measured five times faster than the primal form. A weight
    whose row is slack is 0, hence rows of weights can be generated as they are violated, which is what makes many more
    weights than rows affordable.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(DUAL)
        self.program = program
        n, d, m = program.n_rows, program.n_weights, program.n_hard
        if d <= ALL_WEIGHTS:
            first = np.arange(d)
        else:
            pull = np.abs((program.r * program.row_weight) @ program.A) / program.gamma
            first = np.argsort(-pull, kind="stable")[:ALL_WEIGHTS]
        self._weights, self._unit = first, 1.0
        everything = np.zeros(n + m)
        width = self._row_bounds(0.0)[1]
        lower = np.append(np.full(self._n_sums, -INFINITY), -width)
        upper = np.append(np.zeros(self._n_sums), width)
        self._load(
            self._matrix_rows(first),
            -np.concatenate([program.r, program.h]),
            (everything, everything + INFINITY),
            (lower, upper),
        )

    @property
    def _n_sums(self) -> int:
        """Rows, before all others, that limit sums of multipliers."""
        slacks = self.program.slacks
        return slacks.count if slacks.shared else 0

    def _matrix_rows(self, weights: Any) -> Any:
        program, slacks = self.program, self.program.slacks
        if not program.is_sparse:
            n, p = program.n_rows, program.n_offsets
            columns = np.empty((n + program.n_hard, p + len(weights)))
            columns[:n, :p], columns[n:, :p] = program.B, program.H
            for part, matrix in ((columns[:n, p:], program.A), (columns[n:, p:], program.G)):
                np.divide(matrix[:, weights], program.gamma[weights], out=part)
            rows = _compressed(columns).T
        else:
            rows = sparse.vstack([sparse.csr_array(np.vstack([program.B, program.H]).T), self._columns(weights).T])
        if not slacks.shared:
            return rows
        return sparse.vstack([sparse.hstack([slacks.matrix.T, sparse.csr_array((slacks.count, program.n_hard))]), rows])

    def _columns(self, weights: Indices) -> Any:
        """Columns of some weights over all rows, divided by their part in the norm."""
        program = self.program
        parts = [sparse.csc_array(matrix[:, weights]) for matrix in (program.A, program.G)]
        columns = sparse.vstack(parts, format="csc")
        columns.data /= np.repeat(program.gamma[weights], np.diff(columns.indptr))
        return columns

    def begin(self, C: float, w: Array, b: Array) -> None:
        """Let the next solution for this `C` begin near a point, such as the optimum for some of the rows.

        In the basis of an optimum stand the weights that are 0 and, for every other one and every offset, a row at its
        margin; all other rows are beyond their margin or short of it. Where rows share slacks, weights are generated or
        none is used, it begins as ever.
        """
        program = self.program
        used = np.abs(w) * program.gamma > NO_WEIGHT * program.norm(w) / max(len(w), 1)
        margin = program.rows(w, b) - program.r
        count = int(used.sum()) + program.n_offsets
        if self._n_sums or len(self._weights) < program.n_weights or count > program.n_rows or not used.any():
            return
        columns = np.where(margin < 0.0, UPPER, LOWER)
        columns[np.argsort(np.abs(margin), kind="stable")[:count]] = BASIC
        columns = np.append(columns, np.full(program.n_hard, LOWER))
        rows = np.where(used, np.where(w < 0.0, LOWER, UPPER), BASIC)[self._weights]
        self._set_penalty(C)
        self._set_basis(columns, np.append(np.full(program.n_offsets, LOWER), rows))

    def solve(self, C: float, *, cold: bool = False) -> tuple[Array, Array, Duals]:
        """Minimise for one `C`, from the basis of the last one.

        Returns
        -------
        w, b : ndarray of shape (d,), (p,)
            The optimal point.
        duals : Duals
            Multipliers, one row, with ``λ = C``.
        """
        self._set_penalty(C)
        while True:
            values, duals = self._run(cold=cold)
            if not self._generate(values, C):
                break
        w, b = self._point(duals)
        n = self.program.n_rows
        values = self._unit * values
        return w, b, Duals(values[None, :n], values[None, n:], np.array([C]))

    def path(self, values: Array) -> tuple[Array, Array, Duals]:
        """Minimise for several `C`, ascending, each from the basis of the last one."""
        program, count = self.program, len(values)
        w, b = np.empty((count, program.n_weights)), np.empty((count, program.n_offsets))
        alpha, beta = np.empty((count, program.n_rows)), np.empty((count, program.n_hard))
        for k, C in enumerate(values):
            w[k], b[k], duals = self.solve(C)
            alpha[k], beta[k] = duals.alpha[0], duals.beta[0]
            if program.loss(w[k], b[k]) <= NO_LOSS * (1.0 + np.abs(program.r) @ program.row_weight):
                # Without loss, but for rounding, a larger penalty of it changes nothing.
                w[k:], b[k:], alpha[k:], beta[k:] = w[k], b[k], alpha[k], beta[k]
                break
        return w, b, Duals(alpha, beta, values)

    def _set_penalty(self, C: float) -> None:
        program, highs = self.program, self._highs
        n, sums = program.n_rows, self._n_sums
        before, self._unit = self._unit, self._multiplier_unit(C)
        price = C / self._unit
        highs.changeColsBounds(n, indices(np.arange(n)), np.zeros(n), price * program.row_weight)
        for row in range(sums):
            highs.changeRowBounds(row, -INFINITY, price * program.s[row])
        middle, width = self._row_bounds(C)
        # The others are the same for every C.
        for k in range(len(middle)) if self._unit != before else np.flatnonzero(middle):
            highs.changeRowBounds(int(sums + k), middle[k] - width[k], middle[k] + width[k])

    def _multiplier_unit(self, C: float) -> float:
        """What the model takes for a multiplier of 1, a power of two: less than 1 where all are next to nothing.

        Multipliers that are limited by less than the tolerance could be anything. The point that they belong to is the
        same in any unit.
        """
        program = self.program
        most = C * max(program.s.max(initial=0.0), np.abs(program.v).max(initial=0.0))
        return 1.0 if most >= SMALL_MULTIPLIERS or most == 0.0 else float(np.exp2(np.floor(np.log2(most))))

    def _row_bounds(self, C: float) -> tuple[Array, Array]:
        """Middle and half-width of the rows of the offsets and of the weights in the model."""
        program = self.program
        middle = C * np.concatenate([program.v, program.u[self._weights] / program.gamma[self._weights]])
        width = np.concatenate([np.zeros(program.n_offsets), np.ones(len(self._weights))])
        return middle / self._unit, width / self._unit

    def _generate(self, values: Array, C: float) -> bool:
        """Add the rows of the weights that the multipliers violate most; say whether there were any."""
        program, highs = self.program, self._highs
        if len(self._weights) == program.n_weights:
            return False
        n, unit = program.n_rows, self._unit
        z = unit * (values[:n] @ program.A + values[n:] @ program.G) - C * program.u
        excess = np.abs(z) / program.gamma - 1.0
        excess[self._weights] = 0.0
        worst = np.argsort(-excess, kind="stable")[:ALL_WEIGHTS]
        worst = worst[excess[worst] > TOLERANCE]
        for k, (rows, column) in zip(worst, entries(self._columns(worst)), strict=True):
            middle = C * program.u[k] / program.gamma[k]
            highs.addRow((middle - 1.0) / unit, (middle + 1.0) / unit, len(rows), indices(rows), column)
        self._weights = np.concatenate([self._weights, worst])
        return len(worst) > 0

    def _point(self, duals: Array) -> tuple[Array, Array]:
        p, duals = self.program.n_offsets, duals[self._n_sums :]
        w = np.zeros(self.program.n_weights)
        w[self._weights] = -duals[p:] / self.program.gamma[self._weights]
        return w, -duals[:p]


def _compressed(dense: Array) -> Any:
    """Compressed rows of an array; scipy would make places of 64 bits of all its entries first."""
    filled = dense != 0.0
    place = np.broadcast_to(np.arange(dense.shape[1], dtype=np.int32), dense.shape)[filled]
    start = np.append(0, np.cumsum(filled.sum(axis=1)))
    return sparse.csr_array((dense[filled], place, start.astype(np.int32)), shape=dense.shape)

"""The reference engine for bounds: HiGHS' simplex, with one resident model per problem and warm starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from allrelevant.errors import TimeLimitReached
from allrelevant.lp.matrix import Array, Indices, widen
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.simplex import INFINITY, PRIMAL, Simplex, indices
from allrelevant.lp.targets import Columns, Duals, Targets

__all__ = ["HighsBounds"]


class HighsBounds(Simplex):
    """Bounds of single weights over the budget, in the primal form, by warm-started primal simplex.

    Columns are ``w⁺, w⁻, b, ξ``; rows are the hinge rows, the hard rows, the norm budget, the loss budget. From one
    purse, the norm's row is without limit and the loss' row holds both.
    """

    def __init__(self, program: Program, budget: Budget) -> None:
        super().__init__(PRIMAL)
        self.program, self.budget = program, budget
        n, d, p, m = program.n_rows, program.n_weights, program.n_offsets, program.n_hard
        k = program.slacks.count
        A = widen(sparse.csr_array(program.A), d - program.A.shape[1])
        matrix = sparse.vstack(
            [
                sparse.hstack([A, -A, sparse.csr_array(program.B), program.slacks.matrix]),
                sparse.csr_array(np.hstack([program.G, -program.G, program.H, np.zeros((m, k))])),
                sparse.csr_array(np.concatenate([program.gamma, program.gamma, np.zeros(p + k)])[None]),
                sparse.csr_array(self._loss_row()[None]),
            ]
        )
        free, none = np.full(p, INFINITY), np.zeros(k)
        self._lower_w, self._upper_w = _split_box(program.lower, program.upper)
        self._load(
            matrix,
            np.zeros(2 * d + p + k),
            (np.concatenate([self._lower_w, -free, none]), np.concatenate([self._upper_w, free, none + INFINITY])),
            (
                np.concatenate([program.r, program.h, [-INFINITY, -INFINITY]]),
                np.concatenate([np.full(n + m, INFINITY), self._limits()]),
            ),
        )

    def _loss_row(self) -> Array:
        program, price = self.program, self.budget.price
        row = np.concatenate([program.u, -program.u, program.v, program.s])
        if price is not None:
            row *= price
            row[: 2 * program.n_weights] += np.tile(program.gamma, 2)
        return row

    def _limits(self) -> tuple[float, float]:
        budget = self.budget
        return (budget.norm, budget.loss) if budget.price is None else (INFINITY, budget.norm)

    def solve(self, targets: Targets, *, cold: bool = False) -> tuple[Array, Array, Duals]:
        """Maximise every target in turn, each from the basis of the one before, or each from scratch.

        What there is no time for stays 0, which proves next to nothing.

        Raises
        ------
        SolverError
            If a target has no optimum; its subclass says why.
        """
        program, t = self.program, len(targets)
        w, b = np.zeros((t, program.n_weights)), np.zeros((t, program.n_offsets))
        alpha, beta, lam = np.zeros((t, program.n_rows)), np.zeros((t, program.n_hard)), np.zeros(t)
        for k in range(t):
            try:
                w[k], b[k], alpha[k], beta[k], lam[k] = self._solve_one(targets.take(np.array([k])), cold)
            except TimeLimitReached:
                break
        return w, b, Duals(alpha, beta, lam)

    def least_spending(self, purse: str = "loss", *, limited: bool = True) -> tuple[Array, Array]:
        """Return the point ``(w, b)`` of least loss within the norm budget, or of least norm within the loss budget.

        From one purse, the point that spends least. It tells safely whether the budgets leave any point at all: asked
        for feasibility alone HiGHS may answer "Unknown". For the same reason it may be asked without a limit of the
        other purse, first.

        Raises
        ------
        SolverError
            If the other limits alone leave no point.
        """
        program, highs = self.program, self._highs
        d, p = program.n_weights, program.n_offsets
        columns, row = indices(np.arange(highs.getNumCol())), program.n_rows + program.n_hard
        cost, place = self._loss_row(), 1
        if purse == "norm" and self.budget.price is None:
            cost, place = np.append(np.tile(program.gamma, 2), np.zeros(len(columns) - 2 * d)), 0
        open_rows = (place,) if limited else (0, 1)
        for k in open_rows:
            highs.changeRowBounds(row + k, -INFINITY, INFINITY)
        highs.changeColsCost(len(columns), columns, cost)
        try:
            values, _ = self._run()
        finally:
            for k in open_rows:
                highs.changeRowBounds(row + k, -INFINITY, self._limits()[k])
            highs.changeColsCost(len(columns), columns, np.zeros(len(columns)))
        return values[:d] - values[d : 2 * d], values[2 * d : 2 * d + p]

    @property
    def model(self) -> Any:
        """The model as HiGHS holds it."""
        return self._highs.getLp()

    def set_box(self, lower: Array, upper: Array) -> None:
        """Exchange the bounds of the weights."""
        d, columns = self.program.n_weights, indices(np.arange(2 * self.program.n_weights))
        self.program = self.program.with_box(lower, upper)
        self._lower_w, self._upper_w = _split_box(lower, upper)
        self._highs.changeColsBounds(2 * d, columns, self._lower_w, self._upper_w)

    def _solve_one(self, target: Targets, cold: bool) -> tuple[Array, Array, Array, Array, float]:
        program, highs = self.program, self._highs
        n, d, p, m = program.n_rows, program.n_weights, program.n_offsets, program.n_hard
        index, columns = target.index[0], target.columns
        goal = target.spread(target.coefficient, d)[0]
        charge = np.zeros(d) if target.charge is None else target.spread(target.charge, d)[0]
        chosen = np.unique(index)
        both = indices(np.concatenate([chosen, d + chosen]))
        cost = np.concatenate([charge[chosen] - goal[chosen], charge[chosen] + goal[chosen]])
        highs.changeColsCost(len(both), both, cost)
        try:
            if columns is None:
                values, duals = self._run(cold=cold)
            else:
                slots = np.arange(d)[columns.slots(program.n_weights)]
                values, duals = self._run_substituted(slots, columns, charge[slots], goal[slots], cold)
        finally:
            highs.changeColsCost(len(both), both, np.zeros(len(both)))
        w = values[:d] - values[d : 2 * d]
        price = 1.0 if self.budget.price is None else self.budget.price
        return w, values[2 * d : 2 * d + p], duals[:n], duals[n : n + m], -price * float(duals[n + m + 1])

    def _run_substituted(
        self, slots: Indices, columns: Columns, charge: Array, goal: Array, cold: bool
    ) -> tuple[Array, Array]:
        """Run with the empty columns of some weights switched off and others, at the end, in their place."""
        program, highs = self.program, self._highs
        rows = indices(np.arange(program.n_rows + program.n_hard + 2))
        price = 1.0 if self.budget.price is None else self.budget.price
        count, size = highs.getNumCol(), len(slots)
        both = indices(np.concatenate([slots, program.n_weights + slots]))
        none = np.zeros(2 * size)
        highs.changeColsBounds(2 * size, both, none, none)
        for side in (1.0, -1.0):
            for k, slot in enumerate(slots):
                gamma = program.gamma[slot]
                last = [gamma, side * price * columns.u[0, k] + (0.0 if self.budget.price is None else gamma)]
                entries = np.concatenate([side * columns.A[0, k], side * columns.G[0, k], last])
                highs.addCol(charge[k] - side * goal[k], 0.0, INFINITY, len(rows), rows, entries)
        try:
            values, duals = self._run(cold=cold)
        finally:
            highs.deleteCols(2 * size, indices(np.arange(count, count + 2 * size)))
            highs.changeColsBounds(2 * size, both, self._lower_w[both], self._upper_w[both])
        values[both] = values[count:]
        return values[:count], duals


def _split_box(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of the positive and of the negative parts of weights."""
    low = np.concatenate([np.maximum(lower, 0), np.maximum(-upper, 0)])
    high = np.concatenate([np.maximum(upper, 0), np.maximum(-lower, 0)])
    return low, np.minimum(high, INFINITY)

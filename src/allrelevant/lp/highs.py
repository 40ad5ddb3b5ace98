"""The reference engine: HiGHS' simplex, with one resident model per problem, statuses as exceptions, and interrupts."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from scipy import sparse

from allrelevant.errors import InfeasibleProgram, SolverError, SolverTimeout, TimeLimitReached, UnboundedProgram
from allrelevant.lp.deadline import check_time, seconds_left
from allrelevant.lp.matrix import Array
from allrelevant.lp.program import Budget, Duals, Program, Targets

__all__ = ["INFINITY", "TOLERANCE", "HighsBounds", "HighsPenalised", "Simplex", "indices"]

INFINITY = highspy.kHighsInf
TOLERANCE = 1e-9
SLICE_ITERATIONS = 2000
#: Simplex takes a few iterations per row and column. Beyond so many it goes round in circles.
MOST_ITERATIONS = 100
#: Multipliers of the penalised model that are limited by less than this are given in a smaller unit.
SMALL_MULTIPLIERS = 1e-5
DUAL, PRIMAL = 1, 4  # values of HiGHS' option simplex_strategy
SCALED, UNSCALED = 2, 0  # of simplex_scale_strategy; the first is its default
#: Ways to start from scratch; what one leaves unknown another may find.
COLD: Any = (
    {"simplex_strategy": DUAL},
    {"simplex_strategy": PRIMAL},
    {"simplex_strategy": DUAL, "simplex_scale_strategy": UNSCALED},
)

_FAILURES: dict[Any, tuple[type[SolverError], str]] = {
    highspy.HighsModelStatus.kInfeasible: (InfeasibleProgram, "has no feasible point"),
    highspy.HighsModelStatus.kUnboundedOrInfeasible: (
        InfeasibleProgram,
        "has no feasible point or no optimum",
    ),
    highspy.HighsModelStatus.kUnbounded: (UnboundedProgram, "is unbounded"),
    highspy.HighsModelStatus.kIterationLimit: (SolverTimeout, "came to no end"),
    highspy.HighsModelStatus.kTimeLimit: (SolverTimeout, "came to no end"),
}
_UNFINISHED = (highspy.HighsModelStatus.kIterationLimit, highspy.HighsModelStatus.kTimeLimit)


class Simplex:
    """A HiGHS instance that minimises, maps statuses to exceptions and lets Ctrl-C through."""

    def __init__(self, strategy: int) -> None:
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._strategy = strategy
        self._options(
            output_flag=False,
            threads=1,
            presolve="off",  # warm starts are lost to presolve, and so are interrupted runs
            primal_feasibility_tolerance=TOLERANCE,
            dual_feasibility_tolerance=TOLERANCE,
            simplex_strategy=strategy,
            simplex_iteration_limit=SLICE_ITERATIONS,
        )

    def _options(self, **values: Any) -> None:
        for name, value in values.items():
            self._highs.setOptionValue(name, value)

    def _load(
        self, matrix: Any, cost: Array, column_bounds: tuple[Array, Array], row_bounds: tuple[Array, Array]
    ) -> None:
        matrix = sparse.csc_array(matrix)
        n_rows, n_columns = matrix.shape
        # As arrays: a model of HiGHS' own would be filled number by number, and copied once more.
        status = self._highs.passModel(
            n_columns,
            n_rows,
            matrix.nnz,
            highspy.MatrixFormat.kColwise.value,
            highspy.ObjSense.kMinimize.value,
            0.0,
            cost,
            *column_bounds,
            *row_bounds,
            indices(matrix.indptr),
            indices(matrix.indices),
            matrix.data,
            indices(np.zeros(n_columns)),  # no whole numbers
        )
        if status == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS does not take the linear program of {n_rows} rows and {n_columns} columns")

    def _run(self, *, cold: bool = False) -> tuple[Array, Array]:
        """Solve; return values of the columns and duals of the rows."""
        highs = self._highs
        status = None if cold else self._status()
        if status != highspy.HighsModelStatus.kOptimal:  # a warm start may mislead, even about feasibility
            for options in COLD:
                highs.clearSolver()
                self._options(**options)
                try:
                    status = self._status()
                finally:
                    self._options(simplex_strategy=self._strategy, simplex_scale_strategy=SCALED)
                if status == highspy.HighsModelStatus.kOptimal or (status in _FAILURES and status not in _UNFINISHED):
                    break
        if status != highspy.HighsModelStatus.kOptimal:
            kind, what = _FAILURES.get(status, (SolverError, "was not solved"))
            raise kind(f"the linear program {what} (HiGHS status: {highs.modelStatusToString(status)})")
        solution = highs.getSolution()
        return np.array(solution.col_value), np.array(solution.row_dual)

    def _status(self) -> Any:
        """Run from where the model is, and return what came of it."""
        # HiGHS does not hear signals while it runs: give it slices and let the interpreter look around in between.
        # A slice continues from the basis the last one left. Slices of iterations, not of time: where one ends must
        # not depend on how busy the machine is.
        highs = self._highs
        status = highspy.HighsModelStatus.kIterationLimit
        most = MOST_ITERATIONS * (highs.getNumRow() + highs.getNumCol())
        for _ in range(0, most + 1, SLICE_ITERATIONS):
            check_time()
            self._options(time_limit=highs.getRunTime() + seconds_left())  # counted from when the model was made
            highs.run()
            status = highs.getModelStatus()
            if status not in _UNFINISHED:
                break
        return status


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
        A = sparse.csr_array(program.A)
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
        index = target.index[0]
        goal = target.spread(target.coefficient, d)[0]
        charge = np.zeros(d) if target.charge is None else target.spread(target.charge, d)[0]
        chosen = np.unique(index)
        both = indices(np.concatenate([chosen, d + chosen]))
        cost = np.concatenate([charge[chosen] - goal[chosen], charge[chosen] + goal[chosen]])
        highs.changeColsCost(len(both), both, cost)
        try:
            values, duals = self._run(cold=cold)
        finally:
            highs.changeColsCost(len(both), both, np.zeros(len(both)))
        w = values[:d] - values[d : 2 * d]
        price = 1.0 if self.budget.price is None else self.budget.price
        return w, values[2 * d : 2 * d + p], duals[:n], duals[n : n + m], -price * float(duals[n + m + 1])


class HighsPenalised(Simplex):
    """The penalised problem ``min norm + C · loss``, in the dual form, by warm-started dual simplex.

    The dual has one bounded column per row of the program and one row per weight and offset::

        max r·α + h·β   with   |Aᵀα + Gᵀβ − C u| / γ ≤ 1,   Bᵀα + Hᵀβ = C v,   0 ≤ α ≤ C s,   β ≥ 0

    (with sums of α over the rows that share a slack, in rows of their own), so its basis is small, another `C` changes
    bounds only, and dual simplex flips bounds in passing: measured five times faster than the primal form.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(DUAL)
        self.program = program
        n, m = program.n_rows, program.n_hard
        self._unit = 1.0
        everything = np.zeros(n + m)
        width = self._row_bounds(0.0)[1]
        lower = np.append(np.full(self._n_sums, -INFINITY), -width)
        upper = np.append(np.zeros(self._n_sums), width)
        self._load(
            self._matrix_rows(),
            -np.concatenate([program.r, program.h]),
            (everything, everything + INFINITY),
            (lower, upper),
        )

    @property
    def _n_sums(self) -> int:
        """Rows, before all others, that limit sums of multipliers."""
        slacks = self.program.slacks
        return slacks.count if slacks.shared else 0

    def _matrix_rows(self) -> Any:
        program, slacks = self.program, self.program.slacks
        if not program.is_sparse:
            n, p = program.n_rows, program.n_offsets
            columns = np.empty((n + program.n_hard, p + program.n_weights))
            columns[:n, :p], columns[n:, :p] = program.B, program.H
            np.divide(program.A[:], program.gamma, out=columns[:n, p:])
            np.divide(program.G, program.gamma, out=columns[n:, p:])
            rows = _compressed(columns).T
        else:
            rows = sparse.vstack([sparse.csr_array(np.vstack([program.B, program.H]).T), self._columns().T])
        if not slacks.shared:
            return rows
        return sparse.vstack([sparse.hstack([slacks.matrix.T, sparse.csr_array((slacks.count, program.n_hard))]), rows])

    def _columns(self) -> Any:
        """Columns of the weights over all rows, divided by their part in the norm."""
        program = self.program
        columns = sparse.vstack([sparse.csc_array(program.A), sparse.csc_array(program.G)], format="csc")
        columns.data /= np.repeat(program.gamma, np.diff(columns.indptr))
        return columns

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
        values, duals = self._run(cold=cold)
        w, b = self._point(duals)
        n = self.program.n_rows
        values = self._unit * values
        return w, b, Duals(values[None, :n], values[None, n:], np.array([C]))

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
        middle = C * np.concatenate([program.v, program.u / program.gamma])
        width = np.concatenate([np.zeros(program.n_offsets), np.ones(program.n_weights)])
        return middle / self._unit, width / self._unit

    def _point(self, duals: Array) -> tuple[Array, Array]:
        p, duals = self.program.n_offsets, duals[self._n_sums :]
        return -duals[p:] / self.program.gamma, -duals[:p]


def indices(values: Any) -> Any:
    """Return places as HiGHS takes them."""
    return np.asarray(values, dtype=np.int32)


def _split_box(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of the positive and of the negative parts of weights."""
    low = np.concatenate([np.maximum(lower, 0), np.maximum(-upper, 0)])
    high = np.concatenate([np.maximum(upper, 0), np.maximum(-lower, 0)])
    return low, np.minimum(high, INFINITY)


def _compressed(dense: Array) -> Any:
    """Compressed rows of an array; scipy would make places of 64 bits of all its entries first."""
    filled = dense != 0.0
    place = np.broadcast_to(np.arange(dense.shape[1], dtype=np.int32), dense.shape)[filled]
    start = np.append(0, np.cumsum(filled.sum(axis=1)))
    return sparse.csr_array((dense[filled], place, start.astype(np.int32)), shape=dense.shape)

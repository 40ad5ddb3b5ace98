"""HiGHS' simplex with a resident model: its options, what its answers mean, and when it is to stop."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from scipy import sparse

from allrelevant.errors import InfeasibleProgram, SolverError, SolverTimeout, UnboundedProgram
from allrelevant.lp.deadline import check_time, seconds_left
from allrelevant.lp.matrix import Array, Indices

__all__ = ["BASIC", "DUAL", "INFINITY", "LOWER", "PRIMAL", "TOLERANCE", "UPPER", "Simplex", "indices"]

INFINITY = highspy.kHighsInf
TOLERANCE = 1e-9
SLICE_ITERATIONS = 2000
#: Simplex takes a few iterations per row and column. Beyond so many it goes round in circles.
MOST_ITERATIONS = 100
DUAL, PRIMAL = 1, 4  # values of HiGHS' option simplex_strategy
SCALED, UNSCALED = 2, 0  # of simplex_scale_strategy; the first is its default
#: Places of columns and rows in a basis, by number.
_PLACES = np.array([getattr(highspy.HighsBasisStatus, name) for name in ("kLower", "kUpper", "kBasic")], dtype=object)
LOWER, UPPER, BASIC = range(3)
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

    def _set_basis(self, columns: Indices, rows: Indices) -> None:
        """Let the next run begin with a basis, given by places; HiGHS mends one that is singular."""
        basis = highspy.HighsBasis()
        basis.col_status, basis.row_status = _PLACES[columns].tolist(), _PLACES[rows].tolist()
        basis.valid = True
        self._highs.setBasis(basis)

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


def indices(values: Any) -> Any:
    """Return places as HiGHS takes them."""
    return np.asarray(values, dtype=np.int32)

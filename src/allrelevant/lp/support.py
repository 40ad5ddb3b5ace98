"""The cheapest sets of weights that a point within the budget can do with: mixed-integer programs, by HiGHS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

import highspy
import numpy as np

from allrelevant.errors import SolverError, SolverTimeout
from allrelevant.lp.highs import INFINITY, HighsBounds
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.program import Budget, Program

__all__ = ["CheapestSupport", "Support"]

#: Costs that differ by less than this share are equal; so close must the two sides of an optimum come.
GAP = 1e-6
#: A set is in the solution from here on; HiGHS keeps whole numbers to 1e-6.
CHOSEN = 0.5


@dataclass(frozen=True)
class Support:
    """Sets of weights that a point within the budget can do with.

    Attributes
    ----------
    chosen : tuple of int
        The sets, ascending.
    cost : float
        What they cost.
    bound : float
        What any such choice costs at least; less than `cost` where time ran out before that was proven.
    """

    chosen: tuple[int, ...]
    cost: float
    bound: float


class CheapestSupport:
    """Choose sets of weights, at the least cost, such that a point within the budget is 0 everywhere else.

    Parameters
    ----------
    program, budget : Program, Budget
        The points.
    sets : sequence of ndarray
        Weights that are bought together. Weights in no set are free.
    costs : ndarray
        Cost of every set, at least 0.
    most : ndarray of shape (n_weights,)
        Largest magnitude of every weight within the budget.
    """

    def __init__(self, program: Program, budget: Budget, sets: Sequence[Indices], costs: Array, most: Array) -> None:
        self.sets, self.costs = sets, costs
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in {
            "output_flag": False,
            "threads": 1,
            "random_seed": 0,
            "mip_rel_gap": GAP,
            "mip_abs_gap": GAP * max(float(costs.max(initial=0.0)), 1e-12),
        }.items():
            self._highs.setOptionValue(name, value)
        self._highs.HandleUserInterrupt = True
        self._highs.passModel(HighsBounds(program, budget).model)
        self._first = self._highs.getNumCol()
        for number, (weights, cost) in enumerate(zip(sets, costs, strict=True)):
            self._highs.addCol(float(cost), 0.0, 1.0, 0, [], [])
            self._highs.changeColIntegrality(self._first + number, highspy.HighsVarType.kInteger)
            for k in weights:
                both = np.array([k, program.n_weights + k, self._first + number], dtype=np.int32)
                self._highs.addRow(-INFINITY, 0.0, 3, both, np.array([1.0, 1.0, -float(most[k])]))

    def fix(self, number: int) -> None:
        """Have a set in every choice."""
        self._highs.changeColBounds(self._first + number, 1.0, 1.0)

    def require(self, numbers: Sequence[int], least: int = 1, most: float = math.inf) -> None:
        """Have at least, and at most, so many of some sets in every choice from now on."""
        columns = np.array([self._first + number for number in numbers], dtype=np.int32)
        self._highs.addRow(float(least), float(min(most, INFINITY)), len(columns), columns, np.ones(len(columns)))

    def solve(self, time_limit: float) -> Support | None:
        """Return the cheapest choice; None if there is none.

        Raises
        ------
        SolverTimeout
            If time runs out before any choice is found.
        """
        highs = self._highs
        highs.setOptionValue("time_limit", float(highs.getRunTime() + max(time_limit, 0.0)))
        self._run()
        status, found = highs.getModelStatus(), highs.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        feasible = found.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        stopped = status in (highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt)
        if stopped and not feasible:
            raise SolverTimeout(f"no choice was found within {time_limit:.3g} s; a larger time limit may help")
        if not feasible:
            raise SolverError(f"the mixed-integer program was not solved: {highs.modelStatusToString(status)}")
        values = np.array(highs.getSolution().col_value)[self._first :]
        chosen = tuple(int(k) for k in np.flatnonzero(values > CHOSEN))
        cost = float(self.costs[list(chosen)].sum())
        bound = cost if status == highspy.HighsModelStatus.kOptimal else min(float(found.mip_dual_bound), cost)
        return Support(chosen, cost, bound)

    def _run(self) -> None:
        """Run in a thread of its own, because HiGHS does not hear signals; Ctrl-C ends it."""
        highs, ended = self._highs, Event()

        def run() -> None:
            try:
                highs.run()
            finally:
                ended.set()

        # Not by joining the thread: a join that Ctrl-C interrupts takes the thread for ended (Python 3.11).
        Thread(target=run, daemon=True).start()
        try:
            while not ended.wait(0.05):
                pass
        except BaseException:
            highs.cancelSolve()
            ended.wait()
            raise

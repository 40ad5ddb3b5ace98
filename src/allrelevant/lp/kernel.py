"""Working sets: every problem is solved on the rows and the weights that matter to it, until no others do.

At an optimum about as many hinge rows are at their margin as there are weights that are not 0. The rows far beyond
their margin could as well be missing, and those far short of it are a linear loss. So a problem is solved on the rows
nearest to their margins, with the loss of the others as it is at the point at hand; then all rows are looked at, and
those that were taken for something else come in. With many weights the same is done with the columns: those that the
multipliers price above the limit come in. A set is judged by a rough solution first; where it will do, the
interior-point method goes on from there.

What is solved is one call of :mod:`allrelevant.lp._kernel`, which does not hold the interpreter's lock. One problem
never sees anything of another, so nothing depends on who solves which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from allrelevant.lp import _kernel
from allrelevant.lp.deadline import current_deadline, time_is_up
from allrelevant.lp.matrix import Array, Indices, Matrix
from allrelevant.lp.program import Budget, Program, Slacks

__all__ = ["Kernel", "Optimum", "QuadraticModel"]

#: Hinge rows in the working set per weight and offset: at first, and once the optimum is near.
FIRST_ROWS, NEXT_ROWS = 8.0, 5.0
#: All rows are taken where more than this share of them changes sides on the way from a point within the budgets.
CHANGED = 0.25
#: Weights in the working set beside as many as the optimal model uses: at first, and added in a round at most. All
#: weights are taken where there are less than so many times as many.
FIRST_COLUMNS, MORE_COLUMNS, MANY = 6, 20, 1.25
#: Weights below this share of the norm are not used.
UNUSED = 1e-9
#: Share of the limit above which the price of a weight lets it in while multipliers are rough.
NEARLY = 0.9
#: With more weights per row than this, points are taken for sparse.
WIDE = 20
#: Complementarity at which to stop, as a share of the scale of the objective: to judge a working set, at the
#: end, and for models, which no proof mends.
ROUGH, FINE, CLOSEST = 2e-2, 1e-9, 1e-12
#: How far inside the starting point is, as a share of the norm budget: in the first round, later, and after a failure;
#: and how many failures are one too many.
INSIDE, FAILURES = (0.03, 0.02, 0.3), 3
#: Least multipliers to start from, as shares of the first ones, and least scale, where margins are 1.
LEAST, SMALL = 1e-3, 1e-6
#: What rows outside the working set add to the objective, as a share of its scale: next to nothing; so much that a
#: finer solution is not worth while; so much that the set was too small for the step, which is taken again.
MISSED, UNSURE, TOO_FAR = 1e-8, 1e-4, 0.1
#: By how much hard rows outside the working set may be violated.
BEYOND = 1e-9
#: Rounds and iterations, at most: what is not solved then is left to the reference engine.
ROUNDS, ITERATIONS = 40, 80
#: The quadratic model: rows per weight whose hinges are rounded off, curvature of the others, and what either side of a
#: weight begins with, as a multiple of an even share of the room of the norm budget.
SMOOTH_ROWS, OUTSIDE, SPREAD = 10.0, 0.1, 2.5
#: With more rows than this the optimum over every so many-th row comes first; its error, which goes with the root of
#: the sample, says how many rows may change sides.
TALL, SAMPLED, UNCERTAIN = 20_000, 8, 4.0


@dataclass(frozen=True, eq=False)
class Optimum:
    """A point ``x = (w, b)`` with its multipliers of hinge rows, hard rows and loss, and its objective."""

    x: Array
    alpha: Array
    beta: Array
    lam: float
    nu: float
    value: float

    def times(self, unit: float) -> Optimum:
        """The same for an objective that is so many times as large."""
        return Optimum(self.x, unit * self.alpha, unit * self.beta, unit * self.lam, unit * self.nu, unit * self.value)


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is asked, as the compiled routine has it: mode 2 has two budgets, 1 a joint one, 0 a price of the loss."""

    mode: int
    goal: Array
    charge: Array
    norm: float
    loss: float
    C: float

    @classmethod
    def within(cls, budget: Budget, goal: Array, charge: Array) -> _Problem:
        """A bound within a budget."""
        if budget.price is None:
            return cls(2, goal, charge, budget.norm, budget.loss, 1.0)
        return cls(1, goal, charge, budget.norm, 0.0, budget.price)


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Where a problem stands: point, multipliers, and what rows and hard rows have beyond their right sides."""

    x: Array
    lam: float
    nu: float
    margin: Array
    room: Array


@dataclass(eq=False)
class _WorkingSet:
    """Which rows and weights a problem is solved on.

    Attributes
    ----------
    columns : ndarray or None
        The weights; None for all.
    count : int
        How many hinge rows, those nearest to their margins, and how many hard rows, those with the least room.
    rows, hard : ndarray
        Masks of hinge rows and of hard rows that belong to it wherever they are.
    """

    columns: Indices | None
    count: int
    rows: NDArray[np.uint8]
    hard: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Solution:
    """What came of a working set.

    Attributes
    ----------
    at : _Iterate
        The point and its multipliers.
    solved : bool
        Whether the iterations came to an end.
    far : bool
        Whether the set was too small for the step.
    gap, cost : float
        Complementarity, and what rows outside the set add to the objective.
    alpha, beta : ndarray
        Multipliers of all rows.
    rows, hard, columns : ndarray
        Masks of the rows that are needed, and the weights that are.
    """

    at: _Iterate
    solved: bool
    far: bool
    gap: float
    cost: float
    alpha: Array
    beta: Array
    rows: NDArray[np.uint8]
    hard: NDArray[np.bool_]
    columns: Indices


class Kernel:
    """A program prepared for many problems over it.

    Parameters
    ----------
    program : Program
        The program. Finite bounds of weights are hard rows; weights that leave no choice keep their value.
    start : ndarray of shape (d + p,), default=None
        A point ``(w, b)`` within the budgets of the bounds to come. Every working set holds the weights that it uses;
        the first one is a little larger.
    """

    def __init__(self, program: Program, start: Array | None = None) -> None:
        self.program = program
        d, p = program.n_weights, program.n_offsets
        self.d, self.size = d, d + p
        #: Hinge rows of weights and offsets, where that copy is affordable.
        self._table = np.hstack([program.A, program.B]) if isinstance(program.A, np.ndarray) else None
        self._wide = d > WIDE * program.n_rows
        self._linear, self._row_weight = np.concatenate([program.u, program.v]), program.row_weight
        self._any_linear = bool(program.u.any())
        self._free = program.lower < program.upper
        self._fixed = np.where(self._free, 0.0, program.lower)
        self._all_free, self._any_fixed = bool(self._free.all()), bool(self._fixed.any())
        below, above = (np.flatnonzero(self._free & np.isfinite(side)) for side in (program.lower, program.upper))
        box = np.zeros((len(below) + len(above), d + p))
        box[np.arange(len(box)), np.append(below, above)] = np.repeat([1.0, -1.0], [len(below), len(above)])
        self._hard = np.vstack([np.hstack([program.G, program.H]), box])
        self._h = np.concatenate([program.h, program.lower[below], -program.upper[above]])
        used = np.zeros(d) if start is None else np.abs(start[:d]) * program.gamma
        self.support = np.flatnonzero(used > UNUSED * float(used.sum()))
        self._short = None if start is None else self.margins(start) < 0.0
        self._sample: Kernel | None = None
        if program.n_rows > TALL and not program.slacks.shared:
            chosen = np.arange(0, program.n_rows, SAMPLED)
            slacks, _ = program.slacks.take(chosen)
            s = program.s[chosen] * (program.s.sum() / program.s[chosen].sum())
            rows = {"A": program.A[chosen], "B": program.B[chosen], "r": program.r[chosen]}
            self._sample = Kernel(replace(program, **rows, s=s, slacks=slacks), start)

    def margins(self, x: Array) -> Array:
        """What the hinge rows have beyond their right sides."""
        if self._table is None:
            return self.program.rows(x[: self.d], x[self.d :]) - self.program.r
        if self._wide:
            used = np.flatnonzero(x)
            return np.asarray(self._table[:, used] @ x[used] - self.program.r)
        return np.asarray(self._table @ x - self.program.r)

    def pull(self, alpha: Array) -> Array:
        """What multipliers of the hinge rows ask of weights and offsets."""
        if self._table is not None:
            return np.asarray(alpha @ self._table)
        weights = self.program.pull(alpha[None], np.zeros((1, self.program.n_hard)))[0]
        return np.concatenate([weights, alpha @ self.program.B])

    def block(self, rows: Any, columns: Indices) -> Array:
        """Some hinge rows as an array, of some weights and all offsets."""
        weights = columns[columns < self.d]
        part = self.program.A[rows][:, weights]
        return np.hstack([part.toarray() if sparse.issparse(part) else part, self.program.B[rows]])

    def penalised(self, C: float, x: Array) -> Optimum:
        """Minimise ``norm + C · loss``, from a point."""
        none = np.zeros(self.d)
        if self._sample is not None:
            x = self._sample.penalised(C, x).x
        return self._solve(_Problem(0, none, none, 0.0, 0.0, C), x, C, 1.0, (x, C, 1.0))

    def bound(
        self, budget: Budget, goal: Array, charge: Array, x: Array, lam: float, nu: float, beat: float = -np.inf
    ) -> Optimum:
        """Maximise ``goal·w − charge·|w|`` within the budget, from a point and multipliers.

        Once the optimum is known to lie below `beat` nothing more is wanted of it.
        """
        free = self._free
        if not ((goal != 0.0) | (charge != 0.0))[free].any():  # about fixed weights alone: any point will do
            x = np.concatenate([np.where(free, x[: self.d], self._fixed), x[self.d :]])
            alpha, beta = np.zeros(self.program.n_rows), np.zeros(self.program.n_hard)
            return Optimum(x, alpha, beta, 0.0, 0.0, float(goal @ self._fixed))
        unit = float(np.max((np.abs(goal) + charge) / self.program.gamma))
        goal, charge, lam, nu, beat = goal / unit, charge / unit, lam / unit, nu / unit, beat / unit
        origin = x, lam, nu
        if self._sample is not None:
            # The loss of a sample differs; the room that the point has left shall not.
            w, b = x[: self.d], x[self.d :]
            less = float(self.program.loss(w, b)) - float(self._sample.program.loss(w, b))
            near = self._sample.bound(budget.less_loss(less), goal, charge, x, lam, nu, beat)
            x, lam, nu = near.x, max(near.lam, LEAST * lam), max(near.nu, LEAST * nu)
        found = self._solve(_Problem.within(budget, goal, charge), x, lam, nu, origin, beat)
        if found.value >= (1.0 - MISSED) * budget.norm:  # all of it: no multipliers are needed to prove that
            found = Optimum(found.x, 0.0 * found.alpha, 0.0 * found.beta, 0.0, 1.0, found.value)
        return found.times(unit)

    def centre(self, budget: Budget, x: Array) -> Array:
        """Find the analytic centre of a budget, where the interior-point method ends without an objective."""
        none = np.zeros(self.d)
        return self._solve(_Problem.within(budget, none, none), x, 1.0, 1.0, (x, 1.0, 1.0)).x

    def _solve(
        self, problem: _Problem, x: Array, lam: float, nu: float, safe: tuple[Array, float, float],
        beat: float = -np.inf,
    ) -> Optimum:  # fmt: skip
        """Solve a problem, working set after working set, from a point and multipliers, or from safe ones.

        Loss that a working set misses counts by the safe multiplier, or by the present one if that is greater.
        """
        program, n, m = self.program, self.program.n_rows, len(self._h)
        given = x
        columns, x = self._first_columns(problem, x)
        first, failures = self._sample is None, 0
        count = int(FIRST_ROWS * self._width(columns))
        if not first:
            count = int(NEXT_ROWS * self._width(columns) + UNCERTAIN * n / np.sqrt(n / SAMPLED))
        at = self._iterate(x, lam, nu)
        if problem.mode > 0 and self._short is not None:
            # Where a good part of the rows changes sides on the way, no choice of rows is worth while.
            moved = np.count_nonzero(self._short != (at.margin < 0.0))
            count = n if moved > CHANGED * n else count
        work = _WorkingSet(columns, count, np.zeros(n, dtype=np.uint8), np.zeros(m, dtype=bool))
        origin, price = (
            at if safe[0] is given else self._iterate(self._first_columns(problem, safe[0])[1], *safe[1:]),
            safe[1],
        )
        alpha, beta, value = np.zeros(n), np.zeros(m), -np.inf
        scale = max(self._scale(problem, at), SMALL)
        for _ in range(ROUNDS):
            if time_is_up():
                break
            inside = INSIDE[2 if failures else 0 if first else 1]
            begin = replace(at, lam=max(at.lam, LEAST * lam), nu=max(at.nu, LEAST * nu))
            found = self._round(problem, work, begin, scale, beat, inside, price)
            if not found.solved:
                failures += 1
                if failures > FAILURES:
                    break
                # From where it began, if that is elsewhere, and in the end with all rows.
                at, first = origin, False
                work.count = 4 * work.count if failures < FAILURES else n + m
                continue
            if found.far:
                work.hard |= found.hard
                work.count *= 2
                continue
            at, alpha, beta = found.at, found.alpha, found.beta
            scale = self._scale(problem, at)
            value = float(problem.goal @ at.x[: self.d] - problem.charge @ np.abs(at.x[: self.d]))
            beaten = value >= 0.0 and value + 1.5 * found.gap < 0.99 * beat
            if (beaten or found.gap <= 10.0 * FINE * scale) and found.cost <= MISSED and not len(found.columns):
                break
            if not first:
                work.rows, work.hard = found.rows, found.hard
            if len(found.columns):
                assert work.columns is not None
                work.columns = np.union1d(work.columns, found.columns)
            if work.count < n:
                work.count = max(int(NEXT_ROWS * self._width(work.columns)), work.count // 2)
            first = False
        return Optimum(at.x, alpha, beta[: program.n_hard], at.lam, at.nu, value)

    def _round(
        self, problem: _Problem, work: _WorkingSet, at: _Iterate, scale: float, beat: float, inside: float, price: float
    ) -> _Solution:
        """Solve over a working set: roughly and, where nothing speaks against the set, to the end."""
        slacks = self.program.slacks
        state, hard = _choose(slacks, at.margin, work.count, work.rows), _least(at.room, work.count, work.hard)
        kept, none = state == 1, np.zeros(0, dtype=np.intp)
        solve = self._restricted(problem, state, hard, work.columns, at, scale, beat)
        for rough in (True, False):
            here, multipliers, gap, solved = solve(ROUGH if rough else FINE, inside)
            if problem.mode == 0 and solved and not rough:  # nothing mends a model: as close as numbers allow
                closer = solve(CLOSEST, inside)
                if closer[3]:
                    here, multipliers, gap, _ = closer
            rows = work.rows.copy()
            cost = max(here.lam, price) * _unseen(slacks, self.program.s, here.margin, state, rows) / scale
            violated = here.room < -BEYOND
            violated[hard] = False
            far, needed = bool(cost > TOO_FAR or violated.any()), work.hard | violated
            alpha, beta = np.where(state == 2, here.lam * self._row_weight, 0.0), np.zeros(len(self._h))
            alpha[kept], beta[hard] = np.split(multipliers, [len(multipliers) - len(hard)])
            more = none if work.columns is None else self._priced_out(problem, work.columns, alpha, beta, here, rough)
            if not solved or far or (rough and (cost > UNSURE or len(more))):
                break
        needed[hard] = True
        return _Solution(here, solved, far, gap, cost, alpha, beta, rows, needed, more)

    def _iterate(self, x: Array, lam: float, nu: float) -> _Iterate:
        return _Iterate(x, lam, nu, self.margins(x), self._hard @ x - self._h)

    def _scale(self, problem: _Problem, at: _Iterate) -> float:
        """Scale of the objective: the norm budget, or the penalised objective itself."""
        if problem.mode > 0:
            return problem.norm
        loss = self.program.slacks.greatest(np.maximum(-at.margin, 0.0)) @ self.program.s + self._linear @ at.x
        return max(float(self.program.norm(at.x[: self.d]) + problem.C * loss), 1e-12)

    def _width(self, columns: Indices | None) -> float:
        """Weights and offsets by which rows are counted: those of the working set, or as many as may be used."""
        offsets = self.size - self.d
        width = self.size if columns is None else len(columns) + offsets
        return min(width, MANY * (len(self.support) + FIRST_COLUMNS + offsets)) if len(self.support) else width

    def _first_columns(self, problem: _Problem, x: Array) -> tuple[Indices | None, Array]:
        """Return the weights that the start moves most, and the start without the others; None to take all.

        Where it is the optimum for another price of the loss, the weights that the loss pulls at most come in.
        """
        d, w = self.d, np.abs(x[: self.d]) * self.program.gamma
        needed = np.flatnonzero(w) if problem.mode == 0 else self.support
        size = FIRST_COLUMNS + len(needed)
        if MANY * size >= d:
            if self._all_free:
                return None, x
            columns = np.flatnonzero(self._free)
        else:
            if problem.mode == 0:
                slopes = np.where(self.margins(x) < 0.0, self._row_weight, 0.0)
                w = np.abs(self.pull(slopes) - self._linear)[:d] / self.program.gamma
            greatest = np.argpartition(-w, size)[:size]
            columns = np.unique(np.concatenate([greatest, needed, np.flatnonzero(problem.goal)]))
            columns = columns[self._free[columns]]
        out = np.concatenate([self._fixed, x[d:]])
        out[columns] = x[columns]
        return columns, out

    def _priced_out(
        self, problem: _Problem, columns: Indices, alpha: Array, beta: Array, at: _Iterate, rough: bool
    ) -> Indices:
        """Weights outside the working set that could do better than those inside; if rough, a few more."""
        price = self.pull(alpha)[: self.d]  # in place from here on, as there may be very many
        if len(beta):
            price += (beta @ self._hard)[: self.d]
        if self._any_linear:
            price -= at.lam * self._linear[: self.d]
        price += problem.goal
        np.abs(price, out=price)
        price -= problem.charge
        price /= self.program.gamma
        price[columns], price[~self._free] = -np.inf, -np.inf
        if not np.max(price, initial=-np.inf) > at.nu + MISSED:
            return np.zeros(0, dtype=np.intp)
        more = np.flatnonzero(price > (NEARLY if rough else 1.0) * at.nu + MISSED)
        return more if len(more) <= MORE_COLUMNS else more[np.argpartition(-price[more], MORE_COLUMNS)[:MORE_COLUMNS]]

    def _restricted(
        self, problem: _Problem, state: NDArray[np.uint8], hard: Indices, columns: Indices | None, at: _Iterate,
        scale: float, beat: float,
    ) -> Callable[[float, float], tuple[_Iterate, Array, float, bool]]:  # fmt: skip
        """Return what solves a problem over a working set to a tolerance, and goes on from there when called again.

        It returns the point, the multipliers of the rows, the complementarity, and whether the problem is solved.
        """
        program, slacks, d, mode = self.program, self.program.slacks, self.d, problem.mode
        chosen = np.arange(self.size) if columns is None else np.append(columns, np.arange(d, self.size))
        some = slice(None) if columns is None else columns
        lin, x, norm = self._linear[chosen], at.x[chosen], problem.norm
        kept, K, right, loss = self._gather(state, hard, chosen, lin)
        loss = problem.loss - loss
        if self._any_fixed:
            right = K @ x - np.concatenate([at.margin[kept], at.room[hard]])
            slopes = np.where(state == 2, self._row_weight, 0.0)
            loss -= float((self._linear - self.pull(slopes))[:d] @ self._fixed)
            norm -= float(program.norm(self._fixed))
        if slacks.shared:
            own = slacks.of_row[kept]
            begin = np.flatnonzero(np.diff(own, prepend=-1))
            s, start = program.s[own[begin]], np.append(begin, len(kept)).astype(np.intc)
        else:
            s, start = program.s[kept], np.arange(len(kept) + 1, dtype=np.intc)
        near = at.margin[kept] if len(kept) else at.room[hard]
        band = 0.5 * float(np.max(np.abs(near), initial=0.0)) + 1e-9
        data = (
            K, right, start, s, lin, program.gamma[some], problem.goal[some], problem.charge[some],
            norm + problem.C * loss if mode == 1 else norm, loss if mode == 2 else 0.0, problem.C, mode,
        )  # fmt: skip
        pairs, begun = np.empty((2, 2 * (len(chosen) - self.size + d) + len(s) + len(K) + mode)), [x]
        end = current_deadline().end

        def solve(tol: float, inside: float) -> tuple[_Iterate, Array, float, bool]:
            found, multipliers, lam, nu, gap, solved = _kernel.solve(
                *data, begun[-1], at.lam, at.nu, scale, inside, band, pairs, len(begun) > 1, tol, beat, ITERATIONS, end
            )
            begun.append(found)
            # With all rows in the working set they need no others: that matters where these are very many.
            margin = K[: len(kept)] @ found - right[: len(kept)] if len(kept) == program.n_rows else None
            if columns is not None:
                found = np.concatenate([self._fixed, np.zeros(self.size - d)])
                found[chosen] = begun[-1]
            margin = self.margins(found) if margin is None else margin
            here = _Iterate(found, lam, nu, margin, self._hard @ found - self._h)
            return here, multipliers, gap, bool(solved and np.isfinite(gap))

        return solve

    def _gather(
        self, state: NDArray[np.uint8], hard: Indices, chosen: Indices, lin: Array
    ) -> tuple[NDArray[Any], Array, Array, float]:
        """Rows of the working set with their right sides; the linear loss of others is taken off `lin` and returned."""
        program, size = self.program, int(np.count_nonzero(state == 1))
        K, right = np.empty((size + len(hard), len(chosen))), np.empty(size + len(hard))
        if len(hard):
            K[size:], right[size:] = self._hard[np.ix_(hard, chosen)], self._h[hard]
        if self._table is not None:
            kept: NDArray[Any] = np.empty(size, dtype=np.intc)
            loss = _kernel.gather(self._table, program.r, self._row_weight, state, chosen, kept, K, right, lin)
            return kept, K, right, loss
        kept = np.flatnonzero(state == 1)
        K[:size], right[:size] = self.block(kept, chosen), program.r[kept]
        slopes = np.where(state == 2, self._row_weight, 0.0)
        lin -= self.pull(slopes)[chosen]
        return kept, K, right, float(slopes @ program.r)


class QuadraticModel:
    """Where the optima of bounds are, roughly: a quadratic model of the near-optimal set around a point of it.

    The hinges are rounded off over the rows nearest to their margins, the norm over the room that is left of it. Within
    the joint room of the two budgets the greatest ``goal·w`` is then the solution of one linear system, with one matrix
    for all goals: of the size of the weights or, if these are more, of the rows.
    """

    def __init__(self, program: Program, budget: Budget, w: Array, b: Array) -> None:
        self._x, self._d = np.concatenate([w, b]), len(w)
        some = slice(None, None, max(1, program.n_rows // TALL))
        A, B = program.A[some], program.B[some]
        margin = A @ w + B @ b - program.r[some]
        norm, loss = float(program.norm(w)), float(program.loss(w, b))
        if budget.price is None:
            room, left = max(budget.norm - norm, 1e-12), max(budget.loss - loss, 1e-12)
            self._price, self._room = room / left, 2.0 * room
        else:
            room = max(float(budget.room(norm, loss)), 1e-12)
            self._price, self._room = budget.price, room
        distance = np.abs(margin)
        count = min(int(SMOOTH_ROWS * len(self._x)), len(margin))
        width = float(np.partition(distance, count - 1)[count - 1]) if count else 1.0
        weight = program.row_weight[some] * (program.n_rows / max(len(margin), 1))
        curvature = np.where(distance <= width, 1.0, OUTSIDE) * weight * self._price / (2.0 * width + 1e-12)
        spread = SPREAD * room / float(program.gamma.sum())
        plus, minus = np.maximum(w, 0.0) + spread, np.maximum(-w, 0.0) + spread
        self._theta = (plus * plus + minus * minus) / (spread * program.gamma)
        # With fewer rows than weights, the offsets are left where they are.
        self._A = A if 0 < len(margin) < len(w) else None
        if self._A is not None:
            matrix = _product(A, self._theta, A.T)
            matrix.ravel()[:: len(matrix) + 1] += 1.0 / np.maximum(curvature, 1e-12)
        else:
            matrix = np.empty((len(self._x), len(self._x)))
            d = self._d
            matrix[:d, :d], matrix[d:, d:] = _product(A.T, curvature, A), (B.T * curvature) @ B
            matrix[d:, :d] = (B.T * curvature) @ A
            diagonal = matrix.ravel()[:: len(matrix) + 1]
            diagonal[:d] += 1.0 / self._theta
            diagonal += 1e-10 * diagonal.max(initial=1e-300)
        self._factor, info = dpotrf(matrix, lower=1, overwrite_a=1)
        if info:
            raise LinAlgError("the matrix of the quadratic model is not positive definite")

    def start(self, goal: Array) -> tuple[Array, float, float]:
        """Return a point, and multipliers λ and ν, for a goal."""
        far = np.zeros(len(self._x))
        if self._A is not None:
            step, asked = self._theta * goal, np.flatnonzero(goal)
            moved = dpotrs(self._factor, self._A[:, asked] @ step[asked], lower=1)[0]
            far[: self._d] = step - self._theta * (moved @ self._A)
        else:
            far[: self._d] = goal
            far = dpotrs(self._factor, far, lower=1)[0]
        gain = max(float(goal @ far[: self._d]), 1e-12 * self._room)
        nu = np.sqrt(gain / (2.0 * self._room))
        return self._x + far / nu, self._price * nu, nu


def _product(left: Matrix, weight: Array, right: Matrix) -> Array:
    """Product of a matrix, a diagonal one and another, as an array."""
    if sparse.issparse(left):
        return np.asarray((left.multiply(weight).tocsr() @ right).toarray())
    return np.asarray((np.asarray(left) * weight) @ np.asarray(right))


def _choose(slacks: Slacks, margin: Array, count: int, must: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """State of every row: 1 in the working set, 2 the row that decides its slack and counts as linear loss, or 0.

    The working set are so many rows nearest to where their slack changes hands, and those that must be in it.
    """
    n = len(margin)
    if count >= n:
        return np.ones(n, dtype=np.uint8)
    if not slacks.shared:
        limit = np.partition(np.abs(margin), count - 1)[count - 1]
        state = np.empty(n, dtype=np.uint8)
        _kernel.classify(margin, limit, must, state)
        return state
    return _choose_shared(slacks, margin, count, must)


def _choose_shared(slacks: Slacks, margin: Array, count: int, must: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same where rows share slacks."""
    top = np.maximum(slacks.greatest(-margin), 0.0)
    need = slacks.rows(top) + margin  # of every row to be the worst of its slack
    starts = slacks.starts
    worst = np.zeros(len(margin), dtype=bool)
    worst[np.lexsort((need, slacks.of_row))[starts]] = True
    # The least need of any other row, or of 0, to take over.
    rival = np.minimum(np.minimum.reduceat(np.where(worst, np.inf, need), starts), top)
    rival = np.where(top > 0.0, rival, np.minimum.reduceat(need, starts))
    limit = np.partition(np.maximum(slacks.rows(rival), need), count - 1)[count - 1]
    undecided: NDArray[np.bool_] = slacks.rows((rival <= limit) | (slacks.total(must.astype(float)) > 0.0))
    kept = (undecided & ((need <= limit) | worst)) | (must > 0)
    return np.where(kept, 1, np.where(worst & ~undecided & (slacks.rows(top) > 0.0), 2, 0)).astype(np.uint8)


def _least(room: Array, count: int, must: NDArray[np.bool_]) -> Indices:
    """Choose so many hard rows with the least room."""
    if count >= len(room):
        return np.arange(len(room))
    return np.flatnonzero((room <= np.partition(room, count - 1)[count - 1]) | must)


def _unseen(slacks: Slacks, s: Array, margin: Array, state: NDArray[np.uint8], must: NDArray[np.uint8]) -> float:
    """Loss that a working set does not see at a point; the rows that have it, and those of the set, are marked."""
    if not slacks.shared:
        return float(_kernel.unseen(margin, s, state, must))
    loss = np.maximum(-margin, 0.0)
    most, seen = slacks.greatest(loss), slacks.greatest(np.where(state == 1, loss, 0.0))
    linear = np.flatnonzero(state == 2)
    decided = slacks.of_row[linear]
    seen[decided] = -margin[linear]
    off = s * (most - seen)
    must[(state == 1) | (slacks.rows(off > 0.0) & (loss == slacks.rows(most)) & (loss > 0.0))] = 1
    must[linear[off[decided] > 0.0]] = 1
    return float(off.sum())

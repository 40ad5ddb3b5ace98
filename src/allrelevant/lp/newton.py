"""The system of one iteration of the interior-point engine.

Slacks and surpluses are eliminated, which leaves multipliers of rows ``dα = D (c − A dw − B db) + pull dλ`` and weights
``dw = (u⁺ − u⁻) + Θ (dy − κγ dν)`` with ``dy = Aᵀdα − u dλ``. Eliminating the former leaves a matrix of the size of
weights and offsets (:class:`TallSystem`), eliminating the latter one of the size of the rows
(:class:`~allrelevant.lp.wide.WideSystem`).

Small batches spend their time on the number of operations, not on their size: the two sides of the weights stand in one
array of shape (t, 2, d), and the two budgets in one of shape (t, 2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from allrelevant.lp.backend import diagonal
from allrelevant.lp.curvature import Curvature, SharedCurvature
from allrelevant.lp.iterates import Batch, State
from allrelevant.lp.rows import Rows

__all__ = ["RAISED", "PenaltySystem", "Shift", "Step", "System", "TallSystem"]

#: Share, in units of the precision, by which diagonals are raised.
RAISED = 45


class Shift(NamedTuple):
    """Right sides of the two sides of the weights and of the rows, with the residuals taken in, and those asked for."""

    sides: Any
    rows: Any
    U: Any

    @property
    def apart(self) -> Any:
        """``u⁺ − u⁻``."""
        return self.sides[:, 0] - self.sides[:, 1]


class Step(NamedTuple):
    """Steps of the multipliers of rows, of ``y``, offsets, the multipliers of both budgets, and the norm budget.

    What the multiplier of the norm asks of both sides of the weights goes with them. Without budgets there are no
    multipliers.
    """

    rows: Any
    y: Any
    norm: Any
    b: Any
    budgets: Any
    m: Any


class System(ABC):
    """The linear system of one iteration: factored once, solved for several right sides.

    Parameters
    ----------
    rows : Rows
        The rows.
    state : State
        The iterates.
    batch : Batch
        The targets.
    """

    factors: Any

    def __init__(self, rows: Rows, state: State, batch: Batch) -> None:
        self.rows, self.columns, self.linear = rows, batch.columns, batch.linear
        self.xp = rows.backend.xp
        _, _, xi, surplus, hard, loss, _ = rows.parts
        P, Z = state.P, state.Z
        self.inverse = 1.0 / Z
        self.Q = Q = P * self.inverse
        self.both = rows.sides(Q)
        self.theta = self.both[:, 0] + self.both[:, 1]
        curvature = SharedCurvature if rows.slacks.shared else Curvature
        self.curve = curvature(rows, Q[:, xi], Q[:, surplus], Q[:, hard])

        # Residuals of all equations; zero up to rounding once a full step has been taken.
        x = state.x(rows)
        self.due_rows = rows.net(P)
        self.due_rows += rows.right
        self.due_rows -= rows.forward(x, self.columns)
        lam = Z[:, loss]
        self._imbalances(Z, rows.adjoint(Z[:, rows.rows], self.columns) - lam * self.linear, batch)
        self.res_xi = lam * batch.s - (rows.per_slack(Z[:, surplus]) + Z[:, xi])
        # What the residuals of the duals ask of the primals, in all directions alike; of the rows, with their own.
        self.due_sides, self.due_xi = self.both * self.res_sides, Q[:, xi] * self.res_xi
        self.due_rows[:, : rows.n] += rows.per_row(self.due_xi)
        self.solved: Any = None
        self._budgets(state, x)
        self._factor()

    def _imbalances(self, Z: Any, y: Any, batch: Batch) -> None:
        """Residuals of the equations of offsets and of both sides of the weights, given what rows and loss pull."""
        rows = self.rows
        self.res_b = -y[:, rows.d :]
        y = y[:, : rows.d] + batch.goal
        cost = Z[:, rows.parts[-1]] * rows.gamma
        if batch.charge is not None:
            cost = cost + batch.charge
        self.res_sides = cost[:, None] - rows.sides(Z)
        self.res_sides[:, 0] -= y
        self.res_sides[:, 1] += y

    def _budgets(self, state: State, x: Any) -> None:
        """Residuals of the equations of the budgets; of the loss, with what the slacks are asked for."""
        rows, P, Z = self.rows, state.P, state.Z
        _, wm, xi, _, _, loss, norm = rows.parts
        self.pull, self.price = self.curve.pull(), rows.budget.price
        self.due_budgets = -P[:, loss.start :]
        self.due_budgets[:, 0] += (
            rows.loss_limit(state.m) - self.xp.vecdot(x, self.linear) + rows.weigh(self.due_xi - P[:, xi])
        )
        self.due_budgets[:, 1] += state.m - P[:, : wm.stop] @ rows.gamma_twice
        if self.price is not None:
            self.res_m = (Z[:, loss] / self.price - Z[:, norm])[:, 0]

    @abstractmethod
    def _factor(self) -> None:
        """Factor what all right sides share."""

    @abstractmethod
    def _solve(self, shift: Shift) -> Step:
        """Solve for one right side."""

    def idle(self, main: Any) -> Any:
        """1 for every offset that stands in no row, whose place on the diagonal is 0; 0 for the others."""
        return 1.0 * (main == 0.0)

    def dual_error(self, Z: Any) -> float:
        """Largest residual of the dual equations, relative to the duals."""
        pairs = [(self.res_sides, self.rows.sides(Z)), (self.res_xi, Z[:, self.rows.parts[2]])]
        return max(float(self.xp.max(self.xp.abs(res) / duals)) for res, duals in pairs if res.shape[-1])

    def direction(self, U: Any) -> tuple[Any, Any, Any]:
        """Step ``(dZ, db, dm)`` that goes with ``dP = U − Q dZ`` and removes all residuals."""
        rows = self.rows
        c = rows.net(U)
        c += self.due_rows
        step = self._solve(Shift(rows.sides(U) - self.due_sides, c, U))
        _, _, xi, _, _, loss, _ = rows.parts
        dZ = rows.backend.empty(self.Q.shape)
        dZ[:, rows.rows] = step.rows
        slack = self.res_xi - rows.per_slack(step.rows[:, : rows.n])
        if step.budgets is None:
            dZ[:, loss.start :] = 0.0
        else:
            slack += step.budgets[:, :1] * rows.s
            dZ[:, loss.start :] = step.budgets
        dZ[:, xi] = slack
        self._charge(dZ, step.y, step.norm)
        return dZ, step.b, step.m

    def _charge(self, dZ: Any, dy: Any, more: Any) -> None:
        """Write down the steps of both sides of the weights, with what that of the norm's multiplier asks of them."""
        sides = self.rows.sides(dZ)
        sides[...] = self.res_sides if more is None else self.res_sides + more
        sides[:, 0] -= dy
        sides[:, 1] += dy

    def _right(self, U: Any) -> Any:
        """Right sides of the equations of the budgets, of shape (t, 2)."""
        _, _, xi, _, _, loss, _ = self.rows.parts
        right = self.due_budgets - U[:, loss.start :]
        right[:, 0] -= self.rows.weigh(U[:, xi])
        return right

    def _first(self, right: Any, shared: Any) -> Any:
        """Solve for one right side, the first time together with those that do not change, kept in `solved`."""
        solve = self.rows.backend.solve
        if self.solved is None:
            together = solve(self.factors, self.xp.concat([right[:, None], shared], axis=1))
            self.solved = together[:, 1:]
            return together[:, 0]
        return solve(self.factors, right[:, None])[:, 0]


class TallSystem(System):
    """The system with the multipliers of the rows eliminated: its size is that of weights and offsets.

    It is bordered by those of the budgets, ``dλ`` and ``dν``, with the sides ``a = [A B]ᵀ pull − (u, v)`` and ``−κγ``.
    """

    def _factor(self) -> None:
        rows = self.rows
        self.factors = self._matrix()
        pulled = self.pull
        if rows.m:
            pulled = self.xp.zeros_like(self.due_rows)
            pulled[:, : rows.n] = self.pull
        self._bordered(rows.adjoint(pulled, self.columns) - self.linear, self.curve.rest(self.pull))

    def _matrix(self) -> Any:
        """Return the factors of the matrix."""
        d, backend = self.rows.d, self.rows.backend
        self.stiff = 1.0 / self.theta
        matrix = self.curve.gram(self.columns)
        main = diagonal(matrix)
        main *= 1.0 + RAISED * backend.epsilon
        main[:, :d] += self.stiff
        main[:, d:] += self.idle(main[:, d:])
        return backend.factor(matrix)

    def _bordered(self, a: Any, rest: Any) -> None:
        """Note the two sides of the border, and what is in its corner beside them; of the loss, with the rest given."""
        rows, xp, both = self.rows, self.xp, self.both
        d, loss = rows.d, rows.parts[-2]
        # What either side answers to the norm's multiplier: γ(1 ∓ κ), without the cancellation.
        self.answer = xp.concat([both[:, 1], both[:, 0]], axis=1).reshape(both.shape)
        self.answer *= (2.0 * rows.gamma * self.stiff)[:, None]
        self.border = rows.backend.zeros((len(a), 2, a.shape[1]))
        self.border[:, 0] = a
        self.border[:, 1, :d] = 0.5 * (self.answer[:, 0] - self.answer[:, 1])
        self.rest = 1.0 * self.Q[:, loss.start :]
        self.rest[:, 0] += rest
        self.rest[:, 1] += 2.0 * xp.vecdot(both[:, 0] * self.answer[:, 0], rows.gamma[None])
        self.corner: Any = None

    def _eliminated(self, shift: Shift, apart: Any) -> tuple[Any, Any]:
        """Multipliers of the rows as their right sides have them, and what that leaves on the right of the others."""
        d, weighted = self.rows.d, self.curve.apply(shift.rows)
        rhs = self.rows.adjoint(weighted, self.columns)
        rhs[:, :d] += apart * self.stiff
        rhs[:, d:] -= self.res_b
        return weighted, rhs

    def _solve(self, shift: Shift) -> Step:
        rows, xp = self.rows, self.xp
        n, d, apart = rows.n, rows.d, shift.apart
        weighted, rhs = self._eliminated(shift, apart)
        right = self._right(shift.U)
        right[:, 0] -= xp.vecdot(self.pull, shift.rows[:, :n])
        x, dual, dm = self._whole(rhs, right, shift.sides)
        da = weighted - self.curve.apply(rows.forward(x, self.columns))
        da[:, :n] += self.pull * dual[:, :1]
        # The weights are what was solved for; y follows, and its residual takes the rounding.
        return Step(da, (x[:, :d] - apart) * self.stiff, self.answer * dual[:, 1, None, None], x[:, d:], dual, dm)

    def _whole(self, rhs: Any, right: Any, sides: Any) -> tuple[Any, Any, Any]:
        """Solve with the border: steps of weights and offsets, of the two multipliers, and of the norm budget."""
        xp, size = self.xp, self.both.shape[1] * self.both.shape[2]
        x = self._first(rhs, self.border)
        right[:, 1] -= xp.vecdot(sides.reshape(-1, size), self.answer.reshape(-1, size))
        right += xp.vecdot(self.border, x[:, None])
        dual, dm = self._budget_steps(right)
        return x + self.solved[:, 0] * dual[:, :1] + self.solved[:, 1] * dual[:, 1:], dual, dm

    def _budget_steps(self, right: Any) -> tuple[Any, Any]:
        """Steps of the two multipliers and of the norm budget.

        ``[saa s; s skk] (dλ, dν) = (dm/C, −dm) − right``, with ``dm = 0`` or with ``dν = dλ/C + res_m``.
        """
        if self.corner is None:
            inner = self.xp.vecdot(self.border[:, :, None], self.solved[:, None])
            self.corner = inner[:, 0, 0] + self.rest[:, 0], inner[:, 1, 1] + self.rest[:, 1], inner[:, 0, 1]
        (saa, skk, s), one, two, C = self.corner, right[:, 0], right[:, 1], self.price
        dual = self.rows.backend.empty(right.shape)
        if C is None:
            det = s**2 - saa * skk
            dual[:, 0], dual[:, 1] = (one * skk - s * two) / det, (saa * two - s * one) / det
            return dual, 0.0 * one
        dual[:, 0] = -(C * one + two + (C * s + skk) * self.res_m) / (C * saa + 2 * s + skk / C)
        dual[:, 1] = dual[:, 0] / C + self.res_m
        return dual, C * (saa * dual[:, 0] + s * dual[:, 1] + one)


class PenaltySystem(TallSystem):
    """The same for the penalised problem, where the multipliers of loss and norm are given: there is no border."""

    def _budgets(self, state: State, x: Any) -> None:
        """There are none."""

    def _factor(self) -> None:
        self.factors = self._matrix()

    def _solve(self, shift: Shift) -> Step:
        rows, d, apart = self.rows, self.rows.d, shift.apart
        weighted, rhs = self._eliminated(shift, apart)
        x = rows.backend.solve(self.factors, rhs[:, None])[:, 0]
        da = weighted - self.curve.apply(rows.forward(x, self.columns))
        return Step(da, (x[:, :d] - apart) * self.stiff, None, x[:, d:], None, 0.0 * x[:, 0])

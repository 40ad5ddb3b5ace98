"""The system of one iteration of the interior-point engine.

Slacks and surpluses are eliminated, which leaves multipliers of rows ``dα = D (c − A dw − B db) + pull dλ`` and weights
``dw = (u⁺ − u⁻) + Θ (dy − κγ dν)`` with ``dy = Aᵀdα − u dλ``. Eliminating the former leaves a matrix of the size of
weights and offsets (:class:`TallSystem`), eliminating the latter one of the size of the rows (:class:`WideSystem`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

from allrelevant.lp.backend import diagonal
from allrelevant.lp.curvature import Curvature, SharedCurvature
from allrelevant.lp.rows import Batch, Rows, State

__all__ = ["PenaltySystem", "System", "TallSystem", "WideSystem"]

#: Share, in units of the precision, by which diagonals are raised.
RAISED = 45


class Shift(NamedTuple):
    """Right sides of the weights, of the rows and of the two budgets, with the residuals taken in."""

    up: Any
    um: Any
    rows: Any
    loss: Any
    norm: Any


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
        self.xp = xp = rows.backend.xp
        d = rows.d
        wp, wm, xi, surplus, hard, loss, norm = rows.parts
        P, Z = state.P, state.Z
        self.raised = 1.0 + RAISED * rows.backend.epsilon
        self.inverse = 1.0 / Z
        self.Q = Q = P * self.inverse
        self.theta = Q[:, wp] + Q[:, wm]
        curvature = SharedCurvature if rows.slacks.shared else Curvature
        self.curve = curvature(rows, Q[:, xi], Q[:, surplus], Q[:, hard])

        # Residuals of all equations; zero up to rounding once a full step has been taken.
        x = xp.concat([P[:, wp] - P[:, wm], state.b], axis=1)
        self.due_rows = rows.net(P)
        self.due_rows += rows.right
        self.due_rows -= rows.forward(x, self.columns)
        adjoint = rows.adjoint(Z[:, rows.rows], self.columns)
        lam, nu = Z[:, loss], Z[:, norm]
        y = adjoint - lam * self.linear
        self.res_b = -y[:, d:]
        y = y[:, :d] + batch.goal
        cost = nu * rows.gamma if batch.charge is None else nu * rows.gamma + batch.charge
        self.res_wp = cost - y - Z[:, wp]
        self.res_wm = cost + y - Z[:, wm]
        self.res_xi = lam * batch.s - (rows.per_slack(Z[:, surplus]) + Z[:, xi])
        # What the residuals of the duals ask of the primals, in all directions alike; of the rows, with their own.
        self.due_wp, self.due_wm, self.due_xi = Q[:, wp] * self.res_wp, Q[:, wm] * self.res_wm, Q[:, xi] * self.res_xi
        self.due_rows[:, : rows.n] += rows.per_row(self.due_xi)
        self.solved: Any = None
        self._budgets(state, x)
        self._factor()

    def _budgets(self, state: State, x: Any) -> None:
        """Residuals of the equations of the budgets; of the loss, with what the slacks are asked for."""
        rows, P, Z = self.rows, state.P, state.Z
        wp, wm, xi, _, _, loss, norm = rows.parts
        self.pull, self.price = self.curve.pull, rows.budget.price
        self.kappa = (self.Q[:, wp] - self.Q[:, wm]) / self.theta
        spent = rows.weigh(P[:, xi]) + self.xp.vecdot(x, self.linear)
        self.due_loss = rows.loss_limit(state.m) - spent - P[:, loss][:, 0] + rows.weigh(self.due_xi)
        self.res_norm = state.m - (P[:, wp] + P[:, wm]) @ rows.gamma - P[:, norm][:, 0]
        self.res_m = (0.0 * Z[:, loss] if self.price is None else Z[:, loss] / self.price - Z[:, norm])[:, 0]

    @abstractmethod
    def _factor(self) -> None:
        """Factor what all right sides share."""

    @abstractmethod
    def _solve(self, shift: Shift) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Steps of the rows' multipliers, ``y``, offsets, loss multiplier, norm multiplier, norm budget."""

    def idle(self, main: Any) -> Any:
        """1 for every offset that stands in no row, whose place on the diagonal is 0; 0 for the others."""
        return 1.0 * (main == 0.0)

    def dual_error(self, Z: Any) -> float:
        """Largest residual of the dual equations, relative to the duals."""
        wp, wm, xi, *_ = self.rows.parts
        pairs = [(self.res_wp, wp), (self.res_wm, wm), (self.res_xi, xi)]
        ratios = [self.xp.max(self.xp.abs(res) / Z[:, part]) for res, part in pairs if res.shape[1]]
        return max(float(ratio) for ratio in ratios)

    def direction(self, U: Any) -> tuple[Any, Any, Any]:
        """Step ``(dZ, db, dm)`` that goes with ``dP = U − Q dZ`` and removes all residuals."""
        rows, xp = self.rows, self.xp
        wp, wm, *_ = rows.parts
        c = rows.net(U)
        c += self.due_rows
        shift = Shift(U[:, wp] - self.due_wp, U[:, wm] - self.due_wm, c, *self._right(U))
        da, dy, db, dlam, dnu, dm = self._solve(shift)
        dt = self.res_xi - rows.per_slack(da[:, : rows.n])
        dZ = xp.empty_like(self.Q)
        dZ[:, rows.rows] = da
        self._charge(dZ, dt, dy, dlam, dnu)
        return dZ, db, dm

    def _charge(self, dZ: Any, dt: Any, dy: Any, dlam: Any, dnu: Any) -> None:
        """Write down the steps of weights and slacks, with what those of the two multipliers ask of them."""
        wp, wm, xi, _, _, loss, norm = self.rows.parts
        more = dnu[:, None] * self.rows.gamma
        dt += dlam[:, None] * self.rows.s
        dZ[:, wp], dZ[:, wm], dZ[:, xi] = self.res_wp - dy + more, self.res_wm + dy + more, dt
        dZ[:, loss], dZ[:, norm] = dlam[:, None], dnu[:, None]

    def _right(self, U: Any) -> tuple[Any, Any]:
        """Right sides of the equations of the budgets."""
        _, _, xi, _, _, loss, norm = self.rows.parts
        return self.due_loss - self.rows.weigh(U[:, xi]) - U[:, loss][:, 0], self.res_norm - U[:, norm][:, 0]

    def _first(self, right: Any, *shared: Any) -> Any:
        """Solve for one right side, the first time together with those that do not change, kept in `solved`."""
        solve = self.rows.backend.solve
        if self.solved is None:
            together = solve(self.factors, self.xp.concat([right[:, None], *shared], axis=1))
            self.solved = together[:, 1:]
            return together[:, 0]
        return solve(self.factors, right[:, None])[:, 0]


class TallSystem(System):
    """The system with the multipliers of the rows eliminated: its size is that of weights and offsets."""

    def _factor(self) -> None:
        rows, xp, Q = self.rows, self.xp, self.Q
        wp, wm, _, _, _, loss, norm = rows.parts
        d = rows.d
        self.factors = self._matrix()
        pulled = self.pull
        if rows.m:
            pulled = xp.zeros_like(self.due_rows)
            pulled[:, : rows.n] = self.pull
        self.a = rows.adjoint(pulled, self.columns) - self.linear
        self.k = xp.zeros_like(self.a)
        self.k[:, :d] = self.kappa * rows.gamma
        self.e = self.curve.rest + Q[:, loss][:, 0]
        self.f = 4 * (Q[:, wp] * Q[:, wm] / self.theta) @ rows.gamma**2 + Q[:, norm][:, 0]

    def _matrix(self) -> Any:
        """Return the factors of the matrix."""
        d = self.rows.d
        matrix = self.curve.gram(self.columns)
        main = diagonal(matrix)
        main *= self.raised
        main[:, :d] += 1.0 / self.theta
        main[:, d:] += self.idle(main[:, d:])
        return self.rows.backend.factor(matrix)

    def _eliminated(self, shift: Shift) -> tuple[Any, Any]:
        """Multipliers of the rows as their right sides have them, and what that leaves on the right of the others."""
        d, weighted = self.rows.d, self.curve.apply(shift.rows)
        rhs = self.rows.adjoint(weighted, self.columns)
        rhs[:, :d] += (shift.up - shift.um) / self.theta
        rhs[:, d:] -= self.res_b
        return weighted, rhs

    def _solve(self, shift: Shift) -> tuple[Any, Any, Any, Any, Any, Any]:
        rows, xp = self.rows, self.xp
        n, d = rows.n, rows.d
        up, um, c, right_loss, right_norm = shift
        weighted, rhs = self._eliminated(shift)
        x = self._first(rhs, self.a[:, None], self.k[:, None])
        one = xp.vecdot(self.pull, c[:, :n]) - right_loss - xp.vecdot(self.a, x)
        two = xp.vecdot(self.k, x) - right_norm + self._spread(up, um)
        dlam, dnu, dm = self._border(one, two)
        x = x + self.solved[:, 0] * dlam[:, None] - self.solved[:, 1] * dnu[:, None]
        da = weighted - self.curve.apply(rows.forward(x, self.columns))
        da[:, :n] += self.pull * dlam[:, None]
        # The weights are what was solved for; y follows, and its residual takes the rounding.
        dy = (x[:, :d] - up + um) / self.theta + self.k[:, :d] * dnu[:, None]
        return da, dy, x[:, d:], dlam, dnu, dm

    def _spread(self, up: Any, um: Any) -> Any:
        """``γ·((u⁺ + u⁻) − κ(u⁺ − u⁻))`` without the cancellation."""
        wp, wm, *_ = self.rows.parts
        return (2 * (self.Q[:, wm] * up + self.Q[:, wp] * um) / self.theta) @ self.rows.gamma

    @cached_property
    def _corner(self) -> tuple[Any, Any, Any]:
        """Entries ``saa, sak, skk`` of the border."""
        vecdot, xa, xk = self.xp.vecdot, self.solved[:, 0], self.solved[:, 1]
        return self.e + vecdot(self.a, xa), vecdot(self.a, xk), self.f + vecdot(self.k, xk)

    def _border(self, one: Any, two: Any) -> tuple[Any, Any, Any]:
        """Steps of the two multipliers and of the norm budget.

        ``[saa −sak; −sak skk] (dλ, dν) = (one + dm/C, two − dm)``, with ``dm = 0`` or with ``dν = dλ/C + res_m``.
        """
        C, (saa, sak, skk) = self.price, self._corner
        if C is None:
            det = saa * skk - sak**2
            return (one * skk + sak * two) / det, (saa * two + sak * one) / det, 0.0 * one
        dlam = (C * one + two + (C * sak - skk) * self.res_m) / (C * saa - 2 * sak + skk / C)
        dnu = dlam / C + self.res_m
        return dlam, dnu, C * (saa * dlam - sak * dnu - one)


class PenaltySystem(TallSystem):
    """The same for the penalised problem, where the multipliers of loss and norm are given: there is no border."""

    def _budgets(self, state: State, x: Any) -> None:
        """There are none."""

    def _right(self, U: Any) -> tuple[Any, Any]:
        """There are none."""
        return None, None

    def _charge(self, dZ: Any, dt: Any, dy: Any, dlam: Any, dnu: Any) -> None:
        """Write down the steps of weights and slacks; the multipliers do not move."""
        wp, wm, xi, _, _, loss, _ = self.rows.parts
        dZ[:, wp], dZ[:, wm], dZ[:, xi] = self.res_wp - dy, self.res_wm + dy, dt
        dZ[:, loss.start :] = 0.0

    def _factor(self) -> None:
        self.factors = self._matrix()

    def _solve(self, shift: Shift) -> tuple[Any, Any, Any, Any, Any, Any]:
        rows, d = self.rows, self.rows.d
        weighted, rhs = self._eliminated(shift)
        x = rows.backend.solve(self.factors, rhs[:, None])[:, 0]
        da = weighted - self.curve.apply(rows.forward(x, self.columns))
        dy = (x[:, :d] - shift.up + shift.um) / self.theta
        still = 0.0 * x[:, 0]
        return da, dy, x[:, d:], still, still, still


class WideSystem(System):
    """The system with the weights eliminated: its size is that of the rows.

    ``M = A Θ Aᵀ + D⁻¹``, bordered by offsets, loss and norm::

        M dα + B db − g₁ dλ − g₂ dν = c − A (u⁺ − u⁻)        g₁ = P + A Θ u,   P = D⁻¹ pull,   g₂ = A Θ κγ
        Bᵀdα − v dλ                 = res_b
        g₁ᵀdα + v·db − E dλ − F dν  = loss equation          E = s·Q_ξ s + u·Θu + Q_loss,   F = u·Θκγ
        g₂ᵀdα − F dλ − N dν         = norm equation          N = γ·Θγ + Q_norm
    """

    def _factor(self) -> None:
        rows, xp, theta = self.rows, self.xp, self.theta
        matrix = rows.backend.gram(rows.table, theta)
        if self.columns is not None:
            slots = rows.slots(self.columns)
            matrix = matrix + xp.matrix_transpose(theta[:, slots, None] * self.columns) @ self.columns
        diagonal(matrix)[...] *= self.raised
        self.curve.add_inverse(matrix)
        self.factors = rows.backend.factor(matrix)
        self.T: Any = None

    def _borders(self) -> Any:
        """``B, g₁, g₂`` and ``P``, of which the last is wanted for its own sake."""
        rows, xp = self.rows, self.xp
        BT = rows.KT[rows.d :]
        P = xp.zeros_like(self.due_rows)
        P[:, : rows.n] = rows.per_row(rows.s * self.Q[:, rows.parts[2]])
        g1 = P + rows.forward(self.theta * self.linear[:, : rows.d], self.columns)
        g2 = rows.forward(self.theta * self.kappa * rows.gamma, self.columns)
        B = xp.broadcast_to(BT, (len(P), *BT.shape))
        return xp.concat([B, g1[:, None], g2[:, None], P[:, None]], axis=1)

    def _corner(self, border: Any, solved: Any) -> Any:
        """What the border leaves of itself, after the elimination of the multipliers."""
        rows, xp, Q, theta = self.rows, self.xp, self.Q, self.theta
        n, d, p, t = rows.n, rows.d, rows.p, len(Q)
        *_, loss, norm = rows.parts
        u, v = self.linear[:, :d], self.linear[0, d:]
        bent = theta * self.kappa * rows.gamma
        g1, P, by_g1, by_P = border[:, p], border[:, p + 2], solved[:, p], solved[:, p + 2]
        inner = border[:, : p + 2] @ xp.matrix_transpose(solved[:, : p + 2])
        E_rest = xp.vecdot(u * theta, u) + Q[:, loss][:, 0]
        F = xp.vecdot(u, bent)
        N = theta @ rows.gamma**2 + Q[:, norm][:, 0]
        size = p + 2 + (self.price is not None)
        T = rows.backend.zeros((t, size, size))
        T[:, : p + 2, : p + 2] = inner
        T[:, : p + 2, :p] *= -1.0
        # Offsets that do the same, or nothing, would make the matrix singular.
        main = diagonal(T)[:, :p]
        main *= self.raised
        main -= self.idle(main)
        T[:, :p, p] -= v
        T[:, p, :p] += v
        # s·Q_ξ s − P·M⁻¹P is summed without cancellation; a loss budget near zero would be lost in it.
        pulled = xp.zeros_like(self.due_rows)
        pulled[:, :n] = self.pull
        through = rows.forward(theta * rows.adjoint(pulled, self.columns)[:, :d], self.columns)
        stable = self.curve.rest + xp.vecdot(by_P, through)
        more = 2 * xp.vecdot(by_P, g1 - P) + xp.vecdot(g1 - P, by_g1 - by_P)
        T[:, p, p] = -(stable + E_rest - more)
        T[:, p, p + 1] -= F
        T[:, p + 1, p] -= F
        T[:, p + 1, p + 1] -= N
        if self.price is not None:
            T[:, p, p + 2], T[:, p + 1, p + 2] = 1.0 / self.price, -1.0
            T[:, p + 2, p], T[:, p + 2, p + 1] = -1.0 / self.price, 1.0
        return T

    def _solve(self, shift: Shift) -> tuple[Any, Any, Any, Any, Any, Any]:
        rows, xp = self.rows, self.xp
        d, p = rows.d, rows.p
        up, um, c, right_loss, right_norm = shift
        u = self.linear[:, :d]
        c = c - rows.forward(up - um, self.columns)
        if self.T is None:
            self.G = self._borders()
        h0 = self._first(c, self.G)
        if self.T is None:
            self.T = self._corner(self.G, self.solved)
            self.G, self.solved = self.G[:, : p + 2], self.solved[:, : p + 2]
        loss_equation = right_loss - xp.vecdot(u, up - um)
        norm_equation = right_norm - (up + um) @ rows.gamma
        right = xp.concat([self.res_b, loss_equation[:, None], norm_equation[:, None]], axis=1)
        right = right - xp.vecdot(self.G, h0[:, None])
        if self.price is not None:
            right = xp.concat([right, self.res_m[:, None]], axis=1)
        steps = xp.linalg.solve(self.T, right[:, :, None])[:, :, 0]
        db, dlam, dnu = steps[:, :p], steps[:, p], steps[:, p + 1]
        dm = 0.0 * dlam if self.price is None else steps[:, p + 2]
        signed = xp.concat([-db, steps[:, p : p + 2]], axis=1)
        da = h0 + (signed[:, None] @ self.solved)[:, 0]
        # The multipliers are what was solved for; the weights follow.
        dy = rows.adjoint(da, self.columns)[:, :d] - dlam[:, None] * u
        return da, dy, db, dlam, dnu, dm

"""The system of one iteration of the interior-point engine.

Slacks and surpluses are eliminated, which leaves multipliers of rows ``dα = D (c − A dw − B db) + pull dλ`` and weights
``dw = (u⁺ − u⁻) + Θ (dy − κγ dν)`` with ``dy = Aᵀdα − u dλ``. Eliminating the former leaves a matrix of the size of
weights and offsets (:class:`TallSystem`), eliminating the latter one of the size of the rows (:class:`WideSystem`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from allrelevant.lp.rows import Curvature, Rows, SharedCurvature, State

__all__ = ["System", "TallSystem", "WideSystem"]


class System(ABC):
    """The linear system of one iteration: factored once, solved for several right sides.

    Parameters
    ----------
    rows : Rows
        The rows.
    state : State
        The iterates.
    goal, charge : array of shape (t, d)
        Objectives: coefficients of the weights and of their magnitudes.
    columns : array of shape (t, m, rows) or None
        Columns of the targets' own.
    u : array of shape (t, d)
        Linear loss of every target.
    """

    def __init__(self, rows: Rows, state: State, goal: Any, charge: Any, columns: Any, u: Any) -> None:
        self.rows, self.columns, self.u, self.xp = rows, columns, u, rows.backend.xp
        xp = self.xp
        wp, wm, xi, surplus, hard, loss, norm = rows.parts
        P, Z, b = state.P, state.Z, state.b
        n = rows.n
        self.Z = Z
        self.Q = Q = P / Z
        self.theta = Q[:, wp] + Q[:, wm]
        self.kappa = (Q[:, wp] - Q[:, wm]) / self.theta
        curvature = SharedCurvature if rows.slacks.shared else Curvature
        self.curve = curvature(rows, Q[:, xi], Q[:, surplus], Q[:, hard])
        self.pull = self.curve.pull

        # Residuals of all equations; zero up to rounding once a full step has been taken.
        w = P[:, wp] - P[:, wm]
        self.res_rows = -rows.forward(w, columns) - b @ rows.BT
        self.res_rows[:, :n] += rows.r - rows.per_row(P[:, xi]) + P[:, surplus]
        self.res_rows[:, n:] += rows.h + P[:, hard]
        spent = P[:, xi] @ rows.s + xp.sum(w * u, axis=1) + b @ rows.v + P[:, loss][:, 0]
        self.price = rows.budget.price
        self.res_loss = rows.loss_limit(state.m) - spent
        self.res_norm = state.m - (P[:, wp] + P[:, wm]) @ rows.gamma - P[:, norm][:, 0]
        lam, nu = Z[:, loss], Z[:, norm]
        multipliers = xp.concat([Z[:, surplus], Z[:, hard]], axis=1)
        y = rows.adjoint(multipliers, columns) + goal - lam * u
        cost = nu * rows.gamma + charge
        self.res_wp = cost - y - Z[:, wp]
        self.res_wm = cost + y - Z[:, wm]
        self.res_xi = lam * rows.s - rows.per_slack(Z[:, surplus]) - Z[:, xi]
        self.res_b = lam * rows.v - multipliers @ rows.B
        self.res_m = 0.0 * lam[:, 0] if self.price is None else (lam / self.price - nu)[:, 0]
        self._factor()

    @abstractmethod
    def _factor(self) -> None:
        """Factor what all right sides share."""

    @abstractmethod
    def _solve(self, up: Any, um: Any, ux: Any, c: Any, U: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
        """Steps of the rows' multipliers, ``y``, offsets, loss multiplier, norm multiplier, norm budget."""

    @property
    def dual_error(self) -> float:
        """Largest residual of the dual equations, relative to the duals."""
        wp, wm, xi, *_ = self.rows.parts
        pairs = [(self.res_wp, wp), (self.res_wm, wm), (self.res_xi, xi)]
        ratios = [self.xp.max(self.xp.abs(res) / self.Z[:, part]) for res, part in pairs if res.shape[1]]
        return max(float(ratio) for ratio in ratios)

    def direction(self, products: Any) -> tuple[Any, Any, Any, Any]:
        """Step ``(dP, dZ, db, dm)`` with ``Z dP + P dZ = products`` that removes all residuals."""
        rows, Q, xp = self.rows, self.Q, self.xp
        wp, wm, xi, surplus, hard, loss, norm = rows.parts
        n = rows.n
        U = products / self.Z
        up = U[:, wp] - Q[:, wp] * self.res_wp
        um = U[:, wm] - Q[:, wm] * self.res_wm
        ux = U[:, xi] - Q[:, xi] * self.res_xi
        c = xp.concat(
            [self.res_rows[:, :n] + U[:, surplus] - rows.per_row(ux), self.res_rows[:, n:] + U[:, hard]], axis=1
        )
        da, dy, db, dlam, dnu, dm = self._solve(up, um, ux, c, U)
        dZ = xp.empty_like(Q)
        dZ[:, surplus], dZ[:, hard] = da[:, :n], da[:, n:]
        dZ[:, wp] = dnu[:, None] * rows.gamma - dy + self.res_wp
        dZ[:, wm] = dnu[:, None] * rows.gamma + dy + self.res_wm
        dZ[:, xi] = dlam[:, None] * rows.s - rows.per_slack(da[:, :n]) + self.res_xi
        dZ[:, loss], dZ[:, norm] = dlam[:, None], dnu[:, None]
        return U - Q * dZ, dZ, db, dm

    def _spread(self, up: Any, um: Any) -> Any:
        """``γ·((u⁺ + u⁻) − κ(u⁺ − u⁻))`` without the cancellation."""
        wp, wm, *_ = self.rows.parts
        return (2 * (self.Q[:, wm] * up + self.Q[:, wp] * um) / self.theta) @ self.rows.gamma


class TallSystem(System):
    """The system with the multipliers of the rows eliminated: its size is that of weights and offsets."""

    def _factor(self) -> None:
        rows, xp, Q = self.rows, self.xp, self.Q
        wp, wm, _, _, _, loss, norm = rows.parts
        n, d = rows.n, rows.d
        matrix = self.curve.gram(self.columns)
        every = rows.backend.indices(np.arange(d + rows.p))
        matrix[:, every, every] *= 1.0 + 1e-14
        matrix[:, every[:d], every[:d]] += 1.0 / self.theta
        pulled = xp.zeros_like(self.res_rows)
        pulled[:, :n] = self.pull
        self.a = xp.concat([rows.adjoint(pulled, self.columns) - self.u, pulled @ rows.B - rows.v], axis=1)
        self.k = xp.zeros_like(self.a)
        self.k[:, :d] = self.kappa * rows.gamma
        e = self.curve.rest + Q[:, loss][:, 0]
        f = xp.sum(4 * rows.gamma**2 * Q[:, wp] * Q[:, wm] / self.theta, axis=1) + Q[:, norm][:, 0]
        self.factors = rows.backend.factor(matrix)
        solved = rows.backend.solve(self.factors, xp.stack([self.a, self.k], axis=1))
        self.xa, self.xk = solved[:, 0], solved[:, 1]
        self.saa = e + xp.sum(self.a * self.xa, axis=1)
        self.sak = xp.sum(self.a * self.xk, axis=1)
        self.skk = f + xp.sum(self.k * self.xk, axis=1)

    def _solve(self, up: Any, um: Any, ux: Any, c: Any, U: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
        rows, xp = self.rows, self.xp
        *_, loss, norm = rows.parts
        n, d = rows.n, rows.d
        weighted = self.curve.apply(c)
        rhs = xp.concat(
            [rows.adjoint(weighted, self.columns) + (up - um) / self.theta, weighted @ rows.B - self.res_b], axis=1
        )
        rhs_loss = ux @ rows.s + U[:, loss][:, 0] + xp.sum(self.pull * c[:, :n], axis=1) - self.res_loss
        rhs_norm = self.res_norm - U[:, norm][:, 0] - self._spread(up, um)
        x0 = rows.backend.solve(self.factors, rhs[:, None, :])[:, 0]
        one = rhs_loss - xp.sum(self.a * x0, axis=1)
        two = xp.sum(self.k * x0, axis=1) - rhs_norm
        dlam, dnu, dm = self._border(one, two)
        x = x0 + self.xa * dlam[:, None] - self.xk * dnu[:, None]
        dw, db = x[:, :d], x[:, d:]
        da = weighted - self.curve.apply(rows.forward(dw, self.columns) + db @ rows.BT)
        da[:, :n] += self.pull * dlam[:, None]
        # The weights are what was solved for; y follows, and its residual takes the rounding.
        dy = (dw - up + um) / self.theta + self.kappa * rows.gamma * dnu[:, None]
        return da, dy, db, dlam, dnu, dm

    def _border(self, one: Any, two: Any) -> tuple[Any, Any, Any]:
        """Steps of the two multipliers and of the norm budget.

        ``[saa −sak; −sak skk] (dλ, dν) = (one + dm/C, two − dm)``, with ``dm = 0`` or with ``dν = dλ/C + res_m``.
        """
        saa, sak, skk, C = self.saa, self.sak, self.skk, self.price
        if C is None:
            det = saa * skk - sak**2
            return (one * skk + sak * two) / det, (saa * two + sak * one) / det, 0.0 * one
        dlam = (C * one + two + (C * sak - skk) * self.res_m) / (C * saa - 2 * sak + skk / C)
        dnu = dlam / C + self.res_m
        return dlam, dnu, C * (saa * dlam - sak * dnu - one)


class WideSystem(System):
    """The system with the weights eliminated: its size is that of the rows.

    ``M = A Θ Aᵀ + D⁻¹``, bordered by offsets, loss and norm::

        M dα + B db − g₁ dλ − g₂ dν = c − A (u⁺ − u⁻)        g₁ = P + A Θ u,   P = D⁻¹ pull,   g₂ = A Θ κγ
        Bᵀdα − v dλ                 = res_b
        g₁ᵀdα + v·db − E dλ − F dν  = loss equation          E = s·Q_ξ s + u·Θu + Q_loss,   F = u·Θκγ
        g₂ᵀdα − F dλ − N dν         = norm equation          N = γ·Θγ + Q_norm
    """

    def _factor(self) -> None:
        rows, xp, Q = self.rows, self.xp, self.Q
        _, _, xi, _, _, loss, norm = rows.parts
        n, p = rows.n, rows.p
        theta, u = self.theta, self.u
        matrix = rows.backend.gram(rows.table, theta)
        if self.columns is not None:
            slots = rows.slots(self.columns)
            matrix = matrix + xp.matrix_transpose(theta[:, slots, None] * self.columns) @ self.columns
        every = rows.backend.indices(np.arange(n + rows.m))
        matrix[:, every, every] *= 1.0 + 1e-14
        self.curve.add_inverse(matrix)
        self.factors = rows.backend.factor(matrix)
        weighted_slack = rows.s * Q[:, xi]
        P = xp.zeros_like(self.res_rows)
        P[:, :n] = rows.per_row(weighted_slack)
        bent = theta * self.kappa * rows.gamma
        g1 = P + rows.forward(theta * u, self.columns)
        g2 = rows.forward(bent, self.columns)
        t = len(Q)
        border = xp.concat(
            [xp.broadcast_to(rows.BT, (t, *rows.BT.shape)), P[:, None], g1[:, None], g2[:, None]], axis=1
        )
        solved = rows.backend.solve(self.factors, border)
        self.G = xp.concat([border[:, :p], border[:, p + 1 :]], axis=1)  # B, g₁, g₂
        self.H = xp.concat([solved[:, :p], solved[:, p + 1 :]], axis=1)
        inner = self.G @ xp.matrix_transpose(self.H)
        E_rest = xp.sum(u * theta * u, axis=1) + Q[:, loss][:, 0]
        F = xp.sum(u * bent, axis=1)
        N = xp.sum(rows.gamma**2 * theta, axis=1) + Q[:, norm][:, 0]
        size = p + 2 + (self.price is not None)
        T = rows.backend.zeros((t, size, size))
        T[:, : p + 2, : p + 2] = inner
        T[:, : p + 2, :p] *= -1.0
        T[:, :p, p] -= rows.v
        T[:, p, :p] += rows.v
        # s·Q_ξ s − P·M⁻¹P is summed without cancellation; a loss budget near zero would be lost in it.
        pulled = xp.zeros_like(self.res_rows)
        pulled[:, :n] = self.pull
        through = rows.forward(theta * rows.adjoint(pulled, self.columns), self.columns)
        stable = self.curve.rest + xp.sum(solved[:, p] * through, axis=1)
        more = 2 * xp.sum(solved[:, p] * (g1 - P), axis=1) + xp.sum(
            (g1 - P) * (solved[:, p + 1] - solved[:, p]), axis=1
        )
        T[:, p, p] = -(stable + E_rest - more)
        T[:, p, p + 1] -= F
        T[:, p + 1, p] -= F
        T[:, p + 1, p + 1] -= N
        if self.price is not None:
            T[:, p, p + 2], T[:, p + 1, p + 2] = 1.0 / self.price, -1.0
            T[:, p + 2, p], T[:, p + 2, p + 1] = -1.0 / self.price, 1.0
        self.T = T

    def _solve(self, up: Any, um: Any, ux: Any, c: Any, U: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
        rows, xp, u = self.rows, self.xp, self.u
        *_, loss, norm = rows.parts
        p = rows.p
        c = c - rows.forward(up - um, self.columns)
        h0 = rows.backend.solve(self.factors, c[:, None])[:, 0]
        loss_equation = self.res_loss - ux @ rows.s - xp.sum(u * (up - um), axis=1) - U[:, loss][:, 0]
        norm_equation = self.res_norm - (up + um) @ rows.gamma - U[:, norm][:, 0]
        right = xp.concat([self.res_b, loss_equation[:, None], norm_equation[:, None]], axis=1)
        right = right - xp.sum(self.G * h0[:, None], axis=2)
        if self.price is not None:
            right = xp.concat([right, self.res_m[:, None]], axis=1)
        steps = xp.linalg.solve(self.T, right[:, :, None])[:, :, 0]
        db, dlam, dnu = steps[:, :p], steps[:, p], steps[:, p + 1]
        dm = 0.0 * dlam if self.price is None else steps[:, p + 2]
        signed = xp.concat([-db, dlam[:, None], dnu[:, None]], axis=1)
        da = h0 + (signed[:, None] @ self.H)[:, 0]
        # The multipliers are what was solved for; the weights follow.
        dy = rows.adjoint(da, self.columns) - dlam[:, None] * u
        return da, dy, db, dlam, dnu, dm

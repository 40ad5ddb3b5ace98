"""The system of one iteration where there are fewer rows than weights: the weights are eliminated."""

from __future__ import annotations

from typing import Any

from allrelevant.lp.backend import diagonal
from allrelevant.lp.newton import RAISED, Shift, Step, System

__all__ = ["WideSystem"]


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
        self.raised = 1.0 + RAISED * rows.backend.epsilon
        self.kappa = (self.both[:, 0] - self.both[:, 1]) / theta
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
        stable = self.curve.rest(self.pull) + xp.vecdot(by_P, through)
        more = 2 * xp.vecdot(by_P, g1 - P) + xp.vecdot(g1 - P, by_g1 - by_P)
        T[:, p, p] = -(stable + E_rest - more)
        T[:, p, p + 1] -= F
        T[:, p + 1, p] -= F
        T[:, p + 1, p + 1] -= N
        if self.price is not None:
            T[:, p, p + 2], T[:, p + 1, p + 2] = 1.0 / self.price, -1.0
            T[:, p + 2, p], T[:, p + 2, p + 1] = -1.0 / self.price, 1.0
        return T

    def _solve(self, shift: Shift) -> Step:
        rows, xp = self.rows, self.xp
        d, p, apart = rows.d, rows.p, shift.apart
        u = self.linear[:, :d]
        c = shift.rows - rows.forward(apart, self.columns)
        if self.T is None:
            self.G = self._borders()
        h0 = self._first(c, self.G)
        if self.T is None:
            self.T = self._corner(self.G, self.solved)
            self.G, self.solved = self.G[:, : p + 2], self.solved[:, : p + 2]
        budgets = self._right(shift.U)
        budgets[:, 0] -= xp.vecdot(u, apart)
        budgets[:, 1] -= (shift.sides[:, 0] + shift.sides[:, 1]) @ rows.gamma
        right = xp.concat([self.res_b, budgets], axis=1) - xp.vecdot(self.G, h0[:, None])
        if self.price is not None:
            right = xp.concat([right, self.res_m[:, None]], axis=1)
        steps = xp.linalg.solve(self.T, right[:, :, None])[:, :, 0]
        db, dual = steps[:, :p], steps[:, p : p + 2]
        dm = 0.0 * dual[:, 0] if self.price is None else steps[:, p + 2]
        da = h0 + (xp.concat([-db, dual], axis=1)[:, None] @ self.solved)[:, 0]
        # The multipliers are what was solved for; the weights follow.
        dy = rows.adjoint(da, self.columns)[:, :d] - dual[:, :1] * u
        return Step(da, dy, (dual[:, 1:] * rows.gamma)[:, None], db, dual, dm)

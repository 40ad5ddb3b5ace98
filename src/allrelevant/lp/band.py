"""The band of rows whose hinges are rounded off, and the equations of one step of what is smooth then.

See :mod:`~allrelevant.lp.smooth`.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from allrelevant.lp.curvature import Curvature
from allrelevant.lp.newton import RAISED, TallSystem
from allrelevant.lp.rows import Batch, Rows

if TYPE_CHECKING:
    from allrelevant.lp.smooth import Smoothed

__all__ = ["Band", "SmoothPenaltySystem", "SmoothSystem", "band_width", "few_pairs", "rounding"]

#: Rows per weight and offset that the band shall hold at last.
BAND = 2.5
#: Rows per weight and offset, without which nothing is smooth.
ROWS = 6
#: Curvature of rows beyond the band, as a share of that of those within: so that no direction is without any.
BEYOND = 1e-3


def band_width(margin: Any, rows: Rows, per_weight: float) -> Any:
    """Half-widths of the bands that hold so many of the rows per weight and offset."""
    rank = int(min(per_weight * rows.twins * (rows.d + rows.p), 0.6 * rows.n))
    return np.partition(np.abs(margin), rank, axis=1)[:, rank]


def rounding(margin: Any, width: Any, s: Any) -> Any:
    """What rounding off the hinges of rows adds to their loss."""
    edge = np.maximum(width - np.abs(margin), 0.0)
    return (s * edge * edge / (4.0 * width)).sum(axis=1)


def few_pairs(rows: Rows) -> Rows:
    """Return the same rows, where only weights, hard rows and budgets have pairs."""
    few = copy(rows)
    sizes = [0, rows.d, rows.d, 0, 0, rows.m, 1, 1]
    few.parts = [slice(a, b) for a, b in pairwise(np.cumsum(sizes).tolist())]
    return few


class Band(Curvature):
    """Curvature of the smoothed rows."""

    def __init__(self, rows: Rows, D: Any) -> None:
        self.rows, self.xp, self.D = rows, rows.backend.xp, D


class SmoothSystem(TallSystem):
    """The linear system of one step: hinge rows have a curvature, but no pairs.

    Parameters
    ----------
    rows : Rows
        The rows, where only weights, hard rows and budgets have pairs.
    at : Smoothed
        The iterates.
    batch : Batch
        The targets.

    Attributes
    ----------
    inside : array of shape (t,)
        How many rows are within the band.
    """

    #: Newton steps of all, and then of those who have not arrived.
    steps = (7, 3, 3)

    def __init__(self, rows: Rows, at: Smoothed, batch: Batch) -> None:
        self.rows, self.columns, self.linear = rows, batch.columns, batch.linear
        self.xp = xp = rows.backend.xp
        n, d = rows.n, rows.d
        wp, wm, _, _, hard, loss, norm = rows.parts
        P, Z = at.P, at.Z
        lam, nu = Z[:, loss], Z[:, norm]
        self.at, self.price = at, None
        self.raised = 1.0 + RAISED * rows.backend.epsilon
        self.inverse = 1.0 / Z
        self.Q = Q = P * self.inverse
        self.theta = Q[:, wp] + Q[:, wm]
        width = at.width[:, None]
        # The arrays of all rows are the bulk of a step: as few passes over them as can be.
        share = at.margin * (-0.5 / width)
        self.pull = rows.backend.clip(share, -0.5, 0.5)
        D = (self.pull == share).astype(share.dtype)
        self.inside = xp.vecdot(D, xp.ones_like(D[:1]))
        self.pull += 0.5
        D *= (1.0 - BEYOND) * 0.5 * lam / width
        D += BEYOND * 0.5 * lam / width
        if (batch.s != 1.0).any():
            self.pull *= batch.s
            D *= batch.s
        if rows.m:
            D = xp.concat([D, 1.0 / Q[:, hard]], axis=1)
        self.curve = Band(rows, D)
        x = xp.concat([P[:, wp] - P[:, wm], at.b], axis=1)
        self.fall = rows.adjoint(self._all(hinge=self.pull), self.columns) - self.linear
        y = lam * self.fall
        if rows.m:
            self.due_hard = P[:, hard] + rows.right[..., n:] - self._hard(x)
            y = y + rows.adjoint(self._all(hard=Z[:, hard]), self.columns)
        self.res_b = -y[:, d:]
        y = y[:, :d] + batch.goal
        cost = nu * rows.gamma if batch.charge is None else nu * rows.gamma + batch.charge
        self.res_wp, self.res_wm = cost - y - Z[:, wp], cost + y - Z[:, wm]
        self.solved: Any = None
        self._limits(x)
        self._factor()

    def _limits(self, x: Any) -> None:
        """Residuals of the equations of the budgets."""
        rows, P, Q = self.rows, self.at.P, self.Q
        wp, wm, _, _, _, loss, norm = rows.parts
        # Of the loss as it is: rounding it off shall not make the budget smaller.
        spent = self.xp.vecdot(x, self.linear) - rows.weigh(rows.backend.clip(self.at.margin, None, 0.0))
        self.res_loss = rows.budget.loss - spent - P[:, loss][:, 0]
        self.res_norm = rows.budget.norm - (P[:, wp] + P[:, wm]) @ rows.gamma - P[:, norm][:, 0]
        self.kappa = (Q[:, wp] - Q[:, wm]) / self.theta

    def _factor(self) -> None:
        rows, Q = self.rows, self.Q
        wp, wm, _, _, _, loss, norm = rows.parts
        self.factors = self._matrix()
        self.a, self.k = self.fall, self.xp.zeros_like(self.fall)
        self.k[:, : rows.d] = self.kappa * rows.gamma
        self.e = Q[:, loss][:, 0]
        self.f = 4 * (Q[:, wp] * Q[:, wm] / self.theta) @ rows.gamma**2 + Q[:, norm][:, 0]

    def _all(self, hinge: Any = 0.0, hard: Any = 0.0) -> Any:
        """Values of hinge rows and of hard rows as those of all."""
        rows = self.rows
        if not rows.m:
            return hinge
        out = self.xp.empty((len(self.Q), rows.n + rows.m), dtype=self.Q.dtype)
        out[:, : rows.n], out[:, rows.n :] = hinge, hard
        return out

    def _hard(self, x: Any) -> Any:
        """Left sides of the hard rows."""
        return self.rows.forward(x, self.columns)[:, self.rows.n :]

    def step(self, tau: Any) -> tuple[Any, Any, Any]:
        """Step ``(dP, dZ)`` to where all pairs have the product `tau`, and that of weights and offsets."""
        rows, xp, Q, U = self.rows, self.xp, self.Q, tau[:, None] * self.inverse - self.at.P
        d = rows.d
        wp, wm, _, _, hard, loss, norm = rows.parts
        up, um = U[:, wp] - Q[:, wp] * self.res_wp, U[:, wm] - Q[:, wm] * self.res_wm
        rhs = xp.concat([(up - um) / self.theta, -self.res_b], axis=1)
        if rows.m:
            weighted = (U[:, hard] + self.due_hard) / Q[:, hard]
            rhs += rows.adjoint(self._all(hard=weighted), self.columns)
        x, dlam, dnu = self._answer(rhs, U, up, um)
        more = dnu[:, None] * rows.gamma
        dy = (x[:, :d] - up + um) / self.theta + self.kappa * more
        dZ = xp.empty_like(Q)
        dZ[:, wp], dZ[:, wm] = self.res_wp - dy + more, self.res_wm + dy + more
        dZ[:, loss], dZ[:, norm] = dlam[:, None], dnu[:, None]
        if rows.m:
            dZ[:, hard] = weighted - self._hard(x) / Q[:, hard]
        return U - Q * dZ, dZ, x

    def _answer(self, right: Any, U: Any, up: Any, um: Any) -> tuple[Any, Any, Any]:
        """Steps of weights and offsets, and of the multipliers of the budgets."""
        xp = self.xp
        *_, loss, norm = self.rows.parts
        x = self._first(right, self.a[:, None], self.k[:, None])
        one = U[:, loss][:, 0] - self.res_loss - xp.vecdot(self.a, x)
        two = xp.vecdot(self.k, x) - self.res_norm + U[:, norm][:, 0] + self._spread(up, um)
        dlam, dnu, _ = self._border(one, two)
        return x + self.solved[:, 0] * dlam[:, None] - self.solved[:, 1] * dnu[:, None], dlam, dnu


class SmoothPenaltySystem(SmoothSystem):
    """The same for the penalised problem, where the multipliers of loss and norm are given."""

    steps = (6, 3, 3)
    kappa = 0.0

    def _limits(self, x: Any) -> None:
        """There are none."""

    def _factor(self) -> None:
        self.factors = self._matrix()

    def _answer(self, right: Any, U: Any, up: Any, um: Any) -> tuple[Any, Any, Any]:
        x = self.rows.backend.solve(self.factors, right[:, None])[:, 0]
        still = 0.0 * x[:, 0]
        return x, still, still

"""The band of rows whose hinges are rounded off, and the equations of one step of what is smooth then.

See :mod:`~allrelevant.lp.smooth`.
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from allrelevant.lp.curvature import Curvature
from allrelevant.lp.iterates import Batch
from allrelevant.lp.newton import TallSystem
from allrelevant.lp.rows import Rows

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


def _unchanged(values: Any) -> Any:
    return values


class Band(Curvature):
    """Curvature of the smoothed rows, all of them or those that are no mirror images."""

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
        wp, wm, _, _, hard, loss, _ = rows.parts
        P, Z = at.P, at.Z
        lam = Z[:, loss]
        self.at, self.price = at, None
        self.inverse = 1.0 / Z
        self.Q = P * self.inverse
        self.both = rows.sides(self.Q)
        self.theta = self.both[:, 0] + self.both[:, 1]
        x = xp.concat([P[:, wp] - P[:, wm], at.b], axis=1)
        self.fall = self._rounded(at, batch, lam) - self.linear
        y = lam * self.fall
        if rows.m:
            self.due_hard = P[:, hard] + rows.right[..., rows.n :] - self._hard(x)
            y = y + rows.adjoint(self._all(hard=Z[:, hard]), self.columns)
        self._imbalances(Z, y, batch)
        self.solved: Any = None
        self._limits(x)
        self._factor()

    def _rounded(self, at: Smoothed, batch: Batch, lam: Any) -> Any:
        """Return what the rounded rows pull, and note their curvature."""
        rows, xp = self.rows, self.xp
        # The arrays of all rows are the bulk of a step: as few passes over them as can be.
        half = 0.5 / at.width[:, None]
        share = at.margin * -half
        pull = rows.backend.clip(share, -0.5, 0.5)
        inner = (pull == share).view(np.int8)
        pull += 0.5
        fold = rows.fold if rows.folds(self.columns) else _unchanged
        D = fold(inner).astype(share.dtype)
        self.inside = xp.vecdot(D, xp.ones_like(D[:1]))
        if (batch.s != 1.0).any():
            pull *= batch.s
            D = fold(inner * batch.s)
        half *= lam
        D *= (1.0 - BEYOND) * half
        D += BEYOND * half * fold(batch.s)
        if rows.m:
            D = xp.concat([D, 1.0 / self.Q[:, rows.parts[4]]], axis=1)
        self.curve = Band(rows, D)
        return rows.adjoint(self._all(hinge=pull), self.columns)

    def _limits(self, x: Any) -> None:
        """Residuals of the equations of the budgets."""
        rows, P = self.rows, self.at.P
        _, wm, _, _, _, loss, _ = rows.parts
        # Of the loss as it is: rounding it off shall not make the budget smaller.
        spent = self.xp.vecdot(x, self.linear) - rows.weigh(rows.backend.clip(self.at.margin, None, 0.0))
        self.due_budgets = -P[:, loss.start :]
        self.due_budgets[:, 0] += rows.budget.loss - spent
        self.due_budgets[:, 1] += rows.budget.norm - P[:, : wm.stop] @ rows.gamma_twice

    def _factor(self) -> None:
        self.factors = self._matrix()
        self._bordered(self.fall, 0.0)

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
        rows, Q, U = self.rows, self.Q, tau[:, None] * self.inverse - self.at.P
        d, hard = rows.d, rows.parts[4]
        sides = rows.sides(U) - self.both * self.res_sides
        apart = sides[:, 0] - sides[:, 1]
        rhs = self.xp.concat([apart * self.stiff, -self.res_b], axis=1)
        if rows.m:
            weighted = (U[:, hard] + self.due_hard) / Q[:, hard]
            rhs += rows.adjoint(self._all(hard=weighted), self.columns)
        x, dual = self._answer(rhs, U, sides)
        dZ = rows.backend.empty(Q.shape)
        dZ[:, rows.parts[5].start :] = 0.0 if dual is None else dual
        more = None if dual is None else self.answer * dual[:, 1, None, None]
        self._charge(dZ, (x[:, :d] - apart) * self.stiff, more)
        if rows.m:
            dZ[:, hard] = weighted - self._hard(x) / Q[:, hard]
        return U - Q * dZ, dZ, x

    def _answer(self, right: Any, U: Any, sides: Any) -> tuple[Any, Any]:
        """Steps of weights and offsets, and of the multipliers of the budgets if they have any."""
        budgets = self.due_budgets - U[:, self.rows.parts[5].start :]
        x, dual, _ = self._whole(right, budgets, sides)
        return x, dual


class SmoothPenaltySystem(SmoothSystem):
    """The same for the penalised problem, where the multipliers of loss and norm are given."""

    steps = (6, 3, 3)

    def _limits(self, x: Any) -> None:
        """There are none."""

    def _factor(self) -> None:
        self.factors = self._matrix()

    def _answer(self, right: Any, U: Any, sides: Any) -> tuple[Any, Any]:
        return self.rows.backend.solve(self.factors, right[:, None])[:, 0], None

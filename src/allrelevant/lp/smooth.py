"""A way to many optima that goes past the edges: Newton's method for a problem near the linear one that is smooth.

The hinge of every row is rounded off where its margin ``m``, what it has beyond its right side, is less than ``δ``::

    loss = s · h(m)     h = 0 (m ≥ δ),   (δ − m)² / 4δ (|m| < δ),   −m (m ≤ −δ)

Slacks, surpluses and multipliers of the rows then follow from the point, ``α = λ s (δ − m) / 2δ`` within the band, and
what is left are the few pairs of weights, hard rows and budgets. The interior-point method has to lead every row to its
side without ever crossing its margin, in many short steps. Here rows change sides as they like: as long as the band
holds more rows than there are weights, the loss is nearly quadratic, and Newton's method takes full steps and doubles
its digits with each. The band is narrowed from step to step until it holds only a few rows per weight; the rows beyond
it are decided, and those within are left to the interior-point method. In NumPy.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.backend import diagonal
from allrelevant.lp.curvature import Curvature
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.matrix import Indices
from allrelevant.lp.newton import RAISED, TallSystem
from allrelevant.lp.rows import Batch, Rows, State

__all__ = ["SmoothSystem", "Smoothed"]

#: Newton steps of all, and then of those who have not arrived; the share of the way to the border that one may go.
STEPS, FRACTION = (7, 3, 3), 0.95
#: Rows per weight and offset that the band shall hold at last, and at first where the start is near the optimum.
BAND, FIRST_BAND = 2.5, 10.0
#: Rows per weight and offset, without which nothing is smooth.
ROWS = 6
#: What is left of the width of the band and of the complementarity after a step of at least half its length, and of the
#: latter after a shorter one.
NARROWER, SMALLER, HESITANT = 0.5, 0.15, 0.9
#: A step that moves margins by more than this multiple of the width of the band asks for a wider one, at most so much.
TOO_FAR, WIDER = 1.0, 4.0
#: Rows within the band, as a multiple of those that it shall hold, with which the next method can begin.
ARRIVED = 1.25
#: Multiplier of the loss, as a share of the first one, below which other rows than the hinges decide.
MATTERS = 0.01
#: Least complementarity, as a share of the first.
LEAST = 5e-4
#: What either side of a weight begins with, as a multiple of an even share of the room of the norm budget.
SPREAD = 2.5
#: Curvature of rows beyond the band, as a share of that of those within: so that no direction is without any.
BEYOND = 1e-3
#: How far iterates of the interior-point method begin inside, as a share of the width of the band; and the
#: complementarity of its rows, as a share of what the weight of a slack costs over the width of the band.
INSIDE, CENTRED = 0.3, 0.05


def _width(margin: Any, rows: Rows, per_weight: float) -> Any:
    """Half-width of the band that holds so many of the rows per weight and offset."""
    rank = int(min(per_weight * rows.twins * (rows.d + rows.p), 0.6 * rows.n))
    return np.partition(np.abs(margin), rank)[rank]


def _few_pairs(rows: Rows) -> Rows:
    """Return the same rows, where only weights, hard rows and budgets have pairs."""
    few = copy(rows)
    sizes = [0, rows.d, rows.d, 0, 0, rows.m, 1, 1]
    few.parts = [slice(a, b) for a, b in pairwise(np.cumsum(sizes).tolist())]
    return few


class _Band(Curvature):
    """Curvature of the smoothed rows."""

    def __init__(self, rows: Rows, D: Any) -> None:
        self.rows, self.xp, self.D = rows, rows.backend.xp, D


@dataclass
class Smoothed:
    """Iterates of a batch of smoothed problems.

    Attributes
    ----------
    P, Z : array of shape (t, pairs)
        Both sides of the pairs of weights, hard rows and budgets.
    b : array of shape (t, p)
        Offsets.
    margin : array of shape (t, n)
        What the hinge rows have beyond their right sides.
    width, tau : array of shape (t,)
        Half of the width of the band, and the complementarity that the pairs are to have.
    """

    P: Any
    Z: Any
    b: Any
    margin: Any
    width: Any
    tau: Any

    @classmethod
    def near(cls, rows: Rows, batch: Batch, w: Any, b: Any) -> Smoothed | None:
        """Begin near a point within the budgets that all targets share.

        How far to go, and the multipliers, are those of the quadratic problem there. None where rows are too few for
        one, or where rounding off their hinges costs more than the budget of the loss has left: then edges are all that
        matters. None with one purse for both budgets as well: what it led to there was proven less sharply.
        """
        backend, n, t, few = rows.backend, rows.n, len(batch.goal), _few_pairs(rows)
        if n < ROWS * rows.twins * (rows.d + rows.p) or rows.budget.price is not None:
            return None
        x = np.concatenate([w, b])[None]
        margin = (rows.forward(x, None) - rows.right)[:, :n]
        first, last = (_width(margin[0], rows, per_weight) for per_weight in (FIRST_BAND, BAND))
        edge = backend.clip(last - np.abs(margin), 0.0, None)
        loss_left = rows.budget.loss + rows.weigh(backend.clip(margin, None, 0.0)) - x @ rows.linear
        room_loss, room_norm = float(loss_left[0]), rows.budget.norm - float(np.abs(w) @ rows.gamma)
        if not (float(rows.weigh(edge * edge)[0]) <= 4.0 * last * room_loss and min(room_norm, room_loss) > 0.0):
            return None
        price = room_norm / room_loss
        spread = SPREAD * room_norm / float(rows.gamma.sum())
        goal = np.zeros((t, rows.d + rows.p), dtype=x.dtype)
        goal[:, : rows.d] = batch.goal if batch.charge is None else batch.goal - batch.charge * np.sign(w)
        matrix = _curvature(few, batch, w, np.abs(margin) < first, price / (2.0 * first), spread)
        far, count = goal.copy(), 0 if batch.columns is None else len(batch.columns)
        if count < t:
            backend.solve(backend.factor(matrix[:1]), far[None, : t - count])
        if count:
            backend.solve(backend.factor(matrix[-count:]), far[t - count :, None])
        room = room_norm + price * room_loss
        nu = np.sqrt(np.maximum(backend.xp.vecdot(goal, far), 1e-12 * room) / (2.0 * room)).astype(x.dtype)
        x = x + far / nu[:, None]
        left = rows.forward(x, batch.columns) - rows.right
        wp, wm, _, _, hard, loss, norm = few.parts
        P = np.empty((t, norm.stop), dtype=x.dtype)
        P[:, wp], P[:, wm] = (np.maximum(side, 0.0) + spread for side in (x[:, : rows.d], -x[:, : rows.d]))
        P[:, hard], P[:, loss], P[:, norm] = np.maximum(left[:, n:], first), 0.5 * room_loss, 0.5 * room_norm
        tau = nu * spread * float(rows.gamma.mean())
        Z = tau[:, None] / P
        Z[:, loss], Z[:, norm] = price * nu[:, None], nu[:, None]
        return cls(P, Z, x[:, rows.d :], left[:, :n], np.full(t, first), tau)

    def __len__(self) -> int:
        return len(self.P)

    def take(self, keep: Any) -> Smoothed:
        """Keep some of the targets."""
        return Smoothed(*(getattr(self, part.name)[keep] for part in fields(self)))

    def follow(self, rows: Rows, batch: Batch) -> NDArray[np.bool_]:
        """Take steps, narrowing the band; return for whom it has become narrow, and the loss still matters."""
        few, least = _few_pairs(rows), LEAST * self.tau
        loss = few.parts[-2]
        matters = MATTERS * self.Z[:, loss][:, 0]
        arrived = self._take_steps(few, batch, least, STEPS[0])
        for count in STEPS[1:]:
            late = np.flatnonzero(~arrived)
            if not len(late):
                break
            others = self.take(late)
            arrived[late] = others._take_steps(few, batch.take(late), least[late], count)
            for part in fields(self):
                getattr(self, part.name)[late] = getattr(others, part.name)
        return np.asarray(arrived & (self.Z[:, loss][:, 0] > matters))

    def _take_steps(self, rows: Rows, batch: Batch, least: Any, count: int) -> NDArray[np.bool_]:
        """Take so many steps, to no less than the given complementarity."""
        enough, dtype = BAND * rows.twins * (rows.d + rows.p), self.tau.dtype
        arrived = np.zeros(len(self.P), dtype=bool)
        for _ in range(count):
            if time_is_up():
                break
            now = SmoothSystem(rows, self, batch)
            dP, dZ, dx = now.step(self.tau)
            worst = np.minimum(np.min(dP / self.P, axis=1), np.min(dZ * now.inverse, axis=1))
            step = np.minimum(1.0, FRACTION / np.maximum(-worst, 1e-30))
            turn = rows.forward(dx, batch.columns)[:, : rows.n]
            self.P += step[:, None] * dP
            self.Z += step[:, None] * dZ
            self.b = self.b + step[:, None] * dx[:, rows.d :]
            self.margin += step[:, None] * turn
            far = np.sqrt(now.xp.vecdot(turn, turn) / rows.n) / self.width
            good = step >= 0.5
            narrower = np.where(good & (now.inside > enough), NARROWER, 1.0)
            self.width *= np.where(far > TOO_FAR, np.minimum(far, WIDER), narrower).astype(dtype)
            self.tau = np.maximum(np.where(good, SMALLER, HESITANT).astype(dtype) * self.tau, least)
            arrived = good & (now.inside <= ARRIVED * enough)
        return arrived

    def lifted(self, rows: Rows, every: Rows, batch: Batch, kept: Indices) -> Smoothed:
        """Return the same with the margins of every row."""
        return replace(self, margin=self._margin(every, batch))

    def _margin(self, rows: Rows, batch: Batch) -> Any:
        wp, wm, *_ = rows.parts
        x = np.concatenate([self.P[:, wp] - self.P[:, wm], self.b], axis=1)
        return (rows.forward(rows.backend.asarray(x), batch.columns) - rows.right)[:, : rows.n]

    def margins(self, rows: Rows) -> Any:
        """What the hinge rows have beyond their right sides."""
        return self.margin

    def among(self, rows: Rows, kept: Indices, own: Rows, batch: Batch) -> State:
        """Return iterates over some of the hinge rows, given as rows and batch of their own."""
        return self.begin(own, batch)

    def begin(self, rows: Rows, batch: Batch) -> State:
        """Return iterates of the interior-point method near by, with pairs of all rows, a little inside."""
        P, Z, b, width = (rows.backend.asarray(part) for part in (self.P, self.Z, self.b, self.width[:, None]))
        _, wm, xi, surplus, hard, loss, norm = rows.parts
        _, _, _, _, hard_few, loss_few, norm_few = _few_pairs(rows).parts
        margin = self._margin(rows, batch)
        cost, inside = Z[:, loss_few] * batch.s, INSIDE * width
        share = np.clip(0.5 - margin / (2.0 * width), 0.0, 1.0)
        least = CENTRED * cost * width
        new_P, new_Z = np.empty((2, len(P), norm.stop))
        for new, old in ((new_P, P), (new_Z, Z)):
            new[:, : wm.stop], new[:, hard] = old[:, : wm.stop], old[:, hard_few]
            new[:, loss], new[:, norm] = old[:, loss_few], old[:, norm_few]
        # The two differ by the margin, and the lesser is half of ``inside`` at least.
        middle = 0.5 * (inside + np.sqrt(margin**2 + inside**2))
        new_P[:, surplus], new_P[:, xi] = middle + 0.5 * margin, middle - 0.5 * margin
        for part, multiplier in ((surplus, share), (xi, 1.0 - share)):
            np.maximum(cost * multiplier, least / new_P[:, part], out=new_Z[:, part])
        return State(new_P, new_Z, b, np.full(len(P), rows.budget.norm))


def _curvature(rows: Rows, batch: Batch, w: Any, inner: Any, factor: float, spread: float) -> Any:
    """Matrices of the quadratic problem at weights that all targets share: one for all, and those with own columns.

    It is that of the norm and `factor` times the rows that are `inner`.
    """
    own = 0 if batch.columns is None else len(batch.columns)
    count = own + (own < len(batch.goal))
    D = np.zeros((count, rows.n + rows.m), dtype=w.dtype)
    D[:, : rows.n] = np.where(inner, factor, BEYOND * factor) * batch.s[:1]
    matrix = _Band(rows, D).gram(batch.columns)
    main = diagonal(matrix)
    main *= 1.0 + RAISED * rows.backend.epsilon
    up, um = (np.maximum(side, 0.0) + spread for side in (w, -w))
    main[:, : rows.d] += spread * rows.gamma / (up * up + um * um)
    main[:, rows.d :] += 1.0 * (main[:, rows.d :] == 0.0)
    return matrix


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
        share = at.margin * (-0.5 / width)
        share += 0.5
        inner = np.abs(share - 0.5) < 0.5
        self.inside = inner.sum(axis=1)
        share = rows.backend.clip(share, 0.0, 1.0)
        self.pull = share * batch.s
        D = inner * (0.5 * lam / width)
        D += BEYOND * 0.5 * lam / width
        D *= batch.s
        if rows.m:
            D = xp.concat([D, 1.0 / Q[:, hard]], axis=1)
        self.curve = _Band(rows, D)
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
        # Of the loss as it is: rounding it off shall not make the budget smaller.
        spent = xp.vecdot(x, self.linear) - rows.weigh(rows.backend.clip(at.margin, None, 0.0))
        self.res_loss = rows.budget.loss - spent - P[:, loss][:, 0]
        self.res_norm = rows.budget.norm - (P[:, wp] + P[:, wm]) @ rows.gamma - P[:, norm][:, 0]
        self.kappa = (Q[:, wp] - Q[:, wm]) / self.theta
        self.solved: Any = None
        self._factor()

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
        x = self._first(rhs, self.a[:, None], self.k[:, None])
        one = U[:, loss][:, 0] - self.res_loss - xp.vecdot(self.a, x)
        two = xp.vecdot(self.k, x) - self.res_norm + U[:, norm][:, 0] + self._spread(up, um)
        dlam, dnu, _ = self._border(one, two)
        x = x + self.solved[:, 0] * dlam[:, None] - self.solved[:, 1] * dnu[:, None]
        dy = (x[:, :d] - up + um) / self.theta + self.k[:, :d] * dnu[:, None]
        more = dnu[:, None] * rows.gamma
        dZ = xp.empty_like(Q)
        dZ[:, wp], dZ[:, wm] = self.res_wp - dy + more, self.res_wm + dy + more
        dZ[:, loss], dZ[:, norm] = dlam[:, None], dnu[:, None]
        if rows.m:
            dZ[:, hard] = weighted - self._hard(x) / Q[:, hard]
        return U - Q * dZ, dZ, x

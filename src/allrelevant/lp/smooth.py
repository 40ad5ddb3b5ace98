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

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.backend import Backend, diagonal
from allrelevant.lp.band import BAND, BEYOND, ROWS, Band, SmoothSystem, band_width, few_pairs, rounding
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.iterates import Batch, Optima, State
from allrelevant.lp.matrix import Indices
from allrelevant.lp.newton import RAISED
from allrelevant.lp.rows import Rows

__all__ = ["Smoothed"]

#: Share of the way to the border that a step may go.
FRACTION = 0.95
#: Rows per weight and offset that the band holds at first, where the start is near the optimum.
FIRST_BAND = 10.0
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
#: What either side of a weight begins with, as a multiple of an even share of the room of the norm budget; without one,
#: of the mean weight.
SPREAD, PENALTY_SPREAD = 2.5, 2.0
#: How far iterates of the interior-point method begin inside, as a share of the width of the band; and the
#: complementarity of its rows, as a share of what the weight of a slack costs over the width of the band.
INSIDE, CENTRED = 0.3, 0.05


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
        backend, n, t, few = rows.backend, rows.n, len(batch.goal), few_pairs(rows)
        if n < ROWS * rows.twins * (rows.d + rows.p) or rows.budget.price is not None:
            return None
        x = np.concatenate([w, b])[None]
        margin = (rows.forward(x, None) - rows.right)[:, :n]
        first, last = (band_width(margin, rows, per_weight)[0] for per_weight in (FIRST_BAND, BAND))
        loss_left = rows.budget.loss + rows.weigh(backend.clip(margin, None, 0.0)) - x @ rows.linear
        room_loss, room_norm = float(loss_left[0]), rows.budget.norm - float(np.abs(w) @ rows.gamma)
        if not (rounding(margin, last, batch.s)[0] <= room_loss and min(room_norm, room_loss) > 0.0):
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

    @classmethod
    def penalised(cls, rows: Rows, x: Any, left: Any, C: Any) -> Smoothed:
        """Begin the penalised problem for every `C` at a point ``x = (w, b)``, given what rows have left there."""
        wp, wm, _, _, hard, loss, norm = few_pairs(rows).parts
        margin, w = left[:, : rows.n], x[:, : rows.d]
        width = band_width(margin, rows, FIRST_BAND)
        spread = PENALTY_SPREAD * np.abs(w).mean(axis=1, keepdims=True)
        tau = spread * rows.gamma.mean()
        P, Z = np.empty((2, len(x), norm.stop))
        P[:, wp], P[:, wm] = (np.maximum(side, 0.0) + spread for side in (w, -w))
        P[:, hard] = np.maximum(left[:, rows.n :], width[:, None])
        Z[:, : loss.start] = tau / P[:, : loss.start]
        Z[:, loss], Z[:, norm] = C[:, None], 1.0
        P[:, loss.start :] = tau / Z[:, loss.start :]
        return cls(P, Z, x[:, rows.d :], margin, width, tau[:, 0]).on(rows.backend)

    def __len__(self) -> int:
        return len(self.P)

    def take(self, keep: Any) -> Smoothed:
        """Keep some of the targets."""
        return Smoothed(*(getattr(self, part.name)[keep] for part in fields(self)))

    def on(self, backend: Backend) -> Smoothed:
        """Return the same on another backend."""
        return Smoothed(*(backend.asarray(getattr(self, part.name)) for part in fields(self)))

    def put(self, places: Any, other: Smoothed) -> None:
        """Write others in the place of some of the targets."""
        for part in fields(self):
            getattr(self, part.name)[places] = getattr(other, part.name)

    def follow(self, rows: Rows, batch: Batch, system: type[SmoothSystem] = SmoothSystem) -> NDArray[np.bool_]:
        """Take steps, narrowing the band; return for whom it has become narrow, and the loss still matters."""
        few, least = few_pairs(rows), LEAST * self.tau
        loss = few.parts[-2]
        matters = MATTERS * self.Z[:, loss][:, 0]
        arrived = self._take_steps(few, batch, system, least, system.steps[0])
        for count in system.steps[1:]:
            late = np.flatnonzero(~arrived)
            if not len(late):
                break
            others = self.take(late)
            arrived[late] = others._take_steps(few_pairs(rows.take(late)), batch.take(late), system, least[late], count)
            self.put(late, others)
        arrived &= self.Z[:, loss][:, 0] > matters
        return np.asarray(arrived & np.isfinite(self.P.sum(axis=1) + self.Z.sum(axis=1) + self.b.sum(axis=1)))

    def _take_steps(
        self, rows: Rows, batch: Batch, system: type[SmoothSystem], least: Any, count: int
    ) -> NDArray[np.bool_]:
        """Take so many steps, to no less than the given complementarity."""
        enough, dtype = BAND * rows.twins * (rows.d + rows.p), self.tau.dtype
        arrived = np.zeros(len(self.P), dtype=bool)
        for _ in range(count):
            if time_is_up():
                break
            now = system(rows, self, batch)
            dP, dZ, dx = now.step(self.tau)
            worst = np.minimum(np.min(dP / self.P, axis=1), np.min(dZ * now.inverse, axis=1))
            step = np.minimum(1.0, FRACTION / np.maximum(-worst, 1e-30))
            turn = rows.folded_forward(dx, batch.columns)
            self.P += step[:, None] * dP
            self.Z += step[:, None] * dZ
            self.b = self.b + step[:, None] * dx[:, rows.d :]
            hinge = turn[:, : turn.shape[1] - rows.m]
            far = np.sqrt(now.xp.vecdot(hinge, hinge) / hinge.shape[1]) / self.width
            turn *= step[:, None]
            rows.add(self.margin, turn)
            good = step >= 0.5
            narrower = np.where(good & (now.inside > enough), NARROWER, 1.0)
            self.width *= np.where(far > TOO_FAR, np.minimum(far, WIDER), narrower).astype(dtype)
            self.tau = np.maximum(np.where(good, SMALLER, HESITANT).astype(dtype) * self.tau, least)
            arrived = good & (now.inside <= ARRIVED * enough)
        return arrived

    def optima(self, rows: Rows, batch: Batch) -> Optima:
        """Return what the smooth problems say of the optima."""
        wp, wm, _, _, hard, loss, _ = few_pairs(rows).parts
        at = self.on(rows.backend)
        alpha = at.Z[:, loss] * batch.s * _share(at.margin, at.width[:, None])
        return Optima(at.P[:, wp] - at.P[:, wm], at.b, alpha, at.Z[:, hard], at.Z[:, loss][:, 0])

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
        _, _, _, _, hard_few, loss_few, norm_few = few_pairs(rows).parts
        margin = self._margin(rows, batch)
        cost, inside = Z[:, loss_few] * batch.s, INSIDE * width
        share = _share(margin, width)
        least = CENTRED * cost * width
        new_P, new_Z = np.empty((2, len(P), norm.stop), dtype=P.dtype)
        for new, old in ((new_P, P), (new_Z, Z)):
            new[:, : wm.stop], new[:, hard] = old[:, : wm.stop], old[:, hard_few]
            new[:, loss], new[:, norm] = old[:, loss_few], old[:, norm_few]
        # The two differ by the margin, and the lesser is half of ``inside`` at least.
        middle = 0.5 * (inside + np.sqrt(margin**2 + inside**2))
        new_P[:, surplus], new_P[:, xi] = middle + 0.5 * margin, middle - 0.5 * margin
        for part, multiplier in ((surplus, share), (xi, 1.0 - share)):
            np.maximum(cost * multiplier, least / new_P[:, part], out=new_Z[:, part])
        return State(new_P, new_Z, b, np.full(len(P), rows.budget.norm, dtype=P.dtype))


def _share(margin: Any, width: Any) -> Any:
    """Multipliers of rows, as shares of what they are at most."""
    return np.clip(0.5 - margin / (2.0 * width), 0.0, 1.0)


def _curvature(rows: Rows, batch: Batch, w: Any, inner: Any, factor: float, spread: float) -> Any:
    """Matrices of the quadratic problem at weights that all targets share: one for all, and those with own columns.

    It is that of the norm and `factor` times the rows that are `inner`.
    """
    own = 0 if batch.columns is None else len(batch.columns)
    count = own + (own < len(batch.goal))
    D = np.zeros((1, rows.n + rows.m), dtype=w.dtype)
    D[:, : rows.n] = np.where(inner, factor, BEYOND * factor) * batch.s[:1]
    matrix = np.repeat(rows.gram(D), count, axis=0)
    Band(rows, D).add_columns(matrix, batch.columns)
    main = diagonal(matrix)
    main *= 1.0 + RAISED * rows.backend.epsilon
    up, um = (np.maximum(side, 0.0) + spread for side in (w, -w))
    main[:, : rows.d] += spread * rows.gamma / (up * up + um * um)
    main[:, rows.d :] += 1.0 * (main[:, rows.d :] == 0.0)
    return matrix

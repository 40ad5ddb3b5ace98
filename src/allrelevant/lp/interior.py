"""The fast engine: one interior-point method that solves a whole batch of bounds in lockstep.

All targets share the rows, so every iteration is matrix-matrix work over the batch. Mehrotra's predictor-corrector
on the variables (pairs of a primal and a dual, both kept positive)::

    w⁺ · z⁺    z⁺ = νγ + c − y    y = g + Aᵀα + Gᵀβ − λu
    w⁻ · z⁻    z⁻ = νγ + c + y
    ξ  · t     t  = λs − α (summed over the rows that share ξ)
    e  · α     A w + B b + ξ − e = r
    q  · β     G w + H b − q = h
    ρ̂  · λ     loss + ρ̂ = loss budget
    μ̂  · ν     norm + μ̂ = norm budget         b free:  Bᵀα + Hᵀβ = λv

From one purse the norm budget ``m`` is one more free variable, the loss budget is what it leaves, and ``ν = λ/C``.

Eliminating all but the steps of weights and offsets, or of the multipliers of the rows, whichever are fewer, leaves one
positive definite matrix per target, bordered by the budget multipliers. What the border needs is summed without
cancellation (``1 − pD`` is written as the product it equals); otherwise a loss budget near zero is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from allrelevant.lp.backend import Backend, NumpyBackend
from allrelevant.lp.newton import System, TallSystem, WideSystem
from allrelevant.lp.program import Array, Budget, Duals, Program, Targets
from allrelevant.lp.rows import Rows, State

__all__ = ["InteriorBounds"]

#: Stop when the complementarity of a target falls below this share of the norm budget.
GAP = 1e-9
MAX_ITERATIONS = 80


class InteriorBounds:
    """Bounds of weights over the budget, whole batches at a time.

    Parameters
    ----------
    program : Program
        A program without box bounds. Sparse rows become dense: whoever asks must know that they fit.
    budget : Budget
        One budget with room inside.
    start : tuple of ndarray
        A point ``(w, b)`` within the budget.
    backend : Backend, default=None
        Where to compute; NumPy if None.

    Attributes
    ----------
    centre : tuple of ndarray
        The analytic centre ``(w, b)`` of the feasible set.
    """

    def __init__(
        self, program: Program, budget: Budget, start: tuple[Array, Array], backend: Backend | None = None
    ) -> None:
        if program.boxed.any():
            raise ValueError("the interior engine takes no box bounds; use the reference engine")
        self.program, self.budget = program.dense(), budget
        self.backend = NumpyBackend() if backend is None else backend
        self.xp = self.backend.xp
        self._rows = Rows(self.program, budget, self.backend)
        self._system: type[System] = WideSystem if self._rows.wide else TallSystem
        self._part = self._rows.parts
        self._state = self._centre(start)
        wp, wm = self._part[:2]
        to_numpy = self.backend.to_numpy
        self.centre = to_numpy(self._state.P[0, wp] - self._state.P[0, wm]), to_numpy(self._state.b[0])

    def solve(self, targets: Targets) -> tuple[Array, Array, Duals]:
        """Maximise all targets at once. What did not converge shows in its certificate, not here."""
        program, t, xp, backend = self.program, len(targets), self.xp, self.backend
        wp, wm, _, surplus, hard, loss, _ = self._part
        d = program.n_weights
        charge = np.zeros_like(targets.coefficient) if targets.charge is None else targets.charge
        goal, cost = (backend.asarray(targets.spread(part, d)) for part in (targets.coefficient, charge))
        columns = self._rows.whole(targets.columns)
        u = np.repeat(program.u[None], t, axis=0)
        if targets.columns is not None:
            u[:, targets.columns.slots(program)] = targets.columns.u
        u = backend.asarray(u)

        state = self._starts(goal, cost, columns, u)
        done = State(*(xp.empty_like(part) for part in (state.P, state.Z, state.b, state.m)))
        alive = np.arange(t)
        best, stalled = np.full(t, np.inf), np.zeros(t, dtype=int)
        for iteration in range(MAX_ITERATIONS + 1):
            gap = backend.to_numpy(xp.sum(state.P * state.Z, axis=1))
            improved = gap < 0.9 * best
            best = np.where(improved, gap, best)
            stalled = np.where(improved, 0, stalled + 1)
            stop = (gap <= GAP * self.budget.norm) | (stalled >= 6) | ~np.isfinite(gap)
            if iteration == MAX_ITERATIONS:
                stop[:] = True
            if stop.any():
                out, leave, keep = (
                    backend.indices(k) for k in (alive[stop], np.flatnonzero(stop), np.flatnonzero(~stop))
                )
                ready = state.take(leave)
                if self._rows.wide:
                    own = None if columns is None else columns[leave]
                    self._correct(ready, goal[leave], cost[leave], own, u[leave])
                done.P[out], done.Z[out], done.b[out] = ready.P, ready.Z, ready.b
                alive, best, stalled = alive[~stop], best[~stop], stalled[~stop]
                if not len(alive):
                    break
                state, goal, cost, u = state.take(keep), goal[keep], cost[keep], u[keep]
                columns = None if columns is None else columns[keep]
            self._iterate(state, goal, cost, columns, u)
        P, Z, b = (backend.to_numpy(part) for part in (done.P, done.Z, done.b))
        return P[:, wp] - P[:, wm], b, Duals(Z[:, surplus], Z[:, hard], Z[:, loss][:, 0])

    # Starting points -----------------------------------------------------------------------------------------

    def _centre(self, start: tuple[Array, Array]) -> State:
        """Newton's method for the analytic centre: the point where all complementarity products are equal."""
        program, xp = self.program, self.xp
        w, b = (np.atleast_2d(part).astype(float) for part in start)
        m = np.full(1, self.budget.norm)
        if self.budget.price is not None:
            m = np.maximum(program.norm(w) + 0.5 * self.budget.room(program.norm(w), program.loss(w, b)), 0.0)
        state = self._point(w, b, m)
        state.Z = 1.0 / state.P
        none = xp.zeros_like(state.P[:, : program.n_weights])
        for _ in range(MAX_ITERATIONS):
            products = state.P * state.Z
            system = self._system(self._rows, state, none, none, None, none + self._rows.u)
            if max(float(xp.max(xp.abs(products - 1.0))), system.dual_error) < 0.5:
                break
            dP, dZ, db, dm = system.direction(1.0 - products)
            # One step length for both sides: centring wants the products, not progress.
            step = min(1.0, 0.9 * float(self._longest(state.P, dP)[0]), 0.9 * float(self._longest(state.Z, dZ)[0]))
            state = State(state.P + step * dP, state.Z + step * dZ, state.b + step * db, state.m + step * dm)
        return state

    def _point(self, w: Array, b: Array, m: Array) -> State:
        """Strictly positive primal side at (w, b)."""
        program, limit = self.program, self._rows.loss_limit(m)
        wp, wm, xi, surplus, hard, loss, norm = self._part
        weight = program.s.sum() or 1.0
        split = (np.maximum(m - program.norm(w), 1e-3 * m) / (4 * program.gamma.sum()))[:, None]
        lift = (np.maximum(limit - program.loss(w, b), 1e-9 * m) / (4 * weight))[:, None]
        P = np.empty((len(w), self._part[-1].stop))
        P[:, wp] = np.maximum(w, 0) + split
        P[:, wm] = np.maximum(-w, 0) + split
        rows = program.rows(w, b)
        P[:, xi] = program.slacks.greatest(np.maximum(program.r - rows, 0)) + lift
        P[:, surplus] = np.maximum(rows - program.r + program.slacks.rows(P[:, xi]), lift)
        if program.n_hard:
            P[:, hard] = np.maximum(program.hard_rows(w, b) - program.h, lift)
        spent_norm = (P[:, wp] + P[:, wm]) @ program.gamma
        spent_loss = P[:, xi] @ program.s + w @ program.u + b @ program.v
        P[:, norm] = np.maximum(m - spent_norm, 1e-3 * m)[:, None]
        P[:, loss] = np.maximum(limit - spent_loss, lift[:, 0] * weight)[:, None]
        array = self.backend.asarray
        return State(array(P), array(np.empty_like(P)), array(b), array(m))

    def _starts(self, goal: Any, charge: Any, columns: Any, u: Any) -> State:
        """Start of every target: the centre, with its duals scaled and shifted so that they stay feasible."""
        xp, rows = self.xp, self._rows
        wp, wm, xi, surplus, hard, loss, norm = self._part
        centre, t = self._state, len(goal)
        P, Z, b, m = (xp.repeat(part, t, axis=0) for part in (centre.P, centre.Z, centre.b, centre.m))
        reach = xp.maximum(P[:, wp], P[:, wm]) * (xp.abs(goal) + charge)
        Z = Z * (2 * xp.max(reach, axis=1)[:, None])
        shift = goal
        if columns is not None:
            # The centre knows nothing of these columns; make room for what they change.
            slots = rows.slots(columns)
            multipliers = xp.concat([Z[:, surplus], Z[:, hard]], axis=1)
            change = (columns @ multipliers[:, :, None])[:, :, 0] - Z[:, loss] * u[:, slots] + goal[:, slots]
            shift = 1.0 * goal
            shift[:, slots] = change
            room = xp.max(xp.abs(change) / rows.gamma[slots], axis=1)[:, None]
            Z[:, norm] += room
            Z[:, wp] += room * rows.gamma
            Z[:, wm] += room * rows.gamma
            if self.budget.price is not None:
                Z[:, loss] += self.budget.price * room
                Z[:, xi] += self.budget.price * room * rows.s
        Z[:, wp] += charge - shift
        Z[:, wm] += charge + shift
        return State(P, Z, b, m)

    # One iteration -------------------------------------------------------------------------------------------

    def _iterate(self, state: State, goal: Any, charge: Any, columns: Any, u: Any) -> None:
        P, Z, xp = state.P, state.Z, self.xp
        system = self._system(self._rows, state, goal, charge, columns, u)
        products = P * Z
        mean = xp.mean(products, axis=1)
        dP, dZ, _, _ = system.direction(-products)
        step_p, step_z = (xp.clip(self._longest(*pair), None, 1.0)[:, None] for pair in ((P, dP), (Z, dZ)))
        after = xp.mean((P + step_p * dP) * (Z + step_z * dZ), axis=1)
        centring = xp.clip(after / mean, 0.0, 1.0) ** 3 * mean
        # Clipping the second-order term at a few times the mean saves a quarter of the iterations.
        limit = 5 * mean[:, None]
        second = xp.minimum(xp.maximum(dP * dZ, -limit), limit)
        dP, dZ, db, dm = system.direction(centring[:, None] - products - second)
        fraction = xp.clip(1.0 - 10 * mean / self.budget.norm, 0.99, 0.99995)
        step_p, step_z = (xp.clip(fraction * self._longest(*pair), None, 1.0)[:, None] for pair in ((P, dP), (Z, dZ)))
        state.P, state.Z = P + step_p * dP, Z + step_z * dZ
        state.b, state.m = state.b + step_p * db, state.m + step_p[:, 0] * dm

    def _correct(self, state: State, goal: Any, charge: Any, columns: Any, u: Any) -> None:
        """Remove what rounding has left of the primal residuals, with a last step of full length.

        Weights that follow from the multipliers carry the rounding of long steps, many times enlarged. A step that
        changes nothing but the residuals is short, and so is its rounding. What it makes negative no longer matters.
        """
        system = self._system(self._rows, state, goal, charge, columns, u)
        dP, _, db, _ = system.direction(0.0 * state.P)
        state.P, state.b = state.P + dP, state.b + db

    def _longest(self, values: Any, change: Any) -> Any:
        """Largest step that keeps the values non-negative."""
        ratio = self.xp.min(change / values, axis=1)
        return 1.0 / self.xp.clip(-ratio, 1e-30, None)

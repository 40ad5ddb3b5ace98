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

Eliminating all but the step of (w, b) and of the two budget multipliers leaves one positive definite matrix of the
size of weights and offsets per target, bordered by two columns. What the border needs is summed without
cancellation (``1 − pD`` is written as the product it equals); otherwise a loss budget near zero is lost.
"""

from __future__ import annotations

import numpy as np

from allrelevant.lp.newton import Rows, State, System
from allrelevant.lp.program import Array, Budget, Duals, Program, Targets

__all__ = ["InteriorBounds"]

#: Stop when the complementarity of a target falls below this share of the norm budget.
GAP = 1e-9
MAX_ITERATIONS = 80


class InteriorBounds:
    """Bounds of single weights over the budget, whole batches at a time.

    Parameters
    ----------
    program : Program
        A program without box bounds.
    budget : Budget
        One budget with room inside.
    start : tuple of ndarray
        A point ``(w, b)`` within the budget.

    Attributes
    ----------
    centre : tuple of ndarray
        The analytic centre ``(w, b)`` of the feasible set.
    """

    def __init__(self, program: Program, budget: Budget, start: tuple[Array, Array]) -> None:
        if program.boxed.any():
            raise ValueError("the interior engine takes no box bounds; use the reference engine")
        self.program, self.budget = program, budget
        self._rows = Rows(program, budget)
        self._part = self._rows.parts
        self._state = self._centre(start)
        wp, wm = self._part[:2]
        self.centre = self._state.P[0, wp] - self._state.P[0, wm], self._state.b[0]

    def solve(self, targets: Targets) -> tuple[Array, Array, Duals]:
        """Maximise all targets at once. What did not converge shows in its certificate, not here."""
        program, t = self.program, len(targets)
        wp, wm, _, surplus, hard, loss, _ = self._part
        goal = targets.spread(targets.coefficient, program.n_weights)
        charge = targets.spread(
            np.zeros_like(targets.coefficient) if targets.charge is None else targets.charge, program.n_weights
        )
        columns = self._rows.whole(targets.columns)
        u = np.repeat(program.u[None], t, axis=0)
        if targets.columns is not None:
            u[:, targets.columns.slots(program)] = targets.columns.u

        state = self._starts(goal, charge, columns, u)
        done_P, done_Z, done_b = np.empty_like(state.P), np.empty_like(state.Z), np.empty_like(state.b)
        alive = np.arange(t)
        best = np.full(t, np.inf)
        stalled = np.zeros(t, dtype=int)
        for iteration in range(MAX_ITERATIONS + 1):
            gap = np.einsum("tk,tk->t", state.P, state.Z)
            improved = gap < 0.9 * best
            best = np.where(improved, gap, best)
            stalled = np.where(improved, 0, stalled + 1)
            stop = (gap <= GAP * self.budget.norm) | (stalled >= 6) | ~np.isfinite(gap)
            if iteration == MAX_ITERATIONS:
                stop[:] = True
            if stop.any():
                out, keep = alive[stop], ~stop
                done_P[out], done_Z[out], done_b[out] = state.P[stop], state.Z[stop], state.b[stop]
                alive, state = alive[keep], state.take(keep)
                best, stalled = best[keep], stalled[keep]
                if not len(alive):
                    break
            part = None if columns is None else columns[alive]
            self._iterate(state, goal[alive], charge[alive], part, u[alive])
        w = done_P[:, wp] - done_P[:, wm]
        return w, done_b, Duals(done_Z[:, surplus], done_Z[:, hard], done_Z[:, loss][:, 0])

    # Starting points -----------------------------------------------------------------------------------------

    def _centre(self, start: tuple[Array, Array]) -> State:
        """Newton's method for the analytic centre: the point where all complementarity products are equal."""
        program = self.program
        w, b = (np.atleast_2d(part).astype(float) for part in start)
        m = np.full(1, self.budget.norm)
        if self.budget.price is not None:
            m = np.maximum(program.norm(w) + 0.5 * self.budget.room(program.norm(w), program.loss(w, b)), 0.0)
        split = np.maximum(m - program.norm(w), 1e-3 * m) / (4 * program.gamma.sum())
        room = np.maximum(self._rows.loss_limit(m) - program.loss(w, b), 1e-9 * m)
        lift = room / (4 * (program.s.sum() or 1.0))
        state = self._point(w, b, m, split, lift)
        state.Z = 1.0 / state.P
        nothing = np.zeros((1, program.n_weights)), np.zeros((1, program.n_weights)), None, program.u[None]
        for _ in range(MAX_ITERATIONS):
            products = state.P * state.Z
            system = System(self._rows, state, *nothing)
            if max(np.abs(products - 1.0).max(), system.dual_error) < 0.5:
                break
            dP, dZ, db, dm = system.direction(1.0 - products)
            # One step length for both sides: centring wants the products, not progress.
            step = np.minimum(_longest(state.P, dP), _longest(state.Z, dZ))
            step = np.minimum(1.0, 0.9 * step)
            state.P += step[:, None] * dP
            state.Z += step[:, None] * dZ
            state.b += step[:, None] * db
            state.m += step * dm
        return state

    def _point(self, w: Array, b: Array, m: Array, split: Array, lift: Array) -> State:
        """Strictly positive primal side at (w, b)."""
        program = self.program
        wp, wm, xi, surplus, hard, loss, norm = self._part
        P = np.empty((len(w), self._part[-1].stop))
        P[:, wp] = np.maximum(w, 0) + split[:, None]
        P[:, wm] = np.maximum(-w, 0) + split[:, None]
        rows = program.rows(w, b)
        P[:, xi] = program.slacks.greatest(np.maximum(program.r - rows, 0)) + lift[:, None]
        P[:, surplus] = np.maximum(rows - program.r + program.slacks.rows(P[:, xi]), lift[:, None])
        if program.n_hard:
            P[:, hard] = np.maximum(program.hard_rows(w, b) - program.h, lift[:, None])
        spent_norm = (P[:, wp] + P[:, wm]) @ program.gamma
        spent_loss = P[:, xi] @ program.s + w @ program.u + b @ program.v
        P[:, norm] = np.maximum(m - spent_norm, 1e-3 * m)[:, None]
        P[:, loss] = np.maximum(self._rows.loss_limit(m) - spent_loss, lift * (program.s.sum() or 1.0))[:, None]
        return State(P, np.empty_like(P), b.copy(), m.copy())

    def _starts(self, goal: Array, charge: Array, columns: Array | None, u: Array) -> State:
        """Start of every target: the centre, with its duals scaled and shifted so that they stay feasible."""
        wp, wm, xi, surplus, hard, loss, norm = self._part
        gamma, t = self.program.gamma, len(goal)
        centre = self._state
        P, Z, b, m = (np.repeat(part, t, axis=0) for part in (centre.P, centre.Z, centre.b, centre.m))
        Z *= 2 * (np.maximum(P[:, wp], P[:, wm]) * (np.abs(goal) + charge)).max(axis=1, keepdims=True)
        shift = goal
        if columns is not None:
            # The centre knows nothing of these columns; make room for what they change.
            slots = self._rows.slots(columns)
            multipliers = np.hstack([Z[:, surplus], Z[:, hard]])
            change = (columns @ multipliers[:, :, None])[:, :, 0] - Z[:, loss] * u[:, slots]
            shift = goal.copy()
            shift[:, slots] += change
            room = (np.abs(change + goal[:, slots]) / gamma[slots]).max(axis=1, keepdims=True)
            Z[:, norm] += room
            Z[:, wp] += room * gamma
            Z[:, wm] += room * gamma
            if self.budget.price is not None:
                Z[:, loss] += self.budget.price * room
                Z[:, xi] += self.budget.price * room * self.program.s
        Z[:, wp] += charge - shift
        Z[:, wm] += charge + shift
        return State(P, Z, b, m)

    # One iteration -------------------------------------------------------------------------------------------

    def _iterate(self, state: State, goal: Array, charge: Array, columns: Array | None, u: Array) -> None:
        P, Z = state.P, state.Z
        system = System(self._rows, state, goal, charge, columns, u)
        products = P * Z
        mean = products.mean(axis=1)
        dP, dZ, _, _ = system.direction(-products)
        step_p, step_z = np.minimum(1.0, _longest(P, dP)), np.minimum(1.0, _longest(Z, dZ))
        after = np.einsum("tk,tk->t", P + step_p[:, None] * dP, Z + step_z[:, None] * dZ) / P.shape[1]
        centring = np.clip(after / mean, 0.0, 1.0) ** 3 * mean
        # Clipping the second-order term at a few times the mean saves a quarter of the iterations.
        limit = 5 * mean[:, None]
        second = np.clip(dP * dZ, -limit, limit)
        dP, dZ, db, dm = system.direction(centring[:, None] - products - second)
        fraction = np.clip(1.0 - 10 * mean / self.budget.norm, 0.99, 0.99995)
        step_p = np.minimum(1.0, fraction * _longest(P, dP))[:, None]
        step_z = np.minimum(1.0, fraction * _longest(Z, dZ))[:, None]
        P += step_p * dP
        state.b += step_p * db
        state.m += step_p[:, 0] * dm
        Z += step_z * dZ


def _longest(values: Array, change: Array) -> Array:
    """Largest step that keeps the values non-negative."""
    ratio = np.min(change / values, axis=1)
    return np.asarray(1.0 / np.maximum(-ratio, 1e-30))

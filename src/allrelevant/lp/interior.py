"""The fast engine: one interior-point method that solves a whole batch of bounds in lockstep.

All targets share the rows, so every iteration is matrix-matrix work over the batch. Mehrotra's predictor-corrector
on the variables (pairs of a primal and a dual, both kept positive)::

    w⁺ · z⁺    z⁺ = νγ − y        y = g + Aᵀα + Gᵀβ − λu
    w⁻ · z⁻    z⁻ = νγ + y
    ξ  · t     t  = λs − α
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

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import blas, lapack

from allrelevant.lp.program import Array, Budget, Duals, Indices, Program, Targets

__all__ = ["InteriorBounds"]

#: Stop when the complementarity of a target falls below this share of the norm budget.
GAP = 1e-9
MAX_ITERATIONS = 80
#: Factors up to this size are formed by one product with all pairs of columns, larger ones by one update each.
PACKED_SIZE = 80
PACKED_BYTES = 2**28


class _Rows:
    """All rows ``K = [A B; G H]`` as an operator over a batch, with substituted columns."""

    def __init__(self, program: Program) -> None:
        self.K = np.vstack([np.hstack([program.A, program.B]), np.hstack([program.G, program.H])])
        self.KT = np.ascontiguousarray(self.K.T)
        self.n = program.n_rows
        rows, size = self.K.shape
        self._pairs: Array | None = None
        if size <= PACKED_SIZE and rows * size * (size + 1) * 4 <= PACKED_BYTES:
            i, j = np.tril_indices(size)
            self._pairs = self.K[:, i] * self.K[:, j]
            place = np.zeros((size, size), dtype=np.intp)
            place[i, j] = place[j, i] = np.arange(len(i))
            self._place = place.ravel()

    def substitution(self, targets: Targets) -> Array | None:
        """Whole columns (hinge and hard rows) that the targets bring along."""
        if targets.columns is None:
            return None
        hard = self.KT[targets.index, self.n :]
        return np.hstack([targets.columns, hard])

    def forward(self, x: Array, j: Indices, columns: Array | None) -> Array:
        out = x @ self.KT
        if columns is not None:
            out += (columns - self.KT[j]) * x[np.arange(len(j)), j][:, None]
        return np.asarray(out)

    def adjoint(self, weights: Array, j: Indices, columns: Array | None) -> Array:
        out = weights @ self.K
        if columns is not None:
            out[np.arange(len(j)), j] = np.einsum("tn,tn->t", columns, weights)
        return np.asarray(out)

    def gram(self, weights: Array, j: Indices, columns: Array | None) -> Array:
        t, size = len(weights), self.K.shape[1]
        if self._pairs is not None:
            out = (weights @ self._pairs)[:, self._place].reshape(t, size, size)
        else:
            out = np.empty((t, size, size))
            root = np.sqrt(weights)
            for k in range(t):
                scaled = self.KT * root[k]
                upper = blas.dsyrk(1.0, scaled.T, trans=1, lower=0)
                out[k] = upper + np.triu(upper, 1).T
        if columns is not None:
            border = (weights * columns) @ self.K
            every = np.arange(t)
            border[every, j] = np.einsum("tn,tn,tn->t", weights, columns, columns)
            out[every, j, :] = border
            out[every, :, j] = border
        return np.asarray(out)


@dataclass
class _State:
    """Iterates of a batch: primal and dual sides of all pairs in one array each, free offsets, norm budgets."""

    P: Array
    Z: Array
    b: Array
    m: Array

    def take(self, keep: Array) -> _State:
        return _State(self.P[keep], self.Z[keep], self.b[keep], self.m[keep])


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
        self._rows = _Rows(program)
        n, d, m = program.n_rows, program.n_weights, program.n_hard
        edges = np.cumsum([0, d, d, n, n, m, 1, 1])
        self._part = [slice(a, b) for a, b in pairwise(edges)]
        self._state = self._centre(start)
        wp, wm = self._part[:2]
        self.centre = self._state.P[0, wp] - self._state.P[0, wm], self._state.b[0]

    def solve(self, targets: Targets) -> tuple[Array, Array, Duals]:
        """Maximise all targets at once. What did not converge shows in its certificate, not here."""
        program, t = self.program, len(targets)
        wp, wm, _, surplus, hard, loss, _ = self._part
        j, every = targets.index, np.arange(t)
        goal = np.zeros((t, program.n_weights))
        goal[every, j] = targets.sign
        columns = self._rows.substitution(targets)
        u = np.repeat(program.u[None], t, axis=0)
        if targets.linear is not None:
            u[every, j] = targets.linear

        state = self._starts(targets, columns, u)
        done_P, done_Z, done_b = np.empty_like(state.P), np.empty_like(state.Z), np.empty_like(state.b)
        alive = every
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
            self._iterate(state, goal[alive], j[alive], part, u[alive])
        w = done_P[:, wp] - done_P[:, wm]
        return w, done_b, Duals(done_Z[:, surplus], done_Z[:, hard], done_Z[:, loss][:, 0])

    # Starting points -----------------------------------------------------------------------------------------

    def _centre(self, start: tuple[Array, Array]) -> _State:
        """Newton's method for the analytic centre: the point where all complementarity products are equal."""
        program = self.program
        w, b = (np.atleast_2d(part).astype(float) for part in start)
        m = np.full(1, self.budget.norm)
        if self.budget.price is not None:
            m = np.maximum(program.norm(w) + 0.5 * self.budget.room(program.norm(w), program.loss(w, b)), 0.0)
        split = np.maximum(m - program.norm(w), 1e-3 * m) / (4 * program.gamma.sum())
        lift = np.maximum(self.loss_limit(m) - program.loss(w, b), 1e-9 * m) / (4 * program.s.sum())
        state = self._point(w, b, m, split, lift)
        state.Z = 1.0 / state.P
        nothing = np.zeros((1, program.n_weights)), np.zeros(1, dtype=np.intp), None, program.u[None]
        for _ in range(MAX_ITERATIONS):
            products = state.P * state.Z
            system = _System(self, state, *nothing)
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

    def loss_limit(self, m: Array) -> Array:
        """Loss budget that goes with norm budgets `m`."""
        budget = self.budget
        return np.full_like(m, budget.loss) if budget.price is None else (budget.norm - m) / budget.price

    def _point(self, w: Array, b: Array, m: Array, split: Array, lift: Array) -> _State:
        """Strictly positive primal side at (w, b)."""
        program = self.program
        wp, wm, xi, surplus, hard, loss, norm = self._part
        P = np.empty((len(w), self._part[-1].stop))
        P[:, wp] = np.maximum(w, 0) + split[:, None]
        P[:, wm] = np.maximum(-w, 0) + split[:, None]
        rows = program.rows(w, b)
        P[:, xi] = np.maximum(program.r - rows, 0) + lift[:, None]
        P[:, surplus] = np.maximum(rows - program.r, 0) + lift[:, None]
        if program.n_hard:
            P[:, hard] = np.maximum(w @ program.G.T + b @ program.H.T - program.h, lift[:, None])
        spent_norm = (P[:, wp] + P[:, wm]) @ program.gamma
        spent_loss = P[:, xi] @ program.s + w @ program.u + b @ program.v
        P[:, norm] = np.maximum(m - spent_norm, 1e-3 * m)[:, None]
        P[:, loss] = np.maximum(self.loss_limit(m) - spent_loss, lift * program.s.sum())[:, None]
        return _State(P, np.empty_like(P), b.copy(), m.copy())

    def _starts(self, targets: Targets, columns: Array | None, u: Array) -> _State:
        """Start of every target: the centre, with its duals scaled and shifted so that they stay feasible."""
        wp, wm, xi, surplus, hard, loss, norm = self._part
        t, every, j = len(targets), np.arange(len(targets)), targets.index
        centre = self._state
        P, Z, b, m = (np.repeat(part, t, axis=0) for part in (centre.P, centre.Z, centre.b, centre.m))
        shift = targets.sign
        Z *= 2 * np.maximum(P[every, j], P[every, wm.start + j])[:, None]
        if columns is not None:
            # The centre knows the column that is replaced; make room for what the new one changes.
            multipliers = np.hstack([Z[:, surplus], Z[:, hard]])
            shift = shift + np.einsum("tn,tn->t", columns - self._rows.KT[j], multipliers)
            shift -= Z[:, loss][:, 0] * (u[every, j] - self.program.u[j])
            room = np.abs(shift)[:, None]
            Z[:, norm] += room
            Z[:, wp] += room * self.program.gamma
            Z[:, wm] += room * self.program.gamma
            if self.budget.price is not None:
                Z[:, loss] += self.budget.price * room
                Z[:, xi] += self.budget.price * room * self.program.s
        Z[every, j] -= shift
        Z[every, wm.start + j] += shift
        return _State(P, Z, b, m)

    # One iteration -------------------------------------------------------------------------------------------

    def _iterate(self, state: _State, goal: Array, j: Indices, columns: Array | None, u: Array) -> None:
        P, Z = state.P, state.Z
        system = _System(self, state, goal, j, columns, u)
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


class _System:
    """The linear system of one iteration: factored once, solved for several right sides."""

    def __init__(
        self,
        engine: InteriorBounds,
        state: _State,
        goal: Array,
        j: Indices,
        columns: Array | None,
        u: Array,
    ) -> None:
        program, rows = engine.program, engine._rows
        self.program, self.rows, self.j, self.columns, self.parts = program, rows, j, columns, engine._part
        wp, wm, xi, surplus, hard, loss, norm = self.parts
        P, Z, b = state.P, state.Z, state.b
        n, d = program.n_rows, program.n_weights
        self.Z = Z
        self.Q = Q = P / Z
        self.theta = Q[:, wp] + Q[:, wm]
        self.kappa = (Q[:, wp] - Q[:, wm]) / self.theta
        self.D = 1.0 / np.concatenate([Q[:, xi] + Q[:, surplus], Q[:, hard]], axis=1)
        self.pull = program.s * Q[:, xi] * self.D[:, :n]  # s p D

        # Residuals of all equations; zero up to rounding once a full step has been taken.
        w = P[:, wp] - P[:, wm]
        left = rows.forward(np.hstack([w, b]), j, columns)
        self.res_rows = -left
        self.res_rows[:, :n] += program.r - P[:, xi] + P[:, surplus]
        self.res_rows[:, n:] += program.h + P[:, hard]
        spent = P[:, xi] @ program.s + np.einsum("tk,tk->t", w, u) + b @ program.v + P[:, loss][:, 0]
        self.price = engine.budget.price
        self.res_loss = engine.loss_limit(state.m) - spent
        self.res_norm = state.m - (P[:, wp] + P[:, wm]) @ program.gamma - P[:, norm][:, 0]
        lam, nu = Z[:, loss], Z[:, norm]
        y = rows.adjoint(np.hstack([Z[:, surplus], Z[:, hard]]), j, columns)
        y[:, :d] += goal - lam * u
        self.res_wp = nu * program.gamma - y[:, :d] - Z[:, wp]
        self.res_wm = nu * program.gamma + y[:, :d] - Z[:, wm]
        self.res_xi = lam * program.s - Z[:, surplus] - Z[:, xi]
        self.res_b = lam * program.v - y[:, d:]
        self.res_m = np.zeros(len(P)) if self.price is None else (lam / self.price - nu)[:, 0]

        matrix = rows.gram(self.D, j, columns)
        diagonal = np.einsum("tkk->tk", matrix)
        diagonal *= 1.0 + 1e-14
        diagonal[:, :d] += 1.0 / self.theta
        weighted = np.zeros_like(self.D)
        weighted[:, :n] = self.pull
        a = rows.adjoint(weighted, j, columns)
        a[:, :d] -= u
        a[:, d:] -= program.v
        k = np.zeros_like(a)
        k[:, :d] = self.kappa * program.gamma
        e = np.einsum("tn,tn,n->t", self.pull, Q[:, surplus], program.s) + Q[:, loss][:, 0]
        f = (4 * program.gamma**2 * Q[:, wp] * Q[:, wm] / self.theta).sum(axis=1) + Q[:, norm][:, 0]
        self.factors = _Factors(matrix)
        solved = self.factors.solve(np.stack([a, k], axis=1))
        self.a, self.k = a, k
        self.xa, self.xk = solved[:, 0], solved[:, 1]
        self.saa = e + np.einsum("tk,tk->t", a, self.xa)
        self.sak = np.einsum("tk,tk->t", a, self.xk)
        self.skk = f + np.einsum("tk,tk->t", k, self.xk)

    @property
    def dual_error(self) -> float:
        """Largest residual of the dual equations, relative to the duals."""
        wp, wm, xi, *_ = self.parts
        pairs = ((self.res_wp, wp), (self.res_wm, wm), (self.res_xi, xi))
        return float(max(np.max(np.abs(res) / self.Z[:, part]) for res, part in pairs))

    def direction(self, products: Array) -> tuple[Array, Array, Array, Array]:
        """Step ``(dP, dZ, db, dm)`` with ``Z dP + P dZ = products`` that removes all residuals."""
        program, rows, Q = self.program, self.rows, self.Q
        wp, wm, xi, surplus, hard, loss, norm = self.parts
        n, d = program.n_rows, program.n_weights
        U = products / self.Z
        up = U[:, wp] - Q[:, wp] * self.res_wp
        um = U[:, wm] - Q[:, wm] * self.res_wm
        ux = U[:, xi] - Q[:, xi] * self.res_xi
        c = self.res_rows.copy()
        c[:, :n] += U[:, surplus] - ux
        c[:, n:] += U[:, hard]
        weighted = self.D * c
        rhs = rows.adjoint(weighted, self.j, self.columns)
        rhs[:, :d] += (up - um) / self.theta
        rhs[:, d:] -= self.res_b
        rhs_loss = ux @ program.s + U[:, loss][:, 0] + np.einsum("tn,tn->t", self.pull, c[:, :n]) - self.res_loss
        # γ·((u⁺ + u⁻) − κ(u⁺ − u⁻)) without the cancellation
        spread = 2 * (Q[:, wm] * up + Q[:, wp] * um) / self.theta
        rhs_norm = self.res_norm - U[:, norm][:, 0] - spread @ program.gamma

        x0 = self.factors.solve(rhs[:, None, :])[:, 0]
        one = rhs_loss - np.einsum("tk,tk->t", self.a, x0)
        two = np.einsum("tk,tk->t", self.k, x0) - rhs_norm
        dlam, dnu, dm = self._border(one, two)
        x = x0 + self.xa * dlam[:, None] - self.xk * dnu[:, None]
        dw, db = x[:, :d], x[:, d:]

        dP, dZ = np.empty_like(Q), np.empty_like(Q)
        dual_rows = weighted - self.D * rows.forward(x, self.j, self.columns)
        dual_rows[:, :n] += self.pull * dlam[:, None]
        dZ[:, surplus], dZ[:, hard] = dual_rows[:, :n], dual_rows[:, n:]
        dy = (dw - up + um) / self.theta + self.kappa * program.gamma * dnu[:, None]
        dZ[:, wp] = dnu[:, None] * program.gamma - dy + self.res_wp
        dZ[:, wm] = dnu[:, None] * program.gamma + dy + self.res_wm
        dZ[:, xi] = dlam[:, None] * program.s - dZ[:, surplus] + self.res_xi
        dZ[:, loss], dZ[:, norm] = dlam[:, None], dnu[:, None]
        np.subtract(U, Q * dZ, out=dP)
        return dP, dZ, db, dm

    def _border(self, one: Array, two: Array) -> tuple[Array, Array, Array]:
        """Steps of the two multipliers and of the norm budget.

        ``[saa −sak; −sak skk] (dλ, dν) = (one + dm/C, two − dm)``, with ``dm = 0`` or with ``dν = dλ/C + res_m``.
        """
        saa, sak, skk, C = self.saa, self.sak, self.skk, self.price
        if C is None:
            det = saa * skk - sak**2
            return (one * skk + sak * two) / det, (saa * two + sak * one) / det, np.zeros_like(one)
        dlam = (C * one + two + (C * sak - skk) * self.res_m) / (C * saa - 2 * sak + skk / C)
        dnu = dlam / C + self.res_m
        return dlam, dnu, C * (saa * dlam - sak * dnu - one)


class _Factors:
    """Cholesky factors of a batch of matrices."""

    def __init__(self, matrices: Array) -> None:
        self._factors = []
        for matrix in matrices:
            factor, info = lapack.dpotrf(matrix, lower=1, clean=0)
            shift = 1e-13
            while info and shift < 1.0:
                raised = matrix.copy()
                raised[np.diag_indices_from(raised)] *= 1.0 + shift
                factor, info = lapack.dpotrf(raised, lower=1, clean=0)
                shift *= 100
            self._factors.append(factor)

    def solve(self, right: Array) -> Array:
        """Solve for right sides of shape (t, sides, size)."""
        out = np.empty_like(right)
        for k, factor in enumerate(self._factors):
            solution, _ = lapack.dpotrs(factor, right[k].T, lower=1)
            out[k] = solution.T
        return out

"""The linear algebra of the interior-point engine: rows over a batch, and the system of one iteration."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import blas, lapack

from allrelevant.lp.program import Array, Budget, Columns, Program

__all__ = ["Rows", "State", "System"]

#: Factors up to this size are formed by one product with all pairs of columns, larger ones by one update each.
PACKED_SIZE = 80
PACKED_BYTES = 2**28


class Rows:
    """All rows ``K = [A B; G H]`` as an operator over a batch, with columns of the targets' own for the last weights.

    Attributes
    ----------
    parts : list of slice
        Where ``w⁺, w⁻, ξ``, the surplus of the hinge rows, that of the hard rows, and the room of the loss and of the
        norm budget lie among the pairs.
    """

    def __init__(self, program: Program, budget: Budget) -> None:
        self.program, self.budget = program, budget
        self.K = np.vstack([np.hstack([program.A, program.B]), np.hstack([program.G, program.H])])
        self.KT = np.ascontiguousarray(self.K.T)
        self.n = program.n_rows
        n, d, m = program.n_rows, program.n_weights, program.n_hard
        sizes = [0, d, d, program.slacks.count, n, m, 1, 1]
        self.parts = [slice(a, b) for a, b in pairwise(np.cumsum(sizes).tolist())]
        rows, size = self.K.shape
        self._pairs: Array | None = None
        if not program.slacks.shared and size <= PACKED_SIZE and rows * size * (size + 1) * 4 <= PACKED_BYTES:
            i, j = np.tril_indices(size)
            self._pairs = self.K[:, i] * self.K[:, j]
            place = np.zeros((size, size), dtype=np.intp)
            place[i, j] = place[j, i] = np.arange(len(i))
            self._place = place.ravel()

    def loss_limit(self, m: Array) -> Array:
        """Loss budget that goes with norm budgets `m`."""
        budget = self.budget
        return np.full_like(m, budget.loss) if budget.price is None else (budget.norm - m) / budget.price

    def whole(self, columns: Columns | None) -> Array | None:
        """Columns over all rows, hinge and hard, of shape (t, m, rows)."""
        return None if columns is None else np.concatenate([columns.A, columns.G], axis=2)

    def slots(self, columns: Array) -> slice:
        """Weights that columns of shape (t, m, rows) belong to."""
        d = self.program.n_weights
        return slice(d - columns.shape[1], d)

    def forward(self, x: Array, columns: Array | None) -> Array:
        """``K x`` for every target."""
        out = x @ self.KT
        if columns is not None:
            out += (x[:, None, self.slots(columns)] @ columns)[:, 0]
        return np.asarray(out)

    def adjoint(self, weights: Array, columns: Array | None) -> Array:
        """``Kᵀ weights`` for every target."""
        out = weights @ self.K
        if columns is not None:
            out[:, self.slots(columns)] = (columns @ weights[:, :, None])[:, :, 0]
        return np.asarray(out)

    def gram(self, weights: Array, columns: Array | None) -> Array:
        """``Kᵀ diag(weights) K`` for every target."""
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
            slots = self.slots(columns)
            weighted = weights[:, None, :] * columns
            border = weighted @ self.K
            border[:, :, slots] = weighted @ columns.transpose(0, 2, 1)
            out[:, slots, :] = border
            out[:, :, slots] = border.transpose(0, 2, 1)
        return np.asarray(out)


@dataclass
class State:
    """Iterates of a batch: primal and dual sides of all pairs in one array each, free offsets, norm budgets."""

    P: Array
    Z: Array
    b: Array
    m: Array

    def take(self, keep: Array) -> State:
        """Keep some of the targets."""
        return State(self.P[keep], self.Z[keep], self.b[keep], self.m[keep])


class Curvature:
    """What is left of the rows when slacks and surpluses are eliminated: the diagonal ``D = 1 / (Q_ξ + Q_e)``.

    Attributes
    ----------
    pull : ndarray of shape (t, n)
        Answer of the multipliers of the hinge rows to that of the loss budget.
    rest : ndarray of shape (t,)
        What is left of the slacks in the equation of the loss budget.
    """

    def __init__(self, program: Program, slack: Array, surplus: Array, hard: Array) -> None:
        n = program.n_rows
        self.D = 1.0 / np.concatenate([slack + surplus, hard], axis=1)
        self.pull = program.s * slack * self.D[:, :n]
        self.rest = np.einsum("tn,tn,n->t", self.pull, surplus, program.s)

    def apply(self, values: Array) -> Array:
        """``D values``."""
        return self.D * values

    def gram(self, rows: Rows, columns: Array | None) -> Array:
        """``Kᵀ D K``."""
        return rows.gram(self.D, columns)


class SharedCurvature(Curvature):
    """The same where rows share slacks: ``D = (Q_ξ 11ᵀ + diag Q_e)⁻¹`` for the rows of each.

    With weights ``d = 1 / Q_e`` it takes the deviations of rows from their weighted mean as they are and the mean times
    ``1 / (1 + Q_ξ Σd)``. Means are taken of differences to the heaviest row of a slack: where one row outweighs the
    others, its deviation is all that matters, and would be lost in its distance to a rounded mean.
    """

    def __init__(self, program: Program, slack: Array, surplus: Array, hard: Array) -> None:
        self.slacks = program.slacks
        self.d, self.hard = 1.0 / surplus, 1.0 / hard
        self.sum = self.slacks.total(self.d)
        heaviest = self.d == self.slacks.rows(self.slacks.greatest(self.d))
        rank = np.where(heaviest, np.arange(self.d.shape[1], 0, -1), 0)  # the first of those that are equal
        self.first = self.d.shape[1] - self.slacks.greatest(rank)
        self.share = 1.0 / (1.0 + slack * self.sum)
        self.pull = self.d * self.slacks.rows(program.s * slack * self.share)
        self.rest = (program.s**2 * slack * self.share).sum(axis=1)

    def apply(self, values: Array) -> Array:
        """``D values``."""
        n, slacks = self.d.shape[1], self.slacks
        first = np.take_along_axis(values[:, :n], self.first, axis=1)
        apart = values[:, :n] - slacks.rows(first)
        mean = slacks.total(self.d * apart) / self.sum
        out = self.d * (apart - slacks.rows(mean) + slacks.rows((first + mean) * self.share))
        return np.hstack([out, self.hard * values[:, n:]])

    def gram(self, rows: Rows, columns: Array | None) -> Array:
        """``Kᵀ D K``."""
        n, size = self.d.shape[1], rows.K.shape[1]
        out = np.empty((len(self.d), size, size))
        for k in range(len(self.d)):
            KT = rows.KT
            if columns is not None:
                KT = KT.copy()
                KT[rows.slots(columns)] = columns[k]
            first = KT[:, self.first[k]]
            apart = KT[:, :n] - self.slacks.rows(first)
            mean = self.slacks.total(apart * self.d[k]) / self.sum[k]
            apart = (apart - self.slacks.rows(mean)) * np.sqrt(self.d[k])
            between = (first + mean) * np.sqrt(self.sum[k] * self.share[k])
            scaled = np.hstack([apart, between, KT[:, n:] * np.sqrt(self.hard[k])])
            upper = blas.dsyrk(1.0, scaled.T, trans=1, lower=0)
            out[k] = upper + np.triu(upper, 1).T
        return out


class System:
    """The linear system of one iteration: factored once, solved for several right sides."""

    def __init__(
        self,
        rows: Rows,
        state: State,
        goal: Array,
        charge: Array,
        columns: Array | None,
        u: Array,
    ) -> None:
        program = rows.program
        self.program, self.rows, self.columns, self.parts = program, rows, columns, rows.parts
        wp, wm, xi, surplus, hard, loss, norm = self.parts
        P, Z, b = state.P, state.Z, state.b
        n, d = program.n_rows, program.n_weights
        self.Z = Z
        self.Q = Q = P / Z
        self.theta = Q[:, wp] + Q[:, wm]
        self.kappa = (Q[:, wp] - Q[:, wm]) / self.theta
        kind = SharedCurvature if program.slacks.shared else Curvature
        self.curve = kind(program, Q[:, xi], Q[:, surplus], Q[:, hard])
        self.pull = self.curve.pull

        # Residuals of all equations; zero up to rounding once a full step has been taken.
        w = P[:, wp] - P[:, wm]
        left = rows.forward(np.hstack([w, b]), columns)
        self.res_rows = -left
        self.res_rows[:, :n] += program.r - program.slacks.rows(P[:, xi]) + P[:, surplus]
        self.res_rows[:, n:] += program.h + P[:, hard]
        spent = P[:, xi] @ program.s + np.einsum("tk,tk->t", w, u) + b @ program.v + P[:, loss][:, 0]
        self.price = rows.budget.price
        self.res_loss = rows.loss_limit(state.m) - spent
        self.res_norm = state.m - (P[:, wp] + P[:, wm]) @ program.gamma - P[:, norm][:, 0]
        lam, nu = Z[:, loss], Z[:, norm]
        y = rows.adjoint(np.hstack([Z[:, surplus], Z[:, hard]]), columns)
        y[:, :d] += goal - lam * u
        price = nu * program.gamma + charge
        self.res_wp = price - y[:, :d] - Z[:, wp]
        self.res_wm = price + y[:, :d] - Z[:, wm]
        self.res_xi = lam * program.s - program.slacks.total(Z[:, surplus]) - Z[:, xi]
        self.res_b = lam * program.v - y[:, d:]
        self.res_m = np.zeros(len(P)) if self.price is None else (lam / self.price - nu)[:, 0]

        matrix = self.curve.gram(rows, columns)
        diagonal = np.einsum("tkk->tk", matrix)
        diagonal *= 1.0 + 1e-14
        diagonal[:, :d] += 1.0 / self.theta
        weighted = np.zeros((len(P), n + program.n_hard))
        weighted[:, :n] = self.pull
        a = rows.adjoint(weighted, columns)
        a[:, :d] -= u
        a[:, d:] -= program.v
        k = np.zeros_like(a)
        k[:, :d] = self.kappa * program.gamma
        e = self.curve.rest + Q[:, loss][:, 0]
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
        return float(max(np.max(np.abs(res) / self.Z[:, part], initial=0.0) for res, part in pairs))

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
        c[:, :n] += U[:, surplus] - program.slacks.rows(ux)
        c[:, n:] += U[:, hard]
        weighted = self.curve.apply(c)
        rhs = rows.adjoint(weighted, self.columns)
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
        dual_rows = weighted - self.curve.apply(rows.forward(x, self.columns))
        dual_rows[:, :n] += self.pull * dlam[:, None]
        dZ[:, surplus], dZ[:, hard] = dual_rows[:, :n], dual_rows[:, n:]
        dy = (dw - up + um) / self.theta + self.kappa * program.gamma * dnu[:, None]
        dZ[:, wp] = dnu[:, None] * program.gamma - dy + self.res_wp
        dZ[:, wm] = dnu[:, None] * program.gamma + dy + self.res_wm
        dZ[:, xi] = dlam[:, None] * program.s - program.slacks.total(dZ[:, surplus]) + self.res_xi
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

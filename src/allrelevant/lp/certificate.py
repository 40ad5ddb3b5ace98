"""Proofs that need no trust in the engine that found them.

Any ``α, β, λ ≥ 0`` with ``α ≤ λ s`` (summed over rows that share a slack) and ``Bᵀα + Hᵀβ = λ v`` prove for every
point within the budget (ρ, μ) that::

    g·w − c·|w| ≤ λρ − α·r − β·h + max { (g + z)·w − c·|w| : norm(w) ≤ μ, box },     z = Aᵀα + Gᵀβ − λu

(from one purse ``norm + C · loss ≤ τ``: ``λρ`` falls away, and the maximum is ``τ max(λ/C, (|g + z| − c) / γ)``), and
any point that satisfies all rows proves the other side. Both are evaluated here in plain NumPy on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from allrelevant.lp.matrix import Array, Indices, blocks
from allrelevant.lp.program import Budget, Duals, Program, Targets

#: An optimum counts as proven when its two sides agree to this share of the norm budget (or of the objective).
GAP_LIMIT = 1e-6
#: Multipliers checked at a time: the proof takes several arrays of this size, beside those of the engine.
AT_ONCE = 2**20
#: Share of their terms up to which the offsets' equations may be off.
BALANCE = 1e-13
#: Room of multipliers that is none: its inverse is no number.
NOTHING = 1e-290
#: Share of a step that shows where a shorter one may lead, and what is added to steps until they are enough.
GLANCE, STEPS = 1.0 / 64.0, 4.0 ** np.arange(-24, 1)

__all__ = ["GAP_LIMIT", "Certified", "certify", "penalised_gap", "repair"]


@dataclass(frozen=True, eq=False)
class Certified:
    """Both sides of a batch of bounds.

    Attributes
    ----------
    lower, upper : ndarray of shape (t,)
        The objective attained by a feasible point, and proven never to be exceeded.
    w : ndarray of shape (t, d)
        The feasible points.
    """

    lower: Array
    upper: Array
    w: Array


def repair(program: Program, duals: Duals) -> tuple[Duals, NDArray[np.bool_]]:
    """Move multipliers, by rounding errors only, to where the proof needs them to be; what is no number becomes 0.

    Returns
    -------
    duals : Duals
        The multipliers.
    unproven : ndarray of shape (t,)
        Mask of the targets whose multipliers do not solve the offsets' equations to rounding: nothing is proven.
    """
    finite = np.isfinite(duals.alpha.sum(axis=1) + duals.beta.sum(axis=1) + duals.lam)
    if not finite.all():
        alpha, beta = (np.where(finite[:, None], part, 0.0) for part in (duals.alpha, duals.beta))
        duals = Duals(alpha, beta, np.where(finite, duals.lam, 0.0))
    lam = np.maximum(duals.lam, 0.0)
    cap = lam[:, None] * program.s
    fixed = Duals(_capped(program, duals.alpha, cap), np.maximum(duals.beta, 0.0), lam)
    for _ in range(3):
        residual, scale = _imbalance(program, fixed)
        unproven = _exceeds(residual, scale, 1e-15)
        if not unproven.any():
            return fixed, unproven
        fixed = _shifted(program, fixed, cap, residual)
    for t in np.flatnonzero(_exceeds(*_imbalance(program, fixed), BALANCE)):
        fixed.alpha[t], fixed.beta[t] = _balance(program, fixed.alpha[t], fixed.beta[t], lam[t])
    return fixed, _exceeds(*_imbalance(program, fixed), BALANCE)


def _imbalance(program: Program, duals: Duals) -> tuple[Array, Array]:
    """What is missing in the offsets' equations, and the sums of the magnitudes that it is left of."""
    alpha, beta, lam = duals.alpha, duals.beta, duals.lam[:, None]
    residual = lam * program.v - alpha @ program.B - beta @ program.H
    return residual, lam * np.abs(program.v) + alpha @ np.abs(program.B) + beta @ np.abs(program.H)


def _exceeds(residual: Array, scale: Array, rounding: float) -> NDArray[np.bool_]:
    """Mask of the targets of which more is missing than rounding explains."""
    # Objectives are of the order of 1: what is left of multipliers far below is nothing.
    return np.asarray((np.abs(residual) > rounding * scale + 1e-16).any(axis=1))


def _shifted(program: Program, duals: Duals, cap: Array, residual: Array) -> Duals:
    """Shift the multipliers that have room on both sides, in proportion to it, so that they stay within their bounds.

    The offsets are free, so their equations must hold to the last digit.
    """
    p = program.n_offsets
    room, move = _moves(program, duals.alpha, cap)
    normal = room(_pairs(program.B)) + duals.beta @ _pairs(program.H)
    shift = np.einsum("tpq,tq->tp", _pseudo_inverse(normal.reshape(-1, p, p)), residual)
    moved = move(program.lift(shift))
    moved += duals.alpha
    # Half of the room is never too far, whatever is rounded.
    if program.slacks.shared or not (np.abs(shift) @ np.abs(program.B).max(axis=0, initial=0.0) <= 0.5).all():
        _capped(program, moved, cap, out=moved)
    return Duals(moved, np.maximum(duals.beta + duals.beta * (shift @ program.H.T), 0.0), duals.lam)


def _pairs(columns: Array) -> Array:
    """Products of all pairs of columns, of shape (n, p²)."""
    rows = np.ascontiguousarray(columns.T)
    return (rows[:, None] * rows).reshape(len(rows) ** 2, -1).T


def _pseudo_inverse(matrices: Array) -> Array:
    """Pseudo-inverses of symmetric matrices, of next to nothing as of 0; in passing where they are numbers."""
    matrices = np.where(np.abs(matrices).max(axis=(1, 2), keepdims=True) < NOTHING, 0.0, matrices)
    if matrices.shape[1] == 1:
        return np.divide(1.0, matrices, out=np.zeros_like(matrices), where=matrices != 0.0)
    return np.asarray(np.linalg.pinv(matrices, hermitian=True))


def _capped(program: Program, alpha: Array, cap: Array, out: Array | None = None) -> Array:
    """Multipliers of the hinge rows within what the weights of their slacks allow."""
    alpha = np.asarray(alpha.clip(0.0, np.inf, out=out))  # in half the time of a maximum
    if not program.slacks.shared:
        return np.minimum(alpha, cap, out=alpha)
    total = program.slacks.total(alpha)
    share = np.divide(cap, total, out=np.ones_like(total), where=total > cap)
    return np.asarray(np.multiply(alpha, program.slacks.rows(share), out=alpha))


def _moves(program: Program, alpha: Array, cap: Array) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """How far multipliers can be moved: as quadratic form of pairs of columns, and applied to a wish per row.

    A multiplier alone has the room ``min(α, λs − α)``. Those that share a slack move by ``α (wish − mean)``, with the
    mean over the slack weighted by α/λs: within their sum, as far as that is at its limit.
    """
    slacks = program.slacks
    if not slacks.shared:
        room = cap - alpha
        np.minimum(room, alpha, out=room)
        return lambda pairs: np.asarray(room @ pairs), lambda wish: np.multiply(room, wish, out=wish)
    share = 1.0 / np.maximum(cap, 1e-300)

    def form(pairs: Array) -> Array:
        p = program.n_offsets
        means = slacks.total(alpha[:, None, :] * program.B.T[None]).transpose(0, 2, 1)
        inner = np.einsum("tgp,tgq,tg->tpq", means, means, share)
        return np.asarray(alpha @ pairs - inner.reshape(len(alpha), p * p))

    return form, lambda wish: alpha * (wish - slacks.rows(slacks.total(alpha * wish) * share))


def _balance(program: Program, alpha: Array, beta: Array, lam: float) -> tuple[Array, Array]:
    """Solve the offsets' equations where all multipliers are at their bounds: move some off them."""
    left = program.slacks.rows(lam * program.s - program.slacks.total(alpha))
    room = np.concatenate([left, alpha, np.full(len(beta), max(lam, 1e-9)), beta])
    rows = np.vstack([program.B, -program.B, program.H, -program.H])
    residual = lam * program.v - alpha @ program.B - beta @ program.H
    size = float(np.abs(residual).max())
    try:
        step = room * nnls((rows * room[:, None]).T, residual / size)[0] * size
    except RuntimeError:  # too many iterations: then nothing is proven
        return alpha, beta
    n, m = len(alpha), len(beta)
    up, down, more, less = np.split(step, np.cumsum([n, n, m]))
    alpha = _capped(program, (alpha + up - down)[None], (lam * program.s)[None])[0]
    return alpha, np.maximum(beta + more - less, 0.0)


def certify(
    program: Program,
    budget: Budget,
    targets: Targets,
    w: Array,
    b: Array,
    duals: Duals,
    anchor: tuple[Array, Array],
) -> Certified:
    """Prove both sides of every bound of a batch.

    Parameters
    ----------
    program, budget, targets
        What was solved.
    w, b : ndarray of shape (t, d), (t, p)
        Points an engine claims to be optimal.
    duals : Duals
        Its multipliers.
    anchor : tuple of ndarray
        A point ``(w, b)`` well inside the budget. A claimed point that is infeasible by rounding is moved towards it
        until it is feasible.

    Returns
    -------
    Certified
        ``upper`` is infinite where the multipliers prove nothing, ``lower`` is -inf where no feasible point was
        reached.
    """
    parts = []
    for few in blocks((len(targets), max(program.n_rows, program.n_weights)), AT_ONCE):
        part = targets.take(np.arange(few.start, few.stop))
        fixed, unproven = repair(program, Duals(duals.alpha[few], duals.beta[few], duals.lam[few]))
        upper = np.where(unproven, np.inf, _upper_bounds(program, budget, part, fixed))
        inside, feasible = _pull_inside(program, budget, part, w[few], b[few], anchor)
        parts.append((np.where(feasible, part.value(inside), -np.inf), upper, inside))
    return Certified(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _upper_bounds(program: Program, budget: Budget, targets: Targets, duals: Duals) -> Array:
    size = program.n_weights
    z = program.pull(duals.alpha, duals.beta)
    if program.u.any():
        z -= duals.lam[:, None] * program.u
    base = -(duals.alpha @ program.r) - duals.beta @ program.h
    # From one purse, a multiplier of the loss is also one of the norm.
    least = np.zeros(len(targets)) if budget.price is None else duals.lam / budget.price
    if budget.price is None:
        base += duals.lam * budget.loss
    places = np.arange(len(targets))[:, None], targets.index
    charge = None if targets.charge is None else targets.spread(targets.charge, size)
    np.add.at(z, places, targets.coefficient)
    return np.asarray(base + _support(program, budget.norm, z, charge, least))


def _support(program: Program, norm: float, q: Array, charge: Array | None, least: Array) -> Array:
    """Upper bound of ``max q·w − c·|w|`` over the norm ball and the box by a multiplier ``ν ≥ least``.

    Exact without a box.
    """
    boxed = program.boxed
    even = charge is None and bool((program.gamma == program.gamma[0]).all())
    if even and not boxed.any():
        greatest = np.maximum(q.max(axis=1), -q.min(axis=1)) / program.gamma[0]
        return np.asarray(norm * np.maximum(greatest, least))
    ratio = np.abs(q) / program.gamma if charge is None else np.maximum(np.abs(q) - charge, 0.0) / program.gamma
    if not boxed.any():
        return np.asarray(norm * np.maximum(ratio.max(axis=1), least))
    # max_w q·w - ν(norm(w) - μ) bounds it for every ν ≥ 0 that no free weight can exploit; try the sensible ones.
    free = np.where(q > 0, np.isinf(program.upper), np.isinf(program.lower))
    least = np.maximum(np.where(free, ratio, 0.0).max(axis=1, initial=0.0), least)
    candidates = np.sort(np.concatenate([least[:, None], np.maximum(ratio, least[:, None])], axis=1), axis=1)
    lower, upper = program.lower[boxed], program.upper[boxed]
    gamma, qb = program.gamma[boxed], q[:, boxed]
    cb = np.zeros_like(qb) if charge is None else charge[:, boxed]
    inside = np.clip(0.0, lower, upper)

    def value(nu: Array) -> Array:
        best = np.full(qb.shape, -np.inf)
        with np.errstate(invalid="ignore"):
            for point in (lower, upper, inside):
                cost = (nu[:, None] * gamma + cb) * np.abs(point)
                at = np.where(np.isfinite(point), qb * point - cost, -np.inf)
                best = np.maximum(best, at)
        return np.asarray(nu * norm + best.sum(axis=1))

    best = np.full(len(q), np.inf)
    for k in range(candidates.shape[1]):
        best = np.minimum(best, value(candidates[:, k]))
    return best


def _pull_inside(
    program: Program,
    budget: Budget,
    targets: Targets,
    w: Array,
    b: Array,
    anchor: tuple[Array, Array],
) -> tuple[Array, NDArray[np.bool_]]:
    """Move every point towards the anchor until it satisfies all rows, box and budget; say which ones do."""
    w0, b0 = anchor
    lost = ~np.asarray(np.isfinite(w).all(axis=1) & np.isfinite(b).all(axis=1))
    w, b = np.where(lost[:, None], w0, w), np.where(lost[:, None], b0, b)
    rooms = _rooms(program, budget, w, b)
    inside = (rooms >= 0.0).all(axis=1) & ~lost

    def look(rest: Indices, step: Array) -> tuple[Array, Array]:
        """Return the points a step on their way, and what these have left of every limit."""
        # So spelled that weights which are the same at both ends are so in between.
        wt, bt = w[rest] + step * (w0 - w[rest]), b[rest] + step * (b0 - b[rest])
        return wt, _rooms(program, budget, wt, bt)

    rest = np.flatnonzero(~inside & ~lost)
    if not len(rest):
        return w, inside
    # What is limited is convex: where the chord from a point outside to the anchor meets the limits they are kept, but
    # they may be before. There the tangent meets them, or still earlier.
    there = look(rest, np.ones((len(rest), 1)))[1]
    far = np.minimum(_met(rooms[rest], there), 1.0)
    step = np.minimum(GLANCE * far * _met(rooms[rest], look(rest, GLANCE * far)[1]), far)
    for more in STEPS:
        step = np.minimum(step + more, 1.0)
        found, rooms = look(rest, step)
        good = (rooms >= 0.0).all(axis=1)
        w[rest[good]], inside[rest[good]] = found[good], True
        further = ~good & (step[:, 0] < 1.0)
        if not further.any():
            break
        rest, step, there = rest[further], step[further], there[further]
        step += (1.0 - step) * np.minimum(_met(rooms[further], there), 1.0)
    return w, inside


def _met(before: Array, after: Array) -> Array:
    """How far beyond points outside all limits are met, of shape (t, 1), if rooms change on as they do to others."""
    missing = np.maximum(-before, 0.0)
    outside, gain = missing > 0.0, after + missing
    share = np.divide(missing, gain, out=np.where(outside, np.inf, 0.0), where=outside & (gain > 0.0))
    return np.asarray(share.max(axis=1, keepdims=True))


def _rooms(program: Program, budget: Budget, w: Array, b: Array) -> Array:
    """What points have left of everything that is limited, of shape (t, limits); negative outside."""
    spent = budget.rooms(program.norm(w), program.loss(w, b))
    return np.concatenate([spent, program.hard_rooms(w, b)], axis=1)


def penalised_gap(program: Program, C: Array, w: Array, b: Array, duals: Duals) -> Array:
    """Relative gaps of claimed optima of ``min norm + C · loss``, for losses that are never negative.

    The multipliers are those of the bound problem with ``λ = C``; their value ``α·r + β·h`` bounds the optimum from
    below if ``|z| ≤ γ``. An excess over γ is charged: no optimal point has a norm above the value at hand. The right
    sides ``r`` of the program may be one row for every point.
    """
    fixed, unproven = repair(program, Duals(duals.alpha, duals.beta, C))
    z = program.pull(fixed.alpha, fixed.beta) - C[:, None] * program.u
    excess = np.max(np.abs(z) / program.gamma, axis=1, initial=1.0) - 1.0
    primal = program.norm(w) + C * program.loss(w, b)
    dual = (fixed.alpha * program.r).sum(axis=1) + fixed.beta @ program.h - excess * primal
    # An objective of next to nothing is measured against the loss of a model that does nothing.
    scale = C * (program.slacks.greatest(np.abs(program.r)) @ program.s)
    gap = (primal - dual) / np.maximum(np.maximum(np.abs(primal), 1e-6 * scale), 1e-12)
    return np.asarray(np.where(unproven | (program.hard_violation(w, b) > 1e-9), np.inf, gap))

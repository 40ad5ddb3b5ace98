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

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.backend import Backend, NumpyBackend
from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.iterates import Batch, Optima, State
from allrelevant.lp.lockstep import (
    COARSE,
    MANY,
    MAX_ITERATIONS,
    QUIET,
    Enough,
    Lockstep,
    among,
    numbers_per_target,
)
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.nearest import OwnRows, Start
from allrelevant.lp.newton import TallSystem
from allrelevant.lp.preset import Preset
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.reduction import Reduction
from allrelevant.lp.rows import Rows
from allrelevant.lp.smooth import Smoothed
from allrelevant.lp.targets import Duals, Targets
from allrelevant.lp.wide import WideSystem

__all__ = ["InteriorBounds"]

#: Stop when the complementarity of a target falls below this share of the norm budget.
GAP = 3e-10
#: Entries of all rows, at most, for targets to choose from.
EVERY = 2**22


class InteriorBounds(Lockstep):
    """Bounds of weights over the budget, whole batches at a time.

    Parameters
    ----------
    program : Program
        The rows; finite bounds of weights become rows, and weights that leave no choice are taken out. Sparse rows
        become dense: whoever asks must know that they fit.
    budget : Budget
        One budget with room inside.
    start : tuple of ndarray
        A point ``(w, b)`` within the budget.
    backend : Backend, default=None
        Where to compute; NumPy if None.
    reduction : Reduction, default=None
        The same with fewer rows, to begin with; what is found is not always right for all.
    """

    more = 2

    def __init__(
        self,
        program: Program,
        budget: Budget,
        start: tuple[Array, Array],
        backend: Backend | None = None,
        *,
        reduction: Reduction | None = None,
    ) -> None:
        if reduction is not None and len(reduction.kept) == program.n_rows:
            reduction = None
        self._whole, self._reduction = (program, budget), reduction
        if reduction is not None:
            program, budget = reduction.program, reduction.budget
        self._preset = Preset(program.dense())
        w, b = start[0][self._preset.free], start[1]
        self.program, self.budget = self._preset.program, self._preset.budget(budget)
        self._begin = w, b, self._norm_budget(w, b)
        rows = Rows(self.program, self.budget, NumpyBackend() if backend is None else backend)
        super().__init__(rows, WideSystem if rows.wide else TallSystem)

    @cached_property
    def _state(self) -> State:
        """Iterates at the analytic centre."""
        with np.errstate(**QUIET):
            return self._centre()

    @cached_property
    def centre(self) -> tuple[Array, Array]:
        """The analytic centre ``(w, b)`` of the feasible set."""
        wp, wm = self._part[:2]
        w, b = (self.backend.to_numpy(part) for part in (self._state.P[:, wp] - self._state.P[:, wm], self._state.b[0]))
        return self._preset.weights(w)[0], b

    @property
    def numbers_per_target(self) -> int:
        """Floating-point numbers that a target takes while it is being solved, roughly."""
        weights, rows = self._rows.d + self._rows.p, self._rows.n + self._rows.m
        at_once = not isinstance(self.backend, NumpyBackend) and not self._rows.table.packed
        return numbers_per_target(weights, rows) + (2 * weights * rows if at_once else 0)

    def solve(self, targets: Targets, *, exact: bool = False) -> tuple[Array, Array, Duals]:
        """Maximise all targets at once, over all rows in double precision throughout if that is to be exact.

        What did not converge shows in its certificate, not here.
        """
        with self.backend.alone, np.errstate(**QUIET):
            return self._solve(targets, exact)

    @cached_property
    def _every(self) -> Rows:
        """All rows, for targets to choose from; those of the reduction if all are too many."""
        program, budget = self._whole
        if self._reduction is None or program.is_sparse or program.n_rows * program.n_weights > EVERY:
            return self._rows
        preset = Preset(program.dense())
        return Rows(preset.program, preset.budget(budget), self.backend)

    def _batch(self, rows: Rows, targets: Targets) -> Batch:
        """Targets over some of the rows."""
        d, backend = rows.d, self.backend
        index, coefficient, charges = self._preset.targets(targets)
        goal = backend.spread(coefficient, index, d)
        charge = None if charges is None else backend.spread(charges, index, d)
        linear = rows.linear[None]
        if targets.columns is not None:
            linear = self.xp.repeat(linear, len(targets), axis=0)
            linear[:, targets.columns.slots(d)] = backend.asarray(targets.columns.u)
        columns = rows.whole(self._preset.columns(targets.columns))
        if columns is not None and self.mixed:
            # Of features in a batch with probes, which come first, they are empty.
            columns = columns[int(np.argmax(columns.any(axis=(1, 2)))) :]
        return Batch(goal, charge, columns, linear, rows.s[None])

    def _solve(self, targets: Targets, exact: bool) -> tuple[Array, Array, Duals]:
        t, backend, reduction, rows = len(targets), self.backend, self._reduction, self._rows
        wp, wm, *_ = self._part
        index, coefficient, _ = self._preset.targets(targets)
        batch = self._batch(rows, targets if reduction is None else reduction.targets(targets))
        lower, upper, rest = np.full(t, -np.inf), np.full(t, np.inf), np.arange(t)

        def outdone(rows: Rows, alive: Indices, state: Start, batch: Batch, gap: Array) -> NDArray[np.bool_]:
            who = rest[alive]
            place = backend.indices(index[who])
            chosen = backend.pick(state.P[:, wp], place) - backend.pick(state.P[:, wm], place)
            value = (coefficient[who] * backend.to_numpy(chosen)).sum(axis=1)
            lower[who], upper[who] = value, value + gap
            out = shown()[who]
            if isinstance(rows, OwnRows) and out.any():  # whose residuals go last
                some = np.flatnonzero(out)
                its_gap = self._gap(rows.take(some), state.take(some), batch.take(some))
                upper[who[some]] = value[some] + its_gap
                out = shown()[who]
            return out

        def shown() -> NDArray[np.bool_]:
            # With something to spare: it is the certificate that decides.
            return targets.outdone(np.where(lower > 0.2 * upper, 0.999 * lower, -np.inf), upper)

        enough = outdone if targets.paired else None
        if exact or not (self.mixed and t >= MANY):
            state = self._follow(rows, self._starts(batch), batch, enough, GAP)
            return self._claim(rows, state.optima(rows, batch))
        start = self._approached(batch, enough)
        if targets.paired:
            # What is shown to be outdone already need not be followed further.
            pairs = np.arange(targets.paired)
            some, its_batch = start.take(pairs), batch.take(pairs)
            left = pairs[outdone(rows, pairs, some, its_batch, self._gap(rows, some, its_batch))]
            early = self._claim(rows, some.take(left).optima(rows, its_batch.take(left)))
            rest = np.setdiff1d(rest, left)
            start, batch = start.take(rest), batch.take(rest)
        if reduction is not None and self._every is not rows and self._count(self._every, len(rest)):
            batch = self._batch(self._every, targets.take(rest))
            start, rows = start.lifted(rows, self._every, batch, reduction.kept), self._every
        rivals = None
        if targets.paired:
            rival = np.where(rest < targets.paired, rest ^ 1, rest)
            place = np.minimum(np.searchsorted(rest, rival), len(rest) - 1)
            rivals = np.where(rest[place] == rival, place, np.arange(len(rest)))
        claim = self._claim(rows, self._finish(rows, start, batch, enough, GAP, rivals=rivals))
        if len(rest) == t:
            return claim
        order = np.argsort(np.concatenate([rest, left]))
        (w, b, duals), (w_left, b_left, duals_left) = claim, early

        def joined(some: Array, others: Array) -> Array:
            return np.concatenate([some, others])[order]

        alpha, beta = joined(duals.alpha, duals_left.alpha), joined(duals.beta, duals_left.beta)
        return joined(w, w_left), joined(b, b_left), Duals(alpha, beta, joined(duals.lam, duals_left.lam))

    def _gap(self, rows: Rows, start: Start, batch: Batch) -> Any:
        """How far objectives at the start are from what its multipliers prove, roughly: offsets will be mended."""
        xp = self.xp
        w, b, alpha, beta, lam = start.optima(rows, batch)
        multipliers = xp.concat([alpha, beta], axis=1) if rows.m else alpha
        y = rows.adjoint(multipliers, batch.columns) - lam[:, None] * batch.linear
        pull, value = xp.abs(y[:, : rows.d] + batch.goal), xp.vecdot(batch.goal, w)
        if batch.charge is not None:
            pull, value = pull - batch.charge, value - xp.vecdot(batch.charge, xp.abs(w))
        price = xp.max(pull / rows.gamma, axis=1)
        off = xp.vecdot(xp.abs(y[:, rows.d :]), 1.0 + xp.abs(b))
        if isinstance(start, State):
            excess = self.backend.clip(price - start.Z[:, rows.parts[-1]][:, 0], 0.0, None)
            return xp.vecdot(start.P, start.Z) + excess * rows.budget.norm + off
        bound = lam * rows.budget.loss + self.backend.clip(price, 0.0, None) * rows.budget.norm
        # A point of a smooth problem may lie beyond the budgets, by as much as its multipliers prove too little.
        return 2.0 * (bound - xp.vecdot(multipliers, xp.broadcast_to(rows.right, multipliers.shape)) + off - value)

    def _claim(self, rows: Rows, found: Optima) -> tuple[Array, Array, Duals]:
        """Points and multipliers for all rows, given those for some."""
        w, b, alpha, beta, lam = (self.backend.to_numpy(part) for part in found)
        duals = Duals(alpha, beta[:, : self._preset.n_hard], lam)
        if self._reduction is not None and rows is self._rows:
            duals = self._reduction.duals(duals)
        return self._preset.weights(w), b, duals

    # Starting points -----------------------------------------------------------------------------------------

    def _norm_budget(self, w: Array, b: Array) -> float:
        """Norm budget to begin with: the given one or, from one purse, with half of what the point leaves in it."""
        program, budget = self.program, self.budget
        if budget.price is None:
            return budget.norm
        norm, loss = program.norm(w[None]), program.loss(w[None], b[None])
        return max(float((norm + 0.5 * budget.room(norm, loss))[0]), 0.0)

    def _approached(self, batch: Batch, enough: Enough | None) -> Start:
        """Start near the optima: by way of smooth problems, and by single precision where these are not enough."""
        coarse = self._coarse
        single, (w, b, _) = coarse.backend, self._begin
        few = batch.on(single)
        at = Smoothed.near(coarse, few, single.asarray(w), single.asarray(b))
        if at is None:
            state = self._starts(batch)
            self._approach(state, batch, enough, COARSE)
            return state
        arrived = at.follow(coarse, few)
        late = np.flatnonzero(~arrived)
        if not len(late):
            return at
        state, batch = at.begin(self._rows, batch), batch.take(late)
        others = self._starts(batch)
        self._approach(others, batch, among(late, enough), COARSE, late)
        state.put(late, others)
        return state

    def _centre(self) -> State:
        """Newton's method for the analytic centre: the point where all complementarity products are equal."""
        program, xp = self.program, self.xp
        w, b, m = (np.atleast_2d(part).astype(float) for part in self._begin)
        state = self._point(w, b, m[0])
        state.Z = 1.0 / state.P
        rows = self._rows
        batch = Batch(xp.zeros_like(state.P[:, : program.n_weights]), None, None, rows.linear[None], rows.s[None])
        for _ in range(MAX_ITERATIONS):
            if time_is_up():
                break
            products = state.P * state.Z
            system = self._system(rows, state, batch)
            if max(float(xp.max(xp.abs(products - 1.0))), system.dual_error(state.Z)) < 0.5:
                break
            U = system.inverse - state.P
            dZ, db, dm = system.direction(U)
            dP = U - system.Q * dZ
            # One step length for both sides: centring wants the products, not progress.
            ratio = min(float(xp.min(dP / state.P)), float(xp.min(dZ * system.inverse)))
            step = min(1.0, 0.9 / max(-ratio, 1e-30))
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

    def _starts(self, batch: Batch) -> State:
        """Start of every target: the centre, with its duals scaled and shifted so that they stay feasible."""
        xp, rows, goal, columns = self.xp, self._rows, batch.goal, batch.columns
        wp, wm, xi, _, _, loss, norm = self._part
        centre, t = self._state, len(goal)
        P, Z, b, m = (xp.repeat(part, t, axis=0) for part in (centre.P, centre.Z, centre.b, centre.m))
        wish = xp.abs(goal) if batch.charge is None else xp.abs(goal) + batch.charge
        reach = xp.max(xp.maximum(P[:, wp], P[:, wm]) * wish, axis=1)
        Z = Z * (2 * xp.where(reach > 0, reach, 1.0)[:, None])
        shift = goal
        if columns is not None:
            # The centre knows nothing of these columns; make room for what they change.
            slots, own = rows.slots(columns), rows.owners(goal, columns)
            change = goal[:, slots] - Z[:, loss] * batch.linear[:, slots]
            change[own] += rows.adjoint(Z[own, rows.rows], columns)[:, slots]
            shift = 1.0 * goal
            shift[:, slots] = change
            room = xp.max(xp.abs(change) / rows.gamma[slots], axis=1)[:, None]
            Z[:, norm] += room
            Z[:, wp] += room * rows.gamma
            Z[:, wm] += room * rows.gamma
            if self.budget.price is not None:
                Z[:, loss] += self.budget.price * room
                Z[:, xi] += self.budget.price * room * rows.s
        Z[:, wp] -= shift
        Z[:, wm] += shift
        if batch.charge is not None:
            Z[:, wp] += batch.charge
            Z[:, wm] += batch.charge
        return State(P, Z, b, m)

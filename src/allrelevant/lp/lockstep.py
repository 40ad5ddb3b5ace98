"""Mehrotra's predictor-corrector for a whole batch: all targets take their steps together.

Pairs of a primal and a dual number, both kept positive, make up the iterates; which equations tie them together is
known to the :class:`~allrelevant.lp.newton.System` alone. Finished targets leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.iterates import Batch, Optima, State
from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.nearest import FEWER, Nearest, Start, nearest_count
from allrelevant.lp.newton import System
from allrelevant.lp.rows import Rows

__all__ = ["COARSE", "MANY", "MAX_ITERATIONS", "QUIET", "Enough", "Lockstep", "among", "numbers_per_target"]

#: Above this share of what is looked for, single precision will do. From so many targets on it pays; once no more than
#: this share of them is left, it is better to go on with all.
COARSE, MANY, FEW = 1e-3, 8, 0.25
MAX_ITERATIONS = 80
#: Share of the targets that must be done for any of them to leave, since what goes on is a copy.
LEAVING = 0.1
#: Iterations after which residuals are gone, as a rule: those of the start, and those that single precision leaves.
#: Half of them are enough for what is only to be outdone, and after single precision with the same rows.
FEASIBLE, SOON = 4, 2
#: Limits of the second-order term, as multiples of the mean complementarity: a quarter fewer iterations than without.
SECOND, SECOND_WIDE = 1.5, 5.0
#: Iterations after which rows of a target's own are looked at, and chosen once more where they were not the right ones.
RENEWED = (3, 6)
#: The same after single precision with rows of their own.
RENEWED_FINE = (2, 5)
#: Share of what is looked for below which one that goes no further is solved all the same, as far as proofs can tell.
SOLVED = 1e-7
#: Share of the residuals of rows that were left out that may be left before anything is enough.
SETTLED = 3e-2
#: Share of what is looked for above which single precision will do with rows of a target's own.
FINE = 3e-6

#: Iterates that leave the range of numbers have not converged, which their certificates show: no reason to warn.
QUIET: Any = {"over": "ignore", "divide": "ignore", "invalid": "ignore"}

#: Which of the targets given, with their rows, iterates and gaps, need not be followed further.
Enough = Callable[[Rows, Indices, State, Batch, Array], NDArray[np.bool_]]


def among(some: Indices, enough: Enough | None) -> Enough | None:
    """The same question for some of the targets."""
    if enough is None:
        return None

    def asked(rows: Rows, alive: Indices, state: State, batch: Batch, gap: Array) -> NDArray[np.bool_]:
        return enough(rows, some[alive], state, batch, gap)

    return asked


def numbers_per_target(weights: int, rows: int) -> int:
    """Floating-point numbers that a target with so many weights and rows takes while it is being solved, roughly."""
    return min(weights, rows) ** 2 + 24 * (weights + rows) + nearest_count(weights, rows) * weights


class Lockstep:
    """Steps of a batch of targets over the same rows.

    Parameters
    ----------
    rows : Rows
        The rows.
    system : type of System
        The equations of one step.

    Attributes
    ----------
    mixed : bool
        Whether it may begin in single precision. With fewer rows than weights, or rows that share slacks, that leaves
        residuals which stay; and it must be faster.
    """

    #: How many times as many rows are tried where those taken for the ones that matter were too few; 0 for all.
    more = 0

    def __init__(self, rows: Rows, system: type[System]) -> None:
        self.backend, self.xp = rows.backend, rows.backend.xp
        self._rows, self._part, self._system = rows, rows.parts, system
        self._single = self.backend.single()
        self.mixed = not (rows.wide or rows.slacks.shared or self._single is None)

    @cached_property
    def _coarse(self) -> Rows:
        """The rows in single precision."""
        assert self._single is not None
        return self._rows.on(self._single)

    def _approach(self, state: State, batch: Batch, enough: Enough | None, limit: float, some: Any = None) -> None:
        """Move the iterates as far as single precision will do, at half the price of double.

        They are those of some of the targets, unless that is None. What it leaves of residuals goes with the first
        steps thereafter.
        """
        backend, coarse = self.backend, self._coarse if some is None else self._coarse.take(some)
        single, few = coarse.backend, int(FEW * len(state.P))
        found = self._follow(coarse, state.on(single), batch.on(single), enough, limit, few=few).on(backend)
        if self._rows.budget.price is None:
            found.m = state.m  # a number that is given, not one that is found
        total = backend.to_numpy(self.xp.sum(found.P, axis=1) + self.xp.sum(found.Z, axis=1))
        good = backend.indices(np.flatnonzero(np.isfinite(total)))
        state.put(good, found.take(good))

    def _count(self, rows: Rows, n_targets: int) -> int:
        """How many rows so many targets should keep when they are near; 0 if all."""
        return nearest_count(rows.d + rows.p, rows.n, rows.twins) if self.mixed and n_targets >= MANY else 0

    def _finish(
        self,
        rows: Rows,
        start: Start,
        batch: Batch,
        enough: Enough | None,
        limit: float,
        *,
        rivals: Indices | None = None,
        times: int = 1,
    ) -> Optima:
        """Follow to the end: over the rows that matter to each target if they are few, and over more if they were not.

        With rivals, a target may have been left because its rival outdoes it: the target in the place given, if that is
        not its own. Rows that matter are so many times as many as usual, 0 times for all.
        """
        xp, count = self.xp, times * self._count(rows, max(len(start), MANY if times > 1 else 0))
        if not 0 < count * FEWER < rows.n:
            return self._follow(rows, start.begin(rows, batch), batch, enough, limit).optima(rows, batch)
        near, shown = self._nearest(rows, start, batch, enough, count)
        found = self._follow(
            near.rows,
            near.state,
            near.batch,
            enough,
            limit,
            settled=SETTLED,
            renew=near.renew if self.more else None,
            feasible=FEASIBLE if shown is None else SOON,
            without=shown,
        )
        out = found.optima(near.rows, near.batch)._replace(alpha=near.alpha(found))
        wrong = near.otherwise(xp.concat([out.w, out.b], axis=1))
        if rivals is not None or near.renewed:
            gap = xp.vecdot(found.P, found.Z)
            solved = gap <= max(limit, SOLVED) * rows.budget.norm
            # Whoever outdid one that was left may have been elsewhere then, or had other rows.
            left = False if enough is None else enough(near.rows, np.arange(len(gap)), found, near.batch, gap)
            # It does not matter where one is that was rightly left, unless its rival has to be mended.
            wrong = (wrong & solved) | ~(solved | left)
            wrong = wrong if rivals is None else wrong | wrong[rivals]
        again = np.flatnonzero(wrong)
        if len(again):
            rows, start, batch = rows.take(again), start.take(again), batch.take(again)
            rivals = None if rivals is None else np.searchsorted(again, rivals[again])
            asked = among(again, enough)
            mended = self._finish(rows, start, batch, asked, limit, rivals=rivals, times=self.more * times)
            for part, better in zip(out, mended, strict=True):
                part[again] = better
        return out

    def _nearest(
        self, rows: Rows, start: Start, batch: Batch, enough: Enough | None, count: int
    ) -> tuple[Nearest, NDArray[np.bool_] | None]:
        """Choose rows of every target's own, and go on with them as far as single precision will do if that is its.

        Return also who need not be followed further then, None if nobody has been.
        """
        if self._single is None or start.P.dtype == np.float64:
            return Nearest(rows, start, batch, count), None
        coarse = self._coarse if rows is self._rows else rows.on(self._single)
        near = Nearest(coarse, start, batch.on(coarse.backend), count)
        state = self._follow(
            near.rows,
            near.state,
            near.batch,
            enough,
            FINE,
            few=int(FEW * len(start)),
            settled=SETTLED,
            renew=near.renew if self.more else None,
            feasible=0,
        )
        left = np.zeros(len(state), dtype=bool)
        if enough is not None:
            gap = self.xp.vecdot(state.P, state.Z).astype(float)
            left = enough(near.rows, np.arange(len(gap)), state, near.batch, gap)
        near.go_on(rows, batch, state)
        return near, left

    def _follow(
        self,
        rows: Rows,
        state: State,
        batch: Batch,
        enough: Enough | None,
        limit: float,
        *,
        few: int = 0,
        settled: float = 1.0,
        renew: Callable[[Indices, Any, State, Batch], Indices] | None = None,
        feasible: int = FEASIBLE,
        without: NDArray[np.bool_] | None = None,
    ) -> State:
        """Iterate until the complementarity of every target is below a share of the norm budget, or enough.

        Nothing is enough before no more than a share of the residuals is left; and nobody waits for the last few. Rows
        that are not right may be renewed on the way.
        """
        xp, backend = self.xp, rows.backend
        t = len(state)
        done = State(*(xp.empty_like(part) for part in (state.P, state.Z, state.b, state.m)))
        alive = np.arange(t)
        best, stalled, left = np.full(t, np.inf), np.zeros(t, dtype=int), np.ones(t)
        begun = np.zeros(t, dtype=int)
        for iteration in range(MAX_ITERATIONS + 1):
            if renew is not None and iteration in (RENEWED if without is None else RENEWED_FINE):
                others = renew(alive, rows, state, batch)
                best[others], left[others], begun[others] = np.inf, 1.0, iteration
            products, total = state.P * state.Z, xp.vecdot(state.P, state.Z)
            gap = backend.to_numpy(total).astype(float)
            improved = gap < 0.9 * best
            best = np.where(improved, gap, best)
            stalled = np.where(improved, 0, stalled + 1)
            stop = (stalled >= 6) | ~np.isfinite(gap)
            stop |= (gap <= limit * rows.budget.norm) & (iteration >= begun + feasible)
            # Every second time will do, unless nothing else says when to stop.
            if enough is not None and iteration >= FEASIBLE // 2 and not (limit and iteration % 2):
                stop |= enough(rows, alive, state, batch, gap) & (left <= settled)
            if without is not None and not iteration:
                stop |= without
            count = np.count_nonzero(stop)
            if iteration == MAX_ITERATIONS or t - count <= few or time_is_up():
                stop[:] = True
            elif count < LEAVING * t and np.isfinite(gap).all():
                stop[:] = False
            if stop.any():
                out, leave, keep = (
                    backend.indices(k) for k in (alive[stop], np.flatnonzero(stop), np.flatnonzero(~stop))
                )
                ready = state.take(leave)
                if rows.wide:
                    self._correct(rows.take(leave), ready, batch.take(leave))
                done.put(out, ready)
                alive, best, stalled, left, begun = (part[~stop] for part in (alive, best, stalled, left, begun))
                t = len(alive)
                if not t:
                    break
                rows, state, batch = rows.take(keep), state.take(keep), batch.take(keep)
                products, total = products[keep], total[keep]
            share = self._iterate(rows, state, batch, products, total, 0.1 * limit * rows.budget.norm)
            if settled < 1.0:  # a GPU would have to be waited for
                left = left * backend.to_numpy(share)
        return done

    def _iterate(self, rows: Rows, state: State, batch: Batch, products: Any, total: Any, least: float) -> Any:
        """Take one step, towards no less than the given complementarity; return what share it leaves of residuals."""
        P, Z, xp, backend = state.P, state.Z, self.xp, rows.backend
        system = self._system(rows, state, batch)
        size = P.shape[1]
        mean = total / size
        # Steps relative to the iterates: a of the duals and, without centring, −1 − a of the primals. The arrays are
        # the bulk of an iteration: what is no longer needed is written over.
        a = system.direction(-P)[0]
        a *= system.inverse
        step_p = self._longest(-1.0 - backend.greatest(a))
        step_z = self._longest(backend.least(a))
        first = products * a
        one, two = xp.vecdot(products, a) / size, xp.vecdot(first, a) / size
        second = a
        second *= first
        after = (1 - step_p) * mean + (step_z * (1 - step_p) - step_p) * one - step_p * step_z * two
        centring = backend.clip(backend.clip(after / mean, 0.0, 1.0) ** 3 * mean, least / size, None)[:, None]
        limit = (SECOND_WIDE if rows.wide else SECOND) * mean[:, None]
        second += first
        U = xp.minimum(xp.maximum(second, -limit), limit)
        U += centring
        U -= products
        U *= system.inverse
        dZ, db, dm = system.direction(U)
        dP = U
        dP -= system.Q * dZ
        fraction = backend.clip(1.0 - 10 * mean / rows.budget.norm, 0.99, 0.99995)
        step_p = self._longest(backend.least(dP / P), fraction)[:, None]
        step_z = self._longest(backend.least(dZ * system.inverse), fraction)[:, None]
        dP *= step_p
        dZ *= step_z
        P += dP
        Z += dZ
        state.b, state.m = state.b + step_p * db, state.m + step_p[:, 0] * dm
        return 1.0 - xp.minimum(step_p, step_z)[:, 0]

    def _correct(self, rows: Rows, state: State, batch: Batch) -> None:
        """Remove what rounding has left of the primal residuals, with a last step of full length.

        Weights that follow from the multipliers carry the rounding of long steps, many times enlarged. A step that
        changes nothing but the residuals is short, and so is its rounding. What it makes negative no longer matters.
        """
        system = self._system(rows, state, batch)
        none = 0.0 * state.P
        dZ, db, _ = system.direction(none)
        state.P, state.b = state.P - system.Q * dZ, state.b + db

    def _longest(self, least: Any, fraction: Any = 1.0) -> Any:
        """Largest step, up to 1, that keeps values positive whose least relative change is given."""
        clip = self.backend.clip
        return clip(fraction / clip(-least, 1e-30, None), None, 1.0)

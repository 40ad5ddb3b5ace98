"""Bounds of weights for an engine that knows only rows: ranges become hard rows, fixed weights are taken out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from allrelevant.lp.matrix import Array, Indices
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.targets import Columns, Targets

__all__ = ["Preset"]


class Preset:
    """A program without a box that says the same.

    Parameters
    ----------
    program : Program
        The program with a box.

    Attributes
    ----------
    program : Program
        The one without.
    free : ndarray of shape (d,)
        Mask of the weights that are left.
    n_hard : int
        Hard rows of the program with the box; those of the box follow.
    """

    def __init__(self, program: Program) -> None:
        self.n_hard = program.n_hard
        self.free = program.lower < program.upper
        self._fixed = np.where(self.free, 0.0, program.lower)
        self._spent = float(program.norm(self._fixed)), float(program.u @ self._fixed)
        self.program = program
        if not program.boxed.any():
            return
        free, d = self.free, int(self.free.sum())
        lower, upper = program.lower[free], program.upper[free]
        below, above = np.isfinite(lower), np.isfinite(upper)
        box = np.vstack([np.eye(d)[below], -np.eye(d)[above]])
        limits = np.concatenate([lower[below], -upper[above]])
        self.program = replace(
            program,
            A=np.ascontiguousarray(program.A[:, free]),
            r=program.r - program.A @ self._fixed,
            G=np.vstack([program.G[:, free], box]),
            H=np.vstack([program.H, np.zeros((len(box), program.n_offsets))]),
            h=np.concatenate([program.h - program.G @ self._fixed, limits]),
            gamma=program.gamma[free],
            u=program.u[free],
            lower=np.full(d, -np.inf),
            upper=np.full(d, np.inf),
        )

    def budget(self, budget: Budget) -> Budget:
        """What the fixed weights leave of a budget."""
        norm, loss = self._spent
        if budget.price is not None:
            return Budget(budget.norm - norm - budget.price * loss, price=budget.price)
        return Budget(budget.norm - norm, budget.loss - loss)

    def columns(self, columns: Columns | None) -> Columns | None:
        """Columns of targets in the rows of the program without a box."""
        if columns is None:
            return None
        more = np.zeros((*columns.u.shape, self.program.n_hard - self.n_hard))
        return replace(columns, G=np.concatenate([columns.G, more], axis=2))

    def targets(self, targets: Targets) -> tuple[Indices, Array, Array | None]:
        """Weights of targets among those that are left, their coefficients, and the charge on their magnitudes."""
        left = self.free[targets.index]
        place = np.where(left, (np.cumsum(self.free) - 1)[targets.index], 0)
        charge = None if targets.charge is None else np.where(left, targets.charge, 0.0)
        return place, np.where(left, targets.coefficient, 0.0), charge

    def weights(self, w: Array) -> Array:
        """All weights, given those that are left."""
        if self.free.all():
            return w
        out = np.repeat(self._fixed[None], len(w), axis=0)
        out[:, self.free] = w
        return out

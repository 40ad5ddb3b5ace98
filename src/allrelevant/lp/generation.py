"""The reference engine for many more weights than rows: simplex on some of the weights, the others priced out.

An optimal point has few weights that are not 0. Solved over some weights only, the program is restricted, and its point
is feasible for the whole; its multipliers say which of the other weights could do better. They are added until none
could, and then the multipliers hold for the whole program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from allrelevant.lp.deadline import time_is_up
from allrelevant.lp.highs import HighsBounds
from allrelevant.lp.matrix import Array, Indices, as_matrix, substitute
from allrelevant.lp.program import Budget, Program
from allrelevant.lp.targets import Duals, Targets

__all__ = ["solve_by_generation"]

#: Weights at first, weights added per round, and rounds at most.
FIRST = 300
MORE = 50
ROUNDS = 40


def solve_by_generation(
    program: Program, budget: Budget, targets: Targets, hints: Array, start: Array
) -> tuple[Array, Array, Duals]:
    """Maximise every target over the weights that matter to it.

    Parameters
    ----------
    program, budget, targets
        What to solve.
    hints : ndarray of shape (t, d)
        Points near the optima; their weights that are not 0 are the first to be taken.
    start : ndarray of shape (d,)
        Weights of a point within the budget, which makes every restriction feasible.
    """
    t = len(targets)
    w, b = np.zeros((t, program.n_weights)), np.zeros((t, program.n_offsets))
    alpha, beta, lam = np.zeros((t, program.n_rows)), np.zeros((t, program.n_hard)), np.zeros(t)
    for k in range(t):
        if time_is_up():
            break
        target = targets.take(np.array([k]))
        whole = _with_columns(program, target)
        hint = np.where(np.isfinite(hints[k]), np.abs(hints[k]), 0.0)
        greatest = np.argsort(-hint, kind="stable")[:FIRST]
        first = np.union1d(greatest[hint[greatest] > 1e-6 * max(hint.max(), 1e-300)], np.flatnonzero(start))
        chosen, w_k, b[k], duals = _solve_one(whole, budget, target, np.union1d(first, target.index[0]))
        w[k, chosen] = w_k
        alpha[k], beta[k], lam[k] = duals.alpha[0], duals.beta[0], duals.lam[0]
    return w, b, Duals(alpha, beta, lam)


def _with_columns(program: Program, target: Targets) -> Program:
    """The program with the target's own columns in their places."""
    program, columns = program.full(), target.columns
    if columns is None:
        return program
    slots = columns.slots(program.n_weights)
    A, G = (
        substitute(matrix, slots.start, part[0].T) for matrix, part in ((program.A, columns.A), (program.G, columns.G))
    )
    return replace(program, A=A, G=G, u=np.append(program.u[: slots.start], columns.u[0]))


def _solve_one(
    program: Program, budget: Budget, target: Targets, chosen: Indices
) -> tuple[Indices, Array, Array, Duals]:
    goal = target.spread(target.coefficient, program.n_weights)[0]
    charge = np.zeros_like(goal) if target.charge is None else target.spread(target.charge, program.n_weights)[0]
    for _ in range(ROUNDS):
        restricted = replace(
            program,
            A=as_matrix(program.A[:, chosen]),
            G=as_matrix(program.G[:, chosen]),
            gamma=program.gamma[chosen],
            u=program.u[chosen],
            lower=program.lower[chosen],
            upper=program.upper[chosen],
        )
        own = replace(target, index=np.searchsorted(chosen, target.index), columns=None)
        w, b, duals = HighsBounds(restricted, budget).solve(own)
        z = duals.alpha[0] @ program.A + duals.beta[0] @ program.G - duals.lam[0] * program.u
        price = (np.abs(z + goal) - charge) / program.gamma
        limit = max(float(price[chosen].max()), 0.0)
        price[chosen] = -np.inf
        better = np.flatnonzero(price > limit * (1 + 1e-9) + 1e-12)
        solved = chosen
        if not len(better) or time_is_up():
            break  # otherwise, after the last round, the certificate will tell how much is missing
        chosen = np.union1d(chosen, better[np.argsort(-price[better], kind="stable")[:MORE]])
    return solved, w[0], b[0], duals

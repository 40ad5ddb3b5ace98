"""An independent oracle: the papers' linear programs, three per feature, solved one by one with scipy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def _rows(Z, y, weight, norm, loss):
    """Constraints over (w, t, b, ξ) with t ≥ |w|: margins, absolute values, loss budget, norm budget."""
    n, d = Z.shape
    margins = np.hstack([-y[:, None] * Z, np.zeros((n, d)), y[:, None], -np.eye(n)])
    upper = np.hstack([np.eye(d), -np.eye(d), np.zeros((d, 1 + n))])
    lower = np.hstack([-np.eye(d), -np.eye(d), np.zeros((d, 1 + n))])
    budgets = np.zeros((2, 2 * d + 1 + n))
    budgets[0, 2 * d + 1 :] = weight
    budgets[1, d : 2 * d] = 1.0
    A = np.vstack([margins, upper, lower, budgets])
    b = np.concatenate([-np.ones(n), np.zeros(2 * d), [loss, norm]])
    bounds = [(None, None)] * d + [(0, None)] * d + [(None, None)] + [(0, None)] * n
    return A, b, bounds


def baseline(Z, y, weight, C):
    """Objective of the L1 support vector machine."""
    _n, d = Z.shape
    A, b, bounds = _rows(Z, y, weight, 0.0, 0.0)
    cost = np.concatenate([np.zeros(d), np.ones(d), [0.0], C * weight])
    return linprog(cost, A_ub=A[:-2], b_ub=b[:-2], bounds=bounds, method="highs", options=TIGHT).fun


def relevance(Z, y, weight, norm, loss):
    """Return (minRel, maxRel) of all features, not normalised: min |w|, and the greater of max w and max −w."""
    d = Z.shape[1]
    A, b, bounds = _rows(Z, y, weight, norm, loss)
    out = np.empty((d, 2))
    for k in range(d):
        results = []
        for place, value in ((d + k, 1.0), (k, -1.0), (k, 1.0)):
            cost = np.zeros(A.shape[1])
            cost[place] = value
            solved = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs", options=TIGHT)
            assert solved.status == 0, solved.message
            results.append(solved.fun)
        out[k] = max(results[0], 0.0), max(-results[1], -results[2])
    return out

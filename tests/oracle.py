"""An independent oracle: the papers' linear programs, three per feature, solved one by one with scipy.

Every problem type is written down here a second time, sample by sample, as the papers write it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def classification(Z, y, weight):
    """Rows (coefficients of w, of b, right side, weight of the slack), and rows without slack."""
    rows = [(label * x, [-label], 1.0, s) for x, label, s in zip(Z, y, weight, strict=True)]
    return rows, []


def regression(Z, y, weight, epsilon):
    rows = []
    for x, value, s in zip(Z, y, weight, strict=True):
        rows.append((x, [1.0], value - epsilon, s))
        rows.append((-x, [-1.0], -value - epsilon, s))
    return rows, []


def _threshold(j, n_classes, value):
    out = np.zeros(n_classes - 1)
    out[j] = value
    return out


def ordinal_explicit(Z, y, weight, n_classes):
    rows = []
    for x, q, s in zip(Z, y.astype(int), weight, strict=True):
        if q < n_classes - 1:
            rows.append((-x, _threshold(q, n_classes, 1.0), 1.0, s))
        if q > 0:
            rows.append((x, _threshold(q - 1, n_classes, -1.0), 1.0, s))
    order = [
        (np.zeros(Z.shape[1]), _threshold(j + 1, n_classes, 1.0) - _threshold(j, n_classes, 1.0), 0.0)
        for j in range(n_classes - 2)
    ]
    return rows, order


def ordinal_implicit(Z, y, weight, n_classes):
    rows = []
    for x, q, s in zip(Z, y.astype(int), weight, strict=True):
        for j in range(n_classes - 1):
            side = 1.0 if q > j else -1.0
            rows.append((side * x, _threshold(j, n_classes, -side), 1.0, s))
    return rows, []


def _constraints(rows, hard):
    """Constraints over (w, t, b, ξ) with t ≥ |w|; the last two rows are the loss and the norm."""
    n, d, p = len(rows), len(rows[0][0]), len(rows[0][1])
    A = np.zeros((n + len(hard) + 2 * d + 2, 2 * d + p + n))
    b = np.zeros(len(A))
    for k, (x, offsets, right, s) in enumerate(rows):
        A[k, :d], A[k, 2 * d : 2 * d + p], A[k, 2 * d + p + k], b[k] = -x, -np.asarray(offsets), -1.0, -right
        A[-2, 2 * d + p + k] = s
    for k, (x, offsets, right) in enumerate(hard, start=n):
        A[k, :d], A[k, 2 * d : 2 * d + p], b[k] = -x, -np.asarray(offsets), -right
    first = n + len(hard)
    A[first : first + d, : 2 * d] = np.hstack([np.eye(d), -np.eye(d)])
    A[first + d : first + 2 * d, : 2 * d] = np.hstack([-np.eye(d), -np.eye(d)])
    A[-1, d : 2 * d] = 1.0
    bounds = [(None, None)] * d + [(0, None)] * d + [(None, None)] * p + [(0, None)] * n
    return A, b, bounds


def baseline(rows, hard, C):
    """Least norm plus C times loss."""
    A, b, bounds = _constraints(rows, hard)
    cost = A[-1] + C * A[-2]
    return linprog(cost, A_ub=A[:-2], b_ub=b[:-2], bounds=bounds, method="highs", options=TIGHT).fun


def relevance(rows, hard, norm, loss, price=None):
    """Return (minRel, maxRel) of all features, not normalised: min |w|, and the greater of max w and max −w.

    With a price the norm and the priced loss together stay below `norm`.
    """
    d = len(rows[0][0])
    A, b, bounds = _constraints(rows, hard)
    b[-2:] = loss, norm
    if price is not None:
        A[-1] += price * A[-2]
        A, b = np.delete(A, -2, axis=0), np.delete(b, -2)
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

"""An independent oracle: the papers' linear programs, three per feature, solved one by one with scipy.

Every problem type is written down here a second time, sample by sample, as the papers write it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

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


def multi_class(Z, y, weight, n_classes):
    """Weights class by class for every feature in turn; the last class has no offset.

    Returns rows, no hard rows, and the slack of every row: those of a sample share one.
    """
    rows, sharing = [], []
    for i, (x, c, s) in enumerate(zip(Z, y.astype(int), weight, strict=True)):
        for k in range(n_classes):
            if k == c:
                continue
            sharing.append(i)
            coefficients = np.zeros((len(x), n_classes))
            coefficients[:, c], coefficients[:, k] = x, -x
            offsets = np.zeros(n_classes)
            offsets[c], offsets[k] = 1.0, -1.0
            rows.append((coefficients.ravel(), offsets[:-1], 1.0, s))
    return rows, [], sharing


def explained(rows, hard, privileged, n_kinds, keeps):
    """Slacks that functions of privileged features explain, beside or instead of own ones.

    `privileged` has, for every row, its privileged features and the kind of its slack. Returns rows, hard rows, and the
    linear loss of weights and of offsets.
    """
    q, p = len(privileged[0][0]), len(rows[0][1])
    d = len(rows[0][0])
    new_rows, new_hard = [], []
    linear_w, linear_b = np.zeros(d + q * n_kinds), np.zeros(p + n_kinds)
    for x, offsets, right in hard:
        new_hard.append((np.append(x, np.zeros(q * n_kinds)), np.append(offsets, np.zeros(n_kinds)), right))
    for (x, offsets, right, s), (star, kind) in zip(rows, privileged, strict=True):
        function = np.zeros((q, n_kinds))
        function[:, kind] = star
        constant = np.eye(n_kinds)[kind]
        new_hard.append((np.append(np.zeros(d), function), np.append(np.zeros(p), constant), 0.0))
        linear_w += s * np.append(np.zeros(d), function)
        linear_b += s * np.append(np.zeros(p), constant)
        row = np.append(x, function), np.append(offsets, constant), right
        if keeps:
            new_rows.append((*row, 2.0 * s))
        else:
            new_hard.append(row)
    return new_rows, new_hard, (linear_w, linear_b)


def _constraints(rows, hard, gamma=None, linear=None, sharing=None):
    """Constraints over (w, t, b, ξ) with t ≥ |w|; the last two rows are the loss and the norm."""
    any_row = (*rows, *hard)[0]
    n, d, p = len(rows), len(any_row[0]), len(any_row[1])
    sharing = range(n) if sharing is None else sharing
    n_slacks = max(sharing, default=-1) + 1
    A = np.zeros((n + len(hard) + 2 * d + 2, 2 * d + p + n_slacks))
    b = np.zeros(len(A))
    for k, (x, offsets, right, s) in enumerate(rows):
        slack = 2 * d + p + sharing[k]
        A[k, :d], A[k, 2 * d : 2 * d + p], A[k, slack], b[k] = -x, -np.asarray(offsets), -1.0, -right
        A[-2, slack] = s
    for k, (x, offsets, right) in enumerate(hard, start=n):
        A[k, :d], A[k, 2 * d : 2 * d + p], b[k] = -x, -np.asarray(offsets), -right
    first = n + len(hard)
    A[first : first + d, : 2 * d] = np.hstack([np.eye(d), -np.eye(d)])
    A[first + d : first + 2 * d, : 2 * d] = np.hstack([-np.eye(d), -np.eye(d)])
    if linear is not None:
        A[-2, :d], A[-2, 2 * d : 2 * d + p] = linear
    A[-1, d : 2 * d] = 1.0 if gamma is None else gamma
    bounds = [(None, None)] * d + [(0, None)] * d + [(None, None)] * p + [(0, None)] * n_slacks
    return A, b, bounds


def baseline(rows, hard, C, **more):
    """Least norm plus C times loss."""
    A, b, bounds = _constraints(rows, hard, **more)
    cost = A[-1] + C * A[-2]
    return linprog(cost, A_ub=A[:-2], b_ub=b[:-2], bounds=bounds, method="highs", options=TIGHT).fun


def relevance(rows, hard, norm, loss, price=None, contrasts=None, **more):
    """Return (minRel, maxRel) of all features, not normalised: min |w|, and the greater of max w and max −w.

    With a price the norm and the priced loss together stay below `norm`. `contrasts` are combinations of weights to
    bound in place of the single weights.
    """
    A, b, bounds = _constraints(rows, hard, **more)
    d = len((*rows, *hard)[0][0])
    b[-2:] = loss, norm
    if price is not None:
        A[-1] += price * A[-2]
        A, b = np.delete(A, -2, axis=0), np.delete(b, -2)
    contrasts = np.eye(d) if contrasts is None else np.asarray(contrasts)
    out = np.empty((len(contrasts), 2))
    for k, contrast in enumerate(contrasts):
        # One more variable, at least the magnitude of the contrast, for the first of the three programs.
        both = np.zeros((2, A.shape[1] + 1))
        both[0, :d], both[1, :d], both[:, -1] = contrast, -contrast, -1.0
        wide = np.vstack([np.hstack([A, np.zeros((len(A), 1))]), both])
        right = np.append(b, [0.0, 0.0])
        results = []
        for place in ("magnitude", "up", "down"):
            cost = np.zeros(wide.shape[1])
            if place == "magnitude":
                cost[-1] = 1.0
            else:
                cost[:d] = -contrast if place == "up" else contrast
            limits = [*bounds, (0, None)]
            solved = linprog(cost, A_ub=wide, b_ub=right, bounds=limits, method="highs", options=TIGHT)
            assert solved.status == 0, solved.message
            results.append(solved.fun)
        out[k] = max(results[0], 0.0), max(-results[1], -results[2])
    return out


def group_relevance(rows, hard, norm, loss, group):
    """Least and greatest Σ|w| over a group, the greatest by one mixed-integer program instead of patterns of signs."""
    A, b, bounds = _constraints(rows, hard)
    d, size, m = len((*rows, *hard)[0][0]), A.shape[1], len(group)
    b[-2:] = loss, norm
    cost = np.zeros(size)
    cost[d + np.asarray(group)] = 1.0
    least = linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs", options=TIGHT).fun
    # w = p − q with p ≤ M z, q ≤ M (1 − z), z binary; the greatest Σ (p + q).
    wide = np.hstack([A, np.zeros((len(A), 3 * m))])
    equal = np.zeros((m, size + 3 * m))
    switch, right = np.zeros((2 * m, size + 3 * m)), np.zeros(2 * m)
    for k, j in enumerate(group):
        p, q, z = size + k, size + m + k, size + 2 * m + k
        equal[k, j], equal[k, p], equal[k, q] = 1.0, -1.0, 1.0
        switch[k, p], switch[k, z] = 1.0, -norm
        switch[m + k, q], switch[m + k, z], right[m + k] = 1.0, norm, norm
    gain = np.zeros(size + 3 * m)
    gain[size : size + 2 * m] = -1.0
    limits = [*bounds, *[(0, None)] * (2 * m), *[(0, 1)] * m]
    low, high = ([-np.inf if v is None else v for v, _ in limits], [np.inf if v is None else v for _, v in limits])
    most = milp(
        gain,
        constraints=[
            LinearConstraint(wide, -np.inf, b),
            LinearConstraint(equal, 0.0, 0.0),
            LinearConstraint(switch, -np.inf, right),
        ],
        integrality=np.repeat([0, 1], [size + 2 * m, m]),
        bounds=Bounds(low, high),
        options={"mip_rel_gap": 0.0},
    )
    assert most.status == 0, most.message
    return max(least, 0.0), -most.fun

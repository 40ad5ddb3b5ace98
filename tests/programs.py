"""Small random programs with every kind of row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from allrelevant.lp.program import Budget, Program, Targets
from allrelevant.lp.view import RowView


def random_program(seed, *, hard=True, linear=True, box=False, shared=False, d=4, n=15):
    """A program with every kind of row, feasible at a known point."""
    rng = np.random.RandomState(seed)
    p, m = 2, 3
    A, B = rng.normal(size=(n, d)), rng.normal(size=(n, p))
    G, H = rng.normal(size=(m, d)), rng.normal(size=(m, p))
    w, b = rng.normal(size=d), rng.normal(size=p)
    rows = {"G": G, "H": H, "h": G @ w + H @ b - rng.uniform(0.05, 1, size=m)} if hard else {}
    # A linear loss that the hinge rows keep bounded: the mean of some of them.
    pull = rng.uniform(0, 0.1 if shared else 0.3, size=n)
    slack = np.repeat(np.arange(6), [1, 2, 3, 4, 4, 1]) if shared else np.arange(n)
    loss = {"u": -pull @ A, "v": -pull @ B} if linear else {}
    program = Program.build(
        A,
        B,
        rng.normal(size=n),
        s=rng.uniform(0.5, 2, size=n)[: slack.max() + 1],
        gamma=rng.uniform(0.5, 2, d),
        slack=slack,
        **rows,
        **loss,
    )
    if box:
        program = program.with_box(np.minimum(w, 0) - 0.3, np.maximum(w, 0) + 0.3)
    budget = Budget(1.2 * float(program.norm(w)), float(program.loss(w, b)) + 1.0)
    return program, budget, (w, b)


def all_targets(d):
    return Targets.single(np.repeat(np.arange(d), 2), np.tile([1.0, -1.0], d))


#: What a drawn program may have beside plain hinge rows with one offset.
ODDITIES = (
    "shared", "hard", "box", "fixed", "linear", "weighted", "offsets", "no offset", "joint", "charged", "wide",
    "sparse", "viewed", "copies", "repeated", "no hinge rows",
)  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """A bound problem: a program, a budget around its penalised optimum, that point, and targets."""

    program: Program
    budget: Budget
    start: tuple[np.ndarray, np.ndarray]
    C: float
    targets: Targets


def draw(seed, *oddities, n=60, d=5, n_targets=6):
    """A random program with some oddities; what cannot be had together is for the caller to leave out."""
    assert set(oddities) <= set(ODDITIES)
    rng = np.random.default_rng([seed, *(ODDITIES.index(each) for each in sorted(oddities))])
    C = float(rng.choice([0.03, 0.3, 3.0]))
    program = _drawn_rows(rng, oddities, n, 3 * n if "wide" in oddities else d)
    start = optimum_by_linprog(program, C)
    norm, loss = float(program.norm(start[0])), float(program.loss(*start))
    if norm < 1e-6:  # so small a C that nothing is worth its norm
        norm = 1.0
    if "joint" in oddities:
        budget = Budget(1.1 * (norm + C * loss) + 1e-6, price=C)
    else:
        budget = Budget(1.1 * norm, loss + 0.1 * (loss + norm / C) + 1e-6)
    return Drawn(program, budget, start, C, _drawn_targets(rng, oddities, program.n_weights, n_targets))


def _drawn_rows(rng, oddities, n, d):
    p = 0 if "no offset" in oddities else 3 if "offsets" in oddities else 1
    n = 0 if "no hinge rows" in oddities else n
    w, b = rng.normal(size=d) * (rng.random(d) < 0.6), rng.normal(size=p)
    A, B = rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], size=(n, p))
    A[:, : d // 2] += 0.7 * rng.normal(size=(n, 1))  # some weights can stand for each other
    if "copies" in oddities:
        A = np.hstack([A, A[:, :1], -A[:, :2], A[:, :1], np.zeros((n, 1))])
        w = np.append(w, np.zeros(5))
    if "sparse" in oddities:
        A *= rng.random(A.shape) < 0.3
    if "repeated" in oddities:
        A[n // 2 :], B[n // 2 :] = A[: n - n // 2], B[: n - n // 2]
    d = A.shape[1]
    right = A @ w + B @ b + rng.normal(size=n)
    if "joint" in oddities or "linear" in oddities:  # so that the loss is never negative
        right = np.abs(right)
    slack = np.arange(n)
    if "shared" in oddities:
        slack = np.repeat(np.arange(n), rng.integers(2, 5, size=n))[:n]
    weights = {}
    if "weighted" in oddities:
        weights = {
            "s": rng.uniform(0.1, 3.0, size=n)[: slack.max(initial=-1) + 1],
            "gamma": rng.uniform(0.3, 3.0, size=d),
        }
    if "linear" in oddities:
        pull = rng.uniform(0.0, 0.2, size=n) * weights.get("s", np.ones(n))[slack] / 4.0
        weights |= {"u": pull @ A, "v": pull @ B}
    if "hard" in oddities or n == 0:
        G, H = rng.normal(size=(4, d)), rng.normal(size=(4, p))
        weights |= {"G": G, "H": H, "h": G @ w + H @ b - rng.uniform(0.05, 1.0, size=4)}
    rows = sparse.csr_array(A) if "sparse" in oddities else A
    if "viewed" in oddities:
        order = rng.permutation(n)
        factor = rng.uniform(0.5, 2.0, size=n)
        table = np.empty_like(A)
        table[order] = A / factor[:, None]
        rows = RowView(table, order, factor)
    program = Program.build(rows, B, right, slack=slack, **weights)
    if "box" in oddities or "fixed" in oddities:
        lower, upper = np.full(d, -np.inf), np.full(d, np.inf)
        lower[0], upper[1], lower[2], upper[2] = w[0] - 0.2, w[1] + 0.2, w[2] - 0.3, w[2] + 0.1
        if "fixed" in oddities:
            lower[3:5] = upper[3:5] = [0.0, 0.9 * w[4]]
            w[3:5] = lower[3:5]
        if program.n_hard:  # the point that is known to be allowed has moved
            program = replace(program, h=program.G @ w + program.H @ b - rng.uniform(0.05, 1.0, size=program.n_hard))
        program = program.with_box(lower, upper)
    return program


def _drawn_targets(rng, oddities, d, count):
    single = Targets.single(np.repeat(rng.choice(d, size=(count + 1) // 2, replace=False), 2)[:count],
                            np.tile([1.0, -1.0], count)[:count])  # fmt: skip
    if "charged" not in oddities:
        return single
    index = np.array([rng.choice(d, size=3, replace=False) for _ in range(count)])
    coefficient, charge = rng.normal(size=(count, 3)), rng.uniform(0.0, 1.0, size=(count, 3))
    coefficient[0], charge[0] = 0.0, 1.0  # the least magnitude of a group
    return Targets(index, coefficient, charge)


class ByLinprog:
    """The problems as they are written down, with columns ``w⁺, w⁻, b, ξ``, for SciPy to solve."""

    def __init__(self, program: Program):
        A = np.asarray(program.A.toarray() if sparse.issparse(program.A) else program.A)
        n, m = program.n_rows, program.n_hard
        self.d, self.p, self.k = program.n_weights, program.n_offsets, program.slacks.count
        own = np.zeros((n, self.k))
        own[np.arange(n), program.slacks.of_row] = 1.0
        box = np.eye(self.d)
        above, below = np.isfinite(program.upper), np.isfinite(program.lower)
        none = np.zeros((self.d, self.p + self.k))
        self.rows = np.vstack([
            -np.hstack([A, -A, program.B, own]),
            -np.hstack([program.G, -program.G, program.H, np.zeros((m, self.k))]),
            np.hstack([box, -box, none])[above],
            -np.hstack([box, -box, none])[below],
        ])  # fmt: skip
        self.right = np.concatenate([-program.r, -program.h, program.upper[above], -program.lower[below]])
        self.norm = np.concatenate([program.gamma, program.gamma, np.zeros(self.p + self.k)])
        self.loss = np.concatenate([program.u, -program.u, program.v, program.s])

    def _least(self, cost, rows, right):
        d, p, k = self.d, self.p, self.k
        # Now and then HiGHS' simplex gives up ("Solve error"), and its interior-point method does not.
        for method in ("highs", "highs-ipm"):
            found = linprog(
                cost, A_ub=sparse.csr_array(rows), b_ub=right, method=method,
                bounds=[(0, None)] * (2 * d) + [(None, None)] * p + [(0, None)] * k,
                options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
            )  # fmt: skip
            if found.status == 0:
                break
        assert found.status == 0, found.message
        return found.fun, found.x[:d] - found.x[d : 2 * d], found.x[2 * d : 2 * d + p]

    def penalised(self, C):
        """Least ``norm + C · loss``, and where."""
        return self._least(self.norm + C * self.loss, self.rows, self.right)

    def bounds(self, budget, targets):
        """Greatest values of targets within a budget."""
        if budget.price is None:
            more, limits = np.stack([self.norm, self.loss]), [budget.norm, budget.loss]
        else:
            more, limits = (self.norm + budget.price * self.loss)[None], [budget.norm]
        rows, right = np.vstack([self.rows, more]), np.concatenate([self.right, limits])
        goals = targets.spread(targets.coefficient, self.d)
        charges = np.zeros_like(goals) if targets.charge is None else targets.spread(targets.charge, self.d)
        rest = np.zeros(self.p + self.k)
        costs = [np.concatenate([c - g, c + g, rest]) for g, c in zip(goals, charges, strict=True)]
        return np.array([-self._least(cost, rows, right)[0] for cost in costs])


def optimum_by_linprog(program, C):
    """Where ``norm + C · loss`` is least."""
    _, w, b = ByLinprog(program).penalised(C)
    return w, b

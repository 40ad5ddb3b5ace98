"""Small random programs with every kind of row."""

from __future__ import annotations

import numpy as np

from allrelevant.lp.program import Budget, Program
from allrelevant.lp.targets import Targets


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

"""Evidence of a feature by itself: its dependence on the target, whatever forests make of it."""

from __future__ import annotations

import numpy as np

from allrelevant.forest.learner import Array, Indices, Sample
from allrelevant.forest.permutation import row_permutation
from allrelevant.inference import N_PERMUTATIONS, alone_pvalues

__all__ = ["evidence_alone"]

#: Numbers that are permuted at most, and permutations at least.
PERMUTED, FEWEST = 2e7, 100
#: Columns at a time.
AT_ONCE = 500


def evidence_alone(sample: Sample, *, seed: int) -> Array:
    """Return p-values of the dependence of every feature on the target, by permutations of the rows.

    Numbers count by their values and ranks, categories by the indicators of their codes, and that a value is missing is
    one more indicator; the best column of a feature counts.
    """
    n, target = len(sample.X), sample.target
    scores = target.values[:, None] if target.n_classes < 3 else np.eye(target.n_classes)[target.values.astype(int)]
    count = int(np.clip(PERMUTED / n, FEWEST, N_PERMUTATIONS))
    found: list[Array] = []
    columns: list[Array] = []
    members: list[Indices] = []

    def finish() -> None:
        rng = np.random.default_rng([seed, 12])
        drawn = (row_permutation(sample, rng) for _ in range(count))
        table = np.hstack(columns)
        found.append(alone_pvalues(table, scores, drawn, sample_weight=sample.weight, members=members))
        columns.clear()
        members.clear()

    for k in range(sample.X.shape[1]):
        columns.append(_indicators(sample.X[:, k]) if sample.categorical[k] else _numbers(sample.X[:, k]))
        start = 0 if not members else int(members[-1][-1]) + 1
        members.append(start + np.arange(columns[-1].shape[1]))
        if members[-1][-1] >= AT_ONCE:
            finish()
    if columns:
        finish()
    return np.concatenate([np.empty(0), *found])


def _numbers(column: Array) -> Array:
    """The values, missing ones in the middle, and where they are missing, if any are."""
    known = np.isfinite(column)
    values = np.where(known, column, 0.0)
    return values[:, None] if known.all() else np.column_stack([values, known])


def _indicators(column: Array) -> Array:
    """One column per code, and one where the code is missing."""
    _, codes = np.unique(column, return_inverse=True)
    return np.eye(int(codes.max()) + 1)[codes.reshape(-1)]

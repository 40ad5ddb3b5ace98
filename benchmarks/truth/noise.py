"""Designs without any column that tells of the target, and designs whose rows belong together."""

from __future__ import annotations

import numpy as np

from benchmarks.truth._parts import factor_columns
from benchmarks.truth.record import NEEDED, NOISE, Record, design

#: Rows and columns.
SIZES = ((150, 60), (300, 30), (60, 20), (80, 100), (10, 8), (20, 8), (40, 8))


def _noise(rng: np.random.Generator, n: int, d: int, n_factors: int, kind: str) -> Record:
    X = factor_columns(rng, n, d, n_factors)[0] if n_factors else rng.standard_normal((n, d))
    y = rng.standard_normal(n) if kind == "regression" else np.where(rng.permutation(n) < n // 2, -1, 1)
    return Record(X, y, kind, np.full(d, NOISE))


for _n, _d in SIZES:
    for _count, _behind in ((0, ""), (3, "_factors")):
        for _kind, _start in (("classification", "noise"), ("regression", "regression_noise")):
            _words = f"{_n} rows, {_d} columns of noise{', three factors behind them' if _count else ''}; {_kind}"
            design(
                f"{_start}_{_n}x{_d}{_behind}", family="noise", about=_words, n=_n, d=_d, n_factors=_count, kind=_kind
            )(_noise)


def _subjects(rng: np.random.Generator, n_groups: int, size: int, own: float, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of which the share `own` of the variance is the subject's, and to which subject a row belongs."""
    groups = np.repeat(np.arange(n_groups), size)
    X = np.sqrt(own) * rng.standard_normal((n_groups, d))[groups]
    return X + np.sqrt(1 - own) * rng.standard_normal((n_groups * size, d)), groups


@design("groups_40x8", family="rows")
def groups_40x8(rng: np.random.Generator) -> Record:
    """Noise, two classes: 40 subjects with 8 rows of 15 columns; .9 of the variance of all is the subject's."""
    X, groups = _subjects(rng, 40, 8, 0.9, 16)
    return Record(X[:, :15], np.where(X[:, 15] > 0, 1, -1), "classification", np.full(15, NOISE), groups)


@design("groups_20x10", family="rows")
def groups_20x10(rng: np.random.Generator) -> Record:
    """Noise, two classes, a label per subject: 20 subjects, 10 rows each, 15 columns; .97 of the variance is theirs."""
    X, groups = _subjects(rng, 20, 10, 0.97, 15)
    y = np.where(rng.permutation(20) < 10, -1, 1)[groups]
    return Record(X, y, "classification", np.full(15, NOISE), groups)


@design("groups_signal", family="rows")
def groups_signal(rng: np.random.Generator) -> Record:
    """Two classes by 3 of 15 columns that subjects have: 60 subjects with 4 rows, a label per subject, R² .9."""
    X, groups = _subjects(rng, 60, 4, 0.8, 15)
    means = X[:, :3].reshape(60, 4, 3).mean(axis=1).sum(axis=1)
    score = means / means.std() + 0.3 * rng.standard_normal(60)
    y = np.where(score > np.median(score), 1, -1)[groups]
    return Record(X, y, "classification", np.repeat([NEEDED, NOISE], [3, 12]), groups)

"""Bounds of one near-optimal set, timed: what the benchmarks of the engines share."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from allrelevant.formulations import Classification
from allrelevant.lp import PenalisedSolver, Targets
from allrelevant.relevance.nearoptimal import NearOptimalSet, near_optimal_set
from benchmarks._common import make_mix


def near_optimal(X: np.ndarray, y: np.ndarray, C: float) -> NearOptimalSet:
    """The set around the optimal classifier."""
    program = Classification().program(X, y.astype(float), np.ones(len(X)))
    w, b = PenalisedSolver(program).solve(C)
    return near_optimal_set(program, w, b, C, norm_slack=0.1, loss_slack=0.1)


def near_optimal_mix(n: int, d: int, C: float, seed: int = 0) -> NearOptimalSet:
    """The set around the optimal classifier of simulated data."""
    X, y, _ = make_mix(n, d, seed)
    return near_optimal(X, y, C)


def both_sides(d: int, count: int) -> Targets:
    """The two programs of features spread evenly over all `d`, `count` programs at most."""
    return both_signs(np.unique(np.linspace(0, d - 1, min(d, max(1, count // 2))).astype(int)))


def both_signs(features: np.ndarray) -> Targets:
    """The two programs of some features."""
    return Targets.single(np.repeat(features, 2), np.tile([1.0, -1.0], len(features)))


def cpu_time(work: Callable[[], Any], *, least: float = 0.0) -> tuple[float, Any]:
    """CPU seconds of some work, the best of as many repetitions as fill `least` seconds, and its last answer."""
    best, total, answer = np.inf, 0.0, None
    while not total > least:
        began = time.process_time()
        answer = work()
        spent = time.process_time() - began
        best, total = min(best, spent), total + spent
    return best, answer

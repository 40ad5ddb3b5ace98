"""Many fits at once, and many after each other: the same answers, and memory that does not grow.

    python -m benchmarks.load                 # 8 fits at once, 500 in a row
    python -m benchmarks.load --fits 2000 --at-once 16

Prints whether fits at once in threads and in processes equal those one after the other, how long that took, and the
resident memory of the process as fits go by.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np

from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor, RelevanceResult
from allrelevant.datasets import (
    make_relevance_classification,
    make_relevance_ordinal,
    make_relevance_regression,
)

KINDS: tuple[tuple[type, Callable[..., object]], ...] = (
    (LinearRelevanceClassifier, make_relevance_classification),
    (LinearRelevanceRegressor, make_relevance_regression),
    (LinearRelevanceOrdinal, make_relevance_ordinal),
)
#: Fits after which caches and pools of all kinds are warm.
WARM = 50


def fit(number: int) -> RelevanceResult:
    """Fit a small problem of its own; the three kinds take turns."""
    estimator, make = KINDS[number % len(KINDS)]
    X, y, _ = make(80, n_strong=1, n_weak=2, n_irrelevant=3, random_state=number)  # type: ignore[misc]
    result: RelevanceResult = estimator(C=1.0, random_state=0).fit(X, y).result_
    return result


def same(one: RelevanceResult, two: RelevanceResult) -> bool:
    """Whether classes agree, and intervals to 1e-9."""
    close = np.allclose(one.intervals, two.intervals, rtol=0, atol=1e-9)
    return bool(np.array_equal(one.classes, two.classes) and close)


def at_once(pool: Executor, count: int, expected: Sequence[RelevanceResult]) -> bool:
    """Whether fits in a pool equal those expected."""
    with pool:
        return all(same(*pair) for pair in zip(pool.map(fit, range(count)), expected, strict=True))


def resident() -> float:
    """Megabytes that the process holds at the moment."""
    gc.collect()
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except FileNotFoundError:  # no Linux: the most that it ever held
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def growth(fits: int, warm: int = WARM, *, say: bool = False) -> float:
    """Megabytes by which memory grows from the first `warm` fits to the last."""
    held = 0.0
    for number in range(fits):
        fit(number)
        if number + 1 == warm:
            held = resident()
        if say and ((number + 1) % WARM == 0 or number + 1 == fits):
            print(f"after {number + 1:4d} fits: {resident():7.1f} MB")
    return resident() - held


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--fits", type=int, default=500)
    given = parser.parse_args()
    count = given.at_once
    began = time.perf_counter()
    expected = [fit(number) for number in range(count)]
    print(f"{count} fits one after the other: {time.perf_counter() - began:.2f} s")
    # Processes of their own, as those that copy this one would copy its threads' locks.
    pools = {"threads": ThreadPoolExecutor(count), "processes": ProcessPoolExecutor(count, get_context("spawn"))}
    for name, pool in pools.items():
        began = time.perf_counter()
        right = at_once(pool, count, expected)
        print(f"{count} fits at once in {name}: {'the same' if right else 'NOT THE SAME'}, "
              f"{time.perf_counter() - began:.2f} s")  # fmt: skip
    began = time.perf_counter()
    more = growth(given.fits, say=True)
    seconds = time.perf_counter() - began
    print(
        f"{given.fits} fits in a row: {1000 * seconds / given.fits:.0f} ms each; {more:+.1f} MB after the first {WARM}"
    )


if __name__ == "__main__":
    main()

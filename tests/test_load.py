"""Fits at once and fits in a row; `python -m benchmarks.load` does the same on a larger scale."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from benchmarks import load

#: Fits at once.
COUNT = 8


@pytest.fixture(scope="module")
def expected():
    return [load.fit(number) for number in range(COUNT)]


def test_fits_at_once_in_threads_are_those_in_a_row(expected):
    assert load.at_once(ThreadPoolExecutor(COUNT), COUNT, expected)


def test_fits_at_once_in_processes_are_those_in_a_row(expected):
    assert load.at_once(ProcessPoolExecutor(2, get_context("spawn")), COUNT, expected)


def test_memory_does_not_grow_with_fits():
    """Three hundred fits add 3 MB to the first fifty; the limit leaves room for what the allocator keeps."""
    assert load.growth(45, warm=20) < 8.0

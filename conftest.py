"""Tests that need what a machine may lack."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests of forests, and say why, where LightGBM cannot be loaded."""
    try:
        import lightgbm  # noqa: F401
    except (ImportError, OSError) as error:
        skip = pytest.mark.skip(reason=f"LightGBM cannot be loaded ({error}); on Debian: apt install libgomp1")
        for item in items:
            if "forest" in item.nodeid.lower():
                item.add_marker(skip)

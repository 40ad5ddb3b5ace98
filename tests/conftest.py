from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    from matplotlib import pyplot as plt

    yield
    plt.close("all")

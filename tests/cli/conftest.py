from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from allrelevant.cli import main


@pytest.fixture
def call(capsys):
    """Run the command line and return its exit code, standard output and standard error."""

    def run(*arguments):
        code = main([str(one) for one in arguments])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return run


@pytest.fixture
def small():
    """A table that is fitted in no time: y depends on a and on b, which c nearly repeats."""
    rng = np.random.RandomState(0)
    a, b, noise = rng.normal(size=(3, 150)).round(4)
    c = (b + 0.01 * rng.normal(size=150)).round(4)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "noise": noise})
    frame["y"] = np.where(a + b + 0.3 * rng.normal(size=150) > 0, "yes", "no")
    return frame


@pytest.fixture
def small_csv(small, tmp_path):
    path = tmp_path / "small.csv"
    small.to_csv(path, index=False)
    return path

"""Small made-up tables in the place of real data: with their columns, so that every line that reads them can be run."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.papers import biomedical, compas, forest_data, real_ordinal

__all__ = ["write_standins"]

#: Samples of a table.
ROWS = 80
#: Classes of the target, of tables of numbers.
CLASSES = {
    biomedical.FILES["colposcopy"]: (0, 1),
    biomedical.FILES["heart_cleveland"]: (0, 1, 2, 3, 4),
    biomedical.FILES["spectf"]: (0, 1),
    biomedical.FILES["cardiotocography"]: (1, 2, 3),
    forest_data.FILE: (-1, 1),
}


def write_standins(folder: Path) -> None:
    """Write a table for every file of real data that experiments read."""
    rng = np.random.default_rng(0)
    for name in ("classification", "fairness", "ordinal"):
        (folder / name).mkdir()
    for file, classes in CLASSES.items():
        frame = _numbers(rng)
        frame["target"] = np.array(classes)[_ranks(frame["f0"] + frame["f4"], len(classes))]
        if "colposcopy" in file:
            frame.insert(3, "experts::0", frame["target"])
        if "heart" in file:
            frame.loc[3, "f2"] = np.nan
        frame.to_csv(folder / file, index=False)
    _people(rng).to_csv(folder / compas.FILE, index=False)
    for name in real_ordinal.SETS:
        frame = _numbers(rng)
        frame["target"] = _ranks(frame["f0"] + frame["f1"], 3)
        frame.to_csv(folder / "ordinal" / f"{name}.csv", index=False)
        with (folder / "ordinal" / f"{name}_folds.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("fold", "test_rows_0based"), (0, " ".join(map(str, range(0, ROWS, 4))))])


def _numbers(rng: np.random.Generator) -> pd.DataFrame:
    """Six columns, of which the last two follow from others."""
    frame = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=[f"f{k}" for k in range(4)])
    frame["f4"] = frame["f0"] + 0.1 * rng.normal(size=ROWS)
    frame["f5"] = frame["f1"] - frame["f0"] + 0.1 * rng.normal(size=ROWS)
    return frame


def _ranks(values: pd.Series, count: int) -> np.ndarray:
    return np.asarray(pd.qcut(values, count, labels=False))


def _people(rng: np.random.Generator) -> pd.DataFrame:
    """Columns of the table of defendants that are used."""
    frame = pd.DataFrame({name: rng.choice(["one", "other", "third"], ROWS) for name in compas.CATEGORIES})
    for name in compas.NUMBERS:
        frame[name] = rng.integers(0, 2, ROWS) if name.startswith("is_") else rng.poisson(1.0, ROWS)
    risk = frame["priors_count"] + frame["is_recid"] + 0.5 * rng.normal(size=ROWS)
    frame["score_text"] = np.array(compas.LEVELS)[_ranks(risk, 3)]
    return frame

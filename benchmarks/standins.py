"""Small made-up tables in the place of real data: with their columns, so that every line that reads them can be run."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["write_standins"]

#: Samples of a table.
ROWS = 80
#: Classes of the target, of tables of numbers.
CLASSES = {
    "classification/colposcopy_schiller.csv": (0, 1),
    "classification/heart_cleveland.csv": (0, 1, 2, 3, 4),
    "classification/spectf.csv": (0, 1),
    "classification/cardiotocography.csv": (1, 2, 3),
    "classification/madelon.csv.gz": (-1, 1),
}
ORDINAL = (
    "automobile",
    "bondrate",
    "contact-lenses",
    "eucalyptus",
    "newthyroid",
    "pasture",
    "squash-stored",
    "squash-unstored",
    "tae",
    "winequality-red",
)


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
    _people(rng).to_csv(folder / "fairness" / "compas.csv", index=False)
    for name in ORDINAL:
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
    words = {
        "sex": ["Female", "Male"],
        "age_cat": ["25 - 45", "Greater than 45", "Less than 25"],
        "race": ["African-American", "Caucasian", "Hispanic"],
        "c_charge_degree": ["F", "M"],
    }
    frame = pd.DataFrame({name: rng.choice(values, ROWS) for name, values in words.items()})
    for name in ("juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"):
        frame[name] = rng.poisson(1.0, ROWS)
    for name in ("is_recid", "is_violent_recid"):
        frame[name] = rng.integers(0, 2, ROWS)
    risk = frame["priors_count"] + frame["is_recid"] + 0.5 * rng.normal(size=ROWS)
    frame["score_text"] = np.array(["Low", "Medium", "High"])[_ranks(risk, 3)]
    return frame

"""What the benchmarks share: data, scores against the truth, tables, and where results go."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from allrelevant.datasets import RelevanceData, make_relevance_classification


def make_mix(n: int, d: int, seed: int = 0) -> RelevanceData:
    """Standardised classification data of any size: a fifth of the features strong, a fifth weak, ten each at most."""
    strong, weak = max(1, min(10, d // 5)), max(2, min(10, d // 5))
    X, y, relevance = make_relevance_classification(
        n, n_strong=strong, n_weak=weak, n_irrelevant=d - strong - weak, random_state=seed
    )
    return RelevanceData(standardised(X), y, relevance)


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def f1_of_set(relevance: np.ndarray, selected: np.ndarray) -> float:
    """F1 of a selected set of features against the truly relevant ones."""
    relevant = relevance > 0
    both = int((relevant & selected).sum())
    total = int(relevant.sum() + selected.sum())
    return 2 * both / total if total else 1.0


def precision_recall(truth: np.ndarray, called: np.ndarray) -> tuple[float, float]:
    """Precision and recall of a set of features: 1 where nothing was called, and where there is nothing to find."""
    both = int((truth & called).sum())
    return both / int(called.sum()) if called.any() else 1.0, both / int(truth.sum()) if truth.any() else 1.0


def mean(values: Sequence[float]) -> float:
    """Mean of the runs that ended; NaN without any."""
    return fmean(values) if values else np.nan


def mean_cell(rows: Iterable[Mapping[str, Any]], name: str) -> float | str:
    """Mean of the cells of a column that hold a number; an empty cell without any."""
    cells = [number(row.get(name, "")) for row in rows]
    average = mean([cell for cell in cells if np.isfinite(cell)])
    return average if np.isfinite(average) else ""


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], *, quiet: bool = False) -> None:
    """Write rows as CSV, with the versions that made them in a first comment line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ["allrelevant", "numpy", "scipy", "scikit-learn", "highspy", *(["lightgbm"] * bool(find_spec("lightgbm")))]
    made = ", ".join(f"{name} {version(name)}" for name in names)
    with path.open("w", newline="") as file:
        file.write(f"# {made}, Python {platform.python_version()}; {machine()}\n")
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
    if not quiet:
        print(f"wrote {path}")


def machine() -> str:
    """What this machine is, in a line."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read what :func:`write_csv` wrote."""
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def print_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table with aligned columns."""
    cells = [list(header)] + [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


class Results:
    """The rows of a CSV file, written after each one, so that an interrupted run loses nothing.

    Rows that are not asked for keep their figures; those asked for are measured again, unless a run is taken up again.

    Parameters
    ----------
    path : Path
        The file.
    key : sequence of str
        Columns that tell rows apart.
    """

    def __init__(self, path: Path, key: Sequence[str]) -> None:
        self.path, self.key = path, tuple(key)
        self.rows: list[dict[str, Any]] = [dict(row) for row in read_csv(path)] if path.exists() else []
        # Of files with other columns nothing is kept.
        self.rows = [row for row in self.rows if all(name in row for name in self.key)]

    def missing(self, wanted: Iterable[tuple[Any, ...]], *, resume: bool = False) -> list[tuple[Any, ...]]:
        """Return which of the wanted keys are to be measured, and forget what was known of them."""
        done = {self._of(row) for row in self.rows} if resume else set()
        todo = [key for key in wanted if tuple(map(str, key)) not in done]
        names = {tuple(map(str, key)) for key in todo}
        self.rows = [row for row in self.rows if self._of(row) not in names]
        return todo

    def add(self, *rows: Mapping[str, Any]) -> None:
        """Keep rows, write all of them and print the first of the new ones."""
        self.rows += [dict(row) for row in rows]
        names = list(dict.fromkeys(name for row in (*rows, *self.rows) for name in row))
        self.rows = [{name: old.get(name, "") for name in names} for old in self.rows]
        write_csv(self.path, self.rows, quiet=True)
        print(", ".join(f"{name} {short(value)}" for name, value in rows[0].items() if value != ""), flush=True)

    def _of(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in self.key)


def number(value: Any) -> float:
    """Return the number in a cell, NaN if it is empty."""
    return np.nan if value == "" else float(value)


def short(value: Any) -> str:
    """A value in a few characters."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)

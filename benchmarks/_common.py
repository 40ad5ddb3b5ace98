"""What the benchmarks share: scores against the truth, tables, and where results go."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def f1_of_set(relevance: np.ndarray, selected: np.ndarray) -> float:
    """F1 of a selected set of features against the truly relevant ones."""
    relevant = relevance > 0
    both = int((relevant & selected).sum())
    total = int(relevant.sum() + selected.sum())
    return 2 * both / total if total else 1.0


def mean(values: Sequence[float]) -> float:
    """Mean of the runs that ended; NaN without any."""
    return float(np.mean(values)) if values else np.nan


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV, with the versions that made them in a first comment line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = ", ".join(f"{name} {version(name)}" for name in ("allrelevant", "numpy", "scipy", "scikit-learn", "highspy"))
    with path.open("w", newline="") as file:
        file.write(f"# {made}, Python {platform.python_version()}\n")
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
    print(f"wrote {path}")


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

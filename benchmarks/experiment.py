"""What an experiment is, and how one is run: in pieces, in parallel, with date and commit of every row."""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks._common import Results, read_csv

HERE = Path(__file__).parent
RESULTS = HERE / "papers" / "results"
#: ``smoke``: the smallest that runs every line; ``quick``: minutes; ``full``: as many runs as the papers have.
SIZES = ("smoke", "quick", "full")
#: What rows are made by: results of earlier runs do not count.
SOURCES = (":(top)src", ":(top)benchmarks", ":(top,exclude)*.csv")

Row = dict[str, Any]
Key = tuple[Any, ...]


class Skipped(Exception):
    """An experiment cannot be run here, for a reason that the message says."""


def data(file: str) -> Path:
    """Path of real data, which are not part of the project."""
    return Path(os.environ.get("ALLRELEVANT_DATA", HERE.parents[1] / "shared" / "data")) / file


@dataclass(frozen=True)
class Experiment:
    """Runs that are told apart by a key, each of which gives the cells of one row of a table.

    Attributes
    ----------
    name : str
        Its results are ``results/<name>.csv``.
    title : str
        What it is, in a line.
    reproduces : str
        Tables and figures of the papers.
    key : tuple of str
        Names of the parts of a key, which are the first columns of the table. A part called ``method`` says who.
    keys : callable
        From a size to the keys of all its runs.
    run : callable
        From a key to the other cells of its row, or of several. At module level, for other processes to find it.
    files : tuple of str
        Real data that runs read.
    """

    name: str
    title: str
    reproduces: str
    key: tuple[str, ...]
    keys: Callable[[str], Iterable[Key]]
    run: Callable[..., Mapping[str, Any] | Sequence[Mapping[str, Any]]]
    files: tuple[str, ...] = ()

    def path(self, folder: Path = RESULTS) -> Path:
        """File of the results."""
        return folder / f"{self.name}.csv"

    def wanted(self, size: str, *, methods: Collection[str] | None = None, seeds: int | None = None) -> list[Key]:
        """Keys of a size, of some methods and of so many seeds only."""
        parts = [dict(zip(self.key, key, strict=True)) for key in dict.fromkeys(self.keys(size))]
        if methods is not None:
            parts = [part for part in parts if part.get("method") in (None, *methods)]
        if seeds is not None:
            parts = [part for part in parts if part.get("seed", part.get("fold", 0)) < seeds]
        return [tuple(part.values()) for part in parts]

    def measure(
        self,
        size: str,
        *,
        folder: Path = RESULTS,
        methods: Collection[str] | None = None,
        seeds: int | None = None,
        again: bool = False,
        n_jobs: int = 1,
    ) -> int:
        """Do the runs of a size that the results do not have yet, or all of them again; return how many were done.

        Raises
        ------
        Skipped
            If real data are not there.
        """
        missing = [file for file in self.files if not data(file).exists()]
        if missing:
            raise Skipped(f"there is no {', '.join(missing)} in {data('')}; name the folder by ALLRELEVANT_DATA")
        results = Results(self.path(folder), self.key)
        todo = results.missing(self.wanted(size, methods=methods, seeds=seeds), resume=not again)
        done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(self._rows)(key) for key in todo)
        for rows in done:
            results.add(*({**row, "made": made()} for row in rows))
        return len(todo)

    def rows(self, folder: Path = RESULTS) -> list[dict[str, str]]:
        """What has been measured so far."""
        path = self.path(folder)
        return read_csv(path) if path.exists() else []

    def _rows(self, key: Key) -> list[Row]:
        found = self.run(*key)
        rows = [found] if isinstance(found, Mapping) else found
        return [{**dict(zip(self.key, key, strict=True)), **row} for row in rows]


@cache
def made() -> str:
    """Date and commit, for the rows of today; a plus where files that matter differ from the commit."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        commit = _git("rev-parse", "--short", "HEAD")
        changed = _git("diff", "--name-only", "HEAD", "--", *SOURCES)
    except (OSError, subprocess.CalledProcessError):
        return today
    return f"{today} {commit}{'+' if changed else ''}"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()

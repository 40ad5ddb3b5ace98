"""Fits of several libraries, each in a process of its own: environments, limits, and what comes back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import f1_of_set

CHILD = Path(__file__).with_name("child.py")
#: What the environment of each library is made of; nothing where the registry does not have it.
REQUIREMENTS = {
    # It does not declare the second and the third, and needs the fourth.
    "fri": ("fri==9.0.0", "importlib_metadata", "attrs", "numpy<1.27"),
    "boruta": ("boruta==0.4.3",),
    "squamish": (),
}
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


@dataclass(frozen=True, eq=False)
class Fit:
    """What came of a fit.

    Attributes
    ----------
    found : dict
        Whatever the process printed; empty if it did not finish.
    note : str
        Why it did not finish, or what else is to be said of it.
    """

    found: dict[str, Any]
    note: str = ""

    @property
    def cpu_seconds(self) -> float | str:
        """CPU seconds, or an empty cell."""
        return self.found.get("cpu_seconds", "")

    def scores(self, relevance: np.ndarray) -> tuple[float | str, float | str]:
        """F1 of the relevant set and share of right classes, or empty cells."""
        if not self.found:
            return "", ""
        classes = np.array(self.found["classes"])
        return f1_of_set(relevance, classes > 0), float((classes == relevance).mean())


class NotInstalled(Exception):
    """A library is in no environment here, and cannot be put into one."""


def peer_python(library: str, root: Path) -> Path:
    """Return the interpreter of a library's environment, made if it is not there."""
    python = root / library / "bin" / "python"
    if python.exists() and not subprocess.run([python, "-c", f"import {library}"], capture_output=True).returncode:
        return python
    if not REQUIREMENTS[library]:
        raise NotInstalled(f"{library} is not in the package registry, and {python} cannot import it: install it there")
    if not python.exists():
        venv.create(root / library, with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS[library]]).returncode:
        raise NotInstalled(f"{library} could not be installed into {root / library}")
    return python


def peer_pythons(libraries: Iterable[str], root: Path) -> dict[str, Path]:
    """Return the interpreters of those libraries that there are, and say which are left out."""
    found = {}
    for library in libraries:
        try:
            found[library] = peer_python(library, root)
        except NotInstalled as problem:
            print(f"skipped: {problem}")
    return found


@contextmanager
def data_file(X: np.ndarray, y: np.ndarray) -> Iterator[Path]:
    """A file of the data that all libraries read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        yield path


def fit(
    library: str, problem: str, data: Path, seed: int, *, limit: float = 1e6, python: Path | str = sys.executable
) -> Fit:
    """Fit a file in a process of its own, for `limit` CPU seconds at most.

    What ends otherwise than with an answer is no error here: the note says what happened.
    """
    done = subprocess.run(
        [str(python), str(CHILD), library, problem, str(data), str(seed), str(limit)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ONE_THREAD},
    )
    if done.returncode == 0:
        found = json.loads(done.stdout.strip().splitlines()[-1])
        return Fit(found, found.get("note", ""))
    if done.returncode == -signal.SIGXCPU:
        return Fit({}, f"limit of {limit:g} s reached")
    said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
    return Fit({}, said[-1][:200])

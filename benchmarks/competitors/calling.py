"""The entrance to all competitors: in this process or in one of their own, what comes back is a `Fit`.

Methods whose adapter has no requirements run in this process, others in one of their own, by the interpreter of their
environment, which is made on first use. Those of this environment can be given a process too, as comparisons of speed
and memory ask for: there imports and a first fit do not count, and the system ends what exceeds a limit.

CPU seconds in this process are those of all its threads: call from several processes, not from several threads.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._common import f1_of_set

CHILD = Path(__file__).with_name("child.py")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
NO_LIMIT = 1e6
#: Files of this folder, and folders of environments; that of a library has its name.
ADAPTERS = (
    "allrelevant",
    "fri",
    "boruta",
    "squamish",
    "arfs",
    "linear_models",
    "stability_selection",
    "efs",
    "rfecv",
    "ipss",
    "hidimstat",
    "groupings",
)


def adapter(name: str) -> ModuleType:
    """Import an adapter, which loads nothing but NumPy."""
    return importlib.import_module(f"benchmarks.competitors.{name}")


#: Every method, and the adapter that has it.
METHODS: dict[str, str] = {method: name for name in ADAPTERS for method in adapter(name).METHODS}


@dataclass(frozen=True, eq=False)
class Fit:
    """What came of a fit.

    Attributes
    ----------
    found : dict
        Whatever the method returned, and ``cpu_seconds``; empty if it did not finish.
    note : str
        Why it did not finish, or what else is to be said of it.
    """

    found: dict[str, Any]
    note: str = ""

    @property
    def cpu_seconds(self) -> float | str:
        """CPU seconds, or an empty cell."""
        return self.found.get("cpu_seconds", "")

    @property
    def classes(self) -> np.ndarray | None:
        """Class of every feature; None if the method did not finish, or has none."""
        return np.array(self.found["classes"]) if "classes" in self.found else None

    def scores(self, relevance: np.ndarray) -> tuple[float | str, float | str]:
        """F1 of the relevant set and share of right classes, or empty cells."""
        if self.classes is None:
            return "", ""
        return f1_of_set(relevance, self.classes > 0), float((self.classes == relevance).mean())


class NotInstalled(Exception):
    """A library is in no environment here, and cannot be put into one."""


def call(
    method: str,
    problem: str,
    X: np.ndarray,
    y: np.ndarray,
    seed: int,
    *,
    limit: float = NO_LIMIT,
    environments: Path = Path(".peers"),
    process: bool = False,
) -> Fit:
    """Fit data by any method, with one thread.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    problem : {"classification", "regression", "ordinal"}
        What `y` is; not every method knows all of them.
    X, y : ndarray of shape (n_samples, n_features) and (n_samples,)
        The data.
    seed : int
        Of whatever the method draws.
    limit : float
        CPU seconds, for processes of their own. This process cannot be ended: methods that run in it have none.
    environments : Path
        Folder of the environments of other libraries.
    process : bool
        Whether a method of this environment has a process of its own, too.

    Returns
    -------
    Fit
        What ends otherwise than with an answer is no error here: the note says what happened.

    Raises
    ------
    NotInstalled
        If the method's library cannot be had; :func:`available` asks before.
    """
    own = not _adapter_of(method).REQUIREMENTS
    if own and not process:
        return _fit_here(method, problem, X, y, seed)
    python = sys.executable if own else peer_python(METHODS[method], environments)
    with data_file(X, y) as data:
        return fit(method, problem, data, seed, limit=limit, python=python)


def available(methods: Iterable[str], environments: Path = Path(".peers"), *, install: bool = True) -> list[str]:
    """Return the methods that can be called here, and say which are left out; environments are made only on request."""
    methods = list(methods)
    if not install:
        there = [name for name in dict.fromkeys(METHODS[method] for method in methods) if _is_there(name, environments)]
        left = sorted({method for method in methods if METHODS[method] not in there})
        if left:
            print(f"skipped, for want of an environment: {', '.join(left)}")
        methods = [method for method in methods if METHODS[method] in there]
    others = dict.fromkeys(METHODS[method] for method in methods if _adapter_of(method).REQUIREMENTS)
    missing = others.keys() - peer_pythons(others, environments)
    return [method for method in methods if METHODS[method] not in missing]


def _is_there(name: str, environments: Path) -> bool:
    return not adapter(name).REQUIREMENTS or (environments / name / "bin" / "python").exists()


def fit(
    method: str,
    problem: str,
    data: Path,
    seed: int,
    *,
    limit: float = NO_LIMIT,
    least: float = 0.0,
    python: Path | str = sys.executable,
) -> Fit:
    """Fit a file in a process of its own, for `limit` CPU seconds at most.

    Fits that take less than `least` CPU seconds are repeated for as long, and their median counts.
    """
    _adapter_of(method)
    done = subprocess.run(
        [str(python), str(CHILD), METHODS[method], method, problem, str(data), str(seed), str(limit), str(least)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **ONE_THREAD},
    )
    if done.returncode == 0:
        found = json.loads(done.stdout.strip().splitlines()[-1])
        return Fit({}, found["failed"][:200]) if "failed" in found else Fit(found, found.get("note", ""))
    if done.returncode == -signal.SIGXCPU:
        return Fit({}, f"limit of {limit:g} s reached")
    said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
    return Fit({}, said[-1][:200])


def _fit_here(method: str, problem: str, X: np.ndarray, y: np.ndarray, seed: int) -> Fit:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        try:
            found = _adapter_of(method).METHODS[method](problem, X, y, seed)
        except Exception as error:  # noqa: BLE001 whatever goes wrong in a library is a finding about it
            return Fit({}, f"{type(error).__name__}: {error}"[:200])
        found = {**found, "cpu_seconds": time.process_time() - began}
    return Fit(found, found.get("note", ""))


def _adapter_of(method: str) -> ModuleType:
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; there are {', '.join(METHODS)}")
    return adapter(METHODS[method])


@functools.cache
def peer_python(library: str, root: Path) -> Path:
    """Return the interpreter of a library's environment, made if it is not there."""
    module, python = adapter(library), root / library / "bin" / "python"
    if python.exists() and not subprocess.run([python, "-c", f"import {library}"], capture_output=True).returncode:
        return python
    if not getattr(module, "IN_REGISTRY", True):
        raise NotInstalled(f"{library} is not in the package registry, and {python} cannot import it: install it there")
    if not python.exists():
        venv.create(root / library, with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", *module.REQUIREMENTS]).returncode:
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

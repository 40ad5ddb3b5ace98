"""What a design is: a generator of data whose every column is graded, and the registry of all of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

#: Grades of a column. Needed: the target depends on it given all others. Redundant: the target depends on it, but not
#: given all others. Noise: independent of the target given any set of other columns. Ungraded: nothing is counted.
NEEDED, REDUNDANT, NOISE, UNGRADED = 2, 1, 0, -1
KINDS = ("classification", "multiclass", "regression", "ordinal")


@dataclass(frozen=True, eq=False)
class Record:
    """A data set and the grades of its columns.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The columns, in random order.
    y : ndarray of shape (n_samples,)
        -1 and 1 (classification), numbers from 0 on (multi-class, ordinal) or floats (regression).
    kind : str
        One of ``KINDS``.
    truth : ndarray of shape (n_features,)
        Grade of every column.
    groups : ndarray of shape (n_samples,) or None
        To which subject a row belongs, where several rows are of one.
    X_privileged, truth_privileged : ndarray or None
        Columns that only training sees, and their grades.
    """

    X: np.ndarray
    y: np.ndarray
    kind: str
    truth: np.ndarray
    groups: np.ndarray | None = None
    X_privileged: np.ndarray | None = None
    truth_privileged: np.ndarray | None = None

    @property
    def grades(self) -> np.ndarray:
        """Grades of all columns, the privileged ones last."""
        return self.truth if self.truth_privileged is None else np.append(self.truth, self.truth_privileged)

    @property
    def columns(self) -> np.ndarray:
        """All columns side by side, the privileged ones last: for methods that know of none."""
        return self.X if self.X_privileged is None else np.hstack([self.X, self.X_privileged])

    @property
    def fingerprint(self) -> float:
        """A number that tells data sets apart, the same wherever they are drawn."""
        return float(f"{np.abs(self.columns).sum() + np.abs(self.y).sum():.7g}")


@dataclass(frozen=True)
class Design:
    """A generator by name.

    Attributes
    ----------
    name : str
        How it is called.
    draw : callable
        From a generator of random numbers and the seed to a record.
    family : str
        ``"signal"``, ``"noise"`` (no column tells of the target) or ``"rows"`` (rows are of the same subjects).
    reserved : bool
        Whether it is kept out of every choice, for the report alone.
    about : str
        What it draws, in a line.
    exchangeable : bool
        Whether rows may be permuted, within and among groups if there are groups; if not, no error rate is promised.
    """

    name: str
    draw: Callable[[np.random.Generator, int], Record]
    family: str
    reserved: bool
    about: str
    exchangeable: bool = True

    def __call__(self, seed: int) -> Record:
        """Draw a record; the columns of every design and seed are drawn apart from all others."""
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return shuffled(self.draw(rng, seed), rng)


_DESIGNS: dict[str, Design] = {}
#: Every design by name, in the order of definition.
DESIGNS: Mapping[str, Design] = MappingProxyType(_DESIGNS)


def design(
    name_: str,
    /,
    *,
    family: str = "signal",
    reserved: bool = False,
    exchangeable: bool = True,
    about: str = "",
    **given: Any,
) -> Callable[[Callable[..., Record]], Callable[..., Record]]:
    """Register a function of a random generator and `given` as a design; its first line says what it is.

    Of several above one function the lowest is registered first, and stands first in tables.
    """

    def register(function: Callable[..., Record]) -> Callable[..., Record]:
        if name_ in _DESIGNS:
            raise ValueError(f"name={name_!r} is taken by another design; choose another")
        words = about or (function.__doc__ or "").strip().splitlines()[0]
        _DESIGNS[name_] = Design(name_, _caller(function, given), family, reserved, words, exchangeable)
        return function

    return register


def _caller(function: Callable[..., Record], given: dict[str, Any]) -> Callable[[np.random.Generator, int], Record]:
    def draw(rng: np.random.Generator, seed: int) -> Record:
        more = {"seed": seed} if "seed" in function.__code__.co_varnames[: function.__code__.co_argcount] else {}
        return function(rng, **given, **more)

    return draw


def shuffled(record: Record, rng: np.random.Generator) -> Record:
    """Put the columns in random order, so that no method gains by theirs."""
    order = rng.permutation(record.X.shape[1])
    return Record(
        record.X[:, order],
        record.y,
        record.kind,
        record.truth[order].astype(int),
        record.groups,
        record.X_privileged,
        record.truth_privileged,
    )

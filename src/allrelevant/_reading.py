"""Values out of a file, each of which is what it should be; otherwise a ValueError says which one is not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["array", "flag", "listed", "mapping", "number", "optional", "parsed", "text", "wanted", "whole"]

Value = TypeVar("Value")
#: Longest value that a message repeats.
SHOWN = 60


def parsed(given: str) -> Any:
    """Read JSON, in which numbers are finite.

    Raises
    ------
    ValueError
        If it is none, or nested too deeply.
    """

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no number of JSON")

    try:
        return json.loads(given, parse_constant=refuse)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def wanted(what: str, given: Any, where: str) -> ValueError:
    """Return the error that says what was given instead."""
    said = repr(given)
    return ValueError(f"{where} must be {what}, not {said if len(said) <= SHOWN else said[:SHOWN] + '…'}")


def text(given: Any, where: str) -> str:
    """Return a string."""
    if not isinstance(given, str):
        raise wanted("a string", given, where)
    return given


def flag(given: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(given, bool | np.bool_):
        raise wanted("true or false", given, where)
    return bool(given)


def whole(given: Any, where: str, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """Return an integer in a range."""
    if isinstance(given, bool) or not isinstance(given, Integral) or not least <= int(given) <= most:
        raise wanted(f"an integer from {least}" + (f" to {most}" if most < 2**63 - 1 else ""), given, where)
    return int(given)


def number(given: Any, where: str, *, least: float = -math.inf, most: float = math.inf, unknown: bool = False) -> float:
    """Return a number in a range; infinite, or where `unknown` also NaN, only if the range says so."""
    if not isinstance(given, bool) and isinstance(given, Real):
        try:
            value = float(given)
        except OverflowError:
            value = math.nan
            unknown = False
        if (least <= value <= most) or (unknown and math.isnan(value)):
            return value
    span = f" of at least {least:g}" if least > -math.inf else ""
    span += f" and at most {most:g}" if most < math.inf else ""
    raise wanted(f"a number{span}", given, where)


def optional(read: Callable[..., Value], given: Any, where: str, **limits: Any) -> Value | None:
    """Return None, or what is read."""
    return None if given is None else read(given, where, **limits)


def listed(read: Callable[..., Value], given: Any, where: str, **limits: Any) -> tuple[Value, ...]:
    """Return all values of a list."""
    if not isinstance(given, list | tuple):
        raise wanted("a list", given, where)
    return tuple(read(one, f"{where}[{k}]", **limits) for k, one in enumerate(given))


def mapping(given: Any, where: str, fields: frozenset[str] | set[str] | None = None) -> dict[str, Any]:
    """Return values by name, of which all, and no others, must be there if they are named."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise wanted("values by name", given, where)
    if fields is not None and set(given) != fields:
        missing, strange = sorted(fields - set(given)), sorted(set(given) - fields)
        raise ValueError(f"{where} has missing fields {missing}, unknown fields {strange}")
    return dict(given)


def array(
    read: Callable[..., float], given: Any, where: str, shape: tuple[int | None, ...], **limits: Any
) -> NDArray[np.float64]:
    """Return lists of lists as an array of that shape, of which None is any length."""

    def flat(some: Any, place: str, rest: tuple[int | None, ...]) -> list[Any]:
        if not rest:
            return [read(some, place, **limits)]
        if not isinstance(some, list | tuple) or (rest[0] is not None and len(some) != rest[0]):
            raise wanted(f"a list of {rest[0]} entries" if rest[0] is not None else "a list", some, place)
        return [value for k, one in enumerate(some) for value in flat(one, f"{place}[{k}]", rest[1:])]

    values = flat(given, where, shape)
    return np.array(values, dtype=float).reshape([len(given) if size is None else size for size in shape])

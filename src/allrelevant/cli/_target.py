"""What kind of problem a target column poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from allrelevant.cli._columns import kind, number_like
from allrelevant.cli._problems import Problem, listed

__all__ = ["Target", "ranked", "read_target"]

FEW = 10  # different whole numbers up to which they are taken for classes
MOST_CLASSES = 50


@dataclass(frozen=True)
class Target:
    """A target that an estimator takes.

    Attributes
    ----------
    problem : str
        ``"classification"``, ``"regression"`` or ``"ordinal"``.
    values : Series or Categorical
        The target.
    notice : str
        What was chosen, and how to choose otherwise.
    code : str
        The same values, made from the Series ``y`` in Python.
    """

    problem: str
    values: Any
    notice: str
    code: str = ""


def read_target(values: pd.Series, name: str, problem: str, order: list[str]) -> Target:
    """Find out what the target is, or see whether it can be what it is said to be."""
    if order and problem not in ("auto", "ordinal"):
        raise Problem(f"--order is for --problem ordinal, not for {problem}; leave one of the two out.")
    if values.nunique() < 2:
        only = values.iloc[0] if len(values) else "nothing"
        raise Problem(f"The target {name!r} is {only!s} in all rows; a target must differ between rows.")
    what = kind(values)
    if what in ("date", "other"):
        raise Problem(f"The target {name!r} holds {'dates' if what == 'date' else 'no plain values'}; turn it into a "
                      "number or a class first.")  # fmt: skip
    if what == "number" and not np.isfinite(values.to_numpy(dtype=float)).all():
        raise Problem(f"The target {name!r} has infinite values; correct them in the file.")
    if order:
        return _ordered(values, name, order)
    chosen = _guess(values, what) if problem == "auto" else problem
    if chosen == "regression":
        return _regression(values, name, what, asked=problem != "auto")
    if chosen == "ordinal":
        return _ordinal(values, name, what)
    return _classes(values, name, what, asked=problem != "auto")


def ranked(target: Target) -> Target:
    """Return ordered classes as the numbers 0, 1, … in their order, for a method that knows amounts only."""
    if target.problem != "ordinal":
        return target
    ranks = pd.Series(pd.Categorical(target.values, ordered=True).codes, dtype=float)
    notice = f"{target.notice} Forests know amounts only, so the ranks 0 to {ranks.max():g} are predicted: regression."
    code = f"{target.code}\ny = pd.Categorical(y, ordered=True).codes.astype(float)"
    return Target("regression", ranks, notice, code)


def _guess(values: pd.Series, what: str) -> str:
    if what != "number" or values.nunique() == 2:
        return "classification"
    return "classification" if _whole(values) and values.nunique() <= FEW else "regression"


def _regression(values: pd.Series, name: str, what: str, *, asked: bool) -> Target:
    if what == "text":
        raise Problem(f"The target {name!r} has texts such as {str(values.iloc[0])!r}, so it cannot be a regression; "
                      "leave --problem out for a classification.")  # fmt: skip
    change = "" if asked else "; use --problem to change that"
    numbers = values.astype(float)
    span = f"numbers from {numbers.min():g} to {numbers.max():g}"
    return Target("regression", numbers, f"The target {name} has {span}: regression{change}.", "y = y.astype(float)")


def _ordinal(values: pd.Series, name: str, what: str) -> Target:
    levels = _levels(values)
    if what == "text":
        raise Problem(f"The order of the texts in {name!r} is not known; give it with --order, lowest first, such as "
                      f"--order {','.join(list(levels)[:6])!s}.")  # fmt: skip
    if not _whole(values):
        raise Problem(f"The target {name!r} has numbers with fractions, not ordered classes; use --problem regression.")
    _check_sizes(values, name)
    classes = sorted(levels, key=float) if what == "number" else list(levels)
    return Target(
        "ordinal", values.astype(int), f"The target {name} has {len(levels)} ordered classes, {' < '.join(classes)}: "
        "ordinal.", "y = y.astype(int)",
    )  # fmt: skip


def _ordered(values: pd.Series, name: str, order: list[str]) -> Target:
    if len(set(order)) < len(order):
        raise Problem("--order names a class twice; name each once, lowest first.")
    levels = _levels(values)
    unnamed = [level for level in levels if level not in order]
    if unnamed:
        lacking = listed([repr(one) for one in unnamed])
        raise Problem(f"--order does not name {lacking}, which {name!r} has; name all of "
                      f"{listed(list(levels))}, lowest first.")  # fmt: skip
    _check_sizes(values, name)
    absent = [one for one in order if one not in levels]
    categories = [levels[one] for one in order if one in levels]
    lost = f" No row has {listed([repr(one) for one in absent])}." if absent else ""
    return Target(
        "ordinal",
        pd.Categorical(values, categories=categories, ordered=True),
        f"The target {name} has {len(categories)} ordered classes, "
        f"{' < '.join(one for one in order if one in levels)}: ordinal.{lost}",
        f"y = pd.Categorical(y, categories={categories!r}, ordered=True)",
    )


def _classes(values: pd.Series, name: str, what: str, *, asked: bool) -> Target:
    strange = number_like(values) if what == "text" else []
    if strange:
        raise Problem(f"The target {name!r} has texts among its numbers, such as {strange[0]!r}; correct them in the "
                      "file.")  # fmt: skip
    levels = _levels(values)
    if len(levels) > MOST_CLASSES or len(levels) > max(len(values) / 2, 2):
        remedy = "use --problem regression" if what == "number" else "choose a target with fewer"
        raise Problem(f"The target {name!r} has {len(levels)} different values in {len(values)} rows, too many for "
                      f"classes; {remedy}.")  # fmt: skip
    counts = values.map(_text).value_counts()
    shown = listed([f"{level} ({counts[level]})" for level in levels])
    if asked:
        change = ""
    elif what == "number" and len(levels) > 2:
        change = "; if their order matters use --problem ordinal, if they are amounts --problem regression"
    else:
        change = "; use --problem to change that"
    target = values if what in ("number", "boolean") else values.astype(str)
    code = "y = y.astype(str)" if target is not values else ""
    if what == "number" and not _whole(values):
        target, code = values.astype(str), "y = y.astype(str)"  # scikit-learn takes fractions for a regression
    said = f"The target {name} has {len(levels)} classes, {shown}: classification{change}."
    _check_sizes(values, name)
    return Target("classification", target, said, code)


def _check_sizes(values: pd.Series, name: str) -> None:
    """Refuse classes of a single row, which cannot be learnt from and predicted at once."""
    counts = values.map(_text).value_counts()
    single = [str(level) for level in counts.index if counts[level] == 1]
    if single:
        rows = f"{name} {listed(single, last='or')}"
        raise Problem(f"Only one row has {rows}, too few to learn from; leave such rows out, or join classes.")


def _levels(values: pd.Series) -> dict[str, Any]:
    """Different values by the text they are shown as, in order."""
    different = list(values.drop_duplicates())
    try:
        different = sorted(different)
    except TypeError:
        different = sorted(different, key=str)
    return {_text(value): value.item() if isinstance(value, np.generic) else value for value in different}


def _text(value: Any) -> str:
    number = isinstance(value, float | np.floating)
    return str(int(value)) if number and float(value).is_integer() else str(value)


def _whole(values: pd.Series) -> bool:
    numbers = values.to_numpy(dtype=float)
    return bool((numbers == np.rint(numbers)).all())

"""What the columns of a table are: numbers, categories, dates, identifiers, constants, copies."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterable

import numpy as np
import pandas as pd
from pandas.api import types

__all__ = ["copies", "is_constant", "is_identifier", "kind", "number_like", "too_many_levels"]

MOST_LEVELS = 50
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([ T].*)?"
    r"|\d{1,2}[-. ]+[A-Za-z]{3,9}[-., ]+\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4}|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
NUMBER = re.compile(r"[<>~≤≥]?\s*[-+]?(\d[\d.,' ]*|\.\d+)(e[-+]?\d+)?\s*%?", re.IGNORECASE)
IDENTIFIER = re.compile(
    r"(^|[\W_])(id|ids|idx|index|key|uuid|guid|nr|no|number|row|rownames)$|^(id[\W_]|Unnamed: )", re.I
)
CAMEL_IDENTIFIER = re.compile(r"[a-z](Id|ID)$")


def kind(values: pd.Series) -> str:
    """Say what a column is: ``"number"``, ``"boolean"``, ``"text"``, ``"date"``, or ``"other"``."""
    dtype = values.dtype
    if types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return "boolean" if not types.is_object_dtype(dtype) else "text"
    if types.is_complex_dtype(dtype):
        return "other"
    if types.is_numeric_dtype(dtype):
        return "number"
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return "date"
    present = values.dropna()
    some = {type(value) for value in present.head(1000)}
    if some and some <= {decimal.Decimal}:
        return "number"
    if some and all(issubclass(one, datetime.date | datetime.time | datetime.timedelta) for one in some):
        return "date"
    if not all(issubclass(one, str | bool | np.bool_ | int | float) for one in some):
        return "other"
    texts = present.astype(str).drop_duplicates().head(500)
    dated = sum(bool(DATE.fullmatch(text.strip())) for text in texts)
    return "date" if len(texts) and dated > 0.9 * len(texts) else "text"


def is_constant(values: pd.Series) -> bool:
    """Whether a column has the same value in all rows that have one."""
    return int(values.nunique()) <= 1


def is_identifier(name: str, values: pd.Series, what: str) -> bool:
    """Whether a column only tells rows apart: texts all different, numbers that count, or different ones named so."""
    if len(values) < 10 or values.isna().any() or values.nunique() < len(values):
        return False
    if what == "text":
        return True
    numbers = values.to_numpy(dtype=float)
    if what != "number" or (numbers != np.rint(numbers)).any():
        return False
    counts = bool((np.diff(numbers) == 1.0).all())
    return counts or bool(IDENTIFIER.search(name) or CAMEL_IDENTIFIER.search(name))


def too_many_levels(values: pd.Series) -> bool:
    """Whether a category has more levels than samples can teach about."""
    levels = int(values.nunique())
    return levels > MOST_LEVELS or levels > len(values) / 2


def number_like(values: pd.Series) -> list[str]:
    """Return the texts that keep a column from being numbers, if most of its many texts are; else none."""
    texts = [str(text).strip() for text in values.dropna().unique()]
    numbers = [text for text in texts if NUMBER.fullmatch(text)]
    if len(texts) <= 10 or len(numbers) <= len(texts) / 2:
        return []
    return [text for text in texts if not _plain(text)]


def copies(frame: pd.DataFrame, names: Iterable[str]) -> dict[str, str]:
    """Return columns that say the same as an earlier one, with that one."""
    seen: dict[bytes, str] = {}
    out = {}
    for name in names:
        key = np.asarray(pd.factorize(frame[name])[0]).tobytes()
        if kind(frame[name]) == "number":  # other numbers in the same places are another feature
            key += frame[name].to_numpy(dtype=float, na_value=np.nan).tobytes()
        if key in seen:
            out[name] = seen[key]
        seen.setdefault(key, name)
    return out


def _plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

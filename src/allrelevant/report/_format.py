"""Numbers as people read them, and text as spreadsheets do."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["UNKNOWN", "cell", "decimal", "power", "signed", "value"]

UNKNOWN = "–"
#: What a spreadsheet takes for the beginning of a formula, in the two widths that letters have.
_FORMULA = "=+-@＝＋－＠"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that might be gets an apostrophe in front.

    Text that is a number is left alone: it does nothing.

    Examples
    --------
    >>> cell("=HYPERLINK(A1)"), cell("-1"), cell("age")
    ("'=HYPERLINK(A1)", '-1', 'age')
    """
    try:
        float(text)
    except ValueError:
        pass
    else:
        return text
    return f"'{text}" if text[:1] in ("\t", "\r", "\n") or text.lstrip()[:1] in tuple(_FORMULA) else text


def decimal(number: float | None) -> str:
    """Return a number with three decimals.

    Examples
    --------
    >>> decimal(0.12345), decimal(None), decimal(float("nan"))
    ('0.123', '–', '–')
    """
    return f"{number:.3f}" if number is not None and math.isfinite(number) else UNKNOWN


def signed(number: float) -> str:
    """Return a number with three decimals and a minus sign where these are not all zero.

    Examples
    --------
    >>> signed(-0.12345), signed(-0.0001)
    ('−0.123', '0.000')
    """
    text = decimal(abs(number))
    return f"−{text}" if number < 0 and text.strip("0.") not in {"", UNKNOWN} else text


def power(number: float) -> str:
    """Return a small number with one digit and a power of ten.

    Examples
    --------
    >>> power(3.2e-9), power(0.0)
    ('3 · 10⁻⁹', '0')
    """
    if not math.isfinite(number):
        return UNKNOWN
    if number == 0:
        return "0"
    digit, exponent = f"{number:.0e}".split("e")
    return f"{digit} · 10{str(int(exponent)).translate(_RAISED)}"


def value(thing: Any) -> str:
    """Return any parameter, floats without digits that nobody reads.

    Examples
    --------
    >>> value(0.17782794), value(None), value("auto"), value(50)
    ('0.1778', 'None', 'auto', '50')
    """
    if isinstance(thing, float):
        return f"{thing:.4g}"
    return str(thing)

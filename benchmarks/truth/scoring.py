"""What an answer is worth, given the grades of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.truth.record import NOISE

#: How grades and classes are written, a character per column.
SIGNS = {2: "2", 1: "1", 0: "0", -1: "."}


def scores(grades: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """Compare what was found with the grades; columns that are not graded count nowhere.

    Returns
    -------
    scores : dict
        ``false_share``, of what was found (0 if nothing was), ``recall`` of needed and redundant columns (None if there
        are none), their ``f1`` (None likewise) and ``any``, whether any noise was called relevant.
    """
    graded = grades >= NOISE
    relevant, called = grades[graded] > NOISE, classes[graded] > 0
    right, wrong = int((relevant & called).sum()), int((~relevant & called).sum())
    found: dict[str, Any] = {"false_share": wrong / max(right + wrong, 1), "any": wrong > 0}
    if not relevant.any():
        return {**found, "recall": None, "f1": None}
    total = int(relevant.sum())
    return {**found, "recall": right / total, "f1": 2 * right / (total + right + wrong)}


def written(codes: np.ndarray) -> str:
    """Grades or classes as text."""
    return "".join(SIGNS[int(code)] for code in codes)


def read(text: str) -> np.ndarray:
    """Grades or classes of a text."""
    codes = {sign: code for code, sign in SIGNS.items()}
    return np.array([codes[sign] for sign in text], dtype=int)

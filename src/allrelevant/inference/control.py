"""Control of error over many features: adjusted p-values, and the p-value that each feature must not exceed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

__all__ = ["CONTROLS", "adjusted_pvalues", "borderline", "pvalue_limits"]

Array = NDArray[np.float64]

#: What the level is about: the expected share of false among the found, the chance of any false one, or each alone.
CONTROLS = ("fdr", "fwer", "none")
#: Adjusted p-values within this factor of the level are near it.
NEAR = 2.0


def adjusted_pvalues(pvalues: Array, control: str = "fdr") -> Array:
    """Return p-values that are to be compared with the level, whatever the number of features.

    Parameters
    ----------
    pvalues : ndarray of shape (m,)
        P-values of all features.
    control : {"fdr", "fwer", "none"}, default="fdr"
        ``"fdr"``: of the features with an adjusted p-value up to the level, a share of at most the level is expected to
        be false (Benjamini and Hochberg). ``"fwer"``: the chance that any of them is false is at most the level (Holm).
        ``"none"``: the p-values as they are.

    Returns
    -------
    ndarray of shape (m,)
        The adjusted p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.inference import adjusted_pvalues
    >>> adjusted_pvalues(np.array([0.01, 0.02, 0.5])).round(3)
    array([0.03, 0.03, 0.5 ])
    >>> adjusted_pvalues(np.array([0.01, 0.02, 0.5]), "fwer").round(3)
    array([0.03, 0.04, 0.5 ])
    """
    _check(control)
    pvalues = np.asarray(pvalues, dtype=float)
    m = len(pvalues)
    if control == "none" or not m:
        return pvalues.copy()
    if control == "fdr":
        return np.asarray(false_discovery_control(pvalues, method="bh"))
    order = np.argsort(pvalues, kind="stable")
    out = np.empty(m)
    out[order] = np.minimum(np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1)), 1.0)
    return out


def pvalue_limits(pvalues: Array, level: float, control: str = "fdr") -> Array:
    """Return the p-value up to which each feature would be found, the p-values of all others being what they are.

    A feature is found exactly if its p-value is at most this limit.

    Parameters
    ----------
    pvalues : ndarray of shape (m,)
        P-values of all features.
    level : float
        The level.
    control : {"fdr", "fwer", "none"}, default="fdr"
        As in :func:`adjusted_pvalues`.

    Returns
    -------
    ndarray of shape (m,)
        The limits.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.inference import pvalue_limits
    >>> pvalue_limits(np.array([0.01, 0.02, 0.5, 0.9]), 0.05)
    array([0.025 , 0.025 , 0.0375, 0.0375])
    """
    _check(control)
    pvalues = np.asarray(pvalues, dtype=float)
    m = len(pvalues)
    if control == "none" or not m:
        return np.full(m, float(level))
    order = np.argsort(pvalues, kind="stable")
    found = int((adjusted_pvalues(pvalues, control) <= level).sum())
    rank = np.arange(1, m + 1)
    out = np.empty(m)
    if control == "fdr":
        # A feature that is not found yet would be one more beside those that then are within their limits.
        joined = np.where(pvalues[order] * m <= level * (rank + 1), rank + 1, 1)
        before = np.append(1, np.maximum.accumulate(joined)[:-1])
        out[order] = np.where(rank <= found, found, before) * level / m
    else:
        # Without a feature that is found, those after it have one more beside them: up to where does each still do?
        fails = pvalues[order] * (m + 2 - rank) > level
        last = np.minimum.accumulate(np.append(np.where(fails, rank - 1, m), m)[::-1])[::-1][1:]
        out[order] = level / (m + 1 - np.where(rank <= found, last, found + 1))
    return out


def borderline(adjusted: Array, level: float) -> NDArray[np.bool_]:
    """Return which adjusted p-values are within a factor of two of the level, on either side."""
    return np.asarray((adjusted >= level / NEAR) & (adjusted <= level * NEAR))


def _check(control: str) -> None:
    if control not in CONTROLS:
        raise ValueError(f"control={control!r} is unknown; choose one of {', '.join(map(repr, CONTROLS))}")

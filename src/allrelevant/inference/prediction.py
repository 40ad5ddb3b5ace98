"""What the next draw of a kind stays below: of probes of linear models, and of permuted features of forests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["prediction_limit"]


def prediction_limit(values: NDArray[np.float64], confidence: float) -> float:
    """Limit that the next draw from the normal distribution of `values` stays below; not less than 0.

    The one-sided prediction limit ``mean + t · s · sqrt(1 + 1/n)``.

    Examples
    --------
    >>> import numpy as np
    >>> round(prediction_limit(np.array([1.0, 2.0, 3.0]), 0.975), 3)
    6.968
    """
    n = len(values)
    spread = values.std(ddof=1) * np.sqrt(1 + 1 / n)
    return float(max(values.mean() - stdtrit(n - 1, 1 - confidence) * spread, 0.0))

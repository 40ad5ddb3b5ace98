"""What the next draw of a kind stays below: of probes of linear models, and of permuted features of forests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["prediction_limit"]


def prediction_limit(values: NDArray[np.float64], confidence: float, power: float = 1.0, sides: int = 1) -> float:
    """Limit that the greatest of the next few draws from the distribution of `values` stays below.

    The one-sided prediction limit ``mean + t · s · sqrt(1 + 1/n)`` of normal draws, on values raised to `power`. The
    relevance of probes is skewed to the right; its roots are so much less. What is left of the confidence is shared
    evenly among the `sides` draws, which is right or, where they depend on each other, on the safe side.

    Examples
    --------
    >>> import numpy as np
    >>> round(prediction_limit(np.array([1.0, 2.0, 3.0]), 0.975), 3)
    6.968
    """
    raised = values**power
    n = len(values)
    spread = raised.std(ddof=1) * np.sqrt(1 + 1 / n)
    return float(max(raised.mean() - stdtrit(n - 1, (1 - confidence) / sides) * spread, 0.0) ** (1 / power))

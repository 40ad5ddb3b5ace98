"""Which features are relevant: evidence combined, error controlled, and the limit that each feature had to pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allrelevant.inference.control import adjusted_pvalues, pvalue_limits
from allrelevant.inference.copies import CopiesNull
from allrelevant.inference.pvalues import cauchy_combination, remaining_pvalue

__all__ = ["Decision", "decide"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was found of every feature.

    Attributes
    ----------
    pvalues, adjusted : ndarray of shape (n_features,)
        Combined p-values, and adjusted for the number of features.
    together, alone : ndarray of shape (n_features,)
        P-values of the two kinds of evidence, beside the other features and without them; NaN where there is none.
    limits : ndarray of shape (n_features,)
        What each feature's statistic must exceed for the feature to be relevant.
    relevant : ndarray of shape (n_features,)
        Whether it does: exactly where the adjusted p-value is at most the level.
    """

    pvalues: Array
    adjusted: Array
    together: Array
    alone: Array
    limits: Array
    relevant: NDArray[np.bool_]

    @classmethod
    def nothing(cls, n_features: int) -> Decision:
        """No feature is relevant, because nothing was compared."""
        pvalues, adjusted = np.ones((2, n_features))
        together, alone, limits = np.full((3, n_features), np.nan)
        return cls(pvalues, adjusted, together, alone, limits, np.zeros(n_features, dtype=bool))

    def among(self, some: NDArray[np.intp], n_features: int) -> Decision:
        """Return the decision about so many features of which only some, these, were compared."""
        out = Decision.nothing(n_features)
        for name, values in vars(out).items():
            values[some] = getattr(self, name)
        return out


def decide(
    statistic: Array,
    copies: Array | None,
    alone: Array | None,
    *,
    level: float = 0.05,
    control: str = "fdr",
) -> Decision:
    """Decide which features are relevant.

    A feature is relevant if it tells of the target beside *some* set of other features, the empty set among them. Two
    kinds of evidence are combined by Cauchy's rule: the feature *together* with the others, its statistic against those
    of its copies, and the feature *alone*. The error over all features is then controlled.

    Parameters
    ----------
    statistic : ndarray of shape (n_features,)
        Any measure of the use of each feature beside all others.
    copies : ndarray of shape (n_sets, n_features) or None
        The same of row-permuted copies, as in :func:`copies_pvalues`; None without this kind of evidence.
    alone : ndarray of shape (n_features,) or None
        P-values of each feature alone, as by :func:`alone_pvalues`; None without this kind of evidence.
    level : float, default=0.05
        The level of the error.
    control : {"fdr", "fwer", "none"}, default="fdr"
        The error, as in :func:`adjusted_pvalues`.

    Returns
    -------
    Decision
        P-values, limits and which features are relevant.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.inference import decide
    >>> rng = np.random.default_rng(0)
    >>> copies = rng.exponential(size=(3, 40))
    >>> statistic = np.append(rng.exponential(size=39), 20.0)
    >>> alone = np.append(rng.uniform(size=39), 0.2)
    >>> np.flatnonzero(decide(statistic, copies, alone).relevant)
    array([39])
    """
    d = len(statistic)
    null = None if copies is None else CopiesNull.of(copies)
    # A weight of exactly 0 in all models is certain not to exceed chance.
    together = None if null is None else np.where(statistic > 0.0, null.pvalues(statistic), 1.0)
    every = [each for each in (together, alone) if each is not None]
    pvalues = every[0] if len(every) == 1 else cauchy_combination(*every) if every else np.ones(d)
    adjusted = adjusted_pvalues(pvalues, control)
    relevant = adjusted <= level
    limits = np.full(d, np.nan)
    if null is not None:
        allowed = pvalue_limits(pvalues, level, control)
        limits = null.limits(allowed if alone is None else remaining_pvalue(allowed, alone))
        # The two forms of one rule must not differ by rounding.
        limits = np.where(relevant, np.minimum(limits, np.nextafter(statistic, -np.inf)), np.maximum(limits, statistic))
    none = np.full(d, np.nan)
    return Decision(
        pvalues, adjusted, none if together is None else together, none if alone is None else alone, limits, relevant
    )

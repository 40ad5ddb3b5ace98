"""Which features are relevant, by what forests need and by what each feature tells alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allrelevant.forest.boruta import Importances
from allrelevant.forest.learner import Array
from allrelevant.inference import adjusted_pvalues, cauchy_combination, pvalue_limits, remaining_pvalue

__all__ = ["Evidence"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The two kinds of evidence and what they come to.

    A feature tells of the target beside some set of others if it is of use to forests, or if it does so by itself: the
    p-values of both are combined by Cauchy's rule, and the error over all features is controlled.

    Attributes
    ----------
    together : Importances
        Importances in forests of all features, with those of row-permuted copies.
    alone : ndarray of shape (n_features,)
        P-values of every feature by itself.
    n_permutations : float
        Different ways to assign the targets to the samples; no p-value is below one of these.
    level, control : float, str
        The error that is allowed, and which error it is.
    """

    together: Importances
    alone: Array
    n_permutations: float
    level: float
    control: str

    @cached_property
    def pvalues(self) -> Array:
        """Combined p-values."""
        combined = cauchy_combination(self.together.pvalues, self.alone)
        return np.asarray(np.maximum(combined, 1.0 / self.n_permutations))

    @cached_property
    def adjusted(self) -> Array:
        """P-values adjusted for the number of features."""
        return adjusted_pvalues(self.pvalues, self.control)

    @property
    def relevant(self) -> NDArray[np.bool_]:
        """Which features are relevant."""
        return np.asarray(self.adjusted <= self.level)

    def limits(self) -> Array:
        """Return the mean importance that each feature had to exceed, the other evidence being what it is."""
        allowed = pvalue_limits(self.pvalues, self.level, self.control)
        least = self.together.limits(remaining_pvalue(allowed, self.alone))
        least = np.where(allowed < 1.0 / self.n_permutations, np.inf, least)
        # The two forms of one rule must not differ by rounding.
        mean = self.together.mean
        return np.where(self.relevant, np.minimum(least, np.nextafter(mean, -np.inf)), np.maximum(least, mean))

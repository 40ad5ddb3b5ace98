"""Who is relevant: p-values, control of error, and the decision, as functions on arrays.

Nothing here fits or solves anything. Whatever statistic a method gives its features (a relevance, an importance, a
coefficient), these functions compare it with that of row-permuted copies and control the error over all features.

Examples
--------
The importances of any other model, with the error controlled:

>>> import numpy as np
>>> from sklearn.linear_model import LassoCV
>>> from allrelevant.inference import alone_pvalues, decide
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(100, 20))
>>> y = X[:, 0] + X[:, 1] + rng.normal(size=100)
>>> def importances(rows):  # of the features and of their copies, from one and the same fit
...     return np.split(np.abs(LassoCV(cv=3).fit(np.hstack([X, X[rows]]), y).coef_), 2)
>>> features, copies = zip(*(importances(rng.permutation(100)) for _ in range(3)))
>>> alone = alone_pvalues(X, y[:, None], (rng.permutation(100) for _ in range(1000)))
>>> decision = decide(np.mean(features, axis=0), np.array(copies), alone, level=0.05)
>>> np.flatnonzero(decision.relevant)
array([0, 1])
"""

from allrelevant.inference.alone import N_PERMUTATIONS, alone_pvalues, companions
from allrelevant.inference.control import CONTROLS, adjusted_pvalues, borderline, pvalue_limits
from allrelevant.inference.copies import CopiesNull, copies_pvalues
from allrelevant.inference.decision import Decision, decide
from allrelevant.inference.exchange import Exchangeability, exchangeability
from allrelevant.inference.pvalues import NullSample, cauchy_combination, remaining_pvalue

__all__ = [
    "CONTROLS",
    "N_PERMUTATIONS",
    "CopiesNull",
    "Decision",
    "Exchangeability",
    "NullSample",
    "adjusted_pvalues",
    "alone_pvalues",
    "borderline",
    "cauchy_combination",
    "companions",
    "copies_pvalues",
    "decide",
    "exchangeability",
    "pvalue_limits",
    "remaining_pvalue",
]

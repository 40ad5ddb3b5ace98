"""hidimstat 0.4.0: conditional randomisation and knockoffs, false discoveries controlled at .05.

- ``dcrt``: the distilled conditional randomisation test (Liu and others 2022) with the library's lasso, of all columns
  (its screening leaves one in ten, so that the rest could never be found), Benjamini and Hochberg's procedure on its
  p-values;
- ``knockoffs``: Gaussian knockoffs, the lasso's coefficients, one draw.

Classes are numbers to both, of which only two and ordered ones make sense. Both look for what is needed beside all the
rest: of two copies neither is.
"""

import numpy as np

REQUIREMENTS = ("hidimstat==0.4.0",)
LEVEL = 0.05


def dcrt(problem, X, y, seed):
    """Conditional randomisation."""
    from hidimstat import D0CRT
    from scipy.stats import false_discovery_control
    from sklearn.linear_model import LassoCV

    model = D0CRT(LassoCV(alphas=10, n_jobs=1), screening_threshold=100, random_state=seed)
    model.fit(X, _numbers(problem, y))
    model.importance(X, _numbers(problem, y))
    pvalues = np.nan_to_num(np.asarray(model.pvalues_), nan=1.0)
    return {"classes": (false_discovery_control(pvalues) <= LEVEL).astype(int).tolist(), "pvalues": pvalues.tolist()}


def knockoffs(problem, X, y, seed):
    """Knockoffs."""
    from hidimstat import ModelXKnockoff

    model = ModelXKnockoff(random_state=seed)
    model.fit_importance(X, _numbers(problem, y))
    chosen = np.asarray(model.fdr_selection(fdr=LEVEL))
    return {"classes": (chosen != 0).astype(int).tolist()}


def _numbers(problem, y):
    if problem == "multiclass":
        raise ValueError("problem is 'multiclass'; this method knows two classes and numbers")
    y = y.astype(float)
    return (y - y.mean()) / y.std()


METHODS = {"dcrt": dcrt, "knockoffs": knockoffs}

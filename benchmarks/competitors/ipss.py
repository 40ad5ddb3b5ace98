"""IPSS 1.1.13, integrated path stability selection (Melikechi and Miller), q-values of at most .05.

``ipss_l1`` has lasso and l1-penalised logistic regression, ``ipss_boosted`` boosted trees of XGBoost, its default;
everything else is its default. Several classes and ordered ones are regressed on as numbers, which it does not know.
Its subsamples come from NumPy's global generator, which is set here. It looks for what helps beside all the rest.
"""

import numpy as np

REQUIREMENTS = ("ipss==1.1.13",)
LEVEL = 0.05


def _method(selector):
    def run(problem, X, y, seed):
        from ipss import ipss

        if problem == "multiclass":
            raise ValueError("problem is 'multiclass'; this method knows two classes and numbers")
        np.random.seed(seed)  # noqa: NPY002 its subsamples are drawn by it
        target = (y > 0).astype(int) if problem == "classification" else y.astype(float)
        arguments = {"selector_args": {"random_state": seed}} if selector == "gb" else {}
        found = ipss(X, target, selector=selector, target_fdr=LEVEL, n_jobs=1, **arguments)
        classes = np.zeros(X.shape[1], dtype=int)
        classes[np.asarray(found["selected_features"], dtype=int)] = 1
        return {"classes": classes.tolist()}

    return run


METHODS = {"ipss_l1": _method("l1"), "ipss_boosted": _method("gb")}

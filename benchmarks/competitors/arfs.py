"""arfs 3.0.0, another library of all-relevant selection by trees, with its defaults; the papers do not have it.

- ``grootcv``: boosted trees of LightGBM and their Shapley values, beside shadows, in five repeated five-fold
  cross-validations. Its folds have a seed of their own; the shadows come from NumPy's global one, which is set here.
- ``leshy``: Boruta with Shapley values, of LightGBM's forests of 100 trees of depth 5 as in the thesis' chapter 5, at
  its default percentile of 90.

Neither tells strong from weak. Both get a table, as they ask for.
"""

import numpy as np

from benchmarks.competitors._input import two_classes

#: It names types of columns that pandas 3 does not know.
REQUIREMENTS = ("arfs==3.0.0", "pandas<3")
#: As of boruta: features are rejected slowly.
WARM_UP_FEATURES = 2


def grootcv(problem, X, y, seed):
    """Features whose Shapley values exceed those of their shadows."""
    from arfs.feature_selection import GrootCV

    table, y = _table(X), two_classes(problem, y)
    np.random.seed(seed)  # noqa: NPY002 its shadows are drawn by it
    model = GrootCV(objective="binary", n_jobs=1).fit(table, y)
    return {"classes": model.get_support().astype(int).tolist()}


def leshy(problem, X, y, seed):
    """Features that beat their shadows."""
    from arfs.feature_selection import Leshy
    from lightgbm import LGBMClassifier

    table, y = _table(X), two_classes(problem, y)
    np.random.seed(seed)  # noqa: NPY002
    trees = LGBMClassifier(
        boosting_type="rf", num_leaves=32, max_depth=5, subsample=0.632, subsample_freq=1, n_jobs=1, verbose=-1
    )
    model = Leshy(trees, n_estimators=100, random_state=seed).fit(table, y)
    return {"classes": model.support_.astype(int).tolist(), "tentative": int(model.support_weak_.sum())}


def _table(X):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"feature{k}" for k in range(X.shape[1])])


METHODS = {"grootcv": grootcv, "leshy": leshy}

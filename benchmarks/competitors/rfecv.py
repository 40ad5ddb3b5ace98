"""Backward elimination whose number of features cross-validation decides (scikit-learn's ``RFECV``).

- ``rfecv_elastic_net`` and ``rfecv_forest``: the thesis' chapter 5 (EN and RF), classification;
- ``rfecv_ordinal``: its surrogate for ordered classes (chapter 4), the lasso-like one.

Parameters are those of the thesis and of its scripts (github.com/lpfann/squamish_experiments): five folds; one feature
at a time up to 60 features, above that a tenth of them, which the thesis does not say. The elastic net is a linear
classifier fitted by stochastic gradients (hinge loss, 100 rounds); its strength and its ratio come from three-fold
cross-validation over the scripts' values. The scripts leave the penalty at scikit-learn's default, which is l2 and has
no ratio; here it is what the thesis says. Columns are scaled for it. The forest is one of LightGBM, 100 trees of at
most 32 leaves and depth 5, bagging of 63.2 % each time, all features.

The ordinal model is the explicit one with an l1 penalty (``p = 0``): the thesis searches `p` as well, but finds both
"nearly identical". Its `C` comes from five-fold cross-validation of all features over this library's path. The thesis'
scripts compare by the share of wrong classes, here it is the macro-averaged error.

``training_score`` is that of the model of the selected features; for ordered classes it is an error, as is
``cross_validated``.
"""

import warnings

import numpy as np

from benchmarks.competitors._input import expect, scaled

REQUIREMENTS: tuple[str, ...] = ()
FOLDS = 5
STRENGTHS = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
RATIOS = (0.0, 0.01, 0.1, 0.2, 0.5, 0.7, 1.0)


def elastic_net(problem, X, y, seed):
    """Elimination by the weights of an elastic net."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import SGDClassifier
    from sklearn.model_selection import GridSearchCV

    expect(problem, "classification")
    X = scaled(X)
    model = SGDClassifier(penalty="elasticnet", max_iter=100, tol=1e-3, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = GridSearchCV(model, {"alpha": STRENGTHS, "l1_ratio": RATIOS}, cv=3).fit(X, y).best_estimator_
        return _eliminate(best, X, y, min_features_to_select=2)


def forest(problem, X, y, seed):
    """Elimination by how often a forest splits at a feature."""
    from lightgbm import LGBMClassifier

    expect(problem, "classification")
    model = LGBMClassifier(
        boosting_type="rf", num_leaves=32, max_depth=5, subsample=0.632, subsample_freq=1,
        n_jobs=1, verbose=-1, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return _eliminate(model, X, y)


def ordinal(problem, X, y, seed):
    """Elimination by the weights of a sparse ordinal model."""
    from benchmarks.competitors._ordinal import OrdinalL1, search

    expect(problem, "ordinal")
    labels, ranks = np.unique(y, return_inverse=True)
    X = scaled(X)
    best = search(X, ranks, len(labels), FOLDS)
    found = _eliminate(OrdinalL1(C=best, n_classes=len(labels)), X, ranks)
    errors = {name: -found[name] for name in ("training_score", "cross_validated")}
    return {**found, **errors, "C": best}


def _eliminate(model, X, y, **parameters):
    from sklearn.feature_selection import RFECV
    from sklearn.model_selection import StratifiedKFold

    step = 1 if X.shape[1] <= 60 else 0.1
    selector = RFECV(model, step=step, cv=StratifiedKFold(FOLDS), scoring=_own_score, n_jobs=1, **parameters).fit(X, y)
    return {
        "classes": selector.support_.astype(int).tolist(),
        "training_score": float(selector.estimator_.score(selector.transform(X), y)),
        "cross_validated": float(selector.cv_results_["mean_test_score"].max()),
    }


def _own_score(model, X, y):
    # By itself RFECV takes the R² of whatever does not call itself a classifier.
    return model.score(X, y)


METHODS = {"rfecv_elastic_net": elastic_net, "rfecv_forest": forest, "rfecv_ordinal": ordinal}

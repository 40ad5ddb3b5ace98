"""BorutaPy 0.4.3 with shallow trees of scikit-learn, as many as it sees fit.

Classes of any number, and numbers: ordered classes are regressed on.

It has the parameters that its documentation recommends: trees of depth 5, ``n_estimators="auto"``, the percentile of
100 and the correction for many tests of the original. It does not tell strong from weak, and features that it cannot
decide upon (``tentative``) are not selected. The papers name the library and no parameters; chapter 5 of the thesis
uses it inside squamish, with trees of LightGBM. ``training_score`` is the papers' "internal RF score": accuracy (of
numbers R²) of 100 such trees, grown on all features, on the samples they were grown on. They are grown after the
selection and are part of its CPU seconds (0.1 of some 10 at 500 samples of 30 features).
"""

REQUIREMENTS = ("boruta==0.4.3",)
#: It takes seconds to reject a feature, even of a few samples.
WARM_UP_FEATURES = 2


def boruta(problem, X, y, seed):
    """Features that beat the best of their shadows."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if problem in ("classification", "multiclass") else RandomForestRegressor
    model = BorutaPy(forest(max_depth=5, n_jobs=1), n_estimators="auto", random_state=seed).fit(X, y)
    inner = forest(max_depth=5, n_jobs=1, random_state=seed).fit(X, y)
    return {
        "classes": model.support_.astype(int).tolist(),
        "tentative": int(model.support_weak_.sum()),
        "training_score": float(inner.score(X, y)),
    }


METHODS = {"boruta": boruta}

"""One regularised linear classifier: features are relevant if the magnitude of their weight exceeds 1e-5.

- ``ridge``, ``lasso``, ``elastic_net``: the FeReL paper's three linear classifiers (l2, l1, both; its Section 4.1) and
  the thesis' elastic net (Section 3.3.2), in which both penalties have equal parts. The strength is chosen by ten-fold
  cross-validation, of ten values from 1e-4 to 1e4, those of scikit-learn; ties go to the stronger penalty. Columns are
  scaled.
- ``lasso_cv``: the lasso of any problem as people use it, five folds: scikit-learn's ``LassoCV`` with its defaults
  where the target is numbers or ordered classes, else an l1-penalised logistic regression by its likelihood, of ten
  strengths from the one that leaves nothing on; of two classes by liblinear, of several by saga;
- ``elastic_net_path``: the elastic net that stands beside fits of allrelevant in the comparison of speed, searched over
  as many penalties (9) and folds (3) as they are; it takes the columns as they are.

What differs from the papers: they do not name the loss (the FeReL paper once says SVM) nor the values of the strength.
The loss here is the logistic one, for which scikit-learn has all three penalties. Its solvers for sparse weights
converge slowly on separable classes with a weak penalty: liblinear takes 25 CPU seconds at 500 samples of 30 features,
saga with 300 rounds, which it is given here, two to four. Its warnings are ignored: weights that are 0 are so early.
``training_score`` is the accuracy of the chosen model on all samples. scikit-learn 1.8 or later is needed, where shares
of the penalties are all that is said of them.
"""

import warnings

import numpy as np

from benchmarks.competitors._input import expect, scaled, two_classes

REQUIREMENTS: tuple[str, ...] = ()
#: A larger weight counts as relevant.
NO_WEIGHT = 1e-5


def regularised(ratio, solver, **parameters):
    """Return the method whose share of the l1 penalty is `ratio`."""

    def run(problem, X, y, seed):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegressionCV

        y, X = two_classes(problem, y), scaled(X)
        model = LogisticRegressionCV(
            Cs=10, cv=10, l1_ratios=[ratio], solver=solver, random_state=seed, scoring="accuracy",
            use_legacy_attributes=False, **parameters,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        return {
            "classes": (np.abs(model.coef_[0]) > NO_WEIGHT).astype(int).tolist(),
            "training_score": float(model.score(X, y)),
            "cross_validated": float(np.mean(model.scores_, axis=0).max()),
        }

    return run


def lasso_cv(problem, X, y, seed):
    """Features with any weight in the lasso that predicts best."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LassoCV, LogisticRegressionCV

    X = scaled(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if problem not in ("classification", "multiclass"):
            weights = LassoCV(cv=5, random_state=seed).fit(X, y).coef_
        else:
            _, y = np.unique(y, return_inverse=True)
            # Below this no weight differs from 0.
            least = 1 / np.abs(X.T @ (np.eye(y.max() + 1)[y] - np.bincount(y) / len(y))).max()
            model = LogisticRegressionCV(
                Cs=least * np.logspace(0, 3, 10), cv=5, l1_ratios=[1.0], scoring="neg_log_loss", random_state=seed,
                solver="liblinear" if y.max() == 1 else "saga", max_iter=300, use_legacy_attributes=False,
            )  # fmt: skip
            weights = np.abs(model.fit(X, y).coef_).max(axis=0)
    return {"classes": (np.abs(weights) > NO_WEIGHT).astype(int).tolist()}


def elastic_net_path(problem, X, y, seed):
    """One sparse model, searched over as many penalties and folds as a fit of allrelevant."""
    import sklearn
    from sklearn.linear_model import LogisticRegressionCV

    expect(problem, "classification")
    # From 1.8 on the ratios alone say which penalty it is.
    old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
    penalty = {"penalty": "elasticnet"} if old else {}
    model = LogisticRegressionCV(Cs=9, cv=3, l1_ratios=[0.5], solver="saga", random_state=seed, **penalty).fit(X, y)
    return {"classes": (model.coef_[0] != 0).astype(int).tolist()}


METHODS = {
    "ridge": regularised(0.0, "lbfgs", max_iter=1000),
    "lasso": regularised(1.0, "saga", max_iter=300),
    "elastic_net": regularised(0.5, "saga", max_iter=300),
    "lasso_cv": lasso_cv,
    "elastic_net_path": elastic_net_path,
}

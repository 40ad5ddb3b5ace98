"""Ensemble feature selection: six rankings, each scaled to at most 1, averaged (Neumann, Genze and Heider 2017).

The R package EFS cannot be had here; this is a small implementation of what version 1.0.3 does by default:

- p-values of Wilcoxon's rank-sum test ("median"), as ``1 - p + min(p)``;
- correlations with the class by Pearson and by Spearman, each 0 for features whose correlation with a better one
  exceeds 0.7 (greedily, the best first);
- magnitudes of the weights of a logistic regression without penalty;
- random forests: the rise of the error on samples that a tree has not seen if a feature is permuted there, and the
  decrease of the Gini index. Trees are grown to the end on 63.2 % of the samples, drawn without replacement, with the
  square root of the features at every split.

Selected are the features above the mean, as the package's ``efs_eval`` and ``logreg_test`` have it. The two importances
of conditional forests, which have no Python implementation, are part of the package but off by default, and the thesis
used defaults (Section 3.3.2).

What differs: the package averages 100 runs of 1000 trees, here it is one run of 300; its logistic regression ends after
100 rounds at most of another solver, which matters where classes are separable and weights grow without end: their
shares do not. There is no ``training_score``; the thesis has none either.
"""

import numpy as np

from benchmarks.competitors._input import two_classes

REQUIREMENTS: tuple[str, ...] = ()
SAME, TREES, DRAWN = 0.7, 300, 0.632


def efs(problem, X, y, seed):
    """Features whose mean importance is above the mean of all."""
    from scipy.stats import rankdata

    y = two_classes(problem, y)
    varying = X.std(axis=0) > 0
    Z = X[:, varying]
    parts = {
        "median": _medians(Z, y),
        "pearson": _correlations(Z, y),
        "spearman": _correlations(rankdata(Z, axis=0), rankdata(y)),
        "logistic": _weights(Z, y),
    }
    parts["error"], parts["gini"] = _forest(Z, y, np.random.RandomState(seed))
    importance = np.zeros(X.shape[1])
    importance[varying] = np.mean(list(parts.values()), axis=0)
    above = importance > importance[varying].mean()
    return {"classes": above.astype(int).tolist(), "importances": importance.tolist()}


def _medians(X, y):
    from scipy.stats import mannwhitneyu

    p = mannwhitneyu(X[y == 1], X[y == 0]).pvalue
    return 1 - p + p.min()


def _correlations(X, y):
    both = np.abs(np.corrcoef(np.column_stack([y, X]).T))
    with_class, mutual = both[0, 1:], both[1:, 1:]
    out, left = np.zeros(X.shape[1]), np.ones(X.shape[1], dtype=bool)
    while left.any():
        best = np.flatnonzero(left)[np.argmax(with_class[left])]
        out[best] = with_class[best]
        left &= mutual[best] <= SAME
        left[best] = False
    return out / out.max()


def _weights(X, y):
    from sklearn.linear_model import LogisticRegression

    # The package divides by the variance, not by its root.
    Z = (X - X.mean(axis=0)) / X.var(axis=0)
    weights = np.abs(LogisticRegression(C=np.inf, max_iter=100).fit(Z, y).coef_[0])
    return weights / weights.max()


def _forest(X, y, rng):
    from sklearn.tree import DecisionTreeClassifier

    n, d = X.shape
    error, gini = np.zeros(d), np.zeros(d)
    for _ in range(TREES):
        order = rng.permutation(n)
        grown, unseen = order[: round(DRAWN * n)], order[round(DRAWN * n) :]
        tree = DecisionTreeClassifier(max_features="sqrt", random_state=rng.randint(2**31)).fit(X[grown], y[grown])
        # Those of scikit-learn sum to 1 in every tree; the package's are sums, which differ little among full trees.
        gini += tree.feature_importances_
        used = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
        permuted = np.repeat(X[unseen][None], len(used) + 1, axis=0)
        for k, feature in enumerate(used):
            permuted[k, :, feature] = rng.permutation(X[unseen, feature])
        wrong = tree.predict(permuted.reshape(-1, d)).reshape(len(used) + 1, -1) != y[unseen]
        error[used] += wrong[:-1].mean(axis=1) - wrong[-1].mean()
    error = np.abs(error)
    return error / max(error.max(), np.finfo(float).tiny), gini / gini.max()


METHODS = {"efs": efs}

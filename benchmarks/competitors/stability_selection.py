"""Stability selection: features that sparse models of many halves of the samples choose again and again.

Meinshausen and Bühlmann (2010) with the complementary pairs of Shah and Samworth (2013): the samples are split into
halves 50 times, an l1-penalised logistic regression is fitted to each half for every penalty of a grid, and a feature
is selected if for some penalty more than 60 % of the 100 models have it (a weight of at least 1e-5).

This is a small implementation, not a library: the Python package ``stability-selection`` (scikit-learn-contrib), which
has these defaults, is not in the registry and imports parts of scikit-learn that are gone. Taken from it are the number
of halves, the threshold, the columns scaled within each half, the number of penalties (25) and, from the example of its
documentation, their range (`C` from 1e-5 to 0.1); its default range ends at 0.01, where at 500 samples nothing has any
weight. The thesis (Section 3.3.2) names both papers, and no parameters. ``training_score`` is the accuracy of the
model of all samples with the weakest penalty of the grid.

``randomised_lasso`` and ``randomised_lasso_one`` have the error bound of the second paper (Theorem 2, unimodal): of
each half the columns count that enter first, as many (`q` on average) as make the expected number of false ones .05 or
1 where a column must be in more than 90 % of the halves. The columns are multiplied by random numbers from .5 to 1 for
every half, as the first paper proposes, and the path is that of least angles with the lasso's steps back; two and
ordered classes are numbers to it.
"""

import numpy as np

from benchmarks.competitors._input import scaled, two_classes

REQUIREMENTS: tuple[str, ...] = ()
PENALTIES = np.logspace(-5, -1, 25)
PAIRS, THRESHOLD, NO_WEIGHT = 50, 0.6, 1e-5
#: Share of the halves that the bound asks for.
FREQUENT = 0.9


def stability_selection(problem, X, y, seed):
    """Features that most halves agree upon."""
    from sklearn.linear_model import LogisticRegression

    y = two_classes(problem, y)
    rng = np.random.RandomState(seed)
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", random_state=seed)
    chosen = np.zeros((len(PENALTIES), X.shape[1]))
    for _ in range(PAIRS):
        order = rng.permutation(len(y))
        for half in (order[: len(y) // 2], order[len(y) // 2 : 2 * (len(y) // 2)]):
            Z = scaled(X[half])
            # No slope of the loss is steeper than this: below, all weights are 0.
            steepest = np.abs(Z).sum(axis=0).max()
            for k in np.flatnonzero(steepest * PENALTIES > 1):
                weights = model.set_params(C=PENALTIES[k]).fit(Z, y[half]).coef_[0]
                chosen[k] += np.abs(weights) >= NO_WEIGHT
    frequency = chosen.max(axis=0) / (2 * PAIRS)
    Z = scaled(X)
    return {
        "classes": (frequency > THRESHOLD).astype(int).tolist(),
        "frequencies": frequency.tolist(),
        "training_score": float(model.set_params(C=PENALTIES[-1]).fit(Z, y).score(Z, y)),
    }


def randomised(expected):
    """Return the method whose bound on the expected number of false features is this."""

    def run(problem, X, y, seed):
        from sklearn.linear_model import lars_path

        if problem == "multiclass":
            raise ValueError("problem is 'multiclass'; this method knows two classes and numbers")
        rng, d = np.random.RandomState(seed), X.shape[1]
        q = min(np.sqrt(expected * d * bound(FREQUENT, PAIRS)), d / np.sqrt(3))
        count = np.zeros(d)
        for _ in range(PAIRS):
            order = rng.permutation(len(y))
            for half in (order[: len(y) // 2], order[len(y) // 2 : 2 * (len(y) // 2)]):
                wanted = int(q) + (rng.rand() < q - int(q))
                Z, target = scaled(X[half]) * rng.uniform(0.5, 1.0, d), y[half] - y[half].mean()
                if wanted == 0 or not target.any():
                    continue
                # Some steps take a column out again.
                coefs = lars_path(Z, target, method="lasso", max_iter=3 * wanted)[2] != 0
                first = np.where(coefs.any(axis=1), coefs.argmax(axis=1), coefs.shape[1])
                entered = np.argsort(first, kind="stable")[:wanted]
                count[entered[first[entered] < coefs.shape[1]]] += 1
        frequency = count / (2 * PAIRS)
        return {
            "classes": (frequency > FREQUENT).astype(int).tolist(),
            "frequencies": frequency.tolist(),
            "q": float(q),
        }

    return run


def bound(threshold, pairs):
    """Shah and Samworth's C: at most ``q**2 / (C * d)`` false features are expected, for ``q < d / sqrt(3)``."""
    if threshold <= 0.75:
        return 2 * (2 * threshold - 1 - 1 / (2 * pairs))
    return (1 + 1 / pairs) / (4 * (1 - threshold + 1 / (2 * pairs)))


METHODS = {
    "stability_selection": stability_selection,
    "randomised_lasso": randomised(0.05),
    "randomised_lasso_one": randomised(1.0),
}

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
"""

import numpy as np

from benchmarks.competitors._input import scaled, two_classes

REQUIREMENTS: tuple[str, ...] = ()
PENALTIES = np.logspace(-5, -1, 25)
PAIRS, THRESHOLD, NO_WEIGHT = 50, 0.6, 1e-5


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


METHODS = {"stability_selection": stability_selection}

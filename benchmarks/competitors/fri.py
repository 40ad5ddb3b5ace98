"""fri 9.0.0, the library of the thesis' chapters 3 and 4, with all its defaults.

- ``fri``: all three problem types, ordered classes with explicit order;
- ``fri_groups``: groups of features of a classification, with its default cutoff.

fri leaves scaling to its users; it is done here. The papers' figures are those of older versions and of solvers that
are not the ones of today. ``training_score`` is the accuracy of its one sparse model.
"""

import time

import numpy as np

from benchmarks.competitors._input import expect, scaled

#: It does not declare the second and the third, and needs the fourth.
REQUIREMENTS = ("fri==9.0.0", "importlib_metadata", "attrs", "numpy<1.27")


def _fitted(problem, X, y, seed):
    import fri

    kinds = {
        "classification": fri.ProblemName.CLASSIFICATION,
        "regression": fri.ProblemName.REGRESSION,
        "ordinal": fri.ProblemName.ORDINALREGRESSION,
    }
    model = fri.FRI(kinds[problem], random_state=seed)
    model.fit(scaled(X), y)
    return model


def relevance(problem, X, y, seed):
    """Classes of relevance."""
    model = _fitted(problem, X, y, seed)
    found = {"classes": np.asarray(model.relevance_classes_).astype(int).tolist()}
    if problem == "classification":
        found["training_score"] = float(np.mean(model.optim_model_.predict(scaled(X)) == y))
    return found


def groups(problem, X, y, seed):
    """Groups of features."""
    expect(problem, "classification")
    model = _fitted(problem, X, y, seed)
    began = time.process_time()
    labels, _ = model.get_grouping()
    return {"labels": np.asarray(labels).tolist(), "grouping_seconds": time.process_time() - began}


METHODS = {"fri": relevance, "fri_groups": groups}

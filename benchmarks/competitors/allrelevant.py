"""The library of these benchmarks, with all its defaults unless said otherwise.

- ``allrelevant``: all three problem types; ordered classes with explicit order. ``allrelevant_implicit``: ordered
  classes with implicit order. ``cross_validated`` is in the metric of the search.
- ``allrelevant_reference``: all three problem types, every bound by HiGHS.
- ``allrelevant_papers``: two classes, with the papers' rule for who is relevant at their level, 0.001.
- ``allrelevant_groups``: groups of features; of those that are called relevant.
- ``forest``, ``forest_refit``, ``forest_refit_training``: forests; strong features are told from weak ones by
  conditional permutation, or by forests without each feature and their loss on unseen samples, or by their loss on the
  samples they were grown on, which is the thesis' Algorithm 2.
"""

import time

from benchmarks.competitors._input import expect

REQUIREMENTS: tuple[str, ...] = ()


def linear(problem, X, y, seed):
    """Intervals of relevance."""
    return _linear(_estimator(problem)(random_state=seed), problem, X, y)


def reference(problem, X, y, seed):
    """Intervals of relevance, by the engine that is asked last otherwise."""
    import numpy as np

    from allrelevant.lp import BoundSolver
    from allrelevant.lp.certificate import Certified

    def nothing(solver, targets):
        t = len(targets)
        return Certified(np.full(t, -np.inf), np.full(t, np.inf), np.zeros((t, solver.program.n_weights))), None

    honest = BoundSolver._by_kernel
    BoundSolver._by_kernel = nothing
    try:
        return _linear(_estimator(problem)(random_state=seed), problem, X, y)
    finally:
        BoundSolver._by_kernel = honest


def _estimator(problem):
    from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor

    return {
        "classification": LinearRelevanceClassifier,
        "regression": LinearRelevanceRegressor,
        "ordinal": LinearRelevanceOrdinal,
    }[problem]


def implicit(problem, X, y, seed):
    """Intervals of relevance, every sample against all thresholds."""
    from allrelevant import LinearRelevanceOrdinal

    expect(problem, "ordinal")
    return _linear(LinearRelevanceOrdinal(order="implicit", random_state=seed), problem, X, y)


def papers(problem, X, y, seed):
    """Intervals of relevance, with the limit that the papers have."""
    from allrelevant import LinearRelevanceClassifier

    expect(problem, "classification")
    return _linear(LinearRelevanceClassifier(threshold_rule="papers", level=0.001, random_state=seed), problem, X, y)


def _linear(model, problem, X, y):
    result = model.fit(X, y).result_
    # The metric of the search is the F1 for classes; the papers report accuracies.
    training = model.score(X, y) if problem == "classification" else result.scores["training"]
    return {
        "classes": result.classes.tolist(),
        "intervals": result.intervals.tolist(),
        "training_score": float(training),
        "cross_validated": result.scores["cross_validated"],
        "max_gap": result.max_gap,
        "programs": result.n_programs,
        "stages": result.cpu_seconds,
    }


def groups(problem, X, y, seed):
    """Groups of features that play the same part."""
    from allrelevant import LinearRelevanceClassifier

    expect(problem, "classification")
    model = LinearRelevanceClassifier(random_state=seed).fit(X, y)
    began = time.process_time()
    labels = model.group_features().labels
    return {"labels": labels.tolist(), "grouping_seconds": time.process_time() - began}


def forest(**parameters):
    """Return the method with these parameters."""

    def run(problem, X, y, seed):
        from allrelevant import ForestRelevanceClassifier

        expect(problem, "classification")
        result = ForestRelevanceClassifier(random_state=seed, n_jobs=1, **parameters).fit(X, y).result_
        return {
            "classes": result.classes.tolist(),
            "tentative": len(result.tentative),
            "training_score": result.scores["training"],
            "cross_validated": result.scores["cross_validated"],
            "forests": result.n_programs,
            "stages": result.cpu_seconds,
        }

    return run


METHODS = {
    "allrelevant": linear,
    "allrelevant_implicit": implicit,
    "allrelevant_reference": reference,
    "allrelevant_papers": papers,
    "allrelevant_groups": groups,
    "forest": forest(decomposition="conditional"),
    "forest_refit": forest(decomposition="refit", loss="held_out"),
    "forest_refit_training": forest(decomposition="refit", loss="training"),
}

"""One fit in a process of its own: run by the interpreter of the library's environment, prints one line of JSON.

Imports and a first fit of a few samples are not counted. The limit is one of CPU seconds of the fit, after which the
system ends the process.

Usage: ``python child.py LIBRARY PROBLEM DATA SEED LIMIT``
"""

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def allrelevant(problem, X, y, seed):
    """The library with all its defaults."""
    from allrelevant import LinearRelevanceClassifier, LinearRelevanceOrdinal, LinearRelevanceRegressor

    kinds = {
        "classification": LinearRelevanceClassifier,
        "regression": LinearRelevanceRegressor,
        "ordinal": LinearRelevanceOrdinal,
    }
    result = kinds[problem](random_state=seed).fit(X, y).result_
    return {
        "classes": result.classes.tolist(),
        "max_gap": result.max_gap,
        "programs": result.n_programs,
        "stages": result.cpu_seconds,
    }


def fri(problem, X, y, seed):
    """Version 9.0.0 with all its defaults."""
    import fri

    kinds = {
        "classification": fri.ProblemName.CLASSIFICATION,
        "regression": fri.ProblemName.REGRESSION,
        "ordinal": fri.ProblemName.ORDINALREGRESSION,
    }
    model = fri.FRI(kinds[problem], random_state=seed)
    model.fit(X, y)
    return {"classes": np.asarray(model.relevance_classes_).astype(int).tolist()}


def elastic_net(problem, X, y, seed):
    """One sparse model by scikit-learn, searched over as many penalties and folds as a fit of allrelevant."""
    import sklearn
    from sklearn.linear_model import LogisticRegressionCV

    # From 1.8 on the ratios alone say which penalty it is.
    old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
    penalty = {"penalty": "elasticnet"} if old else {}
    model = LogisticRegressionCV(Cs=9, cv=3, l1_ratios=[0.5], solver="saga", random_state=seed, **penalty).fit(X, y)
    return {"classes": (model.coef_[0] != 0).astype(int).tolist()}


def allrelevant_groups(problem, X, y, seed):
    """Groups of features; features are called relevant with false discoveries controlled, as so few samples ask for."""
    from allrelevant import LinearRelevanceClassifier

    model = LinearRelevanceClassifier(random_state=seed, control="fdr", confidence=0.999).fit(X, y)
    began = time.process_time()
    groups = model.group_features()
    return {"labels": groups.labels.tolist(), "grouping_seconds": time.process_time() - began}


def fri_groups(problem, X, y, seed):
    """Groups of features by version 9.0.0 with its default cutoff."""
    import fri

    model = fri.FRI(fri.ProblemName.CLASSIFICATION, random_state=seed)
    model.fit(X, y)
    began = time.process_time()
    labels, _ = model.get_grouping()
    return {"labels": np.asarray(labels).tolist(), "grouping_seconds": time.process_time() - began}


def forest(**parameters):
    """The forests of this library, with all defaults but these parameters."""

    def run(problem, X, y, seed):
        from allrelevant import ForestRelevanceClassifier

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


def boruta(problem, X, y, seed):
    """BorutaPy 0.4.3 with shallow trees of scikit-learn, as many as it sees fit; it does not tell strong from weak."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    trees = RandomForestClassifier(max_depth=5, n_jobs=1)
    model = BorutaPy(trees, n_estimators="auto", random_state=seed).fit(X, y)
    return {"classes": model.support_.astype(int).tolist(), "tentative": int(model.support_weak_.sum())}


def squamish(problem, X, y, seed):
    """The thesis' own library with all its defaults. Where it finds nothing it raises; that is an answer too."""
    from squamish.main import Main

    model = Main(random_state=seed, n_jobs=1, debug=False)
    try:
        model.fit(X, y)
    except Exception as error:
        if "No features were selected" not in str(error):
            raise
        found = {"classes": [0] * X.shape[1], "note": "found nothing"}
    else:
        found = {"classes": model.relevance_classes_.tolist()}
    tentative = int(model.borutamodel.estimator.support_weak_.sum())
    return {**found, "tentative": tentative, "training_score": float(model.score_)}


LIBRARIES = {
    "allrelevant": allrelevant,
    "fri": fri,
    "elastic_net": elastic_net,
    "allrelevant_groups": allrelevant_groups,
    "fri_groups": fri_groups,
    "forest": forest(decomposition="conditional"),
    "forest_refit": forest(decomposition="refit", loss="held_out"),
    "forest_refit_training": forest(decomposition="refit", loss="training"),
    "boruta": boruta,
    "squamish": squamish,
}


def warm_up(library, problem):
    """Fit a few samples, so that everything is loaded."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + X[:, 1]
    if library == "boruta":  # it takes seconds to reject a feature, even of so few samples
        X = X[:, :2].copy()
    if problem == "classification":
        y = np.where(y > 0, 1, -1)
    elif problem == "ordinal":
        y = np.digitize(y, [-0.7, 0.7])
    LIBRARIES[library.removesuffix("_groups")](problem, X, y, 0)


def peak_bytes():
    """Most memory that the process has held.

    From the kernel's table of the process where there is one: the figure of ``getrusage`` begins with that of the
    process which started this one.
    """
    table = Path("/proc/self/status")
    if table.exists():
        line = next(line for line in table.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main(library, problem, path, seed, limit):
    """Fit and print."""
    warnings.filterwarnings("ignore")
    warm_up(library, problem)
    with np.load(path) as data:
        X, y = data["X"], data["y"]
    before = peak_bytes()
    began, cpu = time.perf_counter(), time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu + float(limit)) + 1, resource.RLIM_INFINITY))
    found = LIBRARIES[library](problem, X, y, int(seed))
    found["cpu_seconds"] = time.process_time() - cpu
    found["wall_seconds"] = time.perf_counter() - began
    found["peak_bytes"], found["bytes_before"] = peak_bytes(), before
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

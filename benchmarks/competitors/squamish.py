"""squamish, the thesis' own library for chapter 5, with all its defaults.

Boruta with trees of LightGBM, then the loss without each feature. Where it finds nothing it raises; that is an answer
too, and the note says so. ``training_score`` is its own. It is not in the package registry: its environment is made by
hand.
"""

from benchmarks.competitors._input import expect

REQUIREMENTS = ("squamish",)
IN_REGISTRY = False


def squamish(problem, X, y, seed):
    """Classes of relevance."""
    from squamish.main import Main

    expect(problem, "classification")
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


METHODS = {"squamish": squamish}

"""Writes the results of this version on the data beside it, one folder per release: ``make golden``.

Files of earlier releases are never written again: they show what those releases wrote and found.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import allrelevant
from allrelevant import (
    ForestRelevanceClassifier,
    LinearRelevanceClassifier,
    LinearRelevanceOrdinal,
    LinearRelevanceRegressor,
)
from allrelevant.findings import Findings

HERE = Path(__file__).parent
NAMES = ("needed", "twin one", "twin two", "noise one", "noise two")
FOREST = {"n_estimators": 30}


def data():
    """Return the features and the targets by problem; they come from a file, as generators may change."""
    content = json.loads((HERE / "data.json").read_text())
    return np.array(content["X"]), {problem: np.array(y) for problem, y in content["y"].items()}


def estimators():
    """Return an estimator by problem, with the name of its target."""
    return {
        "classification": (LinearRelevanceClassifier(random_state=0), "class"),
        "regression": (LinearRelevanceRegressor(random_state=0), "number"),
        "ordinal": (LinearRelevanceOrdinal(random_state=0), "order"),
        "forest": (ForestRelevanceClassifier(**FOREST, random_state=0), "class"),
    }


def fits():
    """Return the fitted estimator of every problem."""
    X, targets = data()
    return {problem: estimator.fit(X, targets[name]) for problem, (estimator, name) in estimators().items()}


def findings(model):
    """Return all that can be asked."""
    return Findings(
        model.result_,
        groups=model.group_features(),
        substitutes=tuple(model.substitutes(name) for name in model.result_.names(1)),
        panels=model.panels(k=3),
        stability=model.stability(n_bootstraps=3),
        data={"file": "data.json"},
    )


def main():
    """Write the folder of this version."""
    folder = HERE / allrelevant.__version__
    folder.mkdir(exist_ok=True)
    fitted = fits()
    for problem, model in fitted.items():
        (folder / f"{problem}.json").write_text(model.result_.to_json(indent=1) + "\n")
    (folder / "findings.json").write_text(findings(fitted["classification"]).to_json(indent=1) + "\n")
    sys.stdout.write(f"Written: {folder}\n")


if __name__ == "__main__":
    main()

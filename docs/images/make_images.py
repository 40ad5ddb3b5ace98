"""Draw the pictures of the README and of the documentation:  python docs/images/make_images.py"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from sklearn.datasets import load_breast_cancer

from allrelevant import LinearRelevanceClassifier, RelevanceResult
from allrelevant.datasets import make_simulation
from allrelevant.plotting import RelevanceDisplay

FOLDER = Path(__file__).parent


def breast_cancer() -> RelevanceResult:
    """Fit measurements of cell nuclei: many of them say the same."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return LinearRelevanceClassifier(random_state=0).fit(X, y).result_


def simulation() -> RelevanceResult:
    """Fit generated data that have features of all three classes."""
    data = make_simulation("sim1", random_state=0)
    X = pd.DataFrame(data.X, columns=data.feature_names)
    return LinearRelevanceClassifier(random_state=0).fit(X, data.y).result_


def draw(result: RelevanceResult, title: str, name: str, **options: int) -> None:
    """Write one picture beside this file; the same result gives the same file."""
    display = RelevanceDisplay.from_result(result, **options)
    display.ax_.set_title(title)
    display.figure_.savefig(FOLDER / name, dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    mpl.use("agg")
    draw(breast_cancer(), "Breast cancer (Wisconsin)", "breast_cancer.png")
    draw(simulation(), "Simulated set Sim1", "sim1.png", max_features=14)

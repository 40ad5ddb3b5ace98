"""Which measurements of cell nuclei tell benign from malignant tumours, and which could stand in for which?

Fits the breast-cancer data of scikit-learn, prints what was found, and writes a drawing and a report:

    python examples/breast_cancer.py --out demo-output
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from allrelevant import LinearRelevanceClassifier
from allrelevant.plotting import RelevanceDisplay
from allrelevant.report import write_report

TITLE = "Breast cancer (Wisconsin)"


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = LinearRelevanceClassifier(random_state=0, verbose=1).fit(X, y)

    result = model.result_
    print(result.table(), result.summary(), sep="\n\n")

    display = RelevanceDisplay.from_estimator(model)
    display.ax_.set_title(TITLE)
    drawing = out / "relevance.png"
    display.figure_.savefig(drawing, dpi=150)
    report = write_report(result, out / "report.html", title=TITLE)
    print(f"\nDrawing: {drawing.resolve()}\nReport:  {report.resolve()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("demo-output"), metavar="DIR", help="folder for the files")
    main(parser.parse_args().out)

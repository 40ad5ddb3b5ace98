"""Measurements of cell nuclei
===========================

Which measurements of cell nuclei tell benign from malignant tumours, and which could stand in for which?

Fits the breast-cancer data of scikit-learn, prints what was found, and writes a drawing and a report. Run it by::

    python examples/breast_cancer.py --out demo-output
"""

# %%
# Where to write.

from __future__ import annotations

import argparse
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from allrelevant import LinearRelevanceClassifier, RelevanceClass
from allrelevant.plotting import RelevanceDisplay
from allrelevant.report import write_report

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--out", type=Path, default=Path("demo-output"), metavar="DIR", help="folder for the files")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)

# %%
# The data
# --------
#
# 569 tumours, of which 357 are benign. Ten properties of the cell nuclei in an image of each were measured; every
# property is given by its mean over the nuclei, by the standard error of this mean, and by its "worst" value, the mean
# of the three largest. That makes 30 features, many of which say nearly the same: radius, perimeter and area, for
# example.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)

# %%
# The fit
# -------
#
# ``minRel`` is the share of the model's weight that every near-optimal model gives a feature, ``maxRel`` the most that
# any of them gives it.

model = LinearRelevanceClassifier(random_state=0).fit(X, y)
result = model.result_
print(result.table(), result.summary(), sep="\n\n")

# %%
# The drawing
# -----------
#
# A bar is an interval, a diamond the share in the one best model. Bars that end before the dashed line are within what
# chance explains.

TITLE = "Breast cancer (Wisconsin)"
display = RelevanceDisplay.from_estimator(model)
display.ax_.set_title(TITLE)
drawing = options.out / "relevance.png"
display.figure_.savefig(drawing, dpi=150)

# %%
# What could stand in
# -------------------
#
# The most relevant of the redundant features is excluded: only those near-optimal models are looked at that do without
# it. Nothing is fitted again. What becomes needed, or is needed more than before, does its work.

redundant = result.names(RelevanceClass.WEAK)[0]
without = model.constrain({redundant: 0}).to_frame()
rises = without["minimum_delta"].sort_values(ascending=False)
rises = rises[rises > 1e-3]
if rises.empty:
    print(f"\nWithout {redundant} no other feature becomes indispensable: several together can take over.")
else:
    print(f"\nWithout {redundant} these are needed more: {', '.join(rises.index)}.")
print(model.substitutes(redundant, n_sets=1).summary())

# %%
# The report
# ----------
#
# All of this in one HTML file that loads nothing from elsewhere.

report = options.out / "report.html"
write_report(result, report, title=TITLE)
print(f"\nDrawing: {drawing}\nReport:  {report}")

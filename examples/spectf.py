"""Substitutes among images of the heart
=====================================

Which views of the heart tell a normal from an abnormal perfusion, and what can stand in for the most useful one?

SPECTF describes images of the heart of 267 patients by 44 numbers: 22 regions, each once at rest (R) and once under
stress (S), so that F13S is region 13 under stress. A cardiologist's finding is the target: 1 abnormal, 0 normal. One
feature is excluded, and what the remaining ones must then do shows what can take its place and at which price. The data
are of the UCI Machine Learning Repository.

Run it by::

    python examples/spectf.py --data ../shared/data

The data are not part of the library: the folder holds classification/spectf.csv, and may also be named by
ALLRELEVANT_DATA. The example takes a few seconds.
"""

# %%
# What to read.

# sphinx_gallery_thumbnail_path = 'recorded/spectf.png'
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pandas as pd

from allrelevant import LinearRelevanceClassifier, RelevanceClass
from allrelevant.errors import InfeasibleConstraint

HOME = Path(__file__).resolve().parents[1]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--data", type=Path, default=os.environ.get("ALLRELEVANT_DATA", HOME.parent / "shared" / "data"))
parser.add_argument("--feature", help="the feature to do without; the most relevant redundant one unless given")
options = parser.parse_args()
source = options.data / "classification" / "spectf.csv"
if not source.exists():
    print(f"skipped: there is no file {source}; name its folder by --data or ALLRELEVANT_DATA")
    sys.exit()

# %%
# All features in one fit.

table = pd.read_csv(source)
X, y = table.drop(columns="target"), table["target"]
model = LinearRelevanceClassifier(random_state=0).fit(X, y)
result = model.result_
print(result.summary())

redundant = result.names(RelevanceClass.WEAK)
feature = options.feature or next(iter(redundant), None)
if feature is None:
    print("\nNo feature is redundant, so there is nothing to replace.")
    sys.exit()
low, high = result.intervals[result.feature_names.index(feature)]
print(f"\n{feature} can carry from {low:.3f} to {high:.3f} of a good model's weight. Can the study do without it?")

# %%
# What if the feature is not measured? Only those near-optimal models are looked at that do without it; nothing is
# fitted again. The lower end of an interval can only rise: what rises has to do part of the work.

try:
    without = model.constrain({feature: 0.0})
except InfeasibleConstraint as error:
    print(f"\nIt cannot: {error}.")
    print(model.substitutes(feature).summary())
    sys.exit()
moved = without.to_frame()
moved = moved[moved["minimum_delta"] > 1e-4].sort_values("minimum_delta", ascending=False)
if moved.empty:
    print(f"\nWithout {feature} no other feature becomes indispensable: several together can take over.")
else:
    print(f"\nWithout {feature} these become indispensable; they must carry at least the share minRel of the weight:\n")
    print(moved[["minimum", "maximum"]].to_string(float_format="%.3f", header=["minRel", "maxRel"]))

# %%
# Sets of substitutes, and the price of doing without all of a set. The fit calls a model near-optimal if its loss and
# its norm are within 10 % of the best one (loss_slack and norm_slack), so every price is beyond 10 %. Each line is a
# condition of its own: of every set one feature has to stay.

substitutes = model.substitutes(feature)
print(f"\n{substitutes.summary()}")
if substitutes.sets:
    dearest = substitutes.sets[0]
    price = (
        f"has at least {1 + dearest.loss_growth:.2f} times the loss of the best one"
        if dearest.loss_growth < 1e3
        else "cannot come near the best one"
    )
    print(
        f"\nIn plain words: {feature} may be dropped, but then these have to be measured: "
        f"{'; '.join(' or '.join(one.features) for one in substitutes.sets)}. The loss is what a model pays for images "
        f"on the wrong side or too near the boundary. Without {' and '.join([feature, *dearest.features])} a linear "
        f"model of comparable size {price}; {1 + model.loss_slack:.2f} times would be acceptable."
    )

    # %%
    # The same question as a constraint: all of them excluded at once. The error says which exclusions do not go
    # together, and how much relevance each feature must have if the others are gone.

    try:
        model.constrain(dict.fromkeys([feature, *dearest.features], 0.0))
    except InfeasibleConstraint as error:
        print(f"\nExcluding {' and '.join([feature, *dearest.features])} together is refused:\n{error}.")

# %%
# How far this goes.

print(
    "\nThis is about linear models of these images. That a feature can replace another one means that both tell the "
    "finding about equally well here, not that one region of the heart acts on the other."
)

# %%
# What it printed
# ---------------
#
# The data are not at hand where this page is made, so the example is not run for it. This was recorded from a run:
#
# .. literalinclude:: /recorded/spectf.txt
#    :language: none
#
# What can replace each of the redundant features, drawn by :class:`~allrelevant.plotting.SubstitutionDisplay` from
# ``model``:
#
# .. image:: /recorded/spectf.png
#    :alt: A matrix of features that are left out and features that can replace them.
#    :width: 640px

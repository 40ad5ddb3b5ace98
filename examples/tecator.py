"""Wavelengths and the fat in meat
===============================

Which wavelengths say the same about the fat in meat, and how few are enough?

A Tecator analyser measured how much near-infrared light 215 samples of minced meat absorb, at 100 wavelengths from 850
to 1050 nm; the fat was found by chemistry. Neighbouring wavelengths say nearly the same, so that nearly all of them are
relevant and nearly none is needed. Groups show which wavelengths play the same part, and panels the smallest sets from
which a model as good as the best one can be made, within 10 %. The data were published by Tecator at StatLib.

Run it by::

    python examples/tecator.py --data ../shared/data

The data are not part of the library: the folder holds regression/tecator_fat.csv, and may also be named by
ALLRELEVANT_DATA. Only every 5th wavelength is used, and the example takes about 15 seconds. The number of linear
programs behind the groups grows with the square of the number of features, so --every 1, which uses all, takes far
longer.
"""

# %%
# What to read.

# sphinx_gallery_thumbnail_path = 'recorded/tecator.png'
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pandas as pd

from allrelevant import LinearRelevanceRegressor, RelevanceClass

HOME = Path(__file__).resolve().parents[1]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--data", type=Path, default=os.environ.get("ALLRELEVANT_DATA", HOME.parent / "shared" / "data"))
parser.add_argument("--every", type=int, default=5, metavar="N", help="use every Nth wavelength; 5 unless given")
options = parser.parse_args()
source = options.data / "regression" / "tecator_fat.csv"
if not source.exists():
    print(f"skipped: there is no file {source}; name its folder by --data or ALLRELEVANT_DATA")
    sys.exit()

# %%
# The wavelengths are named by their place: 100 of them, about 2 nm apart.

table = pd.read_csv(source)
spectra, fat = table.drop(columns="target"), table["target"]
spectra.columns = [f"{850 + 2 * k} nm" for k in range(spectra.shape[1])]
X = spectra.iloc[:, :: options.every]
print(f"{len(X)} samples, {X.shape[1]} of {spectra.shape[1]} wavelengths; fat from {fat.min()} to {fat.max()} %.")
alike = [X.iloc[:, k].corr(X.iloc[:, k + 1]) for k in range(X.shape[1] - 1)]
print(f"Neighbouring wavelengths are correlated by {min(alike):.4f} or more.\n")

model = LinearRelevanceRegressor(random_state=0).fit(X, fat)
result = model.result_
print(result.table(), result.summary(), sep="\n\n")

# %%
# Groups. Correlation cannot separate these wavelengths. What is compared instead is what happens to all others when one
# of them is held at the least and at the most relevance that it can have. The order of the wavelengths is not used.

groups = model.group_features()
print(f"\n{groups.summary()}")
names = list(X.columns)
larger = [group for group in groups.groups if len(group) > 1]
together = [group for group in larger if names.index(group[-1]) - names.index(group[0]) == len(group) - 1]
print(
    f"\n{len(together)} of {len(larger)} groups of more than one wavelength are neighbours without a gap, though the "
    "method does not know the order."
)

# %%
# Without one wavelength. The most relevant redundant one is excluded; what has to do more, and what can stand in for
# it? With all wavelengths (--every 1) the answer is right, too, but dozens of neighbours can replace each.

gone = result.names(RelevanceClass.WEAK)[0]
held = model.constrain({gone: 0.0})
rises = held.to_frame()["minimum_delta"].sort_values(ascending=False)
print(f"\nWithout {gone} these are needed more than before: {', '.join(rises[rises > 0.01].index) or 'none'}.")
print(model.substitutes(gone).summary())

# %%
# Panels. Every wavelength costs the same, so the cheapest panels are the smallest. The search is cut off after 15
# seconds; what is proven by then is said.

panels = model.panels(k=4, time_limit=15.0)
print(f"\nThe smallest panels:\n{panels.summary()}")
label = dict(zip(result.feature_names, groups.labels, strict=True))
used = [{label[name] for name in panel.features} for panel in panels]
if used:
    needed, touched = set.intersection(*used), set.union(*used)
    print(
        f"\n{len(panels[0].features)} wavelengths do instead of {X.shape[1]}. Of the {len(groups.groups)} groups "
        f"{len(needed)} are in all of these panels and {len(groups.groups) - len(touched)} in none."
    )
    if any(len(labels) < len(panel.features) for panel, labels in zip(panels, used, strict=True)):
        print(
            "Some panels take two wavelengths of one group: their difference, the slope of the spectrum, tells what "
            "neither tells alone."
        )

# %%
# How far this goes.

print(
    "\nWhich panel is found first among those of one size is arbitrary: choose among them by what an instrument can "
    "measure. That one wavelength can replace another is about near-optimal linear models of these samples."
)

# %%
# What it printed
# ---------------
#
# The data are not at hand where this page is made, so the example is not run for it. This was recorded from a run:
#
# .. literalinclude:: /recorded/tecator.txt
#    :language: none
#
# The groups, drawn by :class:`~allrelevant.plotting.GroupsDisplay` from ``groups``:
#
# .. image:: /recorded/tecator.png
#    :alt: A tree of wavelengths above their relevance intervals.
#    :width: 640px

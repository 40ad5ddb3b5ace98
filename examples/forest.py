"""Why parts break
===============

Which measurements tell whether a part breaks, if what matters depends on what it is made of?

The parts are made up, so that the answer is known: alloy A breaks under load, the other alloys in cold and in heat.
Some things are measured twice. A forest finds what matters and what could stand in for what; a linear model misses most
of it. Run it by::

    python examples/forest.py --out demo-output

It needs LightGBM: ``pip install 'allrelevant[forest]'``.
"""

# %%
# Where to write.

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from allrelevant import ForestRelevanceClassifier, LinearRelevanceClassifier, RelevanceClass
from allrelevant.plotting import RelevanceDisplay

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--out", type=Path, default=Path("demo-output"), metavar="DIR", help="folder for the drawing")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)

# %%
# The data
# --------
#
# A thousand parts. The load is measured by two sensors, one of which is a little off. The temperature is given in two
# units. The alloy is a category. Humidity, speed and age have nothing to do with breaking.

rng = np.random.default_rng(0)
n = 1000
load, temperature = rng.uniform(-1, 1, (2, n))
X = pd.DataFrame(
    {
        "load": 50 + 20 * load,
        "load (2nd sensor)": 50 + 20 * load + 0.6 * rng.standard_normal(n),
        "temperature (°C)": 20 + 30 * temperature,
        "temperature (°F)": 68 + 54 * temperature,
        "alloy": pd.Categorical(rng.choice(["A", "B", "C"], n)),
        "humidity": rng.standard_normal(n),
        "speed": rng.standard_normal(n),
        "age": rng.standard_normal(n),
    }
)
strain = np.where(X["alloy"] == "A", load, 2 * np.abs(temperature) - 1) + 0.1 * rng.standard_normal(n)
y = np.where(strain > 0.2, "broken", "whole")

# %%
# A linear model
# --------------
#
# Categories have to be numbers for it. It predicts badly, and what it says is about models that predict badly: that
# parts break under load. Cold and heat cancel each other, and no weighted sum can say that the alloy decides what
# matters. Of what it calls relevant, one in a hundred may be noise.

linear = LinearRelevanceClassifier(level=0.01, random_state=0).fit(X.assign(alloy=(X["alloy"] == "A").astype(float)), y)
print(linear.result_.table(), linear.result_.summary(), sep="\n\n")

# %%
# A forest
# --------
#
# It takes the category as it is. The alloy is strongly relevant, as nothing else tells it. Each sensor of the load can
# stand in for the other, up to its error. The two temperatures order the parts alike, so to a tree they are one
# feature; each of them shows the importance of both.

forest = ForestRelevanceClassifier(random_state=0).fit(X, y)
result = forest.result_
print(result.table(), result.summary(), sep="\n\n")

# %%
# How much of every relevant feature the other relevant ones tell, from 0 to 1:

told = pd.Series(forest.replaceable_, index=X.columns).dropna()
print("\n" + told.round(2).to_string())

# %%
# The drawing
# -----------
#
# A bar is the spread of a feature's share of importance over the forests, not a bound: nothing is proven here. The
# dashed line is the share that permuted features reach.

display = RelevanceDisplay.from_estimator(forest)
display.ax_.set_title("Why parts break")
drawing = options.out / "forest.png"
display.figure_.savefig(drawing, dpi=150)
print(f"\nDrawing: {drawing}")

# %%
# What both say
# -------------

for name, found in (("linear model", linear.result_), ("forest", result)):
    relevant = sorted(found.names(RelevanceClass.STRONG) + found.names(RelevanceClass.WEAK))
    score = f"{found.scores['metric']} {found.scores['cross_validated']:.2f}"
    print(f"Relevant to the {name} ({score}): {', '.join(relevant)}.")

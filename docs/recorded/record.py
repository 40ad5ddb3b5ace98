"""Run the examples that need data, and keep what they print and draw for the tutorials.

    python docs/recorded/record.py [NAME ...]

The data are looked for where the examples look for them (ALLRELEVANT_DATA). Text is kept as it was printed, but for the
folder of the run in the names of files.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

from allrelevant.plotting import GroupsDisplay, PanelsDisplay, RelevanceDisplay, SubstitutionDisplay

FOLDER = Path(__file__).resolve().parent
EXAMPLES = FOLDER.parents[1] / "examples"
#: The drawing of each example, from the variables that it leaves.
DRAWINGS = {
    "compas": lambda v: RelevanceDisplay.from_result(v["results"]["with"]),
    "gene_expression": lambda v: RelevanceDisplay.from_result(v["result"], max_features=25),
    "heart_disease": lambda v: PanelsDisplay.from_panels(v["panels"]),
    "spectf": lambda v: SubstitutionDisplay.from_estimator(v["model"]),
    "tecator": lambda v: GroupsDisplay.from_groups(v["groups"]),
}


def run(name: str) -> tuple[str, dict[str, Any]]:
    """Run an example in a folder of its own; return what it printed, and its variables."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        sys.argv = [f"{name}.py"]
        variables = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return printed.getvalue().replace(os.path.realpath(folder) + os.sep, ""), variables


def main(names: list[str]) -> None:
    """Record the examples named, or all."""
    mpl.use("agg")
    for name in names or DRAWINGS:
        text, variables = run(name)
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        display = DRAWINGS[name](variables)
        display.figure_.savefig(FOLDER / f"{name}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1:])

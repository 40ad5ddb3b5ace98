"""Builds a wheel, looks into it, installs it into an empty environment without extras, and fits there.

    python tools/wheel_check.py

Needs pip and an index of packages; nothing outside a temporary folder changes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Files that are no modules; without them something fails only later.
WANTED = (
    "allrelevant/py.typed",
    "allrelevant/report/templates/report.html.j2",
    "allrelevant/report/templates/report.css",
    "allrelevant/report/templates/report.js",
    "allrelevant/explore/assets/explorer.css",
    "allrelevant/explore/assets/explorer.js",
)
#: What is run in the empty environment. Every extra must be missed by its name, when it is needed and not before.
CODE = """
import importlib.util, warnings
warnings.simplefilter("error")
import allrelevant
from allrelevant import LinearRelevanceClassifier, RelevanceResult
from allrelevant.datasets import make_relevance_classification
from allrelevant.errors import MissingExtra

for package in ("pandas", "matplotlib", "jinja2", "plotly", "dash", "typer", "lightgbm", "torch", "distributed"):
    assert importlib.util.find_spec(package) is None, f"{package} is here without an extra"
X, y, truth = make_relevance_classification(100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0)
model = LinearRelevanceClassifier(random_state=0).fit(X, y)
result = model.result_
assert (result.classes == truth).all(), result.table()
assert RelevanceResult.from_json(result.to_json()) == result
assert result._repr_html_() and model.substitutes("x1").summary()

def report():
    from allrelevant.report import render_report
    render_report(result)

def draw():
    from allrelevant.plotting import RelevanceDisplay
    RelevanceDisplay.from_estimator(model)

def explore():
    from allrelevant.explore import Explorer
    Explorer(model)

def forest():
    allrelevant.ForestRelevanceClassifier().fit(X, y)

def torch():
    LinearRelevanceClassifier(engine="interior", device="cuda").fit(X, y)

def command():
    from allrelevant.cli import main
    raise SystemExit(main(["--version"]))

asked = {"pandas": result.to_frame, "plot": draw, "report": report, "explore": explore, "forest": forest, "gpu": torch,
         "cli": command}
for extra, ask in asked.items():
    try:
        ask()
    except MissingExtra as error:
        assert f"allrelevant[{error.extra}]" in str(error)
        assert error.extra == extra or (extra, error.extra) == ("report", "plot"), (extra, error.extra)
    except SystemExit as ending:
        assert extra == "cli" and ending.code, ending.code
    else:
        raise AssertionError(f"the extra {extra} was not missed")
print("fitted with", allrelevant.__version__)
"""


def run(*command: str | Path, **options: object) -> str:
    """Run a command, and return what it prints; if it fails, show that and stop."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(str(part) for part in command)} failed:\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def main() -> None:
    """Do all of it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT)
        (wheel,) = folder.glob("allrelevant-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            held = archive.namelist()
        missing = sorted(set(WANTED) - set(held))
        modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
        missing += sorted(modules - set(held))
        strange = [one for one in held if not one.startswith(("allrelevant/", "allrelevant-")) or "__pycache__" in one]
        if missing or strange or not any(one.endswith("/licenses/LICENSE") for one in held):
            sys.exit(f"{wheel.name}: missing {missing}, not meant to be there {strange}, or no licence")
        print(f"{wheel.name}: {len(held)} files, {wheel.stat().st_size / 1000:.0f} kB")
        run(sys.executable, "-m", "venv", folder / "venv")
        python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        run(python, "-m", "pip", "install", "-q", wheel)
        quiet = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        print(run(python, "-c", CODE, cwd=folder, env=quiet).strip(), f"in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()

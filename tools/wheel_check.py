"""Builds an sdist and from it a wheel, looks into both, installs the wheel in an empty environment, and tests it there.

    python tools/wheel_check.py

What is committed is what counts: an sdist has nothing else. First comes a fit without extras, then the tests that are
run for the wheels of every platform, with what they need (``tool.cibuildwheel`` in pyproject.toml); both outside this
tree. Needs pip, git and an index of packages; nothing outside a temporary folder changes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
#: Files that are no modules; without them something fails only later.
WANTED = (
    "allrelevant/py.typed",
    "allrelevant/report/templates/report.html.j2",
    "allrelevant/report/templates/report.css",
    "allrelevant/report/templates/report.js",
    "allrelevant/explore/assets/explorer.css",
    "allrelevant/explore/assets/explorer.js",
)
#: What a wheel must not have: what is compiled, and what lies between that and the module.
SOURCES = (".pyx", ".pxd", ".c", ".h", ".o", ".build")
#: What is run in the empty environment. Every extra must be missed by its name, when it is needed and not before.
CODE = """
import importlib, importlib.util, sys, warnings
from pathlib import Path
warnings.simplefilter("error")
import allrelevant
from allrelevant import LinearRelevanceClassifier, RelevanceResult
from allrelevant.datasets import make_relevance_classification
from allrelevant.errors import MissingExtra

for module in sys.argv[1:]:
    place = Path(importlib.import_module(module).__file__)
    assert place.is_relative_to(sys.prefix) and place.suffix in {".so", ".pyd"}, place
for package in ("pandas", "matplotlib", "jinja2", "plotly", "dash", "typer", "lightgbm", "distributed"):
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

def command():
    from allrelevant.cli import main
    raise SystemExit(main(["--version"]))

asked = {"pandas": result.to_frame, "plot": draw, "report": report, "explore": explore, "forest": forest,
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


def environment(folder: Path, *packages: str | Path) -> Path:
    """Make an environment with packages, and return its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "-q", *packages)
    return python


def below_src(*endings: str) -> set[str]:
    """Return the files of this tree with these endings, by their place in a wheel."""
    return {path.relative_to(SRC).as_posix() for path in SRC.rglob("*") if path.name.endswith(endings)}


def look_into_sdist(sdist: Path) -> None:
    """See that an sdist has what the wheel is built from."""
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {f"src/{name}" for name in below_src(".py", ".pyi", ".pyx", ".pxd")}
    wanted |= {"LICENSE", "README.md", "meson.build", "src/meson.build", "tools/build_backend.py", "tools/sources.py"}
    compiled = sorted(name for name in held if name.endswith((".so", ".pyd")))
    if wanted - held or compiled:
        sys.exit(f"{sdist.name}: missing {sorted(wanted - held)} (is it committed?), not meant to be there {compiled}")
    print(f"{sdist.name}: {len(held)} files, {sdist.stat().st_size / 1000:.0f} kB")


def look_into_wheel(wheel: Path) -> None:
    """See that a wheel has all files of the package, compiled or as they are, and nothing else, for all Pythons."""
    with zipfile.ZipFile(wheel) as archive:
        held = archive.namelist()
    missing = sorted((set(WANTED) | below_src(".py", ".pyi")) - set(held))
    compiled = [name.removesuffix(".pyx") for name in below_src(".pyx")]
    missing += [one for one in compiled if not any(name.startswith(f"{one}.") for name in held)]
    strange = [one for one in held if not one.startswith(("allrelevant/", "allrelevant-")) or "__pycache__" in one]
    strange += [one for one in held if one.endswith(SOURCES)]
    if missing or strange or not any(one.endswith("/licenses/LICENSE") for one in held):
        sys.exit(f"{wheel.name}: missing {missing}, not meant to be there {strange}, or no licence")
    tag = f"-cp3{sys.version_info.minor}-abi3-"  # the tag follows the Python that builds
    if tag not in wheel.name:
        sys.exit(f"{wheel.name} is not {tag}: it must serve this Python and all later ones")
    print(f"{wheel.name}: {len(held)} files, {wheel.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Do all of it."""
    began = time.monotonic()
    quiet = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    tests = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        builder = environment(folder / "builder", "build")
        run(builder, "-m", "build", "--outdir", folder, ROOT)
        (sdist,) = folder.glob("allrelevant-*.tar.gz")
        (wheel,) = folder.glob("allrelevant-*.whl")
        look_into_sdist(sdist)
        look_into_wheel(wheel)
        python = environment(folder / "venv", wheel)
        compiled = [one.removesuffix(".pyx").replace("/", ".") for one in below_src(".pyx")]
        print(run(python, "-c", CODE, *compiled, cwd=folder, env=quiet).strip(), f"in {time.monotonic() - began:.0f} s")
        run(python, "-m", "pip", "install", "-q", *tests["test-requires"])
        outside = folder / "outside"
        outside.mkdir()
        for one in tests["test-sources"]:
            copy = shutil.copytree if (ROOT / one).is_dir() else shutil.copy
            copy(ROOT / one, outside / one)
        _, *arguments = shlex.split(tests["test-command"])  # python ...
        print(run(python, *arguments, cwd=outside, env=quiet).strip().splitlines()[-1])


if __name__ == "__main__":
    main()

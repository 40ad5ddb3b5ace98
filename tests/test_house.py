"""The house rules that a machine can check."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import allrelevant

ROOT = Path(allrelevant.__file__).parent
#: What each part may import from within the library.
ALLOWED = {
    "errors": set(),
    "_progress": set(),
    "_json": set(),
    "_reading": set(),
    "_stored": {"_reading"},
    "_threads": set(),
    "_words": set(),
    "inference": set(),
    "result": {"errors", "inference", "_json", "_notebook", "_reading", "_stored", "_summary", "_words"},
    "_summary": {"result", "_words"},
    "_notebook": {"result", "_summary"},
    "redundancy": {"errors", "result"},
    "lp": {"errors"},
    "formulations": {"lp"},
    "relevance": {"formulations", "inference", "lp", "_progress", "_threads", "errors"},
    "forest": {"inference", "_progress", "errors"},
    "estimators": {
        "inference",
        "relevance",
        "formulations",
        "lp",
        "forest",
        "_progress",
        "_threads",
        "errors",
        "result",
        "redundancy",
        "",
    },
    "findings": {"redundancy", "result", "errors", "_json", "_reading"},
    "plotting": {"result", "redundancy", "errors", "_summary", "_words"},
    "report": {"findings", "redundancy", "result", "errors", "plotting", "_summary", "_words"},
    "datasets": {"result"},
    "cli": {
        "estimators",
        "explore",
        "report",
        "findings",
        "plotting",
        "redundancy",
        "result",
        "datasets",
        "errors",
        "_progress",
        "_summary",
        "",
    },
    "explore": {
        "estimators",
        "report",
        "findings",
        "plotting",
        "redundancy",
        "result",
        "errors",
        "_summary",
        "_words",
        "",
    },
    "__main__": {"cli"},
}
#: scikit-learn itself loads pandas and rich where they are installed.
EXTRAS = {"lightgbm", "matplotlib", "jinja2", "distributed", "plotly", "dash", "typer"}


def imports(path, *, top_level):
    """Modules imported by a file, at its top level or anywhere; those under TYPE_CHECKING do not count."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def part_of(module):
    return module.removeprefix("allrelevant").lstrip(".").split(".")[0]


@pytest.mark.parametrize("part", ALLOWED)
def test_dependencies_point_one_way(part):
    files = [ROOT / f"{part}.py"] if (ROOT / f"{part}.py").exists() else list((ROOT / part).rglob("*.py"))
    assert files
    for path in files:
        used = {part_of(name) for name in imports(path, top_level=False) if name.startswith("allrelevant")}
        assert used <= ALLOWED[part] | {part}, f"{path.name} imports {sorted(used - ALLOWED[part] - {part})}"


def test_every_part_is_accounted_for():
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__"} == set(ALLOWED)


def test_the_kernel_and_its_proofs_need_neither_highs_nor_scikit_learn():
    for name in ("kernel", "program", "matrix", "view", "copies", "deadline", "certificate"):
        used = {module.split(".")[0] for module in imports(ROOT / "lp" / f"{name}.py", top_level=False)}
        assert used - set(sys.stdlib_module_names) <= {"numpy", "scipy", "allrelevant"}


def test_importing_loads_no_extra_and_changes_nothing():
    code = (
        "import sys, warnings, logging; import numpy as np\n"
        "before = (warnings.filters[:], logging.root.level, np.random.get_state()[1].tolist())\n"
        "import allrelevant, allrelevant.plotting, allrelevant.report, allrelevant.datasets\n"
        "assert logging.root.level == before[1] and np.random.get_state()[1].tolist() == before[2]\n"
        f"print(sorted({EXTRAS!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("asked", ["import allrelevant", "from allrelevant.cli import main; main(['--help'])"])
def test_what_is_compiled_is_loaded_by_fits_only(asked):
    code = f"import sys\ntry: {asked}\nexcept SystemExit: pass\nprint('allrelevant.lp._kernel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"


@pytest.mark.parametrize("name", allrelevant.__all__)
def test_public_names_are_there_and_documented(name):
    value = getattr(allrelevant, name)
    assert isinstance(value, str) or value.__doc__


def test_the_page_of_faults_names_tests_that_exist():
    tests = Path(__file__).parent
    page, named, file = (tests.parent / "docs" / "trust.md").read_text(), 0, ""
    for path, name in re.findall(r"`([\w/]+\.py)?(?:::(\w+))?`", page):
        file = path or file
        if path or name:
            named += 1
            assert not name or f"def {name}(" in (tests / file).read_text(), f"docs/trust.md: {file}::{name}"
    assert named > 40

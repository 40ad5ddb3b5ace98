"""The examples run as a user runs them."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ALLRELEVANT_DATA", ROOT.parent / "shared" / "data"))
PNG = b"\x89PNG"


def run_example(name, *arguments):
    """Run an example in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name, *map(str, arguments)],
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_breast_cancer(tmp_path):
    pytest.importorskip("jinja2")
    printed = run_example("breast_cancer.py", "--out", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["relevance.png", "report.html"]
    assert (tmp_path / "relevance.png").read_bytes().startswith(PNG)
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    header, *lines = printed.split("\n\n")[0].splitlines()
    assert header.split() == ["feature", "class", "minRel", "maxRel", "adj.", "p"]
    assert len(lines) == 30
    assert "30 features and 569 samples were examined" in printed


def test_forest(tmp_path):
    pytest.importorskip("lightgbm")
    printed = run_example("forest.py", "--out", tmp_path)
    assert (tmp_path / "forest.png").read_bytes().startswith(PNG)
    linear, forest = printed.splitlines()[-2:]
    assert linear.startswith("Relevant to the linear model")
    assert "temperature" not in linear
    assert forest.endswith("alloy, load, load (2nd sensor), temperature (°C), temperature (°F).")
    assert "order the samples alike" in printed


@pytest.mark.skipif(
    not (DATA / "fairness" / "compas.csv").exists(),
    reason=f"no fairness/compas.csv in {DATA}; name the folder by ALLRELEVANT_DATA",
)
def test_compas(tmp_path):
    printed = run_example("compas.py", "--data", DATA, "--out", tmp_path, "--rows", 300)
    names = ["compas_with_ethnicity.png", "compas_without_ethnicity.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert all((tmp_path / name).read_bytes().startswith(PNG) for name in names)
    assert printed.startswith("300 of 7214 defendants")
    assert printed.count("minRel  maxRel   adj. p") == 2
    assert "Without ethnicity the model tells" in printed


EXPLORING = {
    "spectf.py": (
        "classification/spectf.csv",
        ["44 features and 267 samples", "indispensable", "can replace", "exclude each other", "In plain words"],
    ),
    "heart_disease.py": (
        "classification/heart_cleveland.csv",
        [
            "297 of 303 patients",
            "There are no other panels.",
            "Part of every panel: exercise ECG, fluoroscopy.",
            "Without fluoroscopy: not possible.",
            "can be spared one at a time, but not together",
        ],
    ),
    "gene_expression.py": (
        "classification/colon_alon.csv",
        [
            "62 samples (40 tumour, 22 normal), 50 of 2000 genes",
            "The best model uses",
            "Relevant in all of 2 bootstraps",
        ],
    ),
    "tecator.py": (
        "regression/tecator_fat.csv",
        ["10 of 100 wavelengths", "play the same part", "neighbours without a gap", "wavelengths do instead of 10"],
    ),
}
#: Options with which they take less time.
FEWER = {"gene_expression.py": ["--genes", 50, "--bootstraps", 2], "tecator.py": ["--every", 10]}


@pytest.mark.parametrize("name", EXPLORING)
def test_exploring(name):
    file, sentences = EXPLORING[name]
    if not (DATA / file).exists():
        pytest.skip(f"no {file} in {DATA}; name the folder by ALLRELEVANT_DATA")
    printed = run_example(name, "--data", DATA, *FEWER.get(name, []))
    assert [sentence for sentence in sentences if sentence not in printed] == []


@pytest.fixture
def without_data(tmp_path, monkeypatch, capsys):
    """Function that runs an example where its data are not, and returns what it prints.

    It ends before it does anything that would be seen in this process.
    """

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, "--data", str(tmp_path / "absent"), *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        assert not end.value.code
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("name", EXPLORING)
def test_exploring_without_data(name, without_data):
    assert without_data(name).startswith("skipped: ")


def test_compas_without_data(tmp_path, without_data):
    assert without_data("compas.py", "--out", tmp_path / "out").startswith("skipped: ")
    assert not (tmp_path / "out").exists()

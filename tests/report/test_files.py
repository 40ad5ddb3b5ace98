"""Files are written whole or not at all: a process that dies, or a disk that is full, leaves the old one as it was."""

from __future__ import annotations

import ast
import os
import signal
import sys
from pathlib import Path

import pytest

import allrelevant
import full_disk
from allrelevant.report._files import write_whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of the size of a file need POSIX")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A result in a file, and a table to fit."""
    from allrelevant import LinearRelevanceClassifier
    from allrelevant.datasets import make_relevance_classification

    folder = tmp_path_factory.mktemp("stored")
    X, y, _ = make_relevance_classification(80, n_strong=1, n_weak=2, n_irrelevant=20, random_state=0)
    result = LinearRelevanceClassifier(C=1.0, n_copies=1, random_state=0).fit(X, y).result_
    (folder / "result.json").write_text(result.to_json())
    rows = [",".join([*(f"{value:.3f}" for value in row), str(label)]) for row, label in zip(X, y, strict=True)]
    header = ",".join([*(f"x{k}" for k in range(X.shape[1])), "y"])
    (folder / "table.csv").write_text("\n".join([header, *rows]))
    return folder


@pytest.mark.parametrize("ends", ["killed", "full"])
@pytest.mark.parametrize("what", ["html", "csv", "md", "generate", "report"])
def test_the_old_file_is_as_it_was(what, ends, stored, tmp_path):
    path = tmp_path / f"old.{what}"
    path.write_text("the old one")
    code, said = full_disk.run(what, path, 500, ends, stored / "result.json")
    assert path.read_text() == "the old one"
    left = [name for name in os.listdir(tmp_path) if name != path.name]
    if ends == "killed":
        assert code == -signal.SIGXFSZ
        (unfinished,) = left
        assert (tmp_path / unfinished).stat().st_size == 500  # it did happen in the middle
    else:
        assert code > 0
        assert "File too large" in said
        assert left == []


def test_a_fit_that_cannot_write_all_its_files_keeps_the_old_ones(stored, tmp_path):
    names = ["result.json", "report.html", "relevance.csv", "relevance.md"]
    for name in names:
        (tmp_path / name).write_text("the old one")
    code, said = full_disk.run("fit", tmp_path, 2000, "full", stored / "table.csv")
    assert code == 2
    assert "File too large" in said
    assert "Traceback" not in said
    assert sorted(os.listdir(tmp_path)) == sorted(names)
    assert {(tmp_path / name).read_text() for name in names} == {"the old one"}
    # What was found comes before what is made from it.
    code, _ = full_disk.run("fit", tmp_path, 100_000, "full", stored / "table.csv")
    assert code == 2
    assert (tmp_path / "result.json").read_text() != "the old one"
    assert (tmp_path / "report.html").read_text() == "the old one"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("the old one")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            write_whole(path, lambda: "new", "new.txt")
    finally:
        tmp_path.chmod(0o700)
    assert path.read_text() == "the old one"


def test_bytes_are_written_as_they_are(tmp_path):
    assert write_whole(tmp_path / "a" / "b.bin", lambda: b"\x00\xff", "b.bin").read_bytes() == b"\x00\xff"


def test_nobody_writes_files_in_another_way():
    """Only one function of the package opens files for writing."""
    writers = {"write_text", "write_bytes", "to_csv", "to_parquet", "savefig", "dump"}
    found = set()
    for path in Path(allrelevant.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            given = [
                one.value
                for one in (*node.args, *(key.value for key in node.keywords))
                if isinstance(one, ast.Constant)
            ]
            modes = [
                one for one in given if isinstance(one, str) and set(one) <= set("rwxab+t") and set(one) & set("wxa")
            ]
            if (name == "open" and modes) or (name in writers and node.args):
                found.add((path.name, name))
    # Drawings are written to memory first.
    assert {one for one in found if one[1] != "savefig"} == {("_files.py", "open")}
    assert {name for name, call in found if call == "savefig"} <= {"_drawings.py", "_svg.py", "_app.py"}

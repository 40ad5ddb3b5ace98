from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import allrelevant
from allrelevant import LinearRelevanceClassifier, RelevanceResult
from allrelevant.cli import _app, _fit
from allrelevant.cli._prepare import Wishes, prepare
from allrelevant.cli._read import read_table
from allrelevant.errors import SolverError
from allrelevant.findings import Findings
from allrelevant.lp import deadline

DATA = Path(os.environ.get("ALLRELEVANT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def test_fit_prints_a_table_and_writes_files(call, small_csv, tmp_path):
    out = tmp_path / "new" / "results"
    code, shown, aside = call("fit", small_csv, "--target", "y", "--jobs", 1, "--out", out)
    assert code == 0
    for words in ("feature", "strong", "weak", "irrelevant", "minRel", "b and c play the same part", "report.html"):
        assert words in shown
    assert "classification" in aside
    assert sorted(path.name for path in out.iterdir()) == [
        "relevance.csv",
        "relevance.md",
        "report.html",
        "result.json",
    ]
    findings = Findings.from_json((out / "result.json").read_text())
    assert findings.result.names(2) == ["a"]
    assert {one.feature for one in findings.substitutes} == {"b", "c"}
    assert findings.groups is not None
    assert findings.panels is None
    assert findings.data["file"] == "small.csv"
    assert findings.data["rows"] == "150"
    assert len(findings.data["SHA-256"]) == 64
    assert "small.csv: relevance for y" in (out / "report.html").read_text()


def test_json_is_all_of_standard_output(call, small_csv, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("feature,cost\na,1\nb,5\n")
    code, shown, aside = call("fit", small_csv, "-t", "y", "--json", "--costs", costs, "--out", tmp_path / "out")
    assert code == 0
    findings = Findings.from_json(shown)
    assert findings.panels[0].features == ("a", "c")
    assert "taken as 1: c and noise" in aside
    assert "Written" in aside
    code, _, aside = call("fit", small_csv, "-t", "y", "--json", "--quiet")
    assert (code, aside) == (0, "")


def test_fit_agrees_with_the_library(call, small, small_csv):
    _, shown, _ = call("fit", small_csv, "-t", "y", "--json", "--seed", 3, "--jobs", 1)
    model = LinearRelevanceClassifier(n_jobs=1, random_state=3).fit(small.drop(columns="y"), small["y"].astype(str))
    np.testing.assert_array_equal(Findings.from_json(shown).result.intervals, model.intervals_)


def test_panels(call, small_csv, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("Feature;Cost\na;1,5\nb;2,5\nc;9\n")
    common = ("panels", small_csv, "--target", "y", "--costs", costs)
    code, shown, _ = call(*common, "-k", 2)
    assert code == 0
    assert "a, b" in shown
    code, shown, _ = call(*common, "--exclude", "b", "--include", "a", "--max-size", 3, "--json")
    assert code == 0
    first = json.loads(shown)["panels"][0]
    assert (first["features"], first["cost"]) == (["a", "c"], 10.5)
    code, _, aside = call(*common, "--exclude", "bb")
    assert code == 2
    assert "--exclude: there is no feature 'bb'" in aside
    assert call(*common, "-k", 0)[0] == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("name,price\na,1\n", "no column 'feature'"),
        ("feature,price\na,1\n", "no column 'cost'"),
        ("feature,cost\na,cheap\n", "at least 0, not 'cheap'"),
        ("feature,cost\na,-1\n", "at least 0"),
        ("feature,cost\na,\n", "at least 0"),
        ("feature,cost\na,1\na,2\n", "more than once"),
        ("feature,cost\nnoisy,1\n", "did you mean 'noise'"),
        ("", "is empty"),
    ],
)
def test_costs_that_cannot_be_used(call, small_csv, tmp_path, content, sentence):
    costs = tmp_path / "costs.csv"
    costs.write_text(content)
    code, shown, aside = call("fit", small_csv, "--target", "y", "--costs", costs)
    assert (code, shown) == (2, "")
    assert sentence in aside


def test_report_of_findings_and_of_a_bare_result(call, small, tmp_path):
    result = (
        LinearRelevanceClassifier(C=1.0, random_state=0).fit(small.drop(columns="y"), small["y"].astype(str)).result_
    )
    for number, text in enumerate((result.to_json(), Findings(result).to_json())):
        (tmp_path / "result.json").write_text(text)
        page = tmp_path / f"page{number}.html"
        code, shown, _ = call("report", tmp_path / "result.json", "--out", page)
        assert code == 0
        assert str(page) in shown
        assert page.read_text().startswith("<!doctype html>")


def test_report_of_something_else(call, tmp_path):
    (tmp_path / "other.json").write_text("[1, 2]")
    for name, sentence in (("other.json", "no result of allrelevant fit"), ("none.json", "no file"), ("", "a folder")):
        code, _, aside = call("report", tmp_path / name, "--out", tmp_path / "report.html")
        assert code == 2
        assert sentence in aside


def test_generate_and_fit(call, tmp_path):
    data = tmp_path / "data.csv"
    code, shown, _ = call("generate", "simulation", "--name", "sim2", "--samples", 80, "--out", data)
    assert code == 0
    assert str(data) in shown
    truth = pd.read_csv(tmp_path / "data.truth.csv")
    assert truth["relevance"].value_counts().to_dict() == {"strong": 12, "irrelevant": 10, "weak": 8}
    assert pd.read_csv(data).shape == (80, 31)
    sizes = ("--samples", 60, "--strong", 1, "--weak", 2, "--irrelevant", 1, "--out", data)
    for what, more in (("classification", ()), ("regression", ()), ("ordinal", ("--problem", "ordinal"))):
        assert call("generate", what, *sizes)[0] == 0
        code, shown, _ = call("fit", data, "--target", "target", *more, "--json", "--quiet")
        assert code == 0
        assert Findings.from_json(shown).result.problem.startswith(what)


def test_generate_says_what_is_wrong(call, tmp_path):
    out = ("--out", tmp_path / "data.csv")
    for arguments, sentence in (
        (("simulation", "--name", "sim99", *out), "no simulation 'sim99'"),
        (("regression", "--name", "sim1", *out), "--name is for"),
        (("simulation", "--strong", 3, *out), "fixed number"),
        (("classification", "--weak", 1, *out), "n_weak=1"),
        (("classification", "--out", tmp_path), "is a folder"),
    ):
        code, _, aside = call("generate", *arguments)
        assert code == 2
        assert sentence in aside


def test_demo(call, tmp_path):
    code, shown, _ = call("demo", "--out", tmp_path, "--jobs", 1)
    assert code == 0
    assert "worst texture" in shown
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "relevance.png").exists()


def messy(tmp_path):
    """A table with all that preparation can meet."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame({"größe": rng.normal(size=60).round(3), "alter": rng.randint(20, 80, size=60)})
    frame["stadt"] = rng.choice(["Köln", "Bonn", "Essen"], size=60)
    frame["raucht"] = rng.choice(["ja", "nein"], size=60)
    frame["w"] = rng.randint(1, 3, size=60)
    frame["nachher"] = rng.normal(size=60).round(3)
    frame["id"] = rng.permutation(60) + 100
    frame["kind"] = np.arange(60) // 3
    frame["ort"] = np.where(frame["kind"] < 9, "hier", "dort")
    frame["ziel"] = np.where(frame["größe"] + (frame["raucht"] == "ja") > 0.3, "krank", "gesund")
    frame.loc[[1, 5], "alter"] = np.nan
    frame.loc[[2], "stadt"] = np.nan
    frame.loc[[3], "ziel"] = np.nan
    path = tmp_path / "messy.csv"
    frame.to_csv(path, sep=";", decimal=",", index=False, encoding="cp1252")
    return path


@pytest.mark.parametrize("parquet", [False, True])
def test_explore_hands_over_code_that_makes_the_same_model(call, tmp_path, monkeypatch, parquet):
    explore = pytest.importorskip("allrelevant.explore")
    given = {}
    monkeypatch.setattr(explore, "run", lambda model, **options: given.update(options, model=model))
    path = messy(tmp_path)
    if parquet:
        pytest.importorskip("pyarrow")
        read_table(path).frame.to_parquet(path := tmp_path / "messy.parquet")
    options = ("--impute", "median", "--privileged", "nachher", "--sample-weight", "w", "--jobs", 1, "--seed", 2,
               "--groups", "kind", "--strata", "ort")  # fmt: skip
    code, _, aside = call("explore", path, "--target", "ziel", *options, "--port", 8123, "--no-browser")
    assert code == 0, aside
    assert given["port"] == 8123
    assert given["open_browser"] is False
    assert given["title"] == f"{path.name}: relevance for ziel"
    assert given["model"].result_.feature_names[-2:] == ("raucht", "stadt")
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(given["source"], names)
    again, first = json.loads(names["model"].result_.to_json()), json.loads(given["model"].result_.to_json())
    for content in (again, first):
        content.pop("cpu_seconds")
        content["privileged"].pop("cpu_seconds")
    assert again == first


@pytest.mark.parametrize("method", ["linear", "forest"])
def test_groups_reach_fit_and_the_files(call, small, tmp_path, monkeypatch, method):
    seen = []
    for name in ("LinearRelevanceClassifier", "ForestRelevanceClassifier"):
        kind = getattr(allrelevant, name)

        def keep(self, X, y, original=kind.fit, **given):
            seen.append((list(X.columns), given))
            return original(self, X, y, **given)

        monkeypatch.setattr(kind, "fit", keep)
    small["subject"] = [f"s{k // 5}" for k in range(150)]
    small["site"] = np.arange(150) // 50
    path = tmp_path / "small.csv"
    small.to_csv(path, index=False)
    options = ("--groups", "subject", "--strata", "site", "--method", method, "--out", tmp_path / "out")
    code, _, aside = call("fit", path, "--target", "y", *options)
    assert code == 0, aside
    ((columns, given),) = seen
    assert columns == ["a", "b", "c", "noise"]
    assert given["groups"].tolist() == small["subject"].tolist()
    assert given["strata"].tolist() == small["site"].tolist()
    assert "30 groups by subject, with 5 rows each" in aside.replace("\n", " ")
    found = Findings.from_json((tmp_path / "out" / "result.json").read_text())
    assert found.data["groups of rows"] == "subject (30)"
    assert found.data["strata"] == "site (3)"
    assert "subject (30)" in (tmp_path / "out" / "report.html").read_text()
    assert "groups of rows | subject (30)" in (tmp_path / "out" / "relevance.md").read_text()


def test_code_of_ordered_classes(small, tmp_path):
    small["y"] = np.digitize(small["a"] + small["b"], [-0.5, 0.5])
    small.to_csv(tmp_path / "small.csv", index=False)
    table = read_table(tmp_path / "small.csv")
    job = prepare(table, Wishes("y", order=["2", "1", "0"], categories=[]), [])
    model = _fit.fit(job, seed=0, jobs=1)
    names = {}
    exec(_fit.source(table, job, seed=0, jobs=1), names)
    np.testing.assert_array_equal(names["model"].intervals_, model.intervals_)
    assert names["model"].classes_.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("fit", "huge_2GB.csv", "--target", "y"), "There is no file huge_2GB.csv"),
        (("fit", ".", "--target", "y"), "is a folder"),
        (("fit", "small.csv", "--target", "z"), "there is no column 'z'"),
        (("fit", "small.csv", "--target", "y", "--out", "small.csv"), "cannot be a folder"),
        (("fit", "small.csv", "--target", "y", "--out", "/proc/results"), "cannot be written to"),
        (("fit", "small.csv"), "--target"),
        (("fit", "small.csv", "--target", "y", "--problem", "guess"), "guess"),
        (("fit", "small.csv", "--target", "y", "--time-limit", "0"), "seconds above 0"),
        (("fit", "small.csv", "--target", "y", "--time-limit", "9", "--method", "forest"), "for --method linear"),
        (("fti", "small.csv"), "fti"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(call, small_csv, monkeypatch, arguments, sentence):
    monkeypatch.chdir(small_csv.parent)
    code, shown, aside = call(*arguments)
    assert (code, shown) == (2, "")
    assert sentence in aside
    assert "Traceback" not in aside


def test_other_endings(call, small_csv, monkeypatch):
    for error, code, sentence in (
        (KeyboardInterrupt(), 130, "Interrupted"),
        (SolverError("the engine gave up"), 1, "the engine gave up"),
        (MemoryError(), 1, "memory"),
        (RuntimeError("a bug"), 1, "Something unexpected"),
        (OSError(28, "No space left on device", "result.json"), 2, "No space left on device"),
    ):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(_app, "fit", fail)
        monkeypatch.delenv("ALLRELEVANT_DEBUG", raising=False)
        found, _, aside = call("fit", small_csv, "--target", "y")
        assert found == code
        assert sentence in aside
        assert "Traceback" not in aside
        monkeypatch.setenv("ALLRELEVANT_DEBUG", "1")
        assert "Traceback" in call("fit", small_csv, "--target", "y")[2]


def test_extras_that_fail_leave_the_rest(call, small_csv, monkeypatch):
    def fail(*_, **__):
        raise SolverError("no answer")

    monkeypatch.setattr(LinearRelevanceClassifier, "group_features", fail)
    code, shown, aside = call("fit", small_csv, "--target", "y", "--json")
    assert code == 0
    assert "Groups were not found" in aside
    assert Findings.from_json(shown).groups is None


def test_long_searches_are_left_out_unless_asked_for(call, small_csv, monkeypatch):
    monkeypatch.setattr(_fit, "PATIENCE", 0.0)
    code, shown, aside = call("fit", small_csv, "--target", "y", "--json")
    assert code == 0
    assert "Groups and substitutes were not looked for" in aside
    assert Findings.from_json(shown).groups is None
    assert Findings.from_json(shown).substitutes == ()
    _, shown, aside = call("fit", small_csv, "--target", "y", "--json", "--thorough")
    assert "looked for" not in aside
    assert Findings.from_json(shown).groups is not None


def test_a_limit_of_time(call, small, small_csv, monkeypatch, tmp_path):
    moments = itertools.count()
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: float(next(moments))))
    fit = ("fit", small_csv, "--target", "y", "--json", "--jobs", 1, "--time-limit")
    code, shown, aside = call(*fit, 1e6)
    assert code == 0
    assert Findings.from_json(shown).groups is not None
    assert "time was up" not in aside
    start = next(moments)
    LinearRelevanceClassifier(n_jobs=1, random_state=0, time_limit=1e6).fit(small.drop(columns="y"), small["y"])
    enough = next(moments) - start
    # The least time in which there is a model: none is left for the intervals.
    short, limit = 1.0, float(enough)
    while limit - short > 1.0:
        middle = (short + limit) // 2
        if call(*fit, middle)[0] == 0:
            limit = middle
        else:
            short = middle
    code, shown, aside = call(*fit, limit, "--out", tmp_path / "out")
    assert code == 0
    found = Findings.from_json(shown)
    assert found.result.incomplete
    assert found.groups is None
    assert "the time was up before" in aside
    assert Findings.from_json((tmp_path / "out" / "result.json").read_text()).result == found.result
    code, _, aside = call(*fit, 1)
    assert code == 1
    assert "before the baseline model was found" in aside


@pytest.mark.parametrize("missing", ["typer", "rich", "pandas", "charset_normalizer"])
def test_a_missing_extra_is_named(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from allrelevant.cli import main; sys.exit(main(['demo']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'allrelevant[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_python_m_and_a_reader_that_leaves():
    command = [sys.executable, "-m", "allrelevant"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"allrelevant {allrelevant.__version__}"
    done = subprocess.run([*command, "fit", "-h"], capture_output=True, text=True, check=True)
    assert "--impute" in done.stdout


def test_progress_is_told_to_a_watcher(small):
    from allrelevant._progress import watched

    seen = []
    with watched(lambda *told: seen.append(told)):
        LinearRelevanceClassifier(C=1.0, random_state=0).fit(small.drop(columns="y"), small["y"].astype(str))
    stages = [stage for stage, _, _ in seen]
    assert {"baseline", "intervals", "copies", "permutations"} <= set(stages)
    assert seen[0][1] == 0
    before = len(seen)
    LinearRelevanceClassifier(C=1.0, random_state=0).fit(small.drop(columns="y"), small["y"].astype(str))
    assert len(seen) == before


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal needs POSIX")
def test_progress_is_shown_on_a_terminal(small_csv):
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "allrelevant", "fit", str(small_csv), "--target", "y"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env={**os.environ, "TERM": "xterm"})
    os.close(follower)
    seen = b""
    try:
        while chunk := os.read(leader, 4096):
            seen += chunk
    except OSError:  # the child has closed its side
        pass
    out, _ = child.communicate()
    os.close(leader)
    assert child.returncode == 0
    assert b"Finding out what chance can do" in seen or b"Bounding the features" in seen or b"Starting" in seen
    assert b"\x1b" not in out


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("classification/heart_cleveland.csv", ("--impute", "median"), "classification"),
        ("regression/prostate_esl.csv", (), "regression"),
        ("ordinal/contact-lenses.csv", ("--problem", "ordinal"), "ordinal"),
    ],
)
def test_real_tables(call, name, options, problem):
    if not (DATA / name).exists():
        pytest.skip(f"{DATA / name} is not there; set ALLRELEVANT_DATA to a folder of real data")
    code, shown, _ = call("fit", DATA / name, "--target", "target", *options, "--json")
    assert code == 0
    result = Findings.from_json(shown).result
    assert isinstance(result, RelevanceResult)
    assert result.problem.startswith(problem)


def test_the_level_and_what_is_controlled(call, small_csv, tmp_path):
    fit = ("fit", small_csv, "--target", "y", "--jobs", 1, "--json", "--quiet")
    code, shown, _ = call(*fit, "--level", 0.2, "--control", "fwer")
    assert code == 0
    result = Findings.from_json(shown).result
    assert (result.thresholds.level, result.thresholds.control) == (0.2, "fwer")
    assert "is noise is at most 20 %" in result.summary()
    code, shown, _ = call(*fit)
    assert (Findings.from_json(shown).result.thresholds.level, result.thresholds.n_usable) == (0.05, 12)
    for level in (0, 1, -0.1, 1.5, "nan"):
        code, _, aside = call(*fit, "--level", level)
        assert code == 2
        assert "--level" in aside
        assert "between 0 and 1" in aside
    code, _, aside = call(*fit, "--control", "all")
    assert code == 2
    assert "fwer" in aside
    code, shown, _ = call("fit", "--help")
    assert "--level" in shown
    assert "--control" in shown


def test_the_code_has_the_level(small_csv):
    notices = []
    table = read_table(small_csv)
    prepared = prepare(table, Wishes(target="y"), notices)
    code = _fit.source(table, prepared, seed=0, jobs=1, parameters={"level": 0.01, "control": "fwer"})
    assert "LinearRelevanceClassifier(level=0.01, control='fwer', n_jobs=1, random_state=0)" in code


def test_the_table_fits_a_terminal(capsys):
    import io

    from rich.console import Console

    from allrelevant.cli._show import Screen
    from handmade import make_judged_result

    result = make_judged_result(1, 3, 3, borderline=1, names=[f"worst fractal dimension {k}" for k in range(7)])
    for width, names in ((80, result.feature_names), (80, ["x" * 32, *"abcdef"]), (200, ["x" * 60, *"abcdef"])):
        screen, shown = Screen(), io.StringIO()
        screen._out = Console(file=shown, width=width, markup=False, highlight=False, emoji=False)
        screen.findings(Findings(make_judged_result(1, 3, 3, borderline=1, names=names)))
        table = shown.getvalue().split("~ borderline")[0].rstrip().splitlines()
        assert len(table) == 3 + 7  # title, head and rule: no row takes two lines
        assert max(map(len, table)) <= width
        assert any("weak~" in line and line.endswith("0.048") for line in table)

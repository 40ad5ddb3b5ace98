"""The runner takes runs up again, says what is missing, and the page is that of the committed results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks import blocks, page, selection
from benchmarks.__main__ import main
from benchmarks._common import read_csv
from benchmarks.competitors.calling import METHODS, adapter
from benchmarks.experiment import RESULTS, SIZES, Experiment, Skipped
from benchmarks.registry import MODULES, experiments
from benchmarks.standins import write_standins

EVERY = experiments()


@pytest.mark.parametrize("name", EVERY)
def test_sizes_are_parts_of_each_other(name):
    each = EVERY[name]
    smoke, quick, full = (each.wanted(size) for size in SIZES)
    assert all(len(key) == len(each.key) for key in full)
    assert len(set(full)) == len(full)
    assert len(smoke) <= len(full)
    assert len(quick) <= len(full)
    if "method" in each.key and name not in ("importances", "real_ordinal", "privileged"):
        assert {key[each.key.index("method")] for key in full} <= set(METHODS)


def test_published_figures_have_methods_and_measures_that_the_page_knows():
    known = set(METHODS) | {"fri_explicit", "fri_implicit", "ferel", "model_explicit", "model_implicit"}
    for path in blocks.PUBLISHED.glob("*.csv"):
        rows = read_csv(path)
        assert rows
        assert {row["method"] for row in rows} <= known | {"p_ogmlvq", "a_ogmlvq"}
        assert len({tuple(row.values())[:5] for row in rows}) == len(rows)


def test_published_means_are_those_of_the_published_sets():
    papers = blocks.published("forest")
    for mean in (row for row in read_csv(blocks.PUBLISHED / "forest.csv") if row["table"] == "thesis 5.9"):
        sets = [papers[f"set{k}", mean["condition"], mean["method"], mean["measure"]] for k in range(1, 9)]
        # Both are rounded to two decimals.
        assert np.mean(sets) == pytest.approx(float(mean["value"]), abs=0.0101)


def run(a, b, method):
    if method == "broken":
        return {"value": "", "cpu_seconds": "", "note": "broke"}
    return [{"value": a * b, "cpu_seconds": 0.1, "note": ""}] * 2


def small(**given):
    keys = [(a, b, method) for a in (1, 2) for b in (3, 4) for method in ("one", "two")]
    return Experiment("small", "products", "nothing", ("a", "seed", "method"), lambda size: keys, run, **given)


def test_runs_are_taken_up_again(tmp_path, capsys):
    each = small()
    assert each.measure("full", folder=tmp_path, methods=["one"], seeds=4) == 2
    assert each.measure("full", folder=tmp_path, n_jobs=2) == 6
    assert each.measure("full", folder=tmp_path) == 0
    rows = each.rows(tmp_path)
    assert len(rows) == 16
    assert {row["made"][:2] for row in rows} == {"20"}
    assert each.measure("full", folder=tmp_path, methods=["two"], again=True) == 4
    assert len(each.rows(tmp_path)) == 16


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(Skipped, match=r"no no/such.csv in .*ALLRELEVANT_DATA"):
        small(files=("no/such.csv",)).measure("smoke", folder=tmp_path)


def test_command_line(tmp_path, capsys):
    assert main(["list"]) == 0
    assert "thesis, Table 3.7" in capsys.readouterr().out
    assert main(["run", "no_such"]) == 2
    assert "there are ferel" in capsys.readouterr().out
    assert main(["run", "--smoke", "constraints"]) == 0
    assert "2 runs" in capsys.readouterr().out
    assert main(["run", "--quick", "ferel", "--methods", "allrelevant", "--seeds", "2", "--out", str(tmp_path)]) == 0
    assert main(["show", "ferel", "--out", str(tmp_path)]) == 0
    assert "(1.00)" in capsys.readouterr().out


def test_scores_by_hand():
    relevance, classes = np.array([2, 2, 1, 1, 0]), np.array([2, 1, 1, 0, 2])
    found = selection.score(relevance, classes, three=True)
    assert (found["precision"], found["recall"], found["f1"]) == (0.75, 0.75, 0.75)
    assert (found["strong_precision"], found["strong_recall"]) == (0.5, 0.5)
    assert (found["weak_precision"], found["weak_recall"]) == (0.5, 0.5)
    assert "strong_recall" not in selection.score(relevance, classes, three=False)


def test_a_failure_is_told_from_that_of_another_library():
    from benchmarks.__main__ import _has_failed

    failed = {"note": "broke", "cpu_seconds": ""}
    assert _has_failed({**failed, "method": "lasso"})
    assert not _has_failed({**failed, "method": "fri"})
    assert not _has_failed({**failed, "cpu_seconds": "1"})
    assert adapter(METHODS["fri"]).REQUIREMENTS


def test_cells_mark_what_is_worse_than_the_papers():
    mean = blocks.Mean(0.90, 0.01, 30)
    assert blocks.cell(mean, 0.95, 2, 1) == "0.90 ±0.01 (0.95) ▼"
    assert blocks.cell(mean, 0.91, 2, 1) == "0.90 ±0.01 (0.91)"
    assert blocks.cell(mean, 0.95, 2, -1) == "0.90 ±0.01 (0.95)"
    assert blocks.cell(mean, 0.95, 2, 0) == "0.90 ±0.01 (0.95)"
    assert blocks.cell(None, None, 2, 1) == ""
    assert blocks.cell(None, 0.5, 2, 1) == "– (0.50)"


def test_a_table_has_ours_beside_theirs():
    rows = pd.DataFrame({"set": ["a", "a", "b", "b"], "method": ["forest", "boruta"] * 2, "f1": [1.0, 0.5, 0.8, ""]})
    papers = {("a", "", "squamish", "f1"): 0.9, ("b", "", "squamish", "f1"): 0.7}
    table = blocks.beside("F1", rows, "f1", ["a", "b"], {"forest": "squamish", "boruta": None, "fri": None}, papers)
    assert list(table.header) == ["", "**allrelevant**, forest", "BorutaPy"]
    assert table.rows[0] == ["a", "1.00 (0.90)", "0.50"]
    assert table.rows[1] == ["b", "0.80 (0.70)", ""]
    assert table.rows[2][:2] == ["mean", "0.90 ±0.00 (0.80)"]
    assert table.rows[3] == ["runs", "1", "1"]
    assert table.markdown().count("\n") == 7


@pytest.fixture(scope="module")
def sections():
    return page.sections(RESULTS)


def test_the_page_is_that_of_the_results(tmp_path, sections, monkeypatch):
    monkeypatch.setattr(page, "sections", {RESULTS: sections}.get)
    written = page.write(RESULTS, tmp_path / "papers.md", tmp_path)
    assert [line for line in written.read_text().splitlines() if "{image}" not in line] == [
        line for line in page.PAGE.read_text().splitlines() if "{image}" not in line
    ], "write it again: python -m benchmarks page"


def test_every_module_has_a_section(sections):
    titles = [title for title, _ in sections]
    assert len(titles) == len(MODULES)


def test_every_file_of_real_data_has_a_stand_in(tmp_path):
    write_standins(tmp_path)
    for each in EVERY.values():
        for file in each.files:
            assert (tmp_path / file).exists(), f"{each.name} reads {file}"

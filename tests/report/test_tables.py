from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from allrelevant.report import write_csv, write_markdown
from handmade import make_forest_result, make_judged_result, make_result


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


PROOFS = ["adjusted p-value", "borderline", "evidence", "together p-value", "alone p-value", "limit"]


def test_csv_has_all_digits_of_every_feature(make_findings, tmp_path):
    names = ['a, "b"', "line\nbreak", *(f"f{k}" for k in range(7))]
    findings = make_findings(2, 4, 3, names=names)
    path = write_csv(findings, tmp_path / "new" / "features.csv")
    result, lines = findings.result, rows(path)
    assert list(lines[0]) == ["name", "class", "minRel", "maxRel", "p-value", "baseline", "group", *PROOFS]
    assert [line["name"] for line in lines] == names
    for k, line in enumerate(lines):
        assert (float(line["minRel"]), float(line["maxRel"])) == tuple(result.intervals[k])
        assert float(line["p-value"]) == result.pvalues[k]
        assert float(line["baseline"]) == result.baseline[k]
        assert line["class"] == ("irrelevant", "weak", "strong")[result.classes[k]]
        group = findings.groups.labels[k]
        assert line["group"] == (str(group) if group >= 0 else "")


def test_csv_leaves_empty_what_is_unknown(tmp_path):
    lines = rows(write_csv(make_result(1, 0, 1, pvalues=[np.nan, 0.5]), tmp_path / "features.csv"))
    assert [line["p-value"] for line in lines] == ["", "0.5"]
    assert [line["group"] for line in lines] == ["", ""]


def test_csv_says_what_classes_rest_on(tmp_path):
    result = make_judged_result(1, 3, 2, borderline=1, alone=1, together=1)
    lines = rows(write_csv(result, tmp_path / "features.csv"))
    assert [float(line["adjusted p-value"]) for line in lines] == result.adjusted_pvalues.tolist()
    assert [float(line["together p-value"]) for line in lines] == result.together_pvalues.tolist()
    assert [float(line["alone p-value"]) for line in lines] == result.alone_pvalues.tolist()
    assert [float(line["limit"]) for line in lines] == result.limits.tolist()
    assert [line["borderline"] == "yes" for line in lines] == result.borderline.tolist()
    assert tuple(line["evidence"] for line in lines) == result.evidence
    assert {*result.evidence} == {"both", "alone", "together", ""}
    unknown = rows(write_csv(make_result(1, 1, 1), tmp_path / "features.csv"))
    assert {line["adjusted p-value"] + line["limit"] for line in unknown} == {""}


def test_markdown_shows_adjusted_p_values_and_what_is_borderline(tmp_path):
    result = make_judged_result(1, 2, 1, borderline=1, alone=1)
    text = write_markdown(result, tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| feature | class | minRel | maxRel | adj. p | evidence | baseline |" in text
    assert "| weak\\~ |" in text
    assert "| 0.048 |" in text
    assert "\\~ borderline: adjusted p within a factor of two of the level, 0.05." in text
    for fact in (result.guarantee, "| level | 0.05 |", "Benjamini–Hochberg", "| sets of copies | 3 of 3 |"):
        assert fact in text
    assert "limit for maxRel" not in text


def test_csv_tells_privileged_features_apart(tmp_path):
    result = replace(make_result(1, 1, 1), privileged=make_result(1, 0, 0, names=["star"]))
    lines = rows(write_csv(result, tmp_path / "features.csv"))
    assert [line["privileged"] for line in lines] == ["no", "no", "no", "yes"]
    assert lines[-1]["name"] == "star"


FORMULAS = ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1", "=HYPERLINK(\"http://x\",\"y\")",
            "=cmd|' /C calc'!A0"]  # fmt: skip


def test_names_are_no_formulas_to_a_spreadsheet(tmp_path):
    names = [*FORMULAS, "-1", "+2.5e3", "age", "a=b", "'quoted", "x-y"]
    result = make_result(1, 1, len(names) - 2, names=names)
    written = write_csv(result, tmp_path / "features.csv")
    with written.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["name"] for line in lines] == [*("'" + name for name in FORMULAS), *names[len(FORMULAS) :]]
    for k, line in enumerate(lines):
        assert float(line["baseline"]) == result.baseline[k]  # negative numbers are numbers
    assert any(line["baseline"].startswith("-") for line in lines)


def test_markdown_says_what_the_page_says(make_findings, tmp_path):
    findings = make_findings(data={"file": "cells.csv"}, notes=("Mind the gap.",))
    text = write_markdown(findings, tmp_path / "report.md", title="My data").read_text(encoding="utf-8")
    assert text.startswith("# My data\n")
    for heading in ("Notes", "Features", "Groups", "Substitutes", "Panels", "Best model", "Stability", "How to cite"):
        assert f"## {heading}\n" in text
    for sentence in (*findings.result.summary().splitlines(), *findings.groups.summary().splitlines(), "cells.csv"):
        assert sentence in text
    assert text.count("\n| feature ") == findings.result.n_features + 1
    assert "doi.org" in text


def test_markdown_of_a_bare_result(tmp_path):
    text = write_markdown(make_result(), tmp_path / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# Feature relevance\n")
    assert "## Groups" not in text


def test_names_mean_nothing_to_markdown(tmp_path):
    evil = "<script>|*x*|\n# y [z](javascript:1)"
    text = write_markdown(make_result(1, 1, 0, names=[evil, "b"]), tmp_path / "report.md").read_text(encoding="utf-8")
    assert "<script" not in text.replace(r"\<script", "")
    assert r"\<script\>\|\*x\*\| \# y \[z\](javascript:1)" in text


@pytest.mark.parametrize(("write", "example"), [(write_csv, "features.csv"), (write_markdown, "report.md")])
def test_a_folder_is_no_file(tmp_path, write, example):
    with pytest.raises(IsADirectoryError, match=rf"is a folder; name a file in it, such as .*{example}"):
        write(make_result(), tmp_path)


def test_tables_of_forests(tmp_path):
    result = make_forest_result(1, 2, 2)
    lines = rows(write_csv(result, tmp_path / "features.csv"))
    assert list(lines[0]) == ["name", "class", "low", "high", "p-value", "mean", "group", "tentative", *PROOFS[:2]]
    assert [line["name"] for line in lines if line["tentative"] == "yes"] == list(result.tentative)
    assert {line["class"] for line in lines} == {"strong", "weak", "irrelevant"}
    np.testing.assert_array_equal([float(line["mean"]) for line in lines], result.baseline)
    text = write_markdown(result, tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| feature | class | low | high | p-value | mean |" in text
    assert "| irrelevant? |" in text
    assert "## Forest" in text
    assert "nothing is proven" in text
    assert "10.18637/jss.v036.i11" in text
    for word in ("near-optimal", "minRel", "maxRel", "linear", "gap", "Best model", "group"):
        assert word not in text

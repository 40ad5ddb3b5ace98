from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from allrelevant.errors import MissingExtra
from allrelevant.plotting._style import CLASS_STYLES, PALETTE
from allrelevant.report import page as page_module
from allrelevant.report import render_report, write_report
from allrelevant.result import Thresholds
from handmade import make_result

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Reads a page, checks that its elements nest, and collects what the tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.cells, self.text = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1] in {"td", "th"} and "tbody" in self.open:
            self.cells.append(data.strip())

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.mark.parametrize("counts", [(1, 0, 0), (0, 0, 1), (2, 2, 1), (4, 12, 14), (10, 20, 170), (0, 0, 200)])
def test_is_a_well_formed_page_with_all_features(counts):
    result = make_result(*counts)
    page = Page(render_report(result))
    assert len(page.all("svg")) == len(page.all("h1")) == 1
    for k, name in enumerate(result.feature_names):
        row = page.cells.index(name)
        low, high = result.intervals[k]
        assert f"{low:.3f}" in page.cells[row : row + 6]
        assert f"{high:.3f}" in page.cells[row : row + 6]


def test_says_what_was_found_and_how():
    result = make_result(3, 4, 5, notes=("Two probes were dropped.",))
    text = " ".join("".join(Page(render_report(result, title="My data")).text).split())
    for sentence in (
        "My data",
        *result.summary().splitlines(),
        "How to read it",
        "0.972",
        "3 · 10⁻⁹",
        "48 of 50",
        "prediction interval",
        "0.1778",
        "norm_slack",
        "CPU seconds, probes",
        "highs",
        "160",
        "allrelevant 0.1.0",
        "10.1109/CIBCB.2019.8791489",
        "10.1016/j.neucom.2017.11.074",
    ):
        assert sentence in text
    assert text.count("Two probes were dropped.") == 1


def test_default_title():
    assert "<title>Feature relevance</title>" in render_report(make_result())


def test_names_are_escaped_everywhere():
    evil = '<script>alert("1")</script>'
    result = make_result(1, 1, 1, names=[evil, "a & b", 'style="fill: #24292f" \''], notes=(evil,))
    html = render_report(result, title=evil)
    page = Page(html)
    assert not page.all("script")
    assert "<script" not in html
    assert {evil, "a & b", 'style="fill: #24292f" \''} <= set(page.cells)


def test_loads_nothing():
    html = render_report(make_result(4, 12, 14))
    page = Page(html)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed"}
    outside = [
        value
        for tag, attributes in page.tags
        for name, value in attributes.items()
        if name in {"src", "href", "xlink:href"} and not value.startswith("#")
    ]
    assert outside
    assert all(value.startswith("https://doi.org/10.") for value in outside)
    assert not re.search(r"url\((?!#)|@import", html)
    addresses = set(re.findall(r"https?://[^/\"]+", html))
    assert addresses <= {"https://doi.org", "http://www.w3.org"}  # the latter names the SVG name space


def test_drawing_takes_its_colours_from_the_palette():
    html = render_report(make_result(3, 3, 3))
    svg = html[html.index("<svg") : html.index("</svg>")]
    assert not re.search(r"#[0-9a-f]{6}\b", svg)
    used = set(re.findall(r"var\(--([a-z-]+)\)", svg))
    assert {"ink", "strong-fill", "weak", "weak-fill", "irrelevant", "irrelevant-fill"} <= used <= set(PALETTE)
    for name, shade in PALETTE.items():
        assert f"--{name}: {shade.light};" in html
        assert f"--{name}: {shade.dark};" in html
    for style in CLASS_STYLES.values():
        assert style.symbol in html


def test_long_lists_of_irrelevant_features_are_folded():
    assert not Page(render_report(make_result(2, 2, 60))).all("details")
    html = render_report(make_result(2, 2, 61))
    assert "61 irrelevant features" in html[html.index("<details>") :]


def test_is_the_same_for_the_same_result():
    assert render_report(make_result(4, 4, 40)) == render_report(make_result(4, 4, 40))


def test_is_independent_of_the_readers_style():
    plain = render_report(make_result())
    with plt.style.context("dark_background"):
        assert render_report(make_result()) == plain


def test_leaves_matplotlib_alone():
    before = dict(mpl.rcParams)
    render_report(make_result())
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []


def test_what_is_unknown_is_a_dash():
    result = make_result(
        1,
        0,
        1,
        pvalues=[np.nan, 1e-5],
        thresholds=Thresholds(float("nan"), float("inf"), "none", 0.9, 0, 0),
        scores={"metric": "F1", "cross_validated": None, "training": 0.9},
        seed=None,
        max_gap=0.0,
    )
    text = "".join(Page(render_report(result)).text)
    assert "nan" not in text
    assert "on the training data" in text
    assert "< 0.001" in text


def test_any_script_is_welcome():
    names = ["基因", "größe", "😀"]
    assert set(names) <= set(Page(render_report(make_result(1, 1, 1, names=names))).cells)


def test_writes_the_page(tmp_path):
    result = make_result()
    path = write_report(result, str(tmp_path / "new" / "folder" / "report.html"), title="T")
    assert path == tmp_path / "new" / "folder" / "report.html"
    assert path.read_text(encoding="utf-8") == render_report(result, title="T")
    assert os.listdir(path.parent) == ["report.html"]


def test_names_that_utf8_cannot_hold_do_not_stop_it(tmp_path):
    path = write_report(make_result(1, 0, 0, names=["file\udce9"]), tmp_path / "report.html")
    assert r"file\udce9" in path.read_text(encoding="utf-8")


def test_replaces_an_older_page(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(make_result(), path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("step", ["render", "replace"])
def test_keeps_the_old_page_when_something_fails(tmp_path, monkeypatch, step):
    def fail(*args, **kwargs):
        raise RuntimeError("no luck")

    path = tmp_path / "report.html"
    path.write_text("old")
    target = (page_module, "interval_svg") if step == "render" else (os, "replace")
    monkeypatch.setattr(*target, fail)
    with pytest.raises(RuntimeError, match="no luck"):
        write_report(make_result(), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder; name a file in it, such as .*report\.html"):
        write_report(make_result(), tmp_path)


@pytest.mark.parametrize("below", ["report.html", "deep/report.html"])
def test_a_file_is_no_folder(tmp_path, below):
    (tmp_path / "taken").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file, not a folder"):
        write_report(make_result(), tmp_path / "taken" / below)


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_says_how_to_install_what_is_missing(monkeypatch, tmp_path, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"the report needs {package}.*allrelevant\[report\]"):
        write_report(make_result(), tmp_path / "new" / "report.html")
    assert not (tmp_path / "new").exists()


def test_privileged_features_have_a_section_of_their_own():
    star = replace(make_result(), feature_names=tuple(f"star {k}" for k in range(make_result().n_features)))
    result = replace(make_result(), privileged=replace(star, notes=("Only a note.",)))
    page = render_report(result)
    assert "<h2>Privileged features</h2>" in page
    assert "star 0" in page.split("<h2>Privileged features</h2>")[1]
    assert "Only a note." in page
    assert "known in training only" in page
    assert "Privileged" not in render_report(make_result())

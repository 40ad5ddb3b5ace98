from __future__ import annotations

import base64
import hashlib
import json
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
from allrelevant.findings import Findings
from allrelevant.plotting._style import CLASS_STYLES, PALETTE
from allrelevant.report import _drawings, render_report, write_report
from allrelevant.report._plot import SHADES
from allrelevant.result import Thresholds
from handmade import make_forest_result, make_judged_result, make_result

EVIL = '</script><script>alert("1")</script><!-- & <b>x</b> %{x} \u2028'
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
        if "script" not in self.open:
            self.text.append(data)
        if self.open and self.open[-1] in {"td", "th"} and "tbody" in self.open:
            self.cells.append(data.strip())

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def without_scripts(html):
    return re.sub(r"(<script[^>]*>).*?(</script>)", r"\1\2", html, flags=re.DOTALL)


def plots(html):
    return json.loads(re.search(r'id="plots">(.*?)</script>', html, flags=re.DOTALL)[1])


def strings(thing):
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, dict | list):
        for part in thing.values() if isinstance(thing, dict) else thing:
            yield from strings(part)


@pytest.fixture(scope="module")
def plain():
    """The page of a bare result."""
    return render_report(make_result())


@pytest.fixture(scope="module")
def everything(make_findings):
    """The page of all that can be found."""
    return render_report(make_findings())


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
        "prediction limit",
        "each feature by itself",
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


def test_default_title(plain):
    assert "<title>Feature relevance</title>" in plain


def test_names_are_escaped_everywhere():
    evil = '<script>alert("1")</script>'
    result = make_result(1, 1, 1, names=[evil, "a & b", 'style="fill: #24292f" \''], notes=(evil,))
    html = render_report(result, title=evil)
    page = Page(html)
    assert len(page.all("script")) == 3
    assert html.count("<script") == 3
    assert {evil, "a & b", 'style="fill: #24292f" \''} <= set(page.cells)


def test_names_cannot_leave_an_attribute(make_findings):
    evil = '"><img src=x onerror=alert(1)>'
    names = [evil, "' onclick='alert(1)", *(f"f{k}" for k in range(7))]
    page = Page(render_report(make_findings(3, 3, 3, names=names, data={evil: evil}), title=evil))
    assert not page.all("img")
    assert not [name for _, given in page.tags for name in dict(given) if name.startswith("on")]
    assert {evil, "' onclick='alert(1)"} <= set(page.cells)


def test_loads_nothing(make_findings):
    html = without_scripts(render_report(make_findings(4, 12, 14)))
    page = Page(html)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"link", "img", "iframe", "object", "embed"}
    outside = [
        value
        for tag, attributes in page.tags
        for name, value in attributes.items()
        if name in {"src", "href", "xlink:href"} and not value.startswith("#")
    ]
    assert outside
    assert all(value.startswith(("https://doi.org/10.", "data:image/png;")) for value in outside)
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


def test_long_lists_are_folded():
    short = render_report(make_result(2, 2, 36))
    assert not Page(short).all("details")
    assert 'class="scroll long"' not in short
    html = render_report(make_result(2, 2, 41))
    assert 'class="scroll long"' in html
    assert "<summary>41 irrelevant features</summary>" in html


def test_is_the_same_for_the_same_findings(make_findings, everything):
    assert render_report(make_findings()) == everything


def test_a_bare_result_is_findings_enough(plain):
    assert plain == render_report(Findings(make_result()))
    with pytest.raises(TypeError, match="findings must be Findings or a RelevanceResult, got dict"):
        render_report({})


def test_says_all_that_was_found(make_findings):
    findings = make_findings(2, 4, 3, data={"file": "cells.csv", "SHA-256": "9f86d081"})
    html = render_report(findings)
    page = Page(html)
    text = " ".join("".join(page.text).split())
    expected = [*findings.groups.summary().splitlines(), *findings.stability.summary().splitlines()]
    expected += [line for one in findings.substitutes for line in one.summary().splitlines()]
    expected += [", ".join(panel.features) for panel in findings.panels]
    expected += ["cells.csv", "9f86d081", "numpy", "plotly", "With all features the weighted F1 is 0.972."]
    for sentence in expected:
        assert sentence in text
    stills = [attributes for attributes in page.all("div") if attributes.get("class", "").startswith("scroll still")]
    assert len(stills) == len(page.all("svg")) == 5
    places = {attributes["data-plot"] for attributes in page.all("div") if "data-plot" in attributes}
    assert places == set(plots(html)) == {"features", "groups", "substitutes", "panels", "stability"}


def test_inner_names_of_drawings_are_unique(everything):
    page = Page(everything)
    names = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(names) == len(set(names))
    used = set(re.findall(r"url\(#([^)]*)\)", str(page.tags)))
    used |= {attributes["xlink:href"][1:] for attributes in page.all("use")}
    assert used
    assert used <= set(names)


def test_sections_that_nobody_asked_for_are_not_there(plain):
    html = without_scripts(plain)
    for name in ("groups", "substitutes", "panels", "stability", "privileged"):
        assert f'id="{name}"' not in html
        assert f'href="#{name}"' not in html


def test_nothing_relevant_is_no_trouble(make_findings):
    html = render_report(make_findings(0, 0, 5))
    assert "No feature is relevant, so there are no groups." in html
    assert "No set of the features offered admits a near-optimal model." in html
    assert set(plots(html)) == {"features", "stability"}


def test_a_single_relevant_feature_is_no_trouble(make_findings):
    assert set(plots(render_report(make_findings(0, 1, 0)))) == {
        "features",
        "groups",
        "substitutes",
        "panels",
        "stability",
    }


def test_is_below_six_megabytes_with_plotly_once(make_findings):
    html = render_report(make_findings(5, 35, 460))
    assert len(html.encode()) < 6_000_000
    assert html.count("* plotly.js v") == 1


def test_only_the_scripts_of_the_page_may_run(everything):
    html = everything
    policy = next(attributes["content"] for attributes in Page(html).all("meta") if attributes.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1]
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    for script in scripts:
        fingerprint = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{fingerprint}'" in policy
    assert len(scripts) == policy.count("sha256-") == 2


def test_names_inside_scripts_can_end_nothing(make_findings):
    names = [EVIL, *(f"<i>{k}</i>" for k in range(8))]
    html = render_report(make_findings(3, 3, 3, names=names, data={EVIL: EVIL}), title=EVIL)
    page = Page(html)
    assert len(page.all("script")) == 3
    source = re.search(r'<script type="application/json" id="plots">(.*?)</script>', html, flags=re.DOTALL)[1]
    assert not set("<>&\u2028") & set(source)
    assert EVIL.strip() in page.cells
    shown = [text for figure in plots(html).values() for text in strings(figure)]
    # plotly.js reads tags in its texts, so those that are ours are the only ones.
    assert any("&lt;i&gt;" in text for text in shown)
    assert {tag for text in shown for tag in re.findall(r"<[^>]*>", text)} <= {"<b>", "</b>", "<br>"}


def test_plots_take_their_colours_from_the_palette(everything):
    shown = [text for figure in plots(everything).values() for text in strings(figure)]
    used = {text for text in shown if text.startswith("var(")}
    assert {"var(--ink)", "var(--weak)", "var(--weak-fill)", "var(--group-0)"} <= used
    assert used <= {f"var(--{name})" for name in SHADES}
    assert not [text for text in shown if text.startswith("#")]


def test_is_independent_of_the_readers_style(plain):
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
        thresholds=Thresholds(float("nan"), float("inf"), "papers", 0.1, "none", 0, 0),
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
    target = (_drawings, "interval_svg") if step == "render" else (os, "replace")
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


@pytest.mark.parametrize("package", ["jinja2", "matplotlib", "plotly.offline"])
def test_says_how_to_install_what_is_missing(monkeypatch, tmp_path, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"the report needs {package.split('.')[0]},.*allrelevant\[report\]"):
        write_report(make_result(), tmp_path / "new" / "report.html")
    assert not (tmp_path / "new").exists()


def test_privileged_features_have_a_section_of_their_own(plain):
    star = replace(make_result(), feature_names=tuple(f"star {k}" for k in range(make_result().n_features)))
    result = replace(make_result(), privileged=replace(star, notes=("Only a note.",)))
    page = render_report(result)
    assert "<h2>Privileged features</h2>" in page
    assert "star 0" in page.split("<h2>Privileged features</h2>")[1]
    assert "Only a note." in page
    assert "known in training only" in page
    assert "Privileged" not in plain


def test_forests_claim_no_proof_and_no_linear_models():
    result = make_forest_result(2, 3, 4, notes=("A note of the forest.",))
    html = render_report(result)
    page = Page(html)
    text = " ".join("".join(Page(re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)).text).split())
    shown = " ".join([text, *strings(plots(html))])
    for word in ("near-optimal", "minRel", "maxRel", "linear", "certifi", "gap", "best model", "weight", "probe"):
        assert word not in shown
    for sentence in (
        *result.summary().splitlines(),
        "share of the forest's importance, in the middle 90 % of the forests",
        "permuted features reach 0.041",
        "mean share",
        "forests fitted",
        "340",
        "hits",
        "n_estimators",
        "A question mark says",
        "nothing is proven",
        "10.48550/arXiv.2004.00658",
        "10.18637/jss.v036.i11",
        "undecided",
    ):
        assert sentence in shown
    assert "10.1109/CIBCB" not in html
    assert "irrelevant?" in text
    assert f"{result.tentative[0]} ?" in text
    assert result.tentative[0] in page.cells
    assert "--limit-min: -10%" in html
    assert "question mark" not in render_report(make_forest_result(2, 3, 4, tentative=0))


def test_the_table_shows_evidence_limits_and_what_is_borderline():
    result = make_judged_result(1, 3, 2, borderline=1, alone=1, together=1)
    html = render_report(result)
    page = Page(html)
    assert {"adj. p", "beside others", "alone", "both"} <= {text.strip() for text in page.text}
    assert "0.0503" in page.cells
    assert sum(cell.endswith("~") for cell in page.cells) == 2
    assert "~ borderline: adjusted p within a factor of two of the level, 0.05." in page.text
    tracks = [tag["style"] for tag in page.all("div") if tag.get("class") == "track"]
    assert len(tracks) == 6
    assert tracks.count("--limit-max: -10%") == 1  # found alone: nothing to exceed
    text = " ".join("".join(page.text).split())
    assert text.count(result.guarantee) == 3  # in the summary, how to read it, and the method
    assert "does not hold for time series" in text
    assert "permuted together" in text
    assert "limit for maxRel" not in text
    figure = plots(html)["features"]
    (ticks,) = [trace for trace in figure["data"] if trace["name"] == result.words.own_limit]
    assert sorted(ticks["x"]) == sorted(limit for limit in result.limits if limit > 0.0)
    assert not figure["layout"]["shapes"]
    said = "".join(strings(figure))
    assert f"tells of the target beside {result.names(2)[0]}" in said
    assert "adj. p &lt; 0.001" in said
    assert "of together &lt; 0.001, alone &lt; 0.001, combined &lt; 0.001" in said


def test_old_results_keep_their_common_limit():
    page = Page(render_report(make_result(1, 2, 2)))
    assert not [tag for tag in page.all("div") if tag.get("class") == "track" and "style" in tag]
    text = " ".join("".join(page.text).split())
    assert "measured on probes" in text
    assert "limit for maxRel" in text
    assert "adj. p" not in text

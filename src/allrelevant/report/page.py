"""Renders and writes the page."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant._summary import compared, legend
from allrelevant.errors import MissingExtra
from allrelevant.findings import Findings
from allrelevant.plotting._draw import require_matplotlib
from allrelevant.redundancy import FeatureGroups
from allrelevant.report import _content, _drawings, _figures, _redundancy_figures
from allrelevant.report._files import write_whole
from allrelevant.report._plot import SHADES, Figure
from allrelevant.result import RelevanceResult

__all__ = ["render_report", "write_report"]

FOLDED = 40  # names of a class, and lines of a table, beyond this number wait behind a click


def render_report(findings: Findings | RelevanceResult, *, title: str | None = None) -> str:
    """Return findings as one self-contained web page.

    The page holds a summary in plain language, the relevance intervals, a table of all features that can be searched
    and sorted, how to read them, groups, substitutes, panels and stability where the findings have them, everything
    needed to repeat the fit, and whom to cite. It carries along all that it needs, plotly.js included, and loads
    nothing. Without scripts, and in print, drawings that stand still take the place of those that answer to the mouse.
    The same findings give the same text.

    Parameters
    ----------
    findings : Findings or RelevanceResult
        What to report.
    title : str, default=None
        Heading of the page; "Feature relevance" if None.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    MissingExtra
        If Jinja2, matplotlib or plotly is not installed.

    See Also
    --------
    write_report : Writes the page to a file.

    Notes
    -----
    While the drawings are made, matplotlib's rcParams are set aside and then restored. They are shared by all
    threads, so let no other thread draw meanwhile.

    Examples
    --------
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.report import render_report
    >>> X, y, _ = make_relevance_classification(
    ...     n_samples=100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    ... )
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> render_report(model.result_, title="A toy")[:15]
    '<!doctype html>'
    """
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra("jinja2", "report", "the report") from error
    try:
        require_matplotlib("the report")
    except MissingExtra as error:
        raise MissingExtra("matplotlib", "report", "the report") from error
    scripts = {"library": _plotly_script(), "own": _script("report.js")}

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("allrelevant.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    findings = _content.as_findings(findings)
    result, groups = findings.result, findings.groups
    parts = [_part("Features", "features", result, groups)]
    if result.privileged is not None:
        parts.append(_part("Privileged features", "privileged", result.privileged, None))
    plots = _plots(findings)
    return environment.get_template("report.html.j2").render(
        title=title if title is not None else _content.TITLE,
        findings=findings,
        result=result,
        palette=SHADES,
        summary=_content.summary(result),
        key_numbers=_content.key_numbers(result),
        classes=_content.class_lists(result),
        parts=parts,
        drawings=_stills(findings),
        performance=_content.performance(result),
        panel_lines=[] if findings.panels is None else _content.panel_lines(findings.panels),
        panel_sentences=[] if findings.panels is None else _content.panel_sentences(findings.panels),
        words=result.words,
        how=_content.how(result),
        holds=_content.holds(result),
        method=_content.method(findings),
        versions=_content.written_with(),
        citations=_content.CITATIONS[result.method],
        folded=FOLDED,
        plots=_for_script(plots),
        scripts=scripts,
        # Only these scripts run, whatever else might find its way into the page.
        fingerprints=[_fingerprint(script) for script in scripts.values()],
    )


def _part(title: str, name: str, result: RelevanceResult, groups: FeatureGroups | None) -> dict[str, Any]:
    """What the page shows of one kind of features."""
    scale = _content.Scale.of(result)
    return {
        "title": title,
        "name": name,
        "result": result,
        "scale": scale,
        "limits": _content.table_limits(result, scale),
        "grouped": groups is not None,
        "own": np.isnan(result.thresholds.max_relevance),
        "compared": compared(result)[0],
        "legend": legend(result),
        "evidence": any(result.evidence),
        "lines": _content.feature_lines(result, scale, groups),
        "drawing": _drawings.intervals_drawing(result, name),
    }


def _stills(findings: Findings) -> dict[str, str]:
    """Return the drawings for print, by the names of their plots."""
    drawings = {}
    if findings.groups is not None and findings.groups.members:
        drawings["groups"] = _drawings.groups_drawing(findings.groups)
    if findings.substitutes:
        drawings["substitutes"] = _drawings.substitutes_drawing(findings.substitutes)
    if findings.panels is not None and len(findings.panels):
        drawings["panels"] = _drawings.panels_drawing(findings.panels)
    if findings.stability is not None:
        drawings["stability"] = _drawings.stability_drawing(findings.stability)
    return drawings


def _plots(findings: Findings) -> dict[str, Figure]:
    """Return the drawings for the screen, by the names of their places on the page."""
    result = findings.result
    plots = {
        "features": _figures.intervals_figure(result),
        "privileged": None if result.privileged is None else _figures.intervals_figure(result.privileged),
        "groups": None if findings.groups is None else _redundancy_figures.groups_figure(findings.groups),
        "substitutes": _redundancy_figures.substitutes_figure(findings.substitutes),
        "panels": None if findings.panels is None else _redundancy_figures.panels_figure(findings.panels),
        "stability": None if findings.stability is None else _figures.stability_figure(findings.stability),
    }
    return {name: figure for name, figure in plots.items() if figure is not None}


def _for_script(content: Any) -> str:
    """Return JSON that can stand in an element of a page: no sign in it can end that element."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _plotly_script() -> str:
    """Return plotly.js as plotly brings it along."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtra("plotly", "report", "the report") from error
    return _embeddable(get_plotlyjs())


def _script(name: str) -> str:
    return _embeddable((resources.files("allrelevant.report") / "templates" / name).read_text(encoding="utf-8"))


def _embeddable(script: str) -> str:
    """Return a script as a page can hold it; a browser reads line ends as single signs."""
    return script.replace("\r\n", "\n").replace("\r", "\n").replace("</script", "<\\/script")


def _fingerprint(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()


def write_report(
    findings: Findings | RelevanceResult, path: str | os.PathLike[str], *, title: str | None = None
) -> Path:
    """Write findings as one self-contained web page.

    The file appears complete or not at all; one that is already there stays as it is until then.

    Parameters
    ----------
    findings : Findings or RelevanceResult
        What to report.
    path : str or path-like
        File to write, such as ``"report.html"``. Folders that are missing are made.
    title : str, default=None
        Heading of the page; "Feature relevance" if None.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    IsADirectoryError
        If `path` is a folder.
    NotADirectoryError
        If a part of `path` that should be a folder is a file.
    MissingExtra
        If Jinja2, matplotlib or plotly is not installed.

    See Also
    --------
    render_report : Returns the page as text, and says what it holds.

    Examples
    --------
    >>> import tempfile
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.report import write_report
    >>> X, y, _ = make_relevance_classification(
    ...     n_samples=100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    ... )
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model.result_, f"{folder}/toy/report.html").name
    'report.html'
    """
    return write_whole(path, lambda: render_report(findings, title=title), "report.html")

"""Renders and writes the page."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from allrelevant.errors import MissingExtra
from allrelevant.plotting._draw import require_matplotlib
from allrelevant.plotting._style import PALETTE
from allrelevant.plotting._svg import interval_svg
from allrelevant.report import _content
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["render_report", "write_report"]

FOLDED = 60  # irrelevant features beyond this number wait behind a click


def render_report(result: RelevanceResult, *, title: str | None = None) -> str:
    """Return a result as one self-contained web page.

    The page holds a summary in plain language, the drawing of :class:`.RelevanceDisplay`, a table of all
    features, how to read them, everything needed to repeat the fit, and whom to cite. It loads nothing and
    runs no script. The same result gives the same text.

    Parameters
    ----------
    result : RelevanceResult
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
        If Jinja2 or matplotlib is not installed.

    See Also
    --------
    write_report : Writes the page to a file.

    Notes
    -----
    While the drawing is made, matplotlib's rcParams are set aside and then restored. They are shared by all
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

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("allrelevant.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    parts = [_part("Features", result)]
    if result.privileged is not None:
        parts.append(_part("Privileged features", result.privileged))
    return environment.get_template("report.html.j2").render(
        title=title if title is not None else "Feature relevance",
        result=result,
        palette=PALETTE,
        summary=_content.summary(result),
        key_numbers=_content.key_numbers(result),
        parts=parts,
        method=_content.method(result),
    )


def _part(title: str, result: RelevanceResult) -> dict[str, Any]:
    """What the page shows of one kind of features."""
    scale = _content.Scale.of(result)
    lines = _content.feature_lines(result, scale)
    irrelevant = [line for line in lines if line.kind == RelevanceClass.IRRELEVANT.label]
    folded = irrelevant if len(irrelevant) > FOLDED else []
    return {
        "title": title,
        "result": result,
        "scale": scale,
        "lines": lines[: len(lines) - len(folded)],
        "folded": folded,
        "drawing": interval_svg(result),
    }


def write_report(result: RelevanceResult, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write a result as one self-contained web page.

    The file appears complete or not at all; one that is already there stays as it is until then.

    Parameters
    ----------
    result : RelevanceResult
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
        If Jinja2 or matplotlib is not installed.

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
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"path={str(path)!r} is a folder; name a file in it, such as {path / 'report.html'}")
    page = render_report(result, title=title)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(
            f"path={str(path)!r} cannot be written: a part of {str(path.parent)!r} is a file, not a folder"
        ) from error
    unfinished = path.with_name(f".report-{secrets.token_hex(8)}.tmp")
    try:
        unfinished.write_bytes(page.encode("utf-8", errors="backslashreplace"))
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path

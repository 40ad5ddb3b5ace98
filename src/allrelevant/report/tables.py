"""Findings as plain files: a table for other programs, and a text for notes and repositories."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

from allrelevant._summary import compared, legend, pvalue
from allrelevant.findings import Findings
from allrelevant.report import _content
from allrelevant.report._files import write_whole
from allrelevant.report._format import cell, decimal
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["write_csv", "write_markdown"]


def write_csv(findings: Findings | RelevanceResult, path: str | os.PathLike[str]) -> Path:
    """Write one row per feature, in the order of the data, as comma-separated values.

    The columns are ``name``, ``class`` (strong, weak, irrelevant), ``minRel``, ``maxRel``, ``p-value``, ``baseline``
    and ``group``, then ``adjusted p-value``, which is compared with the level, ``borderline`` (yes or no), and what the
    p-value was made from: ``evidence`` (both, together, alone), ``together p-value``, ``alone p-value`` and ``limit``
    of ``maxRel``. Numbers have all their digits; what is unknown is empty, as is the group of a feature that is of
    none. Where there are privileged features, their rows follow, and a column ``privileged`` tells them apart.
    Of forests, the columns are ``name``, ``class``, ``low``, ``high``, ``p-value``, ``mean``, ``group``, ``tentative``,
    which is yes where the class is a best guess, ``adjusted p-value`` and ``borderline``.

    A spreadsheet may execute what begins as a formula does: names that begin with ``=``, ``+``, ``-``, ``@``, a tab or
    a line break, and are no numbers, get an apostrophe in front. ``Findings.to_json`` keeps names as they are.

    Parameters
    ----------
    findings : Findings or RelevanceResult
        What to write.
    path : str or path-like
        File to write, such as ``"features.csv"``. Folders that are missing are made.

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

    See Also
    --------
    write_report : The findings as a web page.

    Examples
    --------
    >>> import tempfile
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.report import write_csv
    >>> X, y, _ = make_relevance_classification(
    ...     n_samples=100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    ... )
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_csv(model.result_, f"{folder}/features.csv").read_text().splitlines()[0]
    'name,class,minRel,maxRel,p-value,baseline,group,adjusted p-value,borderline,evidence,...'
    """
    return write_whole(path, lambda: _csv(_content.as_findings(findings)), "features.csv")


def _csv(findings: Findings) -> str:
    lines = []
    groups = findings.groups
    labels = [] if groups is None else groups.labels.tolist()
    privileged, words = findings.result.privileged, findings.result.words
    parts = [findings.result] if privileged is None else [findings.result, privileged]
    guessed = [] if words.answers and not any(part.tentative for part in parts) else ["tentative"]
    if any(part.incomplete for part in parts):
        guessed.append("incomplete")
    kinds = ("together p-value", "alone p-value", "limit") if words.answers else ()
    proofs = ["adjusted p-value", "borderline", *(["evidence"] if words.answers else []), *kinds]
    last = ["group", *guessed, *proofs, *(["privileged"] if privileged is not None else [])]
    lines.append(["name", "class", words.low, words.high, "p-value", words.centre_key, *last])
    for part, numbers in ((findings.result, labels), (privileged, [])):
        if part is None:
            continue
        which = [] if privileged is None else ["yes" if part is privileged else "no"]
        for k, name in enumerate(part.feature_names):
            values = (*part.intervals[k].tolist(), float(part.pvalues[k]), float(part.baseline[k]))
            group = str(numbers[k]) if numbers and numbers[k] >= 0 else ""
            guess = ["yes" if name in getattr(part, mark) else "no" for mark in guessed]
            label = RelevanceClass(int(part.classes[k])).label
            proof = [_digits(part.adjusted_pvalues[k]), "yes" if part.borderline[k] else "no"]
            if words.answers:
                known = (part.together_pvalues[k], part.alone_pvalues[k], part.limits[k])
                proof += [part.evidence[k], *map(_digits, known)]
            lines.append([cell(name), label, *map(_digits, values), group, *guess, *proof, *which])
    return "".join(_line(line) for line in lines)


def _digits(number: float) -> str:
    return "" if math.isnan(number) else repr(float(number))


def _line(values: Sequence[str]) -> str:
    """Return a line of the file; both signs that end lines are quoted within it, which csv does for its own only."""
    text = StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(values)
    return text.getvalue()[:-2] + "\n"


def write_markdown(
    findings: Findings | RelevanceResult, path: str | os.PathLike[str], *, title: str | None = None
) -> Path:
    """Write the findings as Markdown: what the web page says, without drawings.

    Parameters
    ----------
    findings : Findings or RelevanceResult
        What to write.
    path : str or path-like
        File to write, such as ``"report.md"``. Folders that are missing are made.
    title : str, default=None
        Heading; "Feature relevance" if None.

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

    See Also
    --------
    write_report : The findings as a web page.

    Examples
    --------
    >>> import tempfile
    >>> from allrelevant import LinearRelevanceClassifier
    >>> from allrelevant.datasets import make_relevance_classification
    >>> from allrelevant.report import write_markdown
    >>> X, y, _ = make_relevance_classification(
    ...     n_samples=100, n_strong=1, n_weak=2, n_irrelevant=2, random_state=0
    ... )
    >>> model = LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_markdown(model.result_, f"{folder}/toy.md", title="A toy").read_text().splitlines()[0]
    '# A toy'
    """
    return write_whole(path, lambda: _markdown(_content.as_findings(findings), title), "report.md")


def _markdown(findings: Findings, title: str | None) -> str:
    result = findings.result
    blocks = [f"# {_plain(title if title is not None else _content.TITLE)}", *map(_plain, _content.summary(result))]
    if result.notes:
        blocks += ["## Notes", _list(result.notes)]
    blocks += ["## Features", _features(findings), *map(_plain, legend(result))]
    if result.privileged is not None:
        blocks += ["## Privileged features", *map(_plain, result.privileged.notes)]
        blocks += [_features(Findings(result.privileged)), *map(_plain, legend(result.privileged))]
    if findings.groups is not None:
        blocks += ["## Groups", _list(findings.groups.summary().splitlines())]
    if findings.substitutes:
        blocks += ["## Substitutes"]
        blocks += [_list(line for one in findings.substitutes for line in one.summary().splitlines())]
    if findings.panels is not None:
        lines = _content.panel_lines(findings.panels)
        if lines:
            rows = [(str(one.number), one.cost, one.score, ", ".join(one.features)) for one in lines]
            blocks += ["## Panels", _table(("panel", "cost", findings.panels.metric, "features"), rows)]
        blocks += [_list(_content.panel_sentences(findings.panels))]
    if findings.stability is not None:
        blocks += ["## Stability", _list(findings.stability.summary().splitlines())]
    blocks += [f"## {result.words.model_heading}", _table(("", ""), _content.performance(result))]
    blocks += ["## Method and parameters", _plain(_content.how(result)), _plain(_content.holds(result))]
    for heading, facts in _content.method(findings).items():
        if facts:
            blocks += [f"### {heading}", _table(("", ""), facts)]
    cited = _content.CITATIONS[result.method]
    blocks += ["## How to cite", "\n".join(f"- {_plain(one.text)} <{one.address}>" for one in cited)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _features(findings: Findings) -> str:
    result, groups = findings.result, findings.groups
    words = result.words
    heading, pvalues = compared(result)
    evidence = result.evidence
    head = ["feature", "class", words.low, words.high, heading, *["evidence"] * any(evidence), words.centre_key]
    rows = []
    for k in result.ranking():
        low, high = result.intervals[k].tolist()
        row = [result.feature_names[k], result.label(int(k)), decimal(low), decimal(high)]
        row.append(pvalue(float(pvalues[k]), result.thresholds.level))
        row += [_content.EVIDENCE[evidence[k]]] * any(evidence)
        row.append(decimal(float(result.baseline[k])))
        if groups is not None:
            row.append(str(groups.labels[k]) if groups.labels[k] >= 0 else "")
        rows.append(row)
    return _table(head if groups is None else [*head, "group"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [[_plain(cell) for cell in head], ["---"] * len(head), *([_plain(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {_plain(sentence)}" for sentence in sentences)


def _plain(text: str) -> str:
    """Return a text on one line in which no sign means anything to Markdown or to a web page made of it."""
    line = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|#~&$])", r"\\\1", line)

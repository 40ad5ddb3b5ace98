"""What a person sees: results on standard output, all else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from allrelevant._progress import watched
from allrelevant._summary import compared, legend, pvalue
from allrelevant.findings import Findings
from allrelevant.redundancy import Panels
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["Screen", "say_problem"]

COLOURS = {RelevanceClass.STRONG: "bold green", RelevanceClass.WEAK: "yellow", RelevanceClass.IRRELEVANT: "dim"}
MOST_IRRELEVANT = 20
#: Cells of the longest bar where there is room and where there is not, and those that all other columns take.
BAR, SHORTEST_BAR, REST = 24, 8, 40
STAGES = {
    "search": "Looking for the best model",
    "baseline": "Fitting the best model",
    "intervals": "Bounding the features",
    "copies": "Finding out what chance can do",
    "permutations": "Looking at every feature alone",
    "contexts": "Grouping features",
    "panels": "Looking for panels",
    "shadow features": "Comparing features with permuted ones",
    "imitations": "Imitating features by others",
    "imitations in their place": "Looking for what cannot be imitated",
    "forests without a feature": "Leaving features out",
    "model": "Fitting the forest",
}


class Screen:
    """Where a command writes to.

    Parameters
    ----------
    quiet : bool, default=False
        Whether to leave out notices and progress.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._out, self._aside = _console(sys.stdout), _console(sys.stderr)

    def notices(self, sentences: Iterable[str]) -> None:
        """Say what was noticed, on standard error."""
        for sentence in () if self.quiet else sentences:
            self._aside.print(Text("· ", "cyan") + Text(sentence))

    def line(self, text: str = "") -> None:
        """Write a line on standard output."""
        self._out.print(Text(text))

    def plain(self, text: str) -> None:
        """Write a text on standard output as it is, for other programs."""
        sys.stdout.write(f"{text}\n")

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Show how far the work inside is, if somebody is there to see it."""
        if self.quiet or not self._aside.is_terminal:
            yield
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                   TimeRemainingColumn())  # fmt: skip
        with Progress(*columns, console=self._aside, transient=True) as bar:
            task = bar.add_task("Starting", total=None)
            current = ""

            def show(stage: str, done: int, total: int) -> None:
                nonlocal current
                if stage != current or done == 0:
                    current = stage
                    bar.reset(task, total=total, description=STAGES.get(stage, stage))
                bar.update(task, completed=done, total=max(total, done))

            with watched(show):
                yield

    def findings(self, findings: Findings) -> None:
        """Show intervals and classes, and what was found about redundancy."""
        result = findings.result
        self._features("Features", result)
        if result.privileged is not None:
            self._features("Privileged features", result.privileged)
        self._paragraph(result.summary())
        if findings.groups is not None:
            self._paragraph(findings.groups.summary())
        if findings.panels is not None:
            self.panels(findings.panels)

    def panels(self, panels: Panels) -> None:
        """Show panels, the cheapest first."""
        table = _table("Panels")
        for name in ("size", "cost", panels.metric, "gap"):
            table.add_column(name, justify="right")
        table.add_column("features", overflow="fold")
        for one in panels:
            score = "" if one.score is None else f"{one.score:.3f}"
            table.add_row(
                str(len(one.features)), f"{one.cost:g}", score, f"{one.gap:.2g}", Text(", ".join(one.features))
            )
        if len(panels):
            self._out.print(table)
        # Its first lines are the rows of the table.
        self._paragraph("\n".join(panels.summary().splitlines()[len(panels) :]))

    def _features(self, title: str, result: RelevanceResult) -> None:
        table = _table(title)
        table.add_column("feature", overflow="fold")
        table.add_column("class")
        table.add_column("interval", no_wrap=True, min_width=BAR)
        heading, pvalues = compared(result)
        for name in (result.words.low, result.words.high, heading):
            table.add_column(name, justify="right", no_wrap=True)
        most = max(float(result.intervals[:, 1].max()), 1e-12)
        ranking = [int(k) for k in result.ranking()]
        irrelevant = [k for k in ranking if result.classes[k] == RelevanceClass.IRRELEVANT]
        hidden = set(irrelevant[MOST_IRRELEVANT:])
        shown = [k for k in ranking if k not in hidden]
        longest = max(cell_len(result.feature_names[k]) for k in shown)
        width = min(BAR, max(SHORTEST_BAR, self._out.width - longest - REST))
        table.columns[2].min_width = width
        for k in shown:
            kind, (low, high) = RelevanceClass(int(result.classes[k])), result.intervals[k]
            bar = self._bar(float(low) / most, float(high) / most, width)
            table.add_row(
                Text(result.feature_names[k]), result.label(k), bar, f"{low:.3f}", f"{high:.3f}",
                pvalue(float(pvalues[k]), result.thresholds.level), style=COLOURS[kind],
            )  # fmt: skip
        self._out.print(table)
        if hidden:
            self.line(f"… and {len(hidden)} more irrelevant features.")
        for sentence in legend(result):
            self.line(sentence)
        if legend(result):
            self.line()

    def _bar(self, low: float, high: float, width: int) -> Text:
        first = min(int(low * width), width - 1)
        last = max(first + 1, round(high * width))
        sign = "━" if (self._out.encoding or "").lower().startswith("utf") else "="
        return Text(" " * first + sign * (last - first))

    def _paragraph(self, text: str) -> None:
        if text:
            self._out.print(Text(text), soft_wrap=not self._out.is_terminal)
            self.line()


def say_problem(sentence: str) -> None:
    """Say on standard error what went wrong."""
    _console(sys.stderr).print(Text("Error: ", "bold red") + Text(sentence))


def _console(stream: TextIO) -> Console:
    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = 10_000  # other programs wrap lines as they like
    return console


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False,
                 pad_edge=False, padding=(0, 1, 0, 0))  # fmt: skip

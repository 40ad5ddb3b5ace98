"""What a section of the page is made of, and the table that most of them have: ours, the competitors', the papers'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from benchmarks._common import read_csv

PUBLISHED = Path(__file__).parent / "papers" / "published"
#: What a method is called on the page.
LABELS = {
    "allrelevant": "**allrelevant**",
    "allrelevant_implicit": "**allrelevant**, implicit",
    "allrelevant_papers": "allrelevant, the papers' rule",
    "residual": "**allrelevant**",
    "kept": "the same, kept",
    "replaced": "the same, replaced",
    "forest": "**allrelevant**, forest",
    "forest_refit": "forest, refit (held-out)",
    "forest_refit_training": "forest, refit (training)",
    "all_features": "all features",
    "elastic_net": "Elastic Net",
    "lasso": "Lasso",
    "ridge": "Ridge",
    "stability_selection": "Stability Selection",
    "efs": "EFS",
    "boruta": "BorutaPy",
    "fri": "fri 9.0.0",
    "squamish": "squamish",
    "grootcv": "GrootCV",
    "leshy": "Leshy",
    "rfecv_elastic_net": "Elastic Net, RFECV",
    "rfecv_forest": "forest, RFECV",
    "rfecv_ordinal": "ordinal model, RFECV",
    "correlation_groups": "correlations",
    "hdbscan_groups": "HDBSCAN",
    "allrelevant_groups": "**allrelevant**",
    "fri_groups": "fri 9.0.0",
}


@dataclass(frozen=True)
class Table:
    """A table, of text that is ready to be shown."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """As a table of Markdown under its caption; the first column is text, all others are numbers."""
        bars = ["---"] + ["---:"] * (len(self.header) - 1)
        lines = [list(self.header), bars, *self.rows]
        return f"**{self.caption}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True)
class Picture:
    """A picture: a name for its file, words for those who do not see it, and what draws it."""

    name: str
    alt: str
    draw: Callable[[Path], None]


Block = str | Table | Picture


def prose(doc: str | None) -> str:
    """What a module says of itself after its first line."""
    return (doc or "").split("\n\n", 1)[1]


def results(folder: Path, name: str) -> pd.DataFrame:
    """Rows of an experiment; empty if it has not been run."""
    path = folder / f"{name}.csv"
    if not path.exists():
        return pd.DataFrame()
    return pd.read_csv(path, comment="#", keep_default_na=False, na_values={}).map(_number)


def _number(cell: Any) -> Any:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell


def published(name: str) -> dict[tuple[str, str, str, str], float]:
    """Figures of the papers for single sets: by set, condition, method and measure."""
    rows = read_csv(PUBLISHED / f"{name}.csv")
    return {
        (row["set"], row["condition"], row["method"], row["measure"]): float(row["value"])
        for row in rows
        if row["set"] != "all" or name == "ferel"  # there: all features
    }


@dataclass(frozen=True)
class Mean:
    """Mean, standard error and number of the runs that ended."""

    value: float
    error: float
    runs: int


def mean_of(rows: pd.DataFrame, measure: str) -> Mean | None:
    """Of the cells that hold a number; None without any."""
    if measure not in rows:
        return None
    values = pd.to_numeric(rows[measure], errors="coerce").dropna()
    if not len(values):
        return None
    return Mean(fmean(values), float(values.sem()) if len(values) > 1 else 0.0, len(values))


def beside(
    caption: str,
    rows: pd.DataFrame,
    measure: str,
    sets: Iterable[str],
    methods: Mapping[str, str | None],
    papers: Mapping[tuple[str, str, str, str], float],
    *,
    condition: str = "",
    paper_condition: str | None = None,
    paper_sets: Mapping[str, str] | None = None,
    paper_measure: str | None = None,
    digits: int = 2,
    better: int = 1,
) -> Table:
    """A table with a line per set and a column per method: mean ± standard error, and the papers' figure.

    Parameters
    ----------
    methods : mapping of str to str or None
        Our name of a method to the papers' name of what it stands beside, if there is such a thing.
    condition, paper_condition : str
        Which rows, and which of the papers' figures.
    paper_sets : mapping, optional
        Names that the papers have for sets, where they differ.
    better : {1, -1, 0}
        Whether more is better, or less; a mark tells where ours is worse than the papers' figure by more than its
        standard error and the rounding of the figure. 0 for no marks.
    """
    sets = list(sets)
    where = condition if paper_condition is None else paper_condition
    lines, means = [], {method: [] for method in methods}
    cells: list[str]
    for name in sets:
        cells = [name]
        for method, theirs in methods.items():
            same = rows[(rows["set"] == name) & (rows["method"] == method)]
            if "condition" in rows:
                same = same[same["condition"] == condition]
            mean = mean_of(same, measure)
            paper = papers.get(((paper_sets or {}).get(name, name), where, theirs or "", paper_measure or measure))
            means[method].append((mean, paper))
            cells.append(cell(mean, paper, digits, better if "**allrelevant**" in LABELS.get(method, "") else 0))
        lines.append(cells)
    if len(sets) > 1:
        cells = ["mean"]
        for pairs in means.values():
            if any(mean is None for mean, _ in pairs):
                cells.append("")
                continue
            ours = fmean(mean.value for mean, _ in pairs)
            error = sum(mean.error**2 for mean, _ in pairs) ** 0.5 / len(pairs)
            known = [paper for _, paper in pairs if paper is not None]
            average = fmean(known) if len(known) == len(pairs) else None
            cells.append(cell(Mean(ours, error, sum(mean.runs for mean, _ in pairs)), average, digits, 0))
        lines.append(cells)
    counts = {method: [mean.runs for mean, _ in pairs if mean] for method, pairs in means.items()}
    kept = [k for k, method in enumerate(methods) if counts[method]]
    lines.append(["runs", *(_span(counts[method]) for method in methods)])
    header = ["", *(LABELS.get(method, method) for method in methods)]
    picked = [0, *(k + 1 for k in kept)]
    return Table(caption, [header[k] for k in picked], [[line[k] for k in picked] for line in lines])


def cell(mean: Mean | None, paper: float | None, digits: int, better: int) -> str:
    """A mean with its standard error, the papers' figure in brackets, and a mark where ours is worse."""
    told = f" ({paper:.{digits}f})" if paper is not None else ""
    if mean is None:
        return f"–{told}" if told else ""
    error = f" ±{mean.error:.{max(digits, 2)}f}" if mean.runs > 1 else ""
    rounding = 0.5 * 10.0**-digits
    worse = paper is not None and better and (paper - mean.value) * better > mean.error + rounding
    return f"{mean.value:.{digits}f}{error}{told}{' ▼' if worse else ''}"


def _span(counts: Sequence[int]) -> str:
    if not counts:
        return ""
    return str(counts[0]) if min(counts) == max(counts) else f"{min(counts)}–{max(counts)}"

"""The page of the documentation with our figures beside the papers' and the competitors', from committed results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from statistics import fmean

from benchmarks._common import print_table
from benchmarks.blocks import LABELS, Block, Picture, Table, mean_of, published, results
from benchmarks.experiment import HERE, RESULTS, Experiment
from benchmarks.registry import MODULES, experiments

DOCS = HERE.parent / "docs"
PAGE = DOCS / "papers.md"
PICTURES = DOCS / "images" / "papers"
#: Words, file, measure, condition, our method, the papers' method, file of the papers' figures.
OVERVIEW = (
    ("copies and noise, F1 (FeReL, Table 2)", "ferel", "f1", "", "allrelevant", "ferel", "ferel"),
    ("Sim1 to Sim5, F1 (Table 3.3)", "simulations", "f1", "", "allrelevant", "fri", "fri"),
    ("groups, V-measure (Table 3.7)", "grouping", "v_measure", "", "allrelevant_groups", "fri_groups", "fri"),
    ("ordinal, clean, F1 (Table 4.2)", "ordinal", "f1", "clean", "allrelevant", "fri_explicit", "ordinal"),
    ("ordinal, noisy, F1 (Table 4.3)", "ordinal", "f1", "noisy", "allrelevant", "fri_explicit", "ordinal"),
    ("forests, linear sets, F1 (Table 5.3)", "forest_linear", "f1", "", "forest", "squamish", "forest"),
    ("forests, non-linear sets, F1 (Table 5.6)", "forest_nonlinear", "f1", "", "forest", "squamish", "forest"),
)


def sections(folder: Path = RESULTS) -> list[tuple[str, list[Block]]]:
    """Titles and contents, in the order of the papers."""
    found = []
    for name in MODULES:
        module = import_module(f"benchmarks.papers.{name}")
        blocks = module.section(folder)
        if blocks:
            found.append((module.TITLE, blocks))
    return found


def write(folder: Path = RESULTS, page: Path = PAGE, pictures: Path = PICTURES) -> Path:
    """Write the page and its pictures."""
    pictures.mkdir(parents=True, exist_ok=True)
    text = [(HERE / "page_head.md").read_text().rstrip(), ""]
    text += ["## In short", "", overview(folder).markdown(), ""]
    for title, blocks in sections(folder):
        text += [f"## {title}", ""]
        for block in blocks:
            if isinstance(block, Picture):
                block.draw(pictures / f"{block.name}.svg")
                where = os.path.relpath(pictures / f"{block.name}.svg", page.parent)
                text += [f"```{{image}} {where}", f":alt: {block.alt}", "```", ""]
            else:
                text += [block.markdown() if isinstance(block, Table) else block.strip(), ""]
    text += ["## How these were made", "", provenance(folder).markdown(), ""]
    page.write_text("\n".join(text).rstrip() + "\n")
    return page


def show(chosen: Sequence[Experiment], folder: Path = RESULTS) -> None:
    """Print the tables of some experiments."""
    names = {each.run.__module__ for each in chosen} | {f"benchmarks.papers.{each.name}" for each in chosen}
    for name in MODULES:
        module = import_module(f"benchmarks.papers.{name}")
        own = getattr(module, "EXPERIMENTS", None) or (module.EXPERIMENT,)
        if not {each.name for each in own} & {each.name for each in chosen} and module.__name__ not in names:
            continue
        print(f"== {module.TITLE}")
        for block in module.section(folder):
            if isinstance(block, Table):
                print(block.caption)
                print_table(block.header, block.rows)
            elif isinstance(block, str):
                print(block.strip())


def overview(folder: Path) -> Table:
    """Means over the sets of the main tables: ours, the papers', and the best other method that ran on all sets."""
    lines = []
    for words, name, measure, condition, ours, theirs, papers in OVERVIEW:
        rows, figures = results(folder, name), published(papers)
        if rows.empty:
            continue
        if "condition" in rows:
            rows = rows[rows["condition"] == condition]
        means: dict[str, dict[str, float]] = {}
        for (method, each), same in rows.groupby(["method", "set"]):
            mean = mean_of(same, measure)
            if mean is not None:
                means.setdefault(str(method), {})[str(each)] = mean.value
        sets = means.get(ours, {})
        whole = {method: fmean(cells.values()) for method, cells in means.items() if cells.keys() == sets.keys()}
        others = {method: value for method, value in whole.items() if not method.startswith(("allrelevant", "forest"))}
        others.pop(ours, None)
        best = max(others, key=lambda method: others[method]) if others else ""
        told = [figures.get((each, condition, theirs, measure)) for each in sets]
        known = [value for value in told if value is not None]
        lines.append(
            [
                words,
                f"{whole[ours]:.3f}" if ours in whole else "",
                f"{fmean(known):.3f}" if known and len(known) == len(told) else "",
                f"{others[best]:.3f} ({LABELS.get(best, best).replace('*', '')})" if best else "",
            ]
        )
    return Table(
        "Means over all sets of a table",
        ["", "**allrelevant**", "papers", "best other method that ran on all sets"],
        lines,
    )


def provenance(folder: Path) -> Table:
    """When, with what and where the rows of every file were made."""
    lines = []
    for each in experiments().values():
        rows = each.rows(folder)
        if not rows:
            continue
        versions = each.path(folder).read_text().splitlines()[0].lstrip("# ")
        lines.append([f"`{each.name}`", str(len(rows)), ", ".join(sorted({row["made"] for row in rows})), versions])
    return Table("Date, commit, versions and machine of the results", ["file", "rows", "made", "by"], lines)

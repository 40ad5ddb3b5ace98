"""The page of the documentation with our figures beside the papers' and the competitors', from committed results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks._common import print_table
from benchmarks.blocks import Block, Picture, Table
from benchmarks.experiment import HERE, RESULTS, Experiment
from benchmarks.registry import MODULES, experiments

DOCS = HERE.parent / "docs"
PAGE = DOCS / "papers.md"
PICTURES = DOCS / "images" / "papers"


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

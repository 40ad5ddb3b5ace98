"""Options that several commands have, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from allrelevant.cli._prepare import Prepared, Wishes, prepare
from allrelevant.cli._problems import Problem, split_names
from allrelevant.cli._read import Table, read_table
from allrelevant.cli._show import Screen

__all__ = ["COSTS", "FIT", "JSON", "METHOD", "Job", "Method", "OUTPUT", "QUIET", "with_table"]

TABLE, FIT, OUTPUT = "The table", "The fit", "Output"


class Kind(StrEnum):
    """What the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"
    ordinal = "ordinal"


class Method(StrEnum):
    """How relevance is found."""

    linear = "linear"
    forest = "forest"


class Filling(StrEnum):
    """What missing numbers are filled with."""

    mean = "mean"
    median = "median"


class Control(StrEnum):
    """Which error the level is about."""

    fdr = "fdr"
    fwer = "fwer"
    none = "none"


METHOD = typer.Option(
    "--method", help="Linear models with proven bounds, or forests for bent relations.", rich_help_panel=FIT
)
COSTS = typer.Option("--costs", metavar="FILE", help="Table with the columns feature and cost.", rich_help_panel=FIT)
JSON = typer.Option("--json", help="Print JSON for other programs instead of tables.", rich_help_panel=OUTPUT)
QUIET = typer.Option("--quiet", "-q", help="Leave out notices and progress.", rich_help_panel=OUTPUT)


@dataclass(frozen=True)
class Job:
    """A table, and what is to be done with it; `parameters` say which error is allowed."""

    table: Table
    prepared: Prepared
    seed: int
    jobs: int
    parameters: dict[str, Any]

    @property
    def title(self) -> str:
        """Heading of reports."""
        return f"{self.table.path.name}: relevance for {self.prepared.facts['target'].rsplit(' (', 1)[0]}"


def _read(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV, TSV or Parquet file, with a header row.")],
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.", rich_help_panel=TABLE)],
    problem: Annotated[
        Kind, typer.Option(help="What the target is; by default it is found out.", rich_help_panel=TABLE)
    ] = Kind.auto,
    order: Annotated[
        str | None, typer.Option(metavar="LOW,…,HIGH", help="Ordered classes, lowest first.", rich_help_panel=TABLE)
    ] = None,
    drop: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns to leave out.", rich_help_panel=TABLE)
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Columns to use that would be left out.", rich_help_panel=TABLE),
    ] = None,
    categories: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns of numbers that are codes.", rich_help_panel=TABLE)
    ] = None,
    impute: Annotated[
        Filling | None, typer.Option(help="Fill missing numbers with this.", rich_help_panel=TABLE)
    ] = None,
    privileged: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns known in training only.", rich_help_panel=TABLE)
    ] = None,
    sample_weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with weights of the rows.", rich_help_panel=TABLE)
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column that says which rows are of one subject.", rich_help_panel=TABLE),
    ] = None,
    strata: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column within whose values rows are compared.", rich_help_panel=TABLE),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of noise expected among the features found.",
            show_default="0.05",
            rich_help_panel=FIT,
        ),
    ] = None,
    control: Annotated[
        Control | None,
        typer.Option(
            help="What the level is: share of the found, chance of any false one, of each.",
            show_default="fdr",
            rich_help_panel=FIT,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of folds and permutations.", rich_help_panel=FIT)
    ] = 0,
    jobs: Annotated[int, typer.Option(metavar="N", help="Threads; -1 uses all processors.", rich_help_panel=FIT)] = -1,
    *,
    method: Method = Method.linear,
    notices: list[str],
) -> Job:
    wishes = Wishes(
        target=target,
        problem=problem.value,
        order=split_names(order),
        privileged=split_names(privileged),
        drop=split_names(drop),
        keep=split_names(keep),
        categories=split_names(categories),
        impute=None if impute is None else impute.value,
        sample_weight=sample_weight,
        groups=groups,
        strata=strata,
        method=method.value,
    )
    if level is not None and not 0.0 < level < 1.0:
        raise Problem(f"--level: {level:g} is not between 0 and 1; 0.05 allows 5 % of noise among the features found.")
    chosen = {"level": level, "control": None if control is None else control.value}
    parameters = {name: value for name, value in chosen.items() if value is not None}
    table = read_table(data)
    return Job(table, prepare(table, wishes, notices), seed, jobs, parameters)


def with_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes a :class:`Job` and `quiet` the options that say how to read and fit a table.

    A `method` that the command takes itself says for which method the table is to be prepared.
    """
    shared = dict(inspect.signature(_read, eval_str=True).parameters)
    del shared["notices"], shared["method"]
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    def run(**options: Any) -> None:
        notices: list[str] = []
        try:
            wished = {name: options.pop(name) for name in shared}
            job = _read(**wished, method=options.get("method", Method.linear), notices=notices)
        finally:  # what was noticed before a problem may explain it
            Screen(quiet=options["quiet"]).notices(notices)
        command(job, **options)

    parameters = [*(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in shared.values()), *own]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run

"""Regenerate the papers' tables.

``python -m benchmarks list`` says what there is; ``run`` does the runs that the results do not have yet (``--quick``,
``--full`` or ``--smoke``, some experiments or all, some methods or all); ``page`` writes the page of the documentation
from the results, and ``show`` prints its tables. A run may be stopped at any time and taken up again.

Libraries that need an environment of their own (fri, BorutaPy, squamish, arfs) get one on first use, below
``$ALLRELEVANT_PEERS`` or ``.peers``; real data are read from ``$ALLRELEVANT_DATA``. What is missing is left out, with a
sentence.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks._common import print_table
from benchmarks.competitors.calling import METHODS, adapter, available
from benchmarks.experiment import RESULTS, SIZES, Experiment, Skipped
from benchmarks.registry import experiments
from benchmarks.selection import ENVIRONMENTS
from benchmarks.standins import write_standins


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says."""
    options = _parser().parse_args(argv)
    every = experiments()
    unknown = sorted(set(getattr(options, "names", ())) - set(every))
    if unknown:
        print(f"unknown experiment {', '.join(unknown)}; there are {', '.join(every)}")
        return 2
    chosen = [every[name] for name in getattr(options, "names", ()) or every]
    if options.command == "list":
        print_table(
            ["name", *SIZES, "reproduces"],
            [[each.name, *(len(each.wanted(size)) for size in SIZES), each.reproduces] for each in chosen],
        )
        return 0
    if options.command == "run":
        return _run(chosen, options)
    from benchmarks.page import show, write

    if options.command == "show":
        show(chosen, options.out)
    else:
        print(f"wrote {write(options.out)}")
    return 0


def _run(chosen: list[Experiment], options: argparse.Namespace) -> int:
    # CPU seconds are those of one thread, here and in the processes that are started.
    os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")})
    with threadpool_limits(limits=1):
        if options.size != "smoke":
            return _measure(chosen, options, options.out)
        # Everything can be run everywhere: with tables made up in the place of real data.
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as tables:
            write_standins(Path(tables))
            with _environment(ALLRELEVANT_DATA=tables):
                return _measure(chosen, options, Path(folder))


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Other variables of the environment for a while."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _measure(chosen: list[Experiment], options: argparse.Namespace, folder: Path) -> int:
    failed: list[str] = []
    methods = _methods(chosen, options)
    for each in chosen:
        print(f"== {each.name}: {each.title} ({each.reproduces})", flush=True)
        try:
            count = each.measure(
                options.size,
                folder=folder,
                methods=methods,
                seeds=options.seeds,
                again=options.again,
                n_jobs=options.jobs,
            )
        except Skipped as reason:
            print(f"skipped: {reason}")
            failed += [f"{each.name}: {reason}"] if options.size == "smoke" else []
            continue
        print(f"{count} runs")
        # Nothing must rot: of the smallest size every run of ours has to end with figures.
        if options.size == "smoke":
            failed += [f"{each.name}: {row}" for row in each.rows(folder) if _has_failed(row)]
    for line in failed:
        print(f"failed: {line}")
    return 1 if failed else 0


def _methods(chosen: list[Experiment], options: argparse.Namespace) -> list[str]:
    """Methods that are asked for and can be run; the smallest size makes no environments."""
    keys = [(each, key) for each in chosen if "method" in each.key for key in each.wanted(options.size)]
    every = list(dict.fromkeys(key[each.key.index("method")] for each, key in keys))
    asked = [method for method in every if options.methods is None or method in options.methods]
    adapted = [method for method in asked if method in METHODS]
    there = available(adapted, ENVIRONMENTS, install=options.size != "smoke")
    return [method for method in asked if method not in METHODS or method in there]


def _has_failed(row: dict[str, str]) -> bool:
    method = row.get("method", "")
    theirs = method in METHODS and bool(adapter(METHODS[method]).REQUIREMENTS)
    return bool(row.get("note")) and not row.get("cpu_seconds") and not theirs


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (
        ("list", "say what there is"),
        ("run", "do the runs that are missing"),
        ("show", "print the tables"),
        ("page", "write the page of the documentation"),
    ):
        command = commands.add_parser(name, help=what)
        command.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
        if name != "page":
            command.add_argument("names", nargs="*", help="experiments; all if there are none")
        if name == "run":
            size = command.add_mutually_exclusive_group()
            for each in SIZES:
                size.add_argument(f"--{each}", dest="size", action="store_const", const=each)
            command.set_defaults(size="quick")
            command.add_argument("--methods", nargs="+", help="only these")
            command.add_argument("--seeds", type=int, help="so many at most, for runs in pieces")
            command.add_argument("--again", action="store_true", help="also what the results have already")
            command.add_argument("--jobs", type=int, default=1, help="runs at a time")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

"""Fit designs by methods, a line of JSON per fit.

``python -m benchmarks.truth.run --designs plain 'flip*' --methods allrelevant --seeds 1000:1024 --cpu-budget 60``
appends to ``benchmarks/truth/results/<method>.jsonl`` and leaves out what is there already. ``--designs`` takes names,
patterns and families (``signal``, ``noise``, ``rows``, ``choosing``: not reserved, ``reserved``, ``all``).
``--variant 'name={"level": 0.1}'`` adds options of this library's estimators as a method; ``--name`` records the one
method under another name.

The CPU budget is that of a design and a method together, what is in the file included: once it is spent, the next one
has its turn, which is said. A fit that fails has a line as well, which says why; ``--again-errors`` tries these anew.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.truth.every import DESIGNS
from benchmarks.truth.methods import OWN_ENVIRONMENT, VARIANTS, methods, variant
from benchmarks.truth.record import Design
from benchmarks.truth.scoring import scores, written

RESULTS = Path(__file__).with_name("results")
FAMILIES = ("signal", "noise", "rows")


def chosen(names: Sequence[str], known: dict[str, Design]) -> list[Design]:
    """Designs by name, pattern or family.

    Raises
    ------
    ValueError
        If one of the names is none of these.
    """
    found: dict[str, Design] = {}
    for name in names:
        every = list(known.values())
        if name == "all":
            some = every
        elif name in ("reserved", "choosing"):
            some = [each for each in every if each.reserved == (name == "reserved")]
        elif name in FAMILIES:
            some = [each for each in every if each.family == name and not each.reserved]
        else:
            some = [each for each in every if fnmatchcase(each.name, name)]
        if not some:
            raise ValueError(f"designs={name!r} is no design, pattern or family; there are {', '.join(known)}")
        found |= {each.name: each for each in some}
    return list(found.values())


def seeds_of(words: Iterable[str]) -> list[int]:
    """Read seeds: ``1000:1024`` is without the last, as in Python."""
    found: list[int] = []
    for word in words:
        first, colon, last = word.partition(":")
        found += range(int(first), int(last)) if colon else [int(first)]
    return found


def known_lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a file; one that was cut off by an interruption is an error that says where."""
    lines = []
    for k, line in enumerate(path.read_text().splitlines() if path.exists() else [], start=1):
        try:
            lines.append(json.loads(line))
        except ValueError as error:
            raise ValueError(f"{path}, line {k} is no JSON ({error}); delete the line") from error
    return lines


def append(path: Path, line: dict[str, Any]) -> None:
    """Write a line whole, also if several processes write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(line, separators=(",", ":")) + "\n")


def fit(design: Design, method: Any, name: str, seed: int) -> dict[str, Any]:
    """Draw, fit and compare: the line of one fit."""
    record = design(seed)
    line = {"design": design.name, "method": name, "seed": seed, "n": len(record.y), "d": len(record.grades)}
    line |= {"fingerprint": record.fingerprint}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        try:
            answer = method(record, seed)
            if answer.classes.shape != record.grades.shape:
                raise ValueError(f"classes of shape {answer.classes.shape} for {len(record.grades)} columns")
        except Exception as error:  # noqa: BLE001 whatever goes wrong in a method is a finding about it
            said = f"{type(error).__name__}: {error}"[:300]
            return {**line, "cpu_seconds": _rounded(time.process_time() - began), "error": said}
        used = time.process_time() - began if answer.cpu_seconds is None else answer.cpu_seconds
    line |= {key: _rounded(value) for key, value in scores(record.grades, answer.classes).items()}
    line |= {"truth": written(record.grades), "called": written(answer.classes), "cpu_seconds": _rounded(used)}
    if answer.pvalues is not None:
        line["pvalues"] = [float(f"{value:.3g}") for value in answer.pvalues]
    return {**line, "note": answer.note} if answer.note else line


@cache
def warm_up(method: str) -> None:
    """Fit once what is not counted, so that everything is imported."""
    if method not in OWN_ENVIRONMENT:
        fit(DESIGNS["noise_20x8"], methods()[method], method, 0)


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def configuration(
    design: Design, method: Any, name: str, seeds: Sequence[int], path: Path, budget: float, spent: float
) -> str:
    """Fit all seeds of a design by a method, until the budget is spent; return what is to be said of it."""
    lines: list[dict[str, Any]] = []
    for seed in seeds:
        if spent >= budget:
            break
        lines.append(fit(design, method, name, seed))
        append(path, lines[-1])
        spent += lines[-1]["cpu_seconds"]
    failed = [line["error"] for line in lines if "error" in line]
    right = [line for line in lines if "error" not in line]
    words = f"{design.name}, {name}: {len(lines)} fits, {sum(line['cpu_seconds'] for line in lines):.1f} CPU s"
    if right:
        words += f", false {np.mean([line['false_share'] for line in right]):.3f}"
        told = [line["f1"] for line in right if line["f1"] is not None]
        words += f", F1 {np.mean(told):.3f}" if told else f", any {np.mean([line['any'] for line in right]):.3f}"
    words += f", {len(failed)} FAILED: {failed[0]}" if failed else ""
    left = len(seeds) - len(lines)
    return words + (f"; budget of {budget:g} CPU s spent, {left} seeds left out" if left else "")


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says."""
    options = _parser().parse_args(argv)
    try:
        every = methods(dict(variant(text) for text in options.variant))
        designs, seeds = chosen(options.designs, dict(DESIGNS)), seeds_of(options.seeds)
        unknown = [name for name in options.methods if name not in every]
        if unknown:
            raise ValueError(f"methods={unknown[0]!r} is no method; there are {', '.join(every)}")
        if options.name and len(options.methods) > 1:
            raise ValueError(f"name={options.name!r} is for one method; there are {len(options.methods)}")
        tasks = list(_tasks(options, designs, every, seeds))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    try:
        for said in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(tasks):
            print(said, flush=True)
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _tasks(options: argparse.Namespace, designs: list[Design], every: dict[str, Any], seeds: list[int]) -> Any:
    for method in options.methods:
        name = options.name or method
        path = options.results or RESULTS / f"{name}.jsonl"
        lines = known_lines(path)
        if options.again_errors:
            lines = [line for line in lines if "error" not in line]
            path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        done, spent = defaultdict(set), defaultdict(float)
        for line in lines:
            if line["method"] == name:
                done[line["design"]].add(line["seed"])
                spent[line["design"]] += line["cpu_seconds"]
        for design in designs:
            left = [seed for seed in seeds if seed not in done[design.name]]
            if left:
                arguments = (every[method], name, left, path, options.cpu_budget, spent[design.name])
                yield delayed(_by_name)(design.name, method, options.variant, *arguments[1:])


def _by_name(design: str, method: str, variants: list[str], name: str, *rest: Any) -> str:
    # Functions within functions do not travel to other processes: names do.
    every = methods(dict(variant(text) for text in variants))
    warm_up(method if method in methods() else next(iter(VARIANTS)))
    return configuration(DESIGNS[design], every[method], name, *rest)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.truth.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--designs", nargs="+", default=["choosing"], help="names, patterns or families")
    parser.add_argument("--methods", nargs="+", default=["allrelevant"])
    parser.add_argument("--seeds", nargs="+", default=["0:4"], help="such as 1000:1024")
    parser.add_argument("--jobs", type=int, default=1, help="configurations at a time")
    parser.add_argument("--cpu-budget", type=float, default=np.inf, help="CPU seconds of a design and a method")
    parser.add_argument("--results", type=Path, help="file of the lines; results/<method>.jsonl if it is not given")
    parser.add_argument("--name", help="name of the one method in the results")
    parser.add_argument("--variant", action="append", default=[], help='name={"option": value}')
    parser.add_argument("--again-errors", action="store_true", help="try anew what failed")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

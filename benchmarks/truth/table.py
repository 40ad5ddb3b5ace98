"""Figures of the results: error and power of every method on every design.

``python -m benchmarks.truth.table`` prints them, of some designs and methods if these are named; ``--page`` writes
``docs/truth.md`` and its drawing. Lines are read from all files ``*.jsonl`` of ``benchmarks/truth/results``, or of the
files that ``--results`` names.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._common import print_table
from benchmarks.blocks import Mean
from benchmarks.truth.every import DESIGNS
from benchmarks.truth.record import NOISE
from benchmarks.truth.run import RESULTS, chosen, known_lines
from benchmarks.truth.scoring import read

Line = dict[str, Any]
#: Designs that ask for the same thing.
SETS: dict[str, tuple[str, ...]] = {
    "weak labels, odd columns": ("plain", "flip10", "flip20", "imb10", "imb20", "outliers", "rare", "lognormal"),
    "suppressors": ("suppressors", "regression_suppressors"),
    "blocks of 7": ("blocks", "regression_blocks"),
    "factors": ("factors", "regression_factors"),
    "AR(.9)": ("ar", "regression_ar"),
    "80 × 200": ("wide",),
    "ecoli70": ("ecoli70", "ecoli70_sign"),
    "magic-niab": ("magic", "magic_sign"),
    "Sim1 to Sim5": ("sim1", "sim2", "sim3", "sim4", "sim5"),
}
#: Lines of a design by a method.
Cells = Mapping[tuple[str, str], Sequence[Line]]


@dataclass(frozen=True)
class Summary:
    """What the fits of a design by a method come to.

    Attributes
    ----------
    false_share : Mean or None
        Share of noise among what was found; None if all fits failed.
    f1, power : Mean or None
        F1 and share found of the relevant columns; None also where no column is relevant.
    any_noise, noise_called : Mean or None
        Share of the fits that call any noise relevant, and share of the noise that is.
    noise_05, noise_001 : float or None
        Share of the noise with a p-value below .05 and .001, where there are p-values.
    cpu_seconds : float
        Median of a fit.
    fits, failed : int
        Fits that ended with an answer, and that did not.
    error : str
        What the first of these said.
    """

    false_share: Mean | None
    f1: Mean | None
    power: Mean | None
    any_noise: Mean | None
    noise_called: Mean | None
    noise_05: float | None
    noise_001: float | None
    cpu_seconds: float
    fits: int
    failed: int
    error: str = ""


def mean_of(values: Iterable[float | bool | None]) -> Mean | None:
    """Mean and its standard error of the values that there are; None without any."""
    known = np.array([value for value in values if value is not None], dtype=float)
    if not len(known):
        return None
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else 0.0
    return Mean(float(known.mean()), float(error), len(known))


def mean_over(means: Sequence[Mean]) -> Mean:
    """Mean of means of which each counts alike, and the standard error that follows from theirs."""
    value, error = np.mean([each.value for each in means]), np.sqrt(np.sum([each.error**2 for each in means]))
    return Mean(float(value), float(error) / len(means), sum(each.runs for each in means))


def summary(lines: Sequence[Line]) -> Summary:
    """Sum up the lines of a design by a method."""
    right = [line for line in lines if "error" not in line]
    failed = [line["error"] for line in lines if "error" in line]
    noise = [read(line["truth"]) == NOISE for line in right]
    called = [(read(line["called"]) > 0)[where].mean() for line, where in zip(right, noise, strict=True) if where.any()]
    # None of the values is made up for columns that a method has no p-value for: it has one for all or for none.
    told = [np.array(line["pvalues"])[where] for line, where in zip(right, noise, strict=True) if "pvalues" in line]
    pvalues = np.concatenate(told) if told else None
    return Summary(
        mean_of(line["false_share"] for line in right),
        mean_of(line["f1"] for line in right),
        mean_of(line["recall"] for line in right),
        mean_of(line["any"] for line in right),
        mean_of(called),
        None if pvalues is None else float((pvalues < 0.05).mean()),
        None if pvalues is None else float((pvalues < 0.001).mean()),
        float(np.median([line["cpu_seconds"] for line in right])) if right else 0.0,
        len(right),
        len(failed),
        failed[0] if failed else "",
    )


def gathered(paths: Iterable[Path]) -> dict[tuple[str, str], list[Line]]:
    """Read files, and sort their lines by design and method.

    Raises
    ------
    ValueError
        If a design and seed stand for different data in different lines, or a fit has two lines.
    """
    cells: dict[tuple[str, str], list[Line]] = defaultdict(list)
    prints: dict[tuple[str, int], tuple[float, str]] = {}
    for path in paths:
        for line in known_lines(path):
            own, key = (line["design"], line["method"]), (line["design"], line["seed"])
            if any(line["seed"] == other["seed"] for other in cells[own]):
                raise ValueError(f"{path} has a second line of {own[0]}, {own[1]}, seed {line['seed']}; delete one")
            fingerprint, by = prints.setdefault(key, (line["fingerprint"], line["method"]))
            if not np.isclose(fingerprint, line["fingerprint"], rtol=1e-5):
                raise ValueError(
                    f"{path}: data of {key[0]}, seed {key[1]}, are not those of {by}; the design has changed since: "
                    "fit again what is older"
                )
            cells[own].append(line)
    return dict(cells)


def common(cells: Mapping[tuple[str, str], Summary], designs: Iterable[str], methods: Sequence[str]) -> list[str]:
    """Designs for which every one of the methods has an answer."""
    return [name for name in designs if all((name, m) in cells and cells[name, m].fits for m in methods)]


def broad(cells: Mapping[tuple[str, str], Summary], designs: Sequence[str], share: float = 0.75) -> list[str]:
    """Methods that have an answer for most of the designs, in alphabetical order."""
    methods = sorted({method for _, method in cells})
    return [
        m for m in methods if sum((d, m) in cells and cells[d, m].fits > 0 for d in designs) >= share * len(designs)
    ]


def average(
    cells: Mapping[tuple[str, str], Summary],
    designs: Sequence[str],
    method: str,
    measure: Callable[[Summary], Mean | None],
) -> Mean | None:
    """Mean of a measure over designs; those without it do not count."""
    means = [measure(cells[name, method]) for name in designs if (name, method) in cells]
    known = [each for each in means if each is not None]
    return mean_over(known) if known else None


def by_set(cells: Mapping[tuple[str, str], Summary], methods: Sequence[str]) -> list[list[str]]:
    """A line per set of designs: means of false share and F1, of methods that have answers for all of its designs."""
    lines = []
    for words, names in SETS.items():
        line = [words]
        for method in methods:
            whole = common(cells, names, [method]) == list(names)
            parts = [average(cells, names, method, measure) for measure in (_false_share, _f1)] if whole else []
            line.append(", ".join(shown(part) for part in parts))
        lines.append(line)
    return lines


def _false_share(own: Summary) -> Mean | None:
    return own.false_share


def _f1(own: Summary) -> Mean | None:
    return own.f1


def ahead(cells: Cells, design: str, ours: str, theirs: str) -> Mean | None:
    """How far the F1 of another method is ahead of ours, on the seeds that both have; None without such."""
    mine = {line["seed"]: line["f1"] for line in cells.get((design, ours), ()) if line.get("f1") is not None}
    other = {line["seed"]: line["f1"] for line in cells.get((design, theirs), ()) if line.get("f1") is not None}
    return mean_of(other[seed] - mine[seed] for seed in sorted(mine.keys() & other.keys()))


def shown(mean: Mean | None, digits: int = 2) -> str:
    """A mean and its standard error in a few characters."""
    if mean is None:
        return ""
    return f"{mean.value:.{digits}f} ±{mean.error:.{digits}f}" if mean.runs > 1 else f"{mean.value:.{digits}f}"


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.truth.table",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--results", type=Path, nargs="+", help="files; all of the results folder if not given")
    parser.add_argument("--designs", nargs="+", default=["all"], help="names, patterns or families")
    parser.add_argument("--methods", nargs="+", help="only these")
    parser.add_argument("--page", action="store_true", help="write docs/truth.md")
    options = parser.parse_args(argv)
    try:
        lines = gathered(options.results or sorted(RESULTS.glob("*.jsonl")))
        designs = [each.name for each in chosen(options.designs, dict(DESIGNS))]
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.page:
        from benchmarks.truth.page import write

        print(f"wrote {write(lines)}")
        return 0
    cells = {key: summary(some) for key, some in lines.items()}
    methods = options.methods or sorted({method for _, method in cells})
    _print(cells, designs, methods)
    return 0


def _print(cells: Mapping[tuple[str, str], Summary], designs: list[str], methods: list[str]) -> None:
    header = [
        "design",
        "method",
        "fits",
        "failed",
        "false",
        "F1",
        "power",
        "any",
        "noise called",
        "p<.05",
        "p<.001",
        "CPU s",
    ]
    rows = []
    for key in [(design, method) for design in designs for method in methods if (design, method) in cells]:
        rows.append([*key, *_row(cells[key])])
    print_table(header, rows)
    print()
    for words, family in (("signal", "signal"), ("reserved", "reserved"), ("pure noise", "noise")):
        some = [name for name in designs if name in {each.name for each in chosen([family], dict(DESIGNS))}]
        names = common(cells, some, methods)
        if not names:
            continue
        print(f"mean of the {len(names)} {words} designs that all of these methods have an answer for")
        means = []
        for method in methods:
            parts = [
                average(cells, names, method, lambda s, k=k: getattr(s, k))
                for k in ("false_share", "f1", "power", "any_noise")
            ]
            means.append([method, *(shown(part, 3) for part in parts)])
        print_table(["method", "false", "F1", "power", "any"], means)
        print()
    print("false share, F1")
    print_table(["", *methods], [line for line in by_set(cells, methods) if any(line[1:])])


def _row(own: Summary) -> list[Any]:
    shares = ["" if share is None else f"{share:.3f}" for share in (own.noise_05, own.noise_001)]
    means = [shown(each) for each in (own.false_share, own.f1, own.power, own.any_noise, own.noise_called)]
    return [own.fits, own.failed or "", *means, *shares, f"{own.cpu_seconds:.2f}"]


if __name__ == "__main__":
    raise SystemExit(main())

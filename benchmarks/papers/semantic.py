"""Does the relevance of privileged features follow the noise that they tell of? (thesis, 4.2.3 and Figure 4.2)

400 samples with three strongly relevant features and three irrelevant ones, all standard normal. The target is the sum
of the three strong features, cut into five classes of equal size: their weights are equal, so that they differ by
nothing but the noise that is added afterwards. The first hundred samples have noise of standard deviation 0.1 on the
first strong feature, the second hundred 0.5 on the second, the third hundred 2 on the third; the last hundred have
none. The privileged features are the noise that was added, 0 elsewhere.

The figure of the thesis has one run; here are ten seeds. ``above_previous`` is the share of runs in which a privileged
feature has a larger maxRel than the one with the next smaller noise. A fit that ends in a solver error has no figures;
it is in ``failed``, and the figures are those of the other runs.

Usage: ``python -m benchmarks.papers.semantic [--forms residual ...] [--seeds 10] [--jobs 1] [--plot FILE]``
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from allrelevant import LinearRelevanceOrdinal, RelevanceResult, RelevanceWarning
from allrelevant.errors import SolverError
from allrelevant.plotting import RelevanceDisplay
from benchmarks._common import mean, print_table, write_csv

HERE = Path(__file__).parent
FORMS = ("residual", "kept", "replaced")
NOISES = (0.1, 0.5, 2.0)
GROUP = 100
N_CLASSES = 5
REGULAR = [f"{kind} {k}" for kind in ("strong", "irrelevant") for k in (1, 2, 3)]
PRIVILEGED = [f"noise {noise:g} on strong {k}" for k, noise in enumerate(NOISES, start=1)]


def make_semantic(seed: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Draw regular features, target and privileged features."""
    rng = np.random.default_rng(seed)
    n_samples = GROUP * (len(NOISES) + 1)
    X = rng.standard_normal((n_samples, len(REGULAR)))
    ranks = np.argsort(np.argsort(X[:, : len(NOISES)].sum(axis=1)))
    added = np.zeros((n_samples, len(NOISES)))
    for k, noise in enumerate(NOISES):
        added[k * GROUP : (k + 1) * GROUP, k] = rng.normal(scale=noise, size=GROUP)
    X[:, : len(NOISES)] += added
    return pd.DataFrame(X, columns=REGULAR), ranks * N_CLASSES // n_samples, pd.DataFrame(added, columns=PRIVILEGED)


def fit(form: str, seed: int) -> RelevanceResult:
    """Fit the example of one seed."""
    X, y, added = make_semantic(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelevanceWarning)  # a model without weights is a finding, and shows
        return LinearRelevanceOrdinal(privileged=form, random_state=seed).fit(X, y, X_privileged=added).result_


def run(form: str, seed: int) -> list[dict[str, object]]:
    """Interval and class of every feature; empty if the fit fails."""
    failed = ""
    intervals: list[Any] = [("", "")] * (len(REGULAR) + len(PRIVILEGED))
    classes: list[Any] = [""] * len(intervals)
    try:
        result = fit(form, seed)
    except SolverError as error:
        failed = type(error).__name__
    else:
        intervals = [*result.intervals.tolist(), *result.privileged.intervals.tolist()]
        classes = [*result.classes.tolist(), *result.privileged.classes.tolist()]
    parts = ["regular"] * len(REGULAR) + ["privileged"] * len(PRIVILEGED)
    return [
        {
            "form": form,
            "seed": seed,
            "failed": failed,
            "part": part,
            "feature": feature,
            "minimum": low,
            "maximum": high,
            "class": relevance,
        }
        for part, feature, (low, high), relevance in zip(
            parts, [*REGULAR, *PRIVILEGED], intervals, classes, strict=True
        )
    ]


def summarise(rows: Sequence[dict[str, Any]], forms: Sequence[str]) -> list[dict[str, object]]:
    """Mean intervals, and the share of runs in which a feature is relevant, strong, and above the previous one."""
    out: list[dict[str, object]] = []
    for form in forms:
        previous = None
        for feature in [*REGULAR, *PRIVILEGED]:
            same = [row for row in rows if (row["form"], row["feature"]) == (form, feature)]
            ended = [row for row in same if not row["failed"]]
            low, high, relevance = ([row[field] for row in ended] for field in ("minimum", "maximum", "class"))
            out.append(
                {
                    "form": form,
                    "part": same[0]["part"],
                    "feature": feature,
                    "runs": len(same),
                    "failed": len(same) - len(ended),
                    "minimum": mean(low),
                    "maximum": mean(high),
                    "relevant": mean([each > 0 for each in relevance]),
                    "strong": mean([each == 2 for each in relevance]),
                    "above_previous": ""
                    if previous is None
                    else mean([after > before for after, before in zip(high, previous, strict=True)]),
                }
            )
            previous = high if feature in PRIVILEGED else None
    return out


def rising(rows: Sequence[dict[str, Any]], form: str) -> str:
    """Say in how many runs the relevance of the privileged features rises with the noise."""
    told = []
    for name, field in (("minRel", "minimum"), ("maxRel", "maximum")):
        runs = [
            [row[field] for row in rows if (row["form"], row["feature"]) == (form, feature) and not row["failed"]]
            for feature in PRIVILEGED
        ]
        rises = [first < second < third for first, second, third in zip(*runs, strict=True)]
        told.append(f"{name} in {sum(rises)} of {len(rises)} runs")
    return f"{form}: privileged relevance rises with the noise by {' and by '.join(told)}"


def draw(result: RelevanceResult, path: Path) -> None:
    """Draw regular features on the left and privileged ones on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    for ax, part, title in zip(
        figure.subplots(1, 2), (result, result.privileged), ("regular", "privileged"), strict=True
    ):
        RelevanceDisplay.from_result(part, ax=ax, sort=False)
        ax.set_title(f"{title} features")
    figure.savefig(path, dpi=150)
    print(f"wrote {path}")


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw seed 0 of the first form")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    runs = Parallel(n_jobs=options.jobs)(
        delayed(run)(form, seed) for form in options.forms for seed in range(options.seeds)
    )
    rows = [row for each in runs for row in each]
    summary = summarise(rows, options.forms)
    print_table(list(summary[0]), [list(row.values()) for row in summary])
    for form in options.forms:
        print(rising(rows, form))
    write_csv(options.out / "semantic.csv", rows)
    write_csv(options.out / "semantic_summary.csv", summary)
    if options.plot:
        draw(fit(options.forms[0], 0), options.plot)


if __name__ == "__main__":
    main()

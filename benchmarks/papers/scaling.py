"""How the time of a fit grows with samples and with features, on ordinal data (thesis, Figure A.3).

10 to 10000 samples of 20 features, and 10 to 500 features of 500 samples, one thread and two (the thesis: one and
eight). These runs were made beside others on a machine of two cores, where a second thread has little to do: compare
the CPU seconds. A second table goes beyond these sizes, up to 10^6 samples and 20000 features; its files are in
``benchmarks/scaling/results``.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from allrelevant import LinearRelevanceOrdinal
from allrelevant.datasets import make_relevance_ordinal
from benchmarks._common import f1_of_set, standardised
from benchmarks.blocks import Block, Picture, Table, prose, results
from benchmarks.drawing import save
from benchmarks.experiment import HERE, Experiment, Key

TITLE = "Scaling"

SAMPLES = (10, 30, 100, 300, 1000, 3000, 10000)
FEATURES = (10, 20, 50, 100, 200, 500)
THREADS = (1, 2)


def run(axis: str, n: int, d: int, threads: int, seed: int) -> dict[str, Any]:
    """Fit one size."""
    strong, weak = max(1, min(10, d // 5)), max(2, min(10, d // 5))
    X, y, relevance = make_relevance_ordinal(
        n, n_strong=strong, n_weak=weak, n_irrelevant=d - strong - weak, n_classes=5, random_state=seed
    )
    with threadpool_limits(limits=1):
        began, cpu = time.perf_counter(), time.process_time()
        model = LinearRelevanceOrdinal(random_state=seed, n_jobs=threads).fit(standardised(X), y)
        return {
            "seconds": time.perf_counter() - began,
            "cpu_seconds": time.process_time() - cpu,
            "f1": f1_of_set(relevance, model.relevance_classes_ > 0),
            "max_gap": model.result_.max_gap,
            "programs": model.result_.n_programs,
        }


def keys(size: str) -> list[Key]:
    """Sizes along both axes."""
    most = {"smoke": (30, 10), "quick": (1000, 100), "full": (SAMPLES[-1], FEATURES[-1])}[size]
    sizes = [("n", n, 20) for n in SAMPLES if n <= most[0]] + [("d", 500, d) for d in FEATURES if d <= most[1]]
    return [(*each, threads, 0) for each in sizes for threads in THREADS]


EXPERIMENT = Experiment(
    "scaling",
    "time by samples and by features",
    "thesis, Figure A.3",
    ("axis", "n", "d", "threads", "seed"),
    keys,
    run,
)


def section(folder: Path) -> list[Block]:
    """Figure A.3, with the exponents of the larger half of the sizes."""
    rows = results(folder, "scaling")
    if rows.empty:
        return []
    lines = [
        [
            f"n {row['n']:.0f}, d {row['d']:.0f}" + (", 2 threads" if row["threads"] == 2 else ""),
            f"{row['seconds']:.2f}",
            f"{row['cpu_seconds']:.2f}",
            f"{row['f1']:.2f}",
            f"{row['max_gap']:.0e}",
        ]
        for _, row in rows.sort_values(["axis", "n", "d", "threads"], ascending=[False, True, True, True]).iterrows()
    ]
    slopes = [f"{slope(rows, axis):.2f} in {axis}" for axis in ("n", "d")]
    return [
        prose(__doc__),
        Table("Figure A.3 in figures", ["", "seconds", "CPU seconds", "F1", "largest gap"], lines),
        f"Exponents of the CPU seconds of one thread, over the larger half of the sizes: {' and '.join(slopes)}.",
        beyond(),
        Picture("scaling", "Seconds of a fit by samples and by features, one thread and two.", partial(draw, rows)),
    ]


def beyond() -> Table:
    """Tall and wide data."""
    folder = HERE / "scaling" / "results"
    lines = []
    for name, words in (("tall", "simulated"), ("wide", "")):
        for _, row in results(folder, name).iterrows():
            threads = f", {row['jobs']:.0f} threads" if row.get("jobs", 1) > 1 else ""
            times = [f"{row['wall_seconds']:.0f}", f"{row['cpu_seconds']:.0f}", f"{row['max_gap']:.0e}"]
            lines.append([f"{words or row['set']}, n {row['n']:.0f}, d {row['d']:.0f}{threads}", *times])
    return Table("Beyond the thesis: classification", ["", "seconds", "CPU seconds", "largest gap"], lines)


def slope(rows: pd.DataFrame, axis: str) -> float:
    """Exponent of the CPU seconds."""
    same = rows[(rows["axis"] == axis) & (rows["threads"] == 1)].sort_values(axis)
    large = same.iloc[len(same) // 2 :]
    return float(np.polyfit(np.log(large[axis].astype(float)), np.log(large["cpu_seconds"].astype(float)), 1)[0])


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Both axes, one thread and two."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    for ax, axis, words in zip(figure.subplots(1, 2), ("n", "d"), ("samples", "features"), strict=True):
        for threads, style in ((1, "o-"), (2, "s--")):
            same = rows[(rows["axis"] == axis) & (rows["threads"] == threads)].sort_values(axis)
            ax.loglog(same[axis], same["seconds"], style, label=f"{threads} thread{'s' * (threads > 1)}")
        ax.set(xlabel=words, ylabel="seconds of a whole fit")
        ax.grid(alpha=0.3)
        ax.legend()
    save(figure, path)

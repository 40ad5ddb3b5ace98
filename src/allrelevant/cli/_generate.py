"""Writes drawn data, and the truth about them beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from allrelevant.cli._problems import Problem, closest
from allrelevant.datasets import (
    SIMULATIONS,
    RelevanceData,
    make_relevance_classification,
    make_relevance_ordinal,
    make_relevance_regression,
    make_simulation,
)
from allrelevant.report._files import write_whole
from allrelevant.result import RelevanceClass

__all__ = ["generate"]

MAKERS: dict[str, Callable[..., RelevanceData]] = {
    "classification": make_relevance_classification,
    "regression": make_relevance_regression,
    "ordinal": make_relevance_ordinal,
}


def generate(
    what: str, out: Path, *, name: str | None, samples: int, seed: int, counts: Mapping[str, int]
) -> tuple[Path, Path]:
    """Draw data and write them as a table, with the target in the last column.

    Returns
    -------
    data, truth : Path
        The table, and that of the true classes of its features.
    """
    if what == "simulation":
        if counts:
            raise Problem("A simulation has a fixed number of features; use 'generate classification' to choose it.")
        name = "sim1" if name is None else name
        if name not in SIMULATIONS:
            raise Problem(f"--name: there is no simulation {name!r}; {closest(name, SIMULATIONS)}")
        drawn = make_simulation(name, n_samples=samples, random_state=seed)
    elif name is not None:
        raise Problem(f"--name is for 'generate simulation'; leave it out for {what}.")
    else:
        drawn = MAKERS[what](samples, random_state=seed, **counts)
    if out.is_dir():
        raise Problem(f"--out: {out} is a folder; name a file in it, such as {out / 'data.csv'}.")
    names = [f"x{k}" for k in range(drawn.X.shape[1])]
    labels = [RelevanceClass(int(kind)).label for kind in drawn.relevance]
    truth = out.with_name(f"{out.name.removesuffix('.csv')}.truth.csv")
    try:
        table = pd.DataFrame(drawn.X, columns=names).assign(target=drawn.y)
        write_whole(out, lambda: str(table.to_csv(index=False)), "data.csv")
        write_whole(truth, lambda: str(pd.DataFrame({"feature": names, "relevance": labels}).to_csv(index=False)), "")
    except OSError as error:
        raise Problem(f"--out: {out} cannot be written ({error.strerror or error}); choose another place.") from None
    return out, truth

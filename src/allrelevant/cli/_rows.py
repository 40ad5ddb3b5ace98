"""Columns that say which rows belong together."""

from __future__ import annotations

import pandas as pd

from allrelevant.cli._problems import Problem

__all__ = ["rows_together"]

#: Folds keep groups whole, so there must be as many as there are folds.
FEWEST_GROUPS = 3


def rows_together(
    frame: pd.DataFrame,
    groups: str | None,
    strata: str | None,
    notices: list[str],
    facts: dict[str, str],
    code: list[str],
) -> dict[str, pd.Series]:
    """Return labels of groups and strata, by the argument of ``fit`` that takes them, with a notice about each.

    Raises
    ------
    Problem
        If rows have no label, or there are too few groups, or nothing can be compared within strata.
    """
    out: dict[str, pd.Series] = {}
    for option, name in (("groups", groups), ("strata", strata)):
        if name is None:
            continue
        labels = out[option] = frame[name]
        lacking = int(labels.isna().sum())
        if lacking:
            rows = "1 row" if lacking == 1 else f"{lacking} rows"
            raise Problem(f"--{option}: {name!r} has no value in {rows}; give every row one in the file, or leave such "
                          "rows out.")  # fmt: skip
        sizes = labels.value_counts()
        sizes = sizes[sizes > 0]
        one = "group" if option == "groups" else "stratum"
        many = f"{len(sizes)} {one if len(sizes) == 1 else option}"
        each = "1 row" if sizes.max() == 1 else f"{sizes.max()} rows"
        if sizes.min() < sizes.max():
            each = f"{sizes.min()} to {each}"
        notices.append(f"The rows are of {many} by {name}, with {each} each.")
        facts["groups of rows" if option == "groups" else option] = f"{name} ({len(sizes)})"
        code.append(f"row_{option} = frame[{name!r}]")
    if "groups" in out and out["groups"].nunique() < FEWEST_GROUPS:
        raise Problem(f"--groups: {groups!r} has too few different values, {out['groups'].nunique()}; at least "
                      f"{FEWEST_GROUPS} are needed. If the rows are independent, leave --groups out.")  # fmt: skip
    if "strata" in out and out["strata"].is_unique:
        raise Problem(f"--strata: {strata!r} differs in all rows, so no two can be compared; choose a column that rows "
                      "share, or leave --strata out.")  # fmt: skip
    if len(out) == 2:
        different = out["strata"].groupby(out["groups"], observed=True).nunique()
        if different.max() > 1:
            raise Problem(f"--strata: {strata!r} differs between the rows of one group, {groups} "
                          f"{different.idxmax()}; choose a column that whole groups share, or leave --strata out."
                          )  # fmt: skip
    return out

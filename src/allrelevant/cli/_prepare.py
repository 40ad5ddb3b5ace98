"""From a table to what an estimator takes, with a sentence for everything that was changed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from allrelevant.cli._columns import copies, is_constant, is_identifier, kind, number_like, too_many_levels
from allrelevant.cli._problems import Problem, closest, listed
from allrelevant.cli._read import Table
from allrelevant.cli._rows import rows_together
from allrelevant.cli._target import Target, ranked, read_target

__all__ = ["Prepared", "Wishes", "prepare"]


@dataclass(frozen=True)
class Wishes:
    """What a person asked for on the command line about their table."""

    target: str
    problem: str = "auto"
    order: list[str] = field(default_factory=list)
    privileged: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    impute: str | None = None
    sample_weight: str | None = None
    groups: str | None = None
    strata: str | None = None
    method: str = "linear"


@dataclass
class Prepared:
    """Samples, target and all else that an estimator takes.

    Attributes
    ----------
    X : DataFrame
        Features as numbers; for forests, missing values are NaN, and categories are columns of dtype ``category``.
    target : Target
        The target.
    groups : dict
        Columns that belong to one category, by its name.
    weight : Series or None
        Weights of the samples.
    belonging : dict
        Labels of the groups and strata of the samples, by the name of the argument that takes them.
    privileged : DataFrame or None
        Privileged features as numbers.
    left_out : list of str
        Columns of the table that are no features.
    facts : dict
        What was done to the data, for the report.
    code : list of str
        The same in Python, from ``frame`` to ``X`` and ``y``.
    method : str
        The method that this is for, ``"linear"`` or ``"forest"``.
    """

    X: pd.DataFrame
    target: Target
    groups: dict[str, list[str]] = field(default_factory=dict)
    weight: pd.Series | None = None
    belonging: dict[str, pd.Series] = field(default_factory=dict)
    privileged: pd.DataFrame | None = None
    left_out: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)
    method: str = "linear"

    @property
    def features(self) -> list[str]:
        """Names of the features: categories as a whole, and columns."""
        columns = {column for group in self.groups.values() for column in group}
        return [*self.groups, *(str(name) for name in self.X.columns if name not in columns)]


def prepare(table: Table, wishes: Wishes, notices: list[str]) -> Prepared:
    """Make samples and target of a table; sentences about what was noticed and changed are added to `notices`.

    Raises
    ------
    Problem
        If something is missing, or cannot be a feature or the target.
    """
    notices += table.notices
    _check_names(table, wishes)
    forest = wishes.method == "forest"
    if forest and wishes.privileged:
        raise Problem("--privileged is for --method linear, as forests take no privileged features; leave the columns "
                      f"out with --drop {','.join(wishes.privileged)}, or use them as features.")  # fmt: skip
    frame, name = table.frame, wishes.target
    facts, code = _facts(table), list[str]()
    without = int(frame[name].isna().sum())
    if without == len(frame):
        raise Problem(f"The target {name!r} has no values at all; choose another column.")
    if without:
        frame = frame.dropna(subset=[name]).reset_index(drop=True)
        notices.append(f"{_count(without, 'row')} without a value of {name} {_was(without)} left out.")
        facts["rows without target"] = str(without)
        code.append(f"frame = frame.dropna(subset=[{name!r}]).reset_index(drop=True)")
    target = read_target(frame[name], name, wishes.problem, wishes.order)
    target = ranked(target) if forest else target
    notices.append(target.notice)
    code += [f"y = frame[{name!r}]", *([target.code] if target.code else [])]
    facts["target"] = f"{name} ({target.problem})"

    weight = None
    apart = [name]
    if wishes.sample_weight is not None:
        weight = _weights(frame[wishes.sample_weight], wishes.sample_weight)
        apart.append(wishes.sample_weight)
        code.append(f"weight = frame[{wishes.sample_weight!r}].astype(float)")
    belonging = rows_together(frame, wishes.groups, wishes.strata, notices, facts, code)
    apart += [str(labels.name) for labels in belonging.values() if labels.name not in apart]
    X = frame.drop(columns=[*apart, *wishes.drop])
    left_out = _left_out(X, wishes, notices)
    X = X.drop(columns=left_out)
    if not len(X.columns):
        raise Problem(f"No feature is left beside the target {name!r}; keep some with --keep.")
    code.append(f"X = frame.drop(columns={[*apart, *wishes.drop, *left_out]!r})")
    dropped = [*wishes.drop, *left_out]
    facts["dropped"] = ", ".join(dropped) if dropped else "nothing"

    texts = [one for one in X.columns if one in wishes.categories or kind(X[one]) not in ("number", "boolean")]
    X = _filled(X, texts, wishes, notices, facts, code)
    _say_copies(X, frame[name], name, notices)
    X, groups = (_typed if forest else _encoded)(X, texts, notices, facts, code)
    privileged = None
    if wishes.privileged:
        X, groups, privileged = _set_apart(X, groups, wishes.privileged, left_out, code)
    return Prepared(X, target, groups, weight, belonging, privileged, dropped, facts, code, wishes.method)


def _check_names(table: Table, wishes: Wishes) -> None:
    """See that all columns named are there, and each has one part to play."""
    columns = list(table.frame.columns)
    if wishes.target not in columns and table.numeric_header:
        first = listed([str(one) for one in columns], most=4)
        raise Problem(
            f"{table.path} has no header row: its first row is {first}. Add one with the names of the columns."
        )
    weight, groups, strata = (
        [] if one is None else [one] for one in (wishes.sample_weight, wishes.groups, wishes.strata)
    )
    parts = {
        "--target": [wishes.target], "--sample-weight": weight, "--groups": groups, "--strata": strata,
        "--privileged": wishes.privileged, "--drop": wishes.drop, "--keep": wishes.keep,
        "--categories": wishes.categories,
    }  # fmt: skip
    for option, names in parts.items():
        for one in names:
            if one not in columns:
                raise Problem(f"{option}: there is no column {one!r} in {table.path.name}; {closest(one, columns)}")
    exclusive = [("--target", "--sample-weight"), ("--target", "--privileged"), ("--target", "--drop"),
                 ("--sample-weight", "--privileged"), ("--sample-weight", "--drop"), ("--drop", "--keep"),
                 ("--drop", "--privileged"),
                 *((one, other) for one in ("--groups", "--strata") for other in parts if other != one)]  # fmt: skip
    for first, second in exclusive:
        both = [one for one in parts[first] if one in parts[second]]
        if both:
            raise Problem(f"{both[0]!r} is given to {first} and to {second}; give it to one of them.")


def _facts(table: Table) -> dict[str, str]:
    rows, columns = table.frame.shape
    return {"file": table.path.name, "rows": str(rows), "columns": str(columns), "SHA-256": table.fingerprint}


def _weights(values: pd.Series, name: str) -> pd.Series:
    usable = kind(values) in ("number", "boolean") and not values.isna().any()
    if not usable or not (np.isfinite(weights := values.astype(float)) & (weights >= 0)).all():
        raise Problem(f"--sample-weight: {name!r} must have a number of at least 0 in every row.")
    return weights


def _left_out(X: pd.DataFrame, wishes: Wishes, notices: list[str]) -> list[str]:
    """Columns that cannot be features, with a notice about each kind of them."""
    found: dict[str, list[str]] = {reason: [] for reason in ("empty", "constant", "dates", "ids", "levels", "other")}
    spoilt: dict[str, str] = {}
    for name in X.columns:
        values, what = X[name], kind(X[name])
        if values.isna().all():
            found["empty"].append(name)
        elif what == "other" or (what == "date" and name in wishes.keep and not _is_text(values)):
            if name in wishes.keep:
                raise Problem(f"--keep: {name!r} is no number and no category; turn it into one first, such as days "
                              "since a date.")  # fmt: skip
            found["other"].append(name)
        elif name in wishes.keep:
            continue
        elif is_constant(values):
            found["constant"].append(name)
        elif name in wishes.categories:
            continue
        elif what == "date":
            found["dates"].append(name)
        elif what == "text" and (strange := number_like(values)):
            spoilt[name] = strange[0]
        elif is_identifier(name, values, what):
            found["ids"].append(name)
        elif what == "text" and too_many_levels(values):
            found["levels"].append(name)
    if spoilt:
        shown = listed([f"{name} ({example!r})" for name, example in spoilt.items()])
        raise Problem(f"There are texts among the numbers of {shown}; correct them in the file, or leave the "
                      f"{'column' if len(spoilt) == 1 else 'columns'} out with --drop {','.join(spoilt)}.")  # fmt: skip
    levels = [f"{name} ({X[name].nunique()})" for name in found["levels"]]
    _say(notices, found["empty"], "{} no values and {were} left out.", verb=("has", "have"))
    _say(notices, found["constant"], "{} the same in all rows and {were} left out.")
    _say(notices, found["dates"], "{} dates or times and {were} left out; turn them into numbers to use them.",
         verb=("holds", "hold"))  # fmt: skip
    _say(notices, found["ids"], "{} to number or name the rows and {were} left out; use --keep {keep} if not so.",
         verb=("seems", "seem"))  # fmt: skip
    _say(notices, found["levels"], "{} too many different texts and {were} left out; use --keep {keep} to encode them "
         "nevertheless.", shown=levels, verb=("has", "have"))  # fmt: skip
    _say(notices, found["other"], "{} neither numbers nor categories and {were} left out.", verb=("holds", "hold"))
    return [name for names in found.values() for name in names]


def _say(
    notices: list[str],
    names: list[str],
    sentence: str,
    *,
    shown: list[str] | None = None,
    verb: tuple[str, str] = ("is", "are"),
) -> None:
    if names:
        one = len(names) == 1
        subject = f"{listed(shown or names)} {verb[0] if one else verb[1]}"
        notices.append(sentence.format(subject, were="was" if one else "were", keep=",".join(names)))


def _filled(
    X: pd.DataFrame, texts: list[str], wishes: Wishes, notices: list[str], facts: dict[str, str], code: list[str]
) -> pd.DataFrame:
    """Fill missing values as asked, or name the columns that have some."""
    numbers = [name for name in X.columns if name not in texts]
    endless = [name for name in numbers if np.isinf(X[name].to_numpy(dtype=float, na_value=np.nan)).any()]
    if endless:
        raise Problem(f"There are infinite values in {listed(endless)}; correct them in the file, or leave "
                      f"{'it' if len(endless) == 1 else 'them'} out with --drop {','.join(endless)}.")  # fmt: skip
    lacking = {str(name): int(count) for name, count in X.isna().sum().items() if count}
    facts["imputed"] = "nothing"
    if lacking:
        shown = listed([f"{name} ({count})" for name, count in lacking.items()], most=12)
        if wishes.impute is None and wishes.method == "forest":
            total = sum(lacking.values())
            notices.append(f"{_count(total, 'missing value')} {_was(total)} kept, as forests take them: "
                           f"{shown}.")  # fmt: skip
            return X
        if wishes.impute is None:
            mostly = [name for name, count in lacking.items() if count > len(X) / 2] or list(lacking)
            few = f", or leave columns out with --drop {','.join(mostly)}" if len(mostly) <= 12 else ""
            raise Problem(f"Values are missing in {_count(len(lacking), 'column')}: {shown}. Fill them with --impute "
                          f"median or --impute mean (categories get their most frequent value){few}.")  # fmt: skip
        X = X.copy()
        gaps = [name for name in numbers if name in lacking]
        X[gaps] = X[gaps].astype(float)
        X[gaps] = X[gaps].fillna(X[gaps].agg(wishes.impute))
        code += (
            [f"gaps = {gaps!r}", f"X[gaps] = X[gaps].astype(float).fillna(X[gaps].{wishes.impute}())"] if gaps else []
        )
        for name in (name for name in texts if name in lacking):
            X[name] = X[name].fillna(X[name].mode()[0])
            code.append(f"X[{name!r}] = X[{name!r}].fillna(X[{name!r}].mode()[0])")
        ways = [f"the {wishes.impute}"] if gaps else []
        how = " or ".join(ways + ["the most frequent value"] * (len(lacking) > len(gaps)))
        total = sum(lacking.values())
        notices.append(f"{_count(total, 'missing value')} {_was(total)} filled with {how}: {shown}.")
        facts["imputed"] = f"{how}: {shown}"
    return X


def _say_copies(X: pd.DataFrame, y: pd.Series, name: str, notices: list[str]) -> None:
    pairs = copies(X, X.columns)
    if pairs:
        shown = listed([f"{later} says the same as {first}" for later, first in pairs.items()], most=5)
        notices.append(f"{shown}; all were kept, and each can stand in for the other.")
    told = [str(one) for one in X.columns if np.array_equal(pd.factorize(X[one])[0], pd.factorize(y)[0])]
    if told:
        notices.append(f"{listed(told)} says exactly what the target {name} says; unless that is meant, use "
                       f"--drop {','.join(told)}.")  # fmt: skip


def _encoded(
    X: pd.DataFrame, texts: list[str], notices: list[str], facts: dict[str, str], code: list[str]
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Give every level of a category a column of 0 and 1, one column alone if there are two levels."""
    two = [name for name in texts if X[name].nunique() == 2]
    more = [name for name in texts if name not in two]
    for names, first in ((two, True), (more, False)):
        if names:
            X = pd.get_dummies(X, columns=names, prefix_sep="=", drop_first=first, dtype=float)
            without = ", drop_first=True" if first else ""
            code.append(f'X = pd.get_dummies(X, columns={names!r}, prefix_sep="="{without}, dtype=float)')
    groups = {name: [str(column) for column in X.columns if str(column).startswith(f"{name}=")] for name in texts}
    code.append("X = X.astype(float)")
    if texts:
        shown = [f"{name} ({max(len(groups[name]), 2)})" for name in texts]
        notices.append(f"{_count(len(texts), 'category', 'categories')} {_was(len(texts))} encoded as one feature each "
                       f"(levels): {listed(shown)}.")  # fmt: skip
        code.append(f'groups = {{name: [c for c in X if c.startswith(f"{{name}}=")] for name in {texts!r}}}')
    facts["encoded"] = ", ".join(texts) if texts else "nothing"
    return X.astype(float), groups


def _typed(
    X: pd.DataFrame, texts: list[str], notices: list[str], facts: dict[str, str], code: list[str]
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Make categories of texts, as forests take them, and numbers of all else; no column becomes several."""
    numbers = [name for name in X.columns if name not in texts]
    code += [f"X = X.astype({{**dict.fromkeys({texts!r}, 'category'), **dict.fromkeys({numbers!r}, float)}})"]
    if texts:
        shown = listed([f"{name} ({X[name].nunique()})" for name in texts])
        notices.append(f"{_count(len(texts), 'column')} {_was(len(texts))} taken as categories (levels): {shown}.")
    facts["encoded"] = f"as categories: {', '.join(texts)}" if texts else "nothing"
    return X.astype({**dict.fromkeys(texts, "category"), **dict.fromkeys(numbers, float)}), {}


def _set_apart(
    X: pd.DataFrame, groups: dict[str, list[str]], privileged: list[str], left_out: list[str], code: list[str]
) -> tuple[pd.DataFrame, dict[str, list[str]], pd.DataFrame]:
    """Take the privileged columns out; their categories are features by level."""
    columns = [column for name in privileged if name not in left_out for column in groups.get(name, [name])]
    if not columns:
        raise Problem("None of the --privileged columns can be used; see above why they were left out.")
    if len(columns) == len(X.columns):
        raise Problem("--privileged names all features; leave some as regular ones.")
    code += [f"P = X[{columns!r}]", "X = X.drop(columns=P.columns)"]
    rest = {name: group for name, group in groups.items() if name not in privileged}
    if rest != groups:
        code.append(f"groups = {{name: group for name, group in groups.items() if name not in {privileged!r}}}")
    return X.drop(columns=columns), rest, X[columns]


def _is_text(values: pd.Series) -> bool:
    return isinstance(values.dropna().iloc[0], str)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"

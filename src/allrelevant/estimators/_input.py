"""Checks of what is particular to relevance estimators: privileged features, columns and rows that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, _num_samples

from allrelevant.estimators._hashing import table_of
from allrelevant.inference.exchange import FEWEST, exchangeability, numbered, torn_group
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices, Matrix

__all__ = [
    "STORAGE",
    "Member",
    "Rows",
    "Samples",
    "check_permutations",
    "check_privileged",
    "check_rows",
    "resolve_groups",
]

#: Data of any of these kinds.
Samples: TypeAlias = ArrayLike | Matrix
#: How data may be stored, for scikit-learn's validation; all else is converted. All computing is done in double
#: precision, where numbers of single precision are exact: converting only what is worked on saves a copy of the whole.
STORAGE: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

#: Name of a feature and its columns.
Member = tuple[str, NDArray[np.intp]]

#: Share of rows that repeat others up to which nothing is said.
MANY_REPEATS = 0.05
#: So many of these show whether a column is continuous: if its values lie on a grid, that has fewer lines per value.
SHOWN, LINES = 1000, 4.0
#: Where groups of equal size are rarer, copies hide what features tell.
MOST_KEPT = 0.5


def check_privileged(X_privileged: Any, n_samples: int) -> tuple[Array, list[str]]:
    """Return privileged features as numbers, and their names."""
    if sparse.issparse(X_privileged):
        raise TypeError(
            f"X_privileged is a {type(X_privileged).__name__}, but privileged features must be dense; give "
            "X_privileged.toarray()"
        )
    if not hasattr(X_privileged, "__array__"):
        X_privileged = np.asarray(X_privileged)
    rows = _num_samples(X_privileged)
    if rows != n_samples:
        raise ValueError(
            f"X_privileged has {rows} rows but X has {n_samples}; give the privileged features of the same samples, in "
            "the same order"
        )
    names = _get_feature_names(X_privileged)
    values = check_array(X_privileged, dtype=np.float64, input_name="X_privileged")
    return values, [f"p{k}" for k in range(values.shape[1])] if names is None else [str(name) for name in names]


def resolve_groups(feature_groups: Any, names: Sequence[str]) -> list[Member]:
    """Return all features, groups and single columns, in the order of their first columns."""
    group_of: dict[int, str] = {}
    groups: dict[str, list[int]] = {}
    for label, columns in _named(feature_groups):
        if isinstance(columns, str | bytes) or not isinstance(columns, Iterable):
            raise TypeError(
                f"feature_groups: group {label!r} is {columns!r}; give a list of columns, by position or by name"
            )
        found = [_position(column, label, names) for column in columns]
        if not found:
            raise ValueError(f"feature_groups: group {label!r} is empty; leave it out or name its columns")
        for k in found:
            if k in group_of:
                where = f"in group {label!r} twice" if group_of[k] == label else f"in {group_of[k]!r} and in {label!r}"
                raise ValueError(
                    f"feature_groups: column {names[k]!r} is {where}; groups must not overlap, so leave it in one place"
                )
            group_of[k] = label
        groups[label] = sorted(found)
    members = [(label, np.array(columns, dtype=np.intp)) for label, columns in groups.items()]
    members += [(names[k], np.array([k], dtype=np.intp)) for k in range(len(names)) if k not in group_of]
    return sorted(members, key=lambda member: int(member[1][0]))


def _named(feature_groups: Any) -> list[tuple[str, Any]]:
    if feature_groups is None:
        return []
    if isinstance(feature_groups, Mapping):
        return [(str(label), columns) for label, columns in feature_groups.items()]
    if isinstance(feature_groups, str | bytes) or not isinstance(feature_groups, Iterable):
        raise TypeError(
            f"feature_groups is {feature_groups!r}; give a dictionary of names and lists of columns, or a list of lists"
        )
    return [(f"group{k}", columns) for k, columns in enumerate(feature_groups)]


def _position(column: Any, label: str, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"feature_groups: column {column!r} of group {label!r} is none of the features of X")
        return list(names).index(column)
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if not 0 <= column < len(names):
            raise ValueError(
                f"feature_groups: column {column} of group {label!r} is out of range; the columns of X are 0 to "
                f"{len(names) - 1}"
            )
        return int(column)
    raise TypeError(f"feature_groups: column {column!r} of group {label!r} is neither a position nor a name")


class Rows(NamedTuple):
    """What is known of how the rows were sampled.

    Attributes
    ----------
    groups, strata : ndarray of shape (n_samples,) or None
        Numbers of the group and of the stratum of every row, in the order in which they appear; None where rows are
        independent, or of one stratum.
    notes : tuple of str
        What the user should know about them.
    """

    groups: Indices | None = None
    strata: Indices | None = None
    notes: tuple[str, ...] = ()


def check_rows(groups: Any, strata: Any, X: Any, target: Array, weight: Array) -> Rows:
    """Return which rows belong together, of those of positive weight; the others have numbers of no meaning."""
    used, notes = weight > 0, list[str]()
    labels = None if groups is None else _labels("groups", groups, len(weight))
    group = None if labels is None else _numbers("groups", labels)
    if labels is None:
        notes += _repeats(X, used)
    elif group is not None:
        counts = np.bincount(group[used])
        if np.count_nonzero(counts) == 1:
            raise ValueError(
                f"groups is {_shown(labels[used][0])} in all rows, but independent groups are needed to tell relevance "
                "from chance; give the label of every row's own group, or leave groups out if rows are independent"
            )
        if counts.max() == 1:
            group = None
            notes.append("groups has another label in every row, which is the same as no groups: rows are independent.")
    names = None if strata is None else _labels("strata", strata, len(weight))
    stratum = None if names is None else _numbers("strata", names)
    if names is not None and stratum is not None:
        counts = np.bincount(stratum[used])
        if np.count_nonzero(counts) == 1:
            stratum = None
            notes.append(f"strata is {_shown(names[used][0])} in all rows, which is the same as no strata.")
        elif counts.max() == 1:
            raise ValueError(
                "strata has another label in every row, so no two rows can be compared; give strata that several rows "
                "share, or leave strata out"
            )
    if labels is not None and names is not None and group is not None and stratum is not None:
        torn = torn_group(group[used], stratum[used])
        if torn is not None:
            one, other = (_shown(names[used][k]) for k in torn)
            raise ValueError(
                f"groups: group {_shown(labels[used][torn[0]])} has rows in stratum {one} and in stratum {other}; give "
                "strata that hold whole groups, or leave strata out"
            )
    if group is not None:
        some = exchangeability(int(used.sum()), target[used], group[used], None if stratum is None else stratum[used])
        if 1.0 - some.movable > MOST_KEPT:
            notes.append(
                f"Only groups with the same number of rows {'and of one stratum ' if stratum is not None else ''}can "
                f"change places, so {1.0 - some.movable:.0%} of the rows keep their values of the target, which hides "
                "relevant features; leave rows out so that more groups are equal in size."
            )
    return Rows(group, stratum, tuple(notes))


def check_permutations(rows: Rows, target: Array, weight: Array) -> None:
    """See that chance can be told from relevance at all.

    Raises
    ------
    ValueError
        If there are too few arrangements of the target for a p-value of 5 %.
    """
    used = weight > 0
    groups, strata = (None if numbers is None else numbers[used] for numbers in (rows.groups, rows.strata))
    found = exchangeability(int(used.sum()), target[used], groups, strata)
    if found.enough:
        return
    if np.ptp(target[used]) == 0.0:
        raise ValueError(
            f"y is the same in all {int(used.sum())} samples, so there is nothing to be told of it; give samples "
            "between which it varies"
        )
    if groups is None and strata is None:
        raise ValueError(
            f"X has {int(used.sum())} samples, with {found.n_permutations:.0f} different arrangements of y, but at "
            f"least {FEWEST} are needed to tell relevance from chance; give more samples (3 of each of two classes do)"
        )
    given = " and ".join(name for name, numbers in (("groups", groups), ("strata", strata)) if numbers is not None)
    raise ValueError(
        f"{given} allow only {found.n_permutations:.0f} different arrangements of y, but at least {FEWEST} are needed "
        "to tell relevance from chance: only groups of equal size in one stratum can change places; give more of them"
    )


def _labels(name: str, given: Any, n_samples: int) -> NDArray[Any]:
    """Labels of all rows; lists keep what they hold, which would become texts in a plain array."""
    if isinstance(given, str | bytes):
        raise TypeError(f"{name} is the text {given!r}; give the label of every row, such as frame[{given!r}]")
    labels = np.asarray(given) if hasattr(given, "__array__") else np.array(given, dtype=object)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"{name} has shape {labels.shape}, but X has {n_samples} rows; give one label per row, shape ({n_samples},)"
        )
    missing = np.array([_is_missing(one) for one in labels]) if labels.dtype.kind in "Ofc" else labels != labels
    if missing.any():
        rows = f"row {np.flatnonzero(missing)[0]}" + (f" and {missing.sum() - 1} more" if missing.sum() > 1 else "")
        raise ValueError(f"{name} has no label in {rows}; give every row its label, or leave those rows out")
    return labels


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _numbers(name: str, labels: NDArray[Any]) -> Indices:
    """Numbers of labels in the order in which they appear, so that nothing depends on their names."""
    if labels.dtype != object:
        return numbered(labels)
    seen: dict[Any, int] = {}
    try:
        return np.array([seen.setdefault(label, len(seen)) for label in labels], dtype=np.intp)
    except TypeError as error:
        raise TypeError(f"{name} has labels that cannot be told apart ({error}); give texts or numbers") from None


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _repeats(X: Any, used: NDArray[np.bool_]) -> list[str]:
    """Say so if rows of continuous values repeat, as measurements of one subject do, or samples drawn twice."""
    rows = np.flatnonzero(used)
    n_features = X.shape[1]
    if n_features < 2:
        return []
    _, first, counts = np.unique(table_of(X).take(rows).keys(), return_index=True, return_counts=True)
    repeats = len(rows) - len(first)
    if repeats <= MANY_REPEATS * len(rows):
        return []
    # Rows of few values, and those where all are missing or 0, repeat by nature. The least keys are those of the same
    # rows in any order.
    some = X[rows[first[counts > 1][:SHOWN]]]
    columns = (some[:, [k]].toarray() if sparse.issparse(some) else some[:, k] for k in range(n_features))
    if not any(_is_continuous(column) for column in columns):
        return []
    return [
        f"{repeats} of {len(rows)} rows of X repeat another one exactly. If these are of one subject, or copies of one "
        "sample, they are not independent, and chance looks like relevance: give groups, the label of the subject or "
        "sample of every row."
    ]


def _is_continuous(column: NDArray[Any]) -> bool:
    """Whether most values are different, and no multiples of a unit, such as years or cents."""
    values = np.unique(column[np.isfinite(column)].astype(float))
    if len(values) < 2 or len(values) <= len(column) / 2:
        return False
    with np.errstate(over="ignore"):
        return bool(np.ptp(values) > LINES * len(values) * np.diff(values).min())

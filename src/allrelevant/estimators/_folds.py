"""Splits of the samples for the search for the hyperparameters: those that were given, or folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv

from allrelevant.estimators._canonical import Canonical
from allrelevant.estimators._examined import Request
from allrelevant.formulations import Formulation
from allrelevant.inference.exchange import numbered
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices, Matrix
from allrelevant.relevance.baseline import Fold

__all__ = ["combined", "divided_groups", "given_splits", "search_folds"]


#: Repeats of the cross-validation, as long as no more than so many samples are scored.
N_REPEATS, SCORED = 5, 10_000


def given_splits(
    cv: Any, formulation: Formulation, X: Matrix, y: NDArray[Any], target: Array, groups: Any
) -> list[tuple[Indices, Indices]] | None:
    """Splits by a generator or iterable of the user's, read once; None where `cv` is a number."""
    if isinstance(cv, Integral):
        return None
    splitter = check_cv(cv, y, classifier=formulation.strata(target) is not None)
    with warnings.catch_warnings():
        # `divided_groups` says what comes of it.
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        return list(splitter.split(X, y, groups))


def divided_groups(splits: Sequence[tuple[Indices, Indices]] | None, groups: Indices | None) -> list[str]:
    """Say so if given splits have rows of one group on both sides."""
    if splits is None or groups is None:
        return []
    divided = sum(bool(np.isin(groups[test], groups[train]).any()) for train, test in splits)
    if not divided:
        return []
    return [
        f"In {divided} of the {len(splits)} splits of cv, rows of one group are in training and test, so scores "
        "promise too much and C may be too large; give a number of folds, or a splitter such as GroupKFold."
    ]


def search_folds(
    cv: Any, request: Request, data: Canonical, *, strict: bool = True, repeats: int = N_REPEATS
) -> Iterator[Fold]:
    """Yield the splits of the search for `C`, repeat by repeat; none if samples or groups are few, unless `strict`.

    There are fewer repeats of more samples, of which the scores vary less.
    """
    formulation, weight = request.formulation, data.given_weight
    # Class weights weigh losses, not scores.
    factor = data.sample_weight / weight
    if request.splits is not None:
        for parts in request.splits:
            weights = np.zeros((2, len(request.target)))
            for side, part in zip(weights, parts, strict=True):
                side[part] = request.sample_weight[part]
            yield Fold(data.collect(weights[0]) * factor, data.collect(weights[1]))
        return
    # A sample of weight 2 is two samples, which may fall into different folds; more pieces than folds are useless.
    # One that was drawn twice is the same sample: a model must not be tested with what it was trained with.
    pieces = np.clip(np.rint(weight), 1, 1 if request.drawn else int(cv)).astype(int)
    unit = np.repeat(np.arange(len(data.target)), pieces)
    share = (weight / pieces)[unit]
    classes = formulation.strata(data.target[unit])
    groups = None if data.groups is None else data.groups[unit]
    try:
        most = int(cv)
        if request.drawn and groups is not None:  # fewer different groups may be drawn than there are
            most = max(2, min(most, int(groups.max()) + 1))
        count = _number_of_folds(most, classes, groups, every=formulation.needs_every_stratum, n_units=len(unit))
        labels = _labels(classes, None if data.strata is None else data.strata[unit], count)
        repeats = max(1, min(repeats, SCORED // len(unit)))
        splits = _splits(count, labels, groups, len(unit), request.seeds[0], repeats)
        if groups is not None:
            _check_parts(splits, classes if formulation.needs_every_stratum else None)
    except _TooFew as few:
        if strict:
            raise ValueError(str(few)) from None
        return
    for parts in splits:
        train, test = (np.bincount(unit[part], share[part], minlength=len(data.target)).astype(float) for part in parts)
        yield Fold(train * factor, test)


class _TooFew(Exception):
    """Samples or groups cannot be split."""


def _number_of_folds(
    cv: int, classes: NDArray[Any] | None, groups: Indices | None, *, every: bool, n_units: int
) -> int:
    """Return how many folds there can be: as many as asked for, or as a class has samples, or groups."""
    if groups is not None and (n_groups := int(groups.max()) + 1) < cv:
        raise _TooFew(
            f"groups has only {n_groups} groups, but cv={cv} folds, which keep groups whole, need {cv}; lower cv to "
            f"{n_groups}, or give C (such as C=1.0) to fit without cross-validation"
        )
    codes = np.zeros(n_units) if classes is None else classes
    if groups is not None:
        codes = np.unique(np.column_stack([codes, groups]), axis=0)[:, 0]
    sizes = np.unique(codes, return_counts=True)[1]
    most = int(sizes.min() if every else sizes.max())
    if most < 2:
        what = "sample" if groups is None else "group"
        raise _TooFew(
            f"the search for C needs at least 2 {what}s of each class, but a class has only 1 {what}; "
            "give C (such as C=1.0) to fit without cross-validation"
        )
    return min(cv, most)


def combined(classes: NDArray[Any] | None, strata: Indices | None) -> NDArray[Any] | None:
    """Labels of the classes within strata; None where there are neither."""
    if strata is None:
        return classes
    return numbered(np.column_stack([np.zeros(len(strata)) if classes is None else classes, strata]))


def _labels(classes: NDArray[Any] | None, strata: Indices | None, count: int) -> NDArray[Any] | None:
    """Labels to be kept in proportion: classes within strata, those that are too small for the folds as one stratum."""
    labels = combined(classes, strata)
    if labels is None or strata is None:
        return labels
    return combined(classes, np.where(np.bincount(labels)[labels] < count, -1, strata))


def _splits(
    count: int, labels: NDArray[Any] | None, groups: Indices | None, n_units: int, seed: int, repeats: int
) -> list[tuple[Indices, Indices]]:
    if groups is None:
        kind = KFold if labels is None else StratifiedKFold
    else:
        kind = GroupKFold if labels is None else StratifiedGroupKFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splitter = kind(count, shuffle=True, random_state=np.random.RandomState(seed))
        X = np.empty((n_units, 0))
        return [parts for _ in range(repeats) for parts in splitter.split(X, labels, groups)]


def _check_parts(splits: Sequence[tuple[Indices, Indices]], classes: NDArray[Any] | None) -> None:
    """See that whole groups have left something to test in every fold, and to train with of every class."""
    every = 0 if classes is None else len(np.unique(classes))
    for train, test in splits:
        if not len(test) or (classes is not None and len(np.unique(classes[train])) < every):
            raise _TooFew(
                "groups cannot be split into folds with every class in training, as a class is in too few groups; "
                "lower cv, give a splitter as cv, or give C (such as C=1.0) to fit without cross-validation"
            )

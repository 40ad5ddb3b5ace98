"""Splits of the samples for the search for the hyperparameters: those that were given, or folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from allrelevant.estimators._canonical import Canonical
from allrelevant.estimators._examined import Request
from allrelevant.formulations import Formulation
from allrelevant.lp import Array
from allrelevant.lp.matrix import Indices, Matrix
from allrelevant.relevance.baseline import Fold

__all__ = ["given_splits", "search_folds"]


def given_splits(
    cv: Any, formulation: Formulation, X: Matrix, y: NDArray[Any], target: Array
) -> list[tuple[Indices, Indices]] | None:
    """Splits by a generator or iterable of the user's, read once; None where `cv` is a number."""
    if isinstance(cv, Integral):
        return None
    return list(check_cv(cv, y, classifier=formulation.strata(target) is not None).split(X, y))


def search_folds(cv: Any, request: Request, data: Canonical, *, strict: bool = True) -> Iterator[Fold]:
    """Yield the splits of the search for `C`; none where a class is too small, unless `strict`."""
    formulation = request.formulation
    if request.splits is not None:
        for parts in request.splits:
            weights = np.zeros((2, len(request.target)))
            for side, part in zip(weights, parts, strict=True):
                side[part] = request.sample_weight[part]
            yield Fold(data.collect(weights[0]), data.collect(weights[1]))
        return
    # A sample of weight 2 is two samples, which may fall into different folds; more pieces than folds are useless.
    pieces = np.clip(np.rint(data.sample_weight), 1, int(cv)).astype(int)
    unit = np.repeat(np.arange(len(data.target)), pieces)
    share = (data.sample_weight / pieces)[unit]
    strata = formulation.strata(data.target[unit])
    sizes = np.array([len(unit)]) if strata is None else np.unique(strata, return_counts=True)[1]
    most = sizes.min() if formulation.needs_every_stratum else sizes.max()
    if most < 2 and not strict:
        return
    if most < 2:
        raise ValueError(
            "the search for C needs at least 2 samples of each class, but a class has only 1 sample; "
            "give C (such as C=1.0) to fit without cross-validation"
        )
    kind = KFold if strata is None else StratifiedKFold
    splitter = kind(min(int(cv), int(most)), shuffle=True, random_state=request.seeds[0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(splitter.split(unit, strata))
    for parts in splits:
        train, test = (np.bincount(unit[part], share[part], minlength=len(data.target)).astype(float) for part in parts)
        yield Fold(train, test)

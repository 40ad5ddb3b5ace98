"""Weights of classes, as scikit-learn has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allrelevant.lp import Array

__all__ = ["class_factors"]


def class_factors(class_weight: Any, labels: NDArray[Any], sample_weight: Array) -> Array | None:
    """By what the loss of every sample is multiplied for its class; None without class weights.

    ``"balanced"`` is that of :func:`sklearn.utils.class_weight.compute_class_weight`, but a sample of weight 2 counts
    as two.

    Raises
    ------
    ValueError
        If a dictionary names labels that y does not have, or weights that are not positive.
    """
    if class_weight is None:
        return None
    classes, codes = np.unique(labels, return_inverse=True)
    if isinstance(class_weight, Mapping):
        known = classes.tolist()
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise ValueError(
                f"class_weight names the label {unknown[0]!r}, which y does not have; its labels are "
                f"{', '.join(map(repr, known[:10]))}"
            )
        weights = np.array([float(class_weight.get(label, 1.0)) for label in known])
        wrong = np.flatnonzero(~((weights > 0.0) & np.isfinite(weights)))
        if len(wrong):
            raise ValueError(
                f"class_weight of the label {known[wrong[0]]!r} is {weights[wrong[0]]:g}; weights are positive: "
                "leave out the samples of a class that should not count"
            )
    else:
        sizes = np.bincount(codes, sample_weight)
        present = sizes > 0.0
        weights = np.ones(len(classes))
        weights[present] = sizes.sum() / (present.sum() * sizes[present])
    return np.asarray(weights[codes])

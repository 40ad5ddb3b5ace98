"""Which rows change places when features without a meaning are made."""

from __future__ import annotations

import numpy as np

from allrelevant.forest.learner import Indices, Sample

__all__ = ["row_permutation"]


def row_permutation(sample: Sample, rng: np.random.Generator) -> Indices:
    """Return the row that takes each place in a copy of all features.

    The only place where rows are permuted to learn what features without a meaning do.
    """
    return rng.permutation(len(sample.X)) if sample.rows is None else sample.rows.permutation(rng)

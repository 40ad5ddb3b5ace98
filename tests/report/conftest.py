"""Findings made by hand, for tests that need no fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from allrelevant.findings import Findings
from allrelevant.redundancy import FeatureGroups, Panel, Panels, Stability, Substitutes, SubstituteSet
from handmade import make_result


def _make_findings(n_strong=2, n_weak=4, n_irrelevant=3, *, seed=0, data=None, **changes):
    """Return findings with everything in them."""
    result = make_result(n_strong, n_weak, n_irrelevant, seed=seed, **changes)
    rng = np.random.default_rng(seed)
    names, relevant = result.feature_names, np.flatnonzero(result.classes > 0)
    m = len(relevant)
    contexts = rng.normal(size=(m, 2, m, 2))
    distances = rng.uniform(0.1, 1.0, (m, m))
    distances = np.triu(distances, 1) + np.triu(distances, 1).T
    labels = np.full(len(names), -1, dtype=np.intp)
    labels[relevant] = np.arange(m) // 2
    tree = linkage(squareform(distances)) if m > 1 else np.empty((0, 4))
    groups = FeatureGroups(result, labels, tuple(relevant.tolist()), contexts, distances, tree, 0.3, 42)
    weak = [names[k] for k in np.flatnonzero(result.classes == 1)][:6]
    substitutes = tuple(_substitutes(name, k, weak) for k, name in enumerate(weak))
    offered = tuple(names[k] for k in relevant)
    panels = tuple(
        Panel(offered[: k + 1], float(k + 1), None if k == 2 else 0.9 + 0.01 * k, 0.1 * (k == 1))
        for k in range(min(m, 3))
    )
    found = Panels(panels, offered, "weighted F1", 0.972, complete=True, timed_out=False, notes=("A note.",))
    classes = rng.integers(0, 3, (5, len(names)))
    intervals = np.sort(rng.uniform(0, 0.3, (5, len(names), 2)))
    return Findings(result, groups, substitutes, found, Stability(result, classes, intervals), data or {})


def _substitutes(name, k, weak):
    others = tuple(other for other in weak if other != name)[:2]
    sets = (
        SubstituteSet(others, (0.2, 0.1)[: len(others)], 0.3, 0.25, 0.5),
        SubstituteSet((), (), 0.1, float("inf"), float("inf")),
    )
    return Substitutes(name, sets[: 2 - k % 2], {"float": (0.0, 0.1)} if k else {})


@pytest.fixture(scope="session")
def make_findings():
    return _make_findings

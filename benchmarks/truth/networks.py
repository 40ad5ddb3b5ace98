"""Gaussian networks of real biology: one node is the target, all others are columns, beside an independent second draw.

The networks are not part of the project. ``ALLRELEVANT_NETWORKS`` names the folder with ``ecoli70.json`` and
``magic-niab.json``; without it, that is ``networks`` in the folder of the real data (``ALLRELEVANT_DATA``).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.experiment import data
from benchmarks.truth._parts import two_classes
from benchmarks.truth.record import NEEDED, NOISE, REDUNDANT, UNGRADED, Record, design

N_ROWS = 300
#: Where a column is needed (its standardised coefficient on all others) and where it is redundant (its correlation).
COEFFICIENT, CORRELATION = 0.15, 0.3
TARGETS = 8


@dataclass(frozen=True, eq=False)
class Network:
    """The population of a network.

    Attributes
    ----------
    covariance : ndarray of shape (n_nodes, n_nodes)
        Covariance of the nodes.
    grades : ndarray of shape (n_nodes, n_nodes)
        Row by row, with that node as the target: grade of every node; what stands on the diagonal means nothing.
    targets : tuple of int
        Nodes that may be targets, at least two columns needed or redundant, those for choosing first.
    """

    covariance: np.ndarray
    grades: np.ndarray
    targets: tuple[int, ...]


def folder() -> Path:
    """Folder of the networks."""
    named = os.environ.get("ALLRELEVANT_NETWORKS")
    return Path(named) if named else data("networks")


@cache
def network(name: str, where: Path) -> Network:
    """Read a network.

    Raises
    ------
    FileNotFoundError
        If it is not there.
    """
    path = where / f"{name}.json"
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}; name the folder of the networks by ALLRELEVANT_NETWORKS")
    return population(json.loads(path.read_text()))


def population(content: dict) -> Network:
    """Covariance and grades of a network, from its nodes, each with parents, coefficients and variance."""
    nodes, parts = content["nodes"], content["cpds"]
    place = {node: k for k, node in enumerate(nodes)}
    weights, variance = np.zeros((len(nodes), len(nodes))), np.empty(len(nodes))
    for node, part in parts.items():
        variance[place[node]] = part["variance"][0]
        for parent in part["parents"]:
            weights[place[node], place[parent]] = part["coefficients"][parent][0]
    spread = np.linalg.inv(np.eye(len(nodes)) - weights)
    covariance = (spread * variance) @ spread.T
    grades = np.array([_grades(covariance, k) for k in range(len(nodes))])
    told = [k for k in range(len(nodes)) if (np.delete(grades[k], k) > NOISE).sum() >= 2]
    # Every so many of them for choosing; the rest is for the report.
    chosen = [told[len(told) * j // TARGETS] for j in range(TARGETS)]
    return Network(covariance, grades, tuple(chosen + [k for k in told if k not in chosen]))


def _grades(covariance: np.ndarray, target: int) -> np.ndarray:
    deviation = np.sqrt(np.diag(covariance))
    others = np.delete(np.arange(len(covariance)), target)
    slopes = np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, target])
    correlation = covariance[others, target] / deviation[others] / deviation[target]
    found = np.where(np.abs(correlation) >= CORRELATION, REDUNDANT, UNGRADED)
    found[np.abs(slopes * deviation[others] / deviation[target]) >= COEFFICIENT] = NEEDED
    grades = np.full(len(covariance), UNGRADED)
    grades[others] = found
    return grades


@design("magic_other", name="magic-niab", kind="regression", rest=True, reserved=True, about="its other targets")
@design("ecoli70_other", name="ecoli70", kind="regression", rest=True, reserved=True, about="its other targets")
@design("magic_sign", name="magic-niab", kind="classification", about="the same, target above its median or below")
@design("magic", name="magic-niab", kind="regression", about="one of 8 of 44 traits on the others; 43 columns of noise")
@design("ecoli70_sign", name="ecoli70", kind="classification", about="the same, target above its median or below")
@design("ecoli70", name="ecoli70", kind="regression", about="one of 8 of 46 genes on the others; 45 columns of noise")
def gaussian(rng: np.random.Generator, name: str, kind: str, seed: int, rest: bool = False) -> Record:
    """300 rows of a network, whose target goes round with the seed, and of a second draw that is noise."""
    net = network(name, folder())
    targets = net.targets[TARGETS:] if rest else net.targets[:TARGETS]
    target = targets[seed % len(targets)]
    draw = rng.standard_normal((2 * N_ROWS, len(net.covariance))) @ np.linalg.cholesky(net.covariance).T
    others = np.delete(np.arange(len(net.covariance)), target)
    X = np.hstack([draw[:N_ROWS, others], draw[N_ROWS:, others]])
    y = draw[:N_ROWS, target]
    truth = np.append(net.grades[target, others], np.full(len(others), NOISE))
    return Record(X, y if kind == "regression" else two_classes(y, rng), kind, truth)

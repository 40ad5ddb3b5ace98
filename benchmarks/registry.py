"""Every experiment, by name."""

from __future__ import annotations

from importlib import import_module

from benchmarks.experiment import Experiment

#: Modules of ``benchmarks.papers`` that have an ``EXPERIMENT``, or several ``EXPERIMENTS``, in the order of the papers.
MODULES = (
    "ferel",
    "breast_cancer",
    "simulations",
    "biomedical",
    "constraints",
    "exploring",
    "grouping",
    "ordinal",
    "real_ordinal",
    "compas",
    "privileged",
    "semantic",
    "forest",
    "forest_data",
    "importances",
    "scaling",
)


def experiments() -> dict[str, Experiment]:
    """Return all of them, in the order of the papers."""
    found = [
        each
        for name in MODULES
        for module in (import_module(f"benchmarks.papers.{name}"),)
        for each in getattr(module, "EXPERIMENTS", None) or (module.EXPERIMENT,)
    ]
    return {each.name: each for each in found}

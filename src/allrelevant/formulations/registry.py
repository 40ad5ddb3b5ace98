"""Problem types by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from allrelevant.formulations.base import Formulation
from allrelevant.formulations.classification import Classification
from allrelevant.formulations.multiclass import MultiClass
from allrelevant.formulations.ordinal import OrdinalExplicit, OrdinalImplicit
from allrelevant.formulations.regression import Regression

__all__ = ["FORMULATIONS", "get_formulation"]

#: All problem types. A new one is a file beside this one and an entry here.
FORMULATIONS: Mapping[str, type[Formulation]] = MappingProxyType(
    {kind.name: kind for kind in (Classification, MultiClass, Regression, OrdinalExplicit, OrdinalImplicit)}
)


def get_formulation(name: str) -> type[Formulation]:
    """Return the class of a problem type.

    Examples
    --------
    >>> from allrelevant.formulations import get_formulation
    >>> get_formulation("classification")().metric.label
    'weighted F1'
    """
    try:
        return FORMULATIONS[name]
    except KeyError:
        raise ValueError(f"unknown problem type {name!r}; choose one of {', '.join(FORMULATIONS)}") from None

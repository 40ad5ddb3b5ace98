"""What is solved: one file per problem type, each of them a few rows of the canonical program."""

from allrelevant.formulations.base import Formulation
from allrelevant.formulations.classification import Classification
from allrelevant.formulations.ordinal import OrdinalExplicit, OrdinalImplicit
from allrelevant.formulations.registry import FORMULATIONS, get_formulation
from allrelevant.formulations.regression import Regression

__all__ = [
    "FORMULATIONS",
    "Classification",
    "Formulation",
    "OrdinalExplicit",
    "OrdinalImplicit",
    "Regression",
    "get_formulation",
]

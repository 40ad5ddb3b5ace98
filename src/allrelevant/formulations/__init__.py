"""What is solved: one file per problem type, each of them a few rows of the canonical program."""

from allrelevant.formulations.base import Feature, Formulation
from allrelevant.formulations.classification import Classification
from allrelevant.formulations.metrics import Metric
from allrelevant.formulations.multiclass import MultiClass
from allrelevant.formulations.ordinal import OrdinalExplicit, OrdinalImplicit
from allrelevant.formulations.privileged import PRIVILEGED_FORMS, ExplainedSlack, Residual
from allrelevant.formulations.registry import FORMULATIONS, get_formulation
from allrelevant.formulations.regression import Regression

__all__ = [
    "FORMULATIONS",
    "PRIVILEGED_FORMS",
    "Classification",
    "ExplainedSlack",
    "Feature",
    "Formulation",
    "Metric",
    "MultiClass",
    "OrdinalExplicit",
    "OrdinalImplicit",
    "Regression",
    "Residual",
    "get_formulation",
]

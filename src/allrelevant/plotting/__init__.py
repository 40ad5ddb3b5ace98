"""Drawings of a relevance result, and of the answers to questions about redundancy.

Drawing reads a :class:`~allrelevant.result.RelevanceResult`, or an answer of :mod:`allrelevant.redundancy`, and nothing
else. It needs matplotlib, which the extra ``plot`` installs; this module itself imports without it.
"""

from __future__ import annotations

from allrelevant.plotting.constraints import ConstraintDisplay
from allrelevant.plotting.groups import GroupsDisplay
from allrelevant.plotting.panels import PanelsDisplay
from allrelevant.plotting.relevance import RelevanceDisplay
from allrelevant.plotting.stability import StabilityDisplay
from allrelevant.plotting.substitutes import SubstitutionDisplay

__all__ = [
    "RelevanceDisplay",
    "ConstraintDisplay",
    "GroupsDisplay",
    "SubstitutionDisplay",
    "PanelsDisplay",
    "StabilityDisplay",
]

"""Drawings of a relevance result.

Drawing reads a :class:`~allrelevant.result.RelevanceResult` and nothing else. It needs matplotlib, which the
extra ``plot`` installs; this module itself imports without it.
"""

from __future__ import annotations

from allrelevant.plotting.relevance import RelevanceDisplay

__all__ = ["RelevanceDisplay"]

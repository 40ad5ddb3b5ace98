"""Relevance without lines: which features forests need, and which of them others can stand in for.

``boruta`` finds all relevant features by comparing them with permuted ones, ``decomposition`` tells those that nothing
can replace from the rest. ``learner`` holds the forests themselves. Nothing here knows estimators or results.
"""

from __future__ import annotations

"""The explorer: a local web page where holding a feature moves all others.

It needs Dash, which the extra ``explore`` installs; this module itself imports without it.
"""

from __future__ import annotations

from allrelevant.explore.serving import Explorer, embed, run

__all__ = ["Explorer", "embed", "run"]

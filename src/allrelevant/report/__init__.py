"""A relevance result as one web page that needs no network.

The page needs matplotlib and Jinja2, which the extra ``report`` installs; this module itself imports without
them.
"""

from __future__ import annotations

from allrelevant.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]

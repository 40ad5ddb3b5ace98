"""Findings as one web page that needs no network, as text and as a table.

The page needs matplotlib, plotly and Jinja2, which the extra ``report`` installs; this module itself imports without
them.
"""

from __future__ import annotations

from allrelevant.report.page import render_report, write_report
from allrelevant.report.tables import write_csv, write_markdown

__all__ = ["render_report", "write_csv", "write_markdown", "write_report"]

"""Runs the command line: ``python -m allrelevant``."""

from __future__ import annotations

import sys

from allrelevant.cli import main

if __name__ == "__main__":
    sys.exit(main())

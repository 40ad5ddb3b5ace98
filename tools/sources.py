#!/usr/bin/env python3
"""Tells Meson what it cannot see by itself: the version, and which files of the package are installed.

python tools/sources.py version
python tools/sources.py files      # relative to src, one per line
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src"
#: What is compiled, what came out of it, and what Python writes itself. Everything else is installed.
LEFT_OUT = {".pyx", ".pxd", ".c", ".h", ".so", ".pyd", ".pyc"}


def version() -> str:
    """Return what ``__version__`` of the package says, without importing it."""
    found = re.search(r'^__version__ = "(.+)"$', (SRC / "allrelevant" / "__init__.py").read_text("utf-8"), re.M)
    if not found:
        raise SystemExit("src/allrelevant/__init__.py has no line __version__ = ...")
    return found[1]


def files() -> list[str]:
    """Return all files of the package, as they are below ``src``, that are installed as they stand."""
    found = (path for path in (SRC / "allrelevant").rglob("*") if path.is_file() and path.suffix not in LEFT_OUT)
    return sorted(path.relative_to(SRC).as_posix() for path in found if not path.name.startswith("."))


if __name__ == "__main__":
    print(version() if sys.argv[1:] == ["version"] else "\n".join(files()))

"""Installs the package for work on it, with extras, and compiles what is to be compiled.

    python tools/develop.py test       # the extra "test"; into the environment of this Python

What a build needs comes from pyproject.toml and from the build backend, and stays in the environment, so that compiling
again fetches nothing.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def install(*what: str) -> None:
    """Install with pip into the environment of this Python."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if what and (status := subprocess.run([*pip, *what], cwd=ROOT, check=False).returncode):
        sys.exit(status)


def main() -> None:
    """Install what the build needs, then the package."""
    extras = f"[{','.join(sys.argv[1:])}]" if sys.argv[1:] else ""
    install(*tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"])
    importlib.invalidate_caches()
    backend = importlib.import_module("build_backend")  # beside this file; it imports what was just installed
    install(*backend.get_requires_for_build_editable())
    install("--no-build-isolation", "-e", f".{extras}")


if __name__ == "__main__":
    main()

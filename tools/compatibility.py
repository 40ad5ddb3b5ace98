"""Runs the tests with the lowest versions of packages that pyproject.toml allows, and with the newest.

    python tools/compatibility.py                                  # both, all tests
    python tools/compatibility.py --which lowest tests/lp          # one of them, some tests
    python tools/compatibility.py --python 3.12 --which newest     # with another Python
    python tools/compatibility.py --which newest -n 2              # whatever it does not know goes to pytest

Environments are made by uv, which is installed into a folder of its own if there is none. They are kept in ``--folder``
and made anew when pyproject.toml has changed. What is compiled is compiled anew every time, with the newest of what the
build needs: it must run with the lowest versions nevertheless.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The lowest of the packages that are named, with the newest of those that these need.
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
#: Old packages use what newer ones call deprecated: there, such warnings are not ours.
LENIENT = (
    "-W",
    "default::DeprecationWarning",
    "-W",
    "default::PendingDeprecationWarning",
    "-W",
    "default::FutureWarning",
)


def uv(folder: Path) -> str:
    """Return the command uv, installed if need be."""
    found = shutil.which("uv")
    if found:
        return found
    own = folder / "uv"
    if not (own / "bin" / "uv").exists():
        subprocess.run([sys.executable, "-m", "venv", own], check=True)
        subprocess.run([own / "bin" / "python", "-m", "pip", "install", "-q", "uv"], check=True)
    return str(own / "bin" / "uv")


def environment(which: str, python: str, folder: Path) -> Path:
    """Return the Python of an environment with all that tests need."""
    stamp = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + python.encode()).hexdigest()[:12]
    place = folder / f"{which}-{stamp}"
    inside = place / "bin" / "python"
    tool = uv(folder)
    install: list[str | Path] = [tool, "pip", "install", "-q", "--python", inside]
    if not (place / "complete").exists():
        subprocess.run([tool, "venv", "-q", "--clear", "--python", python, place], check=True)
        subprocess.run([*install, "--resolution", RESOLUTIONS[which], "-e", f"{ROOT}[test]"], check=True)
        (place / "complete").touch()
    else:
        subprocess.run([*install, "--no-deps", "--reinstall-package", "allrelevant", "-e", ROOT], check=True)
    return inside


def main() -> int:
    """Make the environments and run the tests; the status is that of the worst run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--which", choices=[*RESOLUTIONS, "both"], default="both", help="which versions of packages")
    parser.add_argument("--python", default=sys.executable, help="a Python, by path or version")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv-compatibility", help="where environments are kept")
    given, options = parser.parse_known_args()
    status = 0
    for which in RESOLUTIONS if given.which == "both" else [given.which]:
        python = environment(which, given.python, given.folder.resolve())
        lenient = LENIENT if which == "lowest" else ()
        print(f"== {which} versions, {python}", flush=True)
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *lenient, *options]
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        status = max(status, subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode)
    return status


if __name__ == "__main__":
    sys.exit(main())

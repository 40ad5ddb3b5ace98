"""What the tutorials need to run while the documentation is built."""

from __future__ import annotations

import os
from pathlib import Path


def arguments(gallery_conf: dict, script_vars: dict) -> list[str]:
    """Return the command line of an example: files are written to a folder below the build."""
    out = Path(gallery_conf["src_dir"]) / "_build" / "demo-output"
    return ["--out", os.path.relpath(out, Path(script_vars["src_file"]).parent)]

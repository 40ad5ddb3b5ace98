"""The command ``allrelevant``: fits, panels, reports and generated data without writing Python.

It needs the extra ``cli``; this module itself imports without it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

NEEDED = ("typer", "rich", "pandas", "charset_normalizer")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        What follows the name of the command; by default as this process was called.

    Returns
    -------
    int
        0 if all went well, 1 if something failed or is not installed, 2 if the input cannot be used, 130 after Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a name no terminal can show is no error
    try:
        from allrelevant.cli._app import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in NEEDED:
            raise
        sys.stderr.write(
            f"Error: the command line needs {error.name}, which is not installed: pip install 'allrelevant[cli]'\n"
        )
        return 1
    try:
        app(args=None if arguments is None else list(arguments), prog_name="allrelevant")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # What is left in the buffer has no reader; without this Python would complain when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0

"""Writing of files, complete or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], make: Callable[[], str | bytes], example: str) -> Path:
    """Write a file; one that is already there stays as it is until the new one is complete, and on the disk.

    Parameters
    ----------
    path : str or path-like
        The file. Folders that are missing are made.
    make : callable
        Makes the text, or the bytes; if it fails, nothing was touched.
    example : str
        A name of such a file, for messages.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    IsADirectoryError
        If `path` is a folder.
    NotADirectoryError
        If a part of `path` that should be a folder is a file.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"path={str(path)!r} is a folder; name a file in it, such as {path / example}")
    made = make()
    content = made.encode("utf-8", errors="backslashreplace") if isinstance(made, str) else made
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(
            f"path={str(path)!r} cannot be written: a part of {str(path.parent)!r} is a file, not a folder"
        ) from error
    unfinished = path.with_name(f".report-{secrets.token_hex(8)}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path

"""How a command ends: with a sentence and a code, never with a traceback."""

from __future__ import annotations

import functools
import os
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import typer

from allrelevant.cli._problems import Problem
from allrelevant.cli._show import say_problem
from allrelevant.errors import AllRelevantError, InfeasibleConstraint

__all__ = ["guarded"]

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
DEBUG = "ALLRELEVANT_DEBUG"

Command = TypeVar("Command", bound=Callable[..., None])


def guarded(command: Command) -> Command:
    """Turn errors into a sentence on standard error and an exit code; with ALLRELEVANT_DEBUG=1 also a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except BrokenPipeError:
            raise  # the reader has seen enough; the caller ends without a word
        except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - whatever it is, a person reads a sentence
            if os.environ.get(DEBUG, "0") not in ("", "0"):
                traceback.print_exc()
            code, sentence = _ending(error)
            say_problem(sentence)
            raise typer.Exit(code) from None

    return run  # type: ignore[return-value]


def _ending(error: BaseException) -> tuple[int, str]:
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "Interrupted; nothing more was written."
    if isinstance(error, Problem | InfeasibleConstraint):
        return BAD_INPUT, str(error)
    if isinstance(error, AllRelevantError):
        return FAILED, str(error)
    if isinstance(error, MemoryError):
        return FAILED, "The memory of this machine is not enough; leave out columns with --drop, or rows of the file."
    if isinstance(error, OSError):
        where = f"{error.filename} cannot be used: " if error.filename else ""
        return BAD_INPUT, f"{where}{error.strerror or error}."
    if isinstance(error, ValueError):
        return BAD_INPUT, str(error)
    return FAILED, f"Something unexpected happened ({error!r}); with {DEBUG}=1 the details are shown."

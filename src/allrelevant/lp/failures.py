"""What is said of engines that fail, as errors of this library's own types."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from numpy.linalg import LinAlgError

from allrelevant.errors import AllRelevantError, RelevanceWarning, SolverError

__all__ = ["NUMERICAL", "as_solver_error", "is_shortage", "unproven_bound", "warn_of"]

#: Failures of arithmetic or memory, after which the reference engine is asked. Any other exception is a mistake.
NUMERICAL = (ArithmeticError, LinAlgError, MemoryError)


def is_shortage(error: BaseException) -> bool:
    """Say whether memory was short."""
    return isinstance(error, MemoryError)


def warn_of(error: Exception, left: str) -> None:
    """Tell of a failure of the compiled engine, and what the reference engine is left with."""
    warnings.warn(
        f"the compiled engine failed ({_described(error)}); {left} are left to the reference engine, which takes "
        "longer and is proven like everything else",
        RelevanceWarning,
        stacklevel=3,
    )


def unproven_bound(weight: int, gap: float, limit: float, failure: Exception | None) -> SolverError:
    """Return the error for a bound that nobody proved; the failure is that of the engine asked last, if it failed."""
    bound = f"the bound of weight {weight} was not"
    if isinstance(failure, SolverError):
        return type(failure)(f"{bound} found: {failure}")
    if failure is not None:
        return SolverError(f"{bound} found: {_reason(failure)}")
    return SolverError(
        f"{bound} proven: its two sides are {gap:.2g} of the norm budget apart (limit {limit:g}); a wider budget or "
        "better scaled data may help"
    )


@contextmanager
def as_solver_error(what: str) -> Iterator[None]:
    """Let whatever goes wrong inside be an error of this library.

    Raises
    ------
    SolverError
        If it was not one already.
    """
    try:
        yield
    except AllRelevantError:
        raise
    except Exception as error:
        raise SolverError(f"{what}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if is_shortage(error):
        return (
            f"memory is short ({_described(error)}); fewer threads (n_jobs), fewer samples or fewer features may help"
        )
    return f"the engine failed ({_described(error)})"


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")

"""Everything that can go wrong, by type.

Bad input raises :class:`ValueError` or :class:`TypeError` as scikit-learn does. What an optimisation can run
into has types of its own, all of them :class:`AllRelevantError`.

Examples
--------
>>> from allrelevant.errors import AllRelevantError, SolverError
>>> issubclass(SolverError, AllRelevantError)
True
"""

from __future__ import annotations

__all__ = [
    "AllRelevantError",
    "InfeasibleProgram",
    "MissingExtra",
    "RelevanceWarning",
    "SolverError",
    "SolverTimeout",
    "UnboundedProgram",
]


class AllRelevantError(Exception):
    """Base of all errors of this library that are not plain bad input."""


class SolverError(AllRelevantError):
    """A linear program was not solved to a proven optimum, even by the reference engine started cold."""


class InfeasibleProgram(SolverError):
    """A linear program has no feasible point."""


class UnboundedProgram(SolverError):
    """A linear program has no finite optimum."""


class SolverTimeout(SolverError):
    """A time or iteration limit ended the solver before it had proven an optimum."""


class MissingExtra(AllRelevantError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'allrelevant[{extra}]'")
        self.package, self.extra, self.purpose = package, extra, purpose

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.purpose)


class RelevanceWarning(UserWarning):
    """The result holds, but something about the data or the model limits what it says."""

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

from collections.abc import Mapping

__all__ = [
    "AllRelevantError",
    "ClusterLost",
    "InfeasibleConstraint",
    "InfeasibleProgram",
    "MissingExtra",
    "RelevanceWarning",
    "SolverError",
    "SolverTimeout",
    "TimeLimitReached",
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


class TimeLimitReached(AllRelevantError):
    """The `time_limit` of a fit was reached before there was anything to return."""


class ClusterLost(AllRelevantError):
    """The cluster that solves the programs of a fit cannot be reached any more."""


class InfeasibleConstraint(AllRelevantError, ValueError):
    """No near-optimal model meets the constraints.

    Attributes
    ----------
    joint : bool
        True if every constraint could be met alone, but not all of them together; False if some are beyond the
        relevance interval of their feature.
    ranges : dict of str to tuple
        The features to blame, with the range of relevance that the constraints of the other ones leave for each.

    Examples
    --------
    >>> from allrelevant.errors import InfeasibleConstraint
    >>> error = InfeasibleConstraint(False, {"age": (0.1, 0.4)})
    >>> print(error)
    no near-optimal model meets the constraint: the relevance of age can only be from 0.1 to 0.4
    """

    def __init__(self, joint: bool, ranges: Mapping[str, tuple[float, float]]) -> None:
        self.joint, self.ranges = joint, dict(ranges)
        spans = [f"{name} can only be from {low:.4g} to {high:.4g}" for name, (low, high) in self.ranges.items()]
        if joint:
            message = (
                f"the constraints of {', '.join(self.ranges)} exclude each other, though each could be met alone: "
                f"under those of the others the relevance of {'; of '.join(spans)}"
            )
        else:
            plural = "s" if len(spans) > 1 else ""
            message = f"no near-optimal model meets the constraint{plural}: the relevance of {'; of '.join(spans)}"
        super().__init__(message)

    def __reduce__(self) -> tuple[type[InfeasibleConstraint], tuple[bool, dict[str, tuple[float, float]]]]:
        return type(self), (self.joint, self.ranges)


class MissingExtra(AllRelevantError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'allrelevant[{extra}]'")
        self.package, self.extra, self.purpose = package, extra, purpose

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.purpose)


class RelevanceWarning(UserWarning):
    """The result holds, but something about the data or the model limits what it says."""

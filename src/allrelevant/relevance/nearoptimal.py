"""The set of all models that are almost as good as the best one."""

from __future__ import annotations

from dataclasses import dataclass

from allrelevant.lp import Array, Budget, Program

__all__ = ["NearOptimalSet", "near_optimal_set"]

#: Share of the norm that the loss may always grow by: a relative slack of no loss at all would be none.
ABSOLUTE_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class NearOptimalSet:
    """All points with ``norm ≤ (1 + norm_slack) μ`` and ``loss ≤ (1 + loss_slack) ρ + a``.

    Attributes
    ----------
    program : Program
        The rows.
    w, b : ndarray
        The optimal point.
    mu, rho : float
        Its norm and loss.
    budget : Budget
        The relaxed norm and loss.
    """

    program: Program
    w: Array
    b: Array
    mu: float
    rho: float
    budget: Budget


def near_optimal_set(program: Program, w: Array, b: Array, *, norm_slack: float, loss_slack: float) -> NearOptimalSet:
    """Relax the norm and the loss of an optimal point."""
    mu, rho = float(program.norm(w)), float(program.loss(w, b))
    relaxed = Budget((1 + norm_slack) * mu, (1 + loss_slack) * rho + ABSOLUTE_SLACK * max(1.0, mu))
    return NearOptimalSet(program, w, b, mu, rho, relaxed)

"""The set of all models that are almost as good as the best one."""

from __future__ import annotations

from dataclasses import dataclass

from allrelevant.lp import Array, Budget, Program

__all__ = ["BUDGETS", "NearOptimalSet", "near_optimal_set"]

BUDGETS = ("split", "joint")

#: Share of the norm that the loss may always grow by, so that the set has an inside even without any slack.
ABSOLUTE_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class NearOptimalSet:
    """All points within a budget a little above what the optimal point spends.

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


def near_optimal_set(
    program: Program, w: Array, b: Array, C: float, *, norm_slack: float, loss_slack: float, budgets: str = "split"
) -> NearOptimalSet:
    """Relax what the optimal point of ``min norm + C · loss`` spends, μ of norm and ρ of loss.

    ``budgets="split"``: ``norm ≤ (1 + norm_slack) μ`` and ``loss ≤ ρ + loss_slack (ρ + μ/C) + a``. The loss may grow by
    a share of the whole objective, in units of the loss. A share of ρ alone would be next to nothing where the model
    fits the data closely, and redundant features would then look indispensable.

    ``budgets="joint"``: ``norm + C · loss ≤ (1 + norm_slack) (μ + C ρ) + a``, the objective as a whole.
    """
    mu, rho = float(program.norm(w)), float(program.loss(w, b))
    least = ABSOLUTE_SLACK * max(1.0, mu)
    if budgets == "joint":
        budget = Budget((1 + norm_slack) * (mu + C * rho) + least, price=C)
    else:
        budget = Budget((1 + norm_slack) * mu, rho + loss_slack * (rho + (mu / C if mu else 0.0)) + least)
    return NearOptimalSet(program, w, b, mu, rho, budget)

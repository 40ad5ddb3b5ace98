"""Values of C worth trying: multiples of the one up to which all weights of the best model are 0."""

from __future__ import annotations

import numpy as np

from allrelevant.lp import Array, PenalisedSolver, Program
from allrelevant.lp.certificate import repair
from allrelevant.lp.highs import HighsPenalised
from allrelevant.lp.penalised import best_offset
from allrelevant.lp.program import Duals

__all__ = ["N_PENALTIES", "null_offsets", "penalty_path"]

#: Values of C tried per setting of the other hyperparameters, half a decade apart.
N_PENALTIES = 9


def penalty_path(program: Program, weights: slice = slice(None)) -> Array:
    """Values of `C` worth trying, ascending, from just above the one below which the given weights are all 0.

    With weights at 0 only the offsets are fitted. Scaling that model's multipliers shows up to which `C` it stays
    optimal; the path covers four and a half decades above.
    """
    z = np.abs(_null_gradient(program)) / program.gamma
    pull = float(np.max(z[weights], initial=0.0))
    if pull == 0.0:
        return np.ones(1)
    return np.asarray(10.0 ** (0.5 * np.arange(1, N_PENALTIES + 1)) / pull)


def _without_weights(program: Program) -> Program:
    """The program without any weights."""
    return Program.build(
        np.zeros((program.n_rows, 0)), program.B, program.r, s=program.s,
        G=np.zeros((program.n_hard, 0)), H=program.H, h=program.h, v=program.v, slack=program.slacks.given,
    )  # fmt: skip


def null_offsets(program: Program) -> Array:
    """Offsets that are best without any weights."""
    if program.n_offsets != 1 or program.n_hard:
        return PenalisedSolver(_without_weights(program)).solve(1.0)[1]
    return best_offset(program)


def _null_gradient(program: Program) -> Array:
    """How much the loss falls with each weight at the best model without weights."""
    if not (program.v.any() or program.slacks.shared):
        b = null_offsets(program)
        need = program.r - program.B @ b
        tie = 1e-9 * np.maximum(1.0, np.abs(program.r))
        # Rows on the edge share what the offsets' equations ask of them evenly: no vertex of the solver's choosing.
        alpha = np.where(need > tie, 1.0, np.where(need < -tie, 0.0, 0.5)) * program.s
        even, unproven = repair(program, Duals(alpha[None], np.zeros((1, program.n_hard)), np.ones(1)))
        # Out of balance, the pull would change with what is added to a column, which the offsets make up for.
        if not unproven.any():
            return np.asarray((even.alpha @ program.A)[0] - program.u)
    # Multipliers of hard rows balance a cost of the offsets, or several rows a slack, or there is no even share: those
    # that the solver found.
    _, _, duals = HighsPenalised(_without_weights(program)).solve(1.0)
    return np.asarray((duals.alpha @ program.A + duals.beta @ program.G)[0] - program.u)

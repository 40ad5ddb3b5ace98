"""What is left of the rows when slacks and surpluses are eliminated."""

from __future__ import annotations

from typing import Any

from allrelevant.lp.backend import diagonal
from allrelevant.lp.rows import Rows

__all__ = ["Curvature", "SharedCurvature"]


class Curvature:
    """What is left of the rows when slacks and surpluses are eliminated: the diagonal ``D = 1 / (Q_ξ + Q_e)``."""

    def __init__(self, rows: Rows, slack: Any, surplus: Any, hard: Any) -> None:
        self.rows, self.xp = rows, rows.backend.xp
        self.slack, self.surplus = slack, surplus
        total = slack + surplus
        self.inverse = self.xp.concat([total, hard], axis=1) if rows.m else total
        self.D = 1.0 / self.inverse

    def pull(self) -> Any:
        """Answer of the multipliers of the hinge rows to that of the loss budget, of shape (t, n)."""
        return self.rows.s * self.slack * self.D[:, : self.rows.n]

    def rest(self, pull: Any) -> Any:
        """What is left of the slacks in the equation of the loss budget, of shape (t,), given :meth:`pull`."""
        return self.rows.weigh(pull * self.surplus)

    def apply(self, values: Any) -> Any:
        """``D values``."""
        return self.D * values

    def gram(self, columns: Any) -> Any:
        """``[A B]ᵀ D [A B]``."""
        out = self.rows.gram(self.D)
        self.add_columns(out, columns)
        return out

    def add_columns(self, matrices: Any, columns: Any) -> None:
        """Put what columns of the targets' own add to their matrices, in place; ``D`` may be one for all."""
        if columns is None:
            return
        rows, (t, m, n) = self.rows, columns.shape
        slots, own = rows.slots(columns), rows.owners(matrices, columns)
        D = self.D if len(self.D) == 1 else self.D[own]
        D, K = (rows.folded(D), rows.left) if rows.folds(columns) else (D, rows.K)
        weighted = D[:, None, :] * columns
        border = (weighted.reshape(t * m, n) @ K).reshape(t, m, -1)
        border[:, :, slots] = weighted @ self.xp.matrix_transpose(columns)
        matrices[own, slots, :] = border
        matrices[own, :, slots] = self.xp.matrix_transpose(border)

    def add_inverse(self, matrix: Any) -> None:
        """Add ``D⁻¹`` to matrices of the size of the rows."""
        diagonal(matrix)[...] += self.inverse


class SharedCurvature(Curvature):
    """The same where rows share slacks: ``D = (Q_ξ 11ᵀ + diag Q_e)⁻¹`` for the rows of each.

    With weights ``d = 1 / Q_e`` it takes the deviations of rows from their weighted mean as they are and the mean times
    ``1 / (1 + Q_ξ Σd)``. Means are taken of differences to the heaviest row of a slack: where one row outweighs the
    others, its deviation is all that matters, and would be lost in its distance to a rounded mean.
    """

    def __init__(self, rows: Rows, slack: Any, surplus: Any, hard: Any) -> None:
        self.rows, self.xp = rows, rows.backend.xp
        self.slack = slack
        self.inverse = self.xp.concat([surplus, hard], axis=1)
        self.d, self.hard = 1.0 / surplus, 1.0 / hard
        self.sum = rows.per_slack(self.d)
        self.first = rows.backend.heaviest(self.d, rows.slacks)
        self.share = 1.0 / (1.0 + slack * self.sum)

    def pull(self) -> Any:
        """Answer of the multipliers of the hinge rows to that of the loss budget, of shape (t, n)."""
        return self.d * self.rows.per_row(self.rows.s * self.slack * self.share)

    def rest(self, pull: Any) -> Any:
        """What is left of the slacks in the equation of the loss budget, of shape (t,), given :meth:`pull`."""
        return self.xp.sum(self.rows.s**2 * self.slack * self.share, axis=1)

    def apply(self, values: Any) -> Any:
        """``D values``."""
        rows, n = self.rows, self.rows.n
        hinge = values[:, :n]
        first = rows.backend.pick(hinge, self.first)
        apart = hinge - rows.per_row(first)
        mean = rows.per_slack(self.d * apart) / self.sum
        out = self.d * (apart - rows.per_row(mean) + rows.per_row((first + mean) * self.share))
        return self.xp.concat([out, self.hard * values[:, n:]], axis=1)

    def gram(self, columns: Any) -> Any:
        """``[A B]ᵀ D [A B]``."""
        rows, n, xp = self.rows, self.rows.n, self.xp
        out = []
        for k in range(len(self.d)):
            KT = rows.table.FT
            if columns is not None:
                KT = 1.0 * KT
                KT[rows.slots(columns)] = columns[k]
            first = KT[:, self.first[k]]
            apart = KT[:, :n] - rows.per_row(first)
            mean = rows.per_slack(apart * self.d[k]) / self.sum[k]
            apart = (apart - rows.per_row(mean)) * xp.sqrt(self.d[k])
            between = (first + mean) * xp.sqrt(self.sum[k] * self.share[k])
            hard = KT[:, n:] * xp.sqrt(self.hard[k])
            whole = xp.concat([apart, between, hard], axis=1)
            out.append(whole @ whole.T)
        return rows.backend.asarray(xp.stack(out))

    def add_inverse(self, matrix: Any) -> None:
        """Add ``D⁻¹`` to matrices of the size of the rows."""
        super().add_inverse(matrix)
        rows = self.rows
        n, same = rows.n, rows.of_row[:, None] == rows.of_row[None, :]
        matrix[:, :n, :n] += self.xp.where(same, rows.per_row(self.slack)[:, :, None], 0.0)

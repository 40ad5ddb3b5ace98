"""Which rows may be exchanged when a feature is compared with permuted copies of itself.

A copy has its rows permuted while the target stays where it is. The comparison is fair if the copy could as well have
been the feature: if the rows of a feature that tells nothing of the target have the same joint distribution in the new
order. That is an assumption about how the rows were sampled, and `groups` and `strata` say which one holds:

nothing given
    Rows are independent draws: every permutation is allowed.
strata
    Rows are exchangeable within a stratum (site, batch, matched set), and not between strata.
groups
    Groups (subjects, families, plates) are independent draws, the rows of one are not. Two groups of equal size can
    change places with all their rows. Groups of different sizes cannot: rows of one would stand among those of another,
    or be missing. Where the target is constant within every group that is all: the rows keep their order within the
    group, in which they may depend on each other in any way.
groups with a target that varies within some of them
    Groups change places as before, and the rows of every group are permuted as well. Without the former the copy of a
    feature that is constant within groups (the age of a subject) would be the feature itself, and what groups have in
    common would be the same in the copy. Without the latter a target that follows one pattern in every group (before
    and after a treatment) would meet the same pattern in the copy. Both together are valid where the rows of a group
    are exchangeable, such as an effect of the group and independent deviations from it: every group of the copy is
    then again one whole group. Rows that follow each other in time are not exchangeable.
groups and strata
    Groups change places within their stratum; every group belongs to one.

The permutations that are allowed are closed under composition, and each is drawn with the same chance. Therefore
a feature of noise and its copies are exchangeable, and so are the values of any statistic of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

__all__ = ["FEWEST", "Exchangeability", "exchangeability", "numbered", "torn_group"]

Indices = NDArray[np.intp]

#: With fewer arrangements of the target than this, chance alone reaches any value in more than 5 % of them.
FEWEST = 20


@dataclass(frozen=True, eq=False)
class Exchangeability:
    """The permutations of rows under which a feature of noise has the same distribution.

    Attributes
    ----------
    blocks : tuple of ndarray of shape (n_groups, size)
        Rows of groups that can change places: of one stratum and of equal size. A row that belongs to no group is a
        group of its own.
    within : bool
        Whether the rows of every group are permuted as well.
    log_permutations : float
        Natural logarithm of :attr:`n_permutations`.
    movable : float
        Share of the rows whose place can be taken by a row with another value of the target. The copy of a feature
        tells of the target in all other places what the feature tells.
    """

    blocks: tuple[Indices, ...]
    within: bool
    log_permutations: float
    movable: float

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(block.size for block in self.blocks)

    @property
    def groups(self) -> Indices:
        """Number of the group of every row; a row that belongs to none has one of its own."""
        numbers = np.empty(self.n_rows, dtype=np.intp)
        first = 0
        for block in self.blocks:
            numbers[block] = first + np.arange(len(block))[:, None]
            first += len(block)
        return numbers

    @property
    def restricted(self) -> bool:
        """Whether there are permutations of all rows that are not allowed."""
        if len(self.blocks) != 1:
            return self.n_rows > 0
        n_groups, size = self.blocks[0].shape
        return not (size == 1 or (n_groups == 1 and self.within))

    @property
    def n_permutations(self) -> float:
        """Number of different arrangements of the target that they make; ``inf`` beyond the largest float.

        Permutations that only exchange equal values of the target are one: they leave open what a feature tells of it.
        """
        with np.errstate(over="ignore"):
            count = float(np.exp(self.log_permutations))
        return float(np.rint(count)) if count < 1e12 else count

    @property
    def enough(self) -> bool:
        """Whether there are as many (20) as a p-value of 5 % takes."""
        return self.n_permutations >= FEWEST

    def permutation(self, rng: np.random.Generator) -> Indices:
        """Draw one of the permutations, each with the same chance.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where the random numbers come from.

        Returns
        -------
        order : ndarray of shape (n_rows,)
            Row that takes each place: the copy of `X` is ``X[order]``.
        """
        order = np.empty(self.n_rows, dtype=np.intp)
        for block in self.blocks:
            rows = block[rng.permutation(len(block))]
            order[block] = rng.permuted(rows, axis=1) if self.within else rows
        return order


def exchangeability(
    n_rows: int, target: ArrayLike, groups: ArrayLike | None = None, strata: ArrayLike | None = None
) -> Exchangeability:
    """Find out which permutations of rows are allowed.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    target : array-like of shape (n_rows,)
        What the features may tell of. Only which of its values are equal counts.
    groups : array-like of shape (n_rows,), default=None
        Label of the group of every row.
    strata : array-like of shape (n_rows,), default=None
        Label of the stratum of every row.

    Returns
    -------
    Exchangeability
        The permutations. They depend on the order of the rows, and not on what groups and strata are called.

    Raises
    ------
    ValueError
        If lengths differ, or a group has rows in several strata.

    Examples
    --------
    Six subjects with three rows each, and a target that is one for the subject:

    >>> import numpy as np
    >>> from allrelevant.inference.exchange import exchangeability
    >>> subject = np.repeat([0, 1, 2, 3, 4, 5], 3)
    >>> rows = exchangeability(18, target=subject < 3, groups=subject)
    >>> rows.n_permutations
    20.0
    >>> order = rows.permutation(np.random.default_rng(0))
    >>> all(len(set(block)) == 1 for block in subject[order].reshape(6, 3))
    True
    """
    values = numbered(_one_per_row("target", target, n_rows))
    group = np.arange(n_rows) if groups is None else numbered(_one_per_row("groups", groups, n_rows))
    stratum = np.zeros(n_rows, dtype=np.intp) if strata is None else numbered(_one_per_row("strata", strata, n_rows))
    torn = torn_group(group, stratum)
    if torn is not None:
        name, (one, other) = np.asarray(groups)[torn[0]], np.asarray(strata)[list(torn)]
        raise ValueError(
            f"groups: group {name!s} has rows in stratum {one!s} and in stratum {other!s}; give strata that hold whole "
            "groups, or leave strata out"
        )
    # The rows of one group after those of another, groups in the order of their first rows.
    rows, size = np.argsort(group, kind="stable"), np.bincount(group)
    first = np.cumsum(size) - size
    kind = numbered(np.column_stack([stratum[rows[first]], size]))
    alike = np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1])
    blocks = tuple(rows[first[some, None] + np.arange(size[some[0]])] for some in alike if len(some))
    within = bool((values != values[rows[first]][group]).any())
    return Exchangeability(
        blocks,
        within,
        sum(_log_arrangements(values[block], within) for block in blocks),
        sum(block.size for block in blocks if np.ptp(values[block])) / max(n_rows, 1),
    )


def numbered(labels: ArrayLike) -> Indices:
    """Numbers from 0 for labels, or for rows of labels, in the order in which they first appear."""
    given = np.asarray(labels)
    _, first, code = np.unique(given, axis=None if given.ndim == 1 else 0, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(first))
    return place[code.reshape(-1)]


def torn_group(group: Indices, stratum: Indices) -> tuple[int, int] | None:
    """Return two rows of one group that are in different strata, or None."""
    _, first, code = np.unique(group, return_index=True, return_inverse=True)
    torn = np.flatnonzero(stratum != stratum[first[code]])
    return (int(first[code[torn[0]]]), int(torn[0])) if len(torn) else None


def _one_per_row(name: str, given: ArrayLike, n_rows: int) -> NDArray[np.generic]:
    values = np.asarray(given)
    if values.shape != (n_rows,):
        raise ValueError(f"{name} has shape {values.shape}; give one value per row, {n_rows} in all")
    return values


def _log_arrangements(values: Indices, within: bool) -> float:
    """Logarithm of the number of different arrangements of a target of shape (n_groups, size)."""
    n_groups, size = values.shape
    values = np.sort(values, axis=1) if within else values
    alike = np.unique(values, axis=0, return_counts=True)[1]
    found = gammaln(n_groups + 1) - gammaln(alike + 1).sum()
    if within:
        # Within each group: rows in any order, less those of equal values.
        new = np.diff(values, axis=1, prepend=-1) != 0
        equal = np.diff(np.append(np.flatnonzero(new), new.size))
        found += n_groups * gammaln(size + 1) - gammaln(equal + 1).sum()
    return float(found)

"""Features that matter only together, such as the two of an exclusive or."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from allrelevant.datasets._checks import check_both_classes, check_choice, check_count, check_real
from allrelevant.datasets._columns import ColumnPlan, RelevanceData, expand, plan_columns

PROBLEMS = ("classification", "regression")
TRANSFORMS = ("shift", "monotone")

N_FRIEDMAN = 5
# Friedman's function of uniform columns has mean 14.41 and median 14.40.
FRIEDMAN_CENTRE = 14.4


def make_relevance_interaction(
    n_samples: int = 500,
    *,
    kind: str = "xor",
    order: int = 2,
    problem: str = "classification",
    n_weak: int = 0,
    n_irrelevant: int = 10,
    partition: Iterable[int] | None = None,
    transform: str = "shift",
    noise: float = 0.1,
    flip_y: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> RelevanceData:
    """Draw a problem whose features matter together, with known strong, weak and irrelevant ones.

    A score is made from independent uniform informative columns, and the target from the score: its sign, or
    the score itself. Some informative columns stay as they are: the strong features. Each of the others gives
    way to a group of copies of itself, and any copy can do the work of the whole group: the weak features.
    Irrelevant features are standard normal.

    ============== ================ ==================================================================
    `kind`         columns          score
    ============== ================ ==================================================================
    ``"xor"``      in (-1, 1)       product of the signs of all
    ``"product"``  in (-1, 1)       product of all
    ``"sine"``     in (-1, 1)       sin(π (x₁ + x₂ + ...))
    ``"friedman"`` five, in (0, 1)  10 sin(π x₁ x₂) + 20 (x₃ - 0.5)² + 10 x₄ + 5 x₅
    ============== ================ ==================================================================

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples, at least 2.
    kind : {"xor", "product", "sine", "friedman"}, default="xor"
        How the score depends on the informative columns.
    order : int, default=2
        Number of informative columns, at least 2. Friedman's function has five and does not use it.
    problem : {"classification", "regression"}, default="classification"
        What the target is: +1 where the score is above 0 (above 14.4 for Friedman's function, near its mean and
        median) and -1 elsewhere, or the score itself.
    n_weak : int, default=0
        Number of weakly relevant features over all groups: 0 or at least 2.
    n_irrelevant : int, default=10
        Number of irrelevant features.
    partition : iterable of int or None, default=None
        Sizes of the groups of weak features, each at least 2, that sum to `n_weak`. None makes one group. The
        first group takes the place of x₁, the second that of x₂, and so on; there are at most as many groups
        as informative columns.
    transform : {"shift", "monotone"}, default="shift"
        How the copies of a group differ: by constants between 1 and 2, or also by strictly increasing functions
        of that, in turn signed square, signed square root, cube and inverse hyperbolic sine.
    noise : float, default=0.1
        Strength of the Gaussian noise on the features: its standard deviation as a share of that of the column.
        Copies receive it before they are bent, so it harms all of them alike.
    flip_y : float, default=0.0
        Share of samples, in [0, 1), that end up in the wrong class; rounded to whole samples, all distinct.
        `X` does not depend on it. A regression has no classes: leave it at 0.
    random_state : int, RandomState instance or None, default=None
        Source of randomness. Pass an int for the same data at every call.

    Returns
    -------
    data : RelevanceData
        The named tuple ``(X, y, relevance)``: `X` of shape (n_samples, n_features) with strong, weak and
        irrelevant columns in this order, `y` of -1 and +1 (classification) or floats (regression), and the
        true class of every column as 0 (irrelevant), 1 (weak) or 2 (strong).

    Raises
    ------
    TypeError
        If an argument is of the wrong type.
    ValueError
        If an argument is out of range or unknown, the numbers of features contradict each other, or all labels
        of a classification are the same, which happens with a handful of samples.

    See Also
    --------
    make_nonlinear_set : Sets of the literature that no plane separates, by name.
    make_relevance_classification : Classes separated by a plane, or clusters.
    sklearn.datasets.make_friedman1 : Friedman's function, with noise on the target.

    Notes
    -----
    The truth is that of the columns before the noise, and of all functions of them, not only the linear ones.

    - *Strong.* The informative columns are independent, so nothing else tells about a strong one. And given
      all other columns, the target still depends on it: changing it alone changes the score and, with positive
      probability, the class.
    - *Weak.* A copy is an invertible function of its informative column, so beside another copy of the group it
      adds nothing: it is not strong. Without the other copies it is all there is of that column, and the
      argument for strong features holds.
    - *Irrelevant.* These columns are drawn apart from everything else.

    No feature can be found by itself, except with Friedman's function:

    - ``"xor"``: given all informative columns but one, the sign of that one is still even odds. So any set of
      columns that misses one of them is independent of the target.
    - ``"sine"``: the same. The sine repeats with period 2, the width of the range, and a sum with one uniform
      column, taken modulo 2, is uniform whatever the others are. The classes are oblique stripes, which are
      harder to cut along the axes than the quadrants of the exclusive or.
    - ``"product"``: given all columns but one, the target has mean 0 and is uncorrelated with any function of
      these, but its spread in a regression depends on them. Classes are those of ``"xor"``: for the same seed,
      the data are the same.
    - ``"friedman"``: x₁ and x₂ interact, x₃ is uncorrelated with the score as it acts by its square, and x₄
      and x₅ are linear.

    There is no transform by even functions, such as squares. Such a copy would lose the sign, with it what it
    knows of an exclusive or, and so be no substitute. Nor is there a saturating one, such as the hyperbolic
    tangent: large values would all be rounded to 1.

    With noise, the copies in a group differ, and all of them together are slightly better than any one. For data
    on which the truth holds exactly, pass ``noise=0``, with `flip_y` for classes that overlap.

    `X` depends on neither `problem` nor `flip_y`, and is the same for all kinds but ``"friedman"``.

    References
    ----------
    .. [1] J. H. Friedman, "Multivariate Adaptive Regression Splines", Annals of Statistics 19 (1), 1991,
       section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from allrelevant.datasets import make_relevance_interaction
    >>> X, y, relevance = make_relevance_interaction(noise=0, n_irrelevant=2, random_state=0)
    >>> relevance
    array([2, 2, 0, 0])
    >>> bool(np.all(y == np.sign(X[:, 0] * X[:, 1])))
    True

    Five informative columns, the first two in groups of copies that are bent:

    >>> data = make_relevance_interaction(
    ...     kind="friedman", problem="regression", n_weak=5, partition=[2, 3], transform="monotone", random_state=0
    ... )
    >>> data.X.shape
    (500, 18)
    >>> data.relevance
    array([2, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    """
    n_samples = check_count("n_samples", n_samples, minimum=2)
    kind = check_choice("kind", kind, SCORES)
    order = check_count("order", order, minimum=2)
    problem = check_choice("problem", problem, PROBLEMS)
    transform = check_choice("transform", transform, TRANSFORMS)
    noise = check_real("noise", noise)
    flip_y = check_real("flip_y", flip_y, below=1.0)
    if problem == "regression" and flip_y > 0:
        raise ValueError(
            f"flip_y={flip_y!r} has no meaning for problem='regression', which has no classes; "
            "pass flip_y=0 or problem='classification'"
        )
    plan = _plan(kind, order, n_weak=n_weak, n_irrelevant=n_irrelevant, partition=partition)
    rng = check_random_state(random_state)

    lowest = 0 if kind == "friedman" else -1
    informative = rng.uniform(lowest, 1, size=(n_samples, plan.n_informative))
    y = _target(problem, kind, SCORES[kind](informative))
    # The plan has the columns of groups last, and the groups take the place of the first ones.
    X, relevance = expand(np.roll(informative, -len(plan.weak_groups), axis=1), plan, rng)
    X += noise * X.std(axis=0) * rng.standard_normal(X.shape)
    if transform == "monotone":
        _bend(X, plan)
    if flip_y > 0:
        y[rng.choice(n_samples, round(flip_y * n_samples), replace=False)] *= -1
    if problem == "classification":
        check_both_classes(y, random_state=random_state)
    return RelevanceData(X, y, relevance)


def _plan(kind: str, order: int, *, n_weak: int, n_irrelevant: int, partition: Iterable[int] | None) -> ColumnPlan:
    n_informative = N_FRIEDMAN if kind == "friedman" else order
    plan = plan_columns(
        n_strong=n_informative, n_weak=n_weak, n_irrelevant=n_irrelevant, n_repeated=0, partition=partition
    )
    n_groups = len(plan.weak_groups)
    if n_groups > n_informative:
        raise ValueError(
            f"partition={list(plan.weak_groups)} has {n_groups} groups, but kind={kind!r} and order={order} "
            f"make {n_informative} informative columns; pass at most {n_informative} groups"
            + ("" if kind == "friedman" else ", or raise order")
        )
    return replace(plan, n_strong=n_informative - n_groups)


def _target(problem: str, kind: str, score: NDArray[np.float64]) -> NDArray[Any]:
    if problem == "regression":
        return score
    centre = FRIEDMAN_CENTRE if kind == "friedman" else 0.0
    return np.where(score > centre, 1, -1).astype(np.int64)


def _bend(X: NDArray[np.float64], plan: ColumnPlan) -> None:
    column = plan.n_strong
    for size in plan.weak_groups:
        for member in range(size):
            # Beyond the fourth member functions repeat, but of another shift: no two copies are the same.
            X[:, column] = INCREASING[member % len(INCREASING)](X[:, column])
            column += 1


def _xor(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return _product(np.sign(columns))


def _product(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    score: NDArray[np.float64] = columns.prod(axis=1)
    return score


def _sine(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    score: NDArray[np.float64] = np.sin(np.pi * columns.sum(axis=1))
    return score


def _friedman(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    x1, x2, x3, x4, x5 = columns.T
    score: NDArray[np.float64] = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    return score


def _signed_square(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * np.abs(x)


def _signed_root(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sign(x) * np.sqrt(np.abs(x))


def _cube(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x**3


Columnwise = Callable[[NDArray[np.float64]], NDArray[np.float64]]
SCORES: dict[str, Columnwise] = {"xor": _xor, "product": _product, "sine": _sine, "friedman": _friedman}
# All are strictly increasing on the whole line and neither saturate nor overflow, however strong the noise.
INCREASING: tuple[Columnwise, ...] = (_signed_square, _signed_root, _cube, np.arcsinh)

"""Types of the compiled kernel."""

from typing import Any

from numpy.typing import NDArray

from allrelevant.lp.matrix import Array, Indices

def solve(
    K: Array,
    r: Array,
    start: NDArray[Any],
    s: Array,
    lin: Array,
    gamma: Array,
    goal: Array,
    charge: Array,
    norm: float,
    loss: float,
    C: float,
    mode: int,
    x: Array,
    lam: float,
    nu: float,
    scale: float,
    inside: float,
    band: float,
    pairs: Array,
    again: bool,
    tol: float,
    beat: float,
    most: int,
    end: float,
) -> tuple[Array, Array, float, float, float, bool]: ...
def classify(margin: Array, limit: float, must: NDArray[Any], state: NDArray[Any]) -> int: ...
def gather(
    table: Array,
    r: Array,
    s: Array,
    state: NDArray[Any],
    columns: Indices,
    kept: NDArray[Any],
    K: Array,
    right: Array,
    lin: Array,
) -> float: ...
def unseen(margin: Array, s: Array, state: NDArray[Any], must: NDArray[Any]) -> float: ...

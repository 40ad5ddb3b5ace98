"""What adapters ask of their data."""

import numpy as np


def expect(problem: str, *known: str) -> None:
    """Raise where a method does not know the type of a problem."""
    if problem not in known:
        raise ValueError(f"problem is {problem!r}; this method knows {' and '.join(known)}")


def two_classes(problem: str, y: np.ndarray) -> np.ndarray:
    """Return a target of two classes as 0 and 1."""
    expect(problem, "classification")
    labels, y = np.unique(y, return_inverse=True)
    if len(labels) != 2:
        raise ValueError(f"y has {len(labels)} classes; this method knows two")
    return y


def scaled(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and, unless they are constant, variance 1."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)

"""The way to a state of the explorer, as Python code."""

from __future__ import annotations

from allrelevant.explore.state import Held

__all__ = ["reproduce"]

NO_SOURCE = """# `model` is the estimator that the explorer was started with, fitted:
# model = LinearRelevanceClassifier(random_state=0).fit(X, y)"""


def reproduce(held: Held, source: str | None) -> str:
    """Return a script that makes the model, where it is known how, and holds the same features.

    Examples
    --------
    >>> from allrelevant.explore.code import reproduce
    >>> print(reproduce({"age": (0.0, 0.0)}, "model = make_model()"))
    model = make_model()
    <BLANKLINE>
    result = model.constrain({'age': (0.0, 0.0)})
    print(result.table())
    print(result.summary())
    <BLANKLINE>
    """
    ask = f"result = model.constrain({held!r})" if held else "result = model.result_"
    return "\n".join([(source or NO_SOURCE).rstrip(), "", ask, "print(result.table())", "print(result.summary())", ""])

"""The way to a state of the explorer, as Python code."""

from __future__ import annotations

from allrelevant.explore.answers import PANELS
from allrelevant.explore.state import Costs, Held, excluded

__all__ = ["reproduce"]

NO_SOURCE = """# `model` is the estimator that the explorer was started with, fitted:
# model = LinearRelevanceClassifier(random_state=0).fit(X, y)"""


def reproduce(held: Held, costs: Costs, source: str | None) -> str:
    """Return a script that makes the model, where it is known how, holds the same features and knows the same costs.

    Examples
    --------
    >>> from allrelevant.explore.code import reproduce
    >>> print(reproduce({"age": (0.0, 0.0)}, {"scan": 5.0}, "model = make_model()"))
    model = make_model()
    <BLANKLINE>
    result = model.constrain({'age': (0.0, 0.0)})
    print(result.table())
    print(result.summary())
    <BLANKLINE>
    panels = model.panels(costs={'scan': 5.0}, k=5, exclude=['age'])
    print(panels.summary())
    <BLANKLINE>
    """
    ask = f"result = model.constrain({held!r})" if held else "result = model.result_"
    lines = [(source or NO_SOURCE).rstrip(), "", ask, "print(result.table())", "print(result.summary())", ""]
    if costs:
        out = f", exclude={excluded(held)!r}" if excluded(held) else ""
        lines += [f"panels = model.panels(costs={costs!r}, k={PANELS}{out})", "print(panels.summary())", ""]
    return "\n".join(lines)

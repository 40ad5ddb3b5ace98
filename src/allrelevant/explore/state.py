"""What a page of the explorer shows: what is held, and what features cost. It lives in the page and in its address."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

__all__ = ["Costs", "Held", "State", "address", "excluded", "from_address", "read_costs", "read_number"]

#: How many steps can be undone.
DEPTH = 100
#: Addresses longer than this are not read.
LONGEST = 20_000

Held = dict[str, tuple[float, float]]
Costs = dict[str, float]


@dataclass(frozen=True)
class State:
    """Features that are held, with what can be undone and done again.

    Attributes
    ----------
    held : dict of str to tuple
        Least and most relevance of every feature that is held.
    past, future : tuple of dict
        What was held before, and what was undone.
    dragging : str
        Feature that the last step dragged: a drag is one step, however many places it passes.
    """

    held: Held
    past: tuple[Held, ...] = ()
    future: tuple[Held, ...] = ()
    dragging: str = ""

    @classmethod
    def of(cls, value: Any, names: Collection[str]) -> State:
        """Read what :meth:`plain` wrote, as it comes back from the page; what is not about `names` is left out."""
        if not isinstance(value, Mapping):
            return cls({})
        past, future = (_steps(value.get(name), names) for name in ("past", "future"))
        dragging = value.get("dragging")
        dragged = dragging if isinstance(dragging, str) and dragging in names else ""
        return cls(_held(value.get("held"), names), past, future, dragged)

    def plain(self) -> dict[str, Any]:
        """As plain values, for the page."""
        return {"held": self.held, "past": self.past, "future": self.future, "dragging": self.dragging}

    def step(self, held: Held, dragging: str = "") -> State:
        """Hold other features; what was held can be undone."""
        if held == self.held:
            return replace(self, dragging=dragging)
        past = self.past if dragging and dragging == self.dragging else (*self.past, self.held)[-DEPTH:]
        return State(held, past, (), dragging)

    def hold(self, feature: str, limits: tuple[float, float] | None, dragging: bool = False) -> State:
        """Hold one feature, or let it go."""
        held = {name: value for name, value in self.held.items() if name != feature}
        if limits is not None:
            held[feature] = limits
        return self.step(held, feature if dragging else "")

    def undo(self) -> State:
        """Go one step back."""
        return State(self.past[-1], self.past[:-1], (*self.future, self.held)) if self.past else self

    def redo(self) -> State:
        """Go one step forward again."""
        return State(self.future[-1], (*self.past, self.held), self.future[:-1]) if self.future else self


def _steps(value: Any, names: Collection[str]) -> tuple[Held, ...]:
    return tuple(_held(one, names) for one in value[-DEPTH:]) if isinstance(value, list | tuple) else ()


def _held(value: Any, names: Collection[str]) -> Held:
    """Limits by name; whatever is not that is left out."""
    out: Held = {}
    for name, limits in value.items() if isinstance(value, Mapping) else ():
        if name in names and isinstance(limits, Sequence) and not isinstance(limits, str) and len(limits) == 2:
            low, high = (read_number(one) for one in limits)
            if low is not None and high is not None and low <= high:
                out[name] = low, high
    return out


def read_costs(value: Any) -> Costs:
    """Costs by name; whatever is not that is left out."""
    costs = {str(name): read_number(cost) for name, cost in value.items()} if isinstance(value, Mapping) else {}
    return {name: cost for name, cost in costs.items() if cost is not None}


def read_number(value: Any, *, least: float = 0.0) -> float | None:
    """A finite number of at least so much, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= least else None


def excluded(held: Held) -> list[str]:
    """Features that are held at 0."""
    return [name for name, (_, high) in held.items() if high == 0.0]


def address(held: Held, selected: str | None, costs: Costs) -> str:
    """Return the part of the address that says what is held and selected, and which costs were changed."""
    content = {"held": held, "selected": selected, "costs": costs}
    said = {name: value for name, value in content.items() if value}
    if not said:
        return ""
    text = json.dumps(said, separators=(",", ":"), sort_keys=True)
    return "?" + urlencode({"s": base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")})


def from_address(search: str | None, names: Collection[str], priced: Collection[str]) -> tuple[Held, str | None, Costs]:
    """Read an address; what is damaged, or about features that there are not or that have no cost, is left out."""
    packed = parse_qs((search or "")[:LONGEST].lstrip("?")).get("s", [""])[0]
    try:
        content = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
    except (ValueError, RecursionError):
        return {}, None, {}
    if not isinstance(content, dict):
        return {}, None, {}
    held = _held(content.get("held"), names)
    costs = {name: cost for name, cost in read_costs(content.get("costs")).items() if name in priced}
    selected = content.get("selected")
    return held, selected if isinstance(selected, str) and selected in names else None, costs

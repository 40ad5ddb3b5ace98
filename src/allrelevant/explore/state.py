"""What a page of the explorer is showing: which features are held. It lives in the page and in its address."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

__all__ = ["State", "address", "from_address"]

#: How many steps can be undone.
DEPTH = 100
#: Addresses longer than this are not read.
LONGEST = 20_000

Held = dict[str, tuple[float, float]]


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
    def of(cls, value: Any) -> State:
        """Read what :meth:`plain` wrote, as it comes back from the page."""
        if not isinstance(value, Mapping):
            return cls({})
        past, future = (tuple(_held(one) for one in value.get(name, ())) for name in ("past", "future"))
        return cls(_held(value.get("held", {})), past[-DEPTH:], future[-DEPTH:], str(value.get("dragging", "")))

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


def _held(value: Any) -> Held:
    """Limits by name; whatever is not that is left out."""
    out: Held = {}
    for name, limits in value.items() if isinstance(value, Mapping) else ():
        if isinstance(limits, Sequence) and not isinstance(limits, str) and len(limits) == 2:
            numbers = [one for one in limits if isinstance(one, int | float) and math.isfinite(one)]
            if len(numbers) == 2 and 0.0 <= numbers[0] <= numbers[1]:
                out[str(name)] = float(numbers[0]), float(numbers[1])
    return out


def address(held: Held, selected: str | None) -> str:
    """Return the part of the address that says what is held and selected."""
    content = {"held": held, "selected": selected}
    if not held and selected is None:
        return ""
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    return "?" + urlencode({"s": base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")})


def from_address(search: str | None, names: Sequence[str]) -> tuple[Held, str | None]:
    """Read an address; what is damaged, or about features that there are not, is left out."""
    packed = parse_qs((search or "")[:LONGEST].lstrip("?")).get("s", [""])[0]
    try:
        content = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
    except (ValueError, binascii.Error):
        return {}, None
    if not isinstance(content, dict):
        return {}, None
    held = {name: limits for name, limits in _held(content.get("held")).items() if name in names}
    selected = content.get("selected")
    return held, selected if selected in names else None

"""Whether a question is one that the page asks: what is not is refused before anything acts on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["check", "is_question"]

PATH = "/_dash-update-component"
NOT_UNDERSTOOD = "The request is none that a page of the explorer sends.", 400


def check(app: Any, costs: Sequence[str]) -> None:
    """Let a server refuse what its page does not ask.

    Parameters
    ----------
    app : dash.Dash
        The application.
    costs : sequence of str
        Features that have a cost on the page, in its order.
    """
    from dash.exceptions import DependencyException
    from flask import request

    def refuse() -> tuple[str, int] | None:
        if request.method != "POST" or request.path != PATH:
            return None
        if request.content_length is None:  # in pieces; a browser says how many bytes it sends
            return "The request must say how long it is.", 411
        try:
            body = request.get_json()
        except RecursionError:
            return NOT_UNDERSTOOD
        return None if is_question(body, app.callback_map, costs) else NOT_UNDERSTOOD

    app.server.before_request(refuse)
    # A script that there is not: Dash raises, which would be an error of the server.
    app.server.register_error_handler(DependencyException, lambda _: ("There is no such file.", 404))


def is_question(body: Any, known: Mapping[str, Any], costs: Sequence[str]) -> bool:
    """Return whether a body names an answer of the page, and all that this is made from, whatever the values."""
    if not isinstance(body, dict) or not isinstance(body.get("output"), str) or body["output"] not in known:
        return False
    asked = known[body["output"]]
    parts = {part: body.get(part, []) for part in ("inputs", "state")}
    for part, given in parts.items():
        wanted = asked[part]
        if not isinstance(given, list) or len(given) != len(wanted):
            return False
        if not all(_is_part(*pair, costs) for pair in zip(given, wanted, strict=True)):
            return False
    changed = body.get("changedPropIds", [])
    places = {place for one in parts["inputs"] for place in _places(one)}
    if not isinstance(changed, list) or not all(isinstance(one, str) and one in places for one in changed):
        return False
    return _is_output(body.get("outputs"), body["output"], costs)


def _is_part(given: Any, wanted: Mapping[str, str], costs: Sequence[str]) -> bool:
    """Return whether a value is given for a place of the page, or one per cost for all of these."""
    if not wanted["id"].startswith("{"):
        return isinstance(given, dict) and (given.get("id"), given.get("property")) == (
            wanted["id"],
            wanted["property"],
        )
    return (
        isinstance(given, list)
        and all(isinstance(one, dict) and one.get("property") == wanted["property"] for one in given)
        and [one.get("id") for one in given] == [{"cost": name} for name in costs]
    )


def _places(given: Any) -> list[str]:
    if isinstance(given, list):
        return [place for one in given for place in _places(one)]
    name = given["id"]
    return [f"{name if isinstance(name, str) else _packed(name)}.{given['property']}"]


def _packed(name: Any) -> str:
    """Return a name of several parts as the page writes it."""
    return json.dumps(name, separators=(",", ":"), ensure_ascii=False)


def _is_output(given: Any, output: str, costs: Sequence[str]) -> bool:
    """Return whether the places to be filled are those that the answer is for."""
    several = output.startswith("..")
    wanted = output[2:-2].split("...") if several else [output]
    listed = given if several else [given]
    if not isinstance(listed, list) or len(listed) != len(wanted):
        return False
    places = (dict(zip(("id", "property"), place.rsplit(".", 1), strict=True)) for place in wanted)
    return all(_is_part(*pair, costs) for pair in zip(listed, places, strict=True))

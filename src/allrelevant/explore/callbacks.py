"""What happens on the page: every step is answered by the server, from what the page says about itself."""

from __future__ import annotations

import math
import time
from typing import Any

from allrelevant.errors import AllRelevantError
from allrelevant.explore.answers import Answers, Overtaken
from allrelevant.explore.code import reproduce
from allrelevant.explore.figure import draw, said_of
from allrelevant.explore.state import Costs, Held, State, address, from_address, read_costs, read_number
from allrelevant.result import RelevanceClass, RelevanceResult

__all__ = ["connect"]

#: Seconds after which a drag has come to rest.
SETTLED = 0.4
#: Longest name of a page, and the greatest number of a request that JavaScript counts to.
LONGEST_TAB, GREATEST = 64, 2**53
STEPS = ("at-minimum", "at-maximum", "exclude", "free", "apply", "undo", "redo", "reset")


def connect(app: Any, answers: Answers, title: str, source: str | None) -> None:
    """Connect the parts of the page."""
    from dash import ALL, ClientsideFunction, Input, Output, ctx, html, no_update
    from dash import State as Now
    from dash.exceptions import PreventUpdate

    names = answers.result.feature_names
    known = frozenset(names)

    app.clientside_callback(ClientsideFunction("allrelevant", "name"), Output("page", "data"), Input("url", "pathname"))
    app.clientside_callback(
        ClientsideFunction("allrelevant", "choose"),
        Output("feature", "value"),
        Input("bars", "clickData"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("allrelevant", "drag"),
        Output("request", "data"),
        Input("range", "drag_value"),
        Now("feature", "value"),
        Now("state", "data"),
        Now("range", "max"),
        prevent_initial_call=True,
    )

    @app.callback(  # type: ignore[untyped-decorator]
        Output("state", "data"),
        Output("bars", "figure"),
        Output("message", "children"),
        Output("message", "className"),
        Output("held", "children"),
        Output("changes", "children"),
        Output("url", "search"),
        Output("feature", "value", allow_duplicate=True),
        Output("undo", "disabled"),
        Output("redo", "disabled"),
        Output({"cost": ALL}, "value"),
        Input("url", "search"),
        Input("request", "data"),
        Input("feature", "value"),
        Input("grouped", "data"),
        Input({"cost": ALL}, "value"),
        *(Input(name, "n_clicks") for name in STEPS),
        Now("state", "data"),
        Now("page", "data"),
        Now("low", "value"),
        Now("high", "value"),
        prevent_initial_call="initial_duplicate",
    )
    def step(search: str | None, request: Any, feature: str, grouped: Any, typed: list[Any], *rest: Any) -> Any:
        pressed, (stored, page, low, high) = rest[: len(STEPS)], rest[len(STEPS) :]
        state = State.of(stored, known)
        # What happens while an answer is under way is asked for at once: then a button counts, not the drag before it.
        together = list(ctx.triggered_prop_ids.values())
        asked = next((name for name in together if name in STEPS), ctx.triggered_id)
        tab, number = "", 0
        chosen: Any = no_update
        costs = _costs(answers, typed)
        shown_costs: list[Any] = [no_update] * len(typed)
        if not isinstance(search, str) or not _is_one(feature, known):  # the page does not know its address yet
            raise PreventUpdate
        if stored is None or asked == "url":
            held, selected, changed = from_address(search, names, answers.costs)
            wanted_costs = answers.costs | changed
            if stored is not None and (held, wanted_costs) == (state.held, costs) and selected in (None, feature):
                raise PreventUpdate
            costs, shown_costs = wanted_costs, list(wanted_costs.values())
            wanted = State(held) if stored is None else state.step(held)
            if selected is not None and selected != feature:
                feature = chosen = selected
        elif asked == "request" and isinstance(request, dict):
            tab, number = _numbered(page, request, pressed)
            feature = request.get("feature", feature)
            if not _is_one(feature, known):
                raise PreventUpdate
            wanted = state.hold(feature, _limits(answers, feature, request.get("limits")), dragging=True)
        elif asked in STEPS:
            tab, number = _numbered(page, request, pressed)
            wanted = _pressed(answers, state, asked, feature, low, high)
        else:
            wanted = state
        try:
            found, seconds = answers.constrained(wanted.held, tab, number, quick=asked == "request")
        except Overtaken:
            raise PreventUpdate from None
        if isinstance(found, str):
            # Nothing moves: the last state stays.
            kept, _ = answers.constrained(state.held)
            result = answers.result if isinstance(kept, str) else kept
            shown = State({}) if isinstance(kept, str) else state
            said, looks = f"Not possible: {found}.", "refused"
        else:
            result, shown, looks = found, wanted, "done"
            said = f"{len(shown.held)} held, answered in {1000 * seconds:.0f} ms." if shown.held else ""
        here = address(shown.held, feature, {name: cost for name, cost in costs.items() if cost != answers.costs[name]})
        return (
            shown.plain(),
            draw(answers.result, result, shown.held, feature, answers.marks if grouped else {}),
            said,
            looks,
            _held_list(html, shown.held),
            _change_list(html, answers.result, result),
            here if here != search else no_update,
            chosen,
            not shown.past,
            not shown.future,
            shown_costs,
        )

    @app.callback(  # type: ignore[untyped-decorator]
        Output("bars", "figure", allow_duplicate=True),
        Output("changes", "children", allow_duplicate=True),
        Input("state", "data"),
        Now("request", "data"),
        Now("feature", "value"),
        Now("grouped", "data"),
        Now("page", "data"),
        *(Now(name, "n_clicks") for name in STEPS),
        prevent_initial_call=True,
    )
    def complete(stored: Any, request: Any, feature: str, grouped: Any, page: Any, *pressed: Any) -> Any:
        """After a quick answer, the whole one, unless the drag goes on."""
        state = State.of(stored, known)
        if not _is_one(feature, known) or not state.dragging or not answers.incomplete(state.held):
            raise PreventUpdate
        tab, number = _numbered(page, request, pressed)
        time.sleep(SETTLED)
        try:
            found, _ = answers.constrained(state.held, tab, number)
        except Overtaken:
            raise PreventUpdate from None
        if isinstance(found, str):
            raise PreventUpdate
        marks = answers.marks if grouped else {}
        return draw(answers.result, found, state.held, feature, marks), _change_list(html, answers.result, found)

    @app.callback(  # type: ignore[untyped-decorator]
        Output("range", "max"),
        Output("range", "step"),
        Output("range", "value"),
        Output("low", "value"),
        Output("high", "value"),
        Output("about", "children"),
        Input("feature", "value"),
        Input("state", "data"),
    )
    def show(feature: str, stored: Any) -> Any:
        if not _is_one(feature, known):
            raise PreventUpdate
        k = names.index(feature)
        least, most = (float(value) for value in answers.result.intervals[k])
        low, high = State.of(stored, known).held.get(feature, (0.0, most))
        end = max(most, 1e-6)
        kind = RelevanceClass(int(answers.result.classes[k]))
        how_sure = "; ".join(said_of(answers.result, k))
        about = f"Without constraints from {least:.3f} to {most:.3f}: {kind.label} ({how_sure})."
        return end, end / 200, [low, high], round(low, 4), round(high, 4), about

    @app.callback(  # type: ignore[untyped-decorator]
        Output("answer-substitutes", "children"),
        Input("ask-substitutes", "n_clicks"),
        Now("feature", "value"),
        prevent_initial_call=True,
    )
    def substitutes(_: int, feature: str) -> Any:
        if not _is_one(feature, known):
            raise PreventUpdate
        return _paragraphs(html, _asked(lambda: answers.substitutes(feature).summary()))

    @app.callback(  # type: ignore[untyped-decorator]
        Output("answer-groups", "children"),
        Output("grouped", "data"),
        Input("ask-groups", "n_clicks"),
        prevent_initial_call=True,
    )
    def groups(_: int) -> Any:
        try:
            return _group_list(html, answers), True
        except (AllRelevantError, ValueError) as error:
            return _paragraphs(html, f"No answer: {error}."), False

    @app.callback(  # type: ignore[untyped-decorator]
        Output("answer-panels", "children"),
        Input("ask-panels", "n_clicks"),
        Now({"cost": ALL}, "value"),
        Now("state", "data"),
        prevent_initial_call=True,
    )
    def panels(_: int, typed: list[Any], stored: Any) -> Any:
        costs = _costs(answers, typed)
        return _paragraphs(html, _asked(lambda: answers.panels(costs, State.of(stored, known).held).summary()))

    @app.callback(  # type: ignore[untyped-decorator]
        Output("download", "data"),
        Input("get-result", "n_clicks"),
        Input("get-report", "n_clicks"),
        Input("get-code", "n_clicks"),
        Now("state", "data"),
        Now({"cost": ALL}, "value"),
        prevent_initial_call=True,
    )
    def download(_: int, __: int, ___: int, stored: Any, typed: list[Any]) -> Any:
        held = State.of(stored, known).held
        found, _seconds = answers.constrained(held)
        result = answers.result if isinstance(found, str) else found
        if ctx.triggered_id == "get-result":
            return _file(result.to_json(indent=1), "result.json")
        if ctx.triggered_id == "get-code":
            costs = {name: cost for name, cost in _costs(answers, typed).items() if cost != 1.0}
            return _file(reproduce(held, costs, source), "explore.py")
        from allrelevant.report import render_report

        return _file(render_report(result, title=title), "report.html")


def _file(text: str, name: str) -> dict[str, Any]:
    """A file to download, as the page takes it."""
    return {"content": text, "filename": name, "type": None, "base64": False}


def _is_one(name: Any, known: frozenset[str]) -> bool:
    return isinstance(name, str) and name in known


def _numbered(page: Any, request: Any, pressed: tuple[Any, ...]) -> tuple[str, int]:
    """Return the page that a step is made on, and how many were made there; nothing if it does not say so."""
    counts: list[Any] = [request.get("number") if isinstance(request, dict) else 0, *(count or 0 for count in pressed)]
    if not isinstance(page, str) or len(page) > LONGEST_TAB:
        return "", 0
    if not all(type(count) is int and 0 <= count < GREATEST for count in counts):
        return "", 0
    return page, sum(counts)


def _limits(answers: Answers, feature: str, limits: Any) -> tuple[float, float] | None:
    """Limits that a slider shows; none at its ends, which are those of the interval."""
    if not isinstance(limits, list) or len(limits) != 2:
        return None
    low, high = (read_number(value, least=-math.inf) for value in limits)
    if low is None or high is None:
        return None
    most = float(answers.result.intervals[answers.result.feature_names.index(feature), 1])
    if low <= 0.0 and high >= most * (1 - 1e-9):
        return None
    return max(low, 0.0), max(low, min(high, most))


def _pressed(answers: Answers, state: State, button: str, feature: str, low: Any, high: Any) -> State:
    """What is held after a button was pressed."""
    least, most = answers.result.intervals[answers.result.feature_names.index(feature)]
    if button == "at-minimum":
        return state.hold(feature, (float(least), float(least)))
    if button == "at-maximum":
        return state.hold(feature, (float(most), float(most)))
    if button == "exclude":
        return state.hold(feature, (0.0, 0.0))
    if button == "free":
        return state.hold(feature, None)
    if button == "apply":
        typed = [read_number(value, least=-math.inf) for value in (low, high)]
        first = 0.0 if typed[0] is None else max(typed[0], 0.0)
        last = float(most) if typed[1] is None else typed[1]
        return state.hold(feature, (first, max(first, last)))
    if button == "undo":
        return state.undo()
    return state.redo() if button == "redo" else state.step({})


def _costs(answers: Answers, typed: list[Any]) -> Costs:
    """Costs that the table shows; what is empty costs what it did at the start."""
    return answers.costs | read_costs(dict(zip(answers.costs, typed, strict=True)))


def _asked(question: Any) -> str:
    try:
        return str(question())
    except (AllRelevantError, ValueError) as error:
        return f"No answer: {error}."


def _paragraphs(html: Any, text: str) -> Any:
    return [html.P(line) for line in text.splitlines()]


def _group_list(html: Any, answers: Answers) -> Any:
    """What goes together, every group with its mark."""
    lines = answers.groups().summary().splitlines()
    marks = dict.fromkeys(answers.marks.values())
    marked = [
        html.P(
            [
                html.Span(
                    str(mark.number), className="mark", style={"borderColor": mark.colour, "background": mark.fill}
                ),
                html.Span(line),
            ],
            className="group",
        )
        for mark, line in zip(marks, lines, strict=False)
    ]
    return [*marked, *(html.P(line) for line in lines[len(marked) :])]


def _held_list(html: Any, held: Held) -> Any:
    if not held:
        return html.P("Nothing is held.")
    return html.Ul([html.Li(_held_words(name, low, high)) for name, (low, high) in held.items()])


def _held_words(name: str, low: float, high: float) -> str:
    if high == 0.0:
        return f"{name}: excluded"
    return f"{name}: {low:.3f}" if low == high else f"{name}: {low:.3f} to {high:.3f}"


def _change_list(html: Any, before: RelevanceResult, now: RelevanceResult) -> Any:
    changed = [
        f"{before.feature_names[k]}: {RelevanceClass(int(before.classes[k])).label} → "
        f"{RelevanceClass(int(now.classes[k])).label}"
        for k in before.ranking()
        if before.classes[k] != now.classes[k]
    ]
    if not changed:
        return html.P("No feature changed its class.")
    return [html.P("Changed their class:"), html.Ul([html.Li(line) for line in changed])]

"""The explorer without a browser: state, answers, drawing, and who may talk to it."""

from __future__ import annotations

import base64
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

from allrelevant import LinearRelevanceClassifier
from allrelevant.datasets import make_relevance_classification
from allrelevant.explore import Explorer
from allrelevant.explore.answers import Answers, Overtaken
from allrelevant.explore.code import reproduce
from allrelevant.explore.figure import MOST, draw, shown_features
from allrelevant.explore.marks import Mark, marks_of
from allrelevant.explore.state import DEPTH, State, address, from_address
from handmade import make_judged_result, make_result


@pytest.fixture(scope="module")
def model():
    X, y, _ = make_relevance_classification(150, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    return LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)


def test_steps_can_be_undone_and_done_again():
    state = State({}).hold("a", (0.0, 0.1)).hold("b", (0.2, 0.2))
    assert state.held == {"a": (0.0, 0.1), "b": (0.2, 0.2)}
    assert state.undo().held == {"a": (0.0, 0.1)}
    assert state.undo().redo().held == state.held
    assert state.undo().undo().undo().held == {}
    assert state.hold("a", None).held == {"b": (0.2, 0.2)}
    assert state.undo().hold("c", (0.0, 0.0)).redo().held == {"a": (0.0, 0.1), "c": (0.0, 0.0)}
    assert State({}).redo() == State({})
    assert State.of(state.plain(), ("a", "b")) == state
    assert State.of(state.plain(), ("b",)) == State({"b": (0.2, 0.2)}, ({}, {}))


def test_a_drag_is_one_step():
    state = State({})
    for high in (0.3, 0.2, 0.1):
        state = state.hold("a", (0.0, high), dragging=True)
    assert state.undo().held == {}
    other = state.hold("b", (0.0, 0.1), dragging=True)
    assert other.undo().held == {"a": (0.0, 0.1)}


def test_the_past_is_not_endless():
    state = State({})
    for k in range(2 * DEPTH):
        state = state.hold("a", (0.0, float(k)))
    assert len(state.past) == DEPTH


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        3,
        "x",
        [],
        {"held": 1},
        {"held": {"a": [1]}},
        {"held": {"a": [2, 1]}},
        {"held": {"a": "12"}},
        {"held": {"a": [False, True]}},
        {"held": {"a": [0, 10**400]}},
        {"held": {"a": [0, float("nan")]}},
        {"held": {"unknown": [0, 1]}},
        {"past": 3, "future": {"a": 1}, "dragging": []},
    ],
)
def test_damaged_states_hold_nothing(damaged):
    assert State.of(damaged, ("a",)) == State({})


def test_addresses():
    names = ("a b", "ü<>&", "c")
    held, costs = {"a b": (0.0, 0.25), "ü<>&": (0.1, 0.1)}, {"ü<>&": 2.5, "c": 0.0}
    assert from_address(address(held, "c", costs), names, names) == (held, "c", costs)
    assert from_address(address(held, "c", costs), ("a b",), ("c",)) == ({"a b": (0.0, 0.25)}, None, {"c": 0.0})
    assert from_address(address({}, None, {"c": 3.0}), names, names) == ({}, None, {"c": 3.0})
    assert address({}, None, {}) == ""
    assert len(address(held, "c", {})) < len(address(held, "c", costs))
    for damaged in ("", None, "?s=", "?s=%%%", "?s=bm8", "?s=W10", "?t=1", "?s=" + "W1tb" * 4000):
        assert from_address(damaged, names, names) == ({}, None, {})


@pytest.mark.parametrize(
    "damaged", ["3", "[]", '"c"', "null", '{"c": -1}', '{"c": NaN}', '{"c": Infinity}', '{"c": 1e999}', '{"c": "2"}',
                '{"c": [2]}', '{"c": true}', '{"c": null}', f'{{"c": 1{"0" * 400}}}', '{"unknown": 2}']
)  # fmt: skip
def test_damaged_costs_in_addresses_are_left_out(damaged):
    text = f'{{"held": {{"a": [0, 0.5]}}, "selected": "a", "costs": {damaged}}}'
    search = "?s=" + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    assert from_address(search, ("a", "c"), ("a", "c")) == ({"a": (0.0, 0.5)}, "a", {})


def test_answers_are_those_of_the_estimator(model):
    answers = Answers(model, {"x0": 3.0})
    name = model.result_.names(1)[0]
    held = {name: (0.0, 0.0)}
    result, _ = answers.constrained(held)
    np.testing.assert_array_equal(result.intervals, model.constrain(held).intervals)
    assert answers.constrained(held)[0] is result
    assert answers.constrained({})[0] is model.result_
    refused, _ = answers.constrained({"x0": (0.0, 0.0)})
    assert isinstance(refused, str)
    assert "x0 can only be" in refused
    assert answers.costs == {"x0": 3.0, "x1": 1.0, "x2": 1.0, "x3": 1.0}
    assert answers.substitutes(name).feature == name
    assert answers.panels({"x1": 2.0}, held).panels


@pytest.mark.parametrize(("quick", "counts"), [(True, True), (False, False)])
def test_only_a_press_voids_what_is_being_answered(model, monkeypatch, quick, counts):
    """A drag that goes on shows where it has been; what was pressed must not be undone by an answer before it."""
    answers = Answers(model)
    name = model.result_.names(1)[0]
    solve = answers.model.constrain

    def meanwhile(*args, **kwargs):
        answers.constrained({}, "tab", 3, quick=quick)
        return solve(*args, **kwargs)

    monkeypatch.setattr(answers.model, "constrain", meanwhile)
    if counts:
        assert answers.constrained({name: (0.0, 0.01)}, "tab", 2, quick=True)[0].classes.size
    else:
        with pytest.raises(Overtaken):
            answers.constrained({name: (0.0, 0.01)}, "tab", 2, quick=True)


def test_a_question_that_was_overtaken_is_dropped(model):
    answers = Answers(model)
    name = model.result_.names(1)[0]
    answers.constrained({name: (0.0, 0.01)}, "tab", 5)
    with pytest.raises(Overtaken):
        answers.constrained({name: (0.0, 0.02)}, "tab", 4)
    answers.constrained({name: (0.0, 0.02)}, "other tab", 1)
    found = []
    threads = [
        threading.Thread(target=lambda k=k: found.append(answers.constrained({name: (0.0, 0.01 * (k + 1))})))
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4


def test_quick_answers_are_for_relevant_features(model, monkeypatch):
    monkeypatch.setattr("allrelevant.explore.answers.MANY", 3)
    answers = Answers(model)
    name = model.result_.names(1)[0]
    held = {name: (0.0, 0.0)}
    quick, _ = answers.constrained(held, quick=True)
    assert answers.incomplete(held)
    whole, _ = answers.constrained(held)
    assert not answers.incomplete(held)
    relevant = model.result_.classes > 0
    np.testing.assert_allclose(quick.intervals[relevant], whole.intervals[relevant], atol=1e-7)
    np.testing.assert_array_equal(quick.intervals[~relevant], model.result_.intervals[~relevant])
    assert answers.constrained(held, quick=True)[0] is whole


def test_drawing(model):
    result = model.result_
    name = result.names(1)[0]
    now = model.constrain({name: 0})
    figure = draw(result, now, {name: (0.0, 0.0)}, name, {})
    ghosts, drawn, rows = figure["data"]
    order = shown_features(result, {})
    np.testing.assert_allclose(ghosts["base"], result.intervals[order, 0])
    np.testing.assert_allclose(np.add(ghosts["base"], ghosts["x"]), result.intervals[order, 1])
    np.testing.assert_allclose(drawn["base"], now.intervals[order, 0])
    assert drawn["customdata"] == rows["customdata"] == [result.feature_names[k] for k in order]
    limits = [shape for shape in figure["layout"]["shapes"] if shape.get("name") == "limit"]
    assert len(figure["layout"]["shapes"]) - len(limits) == 2  # one bracket, the band of the chosen row
    own = {k: limit for k, limit in enumerate(result.limits) if limit > 0.0}
    assert sorted(order[round((one["y0"] + one["y1"]) / 2)] for one in limits) == sorted(own)
    for one in limits:
        limit = own[order[round((one["y0"] + one["y1"]) / 2)]]
        assert one["x0"] == (
            limit if limit <= 2 * result.intervals[:, 1].max() else 0.997 * figure["layout"]["xaxis"]["range"][1]
        )
    for k, hover in zip(order, drawn["hovertext"], strict=True):
        relevant = result.classes[k] > 0
        assert ("adj. p &lt; 0.001" in hover) == relevant


def test_what_is_borderline_is_marked_in_the_drawing():
    result = make_judged_result(1, 2, 2, borderline=1)
    figure = draw(result, result, {}, result.names(1)[-1], {})
    marked = [text for text in figure["layout"]["yaxis"]["ticktext"] if "~" in text]
    assert marked == [f"<b>{result.names(1)[-1]} ~</b>", f"{result.names(0)[0]} ~"]
    assert sum("borderline" in text for text in figure["data"][1]["hovertext"]) == 2
    old = draw(make_result(), make_result(), {}, None, {})
    assert [shape["line"]["dash"] for shape in old["layout"]["shapes"]] == ["dot", "dash"]
    assert "relevant bars" in old["layout"]["annotations"][0]["text"]


def test_groups_are_marked_as_in_their_tree(model):
    from allrelevant.plotting.groups import GROUP_COLOURS

    groups = model.group_features()
    assert groups.groups == [["x0"], ["x1"], ["x2", "x3"]]
    marks = marks_of(groups)
    assert marks == dict.fromkeys(("x2", "x3"), Mark(2, GROUP_COLOURS[0]))
    result = model.result_
    figure, plain = (draw(result, result, {}, None, some) for some in (marks, {}))
    names = figure["data"][1]["customdata"]
    drawn = [one for one in figure["layout"]["shapes"] if one.get("name") == "group"]
    assert {names[round((one["y0"] + one["y1"]) / 2)] for one in drawn} == {"x2", "x3"}
    assert {(one["label"]["text"], one["line"]["color"]) for one in drawn} == {("2", GROUP_COLOURS[0])}
    assert [text.endswith("<br>group 2") for text in figure["data"][1]["hovertext"]] == [one in marks for one in names]
    assert len(plain["layout"]["shapes"]) == len(figure["layout"]["shapes"]) - 2


def test_many_features_are_not_all_drawn(model):
    from dataclasses import replace

    d = MOST + 30
    many = replace(
        model.result_, feature_names=tuple(f"<i>{k}" for k in range(d)), intervals=np.tile([0.0, 0.1], (d, 1)),
        classes=np.zeros(d, dtype=int), pvalues=np.ones(d), baseline=np.zeros(d), adjusted_pvalues=[],
        together_pvalues=[], alone_pvalues=[], limits=[],
    )  # fmt: skip
    assert len(shown_features(many, {})) == MOST
    last = many.feature_names[int(many.ranking()[-1])]
    figure = draw(many, many, {last: (0.0, 0.05)}, None, {})
    assert last in figure["data"][1]["customdata"]
    assert not any("<i>" in label for label in figure["layout"]["yaxis"]["ticktext"])


def test_code():
    assert "model.result_" in reproduce({}, {}, None)
    assert "panels" not in reproduce({}, {}, None)
    compile(reproduce({"a'b": (0.0, 0.1)}, {"a'b": 2.0}, None), "code", "exec")


def test_code_answers_as_the_page_does(model):
    held, costs = {"x2": (0.0, 0.0)}, {"x0": 2.5}
    found = {"model": model, "print": lambda _: None}
    exec(reproduce(held, costs, "pass"), found)
    assert found["panels"].panels == Answers(model).panels(costs, held).panels
    np.testing.assert_array_equal(found["result"].intervals, model.constrain(held).intervals)


def fetch(url, **headers):
    """Status and text of a page, without following to other pages."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    opener = urllib.request.build_opener(Stay())
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def test_only_pages_opened_with_the_token_are_served(model):
    with Explorer(model) as explorer:
        base = explorer.url.split("?")[0]
        assert base.startswith("http://127.0.0.1:")
        for path in ("", "_dash-layout", "_dash-dependencies", "assets/explorer.js", "?token=wrong"):
            status, text, _ = fetch(base + path)
            assert status == 403
            assert "token is missing or wrong" in text
            assert explorer.guard.token not in text
        status, _, headers = fetch(explorer.url + "&s=abc")
        assert status == 302
        assert headers["Location"] == "/?s=abc"
        cookie = headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        mine = {"Cookie": cookie.split(";")[0]}
        status, text, headers = fetch(base, **mine)
        assert status == 200
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert fetch(base, **mine, Host="evil.example:80")[0] == 403
        assert fetch(base, **mine, Host=f"evil.example:{explorer.guard.port}")[0] == 403
        assert fetch(base, **mine, Origin="http://evil.example")[0] == 403
        assert fetch(base, **mine, Origin="null")[0] == 403
        assert fetch(base, **mine, Origin=base.rstrip("/"))[0] == 200
        assert fetch(base + "_dash-layout", **mine)[0] == 200
        for route in ("shutdown", "_shutdown", "_dash-update-component"):
            assert fetch(base + route, **mine)[0] != 500


def test_servers_do_not_share_tokens_or_ports(model):
    with Explorer(model) as one, Explorer(model) as two:
        assert one.guard.port != two.guard.port
        assert one.guard.token != two.guard.token
        _, _, headers = fetch(one.url)
        cookie = headers["Set-Cookie"].split(";")[0]
        assert fetch(two.url.split("?")[0], Cookie=cookie)[0] == 403


def test_an_unfitted_estimator_is_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        Explorer(LinearRelevanceClassifier())


def test_notebooks_show_a_frame(model, monkeypatch):
    import sys
    import types

    from allrelevant.errors import MissingExtra
    from allrelevant.explore import embed

    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(MissingExtra, match=r"allrelevant\[notebook\]"):
        embed(model)
    shown = types.SimpleNamespace(IFrame=lambda url, width, height: (url, width, height))
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    url, width, height = embed(model, height=500)
    assert width == "100%"
    assert height == 500
    assert fetch(url)[0] == 302


def test_without_dash_the_extra_is_named(model, monkeypatch):
    import sys

    from allrelevant.errors import MissingExtra

    monkeypatch.setitem(sys.modules, "dash", None)
    with pytest.raises(MissingExtra, match=r"allrelevant\[explore\]"):
        Explorer(model)


def test_run_serves_until_interrupted(model, monkeypatch, capsys):
    from allrelevant.explore import run, serving

    opened = []
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)

    def interrupted():
        assert fetch(opened[0])[0] == 302
        raise KeyboardInterrupt

    monkeypatch.setattr(serving, "_wait", interrupted)
    run(model)
    out = capsys.readouterr().out
    assert opened[0] in out
    assert out.endswith("Stopped.\n")

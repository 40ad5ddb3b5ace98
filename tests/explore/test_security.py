"""The explorer against those who mean it ill, or send nonsense: a server that really runs, and no browser."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allrelevant import LinearRelevanceClassifier
from allrelevant.datasets import make_relevance_classification
from allrelevant.explore import Explorer, guard, serving

UPDATE = "/_dash-update-component"
JSON = {"Content-Type": "application/json"}
#: Features of the model that have a cost on the page.
COSTS = ("x0", "x1", "x2", "x3")


@pytest.fixture(scope="module")
def model():
    X, y, _ = make_relevance_classification(150, n_strong=2, n_weak=2, n_irrelevant=2, random_state=0)
    return LinearRelevanceClassifier(C=1.0, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def explorer(model):
    with Explorer(model) as running:
        yield running


def ask(explorer, method, path, body=None, *, token=True, **headers):
    """Status, headers and text of an answer; the path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", explorer.guard.port, timeout=30)
    mine = {"Cookie": f"{explorer.guard.cookie}={explorer.guard.token}"} if token else {}
    try:
        connection.request(method, path, body, {**mine, **{k.replace("_", "-"): v for k, v in headers.items()}})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")
    finally:
        connection.close()


def dependencies(explorer):
    return json.loads(ask(explorer, "GET", "/_dash-dependencies")[2])


def question(explorer, output, changed=None, **values):
    """What a page sends when it asks for what begins with `output`, with values of places by name."""
    asked = next(one for one in dependencies(explorer) if one["output"].startswith(output))

    def part(place, valued=True):
        if place["id"].startswith("{"):
            some = [{"id": {"cost": name}, "property": place["property"]} for name in COSTS]
            return [{**one, "value": 1} for one in some] if valued else some
        value = {"value": values.get(place["id"].replace("-", "_"))} if valued else {}
        return {"id": place["id"], "property": place["property"], **value}

    several = asked["output"].startswith("..")
    listed = asked["output"][2:-2].split("...") if several else [asked["output"]]
    places = [dict(zip(("id", "property"), one.rsplit(".", 1), strict=True)) for one in listed]
    outputs = [part(place, valued=False) for place in places]
    inputs = [part(place) for place in asked["inputs"]]
    return {
        "output": asked["output"],
        "outputs": outputs if several else outputs[0],
        "inputs": inputs,
        "changedPropIds": [changed or f"{asked['inputs'][0]['id']}.{asked['inputs'][0]['property']}"],
        "state": [part(place) for place in asked["state"]],
    }


NOTHING = {"held": {}, "past": [], "future": [], "dragging": ""}


def step(explorer, button, feature, state=NOTHING):
    """Press a button; what is held afterwards."""
    body = question(explorer, "..state.data", f"{button}.n_clicks", url="", feature=feature, state=state)
    status, _, text = ask(explorer, "POST", UPDATE, json.dumps(body), **JSON)
    assert status == 200
    return json.loads(text)["response"]


def drawn(response):
    """Low ends of the intervals that are drawn, by feature."""
    data = response["bars"]["figure"]["data"][1]
    return dict(zip(data["customdata"], data["base"], strict=True))


def works(explorer, model):
    """Whether a page gets the right answer."""
    response = step(explorer, "exclude", "x2")
    expected = model.constrain({"x2": (0.0, 0.0)})
    low = dict(zip(expected.feature_names, expected.intervals[:, 0], strict=True))
    return response["state"]["data"]["held"] == {"x2": [0.0, 0.0]} and drawn(response) == pytest.approx(low)


def test_what_a_page_asks_is_answered(explorer, model):
    assert works(explorer, model)
    body = question(explorer, "..range.max", feature="x1", state=NOTHING)
    status, _, text = ask(explorer, "POST", UPDATE, json.dumps(body), **JSON)
    assert status == 200
    assert json.loads(text)["response"]["range"]["max"] == pytest.approx(model.result_.intervals[1, 1])


EVIL = "http://evil.example"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://localhost:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:{port}.evil.example"},
        {"Referer": EVIL + "/page"},
        {"Referer": "http://localhost:1/"},
        {"Referer": "http://[broken"},
        {"Referer": "http://127.0.0.1:{port}@evil.example/"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_requests_of_other_origins_are_refused(explorer, headers):
    """Also of another server on this machine, to which a browser sends the cookie."""
    sent = {key: value.replace("{port}", str(explorer.guard.port)) for key, value in headers.items()}
    body = json.dumps(question(explorer, "..range.max", feature="x1"))
    status, _, text = ask(explorer, "POST", UPDATE, body, **JSON, **sent)
    assert status == 403
    assert "another origin" in text
    status, _, text = ask(explorer, "GET", "/_dash-layout", **sent)
    assert status == 403
    assert "x0" not in text


def test_a_link_may_lead_to_the_page_but_no_script_may_read_it(explorer):
    foreign = {"Referer": EVIL + "/", "Sec_Fetch_Site": "cross-site"}
    assert ask(explorer, "GET", "/", Sec_Fetch_Mode="navigate", **foreign)[0] == 200
    assert ask(explorer, "GET", "/", Sec_Fetch_Mode="no-cors", **foreign)[0] == 403
    assert ask(explorer, "POST", "/", Sec_Fetch_Mode="navigate", **foreign)[0] == 403
    own = f"http://localhost:{explorer.guard.port}"
    assert (
        ask(explorer, "GET", "/_dash-layout", Origin=own, Referer=own + "/?s=x", Sec_Fetch_Site="same-origin")[0] == 200
    )


def test_a_form_of_another_page_is_no_question(explorer):
    """What a page may send to another origin without asking it first has none of these types."""
    body = json.dumps(question(explorer, "..range.max", feature="x1"))
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert ask(explorer, "POST", UPDATE, body, Content_Type=kind)[0] in (400, 415)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "[::1]:{port}", "127.0.0.1:{port}.",
             "localhost.evil.example:{port}", "2130706433:{port}"]
)  # fmt: skip
def test_other_names_of_the_server_are_refused(explorer, host):
    """A name of someone else can be made to point to this machine, and his page is then of the same origin."""
    name = host.replace("{port}", str(explorer.guard.port))
    for path in ("/", "/_dash-layout", f"/?token={explorer.guard.token}"):
        status, headers, text = ask(explorer, "GET", path, Host=name)
        assert status in (400, 403)
        assert "Set-Cookie" not in headers
        assert explorer.guard.token not in text
    assert ask(explorer, "GET", "/", Host=f"localhost:{explorer.guard.port}")[0] == 200


def raw(explorer, text, limit=30.0):
    """What the server says to bytes that need not be HTTP."""
    with socket.create_connection(("127.0.0.1", explorer.guard.port), timeout=limit) as connection:
        connection.sendall(text if isinstance(text, bytes) else text.encode())
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../guard.py",
        "/assets/%2e%2e/guard.py",
        "/assets/..%2fguard.py",
        "/assets/..\\guard.py",
        "/assets//etc/passwd",
        "/assets/%2fetc/passwd",
        "/assets/explorer.js%00.css",
        "/static/../guard.py",
        "/_dash-component-suites/dash/../../../guard.py",
        "/_dash-component-suites/dash/deps/..%2f..%2f__init__.py",
        "/_dash-component-suites/os/path.py",
        "/_dash-component-suites/allrelevant/explore/guard.py",
        "/../../../../etc/passwd",
        "//etc/passwd",
        "/etc/passwd",
    ],
)
def test_no_path_leads_out_of_the_page(explorer, path):
    status, _, text = ask(explorer, "GET", path)
    assert status in (200, 308, 400, 404)
    for secret in ("root:", "import hmac", "def ", explorer.guard.token, "Traceback"):
        assert secret not in text
    # Any other path is the page itself, as its address may be anything to Dash.
    assert status != 200 or "_dash-config" in text


@pytest.mark.parametrize("token", ["", "x", "wrong" * 100, "ä", "%00", "%ff%fe", "TOKEN", "TOKEN%20", "TOKENx"])
def test_wrong_tokens_open_nothing(explorer, token):
    given = token.replace("TOKEN", explorer.guard.token.swapcase() if token == "TOKEN" else explorer.guard.token)
    path = "/?token=" + "".join(c if c.isascii() else "%C3%A4" for c in given)
    status, headers, _ = ask(explorer, "GET", path, token=False)
    assert status == 403
    assert "Set-Cookie" not in headers
    cookie = f"{explorer.guard.cookie}={given}".encode("latin-1", "replace").decode("latin-1")
    assert ask(explorer, "GET", "/_dash-layout", token=False, Cookie=cookie.replace("\0", ""))[0] in (200, 403)
    if given != explorer.guard.token:
        assert ask(explorer, "POST", UPDATE, "{}", token=False, Cookie=cookie, **JSON)[0] == 403


def test_large_requests_are_refused(explorer, model):
    size = guard.LARGEST + 1
    assert ask(explorer, "POST", UPDATE, b" " * size, **JSON)[0] == 413
    # The size that is announced is enough to know: nothing is waited for.
    began = time.monotonic()
    head = (
        f"POST {UPDATE} HTTP/1.1\r\nHost: 127.0.0.1:{explorer.guard.port}\r\nContent-Type: application/json\r\n"
        f"Cookie: {explorer.guard.cookie}={explorer.guard.token}\r\nConnection: close\r\n"
    )
    assert b" 413 " in raw(explorer, f"{head}Content-Length: {10**15}\r\n\r\n{{").split(b"\r\n")[0]
    assert time.monotonic() - began < 10.0
    # In pieces, without an announcement.
    piece = f"{2**20:x}\r\n".encode() + b" " * 2**20 + b"\r\n"
    answer = raw(explorer, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + piece * 9 + b"0\r\n\r\n")
    assert b" 411 " in answer.split(b"\r\n")[0]
    # Without the token nothing is read at all.
    assert ask(explorer, "POST", UPDATE, b" " * 1000, token=False, **JSON)[0] == 403
    assert ask(explorer, "GET", "/" + "x" * 100_000)[0] == 414
    assert ask(explorer, "GET", "/", **{f"X{k}": "y" for k in range(200)})[0] == 431
    assert works(explorer, model)


def test_clients_that_say_nothing_block_nobody_and_are_dropped(model, monkeypatch):
    monkeypatch.setattr(serving, "SILENCE", 1.0)
    with Explorer(model) as explorer:
        token = f"Cookie: {explorer.guard.cookie}={explorer.guard.token}"
        beginnings = (
            "",
            "GET / HT",
            f"POST {UPDATE} HTTP/1.1\r\nHost: 127.0.0.1:{explorer.guard.port}\r\n{token}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
        )
        silent = []
        for k in range(30):
            connection = socket.create_connection(("127.0.0.1", explorer.guard.port), timeout=20)
            connection.sendall(beginnings[k % 3].encode())
            silent.append(connection)
        began = time.monotonic()
        assert works(explorer, model)
        assert time.monotonic() - began < 15.0
        for connection in silent:  # the server hangs up, after an answer or without
            while connection.recv(65536):
                pass
            connection.close()
        assert works(explorer, model)


@pytest.mark.parametrize(
    "text",
    [b"\0" * 100, b"GET\r\n\r\n", b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\xff\xfe / HTTP/1.1\r\n\r\n",
     b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
     b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
)  # fmt: skip
def test_what_is_no_http_is_survived(explorer, model, text):
    answer = raw(explorer, text)
    assert b"Traceback" not in answer
    assert explorer.guard.token.encode() not in answer
    assert works(explorer, model)


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", "1", '"x"', "{}", '{"output": "nothing"}', '{"output": ["a"]}', '{"output": {}}', "NaN",
     "[" * 100_000, "1" * 10_000, '{"output": "download.data"}', '{"output": "download.data", "inputs": {}}', "\ud800"],
)  # fmt: skip
def test_what_is_no_question_is_refused(explorer, model, body, capfd):
    sent = body.encode("utf-8", "surrogatepass")
    status, _, text = ask(explorer, "POST", UPDATE, sent, **JSON)
    assert status == 400
    assert "Traceback" not in text
    assert "Traceback" not in capfd.readouterr().err


OUTPUTS = ("..state.data", "..bars.figure", "..range.max", "answer-substitutes", "answer-panels", "download.data")
STRANGE = [
    None, True, -1, 0, 3, 1e308, 10**400, float("nan"), float("inf"), "", "x0", "x2", "zz", "a" * 5000, "\0",
    [], [1], [0, 1], [None, {}], [float("nan"), 1], {}, {"held": 3}, {"held": {"x2": [0, 0]}}, {"held": {"zz": [0, 1]}},
    {"held": {"x0": [-1, float("nan")]}}, {"past": 5, "future": "x", "dragging": {}}, {"held": {"x2": [0.9, 0.9]}},
    {"tab": 3, "number": "x"}, {"tab": "t", "number": float("nan"), "feature": "x2", "limits": [0, "y"]},
    {"tab": "t", "number": 10**400, "feature": ["x"], "limits": None}, {"tab": "t", "feature": "x2", "limits": [1, 0]},
    {"tab": "a" * 5000, "number": 10**15, "feature": "x2", "limits": [float("nan"), float("inf")]},
]  # fmt: skip


@st.composite
def nonsense(draw):
    """Which question, which of its places get strange values, and how its frame is broken, if it is."""
    output = draw(st.sampled_from(OUTPUTS))
    values = draw(st.lists(st.sampled_from(range(len(STRANGE))), min_size=1, max_size=6))
    frame = draw(st.sampled_from(["", "", "", "", "drop", "swap", "type", "changed"]))
    return output, values, frame, draw(st.integers(0, 30))


def broken(body, values, frame, place):
    """A question with strange values, and with its frame damaged."""
    spots = [one for part in ("inputs", "state") for given in body[part]
             for one in (given if isinstance(given, list) else [given])]  # fmt: skip
    for k, value in enumerate(values):
        spots[(place + 3 * k) % len(spots)]["value"] = STRANGE[value]
    key = ("output", "outputs", "inputs", "changedPropIds", "state")[place % 5]
    triggers = [one for one in body["inputs"] if isinstance(one, dict)]
    one = triggers[place % len(triggers)]
    body["changedPropIds"] = [f"{one['id']}.{one['property']}"]
    if frame == "drop":
        del body[key]
    elif frame == "swap" and isinstance(body[key], list):
        body[key] = body[key][::-1] + body[key][:1]
    elif frame == "type":
        body[key] = STRANGE[values[0]]
    elif frame == "changed":
        body["changedPropIds"] = ["{", "x.y", STRANGE[values[0]]][: 1 + place % 3]
    return body


def test_nonsense_is_survived_and_others_do_not_notice(explorer, model, capfd):
    """Answers to strange questions are not errors, and the next page gets the right answer."""
    templates = {
        output: json.dumps(question(explorer, output, url="", feature="x1", state=NOTHING)) for output in OUTPUTS
    }
    statuses = set()

    @settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
    @given(nonsense())
    def fuzz(drawn_nonsense):
        output, values, frame, place = drawn_nonsense
        body = json.dumps(broken(json.loads(templates[output]), values, frame, place))
        status, _, text = ask(explorer, "POST", UPDATE, body, **JSON)
        statuses.add(status)
        assert status in (200, 204, 400), (status, body[:500])
        assert "Traceback" not in text
        assert explorer.guard.token not in text

    fuzz()
    assert statuses == {200, 204, 400}
    assert "Traceback" not in capfd.readouterr().err
    assert works(explorer, model)


def test_a_title_is_no_markup(model):
    evil = "</title><script>alert(1)</script>"
    with Explorer(model, title=evil) as explorer:
        text = ask(explorer, "GET", "/")[2]
    assert evil not in text
    assert "&lt;/title&gt;&lt;script&gt;alert(1)" in text


def test_the_server_forgets_pages(explorer, model):
    """Pages that are gone, or invented, do not fill its memory."""
    from allrelevant.explore.answers import PAGES, Answers

    answers = Answers(model)
    for k in range(PAGES + 50):
        answers.constrained({}, f"page {k}", 2)
    assert len(answers._latest) == PAGES
    assert "page 0" not in answers._latest


def test_fifty_clients_at_once_get_their_own_answers(explorer, model):
    buttons = [(feature, button) for feature in ("x1", "x2", "x3") for button in ("at-minimum", "at-maximum", "free")]
    expected = {}
    for feature, button in buttons:
        k = model.result_.feature_names.index(feature)
        value = float(model.result_.intervals[k, 0 if button == "at-minimum" else 1])
        held = {} if button == "free" else {feature: (value, value)}
        found = model.constrain(held) if held else model.result_
        low = dict(zip(found.feature_names, found.intervals[:, 0].tolist(), strict=True))
        expected[feature, button] = {name: list(limits) for name, limits in held.items()}, low
    body = json.dumps(question(explorer, "..state.data", url="", state=NOTHING))
    start = threading.Barrier(50)

    def client(k):
        feature, button = buttons[k % len(buttons)]
        mine = json.loads(body)
        mine["changedPropIds"] = [f"{button}.n_clicks"]
        next(one for one in mine["inputs"] if isinstance(one, dict) and one["id"] == "feature")["value"] = feature
        start.wait(timeout=30)
        status, _, text = ask(explorer, "POST", UPDATE, json.dumps(mine), **JSON)
        return status, (feature, button), json.loads(text)["response"]

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(client, range(50)))
    for status, which, response in found:
        assert status == 200
        held, low = expected[which]
        assert response["state"]["data"]["held"] == held
        assert drawn(response) == pytest.approx(low, abs=1e-7)

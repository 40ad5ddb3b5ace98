"""Files of results and findings: damaged ones are refused with a sentence, and nothing else happens."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allrelevant.findings import Findings
from allrelevant.result import RelevanceResult
from handmade import make_forest_result, make_result

RESULTS = {
    "linear": make_result(),
    "forest": make_forest_result(),
    "privileged": make_result(privileged=make_result(1, 1, 1)),
    "constrained": make_result(
        constraints={"feature 0": (0.0, 0.0)}, unconstrained=make_result().intervals, unconstrained_classes=[0] * 5
    ),
}
#: What takes the place of a value.
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.sampled_from([0, 1, -1, 3, 10**400, 1e308, 0.5, -0.5]),
    st.text(max_size=8),
    st.sampled_from(
        ["__import__('os').system('x')", "nan", "<script>", {"float": "nan"}, {"float": "inf"}, {"float": 3}]
    ),
    st.just([]),
    st.just({}),
    st.lists(st.integers(-2, 3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def places(content, path=()):
    """All places of a value, each as the keys that lead there."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


@st.composite
def damaged(draw, text):
    """A text with some of its values replaced, removed or doubled, or with some of its letters changed."""
    content = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        known = list(places(content))
        if not known:
            break
        *path, last = draw(st.sampled_from(known))
        holder = content
        for key in path:
            holder = holder[key]
        how = draw(st.sampled_from(["replace", "replace", "replace", "remove", "double", "nest"]))
        if how == "replace":
            holder[last] = deepcopy(draw(STRANGE))
        elif how == "remove":
            del holder[last]
        elif how == "double" and isinstance(holder, list):
            holder.append(holder[last])
        elif how == "nest":
            holder[last] = [holder[last]]
    out = json.dumps(content)
    if draw(st.integers(0, 4)) == 0:
        k = draw(st.integers(0, len(out) - 1))
        out = out[:k] + draw(st.text(max_size=2)) + out[k + draw(st.integers(0, 3)) :]
    return out


SETTINGS = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}


def check(read, text):
    """A valid value that can be shown and written, or a ValueError with a sentence."""
    try:
        found = read(text)
    except ValueError as error:
        said = str(error)
        assert said.startswith(
            ("not a relevance result: ", "relevance result of schema ", "not findings: ", "findings of ")
        ) or ("method=" in said or "tentative names" in said or "cannot go with" in said), said
        assert len(said) < 2000
        return None
    assert read(found.to_json()) == found
    result = getattr(found, "result", found)
    assert result.summary()
    assert result.table()
    assert result._repr_html_()
    return found


@pytest.mark.parametrize("kind", RESULTS)
def test_a_damaged_result_is_refused_with_a_sentence(kind):
    @settings(max_examples=250, **SETTINGS)
    @given(damaged(RESULTS[kind].to_json()))
    def fuzz(text):
        check(RelevanceResult.from_json, text)

    fuzz()


def test_damaged_findings_are_refused_with_a_sentence(make_findings):
    from allrelevant.report import render_report

    shown = []

    @settings(max_examples=200, **SETTINGS)
    @given(damaged(make_findings(1, 2, 1, data={"file": "a.csv"}).to_json()))
    def fuzz(text):
        found = check(Findings.from_json, text)
        if found is not None:
            for part in (found.groups, found.panels, found.stability, *found.substitutes):
                assert part is None or isinstance(part.summary(), str)
            if len(shown) < 5:
                shown.append(render_report(found))

    fuzz()
    assert shown


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("feature_names", 0), 3, r"feature_names\[0\] must be a string, not 3"),
        (("feature_names",), "abcde", "feature_names must be a list"),
        (("feature_names",), [], "feature_names is empty"),
        (("intervals", 1), [0.1], r"intervals\[1\] must be a list of 2 entries, not \[0.1\]"),
        (("intervals", 1), [0.3, 0.1], r"intervals\[1\] must be a low end before a high end"),
        (("intervals", 1, 0), -0.5, r"intervals\[1\]\[0\] must be a number of at least"),
        (("intervals", 1, 0), {"float": "nan"}, r"intervals\[1\]\[0\] must be a number"),
        (("intervals", 1, 0), "0.1", r"intervals\[1\]\[0\] must be a number"),
        (("intervals",), [[0.0, 0.1]], "intervals must be a list of 5 entries"),
        (("classes", 0), 3, r"classes\[0\] must be an integer from 0 to 2, not 3"),
        (("classes", 0), 1.5, r"classes\[0\] must be an integer"),
        (("classes", 0), True, r"classes\[0\] must be an integer"),
        (("pvalues", 0), 1.5, r"pvalues\[0\] must be a number of at least 0 and at most 1"),
        (("n_samples",), -1, "n_samples must be an integer from 0"),
        (("n_samples",), 10**400, "n_samples must be an integer"),
        (("seed",), "0", "seed must be an integer"),
        (("max_gap",), -1.0, "max_gap must be a number of at least 0"),
        (("max_gap",), 10**400, "max_gap must be a number"),
        (("cpu_seconds",), [1], "cpu_seconds must be values by name"),
        (("scores",), {}, "scores must have a number"),
        (("scores", "training"), "much", "scores must be a number"),
        (("constraints",), {"other": [0, 0]}, "constraints names 'other', which is no feature"),
        (("thresholds",), {"rule": 1}, "thresholds has missing fields"),
        (("thresholds", "n_probes"), None, "thresholds.n_probes must be an integer"),
        (("notes",), "text", "notes must be a list"),
        (("method",), "tree", "method='tree'"),
        (("schema",), True, "schema True; this version reads schema 1"),
        (("schema",), 2, "schema 2; this version reads schema 1"),
        (("version",), 1, "version must be a string"),
    ],
)
def test_every_field_is_checked(path, value, message):
    content = json.loads(make_result().to_json())
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        RelevanceResult.from_json(json.dumps(content))


@pytest.mark.parametrize("read", [RelevanceResult.from_json, Findings.from_json])
@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"schema": NaN}', "\ud800", "", "1" * 10_000, '{"schema": 1' + " " * 9]
)
def test_what_is_no_json_is_refused(read, text):
    with pytest.raises(ValueError, match="not JSON"):
        read(text)


def test_privileged_features_are_not_nested():
    content = make_result(privileged=make_result()).to_dict()
    content["privileged"]["privileged"] = content["privileged"]
    with pytest.raises(ValueError, match="privileged features have no privileged features of their own"):
        RelevanceResult.from_dict(content)


def test_a_feature_may_be_called_float():
    result = make_result(
        1, 0, 0, names=["float"], constraints={"float": (0.0, 0.1)}, unconstrained=[[0, 1]], unconstrained_classes=[2]
    )
    assert RelevanceResult.from_json(result.to_json()) == result


class Trap:
    """Says so when a pickle of it is loaded."""

    def __reduce__(self):
        return pytest.fail, ("executed",)


def test_nothing_is_executed(monkeypatch):
    """No reader evaluates, imports or unpickles what a file says."""
    import builtins

    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(builtins, name, lambda *_, name=name, **__: pytest.fail(f"{name} was called"))
    content = json.loads(make_result().to_json())
    content["parameters"] = {"C": "__import__('os').system('false')", "!!python/object": pickle.dumps(Trap()).hex()}
    again = RelevanceResult.from_json(json.dumps(content))
    assert again.parameters == content["parameters"]

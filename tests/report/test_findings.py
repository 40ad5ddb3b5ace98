from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from allrelevant.findings import Findings
from handmade import make_forest_result, make_result


@pytest.mark.parametrize("counts", [(2, 4, 3), (1, 0, 0), (0, 0, 3), (0, 1, 0)])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_read_back_without_loss(make_findings, counts, indent):
    findings = make_findings(*counts, data={"float": "nan", "file": "größe.csv"})
    again = Findings.from_json(findings.to_json(indent=indent))
    assert again == findings
    assert again.to_json() == findings.to_json()
    assert again.data == findings.data
    assert again.result == findings.result
    assert again.groups.result is again.result
    for name in ("labels", "contexts", "distances", "linkage"):
        old, new = getattr(findings.groups, name), getattr(again.groups, name)
        assert old.shape == new.shape
        assert old.dtype == new.dtype
        np.testing.assert_array_equal(old, new)
    assert again.groups.members == findings.groups.members
    assert again.panels.summary() == findings.panels.summary()
    assert tuple(again.panels) == tuple(findings.panels)
    assert [one.rises for one in again.substitutes] == [one.rises for one in findings.substitutes]
    assert [one.summary() for one in again.substitutes] == [one.summary() for one in findings.substitutes]
    np.testing.assert_array_equal(again.stability.intervals, findings.stability.intervals)
    np.testing.assert_array_equal(again.stability.classes, findings.stability.classes)


def test_a_bare_result_is_read_too():
    result = make_result()
    findings = Findings.from_json(result.to_json())
    assert findings == Findings(result)
    assert findings.groups is findings.panels is findings.stability is None
    assert findings.substitutes == ()


def test_parts_with_a_result_of_their_own_keep_it(make_findings):
    findings = make_findings()
    other = replace(findings.result, n_samples=7)
    findings = replace(findings, groups=replace(findings.groups, result=other))
    again = Findings.from_json(findings.to_json())
    assert again.groups.result.n_samples == 7
    assert again.result.n_samples == 569
    assert again == findings


def test_findings_that_differ_are_not_equal(make_findings):
    findings = make_findings()
    assert findings != replace(findings, panels=None)
    assert findings != "findings"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not findings: the text is not JSON"),
        ("[]", "not findings: no field 'schema'"),
        ("{}", "not findings: no field 'schema'"),
        ('{"schema": 1}', "not a relevance result: missing fields"),
        ('{"schema": 99, "kind": "findings"}', "findings of schema 99; this version reads schema 1"),
        ('{"schema": 1, "kind": "findings"}', r"not findings: missing fields \['data', 'groups'"),
    ],
)
def test_other_texts_are_refused_with_a_sentence(text, message):
    with pytest.raises(ValueError, match=message):
        Findings.from_json(text)


@pytest.mark.parametrize("part", ["result", "groups", "substitutes", "panels", "stability", "data"])
@pytest.mark.parametrize("value", [3, {"a": 1}, [[1]], "x"])
def test_damaged_fields_are_refused_with_a_sentence(make_findings, part, value):
    content = json.loads(make_findings().to_json())
    content[part] = value
    if (part, value) == ("data", {"a": 1}):
        assert Findings.from_json(json.dumps(content)).data == {"a": "1"}
        return
    with pytest.raises(ValueError, match=r"not findings|not a relevance result"):
        Findings.from_json(json.dumps(content))


def test_parts_must_be_about_the_same_features(make_findings):
    findings = make_findings()
    names = [f"other {k}" for k in range(findings.result.n_features)]
    result = replace(findings.result, feature_names=tuple(names))
    with pytest.raises(ValueError, match="groups is about other features than result"):
        Findings(result, findings.groups)
    with pytest.raises(ValueError, match="stability is about other features than result"):
        Findings(result, stability=findings.stability)
    with pytest.raises(ValueError, match=r"substitutes names 'feature \d', which is no feature of result"):
        Findings(result, substitutes=findings.substitutes)
    with pytest.raises(ValueError, match=r"panels names 'feature \d', which is no feature of result"):
        Findings(result, panels=findings.panels)
    with pytest.raises(ValueError, match="more than once"):
        Findings(findings.result, substitutes=findings.substitutes * 2)


@pytest.mark.parametrize("part", ["substitutes", "panels"])
def test_forests_have_no_substitutes_and_panels(make_findings, part):
    findings, forest = make_findings(), make_forest_result(2, 4, 3)
    assert Findings.from_json(Findings(forest).to_json()) == Findings(forest)
    with pytest.raises(ValueError, match=f"{part} cannot go with a result of method 'forest'"):
        Findings(forest, **{part: getattr(findings, part)})

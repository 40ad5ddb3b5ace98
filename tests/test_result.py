from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from allrelevant import LinearRelevanceClassifier, RelevanceClass, RelevanceResult
from allrelevant.datasets import make_relevance_classification
from allrelevant.errors import MissingExtra
from handmade import make_result


@pytest.fixture(scope="module")
def result():
    X, y, _ = make_relevance_classification(120, n_strong=2, n_weak=2, n_irrelevant=3, random_state=0)
    return LinearRelevanceClassifier(random_state=3).fit(X, y).result_


def test_json_round_trip(result):
    again = RelevanceResult.from_json(result.to_json())
    assert again == result
    np.testing.assert_array_equal(again.intervals, result.intervals)
    assert again.thresholds == result.thresholds
    assert again.scores == result.scores
    assert again.seed == 3
    assert json.loads(result.to_json(indent=2))["schema"] == 1


def test_numbers_json_does_not_know_survive(result):
    strange = dataclasses.replace(result, scores={"metric": "R²", "cross_validated": math.nan, "training": -math.inf})
    again = RelevanceResult.from_json(strange.to_json())
    assert math.isnan(again.scores["cross_validated"])
    assert again.scores["training"] == -math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "the text is not JSON"),
        ("[]", "no field 'schema'"),
        ('{"schema": 99}', "schema 99; this version reads schema 1"),
        ('{"schema": 1, "extra": 2}', r"missing fields .*'intervals'.*unknown fields \['extra'\]"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        RelevanceResult.from_json(text)


def test_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.engine = "other"
    with pytest.raises(ValueError, match="read-only"):
        result.intervals[0, 0] = 1.0


def test_lengths_must_agree(result):
    with pytest.raises(ValueError, match="pvalues has 2 entries for 7 feature names"):
        dataclasses.replace(result, pvalues=np.ones(2))
    with pytest.raises(ValueError, match="at least one feature"):
        dataclasses.replace(result, feature_names=())


def test_frame(result):
    frame = result.to_frame()
    assert list(frame.index) == list(result.feature_names)
    assert list(frame.columns) == ["relevance", "minimum", "maximum", "pvalue", "baseline"]
    assert list(frame["relevance"].cat.categories) == ["irrelevant", "weak", "strong"]
    np.testing.assert_array_equal(frame["relevance"].cat.codes, result.classes)


def test_frame_without_pandas(result, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pip install 'allrelevant\[pandas\]'"):
        result.to_frame()


def test_everything_a_reader_needs_is_there(result):
    assert result.problem == "classification"
    assert result.n_samples == 120
    assert result.hyperparameters["C"] > 0
    assert result.scores["metric"] == "weighted F1"
    assert result.parameters["norm_slack"] == 0.1
    assert 0 <= result.max_gap <= 1e-6
    assert set(result.cpu_seconds) == {"search", "baseline", "intervals", "probes"}
    assert result.thresholds.n_usable == result.thresholds.n_probes == 50
    assert result.engine == "interior"
    assert result.n_programs > 60
    assert sum(np.abs(result.baseline)) == pytest.approx(1.0)


def test_summary_is_plain_language():
    result = make_result(1, 10, 3)
    text = result.summary()
    assert "1 is strongly relevant (every near-optimal model needs it)" in text
    assert "10 are weakly relevant" in text
    assert "and 2 more" in text
    noted = dataclasses.replace(result, notes=("Beware.",))
    assert noted.summary().endswith("Beware.")
    assert "Beware." not in noted.summary(notes=False)


def test_table_is_ordered_and_aligned():
    result = make_result(2, 2, 2)
    lines = result.table().splitlines()
    assert len(lines) == 7
    assert len({len(line) for line in lines}) == 1
    assert [line.split("  ")[0].strip() for line in lines[1:]] == [result.feature_names[k] for k in result.ranking()]
    assert result.names(RelevanceClass.STRONG) == [result.feature_names[k] for k in result.ranking()[:2]]


def test_rich_representation_in_notebooks():
    from dataclasses import replace

    result = replace(make_result(1, 1, 1), feature_names=("<script>", "b" * 300, "c"))
    html = result._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "b" * 60 not in html
    assert html.count("<tr>") == 4
    assert "b" * 60 not in result.table()
    many = make_result(30, 30, 40)
    assert "… 40 more" in many._repr_html_()

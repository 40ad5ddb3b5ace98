from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from allrelevant import LinearRelevanceClassifier, RelevanceClass, RelevanceResult
from allrelevant.datasets import make_relevance_classification
from allrelevant.errors import MissingExtra
from allrelevant.result import Thresholds
from handmade import make_forest_result, make_judged_result, make_result


@pytest.fixture(scope="module")
def result():
    X, y, _ = make_relevance_classification(120, n_strong=2, n_weak=2, n_irrelevant=3, random_state=0)
    return LinearRelevanceClassifier(random_state=3).fit(X, y).result_


def test_json_round_trip(result):
    again = RelevanceResult.from_json(result.to_json())
    assert again == result
    np.testing.assert_array_equal(again.intervals, result.intervals)
    assert repr(again.thresholds) == repr(result.thresholds)
    for name in ("adjusted_pvalues", "together_pvalues", "alone_pvalues", "limits"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    assert (again.companions, again.evidence) == (result.companions, result.evidence)
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


COLUMNS = ["relevance", "minimum", "maximum", "pvalue", "baseline", "adjusted_pvalue", "together_pvalue",
           "alone_pvalue", "limit", "borderline", "evidence"]  # fmt: skip


def test_frame(result):
    frame = result.to_frame()
    assert list(frame.index) == list(result.feature_names)
    assert list(frame.columns) == COLUMNS
    assert list(frame["relevance"].cat.categories) == ["irrelevant", "weak", "strong"]
    np.testing.assert_array_equal(frame["relevance"].cat.codes, result.classes)
    np.testing.assert_array_equal(frame["adjusted_pvalue"] <= result.thresholds.level, result.classes > 0)
    np.testing.assert_array_equal(frame["evidence"] != "", result.classes > 0)
    assert frame["borderline"].dtype == bool


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
    assert set(result.cpu_seconds) == {"search", "baseline", "intervals", "copies", "permutations"}
    assert result.thresholds.n_usable == result.thresholds.n_probes >= 2
    assert result.engine == "interior"
    assert result.n_programs > 60
    assert sum(np.abs(result.baseline)) == pytest.approx(1.0)


def test_tables_show_what_is_compared_with_the_level():
    result = make_judged_result(2, 3, 3, borderline=1)
    lines = result.table().splitlines()
    assert lines[0].split() == ["feature", "class", "minRel", "maxRel", "adj.", "p"]
    assert len({len(line) for line in lines[:-1]}) == 1
    assert lines[-1] == "~ borderline: adjusted p within a factor of two of the level, 0.05."
    cells = {line[:9].strip(): line.split("  ")[-1].strip() for line in lines[1:-1]}
    labels = {name: result.label(k) for k, name in enumerate(result.feature_names)}
    for k, name in enumerate(result.feature_names):
        shown = cells[name]
        assert labels[name].startswith("irrelevant") == (shown != "< 0.001" and float(shown) > 0.05)
        assert labels[name].endswith("~") == bool(result.borderline[k])
    assert sorted(cells.values()) == ["0.048", "0.0503", "0.600", "0.600", *["< 0.001"] * 4]
    html = result._repr_html_()
    assert "<th>adj. p</th>" in html
    assert "<td>0.0503</td>" in html
    assert html.count("~ borderline: ") == 1
    assert "borderline" not in make_judged_result(2, 3, 3).table()


@pytest.mark.parametrize(
    ("number", "level", "text"),
    [
        (0.05, 0.05, "0.050"),
        (0.05000001, 0.05, "0.05000001"),
        (0.0499999, 0.05, "0.050"),
        (3e-7, 0.05, "< 0.001"),
        (3e-7, 1e-4, "3e-07"),
        (1.0004e-4, 1e-4, "0.00010004"),
        (1.0, 0.05, "1.000"),
        (math.nan, 0.05, "–"),
    ],
)
def test_a_p_value_is_never_rounded_across_the_level(number, level, text):
    from allrelevant._summary import pvalue

    assert pvalue(number, level) == text
    if not math.isnan(number) and not text.startswith("<"):
        assert (float(text) <= level) == (number <= level)


def test_the_summary_says_what_holds_and_what_is_near():
    result = make_judged_result(2, 4, 2, borderline=1, alone=2, together=1)
    text = result.summary()
    weak = result.names(1)
    assert "compared with 3 sets of row-permuted copies" in text
    assert result.guarantee == "Of the features called relevant, at most 5 % are expected to be noise."
    assert result.guarantee in text
    assert "does not hold for time series" in text
    assert f"Borderline, with adjusted p within a factor of two of the level, 0.05: {weak[-1]} (0.048)" in text
    assert f"{result.names(0)[0]} (0.0503). Another sample may change their classes." in text
    assert f"{weak[-2]}, {weak[-1]} tell of the target by themselves; other features tell the same." in text
    assert f"{weak[0]} tells of the target only beside others: {result.names(2)[0]}." in text
    assert "not told apart from noise, neither beside the other features nor alone" in text
    nameless = dataclasses.replace(result, companions={})
    assert f"{weak[0]} tells of the target only beside others." in nameless.summary()


@pytest.mark.parametrize(
    ("control", "sentence"),
    [
        ("fwer", "The chance that any of the features called relevant is noise is at most 1 %."),
        ("none", "Each feature of noise has a chance of at most 1 % to be called relevant."),
    ],
)
def test_the_guarantee_names_the_error_and_the_level(control, sentence):
    thresholds = Thresholds(1e-6, math.nan, "copies", 0.01, control, 1, 1)
    text = make_judged_result(1, 1, 1, thresholds=thresholds).summary()
    assert sentence in text
    assert "with 1 set of row-permuted" in text


def test_results_without_adjusted_p_values_promise_nothing():
    for result in (make_result(1, 2, 2), make_forest_result(1, 2, 2)):
        assert "expected to be noise" not in result.summary()
        assert "p-value" in result.table()
        assert "p-value" in result._repr_html_()
    assert "no near-optimal model uses them more than chance would" in make_result(1, 2, 2).summary()


def test_forests_with_adjusted_p_values_show_them():
    adjusted = [1e-4, 0.04, 0.06, 0.9]
    forest = make_forest_result(1, 1, 2, tentative=0)
    classes = [2, 1, 0, 0]
    result = dataclasses.replace(forest, adjusted_pvalues=adjusted, classes=classes)
    assert "adj. p" in result.table().splitlines()[0]
    assert [result.label(k) for k in range(4)] == ["strong", "weak~", "irrelevant~", "irrelevant"]
    assert "Borderline" in result.summary()
    assert "near-optimal" not in result.summary()


def test_no_class_contradicts_its_p_value_under_constraints():
    free = make_judged_result(1, 2, 1)
    names = free.names(1)
    classes = np.where(free.classes == 1, 0, free.classes)
    result = dataclasses.replace(
        free, classes=classes, unconstrained=free.intervals, unconstrained_classes=free.classes,
        constraints={free.names(2)[0]: (0.1, 0.2)},
    )  # fmt: skip
    text = result.summary()
    reason = "no model that the constraints leave needs them beyond chance"
    assert f"2 are not relevant under these constraints ({reason}): {', '.join(names)}." in text
    reason = "not told apart from noise, neither beside the other features nor alone"
    assert f"1 is irrelevant ({reason}): {free.names(0)[0]}." in text
    assert "P-values are of the fit without constraints" in result.table()


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
    evil = replace(result, feature_names=('"><img onerror=alert(1)>', "' onclick='alert(1)", "c"), notes=("<script>",))
    html = evil._repr_html_()
    assert not [sign for sign in ("<img", "<script", "onclick='") if sign in html]
    many = make_result(30, 30, 40)
    assert "… 40 more" in many._repr_html_()


LINEAR_WORDS = ("near-optimal", "minRel", "maxRel", "linear", "proven:", "gap", "probe")


def test_forests_speak_for_themselves():
    result = make_forest_result(2, 3, 2)
    text = result.summary() + result.table() + result._repr_html_()
    assert not [word for word in LINEAR_WORDS if word in text]
    for sentence in (
        "The forest reaches an accuracy of 0.941 in cross-validation.",
        "2 are strongly relevant (the other features cannot stand in for them)",
        "3 are weakly relevant (other features can stand in for them)",
        "2 are irrelevant (of no use to a forest)",
        f"The test could not decide about {result.tentative[0]}; its class is a best guess.",
        "estimates from 100 forests, not proven bounds",
    ):
        assert sentence in result.summary()
    lines = result.table().splitlines()
    assert lines[0].split() == ["feature", "class", "low", "high", "p-value"]
    assert len({len(line) for line in lines}) == 1
    assert "irrelevant?" in lines[-1]
    assert "<td>irrelevant?</td>" in result._repr_html_()
    assert [result.label(k) for k in result.ranking()].count("irrelevant?") == 1
    several = make_forest_result(2, 3, 2, tentative=2)
    assert "their classes are best guesses." in several.summary()
    assert "best guess" not in make_forest_result(2, 3, 2, tentative=0).summary()


def test_articles_fit_the_metric():
    for metric, article in (("R²", "an"), ("accuracy", "an"), ("weighted F1", "a"), ("macro F1", "a"), ("F1", "an")):
        result = make_result(scores={"metric": metric, "cross_validated": 0.5, "training": 0.5})
        assert f"reaches {article} {metric} of 0.500" in result.summary()


def test_the_frame_of_forests_says_what_is_undecided():
    result = make_forest_result(1, 1, 3, tentative=2)
    frame = result.to_frame()
    assert list(frame.columns) == [*COLUMNS, "tentative"]
    assert frame["adjusted_pvalue"].isna().all()
    assert not frame["borderline"].any()
    assert frame.index[frame["tentative"]].tolist() == [
        name for name in result.feature_names if name in result.tentative
    ]
    assert not make_forest_result(1, 1, 3, tentative=0).to_frame()["tentative"].any()


def test_files_of_earlier_versions_are_linear():
    forest = make_forest_result(tentative=2)
    again = RelevanceResult.from_json(forest.to_json())
    assert again == forest
    assert (again.method, again.tentative) == ("forest", forest.tentative)
    result = make_result(privileged=make_result())
    content = result.to_dict()
    for part in (content, content["privileged"]):
        del part["method"], part["tentative"]
    again = RelevanceResult.from_dict(content)
    assert again == result
    assert (again.method, again.tentative) == ("linear", ())


def test_methods_and_undecided_features_must_be_known():
    with pytest.raises(ValueError, match=r"method='tree'; it is one of linear, forest"):
        make_result(method="tree")
    with pytest.raises(ValueError, match="tentative names 'other', which is no feature"):
        make_result(tentative=("other",))

"""The command line with forests."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import allrelevant
from allrelevant.findings import Findings
from handmade import make_forest_result

pytest.importorskip("lightgbm")


@pytest.fixture
def bent_csv(tmp_path):
    """A table in which y depends on the square of a, and on a category; there are gaps in a."""
    rng = np.random.RandomState(0)
    frame = pd.DataFrame(rng.normal(size=(240, 3)).round(4), columns=["a", "noise", "more noise"])
    frame["city"] = rng.choice(["Bonn", "Essen", "Köln"], size=240)
    frame["y"] = np.where(frame["a"] ** 2 + 1.5 * (frame["city"] == "Köln") > 1.2, "yes", "no")
    frame.loc[[3, 9], "a"] = np.nan
    path = tmp_path / "bent.csv"
    frame.to_csv(path, index=False)
    return path


def test_fit_with_a_forest(call, bent_csv, tmp_path):
    out = tmp_path / "results"
    code, shown, aside = call("fit", bent_csv, "-t", "y", "--method", "forest", "--jobs", 1, "--out", out)
    assert code == 0, aside
    for words in ("low", "high", "The forest reaches", "not proven bounds", "report.html"):
        assert words in shown
    for words in ("minRel", "near-optimal", "gap", "linear"):
        assert words not in shown
    assert "2 missing values were kept, as forests take them: a (2)" in aside
    assert "taken as categories (levels): city (3)" in aside
    result = Findings.from_json((out / "result.json").read_text()).result
    assert result.method == "forest"
    assert result.feature_names == ("a", "noise", "more noise", "city")
    assert {"a", "city"} <= {name for name, kind in zip(result.feature_names, result.classes, strict=True) if kind}
    again, page, _ = call("report", out / "result.json", "--out", out / "again.html")
    assert again == 0
    assert (out / "again.html").exists()
    assert "again.html" in page


def test_fit_agrees_with_the_library(call, bent_csv):
    code, shown, _ = call("fit", bent_csv, "-t", "y", "--method", "forest", "--json", "--seed", 3, "--jobs", 1, "-q")
    assert code == 0
    frame = pd.read_csv(bent_csv).astype({"city": "category"})
    model = allrelevant.ForestRelevanceClassifier(random_state=3, n_jobs=1).fit(frame.drop(columns="y"), frame["y"])
    np.testing.assert_array_equal(Findings.from_json(shown).result.intervals, model.result_.intervals)


def test_ordered_classes_are_ranks(call, bent_csv):
    frame = pd.read_csv(bent_csv)
    frame["y"] = np.digitize(frame["a"].fillna(0.0) ** 2, [0.3, 1.0]) + 1
    frame.to_csv(bent_csv, index=False)
    code, shown, aside = call("fit", bent_csv, "-t", "y", "--method", "forest", "--problem", "ordinal", "--json")
    assert code == 0, aside
    assert "the ranks 0 to 2 are predicted: regression" in aside
    assert Findings.from_json(shown).result.problem == "regression"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("fit", "--method", "forest", "--privileged", "noise"), "--privileged is for --method linear"),
        (("fit", "--method", "forest", "--thorough"), "--thorough is for --method linear"),
        (("fit", "--method", "forest", "--costs", "costs.csv"), "--costs is for --method linear"),
        (("fit", "--method", "tree"), "tree"),
        (("panels", "--method", "forest"), "--method"),
        (("explore", "--method", "forest"), "--method"),
    ],
)
def test_what_forests_do_not_have_is_said(call, bent_csv, arguments, sentence):
    command, *options = arguments
    code, shown, aside = call(command, bent_csv, "--target", "y", *options)
    assert (code, shown) == (2, "")
    assert sentence in aside
    assert "Traceback" not in aside


def test_a_missing_extra_is_one_sentence(call, bent_csv, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    code, shown, aside = call("fit", bent_csv, "--target", "y", "--method", "forest", "--quiet")
    assert (code, shown) == (1, "")
    assert "pip install 'allrelevant[forest]'" in aside
    assert "Traceback" not in aside


def test_undecided_features_are_marked(capsys):
    from allrelevant.cli._show import Screen

    result = make_forest_result(1, 1, 2)
    Screen().findings(Findings(result))
    shown = capsys.readouterr().out
    assert "irrelevant?" in shown
    assert f"could not decide about {result.tentative[0]}" in shown

"""Files that releases have written: they can be read, and a fit of today finds the same."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import allrelevant
from allrelevant import RelevanceResult
from allrelevant.findings import Findings
from golden import write

RELEASES = sorted(path.name for path in write.HERE.iterdir() if path.is_dir() and path.name[0].isdigit())
FILES = [path.relative_to(write.HERE) for path in sorted(write.HERE.glob("*/*.json"))]
#: Forests are estimates, which differ between versions of LightGBM and with the size of the trees.
TOLERANCE = {"forest": 0.2}


@cache
def fit(release, problem):
    """A fit of today, with the hyperparameters of then: how these are searched may change."""
    estimator, target = write.estimators()[problem]
    X, targets = write.data()
    y = targets[target]
    if problem != "forest":
        then = RelevanceResult.from_json((write.HERE / release / f"{problem}.json").read_text()).hyperparameters
        # That of the result is in standard deviations of the target.
        scaled = {"epsilon": then["epsilon"] * np.std(y)} if "epsilon" in then else {}
        estimator.set_params(C=then["C"], **scaled)
    return estimator.fit(X, y)


def test_this_version_has_its_files():
    assert allrelevant.__version__ in RELEASES, "run make golden"


@pytest.mark.parametrize("path", FILES, ids=str)
def test_files_of_releases_are_read_and_written_without_loss(path):
    text = (write.HERE / path).read_text()
    read = Findings.from_json if path.name == "findings.json" else RelevanceResult.from_json
    assert read(read(text).to_json()) == read(text)
    assert (read(text).result if path.name == "findings.json" else read(text)).version == path.parts[0]
    old, new = json.loads(text), json.loads(read(text).to_json())
    result = old["result"] if path.name == "findings.json" else old
    thresholds = (new["result"] if path.name == "findings.json" else new)["thresholds"]
    if "confidence" in result["thresholds"]:  # what there was before levels: a prediction limit for every feature
        confidence = result["thresholds"].pop("confidence")
        assert thresholds["level"] == pytest.approx(1.0 - confidence)
        assert thresholds["control"] == "none"
    assert kept(new, old) == old


def kept(new, old):
    """What is left of the new without the fields that it has more: these may be added, none may be lost."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {name: kept(new[name], old[name]) for name in old}
    return new


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("problem", write.estimators())
def test_a_fit_of_today_finds_the_same(release, problem):
    text = Path(write.HERE / release / f"{problem}.json").read_text()
    then, now = RelevanceResult.from_json(text), fit(release, problem).result_
    np.testing.assert_array_equal(now.classes, then.classes)
    np.testing.assert_allclose(now.intervals, then.intervals, rtol=0, atol=TOLERANCE.get(problem, 1e-6))


@pytest.mark.parametrize("release", RELEASES)
def test_answers_of_today_are_the_same(release):
    then = Findings.from_json((write.HERE / release / "findings.json").read_text())
    now = write.findings(fit(release, "classification"))
    assert now.groups.groups == then.groups.groups
    assert [one.features for one in now.panels] == [one.features for one in then.panels]
    for one, two in zip(now.substitutes, then.substitutes, strict=True):
        assert [some.features for some in one.sets] == [some.features for some in two.sets]
    # Which samples a bootstrap draws depends on their canonical order, and this may change.
    np.testing.assert_array_equal(now.stability.classes, then.stability.classes)

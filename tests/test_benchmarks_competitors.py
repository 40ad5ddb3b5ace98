"""The competitors in the benchmarks find what is easy to find, and what goes wrong in one is said in a note."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.competitors import calling
from benchmarks.competitors._ordinal import OrdinalL1
from benchmarks.competitors.calling import METHODS, available, call

from allrelevant import LinearRelevanceOrdinal

OWN = [method for method, name in METHODS.items() if not calling.adapter(name).REQUIREMENTS]
#: The bound of the second leaves less than one of six columns to a half.
UNFIT = ("_groups", "implicit", "ordinal", "randomised_lasso")
CLASSIFIERS = [method for method in OWN if not method.endswith(UNFIT)]
#: Of one model the smallest weights count, and there are such of noise.
SINGLE = {method for method, name in METHODS.items() if name == "linear_models"}
LIGHT = {"numpy", "benchmarks"}
#: Methods with penalties by their shares.
SHARES = {"ridge", "lasso", "elastic_net", "lasso_cv", "stability_selection"}


@pytest.fixture(scope="module")
def easy():
    """Two features that matter, four that do not."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 6))
    return X, np.where(X[:, 0] + X[:, 1] > 0, 1, -1)


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_two_features_are_found(method, easy):
    if method in SHARES:
        pytest.importorskip("sklearn", minversion="1.8", reason="its penalty follows from shares")
    X, y = easy
    done = call(method, "classification", X, y, 0)
    assert not done.note
    assert done.classes.shape == (6,)
    assert (done.classes[:2] > 0).all()
    if method not in SINGLE:
        assert (done.classes[2:] == 0).sum() >= 2
    assert done.cpu_seconds > 0
    assert 0.8 < done.found.get("training_score", 1.0) <= 1.0
    assert json.loads(json.dumps(done.found)) == done.found


@pytest.mark.parametrize("method", ["allrelevant", "allrelevant_implicit", "rfecv_ordinal"])
def test_ordered_classes(method, easy):
    X, _ = easy
    done = call(method, "ordinal", X, np.digitize(X[:, 0] + X[:, 1], [-0.8, 0.8]), 0)
    assert not done.note
    assert (done.classes[:2] > 0).all()
    assert (done.classes[2:] == 0).sum() >= 2
    assert 0.0 <= done.found["training_score"] < 0.1  # an error


def test_the_ordinal_model_is_that_of_the_estimator(easy):
    X, _ = easy
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.digitize(X[:, 0] + X[:, 1], [-0.8, 0.8])
    ours = LinearRelevanceOrdinal(C=0.1, n_copies=1, random_state=0).fit(X, y)
    model = OrdinalL1(C=0.1, n_classes=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), ours.predict(X))
    assert model.score(X, y) == pytest.approx(-ours.result_.scores["training"])


@pytest.mark.parametrize("method", ["allrelevant_groups", "correlation_groups", "hdbscan_groups"])
def test_copies_are_one_group(method, easy):
    X, y = easy
    labels = call(method, "classification", X[:, [0, 0, 1, 1, 2]], y, 0).found["labels"]
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_a_method_that_there_is_not(easy):
    with pytest.raises(ValueError, match=r"method is 'nonsense'; there are allrelevant, "):
        call("nonsense", "classification", *easy, 0)


@pytest.mark.parametrize("process", [False, True])
def test_what_goes_wrong_is_said_in_a_note(process, easy):
    done = call("efs", "regression", *easy, 0, process=process)
    assert done.note == "ValueError: problem is 'regression'; this method knows classification"
    assert done.cpu_seconds == ""
    assert done.scores(np.zeros(6)) == ("", "")
    X, _ = easy
    assert "3 classes" in call("lasso", "classification", X, np.arange(200) % 3, 0).note


def test_a_user_can_interrupt(monkeypatch, easy):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(calling.adapter("efs").METHODS, "efs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        call("efs", "classification", *easy, 0)


def test_in_a_process_of_its_own(easy):
    here, there = (call("efs", "classification", *easy, 3, process=process) for process in (False, True))
    assert here.found["importances"] == there.found["importances"]
    assert there.found["peak_bytes"] >= there.found["bytes_before"] > 0


def test_a_limit_ends_a_process():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(3000, 60))
    done = call("efs", "classification", X, rng.randint(2, size=3000), 0, process=True, limit=0.0)
    assert done.note == "limit of 0 s reached"
    assert done.found == {}


def test_what_cannot_be_had_is_left_out(tmp_path, capsys, easy):
    assert available(["efs", "squamish"], tmp_path) == ["efs"]
    assert f"skipped: squamish is not in the package registry, and {tmp_path}" in capsys.readouterr().out
    with pytest.raises(calling.NotInstalled):
        call("squamish", "classification", *easy, 0, environments=tmp_path)


def test_every_adapter_is_listed():
    folder = Path(calling.__file__).parent
    files = {path.stem for path in folder.glob("*.py")}
    assert {name for name in files if not name.startswith("_")} == {*calling.ADAPTERS, "calling", "child"}
    documented = (folder / "__init__.py").read_text()
    assert all(f"``{method}``" in documented for method in METHODS)


def test_adapters_load_nothing_but_numpy():
    code = (
        "import sys, importlib, numpy\n"
        "before = {name.split('.')[0] for name in sys.modules}\n"
        f"for name in {calling.ADAPTERS!r}:\n"
        "    importlib.import_module('benchmarks.competitors.' + name)\n"
        "print(*{name.split('.')[0] for name in sys.modules} - before - sys.stdlib_module_names)"
    )
    root = Path(calling.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert set(done.stdout.split()) <= LIGHT

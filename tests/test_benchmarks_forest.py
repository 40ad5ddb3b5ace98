"""The benchmarks of forests still run, on their smallest data; their results are committed beside them."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks._common import precision_recall, read_csv
from benchmarks.competitors import calling
from benchmarks.papers import forest_data, forest_groups


def run_main(monkeypatch, script, *arguments):
    monkeypatch.setattr(sys, "argv", [script.__name__, *map(str, arguments)])
    script.main()


def test_precision_and_recall_of_nothing():
    nothing, one = np.zeros(3, dtype=bool), np.array([True, False, False])
    assert precision_recall(nothing, nothing) == (1.0, 1.0)
    assert precision_recall(one, nothing) == (1.0, 0.0)
    assert precision_recall(nothing, one) == (0.0, 1.0)
    assert precision_recall(one, ~nothing) == (1 / 3, 1.0)


@pytest.fixture
def small_madelon(tmp_path):
    """Two informative columns, three noisy combinations of them, and noise."""
    rng = np.random.RandomState(0)
    two = rng.normal(size=(300, 2))
    true = np.hstack([two, two @ rng.normal(size=(2, 3))]) + 0.01 * rng.normal(size=(300, 5))
    X = np.hstack([rng.normal(size=(300, 4)), true, rng.normal(size=(300, 3))])
    frame = pd.DataFrame(X, columns=[f"f{k + 1}" for k in range(12)])
    (tmp_path / "classification").mkdir()
    target = np.where(two.sum(axis=1) > 0, 1, -1)
    frame.assign(target=target).to_csv(tmp_path / "classification" / "madelon.csv.gz", index=False)
    return frame


def test_true_columns_are_those_that_others_predict(small_madelon):
    X = small_madelon.to_numpy()
    assert forest_data.true_columns(X).tolist() == [4, 5, 6, 7, 8]
    assert forest_data.dimensions(X[:, 4:9]) == 2


def test_forest_data(monkeypatch, tmp_path, small_madelon):
    row = forest_data.run_xor(500, 0, "forest")
    assert (row["found"], row["note"]) == (2, "")
    monkeypatch.setenv("ALLRELEVANT_DATA", str(tmp_path))
    row = forest_data.run_madelon(0, "forest")
    assert not row["note"]
    assert (row["true"], row["dimensions"]) == (5, 2)
    assert row["found"] + len(row["missed"].split()) == 5
    assert row["strong"] + row["weak"] == row["found"] + row["false_positives"]


def test_a_library_that_the_registry_lacks_is_left_out(tmp_path, capsys):
    assert calling.peer_pythons(["squamish"], tmp_path) == {}
    assert str(tmp_path / "squamish") in capsys.readouterr().out


def test_true_groups_of_the_sets():
    for make in forest_groups.SETS.values():
        X, y, truth = make(0)
        assert X.shape == (len(y), len(truth))
        assert (truth == -1).sum() in (forest_groups.N_NOISE, 6)  # 6 in the thesis' set
    X, _, truth = forest_groups.SETS["shared_difference"](0)
    apart = forest_groups.correlation_distances(X)
    assert apart[0, 1] < 0.05
    assert apart[0, 3] < 0.3  # of another group
    np.testing.assert_array_equal(forest_groups.cut(apart[:6, :6], "known", 2), truth[:6])


def test_forest_groups(monkeypatch, tmp_path):
    arguments = ("--sets", "xor_pairs", "--seeds", 1, "--slow-seeds", 1, "--out", tmp_path)
    run_main(monkeypatch, forest_groups, *arguments)
    (row,) = read_csv(tmp_path / "forest_groups.csv")
    for way in ("work_0.5", "work_found", "correlation_known", "loss_known", "pairs_known", "joint_known"):
        assert float(row[way]) == 1.0, way
    summary = read_csv(tmp_path / "forest_groups_summary.csv")
    assert [line["set"] for line in summary] == ["xor_pairs", "all"]

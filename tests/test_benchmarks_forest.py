"""The benchmarks of forests still run, on their smallest data; their results are committed beside them."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks._common import precision_recall, read_csv
from benchmarks.competitors import calling
from benchmarks.papers import forest, forest_data, forest_groups
from benchmarks.peers import forest_speed


def run_main(monkeypatch, script, *arguments):
    monkeypatch.setattr(sys, "argv", [script.__name__, *map(str, arguments)])
    script.main()


def test_precision_and_recall_of_nothing():
    nothing, one = np.zeros(3, dtype=bool), np.array([True, False, False])
    assert precision_recall(nothing, nothing) == (1.0, 1.0)
    assert precision_recall(one, nothing) == (1.0, 0.0)
    assert precision_recall(nothing, one) == (0.0, 1.0)
    assert precision_recall(one, ~nothing) == (1 / 3, 1.0)


def test_scores_by_hand():
    relevance = np.array([2, 2, 1, 1, 0])
    found = forest.scores(relevance, np.array([2, 1, 1, 0, 2]), "conditional")
    assert (found["precision"], found["recall"], found["f1"]) == (0.75, 0.75, 0.75)
    assert (found["strong_precision"], found["strong_recall"]) == (0.5, 0.5)
    assert (found["weak_precision"], found["weak_recall"]) == (0.5, 0.5)
    assert forest.scores(relevance, np.array([1, 1, 1, 0, 0]), "boruta")["strong_recall"] == ""
    assert set(forest.scores(relevance, None, "squamish").values()) == {""}


def test_published_means_are_those_of_the_published_sets():
    for name in forest.PUBLISHED:
        rows = read_csv(forest.HERE / "published" / name)
        for line in (row for row in rows if row["set"] in forest.GROUPS):
            sets = [row for row in rows if row["method"] == line["method"] and row["set"] in forest.GROUPS[line["set"]]]
            for column in forest.SCORES:
                cells = [row[column] for row in sets]
                if line[column] and all(cells):
                    # Both are rounded to two decimals.
                    assert np.mean(np.array(cells, float)) == pytest.approx(float(line[column]), abs=0.0101)


def test_means_over_all_sets_stand_beside_the_thesis():
    cells = {**dict.fromkeys(forest.MEASURED, 0.5), "note": ""}
    rows = [{"set": name, "seed": 0, "method": "refit", **cells} for name in forest.GROUPS["linear"]]
    summary = {(row["set"], row["method"]): row for row in forest.summarise(rows)}
    assert summary["linear", "refit"]["runs"] == len(rows)
    assert summary["linear", "refit"]["f1"] == 0.5
    assert summary["linear", "thesis SQ"]["f1"] == pytest.approx(0.965)  # mean of Table 5.3
    assert summary["linear", "thesis SQ"]["strong_precision"] == 0.74  # Table 5.9, not the mean of Table 5.8
    assert summary["set7", "thesis FRI"]["thesis_seconds"] == 6.0
    assert not any(name == "nonlinear" for name, _ in summary)
    assert not any(name == "linear" for name, _ in ((row["set"], 0) for row in forest.summarise(rows[1:])))


def test_forest_without_the_other_libraries(monkeypatch, tmp_path, capsys):
    arguments = ("--sets", "set3", "--seeds", 1, "--peers", "squamish", "--environments", tmp_path, "--out", tmp_path)
    run_main(monkeypatch, forest, *arguments)
    assert "skipped: squamish is not in the package registry" in capsys.readouterr().out
    rows = read_csv(tmp_path / "forest.csv")
    assert [row["method"] for row in rows] == list(forest.METHODS)
    assert not any(row["note"] for row in rows)
    assert all(float(row["f1"]) > 0.5 for row in rows)
    summary = read_csv(tmp_path / "forest_summary.csv")
    assert [row["method"] for row in summary if row["f1"]][-1] == "thesis SQ"
    run_main(monkeypatch, forest, *arguments, "--resume")
    assert read_csv(tmp_path / "forest.csv") == rows


def test_forest_speed_without_the_other_libraries(monkeypatch, tmp_path):
    run_main(monkeypatch, forest_speed, "--cases", "sim3", "--seeds", 1, "--peers", "--out", tmp_path)
    (row,) = read_csv(tmp_path / "forest_speed.csv")
    assert not row["forest_note"]
    assert float(row["forest_f1"]) > 0.5
    assert row["boruta_note"] == row["squamish_note"] == "not tried"
    summary = read_csv(tmp_path / "forest_speed_summary.csv")
    assert [line["case"] for line in summary] == ["sim3", "all"]
    assert summary[0]["boruta_ratio"] == ""


def test_times_are_compared_where_both_finished():
    row = {"case": "sim1", "seed": 0, **{f"{library}_cpu_seconds": "" for library in forest_speed.LIBRARIES}}
    rows = [
        {**row, "forest_cpu_seconds": "2", "boruta_cpu_seconds": "6", "boruta_ratio": "3", "squamish_ratio": ""},
        {**row, "forest_cpu_seconds": "4", "boruta_ratio": "", "squamish_ratio": ""},
    ]
    line = forest_speed.summarise(rows)[0]
    assert line["forest_cpu_seconds"] == 3.0
    assert line["boruta_ratio"] == 3.0
    assert line["squamish_ratio"] == ""


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
    run_main(monkeypatch, forest_data, "--seeds", 1, "--sizes", 500, "--data", tmp_path, "--out", tmp_path)
    (row,) = read_csv(tmp_path / "forest_xor.csv")
    assert not row["note"]
    assert row["found_both"] == "1"
    (row,) = read_csv(tmp_path / "forest_madelon.csv")
    assert not row["note"]
    assert (row["true"], row["dimensions"]) == ("5", "2")
    assert int(row["found"]) + len(row["missed"].split()) == 5
    assert int(row["strong"]) + int(row["weak"]) == int(row["found"]) + int(row["false_positives"])


def test_forest_data_without_the_file(monkeypatch, tmp_path, capsys):
    run_main(monkeypatch, forest_data, "--cases", "madelon", "--data", tmp_path, "--out", tmp_path)
    assert "skipped: " in capsys.readouterr().out
    assert not (tmp_path / "forest_madelon.csv").exists()


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

"""Every benchmark still runs, on its smallest data; their results are committed beside them."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks._common import Results, make_mix
from benchmarks.papers import constraints, grouping, panels, privileged, semantic
from benchmarks.peers import speed
from benchmarks.scaling import before, cluster, growth, memory, tall, wide


def test_privileged():
    row = privileged.run("set5", "reference", "residual", 0)
    assert row["regular_f1"] == row["privileged_f1"] == 1.0
    assert not row["note"]
    assert row["without_weights"] == 0


def test_semantic():
    rows = semantic.run("residual", 0)
    maximum = [row["maximum"] for row in rows if row["part"] == "privileged"]
    assert maximum == sorted(maximum)


def test_constraints():
    row = constraints.run("papers", 1)
    assert row["copy_minimum"] == 0.0
    assert row["largest_change_at_minimum"] < 1e-6
    assert row["other_copies_at_maximum"] < 1e-3
    assert row["widest_interval_at_maximum"] < 1e-3


def test_grouping():
    assert grouping.run("set1", 0, "allrelevant_groups")["v_measure"] == 1.0
    assert grouping.run("set1", 0, "correlation_groups")["v_measure"] < 1.0


def test_panels():
    row = panels.brute_force(1)
    assert row["same"]
    assert row["panels"] > 1


def test_speed_without_the_other_library(monkeypatch):
    monkeypatch.setattr(speed, "LEAST", 0.3)
    row = speed.run("sim3", 0, {"allrelevant": sys.executable})
    assert row["allrelevant_f1"] > 0.8
    assert row["elastic_net_cpu_seconds"] > 0
    assert row["ratio"] == ""
    summary = speed.summarise([row])
    assert [each["case"] for each in summary] == ["sim3", "sim1 to sim5"]
    assert summary[0]["fri_finished"] == 0


def test_results_are_written_at_once_and_taken_up_again(tmp_path):
    results = Results(tmp_path / "some.csv", ("case", "seed"))
    for key in results.missing([("a", 0), ("a", 1)]):
        results.add({"case": key[0], "seed": key[1], "seconds": 1.0})
    again = Results(tmp_path / "some.csv", ("case", "seed"))
    assert again.missing([("a", 0), ("b", 0)], resume=True) == [("b", 0)]
    assert again.missing([("a", 0)]) == [("a", 0)]
    assert [row["seed"] for row in again.rows] == ["1"]


def test_growth():
    row = growth.run("d", 5, 0, {"allrelevant": sys.executable}, {"allrelevant": 600.0})
    assert row["allrelevant_f1"] > 0.5
    assert row["fri_note"] == "not tried"
    times = [
        {"axis": "n", "n": n, "d": 20, "allrelevant_cpu_seconds": n**1.5, "fri_cpu_seconds": ""} for n in (1, 2, 4)
    ]
    slopes = growth.exponents(times)
    assert [round(each["exponent"], 9) for each in slopes] == [1.5]


def test_wide(tmp_path):
    X, y, _ = make_mix(20, 30)
    frame = pd.DataFrame(X).assign(target=np.where(y > 0, "yes", "no"))
    frame.to_csv(tmp_path / "some.csv", index=False)
    row = wide.run(*wide.read(tmp_path / "some.csv"), jobs=2)
    assert (row["n"], row["d"]) == (20, 30)
    assert row["max_gap"] <= 1e-6


def test_tall():
    row = tall.run(300, 5)
    assert row["f1"] > 0.5
    assert row["peak_over_data"] > row["added_over_data"] >= 0
    assert row["max_gap"] <= 1e-6


def test_cluster():
    rows = cluster.run(60, 10, repeats=1)
    assert [row["way"] for row in rows] == [name for name, _, _ in cluster.WAYS]
    assert len({row["programs"] for row in rows}) == 1


def test_memory():
    for storage in memory.STORAGE:
        row = memory.run(2000, 10, 0.01, None, storage)
        assert row["peak_mb"] > row["data_mb"] > 0
        assert row["max_gap"] <= 1e-6


def test_before():
    rows = before.run("classes 60 x 20", before.ROOT, repeats=1)
    assert [row["part"] for row in rows] == ["bounds", "fit"]
    assert rows[0]["difference"] == 0.0  # of a checkout from itself
    assert all(0.0 < row["old_seconds"] < 60.0 > row["new_seconds"] > 0.0 for row in rows)
    assert {len(case.make()["X"]) for case in before.CASES.values()} == {60, 62, 200, 500, 569, 2000}


def test_before_says_what_fails(tmp_path):
    with pytest.raises(RuntimeError, match=r"imported from .* instead of"):
        before.run("classes 60 x 20", tmp_path, repeats=1)


def test_before_compares_three_classes_with_two():
    rows = [
        {"case": f"{name} 500 x 30", "part": "fit", "old_seconds": seconds, "new_seconds": 1.0}
        for name, seconds in (("classes", 2.0), ("three classes", 6.0))
    ]
    assert before.cost_of_a_class(rows) == [["fit", 3.0, 1.0]]

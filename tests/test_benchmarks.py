"""Every benchmark still runs, on its smallest data; their results are committed beside them."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks._common import Results, make_mix
from benchmarks.papers import constraints, grouping, panels, privileged, semantic
from benchmarks.peers import speed
from benchmarks.scaling import cluster, engines, growth, memory, rule, search, tall, wide


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


def test_engines():
    row = engines.run(30, 8, 1.0, sample=4)
    assert max(row["interior_gap"], row["highs_gap"], row["reduced_gap"], row["difference"]) <= 1e-6
    assert row["generated_ms"] == ""
    row = engines.run(20, 40, 1.0, sample=4, most=8)
    assert row["generated_gap"] <= 1e-6
    assert row["difference"] <= 1e-6
    assert engines.run(20, 5, 1e-6) is None


def test_rule():
    rows = [rule.run(20, 3, 1.0, (1, 10), least=0.0), rule.run(30, 8, 1.0, (1, 10), slow=0.0, least=0.0)]
    assert rows[0]["auto_batch"] == 6
    assert rows[1]["highs_1_ms"] == rows[1]["fit_highs_s"] == ""
    summary = rule.summarise(rows)
    assert summary["worst_loss"] >= 1.0
    assert all(each["bounds_worst_loss"] >= 1.0 for each in rule.candidates(rows))


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
    row = wide.run(tmp_path / "some.csv", jobs=2)
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
        assert row["engine"] == "interior"


@pytest.mark.parametrize("kind", search.KINDS)
def test_search(kind):
    row = search.run(kind, 90, 12)
    assert row["problems"] == (54 if kind == "regression" else 27)
    assert row["left"] <= 1
    assert row["apart"] < 1e-4
    assert not row["batch"] or kind == "regression"  # too few rows, but where there are two per sample

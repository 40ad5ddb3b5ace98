"""Every benchmark still runs, on its smallest data; their results are committed beside them."""

from __future__ import annotations

from benchmarks.papers import ordinal, privileged, semantic, simulations, thresholds
from benchmarks.scaling import cluster


def test_simulations():
    assert simulations.run("sim3", 0)["f1"] > 0.9


def test_ordinal():
    row = ordinal.run("set3", 0.5, "explicit", 0)
    assert row["f1"] > 0.9
    assert row["max_gap"] <= 1e-6


def test_privileged():
    row = privileged.run("set5", "reference", "residual", 0)
    assert row["regular_f1"] == row["privileged_f1"] == 1.0
    assert not row["failed"]
    assert row["regular_without_weights"] == 0


def test_semantic():
    rows = semantic.run("residual", 0)
    maximum = [row["maximum"] for row in rows if row["part"] == "privileged"]
    assert maximum == sorted(maximum)


def test_thresholds():
    rows = thresholds.run("sim3", 0, 0.1)
    assert {row["probes"] for row in rows} == {"added", "papers"}


def test_cluster():
    rows = cluster.run(60, 10, repeats=1)
    assert [row["way"] for row in rows] == [name for name, _, _ in cluster.WAYS]
    assert len({row["programs"] for row in rows}) == 1

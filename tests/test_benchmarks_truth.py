"""Designs are graded as they say, the runner takes runs up again, and the figures are those of the lines."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.blocks import Mean
from benchmarks.truth import methods, page, run, scoring, table
from benchmarks.truth.every import DESIGNS, networks
from benchmarks.truth.methods import Answer
from benchmarks.truth.record import KINDS, NEEDED, NOISE, REDUNDANT, UNGRADED, Design, Record

#: Networks that a chain of nodes stands in for.
NETWORKS = ("ecoli70", "magic-niab")
#: Designs of so many rows that the grades of their columns can be seen in correlations.
CORRELATED = ("plain", "regression", "blocks", "factors", "noise_copies", "sim1", "sim5", "mixed")


@pytest.fixture(autouse=True)
def standin_networks(tmp_path, monkeypatch):
    """Twelve nodes, each caused by the one before it."""
    nodes = [f"n{k}" for k in range(12)]
    parts = {
        node: {
            "coefficients": {"(Intercept)": [1.0]} | ({nodes[k - 1]: [0.75]} if k else {}),
            "variance": [1 - 0.75**2 if k else 1.0],
            "parents": [nodes[k - 1]] if k else [],
        }
        for k, node in enumerate(nodes)
    }
    folder = tmp_path / "networks"
    folder.mkdir()
    for name in NETWORKS:
        (folder / f"{name}.json").write_text(json.dumps({"nodes": nodes, "arcs": [], "cpds": parts}))
    monkeypatch.setenv("ALLRELEVANT_NETWORKS", str(folder))


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_is_graded_and_depends_on_its_seed_alone(name):
    one, again, other = DESIGNS[name](3), DESIGNS[name](3), DESIGNS[name](4)
    assert one.kind in KINDS
    assert one.X.shape == (len(one.y), len(one.truth))
    assert np.isfinite(one.columns).all()
    assert one.columns.shape[1] == len(one.grades)
    assert set(one.grades) <= {NEEDED, REDUNDANT, NOISE, UNGRADED}
    assert (one.grades > NOISE).any() == (DESIGNS[name].family == "signal" or name == "groups_signal")
    assert (one.grades == NOISE).any()
    if one.kind in ("classification", "multiclass"):
        assert np.unique(one.y, return_counts=True)[1].min() >= 3
    if one.groups is not None:
        assert one.groups.shape == one.y.shape
        assert np.unique(one.groups, return_counts=True)[1].min() > 1
    np.testing.assert_array_equal(one.X, again.X)
    np.testing.assert_array_equal(one.y, again.y)
    np.testing.assert_array_equal(one.grades, again.grades)
    assert one.fingerprint == again.fingerprint
    assert other.fingerprint != one.fingerprint


@pytest.mark.parametrize("name", CORRELATED)
def test_relevant_columns_tell_more_than_noise(name):
    grades, told = [], []
    for seed in range(8):
        record = DESIGNS[name](seed)
        grades.append(record.grades)
        told.append(np.abs(np.corrcoef(record.columns.T, record.y)[-1, :-1]))
    grades, told = np.concatenate(grades), np.concatenate(told)
    n = len(record.y)
    assert told[grades > NOISE].mean() > 2 / np.sqrt(n)
    # The mean of the magnitude of a normal number.
    assert told[grades == NOISE].mean() == pytest.approx(np.sqrt(2 / np.pi / n), rel=0.2)


def test_there_are_enough_reserved_designs_of_exchangeable_rows():
    assert sum(each.reserved and each.exchangeable for each in DESIGNS.values()) >= 5


def test_grades_of_a_network():
    # b = a + e, c = b + e', variances 1: correlations .71, .58, .82; given b, a and c are independent.
    parts = {
        "a": {"coefficients": {"(Intercept)": [5.0]}, "variance": [1.0], "parents": []},
        "b": {"coefficients": {"(Intercept)": [0.0], "a": [1.0]}, "variance": [1.0], "parents": ["a"]},
        "c": {"coefficients": {"(Intercept)": [0.0], "b": [1.0]}, "variance": [1.0], "parents": ["b"]},
        "d": {"coefficients": {"(Intercept)": [0.0], "c": [0.1]}, "variance": [1.0], "parents": ["c"]},
    }
    net = networks.population({"nodes": list("abcd"), "cpds": parts})
    np.testing.assert_allclose(net.covariance[:3, :3], [[1, 1, 1], [1, 2, 2], [1, 2, 3]])
    np.testing.assert_array_equal(net.grades[0], [UNGRADED, NEEDED, REDUNDANT, UNGRADED])
    np.testing.assert_array_equal(net.grades[1], [NEEDED, UNGRADED, NEEDED, UNGRADED])
    np.testing.assert_array_equal(net.grades[3], [UNGRADED, UNGRADED, NEEDED, UNGRADED])


def test_targets_of_a_network_go_round_and_rest_is_apart():
    net = networks.network("ecoli70", networks.folder())
    assert len(net.targets) == len(set(net.targets)) > networks.TARGETS
    first, later = DESIGNS["ecoli70"](0), DESIGNS["ecoli70"](networks.TARGETS)
    assert (np.sort(first.truth) == np.sort(later.truth)).all()
    assert first.X.shape == (networks.N_ROWS, 22)


def test_missing_networks_are_an_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ALLRELEVANT_NETWORKS", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"ecoli70\.json; name the folder .* ALLRELEVANT_NETWORKS"):
        DESIGNS["ecoli70"](0)
    assert run.main(["--designs", "ecoli70", "--results", str(tmp_path / "lines.jsonl")]) == 2
    assert "ALLRELEVANT_NETWORKS" in capsys.readouterr().err
    assert not (tmp_path / "lines.jsonl").exists()


def test_scores_by_hand():
    grades = np.array([2, 2, 1, 1, 0, 0, 0, -1, -1])
    found = scoring.scores(grades, np.array([2, 1, 1, 0, 1, 0, 0, 1, 0]))
    assert found == {"false_share": 0.25, "any": True, "recall": 0.75, "f1": 0.75}
    assert scoring.scores(grades, np.zeros(9)) == {"false_share": 0.0, "any": False, "recall": 0.0, "f1": 0.0}
    assert scoring.scores(np.zeros(3), np.array([0, 1, 0])) == {
        "false_share": 1.0,
        "any": True,
        "recall": None,
        "f1": None,
    }
    np.testing.assert_array_equal(scoring.read(scoring.written(grades)), grades)


def test_choice_of_designs_and_seeds():
    known = dict(DESIGNS)
    assert {each.name for each in run.chosen(["all"], known)} == set(known)
    assert [each.name for each in run.chosen(["plain", "flip*", "plain"], known)] == ["plain", "flip10", "flip20"]
    assert not any(each.reserved for each in run.chosen(["signal", "noise", "rows", "choosing"], known))
    assert all(each.reserved for each in run.chosen(["reserved"], known))
    with pytest.raises(ValueError, match="designs='nonsense' is no design"):
        run.chosen(["nonsense"], known)
    assert run.seeds_of(["3", "10:12"]) == [3, 10, 11]


def test_variants_are_read():
    assert methods.variant('small={"n_probes": 5}') == ("small", {"n_probes": 5})
    for text in ("small", "={}", "small=[1]", "small={'a': 1}"):
        with pytest.raises(ValueError, match="is not of the form"):
            methods.variant(text)


@pytest.fixture
def two_columns(monkeypatch):
    """A design and two methods, one of which fails on odd seeds."""

    def draw(rng, seed):
        return Record(rng.standard_normal((20, 2)), np.repeat([-1, 1], 10), "classification", np.array([NEEDED, NOISE]))

    def fails(record, seed):
        if seed % 2:
            raise ValueError("odd")
        return Answer(np.array([1, 0]), None, 2.0)

    known = {"two": Design("two", draw, "signal", False, "two columns"), "noise_20x8": DESIGNS["noise_20x8"]}
    every = {"both": lambda record, seed: Answer(np.array([1, 1]), np.array([0.01, 0.04])), "fails": fails}
    monkeypatch.setattr(run, "DESIGNS", known)
    monkeypatch.setattr(run, "methods", lambda variants=None: every)
    run.warm_up.cache_clear()


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_runner_takes_runs_up_again(two_columns, tmp_path, capsys):
    path = tmp_path / "lines.jsonl"
    words = ["--designs", "two", "--methods", "both", "--results", str(path), "--name", "renamed"]
    assert run.main([*words, "--seeds", "0:3"]) == 0
    assert run.main([*words, "--seeds", "0:5"]) == 0
    lines = lines_of(path)
    assert [line["seed"] for line in lines] == [0, 1, 2, 3, 4]
    first = lines[0]
    assert (first["design"], first["method"], first["n"], first["d"]) == ("two", "renamed", 20, 2)
    assert (first["false_share"], first["recall"], first["any"]) == (0.5, 1.0, True)
    assert first["f1"] == pytest.approx(2 / 3, abs=1e-5)
    assert (sorted(first["truth"]), first["called"], first["pvalues"]) == (["0", "2"], "11", [0.01, 0.04])
    assert "2 fits" in capsys.readouterr().out
    path.write_text(path.read_text() + '{"design":"tw')
    assert run.main([*words, "--seeds", "0:6"]) == 2
    assert "line 6 is no JSON" in capsys.readouterr().err


def test_failures_are_lines_and_the_budget_counts_what_is_there(two_columns, tmp_path, capsys):
    path = tmp_path / "lines.jsonl"
    words = ["--designs", "two", "--methods", "fails", "--results", str(path)]
    assert run.main([*words, "--seeds", "0:4"]) == 0
    assert "2 FAILED: ValueError: odd" in capsys.readouterr().out
    lines = lines_of(path)
    assert [line.get("error") for line in lines] == [None, "ValueError: odd", None, "ValueError: odd"]
    assert [line["cpu_seconds"] for line in lines[::2]] == [2.0, 2.0]
    assert run.main([*words, "--seeds", "0:8", "--cpu-budget", "5"]) == 0
    # 4 of 5 CPU seconds were spent: one more fit ends the budget.
    assert (
        "1 fits, 2.0 CPU s, false 0.000, F1 1.000; budget of 5 CPU s spent, 3 seeds left out" in capsys.readouterr().out
    )
    assert [line["seed"] for line in lines_of(path)] == [0, 1, 2, 3, 4]
    assert run.main([*words, "--seeds", "1", "--again-errors"]) == 0
    assert sorted(line["seed"] for line in lines_of(path)) == [0, 1, 2, 4]


def test_what_the_command_line_does_not_know(tmp_path, capsys):
    assert run.main(["--designs", "nonsense"]) == 2
    assert run.main(["--methods", "nonsense"]) == 2
    assert run.main(["--methods", "boruta", "dcrt", "--name", "one"]) == 2
    assert run.main(["--variant", "nonsense"]) == 2
    assert capsys.readouterr().err.count("error: ") == 4


def test_this_library_on_a_design(tmp_path):
    path = tmp_path / "lines.jsonl"
    words = ["--designs", "noise_20x8", "privileged", "--methods", "few", "--variant", 'few={"n_probes": 5, "C": 1.0}']
    assert run.main([*words, "--seeds", "0", "--results", str(path)]) == 0
    noise, privileged = lines_of(path)
    assert "error" not in noise
    assert len(noise["called"]) == len(noise["pvalues"]) == 8
    assert len(privileged["called"]) == len(privileged["truth"]) == privileged["d"] == 40


def line(design, method, seed, truth, called, **more):
    found = scoring.scores(scoring.read(truth), scoring.read(called))
    own = {"design": design, "method": method, "seed": seed, "n": 10, "d": len(truth), "fingerprint": float(seed)}
    return own | found | {"truth": truth, "called": called, "cpu_seconds": 1.0 + seed} | more


LINES = [
    line("plain", "before", 1000, "2100.", "11001", pvalues=[0.01, 0.02, 0.0005, 0.9, 0.001]),
    line("plain", "before", 1001, "2100.", "10100", pvalues=[0.01, 0.9, 0.04, 0.9, 0.001]),
    {"design": "plain", "method": "before", "seed": 1002, "fingerprint": 1002.0, "cpu_seconds": 9.0, "error": "no"},
    line("plain", "boruta", 1000, "2100.", "11001"),
    line("plain", "boruta", 1001, "2100.", "11001"),
    line("xor", "before", 1000, "20", "00"),
    line("xor", "before", 1001, "20", "00"),
    line("xor", "boruta", 1000, "20", "11"),
    line("xor", "boruta", 1001, "20", "10"),
    line("noise_20x8", "before", 1000, "0000", "0100"),
    line("noise_20x8", "boruta", 1000, "0000", "0000"),
    line("groups_20x10", "before", 1000, "0000", "0110"),
    line("ecoli70", "before", 1000, "0001", "0001", pvalues=[0.5, 0.5, 0.5, 0.5]),
]


@pytest.fixture
def known(tmp_path):
    """Lines in two files."""
    for name, some in (("one", LINES[:4]), ("two", LINES[4:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in some))
    return table.gathered(sorted(tmp_path.glob("*.jsonl")))


def test_sums_by_hand(known):
    cells = {key: table.summary(some) for key, some in known.items()}
    own = cells["plain", "before"]
    assert (own.fits, own.failed, own.error, own.cpu_seconds) == (2, 1, "no", 1001.5)
    # False shares 0 and 1/2, F1 1 and 1/2, power 1 and 1/2; the standard error of two values is half their difference.
    assert own.false_share == Mean(0.25, pytest.approx(0.25), 2)
    assert own.f1 == Mean(0.75, pytest.approx(0.25), 2)
    assert own.power == Mean(0.75, pytest.approx(0.25), 2)
    assert own.any_noise == Mean(0.5, pytest.approx(0.5), 2)
    assert own.noise_called == Mean(0.25, pytest.approx(0.25), 2)
    assert (own.noise_05, own.noise_001) == (0.5, 0.25)
    assert cells["plain", "boruta"].noise_05 is None
    assert cells["noise_20x8", "before"].f1 is None
    means = table.average(cells, ["plain", "xor"], "before", lambda each: each.f1)
    assert means == Mean(0.375, pytest.approx(0.125), 4)
    assert table.common(cells, ["plain", "xor", "ecoli70"], ["before", "boruta"]) == ["plain", "xor"]
    assert table.broad(cells, ["plain", "xor", "ecoli70"], share=0.7) == ["before"]


def test_who_is_ahead_is_said_of_the_seeds_that_both_have(known):
    gain = table.ahead(known, "plain", "before", "boruta")
    assert gain == Mean(0.25, pytest.approx(0.25), 2)
    assert table.ahead(known, "xor", "before", "boruta") == Mean(pytest.approx(5 / 6), pytest.approx(1 / 6), 2)
    assert table.ahead(known, "ecoli70", "before", "boruta") is None


def test_lines_that_contradict_each_other(tmp_path):
    path = tmp_path / "lines.jsonl"
    other = {**LINES[3], "fingerprint": 5.0}
    for some, what in (
        ([LINES[0], LINES[0]], "second line of plain, before, seed 1000"),
        ([LINES[0], other], "changed"),
    ):
        path.write_text("".join(json.dumps(each) + "\n" for each in some))
        with pytest.raises(ValueError, match=what):
            table.gathered([path])


def test_the_page_says_error_power_and_who_is_ahead(known, tmp_path):
    text = page.write(known, tmp_path / "truth.md", tmp_path / "truth.svg").read_text()
    assert text.startswith("# Who is right")
    assert "| plain | 0.25 ±0.25, 0.75 ±0.25 | 0.00 ±0.00, 1.00 ±0.00 |" in text
    assert "- `xor`: BorutaPy by 0.83 ±0.17 in F1 on 2 data sets, false 0.25 ±0.25 against 0.00 ±0.00." in text
    assert "| before | plain | no |" in text
    assert "| pure noise, 8 columns |" in text
    assert (tmp_path / "truth.svg").read_text().startswith("<?xml")


def test_figures_are_printed(known, tmp_path, capsys):
    files = [str(path) for path in sorted(tmp_path.glob("*.jsonl"))]
    assert table.main(["--results", *files, "--designs", "plain"]) == 0
    assert "0.25 ±0.25" in capsys.readouterr().out
    assert table.main(["--results", str(tmp_path / "none.jsonl"), "--designs", "nonsense"]) == 2
    assert "is no design" in capsys.readouterr().err


def test_committed_results_can_be_read_together():
    lines = table.gathered(sorted(run.RESULTS.glob("*.jsonl")))
    assert {design for design, _ in lines} <= set(DESIGNS)
    assert {method for _, method in lines} <= set(page.LABELS)

from __future__ import annotations

import gzip
import hashlib
import os

import pandas as pd
import pytest

from allrelevant.cli._problems import Problem
from allrelevant.cli._read import read_table


def written(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    rows = ["a,b,name", "1,2.5,x", "3,4.5,y"]
    table = read_table(written(tmp_path, "\n".join(row.replace(",", separator) for row in rows)))
    assert list(table.frame.columns) == ["a", "b", "name"]
    assert table.frame["b"].tolist() == [2.5, 4.5]


def test_commas_in_quotes_do_not_separate(tmp_path):
    table = read_table(written(tmp_path, 'a;b\n"1,2,3,4";x\n"5,6,7,8";y\n'))
    assert list(table.frame.columns) == ["a", "b"]


def test_decimal_commas(tmp_path):
    table = read_table(written(tmp_path, "a;b\n1,5;2\n-2,25;3\n"))
    assert table.frame["a"].tolist() == [1.5, -2.25]
    assert "decimal commas" in " ".join(table.notices)


def test_byte_order_mark_is_no_part_of_a_name(tmp_path):
    table = read_table(written(tmp_path, b"\xef\xbb\xbfa,b\n1,2\n3,4\n"))
    assert list(table.frame.columns) == ["a", "b"]
    assert table.notices == []


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_text_that_is_not_utf_8(tmp_path, encoding):
    content = "größe,straße\n" + "1,Köln\n2,Düsseldorf\n3,Münster\n" * 5
    table = read_table(written(tmp_path, content.encode(encoding)))
    assert list(table.frame.columns) == ["größe", "straße"]
    assert table.frame["straße"][0] == "Köln"
    assert "not UTF-8" in table.notices[0]


def test_utf_16(tmp_path):
    table = read_table(written(tmp_path, "a\tb\n1\tä\n2\tö\n".encode("utf-16")))
    assert table.frame["b"].tolist() == ["ä", "ö"]


def test_bad_bytes_far_behind_the_beginning(tmp_path):
    content = b"a,b\n" + b"1,xxxxxxxxxxxxxx\n" * 80_000 + "2,Köln\n".encode("latin-1")
    assert read_table(written(tmp_path, content)).frame["b"].iloc[-1] == "Köln"


def test_gzip_whatever_the_name(tmp_path):
    content = gzip.compress(b"a\tb\n1\t2\n3\t4\n")
    for name in ("data.tsv.gz", "data.csv"):
        path = written(tmp_path, content, name)
        table = read_table(path)
        assert table.frame.shape == (2, 2)
        assert table.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.to_parquet(tmp_path / "data.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "data.parquet").frame, frame)


def test_parquet_without_its_extra(tmp_path, monkeypatch):
    import sys

    from allrelevant.errors import MissingExtra

    path = written(tmp_path, "PAR1", "data.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"reading Parquet files needs pyarrow.*allrelevant\[parquet\]"):
        read_table(path)


def test_names_that_repeat_are_told_apart(tmp_path):
    table = read_table(written(tmp_path, "a,b,a\n1,2,3\n4,5,6\n"))
    assert list(table.frame.columns) == ["a", "b", "a.1"]
    assert "'a'" in table.notices[0]
    assert "'a.1'" in table.notices[0]


def test_spaces_around_names_and_cells(tmp_path):
    table = read_table(written(tmp_path, "a , b\n1, x\n2, y\n"))
    assert list(table.frame.columns) == ["a", "b"]
    assert table.frame["b"].tolist() == ["x", "y"]


def test_row_names_without_a_header(tmp_path):
    table = read_table(written(tmp_path, "a,b\nr1,1,2\nr2,3,4\n"))
    assert table.frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    assert "row names" in table.notices[0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b,c\n", "no rows"),
        (b"just words\nand more\n", "only one column"),
        (b"a,b\n1,2\n1,2,3,4\n", "Line 3"),
        (bytes(range(256)) * 20, "binary"),
        (b"\x01\x02\x03\x04" * 100, "binary"),
        (b"PK\x03\x04 and so on", "Excel"),
        (b'{"schema": 1}', "allrelevant report"),
        (b"<!doctype html>", "web page"),
        (b"PAR1 and so on", "damaged Parquet"),
        (b"\x1f\x8b\x08 and so on", "damaged gzip"),
        (b'a,b\n"1,2\n3,4\n', "quote"),
    ],
)
def test_what_is_no_table(tmp_path, content, sentence):
    with pytest.raises(Problem, match=sentence):
        read_table(written(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(Problem, match="There is no file"):
        read_table(tmp_path / "huge_2GB.csv")
    with pytest.raises(Problem, match="no folder"):
        read_table(tmp_path / "nowhere" / "data.csv")
    written(tmp_path, "a,b\n1,2\n", "patients.csv")
    with pytest.raises(Problem, match=r"did you mean 'patients\.csv'"):
        read_table(tmp_path / "patient.csv")


def test_a_folder(tmp_path):
    written(tmp_path, "a,b\n1,2\n", "patients.csv")
    with pytest.raises(Problem, match=r"is a folder; name a file in it, such as .*patients\.csv"):
        read_table(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    path.chmod(0)
    with pytest.raises(Problem, match="may not be read"):
        read_table(path)

"""Tables from files, whatever wrote them: separators, encodings and compression are found, not asked for."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import charset_normalizer
import pandas as pd

from allrelevant.cli._problems import Problem, closest, listed
from allrelevant.errors import MissingExtra

__all__ = ["Table", "read_table"]

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
CHUNK = 1 << 20
RESET = "frame = frame.reset_index(drop=True)"
#: How files begin that are no tables, and what to do about them.
FOREIGN = {
    b"PK\x03\x04": "is an Excel workbook or another zip archive; save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook; save the sheet as CSV",
    b"%PDF": "is a PDF; export the table as CSV",
    b"SQLite format 3": "is a database; export the table as CSV",
    b"{": "is JSON; a result is shown with allrelevant report, a table must be CSV, TSV or Parquet",
    b"<": "is a web page or XML; export the table as CSV",
    b"BZh": "is compressed with bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "is compressed with xz; unpack it, or compress it with gzip",
}


@dataclass(frozen=True)
class Table:
    """A table as it was found in a file.

    Attributes
    ----------
    frame : DataFrame
        The table.
    path : Path
        The file.
    fingerprint : str
        SHA-256 of the bytes of the file.
    options : dict
        What pandas was told to read it.
    notices : list of str
        What a person should know, in sentences.
    steps : list of str
        What was done to the frame after reading, in Python.
    """

    frame: pd.DataFrame
    path: Path
    fingerprint: str
    options: dict[str, Any] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    @property
    def parquet(self) -> bool:
        """Whether the file is Parquet."""
        return "engine" in self.options

    @property
    def numeric_header(self) -> bool:
        """Whether the names look like a row of numbers."""
        return sum(_is_number(str(name)) for name in self.frame.columns) > len(self.frame.columns) / 2


def read_table(path: Path) -> Table:
    """Read a table from a CSV, TSV or Parquet file; the text ones may be compressed with gzip.

    Raises
    ------
    Problem
        If there is no such file, or it holds no table with a header and rows.
    """
    path = Path(path)
    beginning = _beginning(path)
    if beginning.startswith(b"PAR1"):
        table = _read_parquet(path)
    else:
        table = _read_text(path, beginning.startswith(b"\x1f\x8b"))
    if not len(table.frame):
        raise Problem(f"{path} has a header but no rows, so there is nothing to learn from.")
    return table


def _beginning(path: Path) -> bytes:
    """Return the first bytes of a file that is there and can be read."""
    try:
        if path.is_dir():
            inside = sorted(
                one.name for one in path.iterdir() if re.search(r"\.(csv|tsv|txt|parquet)(\.gz)?$", one.name)
            )
            example = f", such as {path / inside[0]}" if inside else ""
            raise Problem(f"{path} is a folder; name a file in it{example}.")
        with path.open("rb") as file:
            beginning = file.read(16)
    except FileNotFoundError:
        folder = path.parent
        others = [one.name for one in folder.iterdir() if one.is_file()] if folder.is_dir() else []
        where = closest(path.name, others) if folder.is_dir() else f"there is no folder {folder} either."
        hint = f" In its folder, {where}" if where.startswith("did") else f" {where.capitalize()}" if not others else ""
        raise Problem(f"There is no file {path}.{hint or ' Check the name and the folder.'}") from None
    except PermissionError:
        raise Problem(f"{path} may not be read by you; ask its owner, or change its permissions.") from None
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror or error}.") from None
    if not beginning:
        raise Problem(f"{path} is empty; give a table with a header row.")
    for magic, what in FOREIGN.items():
        if beginning.startswith(magic):
            raise Problem(f"{path} {what}.")
    return beginning


def _read_parquet(path: Path) -> Table:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "parquet", "reading Parquet files") from error
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if _parquet_names_repeat(pyarrow, parquet, path):
            raise Problem(f"{path} has several columns of one name; give every column a name of its own.") from None
        raise Problem(f"{path} is a damaged Parquet file ({str(error).splitlines()[0]}); write it again.") from None
    frame = frame.reset_index(drop=True)
    frame.columns = pd.Index([str(name) for name in frame.columns])
    steps = [RESET, "frame.columns = frame.columns.astype(str)"]
    return Table(frame, path, digest.hexdigest(), {"engine": "pyarrow"}, [], steps)


def _parquet_names_repeat(pyarrow: Any, parquet: Any, path: Path) -> bool:
    try:
        names = parquet.read_schema(path).names
    except (pyarrow.ArrowException, OSError, ValueError):  # damaged, which the caller says
        return False
    return len(set(names)) < len(names)


def _read_text(path: Path, zipped: bool) -> Table:
    try:
        fingerprint, sample, valid = _scan(path, zipped)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise Problem(f"{path} is a damaged gzip file; compress it again.") from None
    encoding = _encoding(path, sample, valid)
    text = sample.decode(encoding, errors="replace").lstrip("\ufeff")
    whole = len(sample) < CHUNK
    lines = text if whole else text[: text.rfind("\n") + 1] or text
    if not lines.strip():
        raise Problem(f"{path} is empty; give a table with a header row.")
    separator, records = _separator(path, lines)
    options: dict[str, Any] = {"sep": separator, "encoding": encoding, "na_values": ["?"], "skipinitialspace": True}
    if _decimal_comma(separator, records[1:]):
        options["decimal"] = ","
    if zipped:
        options["compression"] = "gzip"
    frame = _parsed(path, options)
    notices: list[str] = []
    steps: list[str] = []
    if encoding not in ("utf-8", "utf-8-sig"):
        notices.append(f"The file is not UTF-8 and was read as {encoding}; save it as UTF-8 if letters look wrong.")
    if separator != "," or "decimal" in options:
        comma = " and decimal commas" if "decimal" in options else ""
        notices.append(f"The columns are separated by {SEPARATORS[separator]}{comma}.")
    if not isinstance(frame.index, pd.RangeIndex):
        if isinstance(frame.index, pd.MultiIndex):
            raise Problem(f"{path} has rows with more cells than its header has names; correct the header row.")
        notices.append("The rows have one cell more than the header has names; the first was taken for row names.")
        frame = frame.reset_index(drop=True)
        steps.append(RESET)
    notices += _repeated(records[0], frame)
    names = [str(name).strip() for name in frame.columns]
    if names != list(frame.columns) and len(set(names)) == len(names):
        frame.columns = pd.Index(names)
        steps.append("frame.columns = frame.columns.str.strip()")
    return Table(frame, path, fingerprint, options, notices, steps)


def _chunks(path: Path, zipped: bool, digest: Any) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            if not zipped:
                yield chunk
    if zipped:
        with gzip.open(path) as unpacked:
            while chunk := unpacked.read(CHUNK):
                yield chunk


def _scan(path: Path, zipped: bool) -> tuple[str, bytes, bool]:
    """Return fingerprint, first bytes, and whether all of the text is UTF-8; a bad part is added to the bytes."""
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    sample, valid = b"", True
    for chunk in _chunks(path, zipped, digest):
        first = not sample
        sample = sample or chunk
        if valid:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                valid = False
                sample += b"" if first else chunk
    return digest.hexdigest(), sample, valid


def _encoding(path: Path, sample: bytes, valid: bool) -> str:
    if sample.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    control = sum(sample.count(code) for code in (*range(0, 9), *range(14, 32)))
    if b"\0" in sample or control > len(sample) / 100:
        raise Problem(f"{path} is not a text table but binary data; give a CSV, TSV or Parquet file.")
    if valid:
        return "utf-8"
    # Every byte is a letter in one-byte encodings, so only the usual ones are asked about.
    found = charset_normalizer.from_bytes(sample, cp_isolation=["cp1252", "latin_1"]).best()
    return "latin-1" if found is None or found.encoding == "latin_1" else str(found.encoding)


def _separator(path: Path, text: str) -> tuple[str, list[list[str]]]:
    """Return the separator that cuts the rows into most cells of the same number, and the first rows."""
    best: tuple[float, int] = (0.0, 0)
    separator, records = "", [[""]]
    for candidate in SEPARATORS:
        try:
            rows = _rows(text, candidate)
        except csv.Error as error:
            raise Problem(f"{path} cannot be read as a table ({error}); look for a quote that is not closed.") from None
        width = len(rows[0])
        usual = Counter(len(row) for row in rows[1:] or rows).most_common(1)[0]
        fits = usual[1] / max(len(rows) - 1, 1) if abs(usual[0] - width) <= 1 else 0.0
        if width > 1 and (round(fits, 1), width) > best:
            best, separator, records = (round(fits, 1), width), candidate, rows
    if not separator:
        raise Problem(
            f"{path} has only one column; a table needs columns separated by comma, semicolon, tab or pipe, and a "
            "header row."
        )
    return separator, records


def _rows(text: str, separator: str, most: int = 200) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    rows = []
    for row in reader:
        if row:
            rows.append(row)
        if len(rows) > most:
            break
    return rows


def _decimal_comma(separator: str, rows: list[list[str]]) -> bool:
    if separator == ",":
        return False
    cells = [cell.strip() for row in rows for cell in row]
    commas = sum(bool(re.fullmatch(r"[-+]?\d*,\d+(e[-+]?\d+)?", cell, re.IGNORECASE)) for cell in cells)
    points = sum(bool(re.fullmatch(r"[-+]?\d*\.\d+(e[-+]?\d+)?", cell, re.IGNORECASE)) for cell in cells)
    return commas > points


def _parsed(path: Path, options: dict[str, Any]) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.ParserWarning)
            return pd.read_csv(path, low_memory=False, **options)
    except pd.errors.EmptyDataError:
        raise Problem(f"{path} is empty; give a table with a header row.") from None
    except pd.errors.ParserError as error:
        place = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if place:
            wanted, line, found = place.groups()
            raise Problem(
                f"Line {line} of {path} has {found} cells where {wanted} were expected; correct it."
            ) from None
        raise Problem(f"{path} cannot be read as a table ({str(error).strip()}); look for an open quote.") from None
    except UnicodeError as error:
        raise Problem(f"{path} has letters that are not {options['encoding']} ({error}); save it as UTF-8.") from None


def _repeated(header: list[str], frame: pd.DataFrame) -> list[str]:
    """Say which names occur more than once, and what pandas made of them."""
    names = Counter(name.strip() for name in header if name.strip())
    several = [repr(name) for name, count in names.items() if count > 1]
    if not several:
        return []
    made = [repr(name) for name in frame.columns if name not in names and re.search(r"\.\d+$", str(name))]
    return [f"Several columns are named {listed(several)}; the later ones are called {listed(made)}."]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

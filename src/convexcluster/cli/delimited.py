"""CSV and TSV → a frame: pandas reads what :mod:`~convexcluster.cli.dialect` has recognised."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..optional import need
from .dialect import NAMED, SPACES, Dialect, find_dialect, records
from .encoding import to_utf8
from .raw import MISSING, Raw, name_of, unnamed
from .refusal import Exit, Refusal

if TYPE_CHECKING:
    from .options import Input


def read_csv(content: Path | bytes, source: Input) -> Raw:
    """A text file whose separator is looked for; commas where nothing tells."""
    return _read(content, source, ",", "csv")


def read_tsv(content: Path | bytes, source: Input) -> Raw:
    """A text file whose separator is looked for; tabs where nothing tells."""
    return _read(content, source, "\t", "tsv")


def _read(content: Path | bytes, source: Input, usual: str, form: str) -> Raw:
    name = name_of(source)
    if source.sep is not None and source.sep not in NAMED and len(source.sep) != 1:
        words = ", ".join(word for word in NAMED if word.isalpha())
        raise Refusal(f"--sep {source.sep!r} must be one character, or {words}", Exit.USAGE)
    if source.decimal not in (None, ".", ","):
        raise Refusal(f"--decimal {source.decimal!r} must be . or ,", Exit.USAGE)
    raw = content if isinstance(content, bytes) else content.read_bytes()
    raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    raw, encoding = to_utf8(raw, source.encoding, name)
    dialect, raw = find_dialect(
        raw,
        encoding,
        separator=source.sep,
        decimal=source.decimal,
        header=source.header,
        usual=usual,
    )
    if not raw.strip():
        raise Refusal(f"{name} is empty")
    first = _first_record(raw, dialect)
    names = [cell.strip() for cell in first] if dialect.header else _numbered(len(first))
    names, nameless = unnamed(names)
    repeated, copies = Counter(names).most_common(1)[0]
    if copies > 1:
        raise Refusal(
            f"{name} has {copies} columns called {repeated!r}: rename them, or pass --no-header if "
            "the first line is data"
        )
    frame = _with_points(_parse(raw, dialect, names, source), dialect, source)
    found = {"format": form, **asdict(dialect)}

    def where(row: int) -> str:
        return f"line {_line_of(raw, dialect, row)}"

    return Raw(frame, nameless=nameless, found=found, where=where)


def _numbered(count: int) -> list[str]:
    return [f"x{k}" for k in range(count)]


def _first_record(content: bytes, dialect: Dialect) -> list[str]:
    start = content.lstrip(b"\r\n")
    head = start[: 1_000_000 + start.find(b"\n", 1_000_000) + 1]  # the first record is inside
    return records(head.decode(errors="ignore"), dialect.separator)[0]


def _parse(content: bytes, dialect: Dialect, names: list[str], source: Input) -> Any:
    pd = need("pandas", "cli")
    text = {source.id_column, source.label_column}
    missing = [*MISSING, *source.missing]
    # Text becomes the nearest double: pandas 3 does so always, pandas 2 when asked.
    exact = {"float_precision": "round_trip"} if pd.__version__.startswith("2.") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # it would drop the extra fields
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # columns of text are looked at
        try:
            return pd.read_csv(
                io.BytesIO(content),
                sep=dialect.separator,
                decimal=dialect.decimal,
                thousands=dialect.thousands,
                skipinitialspace=True,
                encoding="utf-8",
                header=0 if dialect.header else None,
                names=names,
                index_col=False,
                dtype={name: str for name in names if name in text},
                keep_default_na=False,
                na_values={name: missing for name in names if name not in text},
                **exact,
            )
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            raise Refusal(_what_is_wrong(content, dialect, names, source, error)) from error


def _with_points(frame: Any, dialect: Dialect, source: Input) -> Any:
    """Decimal points in columns of numbers that pandas left as text, since some are none."""
    if dialect.decimal == "." and not dialect.thousands:
        return frame
    for name in frame.columns:
        if name in (source.id_column, source.label_column) or frame[name].dtype.kind in "biuf":
            continue
        cells = [(v, dialect.number(v) if isinstance(v, str) else None) for v in frame[name]]
        if 2 * sum(x is not None for _, x in cells) >= int(frame[name].notna().sum()):
            frame[name] = [v if x is None else repr(x) for v, x in cells]
    return frame


def _reader(content: bytes, dialect: Dialect) -> tuple[Any, Any]:
    """Records of the whole text, and what counts its lines."""
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=dialect.separator, skipinitialspace=True)
    return reader, lambda: reader.line_num


def _line_of(content: bytes, dialect: Dialect, row: int) -> int:
    """Line of the file that holds a row of the frame."""
    wanted = row + dialect.header
    if dialect.separator == SPACES:
        filled = [k for k, line in enumerate(content.splitlines(), start=1) if line.strip()]
        return filled[wanted]
    reader, line = _reader(content, dialect)
    full = (line() for fields in reader if fields)
    return next(number for k, number in enumerate(full) if k == wanted)


def _what_is_wrong(
    content: bytes, dialect: Dialect, names: Sequence[str], source: Input, error: Exception
) -> str:
    """The first line with more fields than columns, or what the parser says."""
    shown = {SPACES: "space", "\t": "tab"}.get(dialect.separator, dialect.separator)
    if dialect.separator != SPACES:
        reader, line = _reader(content, dialect)
        for fields in reader:
            if len(fields) > len(names):
                return (
                    f"{name_of(source)}, line {line()} has {len(fields)} fields, and the first "
                    f"line {len(names)}: put quotes around text that holds the separator "
                    f"{shown!r}, or tell the separator by --sep"
                )
    reason = (str(error).strip().splitlines() or ["unreadable"])[0]
    return f"{name_of(source)} cannot be read as text separated by {shown!r} (--sep): {reason}"

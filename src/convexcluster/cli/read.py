"""Files → :class:`Table`: numbers, ids and labels, or a sentence that says what is wrong.

Input is a file name (or ``-``) and which columns mean what; output is X (n × d, missing values as
NaN) with the names of its rows and columns. Formats are told by the ending of the name, or by the
first bytes of standard input. Rows are counted from 1, as spreadsheets do.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..optional import need
from ..problem import Floats
from .refusal import Refusal

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tsv.gz": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".mat": "mat",
}
FORMATS = sorted(set(ENDINGS.values()))
# The first bytes of the binary formats; text has none of these.
MAGIC = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PAR1": "parquet", b"MATLAB": "mat"}
# Text that means "missing" in a column of numbers; an id or a label may well be called NA.
MISSING = ("", "NA", "N/A", "n/a", "nan", "NaN", "-nan", "null", "NULL", "None", "<NA>", "#N/A")


@dataclass(frozen=True)
class Source:
    """Where a table comes from and which of its columns mean what."""

    data: str
    format: str | None = None
    header: bool | None = None
    array: str | None = None
    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    id_column: str | None = None
    label_column: str | None = None
    missing: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """Numbers with the names of their rows and columns.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Missing values are NaN; nothing is infinite.
    features : tuple of str
        Names of the columns of X.
    ids : tuple of str
        Names of the rows: the id column, or 1, 2, …
    labels : tuple of str, or None
        True labels, for scoring only; the empty string where unknown.
    """

    X: Floats
    features: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class _Raw:
    """A frame of possible features, and arrays that can only be ids or labels."""

    frame: pd.DataFrame
    side: dict[str, np.ndarray] = field(default_factory=dict)
    nameless: tuple[str, ...] = ()


def read(source: Source, *, wanted: Sequence[str] | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    source : Source
        The file and the roles of its columns.
    wanted : sequence of str, optional
        Exactly these features in this order, as a saved model wants them; others are ignored.
    """
    raw = _load(source)
    n = len(raw.frame)
    if n == 0:
        raise Refusal(f"{_name(source)} has no rows")
    ids = _texts(source, raw, source.id_column, "--id-column")
    labels = _texts(source, raw, source.label_column, "--label-column")
    features = _select(source, raw, wanted)
    return Table(
        X=_numbers(source, raw.frame[features]),
        features=tuple(str(f) for f in features),
        ids=ids or tuple(str(i) for i in range(1, n + 1)),
        labels=labels,
    )


def first_missing(table: Table) -> str | None:
    """Name the first missing value, row by row, or return None.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, np.nan]])
    >>> first_missing(Table(X, ("height", "weight"), ("ann", "bob")))
    "row 2 (id 'bob'), column 'weight'"
    """
    bad = np.isnan(table.X)
    if not bad.any():
        return None
    row, column = np.argwhere(bad)[0]
    return f"{_row(table.ids, int(row))}, column {table.features[column]!r}"


def _row(ids: Sequence[str], row: int) -> str:
    return f"row {row + 1}" + (f" (id {ids[row]!r})" if ids[row] != str(row + 1) else "")


def _name(source: Source) -> str:
    return "standard input" if source.data == "-" else source.data


def _load(source: Source) -> _Raw:
    """Bytes → frame, by format."""
    content: Path | bytes
    if source.data == "-":
        content = sys.stdin.buffer.read()
        if not content:
            raise Refusal("standard input is empty")
        form = source.format or _sniff(content)
    else:
        content = Path(source.data)
        if not content.exists():
            raise Refusal(f"{source.data} does not exist")
        if content.is_dir():
            raise Refusal(f"{source.data} is a folder: name a file in it")
        form = source.format or _by_ending(source.data)
    pd = need("pandas", "cli")
    try:
        if form in ("csv", "tsv"):
            return _read_text(content, "\t" if form == "tsv" else ",", source)
        stream = io.BytesIO(content) if isinstance(content, bytes) else content
        if form == "parquet":
            need("pyarrow", "cli")
            frame = pd.read_parquet(stream, engine="pyarrow")
            frame.columns = [str(name) for name in frame.columns]
            return _Raw(frame)
        return _read_arrays(stream, form, source)
    except UnicodeDecodeError:
        raise Refusal(f"{_name(source)} is not UTF-8 text: save it as UTF-8") from None
    except PermissionError:
        raise Refusal(f"{_name(source)} may not be read: check its permissions") from None
    except (OSError, ValueError, EOFError, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = (str(error).strip().splitlines() or ["unreadable"])[0]
        raise Refusal(f"{_name(source)} cannot be read as {form}: {reason}") from error


def _by_ending(name: str) -> str:
    lower = name.lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if lower.endswith(ending):
            return ENDINGS[ending]
    raise Refusal(f"{name} has no ending that tells its format: pass --format {'|'.join(FORMATS)}")


def _sniff(content: bytes) -> str:
    for magic, form in MAGIC.items():
        if content.startswith(magic):
            return form
    first = content.partition(b"\n")[0]
    return "tsv" if b"\t" in first and b"," not in first else "csv"


def _read_text(content: Path | bytes, separator: str, source: Source) -> _Raw:
    """CSV or TSV. A first line of numbers alone is data, unless --header says otherwise."""
    pd = need("pandas", "cli")

    def opened() -> Any:
        return io.BytesIO(content) if isinstance(content, bytes) else content

    compression = "gzip" if str(content).lower().endswith(".gz") else None
    how: dict[str, Any] = {"sep": separator, "encoding": "utf-8-sig", "compression": compression}
    top = pd.read_csv(opened(), header=None, nrows=1, dtype=str, keep_default_na=False, **how)
    first = [str(value) for value in top.iloc[0]]
    header = source.header
    if header is None:
        header = not all(_is_number(value) for value in first)
    names = first if header else [f"x{k}" for k in range(len(first))]
    nameless = tuple(f"unnamed{k}" for k, name in enumerate(names, start=1) if not name.strip())
    names = [name if name.strip() else f"unnamed{k}" for k, name in enumerate(names, start=1)]
    name, copies = Counter(names).most_common(1)[0]
    if copies > 1:
        raise Refusal(f"{_name(source)} has {copies} columns called {name!r}: rename them")
    text = {source.id_column, source.label_column}
    missing = [*MISSING, *source.missing]
    # Text becomes the nearest double: pandas 3 does so always, pandas 2 when asked.
    exact = {"float_precision": "round_trip"} if pd.__version__.startswith("2.") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # it would drop the extra fields
        frame = pd.read_csv(
            opened(),
            header=0 if header else None,
            names=names,
            index_col=False,
            dtype={name: str for name in names if name in text},
            keep_default_na=False,
            na_values={name: missing for name in names if name not in text},
            **how,
            **exact,
        )
    return _Raw(frame, nameless=nameless)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_arrays(stream: Path | io.BytesIO, form: str, source: Source) -> _Raw:
    """NPY, NPZ or MAT: one 2-D array of features, 1-D ones for ids and labels."""
    if form == "npy":
        loaded = np.load(stream, allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            raise Refusal(f"{_name(source)} holds several arrays: pass --format npz")
        arrays = {"X": loaded}
    elif form == "npz":
        with np.load(stream, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    else:
        from scipy.io import loadmat

        try:
            loaded = loadmat(cast(Any, stream), appendmat=False)
        except NotImplementedError:
            raise Refusal(
                f"{_name(source)} is a MATLAB 7.3 file: save it with save(..., '-v7')"
            ) from None
        arrays = {key: value for key, value in loaded.items() if not key.startswith("__")}
    return _arrays_to_raw(arrays, source)


def _arrays_to_raw(arrays: dict[str, np.ndarray], source: Source) -> _Raw:
    pd = need("pandas", "cli")
    arrays = {key: _flat(value, key, source) for key, value in arrays.items()}
    matrices = [key for key, value in arrays.items() if value.ndim == 2]
    key = source.array or ("X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None)
    if key is None and not matrices:
        raise Refusal(f"{_name(source)} holds no 2-D array (samples × features)")
    if key is None:
        listed = ", ".join(matrices)
        raise Refusal(f"{_name(source)} holds several matrices ({listed}): pass --array NAME")
    if key not in arrays or arrays[key].ndim != 2:
        raise Refusal(f"{_name(source)} holds no 2-D array called {key!r}; it has {list(arrays)}")
    X = arrays[key]
    if np.iscomplexobj(X):
        raise Refusal(f"{_name(source)} holds complex numbers: pass real and imaginary parts")
    side = {k: v for k, v in arrays.items() if v.ndim == 1 and len(v) == len(X)}
    return _Raw(pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), side)


def _flat(array: Any, key: str, source: Source) -> np.ndarray:
    """Dense native array; an (n, 1) or (1, n) vector of labels, as MATLAB keeps them, is 1-D."""
    array = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
    named = key in (source.id_column, source.label_column)
    vector = array.ndim == 2 and 1 in array.shape and key not in (source.array, "X")
    return array.ravel() if array.ndim == 2 and (named or vector) else array


def _texts(source: Source, raw: _Raw, column: str | None, option: str) -> tuple[str, ...] | None:
    """A column as text: ids or labels."""
    if column is None:
        return None
    if column in raw.side:
        values: Iterable[Any] = raw.side[column].tolist()
    elif column in raw.frame.columns:
        values = raw.frame[column].tolist()
    else:
        raise Refusal(f"{option} {column!r} is not in {_name(source)}{_listed(raw)}")
    return tuple(_text(value) for value in values)


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN and pandas' NA differ from themselves
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _listed(raw: _Raw) -> str:
    names = [*raw.frame.columns, *raw.side]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f", which has the columns {shown}"


def _select(source: Source, raw: _Raw, wanted: Sequence[str] | None) -> list[str]:
    """Names of the feature columns."""
    present = list(raw.frame.columns)
    roles = {source.id_column, source.label_column}
    if wanted is not None:
        for name in wanted:
            if name not in present:
                raise Refusal(
                    f"the model was fitted on a column {name!r}, "
                    f"which is not in {_name(source)}{_listed(raw)}"
                )
        return list(wanted)
    free = [name for name in present if name not in roles]
    chosen = _matching(source, raw, source.columns, free, "--columns") if source.columns else free
    dropped = set(_matching(source, raw, source.drop, free, "--drop"))
    chosen = [name for name in chosen if name not in dropped]
    if not source.columns:
        for name in chosen:
            if name in raw.nameless:
                raise Refusal(
                    f"column {present.index(name) + 1} of {_name(source)} has no name, like a row "
                    f"index: use it with --id-column {name} or leave it out with --drop {name}"
                )
    if not chosen:
        raise Refusal(f"no feature column of {_name(source)} is left: loosen --columns or --drop")
    return chosen


def _matching(
    source: Source, raw: _Raw, patterns: Sequence[str], names: list[str], option: str
) -> list[str]:
    """Expand names, comma-separated lists and wildcards, in the order given, each once."""
    found: dict[str, None] = {}
    known = set(names)
    for pattern in patterns:
        for part in [pattern] if pattern in known else pattern.split(","):
            part = part.strip()
            hits = [part] if part in known else [n for n in names if fnmatchcase(n, part)]
            if not hits:
                raise Refusal(f"{option} {part!r} matches nothing in {_name(source)}{_listed(raw)}")
            found.update(dict.fromkeys(hits))
    return list(found)


def _numbers(source: Source, frame: pd.DataFrame) -> Floats:
    """Feature columns as float64; text and dates are refused by the name of their column."""
    for name, dtype in frame.dtypes.items():
        kind = getattr(dtype, "kind", "O")
        if kind in "biuf":
            continue
        raise Refusal(_refuse_column(source, str(name), frame[name], kind))
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise Refusal(
            f"{_name(source)} holds an infinite value in row {row + 1}, "
            f"column {frame.columns[column]!r}: replace it by a number or leave it empty"
        )
    return X


def _refuse_column(source: Source, name: str, values: pd.Series, kind: str) -> str:
    remedy = (
        f"leave it out with --drop '{name}', name it as --id-column or --label-column, "
        "or encode it as numbers"
    )
    if kind in "Mm":
        return f"column {name!r} of {_name(source)} holds dates or times: {remedy}"
    for row, value in enumerate(values, start=1):
        text = _text(value)
        if text and not _is_number(text):
            return (
                f"column {name!r} of {_name(source)} is not numeric "
                f"({text[:40]!r} in row {row}): {remedy}"
            )
    return f"column {name!r} of {_name(source)} is not numeric: {remedy}"

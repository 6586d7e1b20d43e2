"""Bytes → a frame: CSV, TSV, Parquet, NPY, NPZ or MAT.

Input is the group of options about the file; output a :class:`Raw` frame with named columns. The
format is told by the ending of the file's name, or by the first bytes of standard input.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..optional import need
from .refusal import Exit, Refusal

if TYPE_CHECKING:
    import pandas as pd

    from .options import Input

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
class Raw:
    """A frame of possible features, and arrays that can only be ids or labels."""

    frame: pd.DataFrame
    side: dict[str, np.ndarray] = field(default_factory=dict)
    nameless: tuple[str, ...] = ()


def name_of(source: Input) -> str:
    """How a person calls the source."""
    return "standard input" if source.data == "-" else source.data


def read_raw(source: Input) -> Raw:
    """Bytes → frame, by format."""
    if source.format is not None and source.format not in FORMATS:
        raise Refusal(f"--format must be one of {', '.join(FORMATS)}", Exit.USAGE)
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
            return Raw(frame)
        return _read_arrays(stream, form, source)
    except UnicodeDecodeError:
        raise Refusal(f"{name_of(source)} is not UTF-8 text: save it as UTF-8") from None
    except PermissionError:
        raise Refusal(f"{name_of(source)} may not be read: check its permissions") from None
    except (OSError, ValueError, EOFError, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = (str(error).strip().splitlines() or ["unreadable"])[0]
        raise Refusal(f"{name_of(source)} cannot be read as {form}: {reason}") from error


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


def _read_text(content: Path | bytes, separator: str, source: Input) -> Raw:
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
        header = not all(is_number(value) for value in first)
    names = first if header else [f"x{k}" for k in range(len(first))]
    nameless = tuple(f"unnamed{k}" for k, name in enumerate(names, start=1) if not name.strip())
    names = [name if name.strip() else f"unnamed{k}" for k, name in enumerate(names, start=1)]
    name, copies = Counter(names).most_common(1)[0]
    if copies > 1:
        raise Refusal(f"{name_of(source)} has {copies} columns called {name!r}: rename them")
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
    return Raw(frame, nameless=nameless)


def is_number(text: str) -> bool:
    """Whether Python reads ``text`` as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_arrays(stream: Path | io.BytesIO, form: str, source: Input) -> Raw:
    """NPY, NPZ or MAT: one 2-D array of features, 1-D ones for ids and labels."""
    if form == "npy":
        loaded = np.load(stream, allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            raise Refusal(f"{name_of(source)} holds several arrays: pass --format npz")
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
                f"{name_of(source)} is a MATLAB 7.3 file: save it with save(..., '-v7')"
            ) from None
        arrays = {key: value for key, value in loaded.items() if not key.startswith("__")}
    return _arrays_to_raw(arrays, source)


def _arrays_to_raw(arrays: dict[str, np.ndarray], source: Input) -> Raw:
    pd = need("pandas", "cli")
    arrays = {key: _flat(value, key, source) for key, value in arrays.items()}
    matrices = [key for key, value in arrays.items() if value.ndim == 2]
    key = source.array or ("X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None)
    if key is None and not matrices:
        raise Refusal(f"{name_of(source)} holds no 2-D array (samples × features)")
    if key is None:
        listed = ", ".join(matrices)
        raise Refusal(f"{name_of(source)} holds several matrices ({listed}): pass --array NAME")
    if key not in arrays or arrays[key].ndim != 2:
        raise Refusal(f"{name_of(source)} holds no 2-D array called {key!r}; it has {list(arrays)}")
    X = arrays[key]
    if np.iscomplexobj(X):
        raise Refusal(f"{name_of(source)} holds complex numbers: pass real and imaginary parts")
    side = {k: v for k, v in arrays.items() if v.ndim == 1 and len(v) == len(X)}
    return Raw(pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), side)


def _flat(array: Any, key: str, source: Input) -> np.ndarray:
    """Dense native array; an (n, 1) or (1, n) vector of labels, as MATLAB keeps them, is 1-D."""
    array = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
    named = key in (source.id_column, source.label_column)
    vector = array.ndim == 2 and 1 in array.shape and key not in (source.array, "X")
    return array.ravel() if array.ndim == 2 and (named or vector) else array

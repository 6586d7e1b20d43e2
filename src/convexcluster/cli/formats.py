"""Which reader a file has: by the ending of its name, or by the first bytes of standard input.

Every reader takes a path or bytes and the options about the file, and returns a
:class:`~convexcluster.cli.raw.Raw` frame. A new format is a reader and its endings, one line each.
"""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..optional import need
from .arrays import read_mat, read_npy, read_npz
from .delimited import read_csv, read_tsv
from .raw import Raw, name_of
from .refusal import Exit, Refusal
from .spreadsheet import read_xlsx

if TYPE_CHECKING:
    from .options import Input


def read_parquet(content: Path | bytes, source: Input) -> Raw:
    """A Parquet file."""
    pd = need("pandas", "cli")
    need("pyarrow", "cli")
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    frame = pd.read_parquet(stream, engine="pyarrow")
    frame.columns = [str(name) for name in frame.columns]
    return Raw(frame.reset_index(drop=True), found={"format": "parquet"})


READERS: dict[str, Callable[[Path | bytes, Input], Raw]] = {
    "csv": read_csv,
    "mat": read_mat,
    "npy": read_npy,
    "npz": read_npz,
    "parquet": read_parquet,
    "tsv": read_tsv,
    "xlsx": read_xlsx,
}
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
    ".xlsx": "xlsx",
}
FORMATS = list(READERS)
# The first bytes of the binary formats; text has none of these.
MAGIC = {b"\x93NUMPY": "npy", b"PAR1": "parquet", b"MATLAB": "mat"}


def read_raw(source: Input) -> Raw:
    """Bytes → frame, by format."""
    if source.format is not None and source.format not in READERS:
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
    if source.sheet is not None and form != "xlsx":
        raise Refusal(f"--sheet is for .xlsx files, and {name_of(source)} is {form}", Exit.USAGE)
    try:
        return READERS[form](content, source)
    except PermissionError:
        raise Refusal(f"{name_of(source)} may not be read: check its permissions") from None
    except (OSError, ValueError, EOFError, csv.Error, zipfile.BadZipFile) as error:
        reason = (str(error).strip().splitlines() or ["unreadable"])[0]
        raise Refusal(f"{name_of(source)} cannot be read as {form}: {reason}") from error


def _by_ending(name: str) -> str:
    lower = name.lower()
    for ending in sorted(ENDINGS, key=len, reverse=True):
        if lower.endswith(ending):
            return ENDINGS[ending]
    suffix = Path(name).suffix
    said = f"files ending in {suffix} are not read" if suffix else "no ending tells its format"
    raise Refusal(f"{name}: {said}; pass --format {'|'.join(FORMATS)} if it is one of these")


def _sniff(content: bytes) -> str:
    for magic, form in MAGIC.items():
        if content.startswith(magic):
            return form
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "xlsx" if "[Content_Types].xml" in archive.namelist() else "npz"
    first = content.partition(b"\n")[0]
    return "tsv" if b"\t" in first and b"," not in first else "csv"

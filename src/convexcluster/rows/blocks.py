"""Data larger than memory, as blocks of rows: read one at a time, written one at a time.

Input: an array in memory, a NumPy memmap, a ``.npy`` or Parquet file, a folder of Parquet files, a
Zarr array, a dask array or dataframe, or anything with a 2-D ``shape`` that can be sliced by rows.
Output: :class:`Blocks`, whose ``read(b)`` gives rows as contiguous float64, checked; the data stay
in the dtype they are stored in, and only the block at hand is widened. Labels go back to ``.npy``
or Parquet block by block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse

from ..optional import need
from ..problem import Floats, Ints, check_finite
from ..tables.check import check_table

# Bytes of a block of float64 rows unless told otherwise: large enough that per-block costs vanish,
# small enough that a dozen blocks at work fit beside everything else in 4 GB.
BLOCK_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Blocks:
    """Rows in blocks."""

    lengths: tuple[int, ...]  # rows of each block
    width: int  # columns
    load: Callable[[int], Any]  # ``load(b)`` gives block b as a 2-D array of any numeric dtype

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n(self) -> int:
        """Rows in all."""
        return sum(self.lengths)

    def read(self, b: int) -> Floats:
        """Block b as finite contiguous float64, or an error that names the row in the whole."""
        return check_block(self.load(b), self.width, sum(self.lengths[:b]))

    def __iter__(self) -> Iterator[Floats]:
        return (self.read(b) for b in range(len(self)))


def check_block(rows: Any, width: int | None = None, offset: int = 0, name: str = "X") -> Floats:
    """Rows as contiguous float64; ``offset`` is the number of the first one, for the message."""
    check_table(rows, "")
    if sparse.issparse(rows):
        rows = cast(Any, rows).toarray()
    elif type(rows).__module__.partition(".")[0] == "pandas":
        rows = _values(rows)
    X = np.ascontiguousarray(rows, dtype=np.float64)
    if X.ndim != 2 or (width is not None and X.shape[1] != width):
        raise ValueError(f"a block of rows has shape {X.shape}, expected (rows, {width})")
    check_finite(X, name, offset)
    return X


def as_blocks(source: Any, rows: int | None = None) -> Blocks:
    """Blocks of rows of ``source``.

    Parameters
    ----------
    source : array, memmap, path, Zarr array, dask array or dataframe, or Blocks
        See the module. A path is ``.npy``, ``.parquet`` (file or folder) or ``.zarr``.
    rows : int, optional
        Rows per block; by default about 64 MB of float64. Parquet, dask and Zarr keep row
        groups, partitions and chunks together where these are smaller.
    """
    if isinstance(source, Blocks):
        return source
    if isinstance(source, str | os.PathLike):
        return _of_path(Path(source), rows)
    if sparse.issparse(source):
        return _of_sliceable(cast(Any, source).tocsr(), rows)
    home = type(source).__module__.partition(".")[0]
    if home == "dask" or hasattr(source, "__dask_graph__"):
        return _of_dask(source)
    if home == "pandas":
        check_table(source, "")  # here columns have names
        source = _values(source)
    if not hasattr(source, "shape"):
        source = np.asarray(source)
    return _of_sliceable(source, rows)


def _values(frame: Any) -> np.ndarray:
    """Values of a data frame in its dtype, if it has one; else as floats, NaN where it has none."""
    dtypes = frame.dtypes
    if frame.ndim != 2 or all(isinstance(t, np.dtype) and t.kind in "biuf" for t in dtypes):
        return frame.to_numpy()
    return frame.to_numpy(np.float64, na_value=np.nan)


def _of_sliceable(source: Any, rows: int | None) -> Blocks:
    if len(source.shape) != 2:
        raise ValueError(f"X must be 2-D (samples × features), got shape {tuple(source.shape)}")
    n, width = (int(s) for s in source.shape)
    rows = rows or max(1, BLOCK_BYTES // (8 * max(1, width)))
    chunks = getattr(source, "chunks", None)  # Zarr, h5py: read whole chunks
    if chunks and isinstance(chunks[0], int) and chunks[0] < rows:
        rows -= rows % chunks[0]
    starts = range(0, n, rows)
    lengths = tuple(min(rows, n - s) for s in starts)
    return Blocks(lengths, width, lambda b: source[b * rows : b * rows + lengths[b]])


def _of_path(path: Path, rows: int | None) -> Blocks:
    if path.suffix == ".npy":
        return _of_sliceable(np.load(path, mmap_mode="r"), rows)
    if path.suffix == ".zarr":
        return _of_sliceable(need("zarr", "dask").open_array(str(path), mode="r"), rows)
    if path.suffix in {".parquet", ".pq"} or path.is_dir():
        return _of_parquet(path)
    raise ValueError(f"{path}: expected .npy, .zarr, .parquet or a folder of Parquet files")


def _of_parquet(path: Path) -> Blocks:
    parquet = need("pyarrow.parquet", "dask")
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path} holds no .parquet file")
    groups, lengths, names = [], [], None
    for file in files:
        meta = parquet.ParquetFile(file).metadata
        own = _features(meta.schema.to_arrow_schema())
        if names is not None and own != names:
            raise ValueError(f"{file} has the columns {own}, others have {names}")
        names = own
        for g in range(meta.num_row_groups):
            if meta.row_group(g).num_rows:
                groups.append((file, g))
                lengths.append(meta.row_group(g).num_rows)

    def load(b: int) -> np.ndarray:
        table = parquet.ParquetFile(groups[b][0]).read_row_group(groups[b][1], columns=names)
        check_table(table, "")
        columns = [np.asarray(column.to_numpy(), dtype=np.float64) for column in table.columns]
        return np.column_stack(columns)

    return Blocks(tuple(lengths), len(names or ()), load)


def _features(schema: Any) -> list[str]:
    """Columns of a Parquet file without those that pandas wrote as the names of rows."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in index]


def _of_dask(source: Any) -> Blocks:
    """Partitions of a dask collection, computed where its own scheduler says, one at a time."""
    if hasattr(source, "to_dask_array"):
        source = source.to_dask_array(lengths=True)
    if source.ndim != 2:
        raise ValueError(f"X must be 2-D (samples × features), got {source.ndim}-D")
    if source.numblocks[1] > 1:
        source = source.rechunk({1: -1})
    if any(np.isnan(s) for s in source.chunks[0]):
        source = source.compute_chunk_sizes()
    return Blocks(
        tuple(int(s) for s in source.chunks[0]),
        int(source.shape[1]),
        lambda b: source.blocks[b].compute(),
    )


def write_labels(parts: Iterable[Ints], path: str | os.PathLike[str], n: int) -> Path:
    """Write n labels block by block: ``.npy`` (a memmap, int64) or ``.parquet`` (as ``label``)."""
    path = Path(path)
    written = 0
    if path.suffix == ".npy":
        out = np.lib.format.open_memmap(path, mode="w+", dtype=np.int64, shape=(n,))
        for labels in parts:
            out[written : written + len(labels)] = labels
            written += len(labels)
        out.flush()
    elif path.suffix in {".parquet", ".pq"}:
        arrow, parquet = need("pyarrow", "dask"), need("pyarrow.parquet", "dask")
        with parquet.ParquetWriter(path, arrow.schema([("label", arrow.int64())])) as writer:
            for labels in parts:
                writer.write_table(arrow.table({"label": np.asarray(labels, dtype=np.int64)}))
                written += len(labels)
    else:
        raise ValueError(f"{path}: labels are written to .npy or .parquet")
    if written != n:
        raise ValueError(f"{path}: {written} labels were written, {n} were announced")
    return path

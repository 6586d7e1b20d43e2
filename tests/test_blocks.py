"""Every kind of source gives the same rows; labels go out block by block; plans fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from convexcluster.rows import as_blocks, parse_bytes, plan_fit, write_labels
from convexcluster.rows.plan import EXACT_ROWS

X = np.random.default_rng(0).normal(size=(103, 3))


def npy(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def memmap(folder):
    np.save(folder / "m.npy", X)
    return np.load(folder / "m.npy", mmap_mode="r")


def parquet_file(folder):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table({f"c{k}": X[:, k] for k in range(3)})
    parquet.write_table(table, folder / "x.parquet", row_group_size=40)
    return str(folder / "x.parquet")


def parquet_folder(folder):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name, part in (("a", X[:50]), ("b", X[50:])):
        table = arrow.table({f"c{k}": part[:, k] for k in range(3)})
        parquet.write_table(table, folder / f"{name}.parquet")
    return folder


def zarr_array(folder):
    zarr = pytest.importorskip("zarr")
    out = zarr.open_array(
        str(folder / "x.zarr"), mode="w", shape=X.shape, chunks=(10, 3), dtype="f8"
    )
    out[:] = X
    return folder / "x.zarr"


def dask_array(folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(30, 2))


def dask_frame(folder):
    pandas, frame = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    return frame.from_pandas(pandas.DataFrame(X, columns=list("abc")), npartitions=4)


def pandas_frame(folder):
    return pytest.importorskip("pandas").DataFrame(X)


SOURCES = (
    npy,
    memmap,
    parquet_file,
    parquet_folder,
    zarr_array,
    dask_array,
    dask_frame,
    pandas_frame,
)


@pytest.mark.parametrize("source", SOURCES, ids=lambda f: f.__name__)
def test_every_source_gives_the_rows_in_order(source, tmp_path):
    blocks = as_blocks(source(tmp_path), rows=25)
    assert len(blocks) > 1 or source is pandas_frame
    assert blocks.n == 103
    np.testing.assert_array_equal(np.concatenate(list(blocks)), X)


def test_float32_stays_as_stored_and_is_read_as_float64(tmp_path):
    small = X.astype(np.float32)
    blocks = as_blocks(small, rows=50)
    assert blocks.load(0).dtype == np.float32
    assert np.shares_memory(blocks.load(0), small)
    assert blocks.read(1).dtype == np.float64


def test_a_missing_value_is_named_by_its_row_in_the_whole():
    bad = X.copy()
    bad[77, 2] = np.nan
    with pytest.raises(ValueError, match="row 77, column 2"):
        list(as_blocks(bad, rows=25))


@pytest.mark.parametrize("source", ["x.csv", "x"])
def test_an_unknown_file_is_refused(source, tmp_path):
    with pytest.raises(ValueError, match=r"expected \.npy"):
        as_blocks(tmp_path / source)


@pytest.mark.parametrize("name", ["labels.npy", "labels.parquet"])
def test_labels_are_written_block_by_block(name, tmp_path):
    labels = np.arange(103) % 7
    path = write_labels(np.array_split(labels, 5), tmp_path / name, 103)
    if name.endswith("npy"):
        read = np.load(path)
    else:
        read = pytest.importorskip("pyarrow.parquet").read_table(path)["label"].to_numpy()
    np.testing.assert_array_equal(read, labels)
    with pytest.raises(ValueError, match="102 labels were written"):
        write_labels([labels[:102]], tmp_path / name, 103)


@pytest.mark.parametrize("memory", ["500MB", "2GB", "64GB"])
@pytest.mark.parametrize("n", [1_000, 1_000_000, 10**9])
def test_plans_stay_within_memory(n, memory):
    chosen = plan_fit(n, 10, 300, max_memory=memory)
    assert chosen.bytes <= parse_bytes(memory)
    assert chosen.coarse == (n > EXACT_ROWS)


def test_coarsening_can_be_refused_or_sized():
    assert not plan_fit(10**6, 2, 100, max_memory="6GB", coarsen=False).coarse
    assert plan_fit(10**6, 2, 100, max_memory="6GB", coarsen=500).cells == 500
    assert (
        plan_fit(1_000, 2, 100, max_memory="6GB", coarsen=True).coarse is False
    )  # nothing to gain
    with pytest.raises(ValueError, match="max_memory"):
        plan_fit(10, 2, 2, max_memory="lots")


def test_names_of_rows_in_a_parquet_file_are_no_column(tmp_path):
    """pandas writes the index of a filtered frame as a column of numbers."""
    frame = pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6) % 2})
    frame[frame["b"] == 0].to_parquet(tmp_path / "part.parquet")
    blocks = as_blocks(tmp_path / "part.parquet")
    assert blocks.width == 2
    np.testing.assert_array_equal(blocks.read(0), [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]])


def test_files_of_one_folder_have_the_same_columns(tmp_path):
    for name, columns in (("a", ["x", "y"]), ("b", ["y", "x"])):
        pd.DataFrame(np.eye(2), columns=columns).to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(ValueError, match=r"b.parquet has the columns \['y', 'x'\], others have"):
        as_blocks(tmp_path)


def test_a_column_without_numbers_is_named_in_a_parquet_file(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "c": pd.date_range("2020", periods=2)})
    frame.to_parquet(tmp_path / "dates.parquet")
    with pytest.raises(ValueError, match="column 'c' is a date"):
        as_blocks(tmp_path / "dates.parquet").read(0)

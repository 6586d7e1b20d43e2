"""Every input format, and every refusal, on real files."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from convexcluster.cli.options import Input
from convexcluster.cli.prepare import Preparation
from convexcluster.cli.read import Remembered, Table, read
from convexcluster.cli.refusal import Exit, Refusal

X = np.array([[1.5, -2.0], [3.25, 1e-300], [0.1, 0.2]])


def text(folder, content, name="data.csv"):
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return str(file)


def write_csv(path):
    pd.DataFrame(X, columns=["x0", "x1"]).to_csv(path, index=False)


def write_npz(path):
    with open(path, "wb") as file:
        np.savez(file, X=X, y=np.array([0, 1, 1]))


WRITERS = {
    "csv": write_csv,
    "csv.gz": write_csv,
    "tsv": lambda p: pd.DataFrame(X, columns=["x0", "x1"]).to_csv(p, index=False, sep="\t"),
    "parquet": lambda p: pd.DataFrame(X, columns=["x0", "x1"]).to_parquet(p),
    "npy": lambda p: np.save(p, X),
    "npz": write_npz,
    "mat": lambda p: savemat(p, {"X": X, "Y": np.array([[1], [2], [2]])}),
}


def test_text_is_parsed_to_the_nearest_double(tmp_path):
    values = np.random.default_rng(0).standard_normal((500, 2)) * 10.0 ** np.arange(-2, 0)
    pd.DataFrame(values).to_csv(tmp_path / "a.csv", index=False, header=["a", "b"])
    np.testing.assert_array_equal(read(Input(str(tmp_path / "a.csv"))).X, values)


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, ending):
    file = tmp_path / f"data.{ending}"
    WRITERS[ending](file)
    table = read(Input(str(file)))
    np.testing.assert_array_equal(table.X, X)  # to the last bit, text too
    assert table.X.dtype == np.float64
    assert table.features == ("x0", "x1")
    assert table.ids == ("1", "2", "3")


@pytest.mark.parametrize("ending", [e for e in WRITERS if e != "csv.gz"])
def test_standard_input_is_told_by_its_first_bytes(tmp_path, monkeypatch, ending):
    file = tmp_path / f"data.{ending}"
    WRITERS[ending](file)
    stream = io.TextIOWrapper(io.BytesIO(file.read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    np.testing.assert_array_equal(read(Input("-")).X, X)


def test_empty_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(Refusal, match="standard input is empty"):
        read(Input("-"))


def test_labels_and_ids_of_array_files(tmp_path):
    write_npz(tmp_path / "a.npz")
    assert read(Input(str(tmp_path / "a.npz"), label_column="y")).labels == ("0", "1", "1")
    WRITERS["mat"](tmp_path / "a.mat")
    assert read(Input(str(tmp_path / "a.mat"), label_column="Y")).labels == ("1", "2", "2")


def test_array_choice(tmp_path):
    np.savez(tmp_path / "a.npz", first=X, second=2 * X)
    file = str(tmp_path / "a.npz")
    with pytest.raises(Refusal, match=r"several matrices \(first, second\): pass --array"):
        read(Input(file))
    np.testing.assert_array_equal(read(Input(file, array="second")).X, 2 * X)
    with pytest.raises(Refusal, match="no 2-D array called 'third'"):
        read(Input(file, array="third"))


def test_pickled_arrays_are_not_loaded(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[{"a": 1}]], dtype=object), allow_pickle=True)
    with pytest.raises(Refusal, match="cannot be read as npy"):
        read(Input(str(tmp_path / "a.npy")))


def test_ids_and_labels_keep_their_text(tmp_path):
    file = text(tmp_path, "name,a,kind\n007,1,NA\nNA,2,x\n=1+1,3,\n")
    table = read(Input(file, id_column="name", label_column="kind"))
    assert table.ids == ("007", "NA", "=1+1")
    assert table.labels == ("NA", "x", "")
    assert table.features == ("a",)


def test_the_header_can_be_told(tmp_path):
    file = text(tmp_path, "7,2\n3,4\n")
    assert read(Input(file)).X.shape == (2, 2)
    assert read(Input(file, header=True)).features == ("7", "2")
    named = text(tmp_path, "a,b\n3,4\n", "named.csv")
    with pytest.raises(Refusal, match=r"column 'x0' holds 'a' in line 1 among numbers"):
        read(Input(named, header=False))


def test_column_selection(tmp_path):
    file = text(tmp_path, "gene_1,gene_2,age,note\n1,2,3,4\n5,6,7,8\n")
    assert read(Input(file, columns=["gene_*"])).features == ("gene_1", "gene_2")
    assert read(Input(file, columns=["age,gene_1"])).features == ("age", "gene_1")
    assert read(Input(file, drop=["gene_*", "note"])).features == ("age",)
    with pytest.raises(Refusal, match="--columns 'height' matches nothing"):
        read(Input(file, columns=["height"]))
    with pytest.raises(Refusal, match="no feature column"):
        read(Input(file, drop=["*"]))
    with pytest.raises(Refusal, match="--id-column 'who' is not in"):
        read(Input(file, id_column="who"))


REFUSED = {
    "text among numbers": (
        "a,species\n1,2\n3,setosa\n",
        r"data.csv, column 'species' holds 'setosa' in line 3 .*--missing 'setosa' .*--drop",
    ),
    "decimal comma": ("a;b\n1.5;2,5\n1.5;3\n", "'2,5' in line 2 among numbers: --decimal ,"),
    "free text": (
        "a,note\n" + "".join(f"{k % 3},word {k % 11}\n" for k in range(12)),
        r"column 'note' is text \('word 0' in line 2; 11 different .*--drop .*--categorical",
    ),
    "infinite": ("a,b\n1,2\n1,inf\n", "column 'b' holds an infinite value in line 3"),
    "empty": ("", "data.csv is empty"),
    "nothing in a column": ("a,b\n1,\n2,\n", "column 'b' has no value at all.*--drop 'b'"),
    "nothing in a row": ("a,b\n1,2\n,NA\n3,4\n", "data.csv, line 3 has no value at all"),
    "no rows": ("a,b\n", "has no rows"),
    "twice": ("a,a\n1,2\n", "2 columns called 'a'"),
    "nameless": (",a\n1,2\n1,3\n", "column 1 .* has no name.*--id-column unnamed1"),
    "too many fields": ("a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, and the first line 2.*--sep"),
    "every row longer": ("a,b\n1,2,3\n1,2,3\n", "line 2 has 3 fields, and the first line 2"),
    "control characters": ("a\0b\0\0,\0\0c", "is not text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_a_sentence(tmp_path, case):
    content, sentence = REFUSED[case]
    with pytest.raises(Refusal, match=sentence) as caught:
        read(Input(text(tmp_path, content)))
    assert caught.value.code == Exit.INPUT
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(Refusal, match="does not exist"):
        read(Input(str(tmp_path / "none.csv")))
    with pytest.raises(Refusal, match="is a folder"):
        read(Input(str(tmp_path)))
    with pytest.raises(Refusal, match=r"files ending in \.unknown are not read; pass --format csv"):
        read(Input(text(tmp_path, "1,2", "data.unknown")))
    with pytest.raises(Refusal, match="no ending tells its format"):
        read(Input(text(tmp_path, "1,2", "data")))


def test_matlab_73_is_named(tmp_path):
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124, b" ") + b"\x00\x02IM"
    (tmp_path / "new.mat").write_bytes(header + b"\x89HDF\r\n\x1a\n" + bytes(512))
    with pytest.raises(Refusal, match=r"MATLAB 7\.3 file: save it with save\(..., '-v7'\)"):
        read(Input(str(tmp_path / "new.mat")))


def test_missing_value_is_named_by_row_and_column(tmp_path):
    table = read(Input(text(tmp_path, "id,a,b\nu,1,2\nv,3,NA\n"), id_column="id"))
    with pytest.raises(Refusal, match=r"row 2 \(id 'v'\), column 'b', 1 in all: fit with --impute"):
        Preparation.of(table, False, None, False)


def test_other_text_for_missing(tmp_path):
    file = text(tmp_path, "a,b\n1,?\n3,4\n")
    with pytest.raises(Refusal, match=r"'\?' in line 2 .*--missing '\?'"):
        read(Input(file))
    assert np.isnan(read(Input(file, missing=["?"])).X[0, 1])


def test_impute_then_standardize():
    table = Table(np.array([[1.0, 7.0], [np.nan, 7.0], [3.0, 7.0]]), ("a", "b"), ("1", "2", "3"))
    before = table.X.copy()
    done = Preparation.of(table, True, "mean", False)
    out = done.apply(table)
    np.testing.assert_array_equal(done.fill, [2.0, 7.0])
    np.testing.assert_allclose(out[:, 0], [-np.sqrt(1.5), 0, np.sqrt(1.5)], rtol=1e-15)
    np.testing.assert_array_equal(out[:, 1], 0)  # a constant column stays finite
    np.testing.assert_array_equal(table.X, before)
    # new data get the old fill, mean and scale
    new = Table(np.array([[np.nan, 8.0]]), ("a", "b"), ("1",))
    np.testing.assert_array_equal(done.apply(new), [[0.0, 1.0]])
    again = Preparation(**vars(done))
    np.testing.assert_array_equal(again.apply(new), done.apply(new))


def test_impute_refusals():
    table = Table(np.array([[1.0, 2.0]]), ("a", "b"), ("1",))
    with pytest.raises(Refusal, match="--impute must be neighbors or mean or median") as caught:
        Preparation.of(table, False, "mode", False)
    assert caught.value.code == Exit.USAGE


def test_precomputed_must_be_square():
    table = Table(np.ones((2, 3)), ("a", "b", "c"), ("1", "2"))
    with pytest.raises(Refusal, match="square matrix, and this one is 2 × 3"):
        Preparation.of(table, False, None, True)
    with pytest.raises(Refusal, match="--standardize does not go with"):
        Preparation.of(table, True, None, True)


def test_a_models_columns_are_found_by_name(tmp_path):
    file = text(tmp_path, "b,extra,a\n1,x,2\n")
    found = read(Input(file), like=Remembered(("a", "b")))
    np.testing.assert_array_equal(found.X, [[2.0, 1.0]])
    with pytest.raises(Refusal, match="fitted on a column 'c'"):
        read(Input(file), like=Remembered(("a", "c")))


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_integers_that_double_precision_cannot_tell_apart_are_refused(tmp_path, ending):
    values = 2**60 + np.random.default_rng(0).integers(0, 50, (40, 2))
    file, frame = tmp_path / f"ids.{ending}", pd.DataFrame(values, columns=["x0", "x1"])
    if ending == "npy":
        np.save(file, values)
    else:
        frame.to_csv(file, index=False) if ending == "csv" else frame.to_parquet(file)
    with pytest.raises(Refusal, match=r"column 'x0' holds integers beyond 2⁵³ .* --drop 'x0'"):
        read(Input(str(file)))

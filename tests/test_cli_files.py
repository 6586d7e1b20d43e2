"""Files as people have them: every dialect of text, sheets of Excel, and what is said of them."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest

from convexcluster.cli.dialect import SPACES
from convexcluster.cli.options import Input
from convexcluster.cli.prepare import Preparation
from convexcluster.cli.read import read
from convexcluster.cli.refusal import Exit, Refusal

X = np.round(np.random.default_rng(0).normal(size=(12, 3)) * 1500, 2)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def written(folder, content, name="data.csv", encoding="utf-8"):
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return str(file)


def comma(**options):
    return FRAME.to_csv(index=False, **options)


GERMAN = "a;b;c\n" + "".join(
    ";".join(f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in row) + "\n" for row in X
)
ENGLISH = "a,b,c\n" + "".join(",".join(f'"{v:,.2f}"' for v in row) + "\n" for row in X)
# name -> (bytes of the file, what is recognised beyond comma, point, UTF-8 and header)
TEXTS = {
    "plain": (comma(), {}),
    "no line break at the end": (comma().rstrip(), {}),
    "windows line breaks": (comma(lineterminator="\r\n"), {}),
    "semicolon": (comma(sep=";"), {"separator": ";"}),
    "tab": (comma(sep="\t"), {"separator": "\t"}),
    "bar": (comma(sep="|"), {"separator": "|"}),
    "spaces": (comma(sep=" "), {"separator": SPACES}),
    "decimal comma": (comma(sep=";", decimal=","), {"separator": ";", "decimal": ","}),
    "decimal comma in quotes": (comma(decimal=","), {"decimal": ","}),
    "german thousands": (GERMAN, {"separator": ";", "decimal": ",", "thousands": "."}),
    "english thousands": (ENGLISH, {"thousands": ","}),
    "sep line": ("sep=;\n" + comma(sep=";"), {"separator": ";", "comments": 1}),
    "sep line, windows": ("sep=;\r\n" + comma(sep=";"), {"separator": ";", "comments": 1}),
    "mark of UTF-8": (comma().encode("utf-8-sig"), {}),
    "UTF-16": (comma().encode("utf-16"), {"encoding": "utf-16"}),
    "UTF-16 without a mark": (comma().encode("utf-16-le"), {"encoding": "utf-16-le"}),
    "UTF-16, big end": (comma().encode("utf-16-be"), {"encoding": "utf-16-be"}),
    "UTF-32": (comma().encode("utf-32"), {"encoding": "utf-32"}),
    "comments": ("# of 2024, by hand\n# two\n" + comma(), {"comments": 2}),
    "comment in the middle": (comma().replace("\n", "\n#half, of it\n", 5), {"comments": 5}),
    "header of a comment": ("# by hand\n#" + comma(), {"comments": 1}),
    "blank lines": ("\n\n" + comma().replace("\n", "\n\n", 3), {}),
    "spaces after commas": (comma().replace(",", ", "), {}),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_text_file_is_read_as_it_is(tmp_path, case):
    content, told = TEXTS[case]
    table = read(Input(written(tmp_path, content)))
    np.testing.assert_array_equal(table.X, X)
    assert table.features == ("a", "b", "c")
    usual = {"encoding": "utf-8", "separator": ",", "decimal": ".", "thousands": None}
    expected = {"format": "csv", **usual, "header": True, "comments": 0, **told}
    assert {key: table.found[key] for key in expected} == expected


def test_names_of_windows(tmp_path):
    content = "größe;stadt\n1,5;Köln\n2,5;Köln\n3,5;Zürich\n"
    table = read(Input(written(tmp_path, content, encoding="cp1252")))
    assert table.features == ("größe", "stadt")
    assert table.found["encoding"] == "cp1252"
    assert list(table.X["stadt"]) == ["Köln", "Köln", "Zürich"]
    told = read(Input(written(tmp_path, content, encoding="cp1252"), encoding="cp1250"))
    assert told.found["encoding"] == "cp1250"
    with pytest.raises(Refusal, match=r"data\.csv, line 1 is not utf-8 text: .*--encoding"):
        read(Input(written(tmp_path, content, encoding="cp1252"), encoding="utf-8"))


def test_savetxt(tmp_path):
    np.savetxt(tmp_path / "a.txt", X, header="a b c")
    assert read(Input(str(tmp_path / "a.txt"))).features == ("a", "b", "c")
    np.savetxt(tmp_path / "b.txt", X)
    table = read(Input(str(tmp_path / "b.txt")))
    np.testing.assert_array_equal(table.X, X)
    assert table.features == ("x0", "x1", "x2")


def test_dialects_can_be_told(tmp_path):
    file = written(tmp_path, "a;b\n1,250;2,500\n3,750;4,125\n")
    np.testing.assert_array_equal(read(Input(file)).X, [[1.25, 2.5], [3.75, 4.125]])
    colon = written(tmp_path, "a:b\n1:2\n3:5\n")
    np.testing.assert_array_equal(read(Input(colon, sep=":")).X, [[1, 2], [3, 5]])
    tab = written(tmp_path, "a\tb\n1\t2\n3\t5\n")
    np.testing.assert_array_equal(read(Input(tab, sep="tab")).X, [[1, 2], [3, 5]])
    quoted = written(tmp_path, 'a,b\n"1,250",1\n"2,500",7\n')
    with pytest.raises(Refusal, match=r"column 'a' holds '1,250' in line 2 .*--decimal ,"):
        read(Input(quoted))
    np.testing.assert_array_equal(read(Input(quoted, decimal=",")).X, [[1.25, 1], [2.5, 7]])


COLOGNE = "name;x\n" + "".join(f"Köln;{k}\n" for k in range(5))
# name of the file, its bytes, what was told -> the sentence
TOLD_WRONG = {
    "UTF-8, is cp1252": ("a.csv", COLOGNE.encode("cp1252"), {"encoding": "utf-8"}, "line 2 is not"),
    "ASCII, is UTF-8": (
        "a.csv",
        COLOGNE.encode(),
        {"encoding": "ascii"},
        "is not ascii text: pass",
    ),
    "half of UTF-16": ("a.csv", COLOGNE.encode("utf-16")[:-1], {}, "is not utf-16 text: pass"),
    "transposed text": (
        "a.csv",
        b"g,s,t\nx,1,u\ny,3,5\n",
        {"transpose": True},
        "'u' in column 't'",
    ),
    "a sheet of text": ("a.csv", b"a,b\n1,2\n", {"sheet": "one"}, "--sheet is for .xlsx files"),
    "text as Excel": ("a.xlsx", b"a,b\n1,2\n", {}, "is no .xlsx file: if it is text"),
    "old Excel": ("a.xls", b"\xd0\xcf\x11\xe0", {}, "files ending in .xls are not read"),
    "sep line alone": ("a.csv", b"sep=;\n", {}, "a.csv is empty"),
    "no parquet": ("a.parquet", b"PAR1xx", {}, "cannot be read as parquet"),
}


@pytest.mark.parametrize("case", TOLD_WRONG)
def test_what_does_not_fit_is_said(tmp_path, case):
    name, content, told, sentence = TOLD_WRONG[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Refusal, match=re.escape(sentence)):
        read(Input(str(tmp_path / name), **told))


# first line and the lines below -> whether it is a header
HEADERS = {
    "text": ("a,b", "1,2", True),
    "text above text": ("name,city", "x,y", True),
    "from zero": ("0,1", "1.5,2.5", True),
    "from zero above whole numbers": ("0,1", "7,8", True),
    "from one": ("1,2", "7,8", True),
    "years": ("2019,2020", "1.5,2.5", True),
    "whole numbers": ("17,20", "18,21", False),
    "fractions": ("1.5,2.5", "3.5,4.5", False),
    "fractions and a class": ("5.1,3.5,setosa", "4.9,3.0,setosa", False),
    "corner": (",0,1", "r,1.5,2.5", True),
}


@pytest.mark.parametrize("case", HEADERS)
def test_what_a_header_is(tmp_path, case):
    first, below, header = HEADERS[case]
    table = read(Input(written(tmp_path, f"{first}\n{below}\n9{below}\n")))
    assert table.found["header"] is header
    assert len(table.ids) == (2 if header else 3)


N = 20
IDS = {
    "row numbers": ([f"{1001 + k}" for k in range(N)], "nr", True),
    "row numbers by another name": ([str(k) for k in range(N)], "count", True),
    "unordered, called so": ([str(7 * k % 997) for k in range(N)], "customer_id", True),
    "unordered, called so in capitals": ([str(7 * k % 997) for k in range(N)], "PassengerId", True),
    "unordered": ([str(7 * k % 997) for k in range(N)], "income", False),
    "texts that differ": ([f"s{k}" for k in range(N)], "name", True),
    "repeated, called so": ([str(k // 2) for k in range(N)], "id", False),
    "without a name": ([str(3 * k) for k in range(N)], "", True),
}


@pytest.mark.parametrize("case", IDS)
def test_identifiers_are_noticed(tmp_path, case):
    values, name, is_id = IDS[case]
    lines = [f"{v},{x},{y}" for v, (x, y) in zip(values, np.random.default_rng(0).random((N, 2)))]
    file = written(tmp_path, "\n".join([f"{name},a,b", *lines]))
    table = read(Input(file))
    assert table.features == (("a", "b") if is_id else (name, "a", "b"))
    assert table.id_column == ((name or "unnamed1") if is_id else None)
    assert table.found["id_column"] == table.id_column
    assert table.ids == (tuple(values) if is_id else tuple(str(k) for k in range(1, N + 1)))
    if name:
        asked = read(Input(file, columns=[f"{name},a"]))
        assert asked.features == (name, "a")  # who asks for a column has it


def test_a_second_identifier_is_left_out_and_named(tmp_path):
    rows = "".join(f"{k},n{k},{k % 7}.5\n" for k in range(N))
    table = read(Input(written(tmp_path, "id,name,a\n" + rows)))
    assert (table.id_column, table.features) == ("id", ("a",))
    assert table.found["left_out"] == ["name"]


def test_row_numbers_alone_are_features(tmp_path):
    table = read(Input(written(tmp_path, "t\n" + "".join(f"{k}\n" for k in range(N)))))
    assert (table.id_column, table.features) == (None, ("t",))


def test_the_header_of_a_wide_file(tmp_path):
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(4, 30_000)))
    wide.to_csv(tmp_path / "w.csv", index=False)  # its first line alone is longer than the sample
    table = read(Input(str(tmp_path / "w.csv")))
    assert table.X.shape == (4, 30_000)
    assert table.found["header"] is True


def test_genes_by_samples(tmp_path):
    genes = FRAME.T.set_axis([f"cell{k}" for k in range(12)], axis=1)
    genes.to_csv(tmp_path / "g.csv", index_label="gene")
    table = read(Input(str(tmp_path / "g.csv"), transpose=True))
    np.testing.assert_array_equal(table.X, X)
    assert table.features == ("a", "b", "c")
    assert table.ids[:2] == ("cell0", "cell1")
    assert table.found["transposed"] is True
    bare = written(tmp_path, "5.5,6\n7,8\n9,1\n")
    np.testing.assert_array_equal(read(Input(bare, transpose=True)).X, [[5.5, 7, 9], [6, 8, 1]])
    twice = written(tmp_path, "gene,s1,s2\nx,1,2\nx,3,5\n")
    with pytest.raises(Refusal, match=r"column 'gene' holds 'x' twice.*--transpose"):
        read(Input(twice, transpose=True))


def test_a_sheet_of_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    file = tmp_path / "book.xlsx"
    mixed = FRAME.assign(kind=["u", "v", "w"] * 4, when=pd.date_range("2024", periods=12))
    mixed.loc[2, "b"] = np.nan
    with pd.ExcelWriter(file) as book:
        mixed.to_excel(book, sheet_name="one", index=False, startrow=2, startcol=1)
        FRAME.to_excel(book, sheet_name="two", index=False)
    table = read(Input(str(file)))
    assert table.features == ("a", "b", "c", "kind", "when")
    assert table.found["sheet"] == "one"
    assert table.found["other_sheets"] == ["two"]
    assert table.found["kinds"]["date"] == ["when"]
    assert table.found["missing"] == {"b": 1}
    np.testing.assert_array_equal(read(Input(str(file), sheet="two")).X, X)
    with pytest.raises(Refusal, match=r"no sheet 'three': --sheet is one of one, two") as caught:
        read(Input(str(file), sheet="three"))
    assert caught.value.code == Exit.USAGE
    sheet = openpyxl.load_workbook(file)
    sheet["two"]["B3"] = "broken"
    sheet.save(file)
    with pytest.raises(Refusal, match=r"column 'b' holds 'broken' in row 3 among numbers"):
        read(Input(str(file), sheet="two"))


def test_excel_on_standard_input(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    FRAME.to_excel(tmp_path / "b.xlsx", index=False)
    stream = io.TextIOWrapper(io.BytesIO((tmp_path / "b.xlsx").read_bytes()))
    monkeypatch.setattr("sys.stdin", stream)
    np.testing.assert_array_equal(read(Input("-")).X, X)


def test_a_text_among_decimal_commas_is_the_one_named(tmp_path):
    file = written(tmp_path, "a;b\n1,5;2,5\n3,5;viel\n4,5;1.000,5\n")
    with pytest.raises(Refusal, match=r"column 'b' holds 'viel' in line 3 among numbers"):
        read(Input(file))
    np.testing.assert_array_equal(read(Input(file, missing=["viel"])).X[:, 0], [1.5, 3.5, 4.5])


def test_lines_are_counted_as_an_editor_does(tmp_path):
    content = '# note\n\nname,a\n"one\ntwo",1\n# more\nthree,oops\nfour,3\n'
    with pytest.raises(Refusal, match=r"column 'a' holds 'oops' in line 7"):
        read(Input(written(tmp_path, content), id_column="name"))


def test_neighbours_fill_numbers_in_their_own_units(tmp_path):
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 20)
    values = np.column_stack([group * 100 + rng.normal(size=40), group + 0.01 * rng.random(40)])
    gone = values.copy()
    gone[[3, 30], 1] = np.nan
    pd.DataFrame(gone, columns=["a", "b"]).to_csv(tmp_path / "d.csv", index=False)
    table = read(Input(str(tmp_path / "d.csv")))
    done = Preparation.of(table, False, "neighbors", False)
    filled = done.apply(table)
    np.testing.assert_allclose(filled[[3, 30], 1], values[[3, 30], 1], atol=0.02)
    seen = ~np.isnan(gone)
    np.testing.assert_array_equal(filled[seen], gone[seen])

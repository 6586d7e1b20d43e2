"""Files appear whole or not at all, and mean what they say."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from convexcluster.cli.refusal import Exit, Refusal
from convexcluster.cli.write import (
    MARK,
    labels_csv,
    newick,
    output_folder,
    to_json,
    tree_json,
    write_file,
)


def fill(target, force=False, content="1"):
    with output_folder(target, force=force) as folder:
        (folder / "summary.json").write_text(json.dumps({"kind": MARK}))
        (folder / "value").write_text(content)


def test_folder_appears_whole(tmp_path):
    fill(tmp_path / "a" / "out")
    assert (tmp_path / "a" / "out" / "value").read_text() == "1"
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["out"]


def test_folder_does_not_appear_after_an_error(tmp_path):
    def fail():
        with output_folder(tmp_path / "out", force=False) as folder:
            (folder / "half").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_an_error_keeps_the_earlier_result(tmp_path):
    fill(tmp_path / "out")
    with pytest.raises(ZeroDivisionError), output_folder(tmp_path / "out", force=True):
        raise ZeroDivisionError
    assert (tmp_path / "out" / "value").read_text() == "1"
    assert len(list(tmp_path.iterdir())) == 1


def test_force_replaces_only_our_folders(tmp_path):
    fill(tmp_path / "out")
    with pytest.raises(Refusal, match="pass --force") as caught:
        fill(tmp_path / "out", content="2")
    assert caught.value.code == Exit.OUTPUT
    fill(tmp_path / "out", force=True, content="2")
    assert (tmp_path / "out" / "value").read_text() == "2"
    assert len(list(tmp_path.iterdir())) == 1
    other = tmp_path / "precious"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    with pytest.raises(Refusal, match="was not written by convexcluster"):
        fill(other, force=True)
    assert (other / "thesis.tex").exists()


def test_an_empty_folder_may_be_filled(tmp_path):
    (tmp_path / "out").mkdir()
    fill(tmp_path / "out")
    assert (tmp_path / "out" / "value").exists()


def test_one_file(tmp_path):
    write_file(tmp_path / "f", "one", force=False)
    with pytest.raises(Refusal, match="exists"):
        write_file(tmp_path / "f", "two", force=False)
    write_file(tmp_path / "f", "three", force=True)
    assert (tmp_path / "f").read_text() == "three"
    with pytest.raises(Refusal, match="cannot write"):
        write_file(tmp_path / "none" / "f", "x", force=False)
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_hostile_ids_are_text_in_labels_csv():
    ids = ['=HYPERLINK("http://x")', "a,b", 'q"q', "line\nbreak", " +1+1", "\t=1", "-3", "ä"]
    rows = list(csv.reader(io.StringIO(labels_csv(ids, np.arange(len(ids))))))
    assert rows[0] == ["id", "label"]
    assert [r[0] for r in rows[1:]] == [
        "'" + ids[0], "a,b", 'q"q', "line\nbreak", "' +1+1", "'\t=1", "-3", "ä",
    ]  # fmt: skip
    assert [r[1] for r in rows[1:]] == [str(k) for k in range(len(ids))]


def chain(n):
    """Merge k + 1 with everything before it at height k."""
    left = np.concatenate([[0], np.arange(n, 2 * n - 2)])
    return np.column_stack([left, np.arange(1, n), np.arange(1.0, n), np.arange(2, n + 1)])


def test_newick_depths_are_the_top_fusion():
    Z = np.array([[0, 1, 0.5, 2], [2, 3, 1.0, 2], [4, 5, 4.0, 4]])
    assert newick(Z, list("abcd")) == "(('a':0.5,'b':0.5):3.5,('c':1,'d':1):3);"
    assert newick(np.empty((0, 4)), ["only one"]) == "'only one';"


def test_deep_trees_do_not_overflow():
    n = 20_000
    ids = [str(i) for i in range(n)]
    tree = newick(chain(n), ids)
    assert tree.count("(") == tree.count(")") == n - 1
    assert tree.startswith("(" * (n - 1) + "'0':1,'1':1)")
    parsed = json.loads(tree_json(chain(n), ids))
    assert parsed["merges"][-1] == [2 * n - 3, n - 1, float(n - 1), n]
    assert parsed["leaves"] == ids


def test_json_has_no_nan():
    value = {"a": np.float64("nan"), "b": np.arange(2), "c": (np.int64(3), float("inf"))}
    assert json.loads(to_json(value)) == {"a": None, "b": [0, 1], "c": [3, None]}

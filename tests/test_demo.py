"""The paper's synthetic example, as the demo shows it."""

from __future__ import annotations

import csv
import json

import pytest

from convexcluster.cli import main
from convexcluster.reproduce.demo import METHODS, run


def test_the_command_writes_table_and_picture(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        main(["demo", "--out", str(tmp_path / "demo"), "--json"])
    assert left.value.code == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    rows = {row["method"]: row for row in json.loads(captured.out)["rows"]}
    assert list(rows) == list(METHODS)
    ours = rows["kernel convex clustering"]
    assert ours["NMI"] >= 0.999
    assert ours["clusters"] == 5
    assert 0 <= ours["relative_gap"] <= 1e-6
    assert rows["k-means"]["NMI"] < 0.9  # no round clusters make a ring
    assert rows["k-means"]["relative_gap"] is None
    assert (tmp_path / "demo" / "demo.png").read_bytes().startswith(b"\x89PNG")
    table = list(csv.DictReader((tmp_path / "demo" / "demo.csv").open()))
    assert [row["method"] for row in table] == list(METHODS)
    with pytest.raises(SystemExit) as left:
        main(["demo", "--out", str(tmp_path / "demo")])
    assert left.value.code == 4


def test_progress_is_reported():
    heard = []
    run(1, progress=lambda k, name: heard.append((k, name)))
    assert heard == list(enumerate(METHODS))

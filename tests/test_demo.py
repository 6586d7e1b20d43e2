"""The paper's synthetic example, as the demo shows it; what it prints is in test_readme."""

from __future__ import annotations

import csv
import json
import sys

import pytest

from convexcluster.cli import main
from convexcluster.reproduce.demo import METHODS, OURS, draw, run


def test_the_command_writes_table_and_picture(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        main(["demo", "--out", str(tmp_path / "demo"), "--json"])
    assert left.value.code == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    rows = {row["method"]: row for row in found["rows"]}
    assert list(rows) == list(METHODS)
    ours = rows[OURS]
    assert (ours["told"], ours["clusters"]) == ("nothing", 5)
    assert ours["ARI"] >= 0.999
    assert found["proved"].startswith("For every γ from")
    assert rows["KMeans(5)"]["told"] == "k"
    assert rows["KMeans(5)"]["ARI"] < 0.9  # no round clusters make a ring
    assert (tmp_path / "demo" / "demo.png").read_bytes().startswith(b"\x89PNG")
    table = list(csv.DictReader((tmp_path / "demo" / "demo.csv").open()))
    assert [row["method"] for row in table] == list(METHODS)
    with pytest.raises(SystemExit) as left:
        main(["demo", "--out", str(tmp_path / "demo")])
    assert left.value.code == 4


def test_every_method_has_its_defaults():
    for name, (model, told) in METHODS.items():
        given = {"n_clusters"} if told else {"copy"}  # `copy` is said since it will change
        given |= {"affinity"} if "neighbours" in name else set()
        defaults = {k: v for k, v in type(model)().get_params().items() if k not in given}
        assert {k: v for k, v in model.get_params().items() if k not in given} == defaults


def test_progress_is_reported_and_an_answer_without_a_proof_is_drawn(tmp_path):
    heard = []
    demo = run(1, progress=lambda k, name: heard.append((k, name)))
    assert heard == list(enumerate(METHODS))
    object.__setattr__(demo.model.certificate_, "gamma_interval", None)
    draw(demo, tmp_path / "demo.png")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_needs_no_tables(tmp_path, monkeypatch, capsys):
    """pandas and pyarrow are half of what the command brings, and the demo reads no file."""
    for module in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "demo").write_text("in the way")
    with pytest.raises(SystemExit) as left:
        main(["demo", "--out", str(tmp_path / "demo")])
    assert left.value.code == 4, capsys.readouterr().err

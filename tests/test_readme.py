"""README.md shows what programs print: the demo, the lines of Python, the table's shape."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn
from benchmarks import readme
from benchmarks.quality import front
from benchmarks.quality.front import DRAWN, MEASURED, METHODS, Figures, Row, limited
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.fixes import parse_version

from convexcluster.datasets import make_rings

TEXT = readme.README.read_text("utf-8")
# A number of seconds, which may be another tomorrow, ends its line of the table.
SECONDS = re.compile(r"[\d.]+ │$", re.MULTILINE)


def shown(text):
    """Output without its seconds."""
    return SECONDS.sub("s │", re.sub(" +", " ", text.strip()))


def printed(name):
    """What README.md says that a program prints."""
    return re.fullmatch("```text\n(.*)```\n", readme.block(name, TEXT), re.DOTALL)[1]


def by_this_scikit_learn(text):
    """The demo's table; its spectral clustering of neighbours is 1 since scikit-learn 1.9.

    Before, the embedding of a graph in parts came from a factored singular matrix: expected is what
    the installed version itself makes of the data.
    """
    if parse_version(sklearn.__version__) >= parse_version("1.9"):
        return text
    X, y = make_rings(random_state=0)
    rival = SpectralClustering(5, affinity="nearest_neighbors", random_state=0)
    found = round(float(adjusted_rand_score(y, rival.fit_predict(X))), 3)
    row = "│ … of nearest neighbours │ k │ 5 │ "
    assert f"{row}1 │" in text
    return text.replace(f"{row}1 │", f"{row}{found:g} │")


def test_the_demo_prints_what_the_readme_shows(tmp_path):
    assert shown(readme.demo(tmp_path)) == by_this_scikit_learn(shown(printed("demo")))
    found = json.loads((tmp_path / "demo" / "summary.json").read_text("utf-8"))
    assert found["proved"] in TEXT
    picture = (tmp_path / "demo" / "demo.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 200_000
    assert readme.PICTURE.read_bytes().startswith(b"\x89PNG")


def test_seconds_alone_are_not_compared():
    assert shown("│ a │ 0.5 │ 0.013 │") == shown("│ a │ 0.5 │ 12.4 │")
    assert shown("│ a │ 0.5 │ 0.013 │") != shown("│ a │ 0.6 │ 0.013 │")


def test_the_lines_of_python_print_what_the_readme_shows():
    assert readme.lesson(TEXT) == printed("lesson")
    code = re.search("```python\n(.*?)```", TEXT, re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line]) == 6


def test_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert targets
    for target in targets:
        assert (readme.ROOT / target).exists(), target


def test_the_table_has_every_set_and_every_method():
    table = readme.block("comparison", TEXT)
    for name in (*DRAWN, *MEASURED):
        assert re.search(rf"^\| {name} \(\d+\) \|", table, re.MULTILINE), name
    head = next(line for line in table.splitlines() if line.startswith("| set"))
    assert head.strip("| ").split(" | ")[1:] == [front.heading(key) for key in METHODS]


def test_a_block_is_replaced_and_nothing_else(tmp_path, monkeypatch):
    page = tmp_path / "README.md"
    page.write_text("a\n<!-- x -->\nold\n<!-- /x -->\nold\n<!-- y -->\nold\n<!-- /y -->\n", "utf-8")
    monkeypatch.setattr(readme, "README", page)
    readme.rewrite("x", ["new", ""])
    wanted = "a\n<!-- x -->\nnew\n<!-- /x -->\nold\n<!-- y -->\nold\n<!-- /y -->\n"
    assert page.read_text("utf-8") == wanted


def test_sets_are_those_of_the_picture():
    drawn = list(front.sets(["no structure", "varied"], 2))
    assert [name for name, _ in drawn] == ["varied", "varied", "no structure", "no structure"]
    assert not np.array_equal(drawn[0][1][0], drawn[1][1][0])
    for _, (X, _) in drawn:
        assert X.shape == (500, 2)
        np.testing.assert_allclose(X.std(axis=0), 1)
    ((_, (X, _)),) = front.sets(["digits"], 2)
    np.testing.assert_array_equal(X, load_digits().data)


def row(told, method, ari, k, name="blobs"):
    return Row(name, told, method, ari / 2, ari, k, 3, 0.5)


def test_the_table_of_known_figures():
    rows = [row(False, "ours", 0.8, 3), row(False, "ours", 0.6, 2), row(False, "HDBSCAN", 0.4, 3)]
    rows += [row(True, "spectral", 0.0, 0), row(True, "k-means", 0.9, 3)]
    lines = Figures(rows, 2).quality()
    assert lines[0].startswith("| set (classes) | ours | HDBSCAN | spectral, told k | k-means")
    assert lines[2] == "| blobs (3) | **0.70** (1/2) | 0.40 (1/1) | 0.00 (no end) | **0.90** |"
    assert (
        Figures(rows, 2).quality(joined=False)[2].startswith("| blobs (3) | **0.35** (1/2) | 0.20")
    )
    assert Figures(rows, 2).seconds()[2] == "| blobs | 0.5 | 0.5 | no end | 0.5 |"


def test_a_table_without_a_rival_is_not_published(monkeypatch, capsys):
    monkeypatch.setattr(Figures, "missing", lambda self: ["igraph is not installed"])
    monkeypatch.setattr(readme, "README", Path("nowhere"))
    front.publish(Figures([], 2))
    assert "README.md is left as it is: igraph is not installed" in capsys.readouterr().err


def forever():
    while True:
        pass


def test_a_fit_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(front, "LIMIT", 0.05)
    with pytest.raises(front.TooLongError), limited():
        forever()

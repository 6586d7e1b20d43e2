"""What the pages and the examples say is run, not believed."""

from __future__ import annotations

import doctest
import io
import re
import runpy
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from convexcluster.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(p for p in (ROOT / "docs").glob("**/*.md") if "_build" not in p.parts)
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def names(paths):
    return [str(p.relative_to(ROOT)) for p in paths]


def test_there_are_pages_and_examples():
    assert len(PAGES) >= 8
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_snippets_of_a_page(page, request):
    if page.name == "single-cells.md":
        pytest.importorskip("scanpy", reason="scanpy is not installed")
        pytest.importorskip("leidenalg", reason="leidenalg is not installed")
        request.getfixturevalue("data_dir")  # skips without the data
    text = re.sub(r"^```.*$", "", page.read_text("utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_of_a_page(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_commands_of_the_guide(tmp_path, monkeypatch, capsys):
    """Every line after ``$`` runs, in order, beside a table of flowers."""
    data = load_iris(as_frame=True)
    frame = data.data.rename(columns=lambda c: c.removesuffix(" (cm)"))
    frame.insert(0, "flower", [f"f{i}" for i in range(len(frame))])
    frame["species"] = data.target_names[data.target]
    frame[::2].to_csv(tmp_path / "flowers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "guide" / "command-line.md").read_text("utf-8")
    commands = re.findall(r"^\$ (.+)$", page, flags=re.MULTILINE)
    assert len(commands) >= 5
    for line in commands:
        piped = re.match(r"cat (\S+) \| ", line)
        if piped:
            content = (tmp_path / piped[1]).read_bytes()
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        words = shlex.split(line[piped.end() :] if piped else line)
        assert words[0] == "convexcluster"
        with pytest.raises(SystemExit) as left:
            main(words[1:])
        assert left.value.code == 0, f"{line}: {capsys.readouterr().err}"
    assert (tmp_path / "new-labels.csv").exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=names(EXAMPLES))
def test_example_runs(example, request):
    """The gallery draws with a backend that opens no window."""
    if "gene" in example.name:
        request.getfixturevalue("data_dir")  # skips without the data
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    try:
        runpy.run_path(str(example))
        assert plt.get_fignums()
    finally:
        plt.close("all")

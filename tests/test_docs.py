"""What the pages and the examples say is run, not believed."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

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
def test_snippets_of_a_page(page):
    text = re.sub(r"^```.*$", "", page.read_text("utf-8"), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_of_a_page(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_commands_of_the_guide(tmp_path):
    """Every line after ``$`` runs in a shell, in order, beside a table of flowers."""
    data = load_iris(as_frame=True)
    frame = data.data.rename(columns=lambda c: c.removesuffix(" (cm)"))
    frame.insert(0, "flower", [f"f{i}" for i in range(len(frame))])
    frame["species"] = data.target_names[data.target]
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    page = (ROOT / "docs" / "guide" / "command-line.md").read_text("utf-8")
    commands = re.findall(r"^\$ (.+)$", page, flags=re.MULTILINE)
    assert len(commands) >= 5
    command = f"{sys.executable} -m convexcluster"
    script = "\n".join(["set -e", *(c.replace("convexcluster", command, 1) for c in commands)])
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new-labels.csv").exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=names(EXAMPLES))
def test_example_runs(example, monkeypatch, request):
    """The gallery draws with a backend that opens no window."""
    if "gene" in example.name:
        monkeypatch.setenv("CONVEXCLUSTER_DATA", str(request.getfixturevalue("data_dir")))
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    try:
        runpy.run_path(str(example))
        assert plt.get_fignums()
    finally:
        plt.close("all")

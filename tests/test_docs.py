"""What the pages and the examples say is run, not believed."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import io
import re
import runpy
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles, make_moons

import convexcluster
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
def test_snippets_of_a_page(page):
    if page.name == "single-cells.md":
        pytest.importorskip("scanpy", reason="scanpy is not installed")
        pytest.importorskip("leidenalg", reason="leidenalg is not installed")
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


def clarity(n):
    """Rows of the printed table: a height over the next, both a quarter at least."""
    frame = n["model"].selection_.to_frame().head(6)
    heights = np.maximum(frame["height"].to_numpy(), 0.25)
    np.testing.assert_allclose(frame["clarity"][1:-1], heights[1:-1] / heights[2:])
    return frame["clarity"].argmax() == 3


def purity(n):
    digits = [n["y"][n["model"].labels_ == label] for label in range(10)]
    return sum(np.bincount(found).max() >= 0.9 * len(found) for found in digits) > 5


def pieces(n):
    """Clusters of k-means that hold parts of the ring."""
    ring = n["y"] == np.bincount(n["y"]).argmax()
    return len(set(KMeans(5, n_init=10, random_state=0).fit_predict(n["X"])[ring]))


def families(n):
    words = [set(family.split()) for family in n["FAMILIES"]]
    found = [{w for w, at in zip(n["WORDS"], n["model"].labels_) if at == t} for t in range(4)]
    return sorted(map(sorted, words)) == sorted(map(sorted, found))


def placed(n):
    """ "stationing" is with "station", and so on."""
    stems = ("station", "flower", "thunder", "board")
    labels = n["model"].predict(n["spectrum_kernel"](n["new"], n["WORDS"]))
    return labels.tolist() == [n["model"].labels_[n["WORDS"].index(stem)] for stem in stems]


# Example → words of its text, and whether what it computed (its names, what it printed) is so.
SAYS = {
    "plot_choosing_gamma": [
        ("Four clusters are the clearest", lambda n, out: clarity(n)),
        ("number of clusters and the relative duality gap", lambda n, out: "n_clusters" in out),
        ("how sure the answer is", lambda n, out: n["model"].path_.certified.all()),
        (
            "the two pairs of groups are clusters as well",
            lambda n, out: [x.n_clusters for x in n["model"].selection_.layers] == [4, 2],
        ),
    ],
    "plot_comparison": [
        ("Five shapes", lambda n, out: len(n["DATA"]) == 5),
        ("three methods", lambda n, out: len({m.partition(",")[0] for m in n["METHODS"]}) == 3),
        (
            "there nobody finds them",
            lambda n, out: max(map(float, re.findall(r"noisy moons.*NMI ([\d.]+)", out))) < 0.8,
        ),
    ],
    "plot_digits": [
        ("600 scanned digits of 8 × 8", lambda n, out: n["X"].shape == (600, 64)),
        ("which the estimator never sees", lambda n, out: "fit(X)" in n["__text__"]),
        ("nine of ten images or more are of one digit", lambda n, out: purity(n)),
    ],
    "plot_gene_expression": [
        ("96 tissue samples, 4,026 genes", lambda n, out: "96 samples × 4026 genes" in out),
        ("nine kinds", lambda n, out: len(set(n["y"])) == 9),
    ],
    "plot_looking": [  # asserts the rest itself
        ("178 wines by thirteen chemical", lambda n, out: n["X"].shape == (178, 13)),
    ],
    "plot_rings": [
        (
            "four blobs of 50 samples inside a ring of 200",
            lambda n, out: sorted(np.bincount(n["y"])) == [50, 50, 50, 50, 200],
        ),
        (
            "methods that look for compact clusters cut it to pieces",
            lambda n, out: pieces(n) > 1,
        ),
        ("the ring is one cluster like the others", lambda n, out: "NMI 1.0000" in out),
        (
            "number of clusters is all",
            lambda n, out: "KernelConvexClustering(n_clusters=5)" in n["__text__"],
        ),
    ],
    "plot_strings": [
        ("Each cluster is one family of words", lambda n, out: families(n)),
        ("in the family of its stem", lambda n, out: placed(n)),
        (
            "letter triples that they share",
            lambda n, out: n["spectrum_kernel"](["abc"], ["xyz"]) == 0,
        ),
    ],
}


@pytest.mark.parametrize("example", EXAMPLES, ids=names(EXAMPLES))
def test_example_is_as_it_says(example, request, capsys):
    """The gallery runs, with a backend that opens no window, and its words hold."""
    if "gene" in example.name:
        request.getfixturevalue("data_dir")  # skips without the data
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    try:
        found = runpy.run_path(str(example))
        assert plt.get_fignums()
    finally:
        plt.close("all")
    text, printed = example.read_text("utf-8"), capsys.readouterr().out
    prose = " ".join(re.sub(r"^#( %%)?", "", text, flags=re.MULTILINE).split())
    for words, holds in SAYS[example.stem]:
        assert words in prose
        assert holds({**found, "__text__": text}, printed), words


def script(name):
    """A program of docs/ as a module."""
    sys.modules.pop(name, None)
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for their module
    spec.loader.exec_module(module)
    return module


def test_the_page_of_parameters_is_that_of_the_code():
    page = script("parameters").page()
    assert page == (ROOT / "docs" / "parameters.md").read_text("utf-8"), (
        "python docs/parameters.py writes it"
    )
    for name in ("KernelConvexClustering", "ConvexClustering"):
        for parameter in inspect.signature(getattr(convexcluster, name)).parameters:
            assert f"### {parameter}\n" in page


def test_the_five_pictures_are_as_their_page_says():
    page, facts = (ROOT / "docs" / "how-it-works.md").read_text("utf-8"), script("pictures").facts()
    assert f"the {facts['edges']} edges" in page
    assert f"{facts['first']} samples are {facts['first']} clusters" in page
    assert "Here three clusters last longest" in page
    assert facts["lasts longest"] == 3
    assert facts["circles right, plain and kernel"] == [False, True]
    assert f"{facts['chosen']} clusters (" in page
    assert facts["boundaries that stand"] == 2
    assert facts["proved"]
    assert facts["gap"]
    pictures = [page.count(f"pictures/{k}.png") for k in range(1, 6)]
    assert pictures == [1] * 5


@pytest.mark.slow
def test_strips_of_parameters_are_as_their_page_says():
    choosing = script("choosing")
    page, k = (ROOT / "docs" / "choosing.md").read_text("utf-8"), choosing.counts()
    assert sorted(re.findall(r"choosing/(\w+)\.png", page)) == sorted(choosing.STRIPS)
    assert k["n_clusters"] == [2, 4, 6, 9]
    assert k["min_cluster_size"] == [3, 3, 2, 2]
    assert k["feature_weights"][:3] == [6, 2, 3]
    assert k["gamma"] == sorted(k["gamma"], reverse=True)
    assert k["selection"][0] == 4
    assert k["selection"][2] == 2
    assert k["selection"][3] > 4
    assert k["weights"][3] == 1
    rays = np.repeat(np.arange(3), 60)
    right = [len(set(zip(m.labels_, rays))) == 3 for m in choosing.fitted("metric")]
    assert right[3]
    assert not right[1]
    moon = make_moons(200, noise=0.06, random_state=0)[1]
    whole = [len(set(zip(m.labels_, moon))) == 2 for m in choosing.fitted("coarsen")]
    assert whole[:2] == [True, True]
    assert not whole[3]
    circle = make_circles(200, factor=0.4, noise=0.05, random_state=0)[1]
    apart = {
        name: [len(set(zip(m.labels_, circle))) == 2 for m in choosing.fitted(name)]
        for name in ("kernel", "bandwidth")
    }
    assert apart["bandwidth"] == [False, True, True, False]
    assert apart["kernel"][0]
    assert not apart["kernel"][2]


def test_names_of_others_are_linked_to():
    """What pages name of other packages is there, at the address that stands in offline."""
    conf = (ROOT / "docs" / "conf.py").read_text("utf-8")
    homes = re.findall(r'^    "(\w+)": \("https', conf, flags=re.MULTILINE)
    found = set()
    for page in PAGES:
        role = rf"\{{py:(\w+)\}}`~?((?:{'|'.join(homes)})\.[\w.]+)`"
        found |= set(re.findall(role, page.read_text("utf-8")))
    assert len(found) >= 8
    for role, name in sorted(found):
        module, _, last = name.rpartition(".")
        there = getattr(importlib.import_module(module), last)
        assert inspect.isclass(there) == (role == "class"), name


def test_every_test_that_the_reliability_page_names_is_there():
    page = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    guards = page.split("## What was wrong once")[1].split("\n## ")[0]
    rows = [row for row in guards.splitlines() if row.startswith("|")][2:]
    assert len(rows) >= 25
    for row in rows:
        parts = re.findall(r"`(test_\w+)\.py`: ((?:`test_\w+`(?:, )?)+)", row)
        assert parts, f"names no test: {row}"
        for module, named in parts:
            there = (ROOT / "tests" / f"{module}.py").read_text("utf-8")
            for test in re.findall(r"`(\w+)`", named):
                assert f"def {test}(" in there, f"{module}.py has no {test}"
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    for test in set(re.findall(r"`(test_\w+)`", page)):
        assert f"def {test}(" in code, f"there is no {test}"

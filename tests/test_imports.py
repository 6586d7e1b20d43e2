"""Imports point upstream only, load lazily and compile nothing."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "convexcluster"

# The pipeline, upstream first. A module that is not named here may stand anywhere, as long as no
# import closes a circle through it.
ORDER = [
    "storage",
    "problem",
    "loops",
    "partition",
    "numerics",
    "graph",
    "certificate",
    "kernels",
    "embedding",
    "weights",
    "solvers",
    "path",
    "labels",
    "selection",
    "estimators",
    "tuning",
    "persistence",
    "dask",
]
# Import anything above and one another; nothing above may need them.
LAST = ["baselines", "datasets", "plots", "report", "reproduce", "cli", "__main__"]


def unit(path):
    """The module or subpackage of the package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path):
    """Units that a file imports at its top level or inside functions, typing excepted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    package = ["convexcluster", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "convexcluster" and len(parts) > 1:
                yield parts[1]


def needs():
    """Unit -> the units that it imports."""
    units = {unit(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    found = {name: set() for name in units}
    for path in PACKAGE.rglob("*.py"):
        if unit(path) != "__init__":
            found[unit(path)] |= set(imported(path)) & units - {unit(path)}
    return found


def circle(graph):
    """A circle of the directed graph as a sorted list, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_imports_point_upstream():
    graph = needs()
    # every module of the pipeline is taken to need the one before it: an import against the
    # order then closes a circle, also by way of modules that the order does not name
    present = [name for name in ORDER if name in graph]
    assert present[:5] == ["storage", "problem", "loops", "partition", "numerics"]
    for before, after in pairwise(present):
        graph[after].add(before)
    assert circle(graph) == []
    reach = {name: set(graph[name]) for name in graph}
    for _ in graph:
        for name in graph:
            reach[name] |= set().union(*(reach[other] for other in reach[name]), set())
    for name in present:
        assert not reach[name] & set(LAST), f"{name} needs {reach[name] & set(LAST)}"


def test_a_circle_is_seen():
    assert circle({"graph": {"problem"}, "problem": {"extra"}, "extra": {"graph"}})


def test_the_test_sees_a_wrong_import(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "solvers").mkdir()
    wrong = tmp_path / "solvers" / "fast.py"
    wrong.write_text("from ..estimators import ConvexClustering\nfrom . import admm\n")
    assert set(imported(wrong)) == {"estimators", "solvers"}


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_loads_neither_numba_nor_sklearn():
    code = (
        "import sys, convexcluster; "
        "print([m for m in ('numba', 'sklearn', 'scipy', 'pandas') if m in sys.modules])"
    )
    assert run(code) == "[]"


def test_importing_compiled_loops_compiles_nothing():
    modules = [
        "convexcluster." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for folder in ("loops", "numerics", "baselines/loops")
        for path in sorted((PACKAGE / folder).glob("*.py"))
        if path.name != "__init__.py"
    ]
    assert modules
    code = (
        "from importlib import import_module\n"
        "from numba.core.registry import CPUDispatcher\n"
        f"for name in {modules!r}:\n"
        "    for f in vars(import_module(name)).values():\n"
        "        if isinstance(f, CPUDispatcher) and f.signatures:\n"
        "            print(name, f.py_func.__name__)\n"
    )
    assert run(code) == ""

"""Imports point upstream only, load lazily and compile nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "convexcluster"

# Every unit of the package, upstream first: an import points to a unit that stands before.
ORDER = [
    "storage",
    "problem",
    "optional",
    "loops",
    "partition",
    "numerics",
    "graph",
    "certificate",
    "solvers",
    "path",
    "kernels",
    "embedding",
    "weights",
    "tables",
    "rows",
    "points",
    "labels",
    "answers",
    "selection",
    "settings",
    "stages",
    "fit",
    "estimators",
    "features",
    "tuning",
    "persistence",
    "out_of_core",
    "dask",
    "anndata",
    "datasets",
    "plots",
    "report",
    "baselines",
    "reproduce",
    "cli",
    "__main__",
]
PATH_ORDER = [
    "clusterpath",
    "grid",
    "halves",
    "levels",
    "newton",
    "top",
    "inside",
    "route",
    "mixed",
    "rotate",
    "engine",
    "components",
    "builder",
    "checkpoint",
    "solve",
    "fusion",
    "__init__",
]
# A fitted model saves itself and writes its report: late, inside a method, and known by name.
LATE = {("estimators", "persistence"), ("estimators", "report")}


def unit(path, package):
    """The module or subpackage of ``package`` that a file belongs to."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def names(node, package):
    """Dotted names that a statement or a call imports; ``package`` are the parts of its home."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        home = package[: len(package) - node.level + 1] if node.level else []
        stem = ".".join([*home, *([node.module] if node.module else [])])
        return [f"{stem}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
        target = node.args[0]
        if isinstance(target, ast.Constant) and target.value.startswith("."):
            level = len(target.value) - len(target.value.lstrip("."))
            return [".".join([*package[: len(package) - level + 1], target.value.lstrip(".")])]
    return []


def imported(path, package):
    """(unit of ``package``, whether late) for every import of a file, typing excepted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    top = {id(node) for node in tree.body}
    home = ["convexcluster", *path.relative_to(PACKAGE).parts[:-1]]
    root = ["convexcluster", *package.relative_to(PACKAGE).parts]
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        for name in names(node, home):
            parts = name.split(".")
            if parts[: len(root)] == root and len(parts) > len(root):
                yield parts[len(root)], id(node) not in top


def against(order, package, allowed=frozenset()):
    """Imports between units of ``package`` that point downstream."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        own = unit(path, package)
        if own == "__init__" and package == PACKAGE:
            continue  # loads names on first use
        for other, late in imported(path, package):
            later = other in order and order.index(other) > order.index(own)
            if later and not (late and (own, other) in allowed):
                wrong.append((own, other))
    return wrong


@pytest.mark.parametrize(("order", "folder"), [(ORDER, ""), (PATH_ORDER, "path")])
def test_every_unit_has_its_place(order, folder):
    package = PACKAGE / folder
    units = {unit(path, package) for path in package.rglob("*.py")}
    assert units - {"__init__"} == set(order) - {"__init__"}


def test_imports_point_upstream():
    assert against(ORDER, PACKAGE, LATE) == []


def test_imports_inside_the_path_point_upstream():
    assert against(PATH_ORDER, PACKAGE / "path") == []


def test_few_modules_at_the_top():
    assert len(list(PACKAGE.glob("*.py"))) <= 14


@pytest.mark.parametrize(
    "line",
    [
        "from ..estimators import ConvexClustering",
        "import convexcluster.estimators",
        "def late():\n    from .. import estimators",
        'home = import_module("..estimators", __package__)',
    ],
)
def test_the_test_sees_a_wrong_import(tmp_path, monkeypatch, line):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "fast.py").write_text(line + "\nfrom . import admm\n")
    assert ("solvers", "estimators") in against(ORDER, tmp_path)


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

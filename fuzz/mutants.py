"""Small changes of the code, one at a time: do the tests notice? ``python -m fuzz.mutants``.

The tests of the modules are collected and run once, each alone, and the lines that each of them
reaches are kept. For each mutant a child of this warm process is forked, the code of the changed
function is put in the place of the old one, and the tests that reach the changed line run until one
of them fails: those that noticed most of the changes of that function first, then the shortest.

Verdicts are kept in ``fuzz/out`` with the source of the function, and the lines of each test with
all sources, so that a campaign goes on where it ended. ``--again`` tries the survivors anew, after
tests were written for them, and ``--tests`` does so by these alone. A change of a result that no
test notices asks for a test, a change that only costs time does not.
"""

from __future__ import annotations

import os

# The children are forked: threads of OpenMP and of numba would not be in them.
os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import argparse
import ast
import copy
import functools
import gc
import hashlib
import inspect
import json
import resource
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "convexcluster"
KEPT, REACHED = (ROOT / "fuzz" / "out" / f"{name}.jsonl" for name in ("mutants", "reached"))

# The tests of each module, or of each module of a folder: what a developer runs after a change.
FITS = ("proof_fits", "same_answer", "estimators", "units", "coarsen", "aggregates", "links")
FITS += ("choice", "stages", "valleys", "messages", "metric", "selection", "predict")
HEIGHTS = ("gaps", "valleys", "tension", "choice", "selection", "same_answer", "links")
TESTS: dict[str, tuple[str, ...]] = {
    "labels": ("labels", "ward_ties", "selection"),
    "problem": ("problem", "solvers", "oracle", "certificate"),
    "points.vote": ("predict", "large"),
    "estimators.predict": ("predict", "estimators", "units", "views", "large"),
    "certificate": (
        "proof_parts",
        "proof_claims",
        "ranges",
        "certificate",
        "proof",
        "recovery",
        "oracle",
        "properties",
        "proof_fits",
    ),
    "fit": FITS,
    "stages": FITS,
    "weights.landscape": HEIGHTS,
    "weights.gaps": HEIGHTS,
    "weights.valleys": HEIGHTS,
    "selection.tension": HEIGHTS,
    "numerics.boundaries": HEIGHTS,
}

# Processor seconds: of a test that takes part, of all tests of one mutant, and of a mutant that
# does not end, which counts as noticed. Twice as long finds little more and takes twice the time.
LONGEST, BUDGET, PATIENCE = 2.0, 5.0, 60
# Exit code of a child that could not change the code.
NOT_IN_PLACE = 3
# Bytes that a mutant may ask for: an array of the wrong shape ends in a MemoryError.
MEMORY = 8 << 30

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Pow: ast.Mult,
}


def changes(node: ast.AST) -> list[ast.AST]:
    """What one node may be changed into."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        other = copy.deepcopy(node)
        other.ops[0] = COMPARISONS[type(node.ops[0])]()
        return [other]
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        other = copy.deepcopy(node)
        other.op = ARITHMETIC[type(node.op)]()
        return [other]
    if isinstance(node, ast.BoolOp):
        other = copy.deepcopy(node)
        other.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        return [other]
    if isinstance(node, ast.UnaryOp):
        return [copy.deepcopy(node.operand)]
    if isinstance(node, ast.IfExp):
        return [copy.deepcopy(node.body), copy.deepcopy(node.orelse)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | bool):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        return [ast.Constant(value)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return [ast.Pass()]
    return []


@dataclass(frozen=True)
class Mutant:
    """One change of one node; ``state`` is the source of its function, ``lines`` its statement."""

    group: str
    module: str
    name: str
    state: str
    tree: ast.Module
    node: ast.AST
    other: ast.AST
    lines: range

    @property
    def text(self) -> str:
        """Where it is and what is changed."""
        change = f"{ast.unparse(self.node)}  →  {ast.unparse(self.other)}".replace("\n", " ")
        return f"{self.module.replace('.', '/')}.py:{self.lines.start} {change}"

    @property
    def code(self) -> CodeType:
        """The module with the change."""
        put = {id(self.node): ast.copy_location(self.other, self.node)}
        swapped = ast.fix_missing_locations(copy.deepcopy(self.tree, put))
        return compile(swapped, self.module, "exec")

    def rank(self, seed: int) -> bytes:
        """A sample is the least ranks: it stays the same where other functions change."""
        return _digest(f"{seed} {self.name}").encode()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def modules(group: str) -> list[str]:
    """A module, or the modules of a folder and the folder itself."""
    folder = SOURCE.joinpath(*group.split("."))
    return [group, *(f"{group}.{found.name}" for found in iter_modules([str(folder)]))]


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods with their names, not those inside others."""
    for node in tree.body:
        inside = isinstance(node, ast.ClassDef)
        for member in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(member, ast.FunctionDef):
                yield (f"{node.name}.{member.name}" if inside else member.name), member


def mutants(group: str, module: str) -> Iterator[Mutant]:
    """Every change of a module, without docstrings, annotations, messages and defaults."""
    tree = ast.parse(Path(import_module(f"convexcluster.{module}").__file__ or "").read_text())
    for name, function in functions(tree):
        state, index = _digest(ast.unparse(function)), 0
        for node, lines in _nodes(function.body):
            for other in changes(node):
                mutant = f"{module}.{name}#{index}"
                yield Mutant(group, module, mutant, state, tree, node, other, lines)
                index += 1


def _nodes(body: list[ast.stmt]) -> Iterator[tuple[ast.AST, range]]:
    """The nodes of a body, each with the lines of the innermost statement around it."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            continue
        inner = [
            part
            for _, value in ast.iter_fields(statement)
            for part in (value if isinstance(value, list) else [])
            if isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        first = min((getattr(part, "lineno", 1 << 30) for part in inner), default=1 << 30)
        last = max(statement.lineno, min(first - 1, statement.end_lineno or 0))
        lines, left_out = range(statement.lineno, last + 1), {id(part) for part in inner}
        left_out |= {id(getattr(part, "annotation", None)) for part in ast.walk(statement)}
        waiting: list[ast.AST] = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.JoinedStr):
                continue
            yield node, lines
            waiting += [part for part in ast.iter_child_nodes(node) if id(part) not in left_out]
        for part in inner:
            yield from _nodes([part] if isinstance(part, ast.stmt) else part.body)


def put_in_place(module: str, code: CodeType) -> None:
    """Give the functions of the loaded module the code of the changed one."""
    loaded = import_module(f"convexcluster.{module}")
    new = _codes(code)
    for owner in [loaded, *(v for v in vars(loaded).values() if isinstance(v, type))]:
        if owner is not loaded and owner.__module__ != loaded.__name__:
            continue
        for name, value in list(vars(owner).items()):
            function = getattr(value, "fget", getattr(value, "func", value))
            function = getattr(function, "__func__", function)
            function = inspect.unwrap(function) if callable(function) else function
            key = name if owner is loaded else f"{owner.__name__}.{name}"
            if isinstance(function, FunctionType) and key in new:
                function.__code__ = new[key]


def _codes(code: CodeType, prefix: str = "") -> dict[str, CodeType]:
    found: dict[str, CodeType] = {}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found[prefix + constant.co_name] = constant
            if not prefix:
                found |= _codes(constant, f"{constant.co_name}.")
    return found


class Campaign:
    """A plugin of pytest: it runs the tests once, and then each mutant in a child."""

    def __init__(
        self,
        chosen: list[Mutant],
        keep: Callable[[Mutant, str], None],
        seconds: float,
        given: bool,
        budget: float,
    ) -> None:
        self.chosen, self.keep, self.given, self.budget = chosen, keep, given, budget
        self.until = time.monotonic() + seconds
        every = [SOURCE.joinpath(*name.split(".")) for group in TESTS for name in modules(group)]
        files = [
            found for path in every for found in (path.with_suffix(".py"), path / "__init__.py")
        ]
        self.files = {str(file) for file in files if file.exists()}
        self.source = "".join(_digest(Path(file).read_text()) for file in sorted(self.files))
        self.known = {(found["test"], found["state"]): found for found in lines_of(REACHED)}
        self.reached: dict[Any, dict[str, set[int]]] = {}
        self.took: dict[Any, float] = {}
        self.noticed: dict[str, Counter[Any]] = defaultdict(Counter)
        self.caches: list[Any] = []
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test has ended."""
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Once the tests are collected: those of a group are measured before its first mutant."""
        self.caches = caches()
        for group in dict.fromkeys(mutant.group for mutant in self.chosen):
            names = {f"test_{name}" for name in TESTS[group]}
            own = [item for item in session.items if item.path.stem in names or self.given]
            for item in own:
                if item not in self.reached and time.monotonic() < self.until:
                    self.measure(item)
            tests = [item for item in own if item in self.took]
            print(f"{group}: {len(tests)} of {len(own)} tests take part", flush=True)
            for mutant in self.chosen:
                if mutant.group == group and time.monotonic() < self.until:
                    self.keep(mutant, self.verdict(mutant, tests))
        return True

    def measure(self, item: pytest.Item) -> None:
        """How long a test takes, alone with its fixtures, and which lines it reaches."""
        state = _digest(self.source + item.path.read_text())
        found = self.known.get((item.nodeid, state))
        if found is None:
            lines: dict[str, set[int]] = defaultdict(set)
            took = self.trace(item, lines)
            rows = {str(Path(file).relative_to(ROOT)): sorted(at) for file, at in lines.items()}
            found = {"test": item.nodeid, "state": state, "took": took, "lines": rows}
            append(REACHED, found)
        self.reached[item] = {str(ROOT / file): set(at) for file, at in found["lines"].items()}
        if found["took"] is not None and found["took"] <= LONGEST:
            self.took[item] = found["took"]

    def trace(self, item: pytest.Item, lines: dict[str, set[int]]) -> float | None:
        """Run a test and write down its lines; its seconds, or None if it fails by itself."""
        self.failed = False

        def enter(frame: FrameType, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename not in self.files:
                return None
            here = lines[frame.f_code.co_filename]

            def line(frame: FrameType, event: str, argument: Any) -> Any:
                here.add(frame.f_lineno)
                return line

            return line

        begin = time.process_time()
        self.forget()
        threading.settrace(enter)
        sys.settrace(enter)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
        if self.failed:
            print(f"left out, since it fails by itself: {item.nodeid}", flush=True)
        return None if self.failed else round(time.process_time() - begin, 3)

    def forget(self) -> None:
        """What was kept of earlier tests."""
        for cache in self.caches:
            cache.cache_clear()

    def verdict(self, mutant: Mutant, among: list[Any]) -> str:
        """The test that notices a mutant; "ends late", "unreached" or "survived" without one."""
        function = mutant.name.split("#")[0]
        file = import_module(f"convexcluster.{mutant.module}").__file__ or ""
        lines = {item: self.reached[item].get(file, set()) for item in among}
        reached = [item for item in among if not lines[item].isdisjoint(mutant.lines)]
        reached.sort(key=lambda item: (-self.noticed[function][item], self.took[item]))
        tests: list[Any] = []
        for item in reached:
            if sum(self.took[test] for test in tests) < self.budget:
                tests.append(item)
        if not tests:
            return "unreached"
        number = self._in_a_child(mutant, tests)
        if number is None:
            return "survived"
        if number >= len(tests):
            return "ends late"
        self.noticed[function][tests[number]] += 1
        return str(tests[number].nodeid)

    def _in_a_child(self, mutant: Mutant, tests: list[Any]) -> int | None:
        """Number of the test that fails, ``len(tests)`` if the child does not end well."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            self._run(mutant, tests, write)
        os.close(write)
        begin, status = time.monotonic(), None
        while status is None and time.monotonic() - begin < 10 * PATIENCE:
            done, found = os.waitpid(pid, os.WNOHANG)
            status = found if done else None
            time.sleep(0.02)
        if status is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        with os.fdopen(read) as pipe:
            said = pipe.read()
        if status is not None and os.waitstatus_to_exitcode(status) == NOT_IN_PLACE:
            raise RuntimeError(f"{mutant.name} could not be put in place")
        return int(said) if said else None if status == 0 else len(tests)

    def _run(self, mutant: Mutant, tests: list[Any], write: int) -> None:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        self.forget()
        try:
            put_in_place(mutant.module, mutant.code)
        except BaseException:  # nothing was changed: neither noticed nor survived
            os._exit(NOT_IN_PLACE)
        for number, item in enumerate(tests):
            self.failed = False
            following = tests[number + 1] if number + 1 < len(tests) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                os.write(write, str(number).encode())
                os._exit(1)
        os._exit(0)


def caches() -> list[Any]:
    """The functions of tests and of the package that keep what they have returned."""
    kept = [found for found in gc.get_objects() if type(found) is functools._lru_cache_wrapper]
    ours = ("convexcluster", "problems", "test_")
    return [found for found in kept if str(found.__module__).startswith(ours)]


def lines_of(file: Path) -> list[Any]:
    """What a file of JSON lines keeps."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def append(file: Path, found: Any) -> None:
    """Keep one line more."""
    file.parent.mkdir(exist_ok=True)
    with file.open("a") as out:
        print(json.dumps(found, ensure_ascii=False), file=out)


OPEN = ("survived", "unreached")  # verdicts that ask for a test


def main() -> int:
    """Sample, test, print."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", choices=list(TESTS), action="append")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="length of this slice")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of tests of each")
    parser.add_argument("--again", action="store_true", help="try the survivors anew")
    parser.add_argument("--tests", nargs="+", default=[], help="by these alone: paths or node ids")
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT)]
    groups = given.module or list(TESTS)
    every = [m for group in groups for module in modules(group) for m in mutants(group, module)]
    sample = sorted(every, key=lambda mutant: mutant.rank(given.seed))[: given.count]
    kept = {(found["name"], found["state"]): found for found in lines_of(KEPT)}

    def open_yet(mutant: Mutant) -> bool:
        found = kept.get((mutant.name, mutant.state))
        if found is None:
            return not given.tests
        return (given.again or given.tests) and found["verdict"] in OPEN

    def keep(mutant: Mutant, verdict: str) -> None:
        found = {"name": mutant.name, "state": mutant.state, "verdict": verdict}
        before = kept.setdefault((mutant.name, mutant.state), found)
        if verdict in OPEN:
            print(f"{verdict} {mutant.text[:180]}", flush=True)
        if before is found or verdict not in OPEN:
            kept[mutant.name, mutant.state] = found
            append(KEPT, found | {"text": mutant.text})

    print(f"{len(sample)} of {len(every)} changes, seed {given.seed}", flush=True)
    chosen = sorted(filter(open_yet, sample), key=lambda mutant: groups.index(mutant.group))
    if chosen:
        _run_tests(chosen, keep, given)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant in sample:
        if (mutant.name, mutant.state) in kept:
            verdict = kept[mutant.name, mutant.state]["verdict"]
            for group in (mutant.group, "all"):
                counts[group]["tried"] += 1
                counts[group][verdict] += 1
    for group, count in counts.items():
        found = ", ".join(f"{count[kind]} {kind}" for kind in OPEN)
        print(f"{group}: {count['tried']} tried, {found}")
    return 0


def _run_tests(
    chosen: list[Mutant], keep: Callable[[Mutant, str], None], asked: argparse.Namespace
) -> None:
    from hypothesis import Phase, settings

    # The same examples each time, none of which is kept, and no search for a simpler failure.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(
        "mutants", derandomize=True, database=None, deadline=None, phases=phases
    )
    settings.load_profile("mutants")
    every = {f"tests/test_{name}.py" for mutant in chosen for name in TESTS[mutant.group]}
    given = ["-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "-m", "not slow"]
    given += ["-k", "not contract"]  # of scikit-learn: hundreds of fits, none of which is looked at
    campaign = Campaign(chosen, keep, asked.seconds, bool(asked.tests), asked.budget)
    pytest.main([*given, *(asked.tests or sorted(every))], plugins=[campaign])


if __name__ == "__main__":
    sys.exit(main())

"""Small changes of the code, one at a time: do the tests notice? ``python -m fuzz.mutants``.

Everything is imported once; for each mutant a child is forked, the code of the changed function is
put in the place of the old one, and the fast tests of its module run until one of them fails. What
survives is printed with its line: a change of a result that no test notices asks for a test, a
change of a constant that only costs time does not.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import signal
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

ROOT = Path(__file__).parents[1]

# The fast tests of each module: what a developer would run after a change there.
CERTIFICATE = ("tests/test_certificate.py", "tests/test_properties.py")
FITS = (
    *("tests/test_coarsen.py", "tests/test_units.py", "tests/test_estimators.py"),
    *("tests/test_messages.py", "-k", "not contract"),
)
TESTS: dict[str, tuple[str, ...]] = {
    "certificate": CERTIFICATE,
    "certificate.flows": CERTIFICATE,
    "certificate.gap": CERTIFICATE,
    "certificate.pairs": CERTIFICATE,
    "certificate.partition": CERTIFICATE,
    "certificate.reduced": CERTIFICATE,
    "certificate.rounding": CERTIFICATE,
    "labels": ("tests/test_labels.py", "tests/test_ward_ties.py"),
    "problem": ("tests/test_solvers.py", "tests/test_certificate.py"),
    "fit": FITS,
    "stages.choice": ("tests/test_same_answer.py", *FITS),
    "stages.error": FITS,
    "stages.path": FITS,
    "stages.penalty": FITS,
    "stages.points": FITS,
    "stages.proof": ("tests/test_proof_fits.py", *FITS),
    "points.vote": ("tests/test_predict.py", "-k", "not held_out and not dask"),
}

# Seconds after which a mutant counts as noticed: it does not end.
PATIENCE = 240

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


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Functions and methods, not those inside others."""
    found = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        found += [member for member in members if isinstance(member, ast.FunctionDef)]
    return found


class Mutant:
    """One change: its module, where it is, and the changed source."""

    def __init__(self, module: str, tree: ast.Module, node: ast.AST, other: ast.AST) -> None:
        self.module, self.line = module, getattr(node, "lineno", 0)
        self.text = f"{ast.unparse(node)}  →  {ast.unparse(other)}".replace("\n", " ")
        swapped = copy.deepcopy(tree, {id(node): ast.copy_location(other, node)})
        self.code = compile(ast.fix_missing_locations(swapped), module, "exec")


def sites(module: str) -> list[tuple[str, ast.Module, ast.AST, ast.AST]]:
    """Every change of a module, without docstrings, annotations, messages and defaults."""
    file = Path(import_module(f"convexcluster.{module}").__file__)  # type: ignore[arg-type]
    tree = ast.parse(file.read_text())
    found = []
    for function in functions(tree):
        if any("property" in ast.unparse(d) for d in function.decorator_list):
            continue
        raised = [node for node in ast.walk(function) if isinstance(node, ast.Raise)]
        left_out = {id(part) for node in raised for part in ast.walk(node)}
        for statement in function.body:
            for node in ast.walk(statement):
                if id(node) in left_out or isinstance(node, ast.JoinedStr):
                    continue
                found += [(module, tree, node, other) for other in changes(node)]
    return found


def put_in_place(module: str, code: CodeType) -> None:
    """Give the functions of the loaded module the code of the changed one."""
    loaded = import_module(f"convexcluster.{module}")
    new = _codes(code)
    for owner in [loaded, *(v for v in vars(loaded).values() if isinstance(v, type))]:
        if owner is not loaded and owner.__module__ != loaded.__name__:
            continue
        for name, value in list(vars(owner).items()):
            function = getattr(value, "__func__", value)
            function = getattr(function, "__wrapped__", function)
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


def verdict(mutant: Mutant) -> str:
    """Fork, change, test: "noticed" or "survived"."""
    pid = os.fork()
    if pid == 0:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        os._exit(_tested(mutant))
    begin = time.monotonic()
    while time.monotonic() - begin < PATIENCE:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return "survived" if status == 0 else "noticed"
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "noticed"


def _tested(mutant: Mutant) -> int:
    import pytest

    put_in_place(mutant.module, mutant.code)
    given = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    return int(pytest.main([*given, *TESTS[mutant.module]]))


def main() -> int:
    """Sample, test, print."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", choices=list(TESTS), action="append")
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT)]
    every: list[Any] = [site for module in given.module or TESTS for site in sites(module)]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    print(f"{len(chosen)} of {len(every)} changes, seed {given.seed}", flush=True)
    counts: dict[str, Counter[str]] = {}
    for module, tree, node, other in chosen:
        mutant = Mutant(module, tree, node, other)
        found = verdict(mutant)
        counts.setdefault(module.split(".")[0], Counter())[found] += 1
        if found == "survived":
            place = f"{module.replace('.', '/')}:{mutant.line}"
            print(f"survived {place}: {mutant.text[:150]}", flush=True)
    for module, count in sorted(counts.items()):
        print(f"{module}: {count.total()} tried, {count['survived']} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())

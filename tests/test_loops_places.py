"""Compiled loops give the same bits wherever their arrays lie: a path is then one path."""

from __future__ import annotations

import ast
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import convexcluster
from convexcluster.loops import clusters, edges, newton, routing, sweeps
from convexcluster.numerics import multigrid

SOURCE = Path(convexcluster.__file__).parent
EDGES, NODES = 3, 4
TAIL, HEAD = np.array([0, 1, 0]), np.array([1, 2, 3])
PART = np.arange(EDGES)
LABELS = np.array([0, 0, 1, 1])
ROWS = {"start": np.array([0, 1, 3, 4]), "stop": np.array([1, 3, 4, 5])}
COL, VAL = np.array([1, 0, 2, 1, 0]), np.full(5, 0.3, np.float32)


def given(r, kind):
    """Arrays of a small graph by name."""
    rng = np.random.default_rng(r)
    shapes = {"A": NODES, "B": NODES, "C": NODES, "G": NODES, "Lam": EDGES, "T": EDGES, "P": EDGES}
    return {name: rng.normal(size=(n, r)).astype(kind) for name, n in shapes.items()}


def real(value, kind, size=EDGES):
    return np.full(size, value, kind)


# name → (precision, what it does to the arrays; what it returns counts as well)
LOOPS = {
    "sweep": (
        np.float32,
        lambda a, f: sweeps.sweep(
            *(TAIL, HEAD, real(0.9, f), real(1.0, f, NODES), a["A"], a["Lam"], PART, 3, f(0.5))
        ),
    ),
    "sweep in double": (
        np.float64,
        lambda a, f: sweeps.sweep(
            *(TAIL, HEAD, real(0.9, f), real(1.0, f, NODES), a["A"], a["Lam"], PART, 3, f(0.5))
        ),
    ),
    "momentum": (
        np.float32,
        lambda a, f: sweeps.momentum(
            *(TAIL, HEAD, real(2.0, f), real(1.0, f, NODES), a["A"], a["Lam"], a["T"], PART, f(0.4))
        ),
    ),
    "set_points": (
        np.float64,
        lambda a, f: sweeps.set_points(
            *(TAIL, HEAD, a["B"], real(0.7, f, NODES), a["Lam"], a["A"], PART, 0, NODES)
        ),
    ),
    "dual_loss": (np.float32, lambda a, f: sweeps.dual_loss(real(0.3, np.float64, NODES), a["A"])),
    "clip_into": (np.float64, lambda a, f: sweeps.clip_into(a["T"], real(0.9, f), a["Lam"])),
    "add_pulls": (
        np.float64,
        lambda a, f: newton.add_pulls(
            *(TAIL, HEAD, real(0.9, f), a["A"], np.empty(a["T"].shape, np.float32)),
            *(np.empty(EDGES, np.float32), a["G"], PART),
        ),
    ),
    "full_pulls": (
        np.float64,
        lambda a, f: newton.full_pulls(TAIL, HEAD, real(0.9, f), a["A"], a["Lam"]),
    ),
    "bend": (
        np.float32,
        lambda a, f: newton.bend(TAIL, HEAD, a["T"], real(0.8, f), a["A"], a["G"], PART),
    ),
    "residuals": (
        np.float64,
        lambda a, f: routing.residuals(real(0.3, f, NODES), a["A"], LABELS, a["C"][:2]),
    ),
    "push": (
        np.float64,
        lambda a, f: routing.push(
            *(TAIL, HEAD, real(0.9, f), real(0.7, f, NODES), real(0.4, f)),
            *(a["B"], a["Lam"], a["A"]),
        ),
    ),
    "best_steps": (
        np.float64,
        lambda a, f: routing.best_steps(real(0.3, f, NODES), a["A"], a["B"], LABELS, a["C"][:2]),
    ),
    "changes": (
        np.float64,
        lambda a, f: routing.changes(TAIL, HEAD, a["Lam"], a["T"], a["A"], PART),
    ),
    "shortenings": (
        np.float64,
        lambda a, f: routing.shortenings(a["T"], real(0.9, f), np.arange(EDGES)),
    ),
    "stretch": (
        np.float64,
        lambda a, f: routing.stretch(
            TAIL, real(0.9, f), a["Lam"], a["T"], PART, LABELS, real(0.37, f, 2)
        ),
    ),
    "gap_parts": (
        np.float64,
        lambda a, f: clusters.gap_parts(
            *(TAIL, HEAD, real(0.9, f), real(0.3, f, NODES), a["A"], a["Lam"], LABELS, a["C"][:2])
        ),
    ),
    "cluster_means": (
        np.float32,
        lambda a, f: clusters.cluster_means(real(0.3, np.float64, NODES), a["A"], LABELS, 2),
    ),
    "residual": (
        np.float64,
        lambda a, f: edges.residual(
            *(TAIL, HEAD, real(0.9, f), real(0.4, f), real(1.3, f, NODES), a["B"], a["Lam"]),
            *(a["A"], a["T"], a["P"], real(1.0, f), a["G"]),
        ),
    ),
    "hessian": (
        np.float64,
        lambda a, f: edges.hessian(
            TAIL, HEAD, real(0.4, f), real(1.3, f, NODES), a["T"], real(0.6, f), a["A"], a["G"]
        ),
    ),
    "relax": (
        np.float32,
        lambda a, f: multigrid._relax(
            *ROWS.values(), COL, VAL, real(1.3, f, NODES), a["B"], a["A"], True
        ),
    ),
    "add_product": (
        np.float32,
        lambda a, f: multigrid._add_product(*ROWS.values(), COL, VAL, a["B"], a["A"]),
    ),
}


def placed(arrays, order, gap):
    """The arrays in one block of memory in that order, ``gap`` bytes between them."""
    block = np.zeros(sum(a.nbytes + gap for a in arrays.values()) + 64, np.uint8)
    at, found = -block.ctypes.data % 64, {}
    for name in order:
        a = arrays[name]
        found[name] = block[at : at + a.nbytes].view(a.dtype).reshape(a.shape)
        found[name][:] = a
        at += a.nbytes + gap
    return found


def outcome(loop, kind, arrays):
    returned = np.asarray(loop(arrays, kind), dtype=np.float64)
    return [returned.tobytes(), *(arrays[name].tobytes() for name in sorted(arrays))]


@pytest.mark.parametrize("r", [3, 9, 24, 30])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_does_not_see_where_its_arrays_lie(name, r):
    kind, loop = LOOPS[name]
    arrays = given(r, kind)
    # the arrays that a loop changes or reads beside others: each pair as neighbours, both ways
    orders = [[*pair, *(set(arrays) - set(pair))] for pair in permutations(arrays, 2)]
    apart = outcome(loop, kind, placed(arrays, arrays, 4096))
    for order in orders:
        for gap in (0, 16, 64, 128):
            assert outcome(loop, kind, placed(arrays, order, gap)) == apart


def sums_and_stores(loop):
    """Whether an innermost loop both carries a sum from turn to turn and writes to an array."""
    nodes = list(ast.walk(loop))
    if any(isinstance(node, ast.For) for node in nodes[1:]):
        return False
    written = [n for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store)]
    added = {n.target.id for n in nodes if isinstance(n, ast.AugAssign) and hasattr(n.target, "id")}
    fresh = {
        name.id
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    return bool(added - fresh) and any(isinstance(n, ast.Subscript) for n in written)


def test_no_loop_whose_sums_may_be_reordered_also_stores():
    """The scratch arrays of a loop lie where malloc puts them, which no test can arrange."""
    seen = 0
    for file in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            if not any("fastmath" in ast.unparse(d) for d in function.decorator_list):
                continue
            loops = [node for node in ast.walk(function) if isinstance(node, ast.For)]
            guilty = [loop.lineno for loop in loops if sums_and_stores(loop)]
            assert not guilty, f"{file.name}: {function.name}, lines {guilty}"
            seen += 1
    assert seen >= 20

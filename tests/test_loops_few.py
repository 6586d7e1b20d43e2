"""Loops of few steps run as Python, longer ones compiled: both give the same numbers."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import pytest
from sklearn.datasets import make_moons

import convexcluster
from convexcluster import KernelConvexClustering
from convexcluster.loops import compile as compiling

LOOPS = Path(convexcluster.__file__).parent / "loops"
CALLERS = {
    file.stem: set(re.findall(r"\brun\((_\w+),", file.read_text()))
    for file in LOOPS.glob("*.py")
    if file.stem != "compile"
}
EVERY = {(module, loop) for module, loops in CALLERS.items() for loop in loops}


def compare(monkeypatch):
    """From now on each loop runs in both forms; which did is returned."""
    seen = set()

    def both(loop, steps, *given, out=1):
        copies = [value.copy() if isinstance(value, np.ndarray) else value for value in given]
        compiled = loop(*copies)
        found = compiling.as_python(loop, *given, out=out)
        assert found == compiled
        for mine, other in zip(given[-out:], copies[-out:]):
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)
        seen.add((loop.__module__.rpartition(".")[2], loop.__name__))
        return found

    for module, loops in CALLERS.items():
        if loops:
            monkeypatch.setattr(import_module(f"convexcluster.loops.{module}"), "run", both)
    return seen


def test_every_loop_is_the_same_as_python_and_compiled(monkeypatch):
    seen = compare(monkeypatch)
    assert len(EVERY) == 10
    rng = np.random.default_rng(0)
    for X in (make_moons(120, noise=0.1, random_state=0)[0], rng.normal(size=(90, 5))):
        KernelConvexClustering().fit(X)
        KernelConvexClustering(3).fit(np.round(X, 1))  # ties, and rows that are equal
    # bridges join parts of a graph that never meet, which these rows do not have
    assert seen >= EVERY - {("valleys", "_bridge")}


@pytest.mark.parametrize(("steps", "compiled"), [(compiling.FEW, False), (compiling.FEW + 1, True)])
def test_a_loop_is_compiled_from_so_many_steps_on(monkeypatch, steps, compiled):
    @numba.njit
    def double(a, total, out):
        for i in range(len(a)):
            out[i] = 2.0 * a[i]
            total[0] += a[i]
        return len(a)

    a, total, out = np.arange(4.0), np.zeros(1), np.zeros(4)
    assert compiling.run(double, steps, a, total, out, out=2) == 4
    np.testing.assert_array_equal(out, [0.0, 2.0, 4.0, 6.0])
    np.testing.assert_array_equal(total, [6.0])
    np.testing.assert_array_equal(a, np.arange(4.0))
    assert bool(double.signatures) == compiled
    if compiled:  # from then on it is called for few steps too
        calls = len(double.signatures)
        monkeypatch.setattr(compiling, "as_python", None)
        assert compiling.run(double, 1, a, total, out, out=2) == 4
        assert len(double.signatures) == calls

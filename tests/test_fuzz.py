"""The oracle against closed forms, and a fixed slice of the campaign (two minutes, slow)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("flint", reason="the oracle needs python-flint")

from fuzz.__main__ import SLICE, run
from fuzz.oldest import oldest
from fuzz.oracle import optimum
from fuzz.solving import problem_of

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.9, 2.0, 7.0])
def test_the_oracle_knows_two_points(gamma):
    """They move γ towards each other until they meet."""
    found = optimum(np.array([[0.0], [4.0]]), np.array([[0, 1]]), np.array([gamma]), np.ones(2))
    exact = np.array([[min(gamma, 2.0)], [max(4.0 - gamma, 2.0)]])
    assert found.radius <= 1e-20
    assert found.distance(exact, np.ones(2)) <= found.radius


def test_the_oracle_knows_two_points_with_masses():
    """The lighter one moves further, and both end at their mean."""
    masses = np.array([1.0, 3.0])
    found = optimum(np.array([[0.0], [4.0]]), np.array([[0, 1]]), np.array([1.5]), masses)
    assert found.distance(np.array([[1.5], [3.5]]), masses) <= 1e-20
    joined = optimum(np.array([[0.0], [4.0]]), np.array([[0, 1]]), np.array([9.0]), masses)
    assert joined.distance(np.full((2, 1), 3.0), masses) <= 1e-20


def test_the_oracle_proves_its_radius():
    """A point that is off by ε has a radius of at least ε: the gap is taken, not believed."""
    for seed in range(12):
        problem = problem_of(np.random.default_rng(seed))
        given = problem.Z, problem.edges, problem.c, problem.masses
        found, size = optimum(*given), np.sqrt(2 * problem.scale)
        assert found.radius <= 1e-18 * size
        # the optimality conditions in double precision, from the optimum: F rises around it
        F = problem.objective(found.A)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            near = found.A + 1e-3 * size * rng.normal(size=found.A.shape)
            assert problem.objective(near) >= F - 1e-12 * max(F, problem.scale)


def test_the_oracle_takes_more_digits_where_fusion_only_just_happens():
    """γ is the least that fuses a chain: with 400 bits alone the radius was twice the data."""
    problem = problem_of(np.random.default_rng([106, 3]))
    found = optimum(problem.Z, problem.edges, problem.c, problem.masses)
    assert found.radius <= 1e-18 * np.sqrt(2 * problem.scale)


def test_a_broken_promise_is_a_command_that_repeats_it(monkeypatch, capsys):
    def case(rng):
        if rng.integers(3) == 0:
            raise AssertionError("two\nlines")
        return {"answers": 1}

    monkeypatch.setattr("fuzz.__main__.campaign", lambda name: case)
    counts, failures = run("solving", 5, 30, 0.0)
    lines = capsys.readouterr().out.splitlines()
    assert counts["cases"] == 30
    assert failures == len(lines) == 30 - counts["answers"] > 0
    assert lines[0].startswith("FAILED python -m fuzz solving --seed 5 --case ")
    assert lines[0].endswith("# AssertionError: two lines")


def test_floors_become_versions():
    assert oldest("numpy>=1.26") == "numpy==1.26.0"
    assert oldest("scipy>=1.13.1") == "scipy==1.13.1"
    assert oldest("dask[array,dataframe]>=2024.5") == "dask[array,dataframe]==2024.5.0"
    assert oldest("convexcluster[cli,plot]") is None
    with pytest.raises(ValueError, match="NAME>=VERSION"):
        oldest("numpy~=1.26")


@pytest.mark.slow
@pytest.mark.parametrize("name", SLICE)
def test_a_fixed_slice_of_the_campaign_breaks_nothing(name):
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", name, "--slice", "--seed", "0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": "src"},
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["cases"] == SLICE[name]

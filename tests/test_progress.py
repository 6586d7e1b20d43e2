"""What a bar says of the time that is left."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from convexcluster import KernelConvexClustering, Problem
from convexcluster.numerics.progress import STAGES, Progress, reports, seconds
from convexcluster.out_of_core import fit_large
from convexcluster.solvers import solve_problem

# Seconds that stages of default fits took (`python -m benchmarks.progress`), of n rows and d
# features; "seldom" stages count once they begin.
TOOK = {
    "moons 10,000": (10_000, 2, {"rows": 0.05, "valleys": 0.09, "path": 0.21, "proof": 0.11}),
    "rings 10,000": (10_000, 2, {"rows": 0.05, "valleys": 0.08, "path": 0.15, "proof": 0.11}),
    "moons 50,000": (50_000, 2, {"rows": 0.14, "valleys": 0.49, "path": 1.68, "proof": 0.98}),
    "noise 50,000": (50_000, 2, {"rows": 0.17, "valleys": 0.33, "path": 3.34, "solution": 12.4}),
    "20,000 × 10": (20_000, 10, {"rows": 0.12, "neighbours": 0.87, "path": 1.33, "proof": 0.62}),
    "20,000 × 50": (20_000, 50, {"rows": 0.11, "neighbours": 1.1, "path": 1.41, "proof": 0.99}),
    "mnist10k": (10_000, 784, {"rows": 0.49, "neighbours": 1.94, "path": 3.73, "solution": 1.54}),
}


class Clock:
    """Stands for the module ``time``."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("convexcluster.numerics.progress.time", clock)
    return clock


@pytest.fixture
def watched(clock):
    """A bar that is not looked at by itself, and what it said: time, stage, share, seconds left."""
    seen = []
    bar = Progress(lambda stage, done, left: seen.append((clock.now, stage, done, left)))
    return bar, seen


@pytest.mark.parametrize("name", TOOK)
@pytest.mark.parametrize("slower", [0.7, 1.0, 4.0])
@pytest.mark.parametrize("even", [True, False])
def test_the_estimate_of_a_bar_is_near_the_truth(name, slower, even, clock, watched):
    (n, d, took), (bar, seen) = TOOK[name], watched
    whole, told = slower * sum(took.values()), {"solution": 0.5, "proof": 1.0, "path": 1.0}
    bar.expect(seconds(n, d), {"cells", "solution", "labels"})
    for stage in STAGES:
        if stage in took:
            bar.stage(stage)
        for step in range(100 if stage in took else 0):
            clock.now += slower * took[stage] / 100
            if stage == "path" and step == 0 and "solution" in took:
                bar(0, 40)  # no rungs were needed on the way: nothing fuses early
            if even and stage in told:
                bar.part(((step + 1) / 100) ** told[stage])
            bar._tell()
    for at, _, _, left in seen:
        if at >= (0.35 if even else 0.5) * whole and abs(at + left - whole) > 0.3:
            assert 1 / 1.75 <= (at + left) / whole <= 1.75
    shares = list({at: share for at, _, share, _ in seen}.values())
    assert min(np.diff(shares)) > 0
    assert 0.5 < shares[-1] <= 1


def test_a_bar_goes_on_while_a_stage_takes_longer_and_says_that_time_is_left(clock, watched):
    bar, seen = watched
    bar.stage("rows")
    clock.now += 0.1
    bar.stage("proof")
    for _ in range(200):
        clock.now += 0.5
        bar._tell()
    assert min(left for at, _, _, left in seen if at > 2) >= 0.5
    assert (np.diff([share for _, _, share, _ in seen]) >= 0).all()
    assert seen[-1][2] < 1
    bar.stage("path")  # cells that were cut finer have a path of their own
    assert seen[-1][2] >= seen[-2][2]
    assert seen[-1][3] > seconds(10_000, 2)["proof"]  # that is ahead again


def test_a_short_estimate_slows_the_bar_and_does_not_stop_it(clock, watched):
    bar, seen = watched
    bar.expect(dict.fromkeys(STAGES, 0.0) | {"path": 1.0}, {"solution"})
    bar.stage("path")
    clock.now = 1.0
    bar.expect(dict.fromkeys(STAGES, 0.0) | {"path": 1.0, "solution": 20.0}, {"solution"})
    bar.stage("solution")
    for step in range(40):
        clock.now += 0.5
        bar.part((step + 1) / 40)
        bar._tell()
    late = [share for at, _, share, _ in seen if at >= 1.0]
    assert min(np.diff(late[1:-1])) > 0
    assert abs(seen[20][0] + seen[20][3] - 21.0) < 0.5 * 21.0


def test_reports_are_of_the_stage_that_runs_and_may_come_from_other_threads():
    seen = []
    with Progress(lambda stage, done, left: seen.append(left)) as bar:
        bar.stage("proof")
        reports("path", "solution")(0.9)
        assert bar._share == 0.0
        told = reports("proof")
        thread = threading.Thread(target=told, args=(0.5,))
        thread.start()
        thread.join()
        assert bar._share == 0.5
        bar.stage("labels")
        assert bar._share == 0.0
    assert reports("proof")(0.5) is None  # and none is shown
    assert bar._share == 0.0


def test_all_of_a_fit_is_watched_and_nothing_of_it_changes(tmp_path, monkeypatch):
    X = make_blobs(3_000, centers=4, random_state=0)[0]
    parts, part = [], Progress.part

    def kept(bar, share):
        parts.append((bar.name, share))
        part(bar, share)

    monkeypatch.setattr(Progress, "part", kept)
    stages = []
    plain = KernelConvexClustering(coarsen=500).fit(X)
    bar = Progress(lambda stage, done, left: stages.append(stage))
    model = KernelConvexClustering(coarsen=500, verbose=bar).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.certificate_.radius == plain.certificate_.radius
    assert list(dict.fromkeys(stages)) == list(STAGES)
    assert {name for name, _ in parts} >= {"rows", "cells", "path", "proof", "labels"}
    assert all(0 <= share <= 1 for _, share in parts)
    stages.clear()
    np.save(tmp_path / "X.npy", X)
    fit_large(tmp_path / "X.npy", KernelConvexClustering(coarsen=500, verbose=bar))
    assert stages[-1] == "labels"  # the copy of the estimator told this bar


def test_a_gap_that_falls_is_told(clock):
    told = []
    with Progress(lambda *_: None) as bar:
        bar.part = told.append
        bar.stage("solution")
        rng = np.random.default_rng(0)
        edges = np.array([(i, j) for i in range(40) for j in range(i + 1, 40)])
        problem = Problem.of(rng.normal(size=(40, 3)), edges, np.ones(len(edges)), 0.02)
        solve_problem(problem, solver="admm", tol=1e-8)
    assert len(told) > 3
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] < 1

"""Ctrl-C at random moments of a fit, a refit, a path and a search, with threads at work.

A fit either raises KeyboardInterrupt and leaves the estimator as it was, or is the whole fit; a
path is whole or says that it is not; no thread stays behind.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from convexcluster import KernelConvexClustering, solve_path, tune
from convexcluster.path import halves
from convexcluster.weights import build_graph

# Edges from which a job is halved between two threads here: small problems use both.
HALVED_EDGES = 50

# The last moment over the time that the task takes: some signals come after its end.
LAST = 1.1

# Seconds in which a thread that was told to stop must have ended, on a busy machine too.
GRACE = 5.0


@dataclass(frozen=True)
class Material:
    """Rows, what is made of them without any signal, and how long each task takes."""

    X: np.ndarray
    graph: Any
    labels: np.ndarray
    path: Any
    seconds: dict[str, float]


@cache
def material() -> Material:
    """Run every task twice, the second time by the clock."""
    halves.HALVED_EDGES = HALVED_EDGES
    X = make_moons(150, noise=0.05, random_state=0)[0]
    graph = build_graph(X, "knn", n_neighbors=6)
    found: dict[str, Any] = {}
    seconds = {}
    for task, work in tasks(X, graph, KernelConvexClustering()).items():
        work()
        begin = time.perf_counter()
        found[task] = work()
        seconds[task] = time.perf_counter() - begin
    return Material(X, graph, found["fit"].labels_, found["path"], seconds)


def tasks(X: np.ndarray, graph: Any, model: Any) -> dict[str, Callable[[], Any]]:
    """What is interrupted."""
    return {
        "fit": lambda: model.fit(X),
        "refit": lambda: model.fit(X),
        "path": lambda: solve_path(X, graph.edges, graph.weights, n_jobs=2),
        "search": lambda: tune(X[:40], grid={"bandwidth": [0.5, 1.0]}, n_jobs=2),
    }


def case(rng: np.random.Generator) -> dict[str, int]:
    """One signal."""
    given = material()
    task = str(rng.choice(list(given.seconds)))
    model = KernelConvexClustering(n_jobs=2)
    if task == "refit":
        model.fit(given.X[:20])
    before = dict(vars(model))
    work = tasks(given.X, given.graph, model)[task]
    threads = set(threading.enumerate())
    found = interrupted(work, float(rng.uniform(0.0, LAST * given.seconds[task])))
    begin = time.monotonic()
    while (left := set(threading.enumerate()) - threads) and time.monotonic() - begin < GRACE:
        time.sleep(0.01)
    assert not left, f"threads were left behind: {' | '.join(map(whereabouts, left))}"
    if task in ("fit", "refit"):
        if found is None:
            assert vars(model).keys() == before.keys(), "attributes of half a fit"
            assert all(vars(model)[name] is before[name] for name in before)
        else:
            np.testing.assert_array_equal(model.labels_, given.labels)
    if task == "path" and found is not None:
        whole = found.complete == (len(found) == len(given.path))
        assert whole, "a partial path that says it is whole"
        np.testing.assert_array_equal(found.gaps, given.path.gaps[: len(found)])
    cut = found is None or (task == "path" and not found.complete)
    return {"interrupted": int(cut), "finished": int(not cut)}


def interrupted(work: Callable[[], Any], seconds: float) -> Any:
    """What ``work`` returns with SIGINT sent after so many seconds; None for KeyboardInterrupt."""
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    found = None
    try:
        timer.start()
        found = work()
    except KeyboardInterrupt:
        pass
    try:
        timer.cancel()
        timer.join()  # a signal that is still to come is heard here
    except KeyboardInterrupt:
        timer.join()
    finally:
        signal.signal(signal.SIGINT, heard)
    return found


def whereabouts(thread: threading.Thread) -> str:
    """The name of a thread and the last lines that it is at."""
    frame = sys._current_frames().get(thread.ident or 0)
    at = [f"{line.filename}:{line.lineno}" for line in traceback.extract_stack(frame)[-3:]]
    return f"{thread.name} at {', '.join(at)}"

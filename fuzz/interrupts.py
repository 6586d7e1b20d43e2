"""Ctrl-C at random moments of a fit, a refit, a path and a search.

A fit either raises KeyboardInterrupt and leaves the estimator as it was, or is the whole fit; a
path is whole or says that it is not; no thread stays behind.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from convexcluster import KernelConvexClustering, solve_path, tune
from convexcluster.weights import build_graph

# Longer than the fit takes: some signals come after its end.
LONGEST = 0.5

# Seconds in which a thread that was told to stop must have ended, on a busy machine too.
GRACE = 2.0


@cache
def material() -> tuple[Any, Any, Any, Any]:
    """Rows, the labels of their fit, and a path."""
    X = make_moons(150, noise=0.05, random_state=0)[0]
    graph = build_graph(X, "knn", n_neighbors=6)
    model = KernelConvexClustering().fit(X)
    return X, graph, model.labels_, solve_path(X, graph.edges, graph.weights)


def case(rng: np.random.Generator) -> dict[str, int]:
    """One signal."""
    X, graph, labels, whole = material()
    task = rng.choice(["fit", "refit", "path", "search"])
    model = KernelConvexClustering()
    if task == "refit":
        model.fit(X[:20])
    before = dict(vars(model))
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    threads = threading.active_count()
    timer = threading.Timer(float(rng.uniform(0.0, LONGEST)), os.kill, (os.getpid(), signal.SIGINT))
    interrupted = False
    found = None
    try:
        timer.start()
        if task in ("fit", "refit"):
            model.fit(X)
        elif task == "path":
            found = solve_path(X, graph.edges, graph.weights)
        else:
            tune(X[:40], grid={"bandwidth": [0.5, 1.0]})
    except KeyboardInterrupt:
        interrupted = True
    try:
        timer.cancel()
        timer.join()  # a signal that is still to come is heard here
    except KeyboardInterrupt:
        timer.join()
    finally:
        signal.signal(signal.SIGINT, heard)
    begin = time.monotonic()
    while threading.active_count() > threads and time.monotonic() - begin < GRACE:
        time.sleep(0.01)
    assert threading.active_count() <= threads, "threads were left behind"
    if task in ("fit", "refit"):
        if interrupted:
            assert vars(model).keys() == before.keys(), "attributes of half a fit"
            assert all(vars(model)[name] is before[name] for name in before)
        else:
            np.testing.assert_array_equal(model.labels_, labels)
    if found is not None:
        assert found.complete == (len(found) == len(whole)), "a partial path that says it is whole"
        np.testing.assert_array_equal(found.gaps, whole.gaps[: len(found)])
    cut = interrupted or (found is not None and not found.complete)
    return {"interrupted": int(cut), "finished": int(not cut)}

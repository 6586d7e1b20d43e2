"""Kill ``solve_path`` (SIGKILL) at random moments and resume it; a script of test_interruption.py.

    python kill_and_resume.py NAME KILLS SEED FOLDER

Prints one JSON object: the number of kills, how many of them left a state to resume, the number of
paths that were finished, and which of the arrays of a finished path differ from those of the path
that was never killed. A child is forked from a process in which everything is compiled, so that a
kill costs no start of an interpreter.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import time
from pathlib import Path

import numpy as np

import convexcluster.path.checkpoint as checkpoint
import convexcluster.path.components as components
from convexcluster import solve_path
from convexcluster.weights import build_graph

APART = 100  # a small component is a part with an engine of its own


def plane(rng):
    """All pairs of 60 points: clusters merge in a rush, and the grid is refined."""
    Z = rng.normal(size=(60, 2))
    i, j = np.triu_indices(60, 1)
    return Z, np.column_stack([i, j]), np.exp(-((Z[i] - Z[j]) ** 2).sum(axis=1)), {}


def wide(rng):
    """Blobs in 24 dimensions: Newton's method first, rotations to fewer dimensions later."""
    Z = rng.normal(size=(240, 24)) + 4 * rng.normal(size=(4, 24))[np.arange(240) % 4]
    graph = build_graph(Z, "knn", n_neighbors=6)
    return Z, graph.edges, graph.weights, {}


def parts(rng):
    """Three components, solved side by side, and masses."""
    Z = rng.normal(size=(450, 2)) + 40.0 * (np.arange(450) % 3)[:, None]
    graph = build_graph(Z, "knn", n_neighbors=5)
    return Z, graph.edges, graph.weights, {"masses": rng.uniform(0.5, 2.0, 450)}


def uncertified(rng):
    """No certificates: levels below the top are dropped, and the top is rotated."""
    Z = rng.normal(size=(400, 30)) + 3 * rng.normal(size=(12, 30))[np.arange(400) % 12]
    graph = build_graph(Z, "knn", n_neighbors=6)
    return Z, graph.edges, graph.weights, {"certify": False}


PROBLEMS = {f.__name__: f for f in (plane, wide, parts, uncertified)}


def as_bytes(path):
    """Every field of a path, to the last bit."""
    found = {name: getattr(path, name) for name in path.__dataclass_fields__}
    found["centers"] = np.concatenate([c.ravel() for c in found["centers"]])
    return {name: np.asarray(value).tobytes() for name, value in found.items()}


def main(name, kills, seed, folder):
    Z, edges, weights, options = PROBLEMS[name](np.random.default_rng(1))
    rng = np.random.default_rng(seed)
    solve_path(Z, edges, weights, **options)  # compiles
    begin = time.perf_counter()
    path = solve_path(Z, edges, weights, **options, checkpoint=folder / "whole")
    seconds, whole = time.perf_counter() - begin, as_bytes(path)
    state, answer = folder / "state", folder / "answer"
    killed, resumed, finished, differ, done = 0, 0, 0, set(), False
    while killed < kills or not done:  # what the last kill left is finished as well
        pid = os.fork()
        if pid == 0:
            again = solve_path(Z, edges, weights, **options, checkpoint=state)
            answer.write_bytes(pickle.dumps(as_bytes(again)))
            os._exit(0)
        if killed < kills:
            time.sleep(rng.exponential(0.3 * seconds))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            killed, resumed, done = killed + 1, resumed + state.exists(), False
            answer.unlink(missing_ok=True)
            continue
        if status:
            raise SystemExit("a resumed path ended in an error")
        again = pickle.loads(answer.read_bytes())
        differ |= {field for field in whole if again[field] != whole[field]}
        finished, done = finished + 1, True
        state.unlink()
    left = sorted(f.name for f in folder.iterdir())
    counts = {"killed": killed, "resumed": resumed, "finished": finished, "differ": sorted(differ)}
    print(json.dumps(counts | {"left": left, "steps": len(path), "complete": path.complete}))


if __name__ == "__main__":
    checkpoint.EVERY = 0.0  # save after every γ
    components.APART = APART
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))

"""Recovery and robustness: for which γ labels are clusters, and how far these stand."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import scale

from benchmarks.kept import Figures
from convexcluster import KernelConvexClustering
from convexcluster.certificate import Recovery
from convexcluster.certificate.margins import stand
from convexcluster.datasets import make_rings
from convexcluster.partition import first
from convexcluster.points.questions import SHARP, full_space
from convexcluster.solvers import solve_problem

from .data import Pair

SOLVE = partial(solve_problem, tol=SHARP)

# Draws of wrong labels, and of samples for the largest problem.
WRONG = 20
LARGE = (2_000, 10_000)

# γ at which wine has five clusters, two of them single samples.
WINE = 8.7


def moons(seed: int, n: int = 200) -> Pair:
    """Two moons."""
    return datasets.make_moons(n, noise=0.05, random_state=seed)


def blobs(seed: int) -> Pair:
    """Five groups that nearly touch in some draws."""
    return datasets.make_blobs(200, centers=5, cluster_std=0.6, random_state=seed)


def iris(joined: bool) -> Pair:
    """Iris by its classes, or with the two that touch as one."""
    X, y = datasets.load_iris(return_X_y=True)
    return scale(X), np.minimum(y, 1) if joined else y


def wine(classes: bool) -> Pair:
    """Wine by its classes, or by the clusters of one γ."""
    X, y = datasets.load_wine(return_X_y=True)
    X = scale(X)
    return X, y if classes else KernelConvexClustering(gamma=WINE).fit(X).labels_


# name → seed → rows and labels; what is measured has no seed
PROBLEMS: dict[str, tuple[Callable[[int], Pair], tuple[int, ...]]] = {
    "moons": (moons, (0, 20, 21)),
    "rings": (lambda seed: make_rings(random_state=seed), (0, 20, 21)),
    "blobs": (blobs, (3, 20, 21)),
    "iris, two clusters": (lambda seed: iris(joined=True), (0,)),
    "wine, five clusters": (lambda seed: wine(classes=False), (0,)),
    "iris, classes": (lambda seed: iris(joined=False), (0,)),
    "wine, classes": (lambda seed: wine(classes=True), (0,)),
}


def asked(X: np.ndarray) -> KernelConvexClustering:
    """A model with the graph of the features; of a given γ it has no valleys."""
    return KernelConvexClustering(gamma=1.0).fit(X)


def timed(ask: Callable[[], Recovery]) -> tuple[Recovery, float]:
    """An answer, and the processor seconds that it took."""
    begin = time.process_time()
    return ask(), time.process_time() - begin


def recovery(name: str, seed: int) -> Figures:
    """Ranges of γ, the inside, and the radii amid the range."""
    X, y = PROBLEMS[name][0](seed)
    model = asked(X)
    found, seconds = timed(lambda: model.recovery(y))
    inner, more = timed(lambda: model.recovery(y, inside=True))
    figures = {
        "n": len(X),
        "necessary": found.necessary,
        "sufficient": found.sufficient,
        "ends": (found.gamma_low, found.gamma_high),
        "status": found.status,
        "blocking": found.blocking,
        "inside": inner.sufficient,
        "inside status": inner.status,
        "seconds": seconds,
        "seconds inside": more,
    }
    if found.gamma_low < found.gamma_high:
        figures |= radii(model, y, found)
    return figures


def radii(model: KernelConvexClustering, y: np.ndarray, found: Recovery) -> Figures:
    """How far the clusters stand at the geometric middle."""
    space, graph, masses, index = full_space(model)
    gamma = float(np.sqrt(found.gamma_low * found.gamma_high))
    held = stand(space, graph, masses, y[first(index)], gamma, solve=SOLVE)
    kinds = ("total", "each", "one", "weights", "gamma")
    bandwidth = float(model.kernel_.params["bandwidth"])
    return {kind: getattr(held, kind) for kind in kinds} | {"input": held.in_input(bandwidth)}


def refuted(name: str, seed: int) -> Figures:
    """How many wrong labels the necessary range refutes: a sample moved, a class halved."""
    X, y = PROBLEMS[name][0](seed)
    model, rng = asked(X), np.random.default_rng(seed)
    count = {"moved": 0, "halved": 0}
    for _ in range(WRONG):
        wrong = y.copy()
        one = int(rng.integers(len(y)))
        wrong[one] = (y[one] + 1 + rng.integers(y.max())) % (y.max() + 1)
        count["moved"] += model.recovery(wrong).status.startswith("refuted")
        part = (y == rng.integers(y.max() + 1)) & (rng.random(len(y)) < 0.5)
        halved = np.where(part, y.max() + 1, y)
        count["halved"] += model.recovery(halved).status.startswith("refuted")
    return count


def large(n: int) -> Figures:
    """Moons of many samples: the ends and the processor seconds, asked of a default fit."""
    X, y = moons(0, n)
    model = KernelConvexClustering().fit(X)
    found, seconds = timed(lambda: model.recovery(y))
    figures = {"ends": (found.gamma_low, found.gamma_high), "necessary": found.necessary}
    return {**figures, "sufficient": found.sufficient, "seconds": seconds}

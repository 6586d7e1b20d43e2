"""`python -m benchmarks.stress [name …]`: the same constants on problems of every kind."""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.neighbors import NearestNeighbors

from convexcluster import solve_path
from convexcluster.datasets import load

from .datasets.graphs import knn_graph
from .machine import header

SEED = 0


def centred(X: np.ndarray) -> tuple:
    X = X - X.mean(axis=0)
    X = np.ascontiguousarray(X / np.abs(X).max())
    return X, *knn_graph(X)


def rings(n: int = 3_000) -> tuple:
    rng = np.random.default_rng(SEED)
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + rng.integers(0, 3, n)
    X = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return centred(X + 0.05 * rng.normal(size=X.shape))


def spirals(n: int = 3_000) -> tuple:
    rng = np.random.default_rng(SEED)
    t = 3 * np.pi * np.sqrt(rng.uniform(0, 1, n))
    turn = t + np.pi * rng.integers(0, 2, n)
    X = t[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1) / 10
    return centred(X + 0.02 * rng.normal(size=X.shape))


def genes(n: int = 150, p: int = 5_000) -> tuple:
    """Few samples of many features: four groups that differ in a tenth of the features."""
    rng = np.random.default_rng(SEED)
    group = rng.integers(0, 4, n)
    shift = rng.normal(size=(4, p)) * (rng.random((4, p)) < 0.1)
    return centred(rng.normal(size=(n, p)) + 2 * shift[group])


def full_graph(n: int = 300) -> tuple:
    X = make_blobs(n, random_state=SEED)[0]
    X = X / X.std()
    i, j = np.triu_indices(n, 1)
    return X, np.stack([i, j], axis=1), np.exp(-((X[i] - X[j]) ** 2).sum(axis=1))


def random_tree(n: int = 2_000) -> tuple:
    rng = np.random.default_rng(SEED)
    parent = np.array([rng.integers(0, i) for i in range(1, n)])
    edges = np.stack([parent, np.arange(1, n)], axis=1)
    return rng.normal(size=(n, 2)), edges, rng.uniform(0.1, 1, n - 1)


def eight_decades(n: int = 2_000) -> tuple:
    X = make_moons(n, noise=0.05, random_state=SEED)[0]
    edges, weights = knn_graph(X)
    return X, edges, 10 ** np.random.default_rng(SEED).uniform(-8, 0, len(weights))


def duplicates() -> tuple:
    return centred(np.repeat(np.random.default_rng(SEED).normal(size=(300, 2)), 5, axis=0))


def blobs(n: int, r: int, centers: int, mix: np.ndarray | None = None) -> tuple:
    X = make_blobs(n, n_features=r, centers=centers, random_state=1)[0]
    return centred(X if mix is None else X @ mix)


def real(name: str) -> tuple:
    """A set of the paper; FileNotFoundError where it is not at hand."""
    X = load(name)[0].astype(np.float64)
    near = NearestNeighbors(n_neighbors=8).fit(X).kneighbors(X)[0][:, -1]
    X = (X - X.mean(axis=0)) / np.median(near)  # in so many dimensions w = exp(−½d²) needs a scale
    return X, *knn_graph(X)


PROBLEMS = {
    "blobs, 20 in 2-D": lambda: blobs(3_000, 2, 20),
    "blobs, stretched": lambda: blobs(3_000, 2, 3, np.array([[0.6, -0.6], [-0.4, 0.8]])),
    "blobs, 8 in 3-D": lambda: blobs(3_000, 3, 8),
    "blobs, 5 in 20-D": lambda: blobs(2_000, 20, 5),
    "rings": rings,
    "spirals": spirals,
    "uniform square": lambda: centred(np.random.default_rng(SEED).uniform(size=(3_000, 2))),
    "uniform in 5-D": lambda: centred(np.random.default_rng(SEED).uniform(size=(2_000, 5))),
    "normal on a line": lambda: centred(np.random.default_rng(SEED).normal(size=(2_000, 1))),
    "digits, 64-D": lambda: centred(load_digits().data),
    "MNIST, 500 digits": lambda: real("mnist500"),
    "genes, p ≫ n": genes,
    "genes, lymphoma": lambda: real("lymphoma"),
    "full graph": full_graph,
    "tree": random_tree,
    "weights over 8 decades": eight_decades,
    "duplicates": duplicates,
}


def main(names: list[str]) -> None:
    solve_path(*blobs(200, 2, 3))  # compile, in few
    solve_path(*blobs(200, 20, 3))  # and in many dimensions
    print(header("Stress table: automatic grid of 40 γ, tol = 1e-6, seconds of one core") + "\n")
    print("| problem | n | r | edges | seconds | certified | worst gap | splits |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names or PROBLEMS:
        try:
            Z, edges, weights = PROBLEMS[name]()
        except (FileNotFoundError, OSError) as reason:
            print(f"| {name} | skipped: {reason} |||||||", flush=True)
            continue
        start = time.thread_time()
        path = solve_path(Z, edges, weights, refine=False, n_jobs=1)
        seconds = time.thread_time() - start
        print(
            f"| {name} | {len(Z)} | {Z.shape[1]} | {len(edges)} | {seconds:.2f} "
            f"| {path.certified.sum()}/{len(path)} | {path.gaps.max():.1e} | {len(path.splits)} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])

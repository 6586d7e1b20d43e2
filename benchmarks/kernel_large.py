"""`python -m benchmarks.kernel_large [n] [tol]`: certified path of many moons through a kernel.

Gaussian kernel of bandwidth 0.2, pivoted Cholesky to a trace error of 1e-4, automatic grid. Prints
one row per γ, then seconds by the clock and of the cores, gaps and peak memory.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from sklearn.datasets import make_moons

from convexcluster import solve_path
from convexcluster.embedding import embed
from convexcluster.kernels import resolve_kernel

from .datasets.graphs import knn_graph
from .machine import header


def main(n: int, tol: float) -> None:
    X, _ = make_moons(n, noise=0.05, random_state=0)
    start = time.perf_counter()
    Z = embed(X, resolve_kernel("rbf", 0.2, None, X), method="pivoted", tol=1e-4).Z
    embedding = time.perf_counter() - start
    Z = Z - Z.mean(axis=0)
    edges, _ = knn_graph(X)
    weights = np.exp(-0.5 * ((Z[edges[:, 0]] - Z[edges[:, 1]]) ** 2).sum(axis=1))
    print(header(f"Kernel of {n} moons, rank {Z.shape[1]}, tol = {tol:g}") + "\n", flush=True)

    start, used = time.perf_counter(), time.process_time()

    def row(step: int, total: int, gamma: float, k: int, gap: float) -> None:
        cores = time.process_time() - used
        print(f"γ {gamma:.3g}: {k} clusters, gap {gap:.1e}, {cores:.1f} core s so far", flush=True)

    path = solve_path(Z, edges, weights, tol=tol, n_jobs=-1, callback=row, refine=False)
    seconds, cores = time.perf_counter() - start, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n{seconds:.0f} s, {cores:.0f} of cores (embedding {embedding:.1f} s), "
        f"{path.certified.sum()}/{len(path)} certified, worst gap {path.gaps.max():.1e}, "
        f"{memory:.1f} GB"
    )


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 100_000, float(given[1]) if given[1:] else 1e-5)

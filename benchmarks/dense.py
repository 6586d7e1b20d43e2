"""What a complete graph costs per edge, against a sparse one: ``python -m benchmarks.dense``.

Processor time of ``solve_path`` with one thread, over its edges; sparse is the plane with 5,000
samples and ten neighbours. Narrow weights are Gaussian ones over some thirty decades.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import make_blobs, make_moons

from convexcluster import solve_path
from convexcluster.weights import build_graph

DATA = {
    "moons": lambda n: make_moons(n, noise=0.05, random_state=0)[0],
    "blobs": lambda n: make_blobs(n, 2, random_state=0)[0],
    "normal": lambda n: np.random.default_rng(0).normal(size=(n, 2)),
}
SIZES = (200, 500)
SPREAD = {"wide": 1.0, "narrow": 20.0}


def timed(*given, **options):
    """Processor seconds of a path, and the path."""
    begin = time.process_time()
    path = solve_path(*given, n_jobs=1, **options)
    return time.process_time() - begin, path


def main() -> None:
    """Print one row for each graph."""
    print("| data | samples | weights | refined | seconds | per edge | γ | not certified |")
    print("|---|---|---|---|---|---|---|---|")
    for name, make in DATA.items():
        Z = make(5_000)
        sparse = build_graph(Z, "knn", n_neighbors=10)
        timed(Z, sparse.edges, sparse.weights)  # compiles
        unit = timed(Z, sparse.edges, sparse.weights)[0] / len(sparse.edges)
        for n in SIZES:
            Z = make(n)
            i, j = np.triu_indices(n, 1)
            square = ((Z[i] - Z[j]) ** 2).sum(axis=1)
            for kind, sharp in SPREAD.items():
                weights = np.exp(-sharp * square / np.median(square))
                for refine in (False, True):
                    took, path = timed(Z, np.column_stack([i, j]), weights, refine=refine)
                    cells = [name, n, kind, "yes" if refine else "no", f"{took:.2f}"]
                    cells += [f"{took / len(i) / unit:.2f} ×", len(path), (~path.certified).sum()]
                    print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()

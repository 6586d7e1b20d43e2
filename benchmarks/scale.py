"""Beyond memory: n = 10⁵ … 10⁷, on one process and through Dask; `make bench-scale`.

    python -m benchmarks.scale                 every case, one after the other, to a table
    python -m benchmarks.scale shapes-1e6      one case, as a line of JSON

Each case runs in a process of its own, so that the peak of its memory is its own. Data are made
from fixed seeds; `shapes` are 6 rings and 6 half moons of radii 0.3 to 10 in the plane, `blobs`
are 20 Gaussians in 50 dimensions whose centres are about 30 standard deviations apart.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "large-results.md"
RINGS = [(0, 0, 10.0), (0, 0, 6.0), (0, 0, 2.5), (0, 0, 0.5), (25, 0, 4.0), (25, 0, 1.0)]
MOONS = [(18, 14, 5.0), (0, 16, 1.0), (25, 9, 0.3)]


def shapes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rings and half moons of many sizes; their masses grow as the root of their lengths."""
    rng = np.random.default_rng(seed)
    arcs = [(x, y, R, 0.0, 2 * np.pi) for x, y, R in RINGS]
    for x, y, R in MOONS:
        arcs += [(x, y, R, 0.0, np.pi), (x + R, y + R / 2, R, np.pi, np.pi)]
    table = np.array(arcs)
    share = np.sqrt(table[:, 2] * table[:, 4])
    y = rng.choice(len(table), size=n, p=share / share.sum())
    angle = table[y, 3] + table[y, 4] * rng.random(n)
    radius = table[y, 2] * (1 + 0.04 * np.clip(rng.normal(size=n), -3, 3))
    X = table[y, :2] + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, y


def blobs(n: int, d: int = 50, k: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussians of unit variance around centres with 3·N(0, 1) coordinates."""
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(k, d))
    y = rng.integers(k, size=n)
    return centres[y] + rng.normal(size=(n, d)), y


def local(X: np.ndarray, y: np.ndarray, **parameters: Any) -> dict[str, Any]:
    """One fit of the estimator in this process."""
    from sklearn.metrics import adjusted_rand_score

    from convexcluster import KernelConvexClustering

    start, used = time.perf_counter(), time.process_time()
    model = KernelConvexClustering(**parameters).fit(X)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    certificate = model.certificate_
    out = {
        "n": len(X),
        "d": X.shape[1],
        "seconds": seconds,
        "cpu_seconds": used,
        "clusters": model.n_clusters_,
        "ARI": adjusted_rand_score(y, model.labels_),
    }
    if hasattr(model, "points_"):
        coarse = model.coarse_certificate_
        spread = coarse.radius / coarse.relative_radius
        out |= {
            "points": len(model.points_.X),
            "rank": model.points_.embedding.rank,
            "coarsening": certificate.coarsening_error / spread,
            "embedding": certificate.embedding_error / spread,
            "radius": coarse.relative_radius,
        }
    return out


def warm_up() -> None:
    """Compile everything the timed fit uses."""
    from convexcluster import KernelConvexClustering

    KernelConvexClustering(n_clusters=3, coarsen=200, rank=20).fit(shapes(1_000)[0])


def tgcc(n: int) -> dict[str, Any]:
    """The yardstick: ℓ1 convex clustering on the minimum spanning tree."""
    from sklearn.metrics import adjusted_rand_score

    from convexcluster.baselines import TreeGuidedConvexClustering

    TreeGuidedConvexClustering().fit(shapes(500)[0])
    X, y = shapes(n)
    start, used = time.perf_counter(), time.process_time()
    model = TreeGuidedConvexClustering().fit(X)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    score = adjusted_rand_score(y, model.labels_)
    out = {"n": n, "d": 2, "seconds": seconds, "cpu_seconds": used}
    return out | {"clusters": model.n_clusters_, "ARI": score}


def mnist() -> dict[str, Any]:
    """mnist10k beside k-means and spectral clustering, both told k = 10."""
    from sklearn.cluster import KMeans, SpectralClustering
    from sklearn.metrics import normalized_mutual_info_score as nmi

    from convexcluster import KernelConvexClustering

    file = np.load(Path(os.environ["CONVEXCLUSTER_DATA"]) / "mnist10k.npz")
    X, y = file["X"].astype(np.float64) / 255.0, file["y"]
    start, used = time.perf_counter(), time.process_time()
    model = KernelConvexClustering().fit(X)
    out: dict[str, Any] = {"n": 10_000, "d": 784, "seconds": time.perf_counter() - start}
    out["cpu_seconds"] = time.process_time() - used
    out |= {"clusters": model.n_clusters_, "NMI": nmi(y, model.labels_)}
    start = time.perf_counter()
    told = KernelConvexClustering(n_clusters=10).fit(X)
    out |= {"told_seconds": time.perf_counter() - start, "told_NMI": nmi(y, told.labels_)}
    out["kmeans_NMI"] = nmi(y, KMeans(10, n_init=10, random_state=0).fit_predict(X))
    spectral = SpectralClustering(10, affinity="nearest_neighbors", random_state=0)
    out["spectral_NMI"] = nmi(y, spectral.fit_predict(X))
    return out


def blob_block(rows: int, d: int, k: int, block: int) -> np.ndarray:
    """Rows of a block and, in the last column, the component they are of."""
    centres = 3 * np.random.default_rng(0).normal(size=(k, d))
    rng = np.random.default_rng([77, block])
    y = rng.integers(k, size=rows)
    return np.column_stack([centres[y] + rng.normal(size=(rows, d)), y])


def through_dask(n: int, workers: int, rows: int = 100_000, d: int = 10) -> dict[str, Any]:
    """Blocks made on the workers, fitted there, scored there."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from convexcluster.dask import KernelConvexClustering

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit="4GB",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        make = dask.delayed(blob_block)
        parts = [
            da.from_delayed(make(rows, d, 10, b), shape=(rows, d + 1), dtype=np.float64)
            for b in range(n // rows)
        ]
        table = da.concatenate(parts, axis=0)
        small = da.from_array(blob_block(2_000, d, 10, 0)[:, :d], chunks=(500, d))
        KernelConvexClustering(n_clusters=3, coarsen=200, rank=20, client=client).fit(small)
        start = time.perf_counter()
        model = KernelConvexClustering(client=client).fit(table[:, :d])
        fitted = time.perf_counter() - start
        counts = _confusion(model.labels_, table[:, d], 10, model.n_clusters_, client)
        seconds = time.perf_counter() - start
        peaks = client.run(lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
        return {
            "n": n,
            "d": d,
            "workers": workers,
            "fit_seconds": fitted,
            "seconds": seconds,
            "clusters": model.n_clusters_,
            "ARI": _ari(counts),
            "points": len(model.points_.X),
            "coarsening": model.certificate_.coarsening_error,
            "radius": model.coarse_certificate_.relative_radius,
            "worker_peak_gb": max(peaks.values()),
        }


def _confusion(labels: Any, y: Any, k: int, found: int, client: Any) -> np.ndarray:
    """Counts of (component, label), summed on the workers."""
    import dask

    def count(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.bincount(a.astype(int).ravel() * found + b, minlength=k * found)

    pairs = zip(y.to_delayed().ravel(), labels.to_delayed().ravel())
    total = dask.delayed(sum)([dask.delayed(count)(a, b) for a, b in pairs])
    return client.compute(total).result().reshape(k, found)


def _ari(counts: np.ndarray) -> float:
    """Adjusted Rand index from a table of counts."""

    def pairs(c: np.ndarray) -> float:
        c = c.astype(float)
        return float((c * (c - 1) / 2).sum())

    both, rows, columns = pairs(counts), pairs(counts.sum(axis=1)), pairs(counts.sum(axis=0))
    chance = rows * columns / pairs(counts.sum(keepdims=True))
    return (both - chance) / ((rows + columns) / 2 - chance)


def _fit(data: Any, n: int) -> dict[str, Any]:
    warm_up()
    return local(*data(n))


CASES = {
    "shapes-1e5": lambda: _fit(shapes, 100_000),
    "tgcc-1e5": lambda: tgcc(100_000),
    "shapes-1e6": lambda: _fit(shapes, 1_000_000),
    "blobs50-1e5": lambda: _fit(blobs, 100_000),
    "blobs50-1e6": lambda: _fit(blobs, 1_000_000),
    "mnist10k": mnist,
    "dask-1-worker-1e6": lambda: through_dask(1_000_000, 1),
    "dask-2-workers-2e6": lambda: through_dask(2_000_000, 2),
    "dask-2-workers-1e7": lambda: through_dask(10_000_000, 2),
}


def run(name: str) -> dict[str, Any]:
    """One case in a process of its own, with its peak of memory."""
    command = [sys.executable, "-m", "benchmarks.scale", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"failed": done.stderr.strip().splitlines()[-1] if done.stderr else "no output"}
    return json.loads(lines[-1])


def main(names: list[str]) -> None:
    """Run one case here, or all in processes and write the table."""
    if names:
        out = CASES[names[0]]()
        out["peak_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(json.dumps(out), flush=True)
        return
    from benchmarks.machine import PACKAGES, header

    top = header("make bench-scale", (*PACKAGES, "dask", "distributed"))
    lines = ["# Results at scale", "", "```", top, "```", "", "| case | figures |", "|---|---|"]
    for name in CASES:
        figures = run(name)
        shown = ", ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures.items()
        )
        lines.append(f"| {name} | {shown} |")
        print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

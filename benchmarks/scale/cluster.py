"""The cases of Dask: blocks made on the workers, fitted there, scored there."""

from __future__ import annotations

import os
import resource
import time
from typing import Any

import numpy as np

from benchmarks.scale.data import blob_block, counts, rand_index
from benchmarks.scale.fits import errors, passes

LIMIT = "4GB"


def peak_gb() -> float:
    """Peak of a process's memory since it started, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def through_dask(n: int, workers: int, rows: int = 100_000, d: int = 10) -> dict[str, Any]:
    """10 Gaussians; every worker is a process of one thread with 4 GB."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from convexcluster.dask import KernelConvexClustering
    from convexcluster.rows.cluster import ClusterRows

    k = 10
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=LIMIT,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        made = dask.delayed(blob_block)
        parts = [
            da.from_delayed(made(rows, d, k, b), shape=(rows, d + 1), dtype=np.float64)
            for b in range(n // rows)
        ]
        table = da.concatenate(parts, axis=0)
        # compiled on the client and on every worker before the clock starts
        small = da.from_array(blob_block(2_000, d, k, 0)[:, :d], chunks=(2_000 // (8 * workers), d))
        warm = KernelConvexClustering(coarsen=200, rank=20, client=client).fit(small)
        warm.labels_.compute()
        before = client.run(os.getpid)
        with passes(ClusterRows) as seconds:
            start = time.perf_counter()
            model = KernelConvexClustering(client=client).fit(table[:, :d])
            fitted = time.perf_counter() - start
        found = model.n_clusters_
        pairs = zip(table[:, d].to_delayed().ravel(), model.labels_.to_delayed().ravel())
        scored = [dask.delayed(counts)(y, labels, k, found) for y, labels in pairs]
        score = rand_index(client.compute(dask.delayed(sum)(scored)).result())
        whole = time.perf_counter() - start
        after, peaks = client.run(os.getpid), client.run(peak_gb)
    out = {"n": n, "d": d, "workers": workers, "seconds": whole, "passes": seconds}
    out |= {"fit_seconds": fitted, "labels_seconds": whole - fitted}
    out |= {"truth": k, "clusters": found, "ARI": score} | errors(model)
    # a worker that passes its limit is killed and another takes its place
    return out | {
        "worker_peak_gb": sorted(peaks.values()),
        "restarts": len(set(after.values()) - set(before.values())),
    }

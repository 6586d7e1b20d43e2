"""A Dask worker is killed at a random moment of a fit: the labels are those of the quiet fit."""

from __future__ import annotations

import os
import signal
import threading
from functools import cache
from typing import Any

import numpy as np

LONGEST = 3.0


@cache
def material() -> tuple[Any, Any, np.ndarray]:
    """A client of two processes, the rows, and the labels without any harm."""
    import dask.array
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    client = Client(cluster)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)) + 12.0 * (np.arange(4000) % 3)[:, None]
    rows = dask.array.from_array(X, chunks=(500, 3))
    return client, rows, _fit(client, rows)


def _fit(client: Any, rows: Any) -> np.ndarray:
    from convexcluster.dask import KernelConvexClustering

    model = KernelConvexClustering(3, coarsen=200, random_state=0, client=client)
    return np.asarray(model.fit(rows).labels_.compute())


def case(rng: np.random.Generator) -> dict[str, int]:
    """One kill."""
    client, rows, labels = material()
    client.wait_for_workers(2, timeout=60)
    workers = client.scheduler_info()["workers"]
    pids = list(client.run(os.getpid).values())
    assert len(workers) == 2
    victim = int(rng.choice(pids))
    timer = threading.Timer(float(rng.uniform(0, LONGEST)), os.kill, (victim, signal.SIGKILL))
    timer.start()
    try:
        found = _fit(client, rows)
    finally:
        timer.join()
    np.testing.assert_array_equal(found, labels)
    return {"kills": 1}

"""A Dask worker is killed at a random moment of a fit: the labels are those of the quiet fit."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import cache
from typing import Any

import numpy as np

# Seconds within which a worker that died should have been replaced; then both start anew, as Dask
# may give up a worker that is killed while it starts.
PATIENCE = 30


@cache
def material() -> tuple[Any, Any, np.ndarray, float]:
    """A client of two processes, the rows, the labels without any harm, and the time they take."""
    import dask.array
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    client = Client(cluster)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)) + 12.0 * (np.arange(4000) % 3)[:, None]
    rows = dask.array.from_array(X, chunks=(500, 3))
    _fit(client, rows)  # loads what is compiled
    begin = time.perf_counter()
    labels = _fit(client, rows)
    return client, rows, labels, time.perf_counter() - begin


def _fit(client: Any, rows: Any) -> np.ndarray:
    from convexcluster.dask import KernelConvexClustering

    model = KernelConvexClustering(3, coarsen=200, random_state=0, client=client)
    return np.asarray(model.fit(rows).labels_.compute())


def _pids(client: Any) -> list[int]:
    """Processes of two workers that answer; one that was just killed may still be listed."""
    begin = time.monotonic()
    while time.monotonic() - begin < PATIENCE:
        try:
            found = list(client.run(os.getpid).values())
            if len(found) == 2:
                return found
        except OSError:
            pass
        time.sleep(0.1)
    client.cluster.scale(0)
    client.cluster.scale(2)
    client.wait_for_workers(2, timeout=10 * PATIENCE)
    return list(client.run(os.getpid).values())


def case(rng: np.random.Generator) -> dict[str, int]:
    """One kill within the time that a fit takes."""
    client, rows, labels, seconds = material()
    victim = int(rng.choice(_pids(client)))
    timer = threading.Timer(float(rng.uniform(0, seconds)), os.kill, (victim, signal.SIGKILL))
    timer.start()
    try:
        found = _fit(client, rows)
        during = not timer.is_alive()
    finally:
        timer.join()
    np.testing.assert_array_equal(found, labels)
    return {"kills": 1, "during a fit": int(during)}

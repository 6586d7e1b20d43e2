"""The cases of one process: fits in memory, a fit of a file, and the yardstick TGCC."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from benchmarks.scale.data import blob_block, counts, rand_index, shapes


@contextmanager
def passes(engine: type) -> Iterator[dict[str, float]]:
    """Seconds of each pass over the rows, by the name of its step."""
    seconds: dict[str, float] = {}
    reduce = engine.reduce

    def timed(self: Any, step: Any, combine: Any) -> Any:
        start = time.perf_counter()
        try:
            return reduce(self, step, combine)
        finally:
            name = getattr(step, "func", step).__name__.removesuffix("_block")
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start

    engine.reduce = timed
    try:
        yield seconds
    finally:
        engine.reduce = reduce


def errors(model: Any) -> dict[str, Any]:
    """The certificate of a coarse fit, relative to the spread of the rows."""
    if not hasattr(model, "points_"):
        return {}
    proved = model.certificate_
    spread = proved.radius / proved.relative_radius
    return {
        "points": len(model.points_.X),
        "rank": model.points_.embedding.rank,
        "graph": model.coarsening_.graph,
        "coarsening": proved.coarsening_error / spread,
        "embedding": proved.embedding_error / spread,
        "gap": float(np.sqrt(2.0 * proved.gap)) / spread,
        "radius": proved.relative_radius,
    }


def fit(data: Callable[[int], tuple[np.ndarray, np.ndarray]], n: int) -> dict[str, Any]:
    """One fit that is told nothing, after another that compiles everything it uses."""
    from sklearn.metrics import adjusted_rand_score

    from convexcluster import KernelConvexClustering
    from convexcluster.rows import LocalRows

    KernelConvexClustering(coarsen=200, rank=20).fit(data(2_000)[0])
    X, y = data(n)
    with passes(LocalRows) as seconds:
        start, used = time.perf_counter(), time.process_time()
        model = KernelConvexClustering().fit(X)
        whole, used = time.perf_counter() - start, time.process_time() - used
    out = {"n": n, "d": X.shape[1], "seconds": whole, "cpu_seconds": used, "passes": seconds}
    out |= {"truth": int(y.max()) + 1, "clusters": model.n_clusters_}
    out["ARI"] = adjusted_rand_score(y, model.labels_)
    return out | errors(model)


def tgcc(n: int) -> dict[str, Any]:
    """The yardstick: ℓ1 convex clustering on the minimum spanning tree."""
    from sklearn.metrics import adjusted_rand_score

    from convexcluster.baselines import TreeGuidedConvexClustering

    TreeGuidedConvexClustering().fit(shapes(3_000)[0])
    X, y = shapes(n)
    start, used = time.perf_counter(), time.process_time()
    model = TreeGuidedConvexClustering().fit(X)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    score = adjusted_rand_score(y, model.labels_)
    out = {"n": n, "d": 2, "seconds": seconds, "cpu_seconds": used}
    return out | {"truth": int(y.max()) + 1, "clusters": model.n_clusters_, "ARI": score}


def file(n: int, d: int, memory: str) -> dict[str, Any]:
    """A float64 file larger than ``memory``, from disk to labels on disk."""
    from convexcluster import KernelConvexClustering
    from convexcluster.out_of_core import fit_large
    from convexcluster.rows import LocalRows

    k, step = 20, 100_000
    KernelConvexClustering(coarsen=200, rank=20).fit(blob_block(2_000, d, k, 0)[:, :d])
    with tempfile.TemporaryDirectory() as folder:
        path, truth = Path(folder) / "rows.npy", np.empty(n)
        rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, d))
        for b in range(n // step):
            block = blob_block(step, d, k, b)
            rows[b * step : (b + 1) * step], truth[b * step : (b + 1) * step] = (
                block[:, :d],
                block[:, d],
            )
        rows.flush()
        del rows, block
        with passes(LocalRows) as seconds, Peak() as peak:
            start, used = time.perf_counter(), time.process_time()
            labels = Path(folder) / "labels.npy"
            result = fit_large(path, KernelConvexClustering(max_memory=memory), labels_to=labels)
            whole, used = time.perf_counter() - start, time.process_time() - used
        out = {"n": n, "d": d, "seconds": whole, "cpu_seconds": used, "passes": seconds}
        out |= {"file_gb": path.stat().st_size / 1e9, "memory": memory, "own_gb": peak.gb}
        table = counts(truth, np.load(labels), k, result.n_clusters_)
    out |= {"truth": k, "clusters": result.n_clusters_, "ARI": rand_index(table)}
    return out | errors(result.model)


def refined(n: int, cells: int, gamma: float) -> dict[str, Any]:
    """Convex clustering of `shapes` on too few cells: the error before and after refinement."""
    from convexcluster import ConvexClustering
    from convexcluster import fit as stages

    ConvexClustering(coarsen=200, gamma=gamma).fit(shapes(2_000)[0])
    steps: list[dict[str, Any]] = []
    measure = stages.coarsening_error

    def kept(rows: Any, points: Any, *parts: Any) -> Any:
        found = measure(rows, points, *parts)
        spread = float(np.sqrt(2.0 * points.scale + points.embedding.trace_error))
        steps.append({"points": len(points), "coarsening": found.total / spread})
        return found

    stages.coarsening_error = kept
    try:
        start, used = time.perf_counter(), time.process_time()
        ConvexClustering(coarsen=cells, gamma=gamma).fit(shapes(n)[0])
        seconds, used = time.perf_counter() - start, time.process_time() - used
    finally:
        stages.coarsening_error = measure
    out = {"n": n, "d": 2, "gamma": gamma, "seconds": seconds, "cpu_seconds": used}
    return out | {"before": steps[0], "after": steps[-1]}


class Peak:
    """Peak, in GB, of the memory that is this process's own, looked at ten times a second.

    Pages of a mapped file are left out: the system takes them back when it needs room.
    """

    gb = 0.0

    def __enter__(self) -> Peak:
        self._done = Event()
        self._watcher = Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    self.gb = max(self.gb, int(line.split()[1]) / 1e6)

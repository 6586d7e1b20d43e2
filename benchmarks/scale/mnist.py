"""mnist10k, from the folder that CONVEXCLUSTER_DATA names."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np


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

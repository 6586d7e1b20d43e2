"""The paper's synthetic example (its section 4.1): four blobs of 50 inside a ring of 200.

Input is a seed; output the partitions of four methods with their scores, and a picture. Kernel
convex clustering runs with the paper's parameters (σ₁ = 1, σ₂ = 100, γ = 1, 6 neighbours) and finds
the number of clusters by itself, as plain convex clustering does; k-means and spectral clustering
are told that there are five.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import normalized_mutual_info_score

from ..datasets import make_rings
from ..estimators import ConvexClustering, KernelConvexClustering
from ..plots import LabelScatterDisplay
from ..problem import Floats, Ints
from .writing import figure, save_figure

# Clusters of the rings: four blobs and the circle.
TOLD = 5
# The paper's parameters for its synthetic data.
PAPER: dict[str, Any] = {
    "n_neighbors": 6,
    "weight_bandwidth": 100.0,
    "gamma": 1.0,
    "labels": "agglomerative",
    "selection": "elbow",
}
# name -> (estimator, whether it is told the number of clusters)
METHODS: dict[str, tuple[Any, bool]] = {
    "kernel convex clustering": (KernelConvexClustering(bandwidth=1.0, **PAPER), False),
    "k-means": (KMeans(TOLD, n_init=10), True),
    # The neighbourhood graph suits these data best; a Gaussian affinity cuts the ring.
    "spectral clustering": (SpectralClustering(TOLD, affinity="nearest_neighbors"), True),
    "convex clustering": (ConvexClustering(**PAPER), False),
}


@dataclass(frozen=True)
class Demo:
    """The data, the truth, the partition of each method, and a row of figures for each."""

    X: Floats
    y: Ints
    labels: list[Ints]
    rows: list[dict[str, Any]]


def run(seed: int = 0, *, progress: Callable[[int, str], None] | None = None) -> Demo:
    """Cluster the example by every method.

    Parameters
    ----------
    seed : int
        Of the data and of the methods.
    progress : callable, optional
        Called as ``progress(k, name)`` before the k-th method.
    """
    X, y = make_rings(random_state=seed)
    # The first fit loads (or compiles) the loops; that is not the method's time.
    clone(METHODS["kernel convex clustering"][0]).fit(X[::8])
    demo = Demo(X, y, [], [])
    for k, (name, (model, told)) in enumerate(METHODS.items()):
        if progress is not None:
            progress(k, name)
        estimator = clone(model).set_params(random_state=seed)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            # spectral clustering warns that the ring and the blobs are separate components
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            labels = estimator.fit_predict(X)
        seconds = time.perf_counter() - begin
        certificate = getattr(estimator, "certificate_", None)
        demo.labels.append(labels)
        demo.rows.append(
            {
                "method": name,
                "NMI": round(float(normalized_mutual_info_score(y, labels)), 4),
                "clusters": len(np.unique(labels)),
                "told_k": told,
                "relative_gap": None if certificate is None else float(certificate.relative_gap),
                "seconds": round(seconds, 3),
            }
        )
    return demo


def draw(demo: Demo, target: str | Path) -> None:
    """Draw the partitions side by side and save the picture as PNG."""
    made, axes = figure(2, 2, 9.0, 9.0)
    for ax, labels, row in zip(axes, demo.labels, demo.rows):
        LabelScatterDisplay.from_data(demo.X, labels).plot(ax)
        number = f"{row['clusters']} clusters, {'told' if row['told_k'] else 'found'}"
        nmi = normalized_mutual_info_score(demo.y, labels)
        ax.set_title(f"{row['method']}\nNMI {nmi:.3f}; {number}")
        ax.get_legend().remove()  # the methods number their clusters each in its own way
        ax.set_aspect("equal")
    save_figure(made, Path(target))

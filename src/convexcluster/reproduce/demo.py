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

from ..problem import Floats, Ints
from .writing import figure, save_figure

# Clusters of the rings: four blobs and the circle.
TOLD = 5
# The paper's parameters for its synthetic data.
PAPER: dict[str, Any] = {"n_neighbors": 6, "weight_bandwidth": 100.0, "gamma": 1.0}


@dataclass(frozen=True)
class Run:
    """One method on the data.

    Attributes
    ----------
    method : str
        Its name.
    labels : ndarray of shape (n,)
        Its partition.
    nmi : float
        Normalised mutual information with the truth.
    n_clusters : int
        Clusters in the partition.
    told : bool
        Whether the method was told the number.
    gap : float or None
        Relative duality gap, for the methods that have one.
    seconds : float
        Of the fit alone.
    """

    method: str
    labels: Ints
    nmi: float
    n_clusters: int
    told: bool
    gap: float | None
    seconds: float


@dataclass(frozen=True)
class Demo:
    """The data, the truth and the runs."""

    X: Floats
    y: Ints
    runs: tuple[Run, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of figures per method."""
        return [
            {
                "method": r.method,
                "NMI": round(r.nmi, 4),
                "clusters": r.n_clusters,
                "told_k": r.told,
                "relative_gap": r.gap,
                "seconds": round(r.seconds, 3),
            }
            for r in self.runs
        ]


def _kernel_convex(seed: int) -> Any:
    from ..estimators import KernelConvexClustering

    return KernelConvexClustering(
        kernel="rbf",
        bandwidth=1.0,
        labels="agglomerative",
        selection="elbow",
        random_state=seed,
        **PAPER,
    )


def _convex(seed: int) -> Any:
    from ..estimators import ConvexClustering

    return ConvexClustering(labels="agglomerative", selection="elbow", random_state=seed, **PAPER)


def _kmeans(seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(TOLD, n_init=10, random_state=seed)


def _spectral(seed: int) -> Any:
    from sklearn.cluster import SpectralClustering

    # The neighbourhood graph suits these data best; a Gaussian affinity cuts the ring.
    return SpectralClustering(TOLD, affinity="nearest_neighbors", random_state=seed)


# name -> (estimator from a seed, whether it is told the number of clusters)
METHODS: dict[str, tuple[Callable[[int], Any], bool]] = {
    "kernel convex clustering": (_kernel_convex, False),
    "k-means": (_kmeans, True),
    "spectral clustering": (_spectral, True),
    "convex clustering": (_convex, False),
}


def run(seed: int = 0, *, progress: Callable[[int, str], None] | None = None) -> Demo:
    """Cluster the example by every method.

    Parameters
    ----------
    seed : int
        Of the data and of the methods.
    progress : callable, optional
        Called as ``progress(k, name)`` before the k-th method.

    Examples
    --------
    >>> demo = run(0)
    >>> demo.runs[0].method, demo.runs[0].n_clusters, demo.runs[0].nmi > 0.999
    ('kernel convex clustering', 5, True)
    """
    from sklearn.metrics import normalized_mutual_info_score

    from ..datasets import make_rings

    X, y = make_rings(random_state=seed)
    # The first fit loads (or compiles) the loops; that is not the method's time.
    _kernel_convex(seed).fit(X[::8])
    runs = []
    for k, (name, (make, told)) in enumerate(METHODS.items()):
        if progress is not None:
            progress(k, name)
        estimator = make(seed)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            # spectral clustering warns that the ring and the blobs are separate components
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            labels = estimator.fit_predict(X)
        seconds = time.perf_counter() - begin
        certificate = getattr(estimator, "certificate_", None)
        runs.append(
            Run(
                method=name,
                labels=np.asarray(labels, dtype=np.int64),
                nmi=float(normalized_mutual_info_score(y, labels)),
                n_clusters=len(np.unique(labels)),
                told=told,
                gap=None if certificate is None else float(certificate.relative_gap),
                seconds=seconds,
            )
        )
    return Demo(X, y, tuple(runs))


def draw(demo: Demo, target: str | Path) -> None:
    """Draw the partitions side by side and save the picture as PNG."""
    from ..plots import LabelScatterDisplay

    made, axes = figure(2, 2, 9.0, 9.0)
    for ax, r in zip(axes, demo.runs):
        LabelScatterDisplay.from_data(demo.X, r.labels).plot(ax)
        number = f"{r.n_clusters} clusters, {'told' if r.told else 'found'}"
        ax.set_title(f"{r.method}\nNMI {r.nmi:.3f}; {number}")
        ax.get_legend().remove()  # the methods number their clusters each in its own way
        ax.set_aspect("equal")
    save_figure(made, Path(target))

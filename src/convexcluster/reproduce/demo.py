"""The paper's synthetic data (its section 4.1) by defaults: four blobs of 50 inside a ring of 200.

Input is a seed; output the default fit, a row of figures for each of some methods, and a picture of
data, path, tree, answer and proof. Every method runs with its defaults; those that need the number
of clusters are told that there are five. The paper's own parameters are in
:mod:`convexcluster.reproduce.rings`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from ..datasets import make_rings
from ..estimators import ConvexClustering, KernelConvexClustering
from ..plots import DendrogramDisplay, LabelScatterDisplay
from ..plots.appearance import COLOURS, GREY, INK, SHADE, log_axis, marker_area, whole_numbers
from ..problem import Floats, Ints
from .writing import empty_figure, save_figure

# Clusters of the rings: four blobs and the circle.
TOLD = 5
OURS = "KernelConvexClustering()"
# how it is called -> (estimator, whether it is told the number of clusters)
METHODS: dict[str, tuple[Any, bool]] = {
    OURS: (KernelConvexClustering(), False),
    "ConvexClustering()": (ConvexClustering(), False),
    "HDBSCAN()": (HDBSCAN(copy=True), False),
    f"SpectralClustering({TOLD})": (SpectralClustering(TOLD), True),
    "… of nearest neighbours": (SpectralClustering(TOLD, affinity="nearest_neighbors"), True),
    f"KMeans({TOLD})": (KMeans(TOLD), True),
}


@dataclass(frozen=True)
class Demo:
    """The data, the truth, the default fit, and a row of figures for each method."""

    X: Floats
    y: Ints
    model: Any
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
    fitted, rows = {}, []
    for k, (name, (model, told)) in enumerate(METHODS.items()):
        if progress is not None:
            progress(k, name)
        estimator = clone(model)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=seed)
        with warnings.catch_warnings():
            # spectral clustering warns that the ring and the blobs are separate components
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            # The first fit loads or compiles the loops; that is not the method's time.
            clone(estimator).fit(X)
            begin = time.perf_counter()
            labels = estimator.fit_predict(X)
        seconds = time.perf_counter() - begin
        fitted[name] = estimator
        rows.append(
            {
                "method": name,
                "told": "k" if told else "nothing",
                "clusters": len(np.unique(labels[labels >= 0])),
                "ARI": round(float(adjusted_rand_score(y, labels)), 3),
                "seconds": round(seconds, 3),
            }
        )
    return Demo(X, y, fitted[OURS], rows)


def draw(demo: Demo, target: str | Path) -> None:
    """Draw data, path, tree, answer and proof side by side and save the picture as PNG."""
    model, n = demo.model, len(demo.X)
    made = empty_figure(11.5, 4.3)
    places = [["data", "path", "answer"], ["data", "tree", "answer"]]
    axes = made.subplot_mosaic(places, width_ratios=(1, 1.1, 1), height_ratios=(1, 1.3))
    data, path, tree, answer = (axes[name] for name in ("data", "path", "tree", "answer"))
    tree.sharex(path)

    data.scatter(*demo.X.T, s=marker_area(n), c=GREY, linewidths=0)
    data.set_title(f"1  {n} samples; nothing is told")

    gammas, counts = model.path_.gammas, model.path_.n_clusters
    path.step(gammas, counts, where="post", color=COLOURS[0])
    path.set_yscale("log")
    whole_numbers(path)
    path.set(title="2  path: they fuse as γ grows", ylabel="clusters")
    path.tick_params(labelbottom=False)
    DendrogramDisplay.from_estimator(model).plot(tree)
    tree.set(title="3  tree: its topmost branches", yticks=[], xlabel="fusion strength γ")
    log_axis(tree)
    proved = model.certificate_.gamma_interval
    for ax in (path, tree):
        if proved is not None:
            ax.axvspan(*proved, color=SHADE, zorder=0)
        ax.set_xlim(gammas[0], 1.5 * gammas[-1])  # the last merge is at the last γ
    if proved is not None:
        words = f"{model.n_clusters_} clusters,\nproved"
        path.text(
            np.sqrt(proved[0] * proved[1]), counts[0], words, ha="center", va="top", color=INK
        )

    LabelScatterDisplay.from_estimator(model, demo.X).plot(answer)
    answer.get_legend().remove()
    answer.set_title(f"4  {model.n_clusters_} clusters, and their proof")
    answer.set_xlabel(fill(model.certificate_.statement, 46))
    for ax in (data, answer):
        ax.set_aspect("equal")
        ax.set(xticks=[], yticks=[], ylabel="")
        ax.spines[:].set_visible(False)
    path.spines[["top", "right"]].set_visible(False)
    save_figure(made, Path(target))

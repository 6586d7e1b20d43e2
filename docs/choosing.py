"""`python docs/choosing.py`: the pictures of docs/choosing.md, choosing/PARAMETER.png.

A strip for each parameter: the same samples, four values of it, everything else at its default or
as the strip says. ``counts`` has the numbers of clusters, which the tests hold the page's words to.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.datasets import make_blobs, make_circles, make_moons

from convexcluster import KernelConvexClustering

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).with_name("choosing")
COLOURS = plt.get_cmap("tab20").colors


def groups() -> np.ndarray:
    """Four groups, in two pairs."""
    centers = [[0.0, 0.0], [4.0, 0.0], [14.0, 9.0], [18.0, 9.0]]
    return make_blobs([50] * 4, centers=centers, cluster_std=0.6, random_state=3)[0]


def unequal() -> np.ndarray:
    """Two large groups, and one of twelve samples."""
    centers = [[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]]
    return make_blobs([100, 100, 12], centers=centers, cluster_std=0.6, random_state=0)[0]


def moons() -> np.ndarray:
    return make_moons(200, noise=0.06, random_state=0)[0]


def circles() -> np.ndarray:
    return make_circles(200, factor=0.4, noise=0.05, random_state=0)[0]


def rays() -> np.ndarray:
    """Three directions from the origin, any length."""
    rng = np.random.default_rng(0)
    angle = np.repeat([0.3, 1.0, 1.9], 60) + 0.05 * rng.normal(size=180)
    return rng.uniform(1.0, 8.0, 180)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def stripes() -> np.ndarray:
    """Two groups by the first feature, three by the second."""
    rng = np.random.default_rng(0)
    X = rng.normal(scale=0.3, size=(240, 2))
    return X + np.column_stack([3.0 * (np.arange(240) % 2), 3.0 * (np.arange(240) % 3)])


@dataclass(frozen=True)
class Strip:
    """A parameter, its values, the samples, and what else is set."""

    data: Callable[[], np.ndarray]
    values: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    edges: bool = False  # whether the graph is drawn


# γ of ``groups`` at which most samples are alone, groups form, groups are whole, groups have met.
STRIPS = {
    "n_clusters": Strip(groups, (2, None, 6, 9)),
    "gamma": Strip(groups, (0.5, 3.0, 60.0, 2000.0), {"labels": "fusion"}),
    "min_cluster_size": Strip(unequal, (None, 5, 20, 50)),
    "selection": Strip(groups, ("auto", "elbow", "lifetime", "silhouette")),
    "bandwidth": Strip(
        circles, (0.05, "auto", 0.6, 5.0), {"n_clusters": 2, "labels": "agglomerative"}
    ),
    "kernel": Strip(
        circles,
        ("rbf", "laplacian", "linear", "polynomial"),
        {"n_clusters": 2, "labels": "agglomerative"},
    ),
    "metric": Strip(rays, ("auto", "manhattan", "chebyshev", "cosine"), {"n_clusters": 3}),
    "feature_weights": Strip(stripes, (None, (1.0, 0.0), (0.0, 1.0), (1.0, 0.001))),
    "weights": Strip(moons, ("knn", "mutual", "mst", "full"), {"weight_bandwidth": 0.15}, True),
    "n_neighbors": Strip(moons, (2, 7, 20, 60), {"n_clusters": 2}, True),
    "coarsen": Strip(moons, (False, 80, 30, 12), {"n_clusters": 2}),
}


@cache
def fitted(name: str) -> list[KernelConvexClustering]:
    """A model for each value of a strip."""
    strip, models = STRIPS[name], []
    for value in strip.values:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # n_neighbors=60 is near to a complete graph
            model = KernelConvexClustering(**{**strip.options, name: value})
            models.append(model.fit(strip.data()))
    return models


def counts() -> dict[str, list[int]]:
    """Parameter → number of clusters for each of its values."""
    return {name: [model.n_clusters_ for model in fitted(name)] for name in STRIPS}


def draw(name: str) -> plt.Figure:
    """The strip of one parameter."""
    strip, X = STRIPS[name], STRIPS[name].data()
    figure, axes = plt.subplots(1, len(strip.values), figsize=(9, 2.6), layout="constrained")
    for ax, value, model in zip(axes, strip.values, fitted(name)):
        if strip.edges:
            lines = X[model.graph_.edges]
            ax.add_collection(LineCollection(lines, colors="#c9d1dc", linewidths=0.5))
        ink = [COLOURS[label % len(COLOURS)] for label in model.labels_]
        ax.scatter(*X.T, s=8, color=ink, zorder=2)
        if name == "coarsen" and value:
            ax.scatter(*model.points_.X.T, s=30, marker="s", facecolor="none", edgecolor="black")
        k = model.n_clusters_
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(f"{value!r}\n{k} cluster{'s' if k > 1 else ''}", fontsize=10)
    return figure


def main() -> None:
    """Draw and write all strips."""
    FOLDER.mkdir(exist_ok=True)
    for name in STRIPS:
        figure = draw(name)
        figure.savefig(FOLDER / f"{name}.png", dpi=80)
        plt.close(figure)
    for name, found in counts().items():
        print(name, dict(zip(map(repr, STRIPS[name].values), found)))


if __name__ == "__main__":
    main()

"""`python docs/pictures.py`: the five pictures of docs/how-it-works.md, pictures/1.png to 5.png.

Three groups in the plane for graph, path, tree and proof; two circles for the kernel. What the page
says about them is computed by ``facts``, which the tests compare with the page.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.collections import LineCollection
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import make_blobs, make_circles

from convexcluster import ClusterPath, ConvexClustering, KernelConvexClustering

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).with_name("pictures")
COLOURS = np.array(["#23395d", "#d1495b", "#edae49", "#66a182", "#8d96a3", "#00798c"])
SHOWN = (0.35, 0.5, 0.6, 0.9)  # of the logarithmic range of γ in the second picture


@cache
def groups() -> np.ndarray:
    """Three groups of thirty samples."""
    centers = [[0.0, 0.0], [5.0, 0.5], [2.5, 4.0]]
    return make_blobs([30] * 3, centers=centers, cluster_std=0.7, random_state=4)[0]


@cache
def circles() -> tuple[np.ndarray, np.ndarray]:
    """Two circles of 100 samples each."""
    return make_circles(200, factor=0.4, noise=0.05, random_state=0)


@cache
def plain() -> ConvexClustering:
    """Convex clustering of the groups, every γ solved to the end."""
    return ConvexClustering(certify="path").fit(groups())


@cache
def chosen() -> KernelConvexClustering:
    """The defaults on the groups."""
    return KernelConvexClustering().fit(groups())


@cache
def told(kind: type) -> KernelConvexClustering:
    """Two clusters of the circles, by the tree on their centroids."""
    return kind(2, labels="agglomerative").fit(circles()[0])


def facts() -> dict[str, object]:
    """What the page says in numbers."""
    path, model, y = plain().path_, chosen(), circles()[1]
    kinds = (ConvexClustering, KernelConvexClustering)
    return {
        "edges": len(plain().graph_.edges),
        "first": int(path.n_clusters[0]),
        "lasts longest": lasting(path),
        "circles right, plain and kernel": [len(set(zip(told(c).labels_, y))) == 2 for c in kinds],
        "chosen": model.n_clusters_,
        "boundaries that stand": int((model.linkage_[:, 2] >= 1).sum()),
        "proved": model.certificate_.gamma_interval is not None,
        "gap": bool(model.certificate_.relative_gap <= 1e-6),
    }


def lasting(path: ClusterPath) -> int:
    """Number of clusters, more than one, with the longest range of log γ."""
    kept = path.n_clusters[:-1] > 1
    width = np.diff(np.log(path.gammas))[kept]
    return int(np.bincount(path.n_clusters[:-1][kept], width).argmax())


def bare(ax: plt.Axes, title: str = "") -> None:
    """No ticks, equal units."""
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_title(title, fontsize=10)


def draw_graph() -> plt.Figure:
    """Samples, and the edges along which they pull."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    X, graph = groups(), plain().graph_
    left.scatter(*X.T, s=14, color=COLOURS[0])
    bare(left, "samples")
    strong = graph.weights / graph.weights.max()
    widths = 0.4 + 2 * strong
    right.add_collection(LineCollection(X[graph.edges], linewidths=widths, colors="#8d96a3"))
    right.scatter(*X.T, s=14, color=COLOURS[0], zorder=3)
    bare(right, f"{len(graph.edges)} edges; wide ones pull more")
    return figure


def draw_path() -> plt.Figure:
    """Centroids at four strengths, with the way they have come."""
    figure, axes = plt.subplots(1, len(SHOWN), figsize=(10, 2.9), layout="constrained")
    X, path = groups(), plain().path_
    middle = X.mean(axis=0)  # the path is in centred coordinates
    for ax, share in zip(axes, SHOWN):
        step = int(share * (len(path.gammas) - 1))
        for end in range(step):
            a, b = (path.centers[s][path.labels(step=s)] + middle for s in (end, end + 1))
            ax.add_collection(LineCollection(np.stack([a, b], axis=1), colors="#c9d1dc"))
        labels = path.labels(step=step)
        ax.scatter(*X.T, s=5, color="#c9d1dc")
        sizes = 12 + 2 * np.bincount(labels)
        ax.scatter(*(path.centers[step] + middle).T, s=sizes, color=COLOURS[1], zorder=3)
        bare(ax, f"γ = {path.gammas[step]:.2g}: {path.n_clusters[step]} clusters")
    return figure


def draw_tree() -> plt.Figure:
    """Number of clusters along γ, and the tree of fusions."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    path = plain().path_
    left.step(path.gammas, path.n_clusters, where="post", color=COLOURS[0])
    left.set(xscale="log", yscale="log", xlabel="γ", ylabel="clusters")
    tree = path.to_linkage()
    dendrogram(tree, ax=right, no_labels=True, color_threshold=0, above_threshold_color=COLOURS[0])
    right.set(yscale="log", ylabel="γ of the fusion", ylim=(tree[:, 2].min() / 2, tree[-1, 2] * 3))
    return figure


def draw_kernel() -> plt.Figure:
    """Circles: cut across by plain convex clustering, apart in the space of a kernel."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    X, model = circles()[0], told(KernelConvexClustering)
    axes[0].scatter(*X.T, s=10, color=COLOURS[told(ConvexClustering).labels_])
    bare(axes[0], "plain: two clusters")
    Z = model.embedding_ - model.embedding_.mean(axis=0)
    axis = np.linalg.svd(Z, full_matrices=False)[0]
    axes[1].scatter(*axis[:, :2].T, s=10, color=COLOURS[model.labels_])
    bare(axes[1], "the kernel's space, first two axes")
    axes[1].set_aspect("auto")
    axes[2].scatter(*X.T, s=10, color=COLOURS[model.labels_])
    bare(axes[2], "with the kernel: two clusters")
    return figure


def draw_choice() -> plt.Figure:
    """Heights of the boundaries beside their level, the clusters, and what is proved."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    model = chosen()
    heights = np.sort(model.linkage_[:, 2])[::-1][:10]
    ink = np.where(heights >= 1, COLOURS[0], "#c9d1dc")
    left.bar(np.arange(2, len(heights) + 2), heights, color=ink)
    left.axhline(1.0, color=COLOURS[1], label="level")
    left.set(xlabel="number of clusters", ylabel="height of the boundary")
    left.legend(fontsize=8)
    right.scatter(*groups().T, s=14, color=COLOURS[model.labels_])
    low, high = model.certificate_.gamma_interval or (np.nan, np.nan)
    bare(right, f"{model.n_clusters_} clusters, proved for γ from {low:.2g} to {high:.2g}")
    return figure


PICTURES = (draw_graph, draw_path, draw_tree, draw_kernel, draw_choice)


def main() -> None:
    """Draw and write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    for number, draw in enumerate(PICTURES, start=1):
        figure = draw()
        figure.savefig(FOLDER / f"{number}.png", dpi=90)
        plt.close(figure)
    for name, value in facts().items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()

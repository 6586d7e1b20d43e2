"""`python docs/boundaries.py`: the picture of docs/defaults.md, boundaries.png.

Above, valleys of the density of moons with background; below, tensions of the path of three groups
with five features. Left the data, right the heights of the boundaries beside their level.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA

from convexcluster import KernelConvexClustering
from convexcluster.numerics.boundaries import Boundaries
from convexcluster.weights.landscape import Landscape
from convexcluster.weights.valleys import BESIDE, at_scale

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SHOWN = 12  # boundaries on the right


def moons() -> np.ndarray:
    """Two moons of 300 samples each, and 100 that lie anywhere."""
    X = make_moons(600, noise=0.06, random_state=0)[0]
    far = np.random.default_rng(0).uniform(X.min(axis=0) - 0.3, X.max(axis=0) + 0.3, (100, 2))
    return np.concatenate([X, far])


def groups() -> np.ndarray:
    """Three normal groups in five dimensions."""
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(size=(60, 5)) + 3.5 * np.eye(5)[t] for t in range(3)])


def edge_tensions(model: KernelConvexClustering) -> np.ndarray:
    """∫ min(1, 1 − cos(aᵢ, aⱼ)) d log γ of every edge of the graph."""
    path, edges = model.path_, model.graph_.edges
    kept = path.gammas > 0
    width = np.gradient(np.log(path.gammas[kept]))
    total = np.zeros(len(edges))
    for step, length in zip(np.flatnonzero(kept), width):
        A = path.centers[step][path.labels(step=int(step))]
        A = A - A.mean(axis=0)
        A /= np.maximum(np.linalg.norm(A, axis=1), 1e-12)[:, None]
        total += length * np.clip(1.0 - (A[edges[:, 0]] * A[edges[:, 1]]).sum(axis=1), 0.0, 1.0)
    return total


def draw_valleys(ax: plt.Axes, X: np.ndarray, size: int = 23) -> None:
    """Points by their density at one scale; its modes and the saddles between them."""
    land = Landscape.of(X, np.ones(len(X)))
    scale = at_scale(land, size)
    density = -land.lengths[:, size - 1]
    modes = scale.uphill == np.arange(len(X))
    dots = ax.scatter(*X.T, c=density, s=9, cmap="viridis", linewidths=0)
    ax.scatter(*X[modes].T, s=60, marker="^", color="crimson", label="modes")
    ax.scatter(*X[scale.ends[:, 0]].T, s=40, marker="x", color="black", label="saddles")
    ax.figure.colorbar(dots, ax=ax, label="log density (times 1/D)")
    ax.legend(loc="lower left", fontsize=8)
    ax.set(title=f"density by {size} neighbours", xticks=[], yticks=[])


def draw_tensions(ax: plt.Axes, X: np.ndarray, model: KernelConvexClustering) -> None:
    """Edges by tension, on the first two principal axes."""
    places = PCA(2).fit_transform(X)
    lines = LineCollection(places[model.graph_.edges], cmap="magma_r", linewidths=0.9)
    found = edge_tensions(model)
    order = np.argsort(found)
    lines.set_segments(places[model.graph_.edges[order]])
    lines.set_array(found[order])
    ax.add_collection(lines)
    ax.scatter(*places.T, s=9, color="grey", linewidths=0)
    ax.figure.colorbar(lines, ax=ax, label="tension (log γ)")
    ax.set(title="edges of the graph, five features", xticks=[], yticks=[])


def draw_heights(ax: plt.Axes, tree: Boundaries, beside: float) -> None:
    """The clearest boundaries; those that stand are dark."""
    heights = tree.heights[:SHOWN]
    stands = np.arange(len(heights)) < tree.count - 1
    ax.bar(np.arange(2, len(heights) + 2), heights, color=np.where(stands, "#23395d", "#c9d1dc"))
    ax.axhline(1.0, color="crimson", label="level")
    if beside < 1:
        ax.axhline(beside, color="crimson", linestyle=":", label="beside one that stands")
    ax.legend(fontsize=8)
    ax.set(xlabel="number of clusters", ylabel="height in levels")
    ax.set_title(f"{tree.kind}: {tree.count} clusters")


def main() -> None:
    """Draw and write the picture."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
    for row, X, beside in ((0, moons(), BESIDE), (1, groups(), 1.0)):
        model = KernelConvexClustering().fit(X)
        chosen = model.selection_
        assert chosen.method == ("valleys" if row == 0 else "tension")
        if row == 0:
            draw_valleys(axes[0, 0], X)
        else:
            draw_tensions(axes[1, 0], X, model)
        draw_heights(axes[row, 1], Boundaries(chosen.linkage, chosen.method, beside), beside)
    figure.savefig(Path(__file__).with_name("boundaries.png"), dpi=100)


if __name__ == "__main__":
    main()

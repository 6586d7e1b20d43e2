"""Clusters as a whole: their sizes, and the kernel matrix in the order of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Floats, Ints
from .appearance import GREY, INK, N_STYLES, axes_or_new, style, tidy, whole_numbers
from .layout import Branches, cluster_ranks, colour_ranks, estimator_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..path.clusterpath import ClusterPath


@dataclass(frozen=True, eq=False)
class ClusterSizesDisplay:
    """Samples in each cluster, the largest first.

    Attributes
    ----------
    sizes : ndarray of shape (k,)
        Descending.
    clusters : ndarray of shape (k,)
        Label of each.
    ranks : ndarray of shape (k,)
        Colour rank of each.

    Examples
    --------
    >>> display = ClusterSizesDisplay.from_data([1, 0, 1, 1])
    >>> display.sizes, display.clusters
    (array([3, 1]), array([1, 0]))
    """

    sizes: Ints
    clusters: Ints
    ranks: Ints

    @classmethod
    def from_data(cls, labels: ArrayLike, *, ranks: Ints | None = None) -> ClusterSizesDisplay:
        """Count ``labels`` (n,), whole numbers from 0; ``ranks`` has one entry per label."""
        counts = np.bincount(np.asarray(labels, dtype=np.int64))
        order = np.argsort(-counts, kind="stable")
        order = order[counts[order] > 0]
        ranks = np.arange(len(order)) if ranks is None else ranks[order]
        return cls(counts[order], order, ranks)

    @classmethod
    def from_path(cls, path: ClusterPath, gamma: float) -> ClusterSizesDisplay:
        """Clusters of a path at ``gamma``."""
        labels = path.labels(gamma=gamma)
        return cls.from_data(labels, ranks=cluster_ranks(labels, colour_ranks(path.to_linkage())))

    @classmethod
    def from_estimator(cls, estimator: Any) -> ClusterSizesDisplay:
        """Clusters of a fitted estimator."""
        return cls.from_data(estimator.labels_, ranks=estimator_ranks(estimator))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes: bars if they are few, otherwise a curve."""
        ax = axes_or_new(ax)
        k = len(self.sizes)
        few = k <= 40
        if few:
            colours = [style(int(r))[0] if r < N_STYLES else GREY for r in self.ranks]
            bars = ax.bar(range(k), self.sizes, color=colours, edgecolor=INK, linewidth=0.5)
            small = 9 if k <= 15 else 6
            ax.bar_label(bars, [f"{size:,}" for size in self.sizes], fontsize=small, padding=2)
            ax.set_xticks(range(k), [str(c) for c in self.clusters], fontsize=small)
        else:
            ax.plot(np.arange(1, k + 1), self.sizes, ".-", color=INK, ms=3, rasterized=True)
            ax.set_xscale("log")
            whole_numbers(ax, "x")
        if self.sizes[0] > 100 * self.sizes[-1]:
            ax.set_yscale("log")
            ax.set_ylim(0.6, 2.5 * self.sizes[0])
        whole_numbers(ax)
        noun = "cluster" if k == 1 else "clusters"
        title = f"Sizes of {k:,} {noun}, {int(self.sizes.sum()):,} samples"
        tidy(ax, title, "cluster" if few else "rank of the cluster by size", "samples in cluster")
        return ax


@dataclass(frozen=True, eq=False)
class KernelMatrixDisplay:
    """Kernel matrix with samples in the order of the tree, averaged down to pixels.

    The mean of K = ZZᵀ over a block of rows and one of columns is the inner product of the two
    mean embeddings, so K itself is never formed.

    Attributes
    ----------
    image : ndarray of shape (P, P)
        Mean of the kernel over each block.
    bounds : ndarray of shape (k − 1,)
        Where one cluster ends and the next begins, in samples.
    n_samples : int

    Examples
    --------
    >>> Z = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    >>> KernelMatrixDisplay.from_data(Z, [0, 2, 1, 3], max_pixels=2).image
    array([[1., 0.],
           [0., 1.]])
    """

    image: Floats
    bounds: Ints
    n_samples: int

    @classmethod
    def from_data(
        cls,
        Z: ArrayLike,
        order: ArrayLike,
        labels: Ints | None = None,
        *,
        precomputed: bool = False,
        max_pixels: int = 600,
    ) -> KernelMatrixDisplay:
        """Average K = ZZᵀ (or ``Z`` itself, if ``precomputed``) in ``order``.

        ``labels`` (n,) put lines between clusters; where the order cuts one in two, it has two.
        """
        Z, order = np.asarray(Z, dtype=np.float64), np.asarray(order)
        n = len(Z)
        starts = np.unique(np.linspace(0, n, min(n, max_pixels) + 1).astype(np.int64)[:-1])
        counts = np.diff(np.append(starts, n))[:, None]
        rows = np.add.reduceat(Z[order], starts, axis=0) / counts
        if precomputed:
            image = np.add.reduceat(rows[:, order], starts, axis=1) / counts.T
        else:
            image = rows @ rows.T
        bounds = np.empty(0, dtype=np.int64)
        if labels is not None:
            sorted_labels = np.asarray(labels)[order]
            bounds = np.flatnonzero(sorted_labels[1:] != sorted_labels[:-1]) + 1
        return cls(image, bounds, n)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> KernelMatrixDisplay:
        """Kernel of a fitted estimator's embedding: clusters, and samples inside, in tree order.

        Labels may leave the tree for a few samples; these stand with their cluster.
        """
        labels = estimator.labels_
        place = Branches.of(estimator.linkage_).start[: len(labels)]
        middle = np.bincount(labels, place) / np.bincount(labels)
        order = np.lexsort((place, labels, middle[labels]))
        return cls.from_data(estimator.embedding_, order, estimator.labels_, **options)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes."""
        ax = axes_or_new(ax, 5.8, 5.0)
        n = self.n_samples
        picture = ax.imshow(
            self.image,
            cmap="cividis",
            extent=(0, n, n, 0),
            interpolation="nearest",
            rasterized=True,
        )
        assert ax.figure is not None
        ax.figure.colorbar(picture, ax=ax, label="kernel k(x, x′) of the embedding")
        if len(self.bounds) <= 40:  # more lines than this hide the matrix
            for bound in self.bounds:
                ax.axhline(bound, color="white", lw=0.7)
                ax.axvline(bound, color="white", lw=0.7)
        detail = "" if len(self.image) == n else f", {len(self.image)} × {len(self.image)} means"
        title = f"Kernel matrix in the order of the tree\n{n:,} samples{detail}"
        tidy(ax, title, "sample, in tree order", "sample, in tree order")
        whole_numbers(ax, "x")
        whole_numbers(ax, "y")
        return ax

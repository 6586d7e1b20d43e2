"""Curves over the number of clusters: elbow, and agreement with known classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..partition import means
from ..problem import Floats, Ints
from .appearance import COLOURS, INK, axes_or_new, tidy, whole_numbers
from .layout import Branches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..path.clusterpath import ClusterPath


@dataclass(frozen=True, eq=False)
class ElbowDisplay:
    """Within-cluster sum of squares in the embedding against the number of clusters.

    Attributes
    ----------
    n_clusters : ndarray of shape (m,)
    sse : ndarray of shape (m,)
        Σ_i m_i ‖a_i − mean of its cluster‖² for each number of clusters.
    chosen : int or None
        Marked number of clusters.

    Examples
    --------
    >>> display = ElbowDisplay.from_data([[0.0], [1.0], [10.0]])
    >>> display.sse.round(3).tolist()
    [60.667, 0.5, 0.0]
    """

    n_clusters: Ints
    sse: Floats
    chosen: int | None

    @classmethod
    def from_data(
        cls,
        A: ArrayLike,
        *,
        masses: Floats | None = None,
        chosen: int | None = None,
        max_clusters: int = 30,
    ) -> ElbowDisplay:
        """Ward's tree on the rows of ``A`` (n, r), all numbers of clusters in one pass."""
        from ..labels import sse_curve, ward_tree

        A = np.asarray(A, dtype=np.float64)
        m = np.ones(len(A)) if masses is None else masses
        sse = np.asarray(sse_curve(ward_tree(A, m)))[:max_clusters]
        return cls(np.arange(1, len(sse) + 1), np.maximum(sse, 0.0), chosen)

    @classmethod
    def from_path(cls, path: ClusterPath, gamma: float, **options: Any) -> ElbowDisplay:
        """Ward's tree on the distinct centroids at ``gamma``, weighted by their masses.

        ``options`` (``chosen``, ``max_clusters``) go to :meth:`from_data`.
        """
        labels = path.labels(gamma=gamma)
        C = path.centroids(gamma)
        masses = np.bincount(labels, path.masses, len(C)).astype(np.float64)
        return cls.from_data(C, masses=masses, **options)

    @classmethod
    def from_linkage(
        cls,
        linkage: Floats,
        Z: Floats,
        *,
        masses: Floats | None = None,
        chosen: int | None = None,
        max_clusters: int = 30,
    ) -> ElbowDisplay:
        """Samples ``Z`` (n, r) around the means of the clusters of any tree over them.

        From k + 1 clusters to k, the merge of s and t adds m_s m_t/(m_s + m_t) ‖z̄_s − z̄_t‖².
        """
        n = len(Z)
        m = np.ones(n) if masses is None else masses
        most = min(max_clusters, n)
        tree, low = Branches.of(linkage), 2 * n - most
        pairs = linkage[n - most :, :2].astype(np.int64)
        tops = np.append(pairs.ravel(), 2 * n - 2) if most == 1 else pairs.ravel()
        tops = tops[tops < low]
        tops = tops[np.argsort(tree.start[tops])]
        labels = np.empty(n, dtype=np.int64)
        labels[tree.order] = np.repeat(np.arange(most), tree.size[tops])
        mean = dict(zip(tops.tolist(), means(Z, m, labels)))
        mass = dict(zip(tops.tolist(), np.bincount(labels, m).tolist()))
        inside = m @ ((Z - np.stack(list(mean.values()))[labels]) ** 2).sum(axis=1)
        sse = np.empty(most)
        sse[-1] = inside
        for step, (s, t) in enumerate(pairs.tolist()):
            total = mass[s] + mass[t]
            inside += mass[s] * mass[t] / total * float(((mean[s] - mean[t]) ** 2).sum())
            mean[low + step] = (mass[s] * mean[s] + mass[t] * mean[t]) / total
            mass[low + step] = total
            sse[most - 2 - step] = inside
        return cls(np.arange(1, most + 1), sse, chosen)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> ElbowDisplay:
        """Samples around the clusters of a fitted estimator's tree, its own number marked."""
        options.setdefault("chosen", int(estimator.n_clusters_))
        return cls.from_linkage(estimator.linkage_, estimator.embedding_, **options)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes."""
        ax = axes_or_new(ax)
        ax.plot(self.n_clusters, self.sse, "o-", color=COLOURS[0], ms=4)
        if self.chosen is not None:
            _mark(ax, self.chosen, f"k = {self.chosen}")
        whole_numbers(ax, "x")
        ax.set_ylim(bottom=0)
        tidy(
            ax,
            "Elbow",
            "number of clusters k",
            "within-cluster sum of squares\n(squared kernel distance)",
        )
        return ax


def _mark(ax: Axes, x: float, text: str) -> None:
    """Vertical line at the chosen value, named in the legend."""
    ax.axvline(x, color=INK, linestyle="--", linewidth=1, label=text)
    ax.legend(frameon=False)


@dataclass(frozen=True, eq=False)
class NMIDisplay:
    """Normalised mutual information with known classes against the number of clusters.

    Attributes
    ----------
    n_clusters : ndarray of shape (m,)
    nmi : ndarray of shape (m,)
    n_classes : int
        Number of known classes.
    chosen : int or None
        Marked number of clusters.

    Examples
    --------
    >>> linkage = np.array([[0.0, 1, 1, 2], [2, 3, 1, 2], [4, 5, 9, 4]])
    >>> NMIDisplay.from_linkage(linkage, ["a", "a", "b", "b"]).nmi.round(3).tolist()
    [0.0, 1.0, 0.8, 0.667]
    """

    n_clusters: Ints
    nmi: Floats
    n_classes: int
    chosen: int | None

    @classmethod
    def from_data(
        cls, partitions: Mapping[int, ArrayLike], y: ArrayLike, *, chosen: int | None = None
    ) -> NMIDisplay:
        """Score one partition per number of clusters against the classes ``y`` (n,)."""
        from sklearn.metrics import normalized_mutual_info_score

        y = np.asarray(y)
        ks = np.array(sorted(partitions), dtype=np.int64)
        nmi = [float(normalized_mutual_info_score(y, np.asarray(partitions[int(k)]))) for k in ks]
        return cls(ks, np.array(nmi), len(np.unique(y)), chosen)

    @classmethod
    def from_linkage(
        cls,
        linkage: Floats,
        y: ArrayLike,
        *,
        chosen: int | None = None,
        max_clusters: int = 30,
    ) -> NMIDisplay:
        """Cut a tree of SciPy's format at 1, 2, … ``max_clusters``."""
        from ..labels import cut

        most = min(max_clusters, len(linkage) + 1)
        return cls.from_data({k: cut(linkage, k) for k in range(1, most + 1)}, y, chosen=chosen)

    @classmethod
    def from_path(
        cls,
        path: ClusterPath,
        y: ArrayLike,
        *,
        chosen: int | None = None,
        max_clusters: int = 30,
    ) -> NMIDisplay:
        """Partitions of a path into 1, 2, … ``max_clusters``."""
        most = min(max_clusters, len(path.masses))
        partitions = {k: path.labels(n_clusters=k) for k in range(1, most + 1)}
        return cls.from_data(partitions, y, chosen=chosen)

    @classmethod
    def from_estimator(cls, estimator: Any, y: ArrayLike, **options: Any) -> NMIDisplay:
        """Tree of a fitted estimator, its number of clusters marked."""
        options.setdefault("chosen", int(estimator.n_clusters_))
        return cls.from_linkage(estimator.linkage_, y, **options)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes."""
        ax = axes_or_new(ax)
        ax.plot(self.n_clusters, self.nmi, "o-", color=COLOURS[0], ms=4)
        ax.axvline(
            self.n_classes, color=COLOURS[6], linestyle=":", label=f"{self.n_classes} classes known"
        )
        if self.chosen is not None:
            _mark(ax, self.chosen, f"{self.chosen} clusters chosen")
        ax.legend(frameon=False)
        ax.set_ylim(-0.02, 1.02)
        whole_numbers(ax, "x")
        tidy(
            ax,
            "Agreement with the known classes",
            "number of clusters k",
            "normalised mutual information",
        )
        return ax

"""The tree over log γ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..labels import cut
from ..problem import Floats, Ints
from .appearance import INK, axes_or_new, line_colour, log_axis, plain, tidy
from .layout import Branches, cluster_ranks, colour_ranks, estimator_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..path.clusterpath import ClusterPath


@dataclass(frozen=True, eq=False)
class DendrogramDisplay:
    """The tree over log γ, cut off below its ``max_leaves`` topmost branches.

    Attributes
    ----------
    leaves : ndarray of shape (L,)
        Node of the linkage at each leaf drawn, in drawing order; nodes < n are samples.
    sizes : ndarray of shape (L,)
        Samples below each.
    joins : ndarray of shape (L − 1, 2, 2)
        For each merge drawn, both children as (height, position); a leaf has height 0.
    heights, positions : ndarray of shape (L − 1,)
        γ of each merge, and its place across.
    ranks : ndarray of shape (L − 1, 2)
        Colour rank of the cluster that holds each child, −1 where it has more than one.
    names : list of str
        Text beside each leaf.
    floor : float
        γ at which leaves are drawn to start: log γ has no zero.
    gamma : float or None

    Examples
    --------
    >>> display = DendrogramDisplay.from_linkage([[0, 1, 0.5, 2], [2, 3, 4.0, 3]])
    >>> display.leaves, display.heights
    (array([2, 0, 1]), array([0.5, 4. ]))
    """

    leaves: Ints
    sizes: Ints
    joins: Floats
    heights: Floats
    positions: Floats
    ranks: Ints
    names: list[str]
    floor: float
    gamma: float | None

    @classmethod
    def from_linkage(
        cls,
        linkage: ArrayLike,
        *,
        gamma: float | None = None,
        labels: Ints | None = None,
        label_ranks: Ints | None = None,
        ids: Sequence[object] | None = None,
        max_leaves: int = 40,
    ) -> DendrogramDisplay:
        """Lay out the top of ``linkage`` (n − 1, 4).

        Parameters
        ----------
        linkage : array-like of shape (n − 1, 4)
        gamma : float, optional
            Marked; its clusters are coloured unless ``labels`` are given.
        labels : ndarray of shape (n,), optional
            Clusters to colour: a branch is coloured if all of it has one label.
        label_ranks : ndarray of shape (k,), optional
            Colour rank of each label; default: by this tree.
        ids : sequence of n objects, optional
            Names of the samples.
        max_leaves : int
        """
        linkage = np.asarray(linkage, dtype=np.float64)
        n = len(linkage) + 1
        if n < 2:
            raise ValueError("a tree needs at least two samples")
        tree = Branches.of(linkage)
        first = max(n - max_leaves, 0)  # merges below are hidden in the leaves
        pairs = linkage[:, :2].astype(np.int64)
        inside = pairs[first:].ravel()
        leaves = inside[inside < n + first]
        leaves = leaves[np.argsort(tree.start[leaves], kind="stable")]
        place = np.full(2 * n - 1, np.nan)
        place[leaves] = np.arange(len(leaves))
        height = np.concatenate([np.zeros(n), linkage[:, 2]])
        for i in range(first, n - 1):
            place[n + i] = place[pairs[i]].mean()
        shown = np.where(np.isin(pairs[first:], leaves), 0.0, height[pairs[first:]])
        joins = np.stack([shown, place[pairs[first:]]], axis=-1)

        if labels is None and gamma is not None:
            labels = cut(linkage, n - int((linkage[:, 2] <= gamma).sum()))
        colours = branch_ranks(linkage, labels, label_ranks)
        sizes = tree.size[leaves]
        positive = linkage[first:, 2][linkage[first:, 2] > 0]
        floor = float(positive.min()) / 2 if len(positive) else 1.0
        names = [
            str(int(node) if ids is None else ids[int(node)]) if node < n else f"({size:,})"
            for node, size in zip(leaves, sizes)
        ]
        return cls(
            leaves,
            sizes,
            joins,
            linkage[first:, 2],
            place[n + first :],
            colours[pairs[first:]],
            names,
            floor,
            gamma,
        )

    @classmethod
    def from_path(
        cls, path: ClusterPath, gamma: float | None = None, **options: Any
    ) -> DendrogramDisplay:
        """Tree of a path, coloured by the clusters at ``gamma``."""
        if gamma is not None:
            options.setdefault("labels", path.labels(gamma=gamma))
        return cls.from_linkage(path.to_linkage(), gamma=gamma, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> DendrogramDisplay:
        """Tree of a fitted estimator's path, coloured by its labels."""
        ranks = estimator_ranks(estimator)
        options = {"labels": estimator.labels_, "label_ranks": ranks, **options}
        return cls.from_path(estimator.path_, float(estimator.gamma_), **options)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes: γ to the right, leaves down the left."""
        ax = axes_or_new(ax, 6.5, float(np.clip(0.19 * len(self.leaves) + 1.2, 3.0, 9.0)))
        for children, height, at, ranks in zip(
            self.joins, self.heights, self.positions, self.ranks
        ):
            right = max(height, self.floor)
            for (low, place), rank in zip(children, ranks):
                colour = INK if rank < 0 else line_colour(int(rank))
                xs = [max(low, self.floor), right, right]
                ax.plot(xs, [place, place, at], color=colour, lw=1.3, solid_capstyle="butt")
        log_axis(ax)
        if self.gamma is not None:
            ax.axvline(self.gamma, color=INK, ls="--", lw=1)
        ax.set_yticks(range(len(self.leaves)), [plain(name, 18) for name in self.names])
        ax.tick_params(axis="y", length=0, labelsize=float(np.clip(320 / len(self.leaves), 6, 9)))
        ax.set_ylim(len(self.leaves) - 0.3, -0.7)
        total = int(self.sizes.sum())
        shown = f"{total:,} samples"
        if len(self.leaves) < total:
            shown = f"top {len(self.leaves)} branches of {total:,} samples; (size) of each"
        marked = "" if self.gamma is None else f", dashed: γ = {self.gamma:.3g}"
        tidy(ax, f"Dendrogram{marked}\n{shown}", "fusion strength γ (log scale)", "")
        ax.spines["left"].set_visible(False)
        return ax


def branch_ranks(linkage: Floats, labels: Ints | None, label_ranks: Ints | None) -> Ints:
    """Colour rank of every node whose members share a label; −1 for the others."""
    n = len(linkage) + 1
    if labels is None:
        return np.full(2 * n - 1, -1, dtype=np.int64)
    if label_ranks is None:
        label_ranks = cluster_ranks(labels, colour_ranks(linkage))
    shared = [*labels.tolist(), *[-1] * (n - 1)]
    for i, (a, b) in enumerate(linkage[:, :2].astype(np.int64).tolist()):
        shared[n + i] = shared[a] if shared[a] == shared[b] else -1
    found = np.array(shared)
    return np.where(found >= 0, label_ranks[found], -1)

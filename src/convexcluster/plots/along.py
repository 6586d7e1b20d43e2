"""Along the path: centroids moving in a plane [1]_, and the number of clusters against γ.

References
----------
.. [1] T. D. Hocking, A. Joulin, F. Bach, J.-P. Vert, "Clusterpath: an algorithm for clustering
   using convex fusion penalties", ICML 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import Floats, Ints
from .appearance import (
    COLOURS,
    INK,
    SHADE,
    axes_or_new,
    draw_points,
    line_colour,
    log_axis,
    tidy,
    whole_numbers,
)
from .layout import (
    Plane,
    cluster_ranks,
    colour_ranks,
    estimator_ranks,
    kernel_name,
    subsample,
)
from .points import counted_samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..path.clusterpath import ClusterPath


@dataclass(frozen=True, eq=False)
class ClusterPathDisplay:
    """Centroids moving in the first two kernel principal components as γ grows.

    Attributes
    ----------
    tracks : ndarray of shape (T, m, 2)
        Position of each drawn sample's centroid at each γ.
    gammas : ndarray of shape (T,)
    labels : ndarray of shape (m,)
        Cluster of each drawn sample.
    ranks : ndarray of shape (k,)
        Colour rank of each cluster.
    gamma : float or None
        γ of these clusters; None if they were given.
    n_samples : int
    axis_names : tuple of str
    complete : bool
        False if the path was interrupted before the end of its grid.

    Notes
    -----
    The plane is that of the embedding if it is given, otherwise that of the centroids at the
    least γ of the path, which differ from the embedding by at most γ times the weighted degree.
    """

    tracks: Floats
    gammas: Floats
    labels: Ints
    ranks: Ints
    gamma: float | None
    n_samples: int
    axis_names: tuple[str, str]
    complete: bool = True

    @classmethod
    def from_path(
        cls,
        path: ClusterPath,
        gamma: float | None = None,
        *,
        Z: Floats | None = None,
        labels: Ints | None = None,
        ranks: Ints | None = None,
        kernel: bool = True,
        max_points: int = 1_000,
    ) -> ClusterPathDisplay:
        """Tracks of at most ``max_points`` samples, coloured by their cluster at ``gamma``.

        ``gamma`` defaults to the middle of the path; ``labels`` (n,) replaces the clusters there,
        and ``ranks`` (k,) their colours.
        """
        gammas = np.asarray(path.gammas)
        if labels is None:
            gamma = float(gammas[len(gammas) // 2]) if gamma is None else float(gamma)
            chosen = path.labels(gamma=gamma)
        else:
            gamma, chosen = None, np.asarray(labels)
        first = path.labels(step=0)
        A = path.centroids(gammas[0])[first] if Z is None else Z
        plane = Plane.of(A, path.masses)
        keep = subsample(len(first), max_points, chosen)
        tracks = np.stack(
            [plane.project(path.centroids(g))[path.labels(gamma=g)[keep]] for g in gammas]
        )
        if Z is not None and gammas[0] > 0:  # the path starts at the data, where γ = 0
            tracks = np.concatenate([plane.project(Z[keep])[None], tracks])
            gammas = np.concatenate([[0.0], gammas])
        if ranks is None:
            ranks = cluster_ranks(chosen, colour_ranks(path.to_linkage()))
        names = plane.axis_names(kernel)
        return cls(tracks, gammas, chosen[keep], ranks, gamma, len(first), names, path.complete)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> ClusterPathDisplay:
        """Path of a fitted estimator, coloured by its labels."""
        return cls.from_path(
            estimator.path_,
            Z=estimator.embedding_,
            labels=estimator.labels_,
            ranks=estimator_ranks(estimator),
            kernel=kernel_name(estimator) is not None,
            **options,
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw tracks, the samples where they start, and the clusters where they end."""
        ax = axes_or_new(ax, 7.0, 4.8)
        m = self.tracks.shape[1]
        names = [f"cluster {t}" for t in range(len(self.ranks))]
        width = float(np.clip(200.0 / m, 0.5, 1.2))
        for t in np.unique(self.labels):
            colour = line_colour(int(self.ranks[t]))
            lines = self.tracks[:, self.labels == t]
            style = {"color": colour, "linewidth": width, "rasterized": m > 300, "zorder": 1}
            ax.plot(lines[..., 0], lines[..., 1], **style)
        draw_points(ax, self.tracks[0], self.labels, self.ranks, names, shrink=0.5)
        end = np.unique(self.tracks[-1], axis=0)
        ax.plot(*end.T, "o", ms=7, mfc="white", mec=INK, zorder=3, label="_rings")
        by = "by label" if self.gamma is None else f"at γ = {self.gamma:.3g}"
        title = (
            f"Clusterpath to γ = {self.gammas[-1]:.3g}{_cut_off(self.complete)}, coloured {by}\n"
            f"{counted_samples(m, self.n_samples)}; rings: centroids at the last γ"
        )
        tidy(ax, title, *self.axis_names)
        return ax


# Clusters from which on a count is drawn on a log axis. On a linear axis up to twice as many the
# partitions into two to five clusters, which matter most, take a tenth of the height.
LOG_COUNT = 50


@dataclass(frozen=True, eq=False)
class ClusterCountDisplay:
    """Number of clusters against γ, the lifetime of the chosen partition shaded.

    Attributes
    ----------
    gammas, n_clusters, certified : ndarray of shape (T,)
    gamma : float or None
        Chosen γ.
    lifetime : tuple of float or None
        γ at which the chosen partition is first seen and at which it is first gone.
    complete : bool
        False if the path was interrupted before the end of its grid.
    """

    gammas: Floats
    n_clusters: Ints
    certified: np.ndarray
    gamma: float | None
    lifetime: tuple[float, float] | None
    complete: bool = True

    @classmethod
    def from_path(cls, path: ClusterPath, gamma: float | None = None) -> ClusterCountDisplay:
        """Count along ``path``; the partition at ``gamma``, if given, is followed both ways."""
        gammas = np.asarray(path.gammas, dtype=np.float64)
        counts = np.asarray(path.n_clusters)
        lifetime = None if gamma is None else _lifetime(path, float(gamma))
        return cls(gammas, counts, np.asarray(path.certified), gamma, lifetime, path.complete)

    @classmethod
    def from_estimator(cls, estimator: Any) -> ClusterCountDisplay:
        """Path of a fitted estimator and its γ."""
        return cls.from_path(estimator.path_, float(estimator.gamma_))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes."""
        ax = axes_or_new(ax)
        if self.lifetime is not None and self.gamma is not None:
            at = int(np.searchsorted(self.gammas, self.gamma * (1 + 1e-12), "right")) - 1
            count = int(self.n_clusters[max(at, 0)])
            noun = "cluster" if count == 1 else "clusters"
            ax.axvspan(*self.lifetime, color=SHADE, label=f"lifetime of these {count:,} {noun}")
            ax.axvline(self.gamma, color=INK, ls="--", lw=1, label=f"chosen γ = {self.gamma:.3g}")
        ax.step(self.gammas, self.n_clusters, where="post", color=COLOURS[0])
        sure = self.certified.astype(bool)
        few = len(self.gammas) <= 100
        for kind, face, name in (
            (sure, COLOURS[0], "certified"),
            (~sure, "white", "not certified"),
        ):
            if kind.any():
                x, y = self.gammas[kind], self.n_clusters[kind]
                ax.plot(x, y, "o", mfc=face, mec=COLOURS[0], ms=4.5 if few else 3, label=name)
        if (self.gammas > 0).all():
            log_axis(ax)
        elif (self.gammas > 0).any():
            ax.set_xscale("symlog", linthresh=float(self.gammas[self.gammas > 0].min()))
        if self.n_clusters.max() > LOG_COUNT:
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
        whole_numbers(ax)
        ax.legend(frameon=False)
        title = f"Clusters along the path{_cut_off(self.complete)}"
        tidy(ax, title, "fusion strength γ", "number of clusters")
        return ax


def _cut_off(complete: bool) -> str:
    """What a title says of a path that was interrupted."""
    return "" if complete else ", where it was interrupted"


def _lifetime(path: ClusterPath, gamma: float) -> tuple[float, float]:
    """First γ with the partition at ``gamma``, and first γ after it with another one."""
    gammas, counts = np.asarray(path.gammas), np.asarray(path.n_clusters)
    at = max(int(np.searchsorted(gammas, gamma * (1 + 1e-12), "right")) - 1, 0)
    chosen = path.labels(step=at)

    def same(t: int) -> bool:
        return counts[t] == counts[at] and np.array_equal(path.labels(step=t), chosen)

    low = high = at
    while low > 0 and same(low - 1):
        low -= 1
    while high < len(gammas) - 1 and same(high + 1):
        high += 1
    return float(gammas[low]), float(gammas[min(high + 1, len(gammas) - 1)])

"""Curves: elbow, NMI, number of clusters against hyperparameters, gap against time.

Input is data, a fitted estimator or a :class:`~convexcluster.ClusterPath`; output is matplotlib
axes. Everything is computed when the display is made; ``plot`` only draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..graph import component_means
from ..optional import need
from ..problem import Floats, Ints
from .appearance import COLOURS, INK, MARKERS, axes_or_new, plain, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..clusterpath import ClusterPath


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
    def from_path(
        cls,
        path: ClusterPath,
        gamma: float,
        *,
        chosen: int | None = None,
        max_clusters: int = 30,
    ) -> ElbowDisplay:
        """Ward's tree on the distinct centroids at ``gamma``, weighted by their masses."""
        labels = path.labels(gamma=gamma)
        C = path.centroids(gamma)
        masses = np.bincount(labels, path.masses, len(C)).astype(np.float64)
        return cls.from_data(C, masses=masses, chosen=chosen, max_clusters=max_clusters)

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
        from ..labels import cut

        n = len(Z)
        m = np.ones(n) if masses is None else masses
        most = min(max_clusters, n)
        labels = cut(linkage, most)
        mass = np.bincount(labels, m).astype(np.float64)
        mean = component_means(Z, m, labels)
        sse = np.empty(most)
        sse[-1] = m @ ((Z - mean[labels]) ** 2).sum(axis=1)
        for k in range(most - 1, 0, -1):
            merged = cut(linkage, k)
            # the two clusters of the finer cut that share a label in the coarser one
            up = np.empty(k + 1, dtype=np.int64)
            up[labels] = merged
            s, t = np.flatnonzero(np.bincount(up)[up] == 2)
            sse[k - 1] = sse[k] + mass[s] * mass[t] / (mass[s] + mass[t]) * float(
                ((mean[s] - mean[t]) ** 2).sum()
            )
            mean = component_means(mean, mass, up)
            mass, labels = np.bincount(up, mass).astype(np.float64), merged
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


@dataclass(frozen=True, eq=False)
class HyperparameterDisplay:
    """Number of clusters against each hyperparameter, the others held fixed.

    Attributes
    ----------
    curves : dict of str to (values, n_clusters)
        Values ascending; one panel each.

    Examples
    --------
    >>> HyperparameterDisplay.from_data({"bandwidth": ([2, 1], [3, 9])}).curves["bandwidth"]
    (array([1., 2.]), array([9, 3]))
    """

    curves: dict[str, tuple[Floats, Ints]]

    @classmethod
    def from_data(
        cls, curves: Mapping[str, tuple[Sequence[float], Sequence[int]]]
    ) -> HyperparameterDisplay:
        """Sort each curve by its values."""
        made = {}
        for name, (values, counts) in curves.items():
            order = np.argsort(values, kind="stable")
            made[name] = (
                np.asarray(values, dtype=np.float64)[order],
                np.asarray(counts, dtype=np.int64)[order],
            )
        return cls(made)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, grid: Mapping[str, Sequence[float]]
    ) -> HyperparameterDisplay:
        """Fit a clone of ``estimator`` to ``X`` for each value in ``grid``, one at a time."""
        from sklearn.base import clone

        curves: dict[str, tuple[Sequence[float], list[int]]] = {}
        for name, values in grid.items():
            fits = [clone(estimator).set_params(**{name: value}).fit(X) for value in values]
            curves[name] = (list(values), [int(fit.n_clusters_) for fit in fits])
        return cls.from_data(curves)

    def plot(self, axes: Sequence[Axes] | None = None) -> list[Axes]:
        """Draw one panel per hyperparameter, on ``axes`` or on a new figure."""
        if axes is None:
            pyplot = need("matplotlib.pyplot", "plot")
            width = 3.6 * len(self.curves)
            _, made = pyplot.subplots(
                1, len(self.curves), figsize=(width, 3.4), layout="constrained", squeeze=False,
                sharey=True,
            )  # fmt: skip
            axes = list(made[0])
        for i, (ax, (name, (values, counts))) in enumerate(zip(axes, self.curves.items())):
            ax.plot(values, counts, f"{MARKERS[i % 8]}-", color=COLOURS[i % 8], mec=INK, mew=0.4)
            # values that span more than a decade were laid out in ratios
            if len(values) > 1 and values.min() > 0 and values.max() > 10 * values.min():
                ax.set_xscale("log")
            whole_numbers(ax)
            tidy(ax, f"varying {plain(name)}", plain(name), "number of clusters" if i == 0 else "")
        for ax in axes:
            ax.set_ylim(bottom=0)
        return list(axes)


@dataclass(frozen=True, eq=False)
class GapDisplay:
    """Relative duality gap against time, one curve per solver.

    Attributes
    ----------
    traces : dict of str to (seconds, gaps)

    Examples
    --------
    >>> GapDisplay.from_data({"ssnal": ([0.1, 0.2], [1e-2, 1e-7])}).traces["ssnal"][1]
    array([1.e-02, 1.e-07])
    """

    traces: dict[str, tuple[Floats, Floats]]

    @classmethod
    def from_data(cls, traces: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> GapDisplay:
        """Keep times and gaps as they were measured."""
        return cls(
            {
                name: (np.asarray(seconds, dtype=np.float64), np.asarray(gaps, dtype=np.float64))
                for name, (seconds, gaps) in traces.items()
            }
        )

    @classmethod
    def from_solvers(
        cls,
        Z: ArrayLike,
        edges: ArrayLike,
        weights: ArrayLike,
        gamma: float,
        *,
        solvers: Sequence[str] = ("auto",),
        tols: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
    ) -> GapDisplay:
        """Time a cold solve for each tolerance; the first one, which compiles, is not counted."""
        from ..solvers import solve

        traces: dict[str, tuple[list[float], list[float]]] = {}
        for name in solvers:
            solve(Z, edges, weights, gamma, solver=name, tol=max(tols))
            seconds, gaps = [], []
            for tol in tols:
                start = perf_counter()
                gaps.append(solve(Z, edges, weights, gamma, solver=name, tol=tol).relative_gap)
                seconds.append(perf_counter() - start)
            traces[name] = (seconds, gaps)
        return cls.from_data(traces)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes; a gap of zero is drawn at round-off."""
        ax = axes_or_new(ax)
        for i, (name, (seconds, gaps)) in enumerate(self.traces.items()):
            ax.plot(
                seconds, np.maximum(gaps, np.finfo(float).eps), f"{MARKERS[i % 8]}-",
                color=COLOURS[i % 8], mec=INK, mew=0.4, label=plain(name),
            )  # fmt: skip
        ax.set_yscale("log")
        spans = [s for s, _ in self.traces.values() if len(s) and s.min() > 0]
        if spans and max(s.max() for s in spans) > 10 * min(s.min() for s in spans):
            ax.set_xscale("log")
        ax.grid(axis="y", alpha=0.3)
        ax.legend(frameon=False)
        tidy(ax, "Certified accuracy against time", "time (s)", "relative duality gap")
        return ax

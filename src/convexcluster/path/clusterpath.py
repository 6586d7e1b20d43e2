"""The solution path as data: partitions, centroids and gaps at every γ of a grid.

Input is what :func:`convexcluster.solve_path` finds; output are labels at any γ or any number of
clusters, the tree, and tables. A path is stored as its merges (at most n − 1, plus re-merges after
a split) and the centroids of the clusters of each γ: never as n × |γ| × r numbers.

Partition at step t:  connected components of the merges (i, j) of the steps ≤ t, counted from the
last step at which a cluster split, whose labels are stored whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.linkage import cut, join
from ..optional import need
from ..partition import canonical, first, twins
from ..problem import Floats, Ints, Problem, Solution

if TYPE_CHECKING:
    import networkx
    import pandas

# Clusters still apart at the last γ are joined this much above it: visible as a tie at the top of
# a dendrogram, and above every fusion. A tenth of it would be lost in single precision.
ABOVE = 1 + 1e-6

# Ward's order among the k clusters that are left takes some k²r operations, a second at twice this
# many in 100 dimensions; beyond, they are joined in the order of their labels.
WARD_SIZE = 2_000


@dataclass(frozen=True, slots=True)
class Split:
    """A cluster of one γ whose samples lie in several clusters at the next."""

    step: int  # index of the γ at which the pieces appear
    gamma: float  # that γ
    cluster: int  # label at the γ before
    pieces: tuple[int, ...]  # labels at ``gamma`` that hold its samples


@dataclass(frozen=True)
class ClusterPath:
    """Partitions, centroids and certificates along an ascending grid of γ.

    Attributes
    ----------
    gammas : ndarray of shape (T,)
        Ascending.
    n_clusters : ndarray of shape (T,)
        Clusters at each γ.
    gaps : ndarray of shape (T,)
        Duality gap of the full problem over ``scale``; nan where it is not known.
    certified : ndarray of bool, shape (T,)
        Whether the gap met the tolerance that was asked for.
    masses : ndarray of shape (n,)
        Sample masses.
    scale : float
        ½ Σ mᵢ‖zᵢ − z̄‖². The exact centroids lie within √(2 · gap · scale), up to the rounding
        that ``certificate_.radius`` of a fit includes.
    merges : ndarray of shape (M, 2)
        Pairs of samples whose clusters became one.
    merge_steps : ndarray of shape (M,)
        Index of the γ at which the pair is first together.
    fusion_values : ndarray of shape (M,)
        γ of the merge, read off the duals and between the grid values that bracket it;
        ``convexcluster.path.fusion_value`` narrows one of them down.
    centers : tuple of ndarray
        Centroids at each γ, shape (k, s), in the coordinates of ``basis``; row t belongs to
        label t.
    split_steps : ndarray of shape (S,)
        Steps at which some cluster split.
    split_labels : ndarray of shape (S, n)
        All labels at those steps.
    origin, basis : ndarray of shape (r,), (r, s)
        Centroids are ``centers @ basis.T + origin``; either may be empty (0 and the identity).
    complete : bool
        False if the path was interrupted before the end of its grid.

    Examples
    --------
    >>> from convexcluster import solve_path
    >>> path = solve_path([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 1.2, 4.0])
    >>> path.n_clusters
    array([3, 2, 1])
    >>> path.labels(gamma=1.2)
    array([0, 0, 1])
    """

    gammas: Floats
    n_clusters: Ints
    gaps: Floats
    certified: np.ndarray
    masses: Floats
    scale: float
    merges: Ints
    merge_steps: Ints
    fusion_values: Floats
    centers: tuple[Floats, ...]
    split_steps: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    split_labels: Ints = field(default_factory=lambda: np.empty((0, 0), dtype=np.int64))
    complete: bool = True
    origin: Floats = field(default_factory=lambda: np.empty(0))
    basis: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of_solution(
        cls, problem: Problem, solution: Solution, labels: Ints, tol: float
    ) -> ClusterPath:
        """Path of a single γ, with the fused ``labels`` of its solution."""
        merges, samples = twins(labels), first(labels)
        return cls(
            gammas=np.array([problem.gamma]),
            n_clusters=np.array([len(samples)]),
            gaps=np.array([solution.relative_gap]),
            certified=np.array([solution.relative_gap <= tol]),
            masses=problem.masses,
            scale=problem.scale,
            merges=merges,
            merge_steps=np.zeros(len(merges), dtype=np.int64),
            fusion_values=np.full(len(merges), problem.gamma),
            centers=(solution.A[samples],),
            split_labels=np.empty((0, problem.n), dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.gammas)

    def __repr__(self) -> str:
        if not len(self):
            return f"<ClusterPath of {self.n_samples:,} samples, interrupted before its first γ>"
        gammas, counts = (f"{v[0]:.4g} to {v[-1]:.4g}" for v in (self.gammas, self.n_clusters))
        ending = "" if self.complete else ", interrupted"
        return (
            f"<ClusterPath of {self.n_samples:,} samples: {len(self)} γ from {gammas}, "
            f"{counts} clusters, {int(self.certified.sum())} certified{ending}>"
        )

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.masses)

    def step(self, gamma: float) -> int:
        """Index of the greatest γ of the grid that is ≤ ``gamma``, up to round-off."""
        # 1e-9: a γ that went through text or a unit conversion still names its own step.
        position = int(np.searchsorted(self.gammas, gamma * (1 + 1e-9), side="right")) - 1
        if position < 0:
            first = f"{self.gammas[0]:g}" if len(self.gammas) else "empty"
            raise ValueError(f"gamma = {gamma:g} lies below the path, whose first γ is {first}")
        return position

    def labels(
        self,
        gamma: float | None = None,
        *,
        n_clusters: int | None = None,
        step: int | None = None,
    ) -> Ints:
        """Cluster of every sample, numbered in order of first appearance.

        One of the three says where on the path.

        Parameters
        ----------
        gamma : float
            A γ of the grid; between two of them the lower one answers.
        n_clusters : int
            Number of clusters; if no γ of the path has it, the tree is cut.
        step : int
            Index of a γ of the grid; −1 is the last.

        Returns
        -------
        ndarray of shape (n,)
        """
        if sum(given is not None for given in (gamma, n_clusters, step)) != 1:
            raise ValueError("pass either gamma, n_clusters or step")
        if gamma is not None:
            return self._labels_at(self.step(gamma))
        if step is not None:
            return self._labels_at(range(len(self))[step])
        assert n_clusters is not None
        if not 1 <= n_clusters <= self.n_samples:
            raise ValueError(f"n_clusters must be in 1 … {self.n_samples}, got {n_clusters}")
        steps = np.flatnonzero(self.n_clusters == n_clusters)
        if len(steps):
            return self._labels_at(int(steps[0]))
        return cut(self.to_linkage(), n_clusters)

    @cached_property
    def _changes(self) -> Ints:
        """Steps at which clusters merge or split."""
        return np.unique(np.concatenate([self.merge_steps, self.split_steps]))

    @cached_property
    def _latest(self) -> dict[int, Ints]:
        """Labels that were asked for last, by the number of changes up to there.

        Whoever goes through all steps meets most partitions several times in turn.
        """
        return {}

    def _labels_at(self, step: int) -> Ints:
        changes = int(np.searchsorted(self._changes, step, side="right"))
        labels = self._latest.get(changes)
        if labels is None:
            labels = self._partition(step)
            self._latest.clear()
            self._latest[changes] = labels
        return labels.copy()

    def _partition(self, step: int) -> Ints:
        """Labels at a step, from the merges since the last split."""
        from ..loops.clusters import join as components

        n = self.n_samples
        whole = int(np.searchsorted(self.split_steps, step, side="right")) - 1
        base = self.split_labels[whole] if whole >= 0 else np.arange(n)
        since = self.split_steps[whole] if whole >= 0 else -1
        merged = (self.merge_steps > since) & (self.merge_steps <= step)
        i, j = (np.ascontiguousarray(end) for end in base[self.merges[merged]].reshape(-1, 2).T)
        labels = np.empty(int(base.max()) + 1, dtype=np.int64)
        components(i, j, np.ones(len(i), dtype=np.bool_), labels)
        return labels if whole < 0 else canonical(labels[base])

    def centroids(self, gamma: float) -> Floats:
        """Centroids (k, r) at a γ of the grid; row t belongs to label t."""
        rows = self.centers[self.step(gamma)]
        rows = rows @ self.basis.T if self.basis.size else rows.copy()
        return rows + self.origin if self.origin.size else rows

    @property
    def brackets(self) -> Floats:
        """Grid values (M, 2) below and at each merge; the first step is bracketed by 0."""
        grid = np.concatenate([[0.0], self.gammas])
        return np.stack([grid[self.merge_steps], grid[self.merge_steps + 1]], axis=1)

    @property
    def splits(self) -> tuple[Split, ...]:
        """Clusters that broke apart as γ rose (possible with general weights)."""
        found = []
        for step in self.split_steps:
            before = self._labels_at(step - 1) if step else np.zeros(self.n_samples, np.int64)
            pairs = np.unique(np.stack([before, self._labels_at(step)], axis=1), axis=0)
            clusters, pieces = np.unique(pairs[:, 0], return_counts=True)
            for cluster in clusters[pieces > 1]:
                parts = tuple(int(p) for p in pairs[pairs[:, 0] == cluster, 1])
                found.append(Split(int(step), float(self.gammas[step]), int(cluster), parts))
        return tuple(found)

    def to_linkage(self) -> Floats:
        """Tree in SciPy's format, (n − 1, 4); the height of a merge is its fusion γ.

        A partition may split as γ rises when the weights are general. The tree joins two samples
        at the least γ at which they were together and keeps them together from there on: the
        finest hierarchy that contains every fusion of the path. Clusters that are still apart at
        the last γ (other components of the graph, or a grid that ends early) are joined above it
        in Ward's order of their centroids, each with the mass of its samples.

        Examples
        --------
        >>> from convexcluster import solve_path
        >>> path = solve_path([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 1.2, 4.0])
        >>> path.to_linkage()[:, [0, 1, 3]]
        array([[0., 1., 2.],
               [2., 3., 3.]])
        """
        order = np.lexsort((self.fusion_values, self.merge_steps))
        heights = np.maximum.accumulate(self.fusion_values[order])
        rest = self._remaining()
        top = ABOVE * max([*self.gammas[-1:], *heights[-1:]], default=1.0)
        pairs = np.concatenate([self.merges[order], rest])
        heights = np.concatenate([heights, np.full(len(rest), top)])
        return join(pairs, heights, self.n_samples)

    def _remaining(self) -> Ints:
        """Pairs of samples that join the clusters of the last γ."""
        labels = self.labels(step=-1) if len(self) else np.arange(self.n_samples)
        samples = first(labels)
        if len(self) and 2 <= len(samples) <= WARD_SIZE:
            from ..numerics.ward import ward_points  # late: it loads numba

            return samples[ward_points(self.centers[-1], np.bincount(labels, self.masses)).pairs]
        return np.stack([samples[:-1], samples[1:]], axis=1)

    def to_frame(self) -> pandas.DataFrame:
        """One row per γ: gamma, n_clusters, gap, certified."""
        return need("pandas", "report").DataFrame(
            {
                "gamma": self.gammas,
                "n_clusters": self.n_clusters,
                "gap": self.gaps,
                "certified": self.certified,
            }
        )

    def to_networkx(self) -> networkx.DiGraph:
        """Tree as a directed graph from the root; nodes carry ``height`` and ``size``."""
        tree, n = need("networkx", "report").DiGraph(), self.n_samples
        tree.add_nodes_from(range(n), height=0.0, size=1)
        for row, (left, right, height, size) in enumerate(self.to_linkage()):
            tree.add_node(n + row, height=float(height), size=int(size))
            tree.add_edges_from([(n + row, int(left)), (n + row, int(right))])
        return tree

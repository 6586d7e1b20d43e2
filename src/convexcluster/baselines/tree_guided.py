"""Tree-guided ℓ1 convex clustering (TGCC): exact on the minimum spanning tree, near-linear.

    min_Θ  ½ Σ mᵢ‖xᵢ − θᵢ‖² + γ Σ_{edges of the tree} w_e ‖θᵢ − θⱼ‖₁

Input is X (n × d). Edges are those of the Euclidean minimum spanning tree; with s_e the squared
length over the mean squared length, w_e = exp(−s_e/median s). Each coordinate is solved exactly by
dynamic programming (:mod:`convexcluster.baselines.loops.tree`); edges whose ends agree in all
coordinates are contracted, and γ grows. The tree edges and the γ at which they fuse are the whole
hierarchy.

Reference: Zhang & Terada (2025), Tree-guided ℓ1 convex clustering. The package of the same name on
PyPI is another method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..graph import components
from ..problem import Floats, Ints, check_gamma

# Features up to which Borůvka's search on a k-d tree is near-linear. With twice as many features a
# box of the k-d tree is near to every sample, and the search visits all of them.
TREE_DIMENSIONS = 10
# Samples up to which Prim's n² distances cost less than Borůvka's rounds, as measured; twice as
# many samples take Prim four times as long.
PRIM_SAMPLES = 2_000
# Least weight of an edge: a Gaussian weight underflows on a long edge, and γ_max = flow/weight
# would be infinite. Down to this floor a longer edge still has the smaller weight.
WEIGHT_FLOOR = 1e-100


def spanning_tree(X: Floats) -> tuple[Ints, Floats]:
    """Euclidean minimum spanning tree: edges (n − 1, 2) with i < j, and their squared lengths."""
    n, d = X.shape
    if n <= PRIM_SAMPLES or d > TREE_DIMENSIONS:
        from .loops.spanning import prim

        tails, heads, squares = prim(X)
        edges = np.sort(np.column_stack([tails, heads]), axis=1)
        return edges, squares
    return _boruvka(X)


def _boruvka(X: Floats) -> tuple[Ints, Floats]:
    """Shortest edge out of every group, unite, repeat: log₂ n rounds at most."""
    from sklearn.neighbors import KDTree

    from .loops.spanning import join_groups, nearest_foreign

    tree = KDTree(X, leaf_size=16)
    _, order, nodes, box = (np.asarray(part) for part in tree.get_arrays())
    start = np.ascontiguousarray(nodes["idx_start"], dtype=np.int64)
    stop = np.ascontiguousarray(nodes["idx_end"], dtype=np.int64)
    is_leaf = np.ascontiguousarray(nodes["is_leaf"], dtype=np.int64)
    order, box = np.ascontiguousarray(order, dtype=np.int64), np.ascontiguousarray(box)
    group, k = np.arange(len(X)), len(X)
    edges, squares = [], []
    while k > 1:
        best = np.full(k, np.inf)
        tail, head = np.full(k, len(X)), np.full(k, len(X))
        nearest_foreign(X, order, start, stop, is_leaf, box, group, best, tail, head)
        chosen = np.empty(k, dtype=np.int64)
        k = join_groups(group, best, tail, head, chosen)
        edges.append(np.column_stack([tail, head])[chosen > 0])
        squares.append(best[chosen > 0])
    return np.concatenate(edges), np.concatenate(squares)


def edge_weights(squares: Floats, bandwidth: float | None = None) -> Floats:
    """w_e = exp(−s_e/b), s = squared length over its mean, b the median of s unless given."""
    mean = squares.mean() if len(squares) else 0.0
    if mean == 0:
        return np.ones(len(squares))
    s = squares / mean
    if bandwidth is None:
        bandwidth = float(np.median(s))
        if bandwidth == 0:  # more than half of the edges join duplicates
            bandwidth = float(s[s > 0].min())
    return np.maximum(np.exp(-s / bandwidth), WEIGHT_FLOOR)


@dataclass(frozen=True, slots=True)
class RootedTree:
    """Samples (coordinates × n), masses, parents (parent[i] < i) and weights of parent edges."""

    Y: Floats
    masses: Floats
    parent: Ints
    weights: Floats

    def solve(self, gamma: float) -> Floats:
        """Exact minimiser at γ, shape (coordinates, n); fused samples are equal to the bit."""
        from .loops.tree import tree_fused_lasso

        theta = np.empty_like(self.Y)
        tree_fused_lasso(self.Y, self.masses, self.parent, gamma * self.weights, theta)
        return theta

    def contract(self, fused: np.ndarray) -> tuple[RootedTree, Ints]:
        """Join every vertex marked in ``fused`` to its parent; also the new number of each."""
        from .loops.tree import number_contracted

        number = np.empty(len(self.parent), dtype=np.int64)
        k = number_contracted(self.parent, fused.astype(np.int64), number)
        keep = ~fused
        masses: Floats = np.bincount(number, self.masses, k).astype(np.float64)
        Y = np.stack([np.bincount(number, self.masses * row, k) for row in self.Y]) / masses
        parent = np.where(self.parent[keep] >= 0, number[self.parent[keep]], -1)
        return RootedTree(Y, masses, parent, self.weights[keep].copy()), number

    def first_fusion(self) -> Floats:
        """Lower bound, for each parent edge, of the γ at which its ends meet.

        A vertex moves at most at speed Σ w/m, the sum over its edges.
        """
        child, parent = np.arange(1, len(self.parent)), self.parent[1:]
        degree = np.bincount(parent, self.weights[1:], len(self.parent)).astype(np.float64)
        degree[1:] += self.weights[1:]
        speed = degree / self.masses
        apart = np.abs(self.Y[:, child] - self.Y[:, parent]).max(axis=0)
        return apart / (speed[child] + speed[parent])

    def full_fusion(self) -> float:
        """γ_max = max over edges and coordinates of |Σ_subtree m(y − ȳ)|/w, the flow needed."""
        from .loops.tree import add_subtrees

        mean = self.Y @ self.masses / self.masses.sum()
        flow = self.masses * (self.Y - mean[:, None])
        add_subtrees(self.parent, flow)
        return float((np.abs(flow[:, 1:]).max(axis=0) / self.weights[1:]).max(initial=0.0))


def rooted(X: Floats, edges: Ints, weights: Floats) -> tuple[RootedTree, Ints, Ints]:
    """Root a tree at sample 0: the tree, the sample of each vertex, the edge to its parent."""
    from .loops.tree import root_tree

    n = len(X)
    order, parent, edge = (np.empty(n, dtype=np.int64) for _ in range(3))
    root_tree(n, edges[:, 0].copy(), edges[:, 1].copy(), order, parent, edge)
    w = np.append(weights, 0.0)[edge]  # the root has edge −1 and needs no weight
    return RootedTree(np.ascontiguousarray(X[order].T), np.ones(n), parent, w), order, edge


# Largest ratio of one γ of the path to the γ before it. Edges that fuse in one step are ordered by
# lower bounds only: a larger ratio orders more edges so, a smaller ratio costs more solves.
STRIDE = 2.0
# Clusters from which on the steps are shortened: the order of the last fusions decides the labels.
# From more clusters on there are more solves; from fewer on, fewer fusions in their own order.
FEW = 1_000
# Share of the edges that a shortened step may fuse, but always one edge. A smaller share takes more
# solves; a larger share orders more fusions by their lower bounds.
FUSE_SHARE = 0.25
# Smallest ratio of γ; fusions nearer to each other than 3 % are not told apart by a solve.
FINEST = 1.03


def fusion_values(tree: RootedTree, edge: Ints) -> Floats:
    """γ at which each edge of the spanning tree is contracted, shape (n − 1,).

    It is exact up to the step of the path; within a step, (γ, γ′], edges lie in the order of their
    lower bounds.
    """
    values = np.full(len(edge) - 1, np.inf)
    still = edge.copy()  # edge of the spanning tree behind each edge of the contracted one
    top = tree.full_fusion() * (1 + 1e-9)
    gamma, ratio = 0.0, STRIDE
    fused = np.append(False, tree.first_fusion() == 0)  # duplicates
    before = 0.0
    while True:
        order = np.argsort(tree.first_fusion()[fused[1:]], kind="stable")
        values[still[fused][order]] = before + (gamma - before) * np.arange(
            1, len(order) + 1
        ) / max(len(order), 1)
        tree, _ = tree.contract(fused)
        still = still[~fused]
        k = len(still)
        if k == 1:
            return values
        if gamma == 0:  # skip what cannot fuse anything, or next to nothing of a large tree
            gamma = float(np.quantile(tree.first_fusion(), 0.0 if k <= FEW else 0.01)) / ratio
        allowed = max(1, int(FUSE_SHARE * k)) if k <= FEW else k
        while True:
            target = min(gamma * ratio, top)
            theta = tree.solve(target)
            fused = np.append(False, (theta[:, 1:] == theta[:, tree.parent[1:]]).all(axis=0))
            if fused.sum() <= allowed or ratio <= FINEST:
                break
            ratio = float(np.sqrt(ratio))
        if target == top:
            fused[1:] = True
        elif fused.sum() <= allowed // 2:
            ratio = min(ratio**2, STRIDE)
        before, gamma = gamma, target


class TreeGuidedConvexClustering(ClusterMixin, BaseEstimator):
    """ℓ1 convex clustering on the minimum spanning tree (TGCC).

    Parameters
    ----------
    n_clusters : int, optional
        Keep the tree but for the ``n_clusters − 1`` edges that fuse last.
    gamma : float, optional
        Fusion strength; used if ``n_clusters`` is None: the exact minimiser at γ. If both are
        None, the count of clusters in 2 … √n with the longest log-γ lifetime is taken.
    bandwidth : float, optional
        b in w = exp(−s/b), s the squared edge length over its mean; by default the median of s.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each sample, numbered by first appearance.
    n_clusters_ : int
    tree_ : ndarray of shape (n − 1, 2)
        Edges of the spanning tree, i < j.
    fusion_values_ : ndarray of shape (n − 1,)
        γ at which each edge is contracted on the path; absent if ``gamma`` was used.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
    >>> TreeGuidedConvexClustering(n_clusters=2).fit(X).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        gamma: float | None = None,
        bandwidth: float | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.bandwidth = bandwidth

    def fit(self, X: Any, y: Any = None) -> TreeGuidedConvexClustering:
        """Cluster the rows of X (n × d)."""
        X = np.ascontiguousarray(validate_data(self, X, dtype=np.float64, ensure_min_samples=2))
        if self.n_clusters is not None and not 1 <= self.n_clusters <= len(X):
            raise ValueError(f"n_clusters must be in 1 … {len(X)}, got {self.n_clusters}")
        self.tree_, squares = spanning_tree(X)
        tree, _, edge = rooted(X, self.tree_, edge_weights(squares, self.bandwidth))
        if self.n_clusters is None and self.gamma is not None:
            theta = tree.solve(check_gamma(self.gamma))
            same = (theta[:, 1:] == theta[:, tree.parent[1:]]).all(axis=0)
            fused = np.zeros(len(X) - 1, dtype=bool)
            fused[edge[1:][same]] = True
        else:
            self.fusion_values_ = fusion_values(tree, edge)
            k = _longest_lived(self.fusion_values_) if self.n_clusters is None else self.n_clusters
            fused = self._fused(k)
        self.labels_ = components(self.tree_[fused], len(X))
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def cut(self, n_clusters: int) -> Ints:
        """Labels (n,) with another number of clusters, from the path of the fit."""
        check_is_fitted(self, "fusion_values_")
        return components(self.tree_[self._fused(n_clusters)], len(self.tree_) + 1)

    def _fused(self, k: int) -> np.ndarray:
        """All edges but the k − 1 that fuse last."""
        fused = np.ones(len(self.tree_), dtype=bool)
        fused[np.argsort(self.fusion_values_, kind="stable")[len(self.tree_) + 1 - k :]] = False
        return fused


def _longest_lived(values: Floats) -> int:
    """Count of clusters in 2 … √n whose log-γ lifetime is longest; 1 if there is none."""
    falling = np.sort(values)[::-1]  # k clusters stand from falling[k − 1] to falling[k − 2]
    top = max(2, int(np.sqrt(len(values) + 1)))
    lives = {
        k: np.log(falling[k - 2] / falling[k - 1])
        for k in range(2, min(top, len(falling)) + 1)
        if falling[k - 1] > 0
    }
    return max(lives, key=lambda k: lives[k]) if lives else 1

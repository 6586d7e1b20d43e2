"""Which γ and how many clusters: a choice, what it was chosen from, and how sure it is.

Input is a path with its graph and embedding; output is a :class:`Selection` with labels, the tree
that they were cut from, and a table of the candidates, so that the runner-up is seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..graph import Graph
from ..labels import cut, elbow_scores, sse_curve, ward_tree
from ..numerics.linkage import expand, join
from ..optional import need
from ..partition import canonical
from ..path.clusterpath import ClusterPath
from ..problem import Floats, Ints
from .average import average_tree, check_complete, path_average, refine
from .null import Null, greatest_count
from .scores import SELECTORS, Candidates, Selector, stability

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Selection:
    """The chosen partition and what it was chosen from.

    Attributes
    ----------
    labels : ndarray of shape (n,)
    n_clusters : int
    gamma : float
        γ of the centroids that go with the labels.
    linkage : ndarray of shape (n − 1, 4)
        Tree, in SciPy's format, that the labels were cut from.
    method : str
        Key of ``SELECTORS``, ``"given"`` if the number of clusters was given, or ``"fusion"``.
    table : dict of ndarray
        A row for every candidate: ``n_clusters``, ``score``, ``sse``, ``gamma_low`` and
        ``gamma_high`` (range over which the fusions leave that many clusters), ``lifetime`` (its
        length in log γ) and ``stability``.
    confidence : float
        How well the clusters that single γ give agree with the choice, 0 to 1 (mean adjusted Rand
        index): 1 if every γ alone says the same.
    runner_up : int or None
        Number of clusters with the best score among the others.
    verdict : str
        ``"structure"``, ``"one cluster"`` or ``"no structure"``.
    """

    labels: Ints
    n_clusters: int
    gamma: float
    linkage: Floats
    method: str
    table: dict[str, np.ndarray] = field(default_factory=dict)
    confidence: float = float("nan")
    runner_up: int | None = None
    verdict: str = "structure"

    def __repr__(self) -> str:
        second = "" if self.runner_up is None else f", runner-up {self.runner_up}"
        return (
            f"<Selection of {self.n_clusters} clusters at γ = {self.gamma:.4g} by {self.method!r}: "
            f"{self.verdict}, confidence {self.confidence:.2f}{second}>"
        )

    def to_frame(self) -> pandas.DataFrame:
        """The table of the candidates."""
        return need("pandas", "report").DataFrame(self.table)


def select(
    Z: Floats,
    graph: Graph,
    path: ClusterPath,
    *,
    masses: Floats,
    n_clusters: int | None = None,
    labels: str = "auto",
    method: str | Selector = "auto",
    min_cluster_size: int | None = None,
    null: Null | None = None,
    scale: float | None = None,
) -> Selection:
    """Choose γ and the number of clusters on a path.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Embedding.
    graph : Graph
        Graph whose weights gave the path.
    path : ClusterPath
    masses : ndarray of shape (n,)
    n_clusters : int, optional
        Given number of clusters.
    labels : {"auto", "agglomerative", "fusion"}
        Tree whose cuts are the candidates: Ward's on the path average, or the fusions themselves.
    method : str or callable
        Key of ``SELECTORS`` or a function of :class:`Candidates`.
    min_cluster_size : int, optional
        Clusters of less mass do not count as clusters of a candidate.
    null : Null, optional
        Structureless data to compare with; without it every path has structure.
    scale : float, optional
        ½ Σ m‖z − z̄‖² over the rows, where the path runs on cells of them.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from convexcluster import solve_path
    >>> from convexcluster.graph import Graph
    >>> Z = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> graph = Graph(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 0.1, 1.0]))
    >>> path = solve_path(Z, graph.edges, graph.weights)
    >>> select(Z, graph, path, masses=np.ones(4), n_clusters=2).labels
    array([0, 0, 1, 1])
    """
    check_complete(path)
    if len(masses) == 1 or path.scale <= 0 or not len(path):
        return _alike(masses, path)
    if labels == "fusion":
        linkage = path.to_linkage()
        tree, atoms, average = linkage, np.arange(len(masses)), None
    else:
        average = path_average(path, scale=scale)
        tree, atoms = average_tree(average), average.atoms
        linkage = expand(tree, atoms)
    least = float(min_cluster_size or 0)
    k_max = min(greatest_count(masses.sum()), len(masses))
    return _choose(
        Candidates(linkage, tree, atoms, average, Z, graph, path, k_max, least, null),
        n_clusters,
        method,
    )


def select_at(
    A: Floats,
    fused: Ints,
    gamma: float,
    *,
    masses: Floats,
    n_clusters: int | None = None,
    labels: str = "auto",
    method: str | Selector = "auto",
) -> Selection:
    """Choose the clusters at one γ: the fused ones, or a cut of Ward's tree on the centroids.

    The number of clusters of the cut is the paper's: the elbow of the SSE.

    Examples
    --------
    >>> A = np.array([[0.0], [0.0], [4.0]])
    >>> select_at(A, np.array([0, 0, 1]), 0.5, masses=np.ones(3)).n_clusters
    2
    """
    tree = ward_tree(A, masses)
    if labels == "fusion" or (labels == "auto" and n_clusters is None and method == "auto"):
        return Selection(fused, int(fused.max()) + 1, gamma, tree, "fusion")
    sse = sse_curve(tree)
    score = elbow_scores(sse)
    count = np.arange(1, len(score) + 1)
    table = {"n_clusters": count, "score": score, "sse": sse[: len(score)]}
    k = int(n_clusters or np.argmax(score) + 1)
    name = "given" if n_clusters is not None else "elbow"
    verdict = "structure" if k > 1 else "one cluster"
    return Selection(
        cut(tree, k), k, gamma, tree, name, table, runner_up=runner_up(score, k), verdict=verdict
    )


def best_count(score: Floats) -> int:
    """Number of clusters with the best score, the least of equals; 1 if no score is positive."""
    return int(np.argmax(score)) + 1 if score.max() > 0 else 1


def runner_up(score: Floats, k: int) -> int | None:
    """Best number of clusters after k, or None if there is no other candidate."""
    others = np.where(np.arange(1, len(score) + 1) == k, -np.inf, score)
    best = int(np.argmax(others))
    return best + 1 if np.isfinite(others[best]) else None


def _choose(c: Candidates, n_clusters: int | None, method: str | Selector) -> Selection:
    if n_clusters is not None and method == "auto":
        method = "conductance"  # the table needs no null
    score = (SELECTORS[method] if isinstance(method, str) else method)(c)
    agreement = stability(c)
    ranges, length = c.lifetimes
    table = {
        "n_clusters": np.arange(1, c.k_max + 1),
        "score": score,
        "sse": c.sse,
        "gamma_low": ranges[:, 0],
        "gamma_high": ranges[:, 1],
        "lifetime": length,
        "stability": agreement,
    }
    verdict = "structure"
    if n_clusters is None and method == "auto" and c.null and not c.null.has_structure():
        k, name, verdict = 1, "auto", "no structure"
    elif n_clusters is None:
        k = best_count(np.where(_large_enough(c), score, -np.inf))
        name = method if isinstance(method, str) else getattr(method, "__name__", "callable")
    else:
        k, name = int(n_clusters), "given"
    labels = cut(c.linkage, k)
    if c.average is not None and k <= len(c.tree) + 1:
        labels = canonical(refine(c.average, cut(c.tree, k))[c.atoms])
    return Selection(
        labels=labels,
        n_clusters=k,
        gamma=representative_gamma(c.path, labels, c.Z),
        linkage=c.linkage,
        method=name,
        table=table,
        confidence=float(np.clip(agreement[k - 1], 0.0, 1.0)) if k <= c.k_max else float("nan"),
        runner_up=runner_up(score, k),
        verdict="one cluster" if k == 1 and verdict == "structure" else verdict,
    )


def _large_enough(c: Candidates) -> np.ndarray:
    """Which candidates split no group of samples and have no cluster below the least mass."""
    mass = np.bincount(c.atoms, c.path.masses)
    smallest = np.zeros(c.k_max)
    for k, label in enumerate(c.cuts.labels(c.k_max)):
        smallest[k] = np.bincount(label, mass).min()
    return (smallest > 0) & (smallest >= c.min_cluster_size)


def representative_gamma(path: ClusterPath, labels: Ints, Z: Floats) -> float:
    """γ whose centroids go with the labels.

    That is the first γ at which the fused clusters are the labels; failing that, the γ at which
    most samples are nearest to the mean centroid of their own cluster, so that prediction agrees
    with the labels, and among equals the one at which the clusters explain most of the spread of
    the centroids. Where two of the clusters have met, prediction could not tell them apart.
    """
    k = int(labels.max()) + 1
    for step in np.flatnonzero(path.n_clusters == k):
        if (path.labels(step=int(step)) == canonical(labels)).all():
            return float(path.gammas[step])
    if k == 1:  # its centroid is the mean at every γ: the nearest to a γ at which all has fused
        return float(path.gammas[-1])
    rows = Z - path.origin if path.origin.size else Z
    rows = rows @ path.basis if path.basis.size else rows  # what is left out is no cluster's
    mass = np.bincount(labels, path.masses, k).astype(np.float64)
    best, gamma = (-1.0, -1.0), float(path.gammas[0])
    for step in np.flatnonzero(path.n_clusters >= k):
        fused = path.labels(step=int(step))
        centers, weight = path.centers[step], np.bincount(fused, path.masses).astype(np.float64)
        share = sparse.csr_array((path.masses, (labels, fused)), shape=(k, len(weight)))
        means = np.asarray(share @ centers) / mass[:, None]
        nearest = ((means**2).sum(axis=1) - 2 * (rows @ means.T)).argmin(axis=1)
        right = float(path.masses @ (nearest == labels))
        quality = (right, _explained(means, mass, centers, weight))
        if quality > best:
            best, gamma = quality, float(path.gammas[step])
    return gamma


def _explained(means: Floats, mass: Floats, centers: Floats, weight: Floats) -> float:
    """Share of the spread of weighted centroids that lies between the means of the clusters."""
    middle = weight @ centers / weight.sum()
    total = float(weight @ ((centers - middle) ** 2).sum(axis=1))
    between = float(mass @ ((means - middle) ** 2).sum(axis=1))
    return between / total if total > 0 else 0.0


def _alike(masses: Floats, path: ClusterPath) -> Selection:
    """All samples are equal: one cluster, whatever was asked for."""
    n = len(masses)
    first = np.arange(n)
    linkage = join(np.column_stack([first[:-1], first[1:]]), np.zeros(n - 1), n)
    gamma = float(path.gammas[0]) if len(path) else 0.0
    labels = np.zeros(n, dtype=np.int64)
    return Selection(labels, 1, gamma, linkage, "alike", confidence=1.0, verdict="one cluster")

"""Which γ and how many clusters: scores for every candidate, and a choice.

Input is a path (or the centroids of one γ) with masses; output is a :class:`Selection` with labels,
the tree that they were cut from, and a table of the candidates, so that the runner-up is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .clusterpath import ClusterPath
from .graph import Graph
from .labels import cut, elbow_scores, sse_curve, ward_tree
from .problem import Floats, Ints

# Shares B(γ) = ‖A − Ā‖²/‖Z − Z̄‖² between which a γ says something: above, little has fused;
# below, the clusters themselves have nearly met.
SHARES = (0.02, 0.5)


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
        Key of ``SELECTORS``, or ``"given"`` if the number of clusters was given.
    table : dict of ndarray
        A row for every candidate: ``n_clusters``, ``score``, ``sse``.
    confidence : float
        Relative lead of the best score over the runner-up, 0 to 1; nan if k was given.
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
    verdict: str = "structure"


def elbow_selector(tree: Floats, **_: Any) -> Floats:
    """Score of k = 1, 2, …: how far SSE_k lies below the chord of its curve."""
    return elbow_scores(sse_curve(tree))


Selector = Callable[..., Floats]

SELECTORS: dict[str, Selector] = {"auto": elbow_selector, "elbow": elbow_selector}


def select(
    Z: Floats,
    graph: Graph,
    path: ClusterPath,
    *,
    masses: Floats,
    n_clusters: int | None = None,
    labels: str = "auto",
    method: str = "auto",
    min_cluster_size: int | None = None,
    random_state: Any = None,
) -> Selection:
    """Choose γ and the number of clusters on a path."""
    shares = path_shares(Z, path, masses)
    kept = np.flatnonzero((shares >= SHARES[0]) & (shares <= SHARES[1]))
    if not len(kept):
        kept = np.array([int(np.argmin(np.abs(np.log(np.maximum(shares, 1e-12) / 0.1))))])
    tree = ward_tree(path_average(path, masses, kept), masses)
    gamma = float(path.gammas[kept[len(kept) // 2]])
    return _choose(tree, gamma, n_clusters, method)


def select_at(
    A: Floats,
    fused: Ints,
    gamma: float,
    *,
    masses: Floats,
    n_clusters: int | None = None,
    labels: str = "auto",
    method: str = "auto",
) -> Selection:
    """Choose the clusters at one γ: the fused ones, or a cut of Ward's tree on the centroids."""
    tree = ward_tree(A, masses)
    if labels == "fusion" or (labels == "auto" and n_clusters is None and method == "auto"):
        return Selection(fused, int(fused.max()) + 1, gamma, tree, "fusion")
    return _choose(tree, gamma, n_clusters, method)


def _choose(tree: Floats, gamma: float, n_clusters: int | None, method: str) -> Selection:
    score = SELECTORS[method](tree)
    table = {
        "n_clusters": np.arange(1, len(score) + 1),
        "score": score,
        "sse": sse_curve(tree)[: len(score)],
    }
    if n_clusters is not None:
        return Selection(cut(tree, n_clusters), n_clusters, gamma, tree, "given", table)
    k = int(np.argmax(score)) + 1
    first, second = np.sort(score)[::-1][:2] if len(score) > 1 else (1.0, 0.0)
    confidence = float((first - second) / first) if first > 0 else 0.0
    verdict = "structure" if k > 1 else "one cluster"
    return Selection(cut(tree, k), k, gamma, tree, method, table, confidence, verdict)


def path_shares(Z: Floats, path: ClusterPath, masses: Floats) -> Floats:
    """B(γ) = ‖A − Ā‖²_M/‖Z − Z̄‖²_M at every γ of the path."""
    total = masses.sum()
    shares = np.empty(len(path))
    for step, center in enumerate(path.centers):
        mass = np.bincount(path.labels(gamma=float(path.gammas[step])), masses)
        centred = center - mass @ center / total
        shares[step] = 0.5 * float(mass @ (centred**2).sum(axis=1))
    return shares / path.scale if path.scale > 0 else np.zeros(len(path))


def path_average(path: ClusterPath, masses: Floats, steps: Ints) -> Floats:
    """Centroids of several γ side by side, each centred and of unit variance."""
    columns = []
    for step in steps:
        A = path.centers[step][path.labels(gamma=float(path.gammas[step]))]
        A = A - masses @ A / masses.sum()
        variance = float(masses @ (A**2).sum(axis=1)) / masses.sum()
        columns.append(A / np.sqrt(variance) if variance > 0 else A)
    return np.concatenate(columns, axis=1)

"""Which clusters, and at which γ: a choice, the others that would also stand, and how sure it is.

Input is a path and a tree of boundaries; output is a :class:`Selection`. Labels are cut from the
tree, and γ is one at which the fused clusters are the labels, or the greatest at which every fused
cluster lies inside one label: labels never undo what has fused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..labels import cut, elbow_scores, sse_curve, ward_tree
from ..numerics.boundaries import FAINT, Boundaries
from ..numerics.linkage import join
from ..optional import need
from ..partition import canonical, first
from ..path.clusterpath import ClusterPath
from ..problem import Floats, Ints
from .scores import SELECTORS, Candidates, Selector, greatest_count, scored

if TYPE_CHECKING:
    import pandas

# Other numbers of clusters that are shown, and how clearly (height of the faintest boundary kept
# over the clearest dropped) each must stand out to be one of them.
LAYERS, CLEAR = 3, 1.5


@dataclass(frozen=True)
class Layer:
    """A number of clusters at which the choice would also stand."""

    n_clusters: int
    labels: Ints  # (n,)
    gamma_range: tuple[float, float]  # γ over which the fused clusters are these; nan if never
    confidence: float  # 0 to 1

    def __repr__(self) -> str:
        low, high = (f"{gamma:.3g}" for gamma in self.gamma_range)
        return f"{self.n_clusters} clusters, γ {low} to {high}, confidence {self.confidence:.2f}"


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
        Tree, in SciPy's format, that the labels were cut from. Heights are in units of the level
        that a boundary must reach to stand (:mod:`convexcluster.numerics.boundaries`).
    method : str
        ``"valleys"`` of the density or ``"tension"`` of the path, whichever was measured; the key
        of ``SELECTORS``; ``"given"`` if the number of clusters was given; ``"fusion"``.
    table : dict of ndarray
        A row for every candidate: ``n_clusters``, ``height`` (of its faintest boundary),
        ``clarity`` (that over the next fainter one) and, with a named selector, its ``score``.
    confidence : float
        Probability that the clusters are those that a careful person would draw, estimated from
        the heights of the boundaries; nan where nothing was tested.
    verdict : str
        ``"structure"``, ``"no structure"``, ``"one cluster"``, or ``"not tested"`` with a reason.
    layers : tuple of Layer
        The choice and the few other numbers of clusters that would also stand, best first.
    """

    labels: Ints
    n_clusters: int
    gamma: float
    linkage: Floats
    method: str
    table: dict[str, np.ndarray] = field(default_factory=dict)
    confidence: float = float("nan")
    verdict: str = "structure"
    layers: tuple[Layer, ...] = ()

    def __repr__(self) -> str:
        others = " or ".join(str(layer.n_clusters) for layer in self.layers[1:])
        second = f", or {others}" if others else ""
        return (
            f"<Selection of {self.n_clusters} clusters at γ = {self.gamma:.4g} by {self.method!r}: "
            f"{self.verdict}, confidence {self.confidence:.2f}{second}>"
        )

    def to_frame(self) -> pandas.DataFrame:
        """The table of the candidates."""
        return need("pandas", "report").DataFrame(self.table)


def select(
    Z: Floats,
    path: ClusterPath,
    boundaries: Boundaries | None,
    *,
    n_clusters: int | None = None,
    method: str | Selector = "auto",
    min_cluster_size: int | None = None,
) -> Selection:
    """Choose γ and the number of clusters on a path.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
        Embedding.
    path : ClusterPath
    boundaries : Boundaries or None
        Tree whose cuts are the candidates; without one they are the fusions of the path.
    n_clusters : int, optional
        Given number of clusters.
    method : str or callable
        Key of ``SELECTORS`` or a function of :class:`Candidates`.
    min_cluster_size : int, optional
        A candidate with a cluster of less mass is not chosen.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from convexcluster import solve_path
    >>> Z = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> path = solve_path(Z, [[0, 1], [1, 2], [2, 3]], [1.0, 0.1, 1.0])
    >>> select(Z, path, None, n_clusters=2).labels
    array([0, 0, 1, 1])
    """
    check_complete(path)
    n = path.n_samples
    if n == 1 or path.scale <= 0 or not len(path):
        return _alike(path)
    linkage = path.to_linkage() if boundaries is None else boundaries.linkage
    k_max = min(greatest_count(path.masses.sum()), n)
    table, k, name = _count(
        Z, path, boundaries, linkage, k_max, n_clusters, method, min_cluster_size
    )
    labels = held(path, cut(linkage, k))
    k = int(labels.max()) + 1
    gamma = gamma_of(path, labels)
    if boundaries is None:
        verdict = "not tested: the fusions of a path carry no level for noise"
        return Selection(labels, k, gamma, linkage, name, table, verdict=verdict)
    layers = _layers(path, boundaries, k)
    return Selection(
        labels=labels,
        n_clusters=k,
        gamma=gamma,
        linkage=linkage,
        method=name,
        table=table,
        confidence=layers[0].confidence,
        verdict="structure" if boundaries.count > 1 else "no structure",
        layers=layers,
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
    verdict = "not tested: one γ shows no path along which clusters could be held apart"
    if labels == "fusion" or (labels == "auto" and n_clusters is None and method == "auto"):
        return Selection(fused, int(fused.max()) + 1, gamma, tree, "fusion", verdict=verdict)
    sse = sse_curve(tree)
    score = elbow_scores(sse)
    count = np.arange(1, len(score) + 1)
    table = {"n_clusters": count, "score": score, "sse": sse[: len(score)]}
    k = int(n_clusters or np.argmax(score) + 1)
    name = "given" if n_clusters is not None else "elbow"
    return Selection(cut(tree, k), k, gamma, tree, name, table, verdict=verdict)


def check_complete(path: ClusterPath) -> None:
    """Refuse a path that was interrupted: clusters that it did not reach would not be compared."""
    if not path.complete:
        raise ValueError(
            f"the path was interrupted after {len(path)} values of γ, and nothing can be selected "
            "on a part of it: solve it to its end"
        )


def best_count(score: Floats) -> int:
    """Number of clusters with the best score, the least of equals; 1 if no score is positive."""
    return int(np.argmax(score)) + 1 if score.max() > 0 else 1


def _count(
    Z: Floats,
    path: ClusterPath,
    boundaries: Boundaries | None,
    linkage: Floats,
    k_max: int,
    n_clusters: int | None,
    method: str | Selector,
    least: int | None,
) -> tuple[dict[str, np.ndarray], int, str]:
    """The table of the candidates, the number of clusters and what chose it."""
    table: dict[str, np.ndarray] = {"n_clusters": np.arange(1, k_max + 1)}
    if boundaries is not None:
        table["height"] = np.array([boundaries.height(k) for k in range(1, k_max + 1)])
        table["clarity"] = np.array([boundaries.clarity(k) for k in range(1, k_max + 1)])
    selector = SELECTORS[method] if isinstance(method, str) else method
    if selector is None and boundaries is None:
        method, selector = "lifetime", SELECTORS["lifetime"]
    if selector is not None:
        table["score"] = scored(selector, Candidates(linkage, Z, path, k_max))
    if n_clusters is not None:
        return table, int(n_clusters), "given"
    if selector is None:
        assert boundaries is not None
        return table, boundaries.count, boundaries.kind
    score = table["score"].copy()
    for k in range(2, k_max + 1) if least else ():
        if np.bincount(cut(linkage, k), path.masses).min() < least:
            score[k - 1] = -np.inf
    name = method if isinstance(method, str) else getattr(method, "__name__", "callable")
    return table, best_count(score), name


def held(path: ClusterPath, labels: Ints) -> Ints:
    """The labels, each fused cluster of the first γ whole: in the cluster of its first sample."""
    fused = path.labels(step=0)
    return canonical(labels[first(fused)][fused])


def gamma_of(path: ClusterPath, labels: Ints) -> float:
    """The first γ at which the fused clusters are the labels; failing that, the greatest at which
    each of them lies inside one label.
    """
    wanted, inside = canonical(labels), 0
    k = int(labels.max()) + 1
    for step in np.flatnonzero(path.n_clusters >= k)[::-1]:
        fused = path.labels(step=int(step))
        if (wanted == wanted[first(fused)][fused]).all():
            inside = int(step)
            break
    for step in range(inside, -1, -1):  # the first of the γ with the same clusters
        if path.n_clusters[step] != path.n_clusters[inside] or path.n_clusters[inside] != k:
            break
        inside = step
    return float(path.gammas[inside])


def _layers(path: ClusterPath, boundaries: Boundaries, chosen: int) -> tuple[Layer, ...]:
    """The chosen number of clusters, then those that stand out, the clearest first."""
    most = min(int((boundaries.heights > 1.0).sum()) + 1, greatest_count(path.masses.sum()))
    others = [k for k in range(2, most + 1) if k != chosen and boundaries.clarity(k) >= CLEAR]
    others.sort(key=lambda k: -boundaries.clarity(k))
    layers = []
    for k in [chosen, *others[:LAYERS]]:
        labels = held(path, boundaries.labels(k))
        steps = [
            int(t)
            for t in np.flatnonzero(path.n_clusters == k)
            if (path.labels(step=int(t)) == canonical(labels)).all()
        ]
        ends = (float(path.gammas[steps[0]]), float(path.gammas[steps[-1]])) if steps else None
        fused = int(path.labels(gamma=gamma_of(path, labels)).max()) + 1
        sure = confidence(boundaries, k, fused)
        layers.append(Layer(k, labels, ends or (np.nan, np.nan), sure))
    return tuple(layers)


def confidence(boundaries: Boundaries, k: int, fused: int | None = None) -> float:
    """How sure k clusters are, 0 to 1: σ(0.2 + 2.8 log h − 0.5 log(f/k)).

    h is the height of the faintest boundary that is kept, in levels, and f the number of fused
    clusters that the labels join, by default k. Of one cluster h is one over the clearest boundary.
    Of two numbers of clusters that stand nearly alike neither is sure: h is at most the clarity of
    k. The three constants were fitted so that nine of ten answers of 0.9 and more agree with the
    truth (ARI ≥ 0.9) on toys and tables; ``benchmarks/stability`` counts on other draws.
    """
    dropped = max(boundaries.height(k + 1), FAINT)
    height = min(boundaries.height(k), boundaries.clarity(k) ** 2) if k > 1 else 1.0 / dropped
    joined = np.log((k if fused is None else fused) / k)
    value = 0.2 + 2.8 * np.log(max(height, 1e-3)) - 0.5 * joined
    return float(1.0 / (1.0 + np.exp(-value)))


def _alike(path: ClusterPath) -> Selection:
    """All samples are equal: one cluster, whatever was asked for."""
    n = path.n_samples
    samples = np.arange(n)
    linkage = join(np.column_stack([samples[:-1], samples[1:]]), np.zeros(n - 1), n)
    gamma = float(path.gammas[0]) if len(path) else 0.0
    labels = np.zeros(n, dtype=np.int64)
    return Selection(labels, 1, gamma, linkage, "alike", confidence=1.0, verdict="one cluster")

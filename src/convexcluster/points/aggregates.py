"""Rows whose graph is given → weighted points: aggregates of the graph, TᵀWT between them.

Input: rows in memory and their graph W. Output: :class:`~convexcluster.points.Points`, at most as
many as are wanted. Every row, or group of rows, picks the neighbour to which it is tied most
strongly per mass, W_gh/√(M_g M_h); pairs that pick each other become one group, the strongest pairs
first, until few enough are left. So rows that the penalty would fuse first share a group, and any
grouping is covered by the bound of :mod:`convexcluster.points.error`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..embedding import Embedding
from ..embedding.projector import Projector
from ..graph import Graph, quotient
from ..kernels import Kernel
from ..partition import canonical
from ..problem import Floats, Ints
from .cells import Summary, summarise
from .passes import BANDWIDTH_ROWS, EMBED_ROWS, SAMPLE_ROWS, STREAM, placed
from .points import Points

# Rounds of pairing: each takes off a fifth of the groups or more, so that 60 leave 1 in 10⁵. A
# graph in many pieces ends earlier, when no edge is left.
ROUNDS = 60


def aggregate(graph: Graph, masses: Floats, budget: int) -> Ints:
    """Group rows along the strongest edges until at most ``budget`` groups are left, shape (n,).

    Graphs of more components than that have a group for each component.

    Examples
    --------
    >>> chain = Graph(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 0.1, 1.0]))
    >>> aggregate(chain, np.ones(4), 2)
    array([0, 0, 1, 1])
    """
    labels, mass = np.arange(len(masses)), masses
    for _ in range(ROUNDS):
        if len(mass) <= budget or not len(graph.edges):
            break
        pairs = _mutual(graph, mass)[: len(mass) - budget]
        joined = np.arange(len(mass))
        joined[pairs[:, 1]] = pairs[:, 0]
        joined = canonical(joined)
        labels, graph = joined[labels], quotient(graph.edges, graph.weights, joined)
        mass = np.bincount(joined, mass).astype(np.float64)
    return canonical(labels)


def _mutual(graph: Graph, masses: Floats) -> Ints:
    """Pairs of groups that are each other's strongest neighbour, the strongest pairs first."""
    n = len(masses)
    tail, head = graph.edges.T
    strength = graph.weights / np.sqrt(masses[tail] * masses[head])
    # edges in one strict order, so that equal strengths make no cycle of picks
    order = np.lexsort((head, tail, -strength))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    best = np.full(n, len(order))
    np.minimum.at(best, tail, rank)
    np.minimum.at(best, head, rank)
    picked = np.sort(np.flatnonzero((best[tail] == rank) & (best[head] == rank)))
    picked = picked[np.argsort(rank[picked])]
    return graph.edges[picked]


def make_aggregates(
    X: Floats,
    masses: Floats,
    graph: Graph,
    budget: int,
    kernel_of: Callable[[Floats], Kernel],
    embed: Callable[[Floats, Kernel], Embedding],
    *,
    seed: int = 0,
) -> tuple[Points, Floats]:
    """At most ``budget`` aggregates of the rows, with their sums in the embedding.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    masses : ndarray of shape (n,)
        > 0.
    graph : Graph
        Of the rows.
    budget, kernel_of, embed, seed
        As of :func:`convexcluster.points.make_cells`.

    Returns
    -------
    Points
    sample : ndarray of shape (s, d)
        Rows drawn with equal probability, in random order.
    """
    if not masses.all():
        raise ValueError(
            "sample_weight holds zeros, which need automatic weights on samples: "
            "drop these samples instead"
        )
    labels = aggregate(graph, masses, budget)
    count = int(labels.max()) + 1
    drawn = np.random.default_rng([STREAM, seed]).permutation(len(X))[:SAMPLE_ROWS]
    sample = X[drawn]
    embedding = embed(sample, kernel_of(sample[:BANDWIDTH_ROWS]))
    projector = Projector.of(embedding)
    sums, lost = _sums(X, masses, labels, count, projector)
    Z = placed(projector, sums, lost, embedding.trace_error / len(sample))
    means = summarise(X, labels, count, masses).means
    points = Points(means, sums.masses, Z, labels, distinct=False, scatter=sums.scatter)
    return points, sample


def _sums(
    X: Floats, masses: Floats, labels: Ints, count: int, projector: Projector
) -> tuple[Summary, float]:
    """Mass, mean and scatter of every aggregate in the embedding, and the trace that is lost."""
    from ..loops.cells import add_rows

    rank = projector(X[:1])[0].shape[1]
    sums = Summary(np.zeros(count), np.zeros((count, rank)), np.zeros(count))
    lost = 0.0
    for s in range(0, len(X), EMBED_ROWS):
        Z, missing = projector(np.ascontiguousarray(X[s : s + EMBED_ROWS]))
        here, m = labels[s : s + EMBED_ROWS], masses[s : s + EMBED_ROWS]
        add_rows(np.ascontiguousarray(Z), m, here, sums.masses, sums.means, sums.scatter)
        lost += float(m @ missing)
    return sums, lost

"""The graph of the penalty between points, and the vote that measures as it does."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..graph import Graph, quotient
from ..kernels import distances
from ..numerics.boundaries import Boundaries
from ..partition import first, row_keys
from ..points import Points, Vote
from ..problem import Floats, Ints
from ..selection.tension import dimension_of
from ..settings import Settings
from ..weights import (
    FEW_FEATURES,
    LOOPED,
    Nearest,
    automatic_graph,
    automatic_nearest,
    build_graph,
    with_valleys,
)
from ..weights.neighbors import edge_lengths


def nearest_points(points: Points, own: Graph | None, settings: Settings) -> Nearest | None:
    """Neighbours of the points, found once for both graphs and for the vote; None if not needed."""
    if own is not None or not settings.automatic_graph or not points.distinct or len(points) < 2:
        return None
    placed = settings.weighs_in_embedding
    X = points.Z if placed else points.X
    if not placed and settings.metric_of_graph(X) != "auto":
        return None
    jobs = settings.threads
    return automatic_nearest(X, settings.n_neighbors, features=not placed, jobs=jobs)


def build_penalty(
    points: Points,
    own: Graph | None,
    settings: Settings,
    nearest: Nearest | None = None,
    found: Boundaries | None = None,
    links: Ints | None = None,
) -> tuple[Graph, Graph | None]:
    """The graph of the penalty between the points, and that of the rows that it sums, if any.

    Edges across valleys that were ``found`` are weak; valleys are between samples, of which
    ``links`` is that of every point.
    """
    if own is not None:
        assert points.index is not None
        if found is not None:
            labels = found.labels(settings.n_clusters)[points.index]
            own = with_valleys(own, found, labels, first(points.index))
        return quotient(own.edges, own.weights, points.index), own
    if settings.weighs_in_embedding:
        return weigh(points.Z, points.masses, settings, features=False, nearest=nearest), None
    distinct = points.distinct
    graph = weigh(points.X, points.masses, settings, distinct=distinct, nearest=nearest)
    if found is not None:
        labels = found.labels(settings.n_clusters)
        labels = labels if links is None else labels[links]
        graph = with_valleys(graph, found, labels, np.arange(len(labels)))
    return graph, None


def weigh(
    X: Any,
    masses: Floats,
    settings: Settings,
    *,
    features: bool = True,
    distinct: bool = False,
    nearest: Nearest | None = None,
) -> Graph:
    """The graph on the rows of X that the settings ask for."""
    options: dict[str, Any] = {
        "n_neighbors": settings.n_neighbors,
        "masses": masses,
        "distinct": distinct,
    }
    metric = settings.metric_of_graph(X) if features else "auto"
    if metric not in LOOPED:
        X = X if settings.distances_given else distances(X, None, metric)
        metric = "precomputed"
    if metric != "auto":
        options["metric"] = metric
    if settings.automatic_graph:
        return automatic_graph(X, features=features, nearest=nearest, **options)
    return build_graph(X, settings.weights, bandwidth=settings.weight_bandwidth, **options)


def space(points: Points, settings: Settings) -> tuple[int, float]:
    """Features of the space in which the graph measures distances, and its dimension.

    The axes of an embedding are many features.
    """
    if not _by_features(points, settings):
        return max(points.Z.shape[1], FEW_FEATURES + 1), dimension_of(points.Z)
    d = int(points.X.shape[1])
    return d, float(d) if d <= FEW_FEATURES else dimension_of(points.X)


def lengths_of(points: Points, graph: Graph, settings: Settings) -> Floats:
    """Lengths of the edges of the graph in that space."""
    return edge_lengths(points.X if _by_features(points, settings) else points.Z, graph.edges)


def _by_features(points: Points, settings: Settings) -> bool:
    """Whether the graph measures distances between the features."""
    if settings.weighs_in_embedding or sparse.issparse(points.X):
        return False
    return settings.metric_of_graph(points.X) in LOOPED


def make_vote(
    points: Points, labels: Ints, settings: Settings, nearest: Nearest | None = None
) -> Vote:
    """The rule that labels rows, in the space in which the graph measures distances."""
    placed = settings.weighs_in_embedding
    metric = "auto" if placed else settings.metric_of_graph(points.X)
    return Vote.of(
        points.Z if placed else points.X,
        labels,
        points.masses,
        row_keys(points.X),
        n_neighbors=settings.n_neighbors,
        embedding=points.embedding if placed else None,
        metric=metric,
        nearest=nearest,
    )

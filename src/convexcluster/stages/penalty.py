"""The graph of the penalty between points, and the vote that measures as it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Graph, quotient
from ..numerics.boundaries import Boundaries
from ..partition import first, row_keys
from ..points import Points, Vote
from ..problem import Floats, Ints
from ..settings import Settings
from ..weights import automatic_graph, build_graph, with_valleys
from .space import Space


def build_penalty(
    points: Points,
    own: Graph | None,
    settings: Settings,
    space: Space,
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
    distinct = points.distinct and not settings.weighs_in_embedding
    graph = weigh(space, points.masses, settings, distinct=distinct)
    if found is not None:
        labels = found.labels(settings.n_clusters)
        labels = labels if links is None else labels[links]
        graph = with_valleys(graph, found, labels, np.arange(len(labels)))
    return graph, None


def weigh(space: Space, masses: Floats, settings: Settings, *, distinct: bool = False) -> Graph:
    """The graph that the settings ask for, of distances in ``space``."""
    options: dict[str, Any] = {
        "n_neighbors": settings.n_neighbors,
        "masses": masses,
        "distinct": distinct,
    }
    if space.metric != "auto":
        options["metric"] = space.metric
    if settings.automatic_graph:
        return automatic_graph(space.X, few=space.few, nearest=space.nearest, **options)
    return build_graph(space.X, settings.weights, bandwidth=settings.weight_bandwidth, **options)


def make_vote(points: Points, labels: Ints, settings: Settings, space: Space) -> Vote:
    """The rule that labels rows, in the space in which the graph measures distances."""
    placed = settings.weighs_in_embedding
    given = space.metric == "precomputed" and not placed
    return Vote.of(
        points.Z if placed else points.X,
        labels,
        points.masses,
        row_keys(points.X),
        n_neighbors=settings.n_neighbors,
        embedding=points.embedding if placed else None,
        metric=settings.metric_of_graph(points.X) if given else space.metric,
        few=space.few,
        nearest=space.nearest,
    )

"""Where the graph measures distances between points, and of how many dimensions that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..graph import Graph
from ..kernels import distances
from ..partition import first
from ..points import Points
from ..problem import Floats, Ints
from ..rows import Rows
from ..selection.tension import dimension_of
from ..settings import Settings
from ..weights import FEW_FEATURES, LOOPED, Nearest, automatic_nearest
from ..weights.landscape import FEWEST, n_around
from ..weights.search import edge_lengths

# Points whose neighbours grow in number as r^D with D below this lie on a curve or a surface,
# whatever space they are in, and have a density that can be told, as points of a plane have. With 3
# tables of nine features (glass, statlog) would be surfaces, with 2 a square would not be one.
SURFACE = 2.5

# Points for each neighbour by which the dimension is measured: neighbours that are a quarter of all
# points (59 animals, zoo) say how large the clusters are, and not what they lie on.
LOCAL = 8

# Numbers of sorted rows, 32 MB, from which they are put away; to take 60 MB again takes 10 ms.
# Half: the allocator keeps so small an array when it is let go, and nothing is gained. Twice:
# 10,000 rows of 784 features stay.
LARGE = 2**22


@dataclass(frozen=True)
class Space:
    """Where the graph measures distances.

    Attributes
    ----------
    X : (n, d) array or sparse matrix
        Rows of features, axes of the embedding, or all distances.
    metric : str
        One that has loops, "auto" among them; "precomputed" if X holds distances.
    features : bool
        Whether the columns of X are features.
    few : bool
        Whether the points have few dimensions: at most three features, or they lie on a curve or on
        a surface.
    dimension : float
        Number of features, if they are few; the dimension in which neighbours grow, on a curve or
        surface and where there are no features; else that over which the variance is spread.
    nearest : Nearest or None
        Neighbours of distinct points that make the graph of the defaults, where it is built here.
    """

    X: Any
    metric: str
    features: bool
    few: bool
    dimension: float
    nearest: Nearest | None = None

    @property
    def is_line(self) -> bool:
        """Whether the points are numbers, between which the density is all that there is."""
        return self.features and self.X.shape[1] == 1

    @property
    def n_features(self) -> float:
        """Number of features as tensions count them: at most three are few."""
        return min(self.dimension, FEW_FEATURES) if self.few else max(self.X.shape[1], 4)

    def lengths(self, edges: Ints) -> Floats:
        """Lengths of edges, Euclidean unless distances are given."""
        given = "precomputed" if self.metric == "precomputed" else "euclidean"
        return edge_lengths(self.X, edges, metric=given)


def space_of(X: Any, settings: Settings, Z: Floats | None = None) -> Space:
    """Where distances between rows X are measured; Z is their embedding, where they have one.

    The graph is in the embedding if the settings say so.
    """
    placed = Z is not None and settings.weighs_in_embedding
    metric = "euclidean" if placed else settings.metric_of_graph(X)
    if placed:
        X = Z
    elif metric not in LOOPED:
        X = X if settings.distances_given else distances(X, None, metric)
        metric = "precomputed"
    features = not placed and metric != "precomputed" and not sparse.issparse(X)
    few = features and X.shape[1] <= FEW_FEATURES
    spread = X if features or Z is None else Z
    return Space(X, metric, features, few, float(X.shape[1]) if few else dimension_of(spread))


def measure_space(points: Points, own: Graph | None, settings: Settings) -> Space:
    """Find out where distances between points are measured, who is near there, and the dimension.

    A graph of rows or one that is given is there already, and has no dimension but that of X.
    """
    space = space_of(points.X, settings, points.Z)
    if own is not None or not settings.automatic_graph or len(points) < 2:
        return space
    space = near_in(space, settings)
    assert space.nearest is not None
    if not space.few:
        grown = space.nearest.dimension
        local = len(points) >= LOCAL * space.nearest.index.shape[1]
        if grown < SURFACE and local:
            metric = "euclidean" if space.metric == "auto" else space.metric
            surface = replace(space, metric=metric, few=True, dimension=grown)
            space = near_in(surface, settings)
        elif not space.features:
            space = replace(space, dimension=grown)
    return space if points.distinct else replace(space, nearest=None)


def near_in(space: Space, settings: Settings) -> Space:
    """The space with the neighbours of all points."""
    many = n_around(space.X.shape[0]) if shows_density(space, settings) else 0
    given = space.X, settings.n_neighbors, space.metric, space.few
    return replace(space, nearest=automatic_nearest(*given, many=many, jobs=settings.threads))


def shows_density(space: Space, settings: Settings) -> bool:
    """Whether the density of the points is asked about clusters.

    It is not where the graph is not built from the points, nor by Manhattan distances.
    """
    asked = settings.labels == "auto" and not settings.one_gamma and settings.automatic_graph
    return asked and space.few and space.metric != "manhattan" and space.X.shape[0] >= FEWEST


def put_away(points: Points, space: Space, rows: Rows) -> tuple[Points, Space]:
    """Let go of the sorted rows, if they are large, while a stage has no use for them.

    They are ``rows`` of the user's in another order: :func:`fetch` takes them from there. Rows that
    the embedding holds as well would be there twice after that, and stay. The many neighbours that
    showed the density have been used.
    """
    if space.nearest is not None:
        space = replace(space, nearest=replace(space.nearest, around=None))
    X = points.X
    own = points.distinct and not points.coarse and points.index is not None
    if not own or sparse.issparse(X) or X.size <= LARGE or not np.all(rows.masses):
        return points, space
    if space.X is not X or points.embedding.basis is X:
        return points, space
    return replace(points, X=None), replace(space, X=None)


def fetch(points: Points, space: Space, rows: Rows) -> tuple[Points, Space]:
    """Points and space with the rows that :func:`put_away` took from them."""
    if points.X is not None:
        return points, space
    assert points.index is not None
    X = np.ascontiguousarray(rows.X[first(points.index)], dtype=np.float64)
    X += 0.0  # −0.0 is 0.0
    return replace(points, X=X), replace(space, X=X)

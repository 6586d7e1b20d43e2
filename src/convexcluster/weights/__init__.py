"""Weights: samples in the input or the embedding space to a graph of edges i < j and w > 0.

The weights that have a name are in :mod:`~convexcluster.weights.formulas`, neighbours and their
ties in :mod:`~convexcluster.weights.neighbors`, the edges that join components in
:mod:`~convexcluster.weights.bridges`.
"""

from .build import (
    FEW_FEATURES,
    automatic_graph,
    automatic_nearest,
    automatic_neighbors,
    build_graph,
    connected,
    user_graph,
)
from .formulas import WEIGHTS, Neighbourhood, local_scales
from .gaps import Gaps, find_gaps
from .landscape import Landscape
from .neighbors import LOOPED, Nearest
from .valleys import valleys, with_valleys

__all__ = [
    "FEW_FEATURES",
    "LOOPED",
    "WEIGHTS",
    "Gaps",
    "Landscape",
    "Nearest",
    "Neighbourhood",
    "automatic_graph",
    "automatic_nearest",
    "automatic_neighbors",
    "build_graph",
    "connected",
    "find_gaps",
    "local_scales",
    "user_graph",
    "valleys",
    "with_valleys",
]

"""The graph of the defaults: each pair has its own bandwidth, and every sample is reached."""

from __future__ import annotations

from ..graph import Graph
from ..kernels import Samples
from ..problem import Floats
from .build import build_graph

# Rows of at most this many features are taken for points of the plane or of space, whose axes may
# be turned without a change of meaning.
FEW_FEATURES = 3

# Neighbours that are asked for where only mutual ones count, per neighbour that is wanted. Of seven
# neighbours in the plane five or six return the choice: ten leave as many edges as seven one-sided
# ones. Fourteen join the arms of a spiral; seven leave groups of a few samples to bridges.
ASKED = 10 / 7


def automatic_graph(
    X: Samples,
    *,
    n_neighbors: int,
    masses: Floats,
    features: bool = True,
    scored: bool = False,
    distinct: bool = False,
) -> Graph:
    """Build the graph of the defaults, with mean weighted degree 1, so that γ has one scale.

    Of at most three features distances are Euclidean, since turning the axes must change nothing,
    and neighbours mutual. Of more features distances are Manhattan's and neighbours one-sided too.
    The columns of an embedding are no ``features``, and its distances are Euclidean. A graph whose
    cuts are ``scored`` has one-sided neighbours too: with more edges it is known better how hard a
    curve is to cut. Of ``distinct`` rows, checked, no two are equal.
    """
    few = features and X.shape[1] <= FEW_FEATURES
    only_mutual = few and not scored
    return build_graph(
        X,
        "mutual" if only_mutual else "local",
        n_neighbors=round(ASKED * n_neighbors) if only_mutual else n_neighbors,
        masses=masses,
        connect=True,
        normalize=True,
        metric="manhattan" if features and not few else "euclidean",
        distinct=distinct,
    )

"""The automatic bandwidth: a typical distance between neighbours."""

from __future__ import annotations

import numpy as np

from ..partition import distinct_rows
from .checks import Samples

# Neighbour distances shrink as samples are added, and a kernel that narrows with n ends as the
# identity, of full rank: beyond this many samples the distances are those within a sample.
SAMPLE = 2_000


def auto_bandwidth(X: Samples, n_neighbors: int = 7) -> float:
    """Mean distance to the ``n_neighbors``-th nearest distinct sample; 1 if all are equal.

    Of more than 2,000 distinct samples that many are taken, evenly spaced in X, so that the
    bandwidth does not depend on n.

    Examples
    --------
    >>> float(auto_bandwidth(np.arange(20.0)[:, None], n_neighbors=1))
    1.0
    """
    from sklearn.neighbors import NearestNeighbors

    X = X[distinct_rows(X)[0]]
    if X.shape[0] > SAMPLE:
        X = X[np.linspace(0, X.shape[0] - 1, SAMPLE).astype(int)]
    k = min(n_neighbors, X.shape[0] - 1)
    if k < 1:
        return 1.0
    # a sample is its own nearest neighbour, at distance 0
    distances, _ = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    sigma = float(distances[:, -1].mean())
    return sigma if sigma > 0 else 1.0

"""The automatic bandwidth: a typical distance between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..partition import distinct_rows
from .checks import Samples
from .distances import distances

# Neighbour distances shrink as samples are added, and a kernel that narrows with n ends as the
# identity, of full rank: beyond this many samples the distances are those within a sample.
SAMPLE = 2_000


def auto_bandwidth(X: Samples, n_neighbors: int = 7, metric: Any = "auto") -> float:
    """Mean distance to the ``n_neighbors``-th nearest distinct sample; 1 if all are equal.

    Of more than 2,000 distinct samples that many are taken, evenly spaced in X, so that the
    bandwidth does not depend on n. Distances are Euclidean if ``metric`` is "auto"; with
    "precomputed" X holds them.

    Examples
    --------
    >>> float(auto_bandwidth(np.arange(20.0)[:, None], n_neighbors=1))
    1.0
    """
    from sklearn.neighbors import NearestNeighbors

    taken = distinct_rows(X)[0]
    if len(taken) > SAMPLE:
        taken = taken[np.linspace(0, len(taken) - 1, SAMPLE).astype(int)]
    whole = len(taken) == X.shape[0] and bool((taken == np.arange(len(taken))).all())
    few = X if whole else X[taken]  # a copy of rows of many features may not fit
    k = min(n_neighbors, len(taken) - 1)
    if k < 1:
        return 1.0
    # a sample is its own nearest neighbour, at distance 0
    if metric == "auto":
        search = NearestNeighbors(n_neighbors=k + 1).fit(few)
        far = search.kneighbors(few)[0][:, -1]
    else:
        given = isinstance(metric, str) and metric == "precomputed"
        D = X[np.ix_(taken, taken)] if given else distances(few, None, metric)
        far = np.partition(D, k, axis=1)[:, k]
    sigma = float(far.mean())
    return sigma if sigma > 0 else 1.0

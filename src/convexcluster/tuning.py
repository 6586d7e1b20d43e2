"""Search over bandwidths, γ and k: one path gives every γ and every k.

Input: samples X, classes y if they are known, and a grid of parameters. Output: a
:class:`TuneResult`. With ``y`` this is the paper's protocol, the best agreement with the classes
over σ₁, σ₂, γ and k. Without, the selectors' score of the best k decides.

Kernels and embeddings depend on the bandwidth alone, graphs on the weights' parameters alone, and
a path on both; each is computed once. Each γ of a path gives a Ward tree on its centroids and
each tree all k; the path average gives one tree more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from .clusterpath import ClusterPath
from .estimators import KernelConvexClustering
from .graph import Graph
from .kernels import auto_bandwidth
from .path import solve_path
from .problem import Floats, Ints
from .selection import SELECTORS, select
from .selection.average import PathAverage, average_tree, expand, path_average, refine, spread
from .selection.choose import greatest_count
from .selection.cuts import nested_labels

# Factors of the automatic bandwidth that are tried: a factor of two either way, in half octaves
# for the kernel; wider for the weights, where a large bandwidth means equal weights.
KERNEL_FACTORS = (0.5, 0.71, 1.0, 1.41, 2.0)
WEIGHT_FACTORS = (0.5, 1.0, 2.0, 4.0)

# Paths of the search are solved to this gap; the winner is solved again to its own tolerance.
SEARCH_TOL = 1e-4

# γ whose centroids keep at least this share of the samples' spread: below, what is left is noise.
LEAST_SPREAD = 1e-3

# So many of the best candidates are fitted before one is returned: a search at ``SEARCH_TOL`` may
# order them a little differently from the exact centroids.
FINALISTS = 5


@dataclass(frozen=True)
class TuneResult:
    """What the search found.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted with the best parameters.
    best_score_ : float
        Its score.
    best_params_ : dict
        What was set: the grid's parameters, ``gamma`` and ``n_clusters``.
    table : pandas.DataFrame, or dict of ndarray without pandas
        For every point of the grid and every γ (nan: the path average) the best k and its score,
        best first.
    """

    best_estimator_: Any
    best_score_: float
    best_params_: dict[str, Any]
    table: Any


def default_grid(X: ArrayLike, n_neighbors: int = 7) -> dict[str, list[Any]]:
    """Five kernel bandwidths × five weights (local scaling and four bandwidths).

    Examples
    --------
    >>> {name: len(values) for name, values in default_grid(np.eye(9)).items()}
    {'bandwidth': 5, 'weight_bandwidth': 5}
    """
    sigma = auto_bandwidth(np.asarray(X, dtype=np.float64), n_neighbors)
    return {
        "bandwidth": [factor * sigma for factor in KERNEL_FACTORS],
        "weight_bandwidth": ["auto", *(factor * sigma for factor in WEIGHT_FACTORS)],
    }


def tune(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    estimator: Any = None,
    grid: Mapping[str, Iterable[Any]] | None = None,
    scoring: str | Callable[[Ints, Ints], float] | None = None,
    max_clusters: int | None = None,
    n_jobs: int | None = None,
) -> TuneResult:
    """Search the bandwidths of kernel and weights, γ and the number of clusters.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,), optional
        Classes. With them the score is the agreement of the clusters with the classes, without
        them that of a selector.
    estimator : KernelConvexClustering or ConvexClustering, optional
        Carries every parameter that the grid does not name; it is not changed.
    grid : dict of lists, optional
        Values of the estimator's parameters; by default :func:`default_grid`. ``gamma`` and
        ``n_clusters`` are always searched, on the path.
    scoring : str or callable, optional
        With ``y``: "nmi" (default), "ari" or a function of (y, labels). Without: a key of
        ``SELECTORS``, by default "auto".
    max_clusters : int, optional
        Greatest k; by default 1.5 √n, and at least twice the number of classes.
    n_jobs : int, optional
        Threads over the points of the grid.

    Returns
    -------
    TuneResult

    Examples
    --------
    >>> from convexcluster.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> result = tune(X, y, grid={"bandwidth": [0.3, 0.6]})
    >>> round(result.best_score_, 3)
    1.0
    """
    model = KernelConvexClustering() if estimator is None else clone(estimator)
    rows = validate_data(clone(model), X, accept_sparse="csr", dtype=np.float64, order="C")
    if grid is None:
        grid = default_grid(rows, model.n_neighbors)
        grid = {name: values for name, values in grid.items() if name in model.get_params()}
    judge = _judge(y, rows.shape[0], scoring, max_clusters)
    names = list(grid)
    points = [dict(zip(names, values)) for values in product(*(list(grid[n]) for n in names))]
    shared: dict[Any, Any] = {}
    searches = [_Search(clone(model).set_params(**point), point, rows, shared) for point in points]
    found = [row for rows_ in _each(_Search.run, searches, judge, n_jobs) for row in rows_]
    found.sort(key=lambda row: -row["score"])
    best = _refit(model, X, found, judge)
    return TuneResult(*best, _frame(found))


class _Search:
    """One point of the grid: its path, and the best k of every γ."""

    def __init__(self, model: Any, point: dict[str, Any], X: Any, shared: dict[Any, Any]) -> None:
        self.point = point
        weight = np.ones(X.shape[0])
        automatic = model._automatic_weights()
        samples = _once(shared, ("samples", automatic), lambda: model._samples(X, weight))
        kernel = model._kernel(samples.X)
        kernel_key = ("embedding", automatic, kernel.name, repr(kernel.params), model.get_params().get("rank"))
        self.embedding = _once(
            shared, kernel_key, lambda: model._embed(samples.X, kernel, samples.masses)
        )
        inside = kernel_key if model.get_params().get("weight_space") == "embedding" else ()
        graph_key = ("graph", inside, repr(model.weights), model.n_neighbors, model.weight_bandwidth)
        self.graph: Graph = _once(
            shared, graph_key, lambda: model._graph(samples, self.embedding, kernel)
        )
        self.samples, self.gamma = samples, model.gamma

    def run(self, judge: _Judge) -> list[dict[str, Any]]:
        """Score every γ of the path, and the path average."""
        Z, masses = self.embedding.Z, self.samples.masses
        path = solve_path(
            Z, self.graph.edges, self.graph.weights, self.gamma, masses=masses, tol=SEARCH_TOL
        )
        found = []
        for gamma, k, score in judge.best(Z, self.graph, path, self.samples.index):
            found.append({**self.point, "gamma": gamma, "n_clusters": k, "score": score})
        return found

"""Search over bandwidths, γ and k: one path gives every γ and every k.

Input: samples X, classes y if they are known, and a grid of parameters. Output: a
:class:`TuneResult`. With ``y`` this is the paper's protocol, the best agreement with the classes
over σ₁, σ₂, γ and k. Without, the selector's score of the best k decides.

An embedding depends on the kernel's bandwidth alone, a graph on the weights' parameters alone, and
a path on both; each is computed once. Each γ of a path gives a Ward tree on its centroids and
each tree all k; the tension of the path gives one tree more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from .estimators import KernelConvexClustering
from .estimators.predict import check_rows
from .graph import Graph
from .kernels import auto_bandwidth, check_metric
from .numerics.linkage import expand, join, nested_labels
from .numerics.threads import Workers, interruptible
from .optional import need
from .partition import canonical
from .path.clusterpath import ClusterPath
from .path.solve import path_of
from .points.units import exponent_of, numbers
from .problem import Floats, Ints, Problem
from .rows import Rows, array_rows
from .selection import select
from .selection.tension import spread, tension
from .settings import Settings, scaled_columns
from .stages.penalty import build_penalty
from .stages.points import distinct_points
from .stages.space import measure_space

# Factors of the automatic bandwidth: half octaves for the kernel; octaves for the weights, where a
# large bandwidth means equal weights.
KERNEL_FACTORS = (0.5, 0.71, 1.0, 1.41, 2.0)
WEIGHT_FACTORS = (0.5, 1.0, 2.0, 4.0)

# Paths of the search are solved to this gap; the winner is solved again to its own tolerance.
SEARCH_TOL = 1e-4

# γ whose centroids keep less than this share of the samples' spread have fused but for noise.
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
        For every point of the grid and every γ (nan: the tree of tensions) the best k and its
        score, best first.
    """

    best_estimator_: Any
    best_score_: float
    best_params_: dict[str, Any]
    table: Any


def default_grid(X: ArrayLike, n_neighbors: int = 7, metric: Any = "auto") -> dict[str, list[Any]]:
    """Five kernel bandwidths × five weights (local scaling and four bandwidths)."""
    sigma = auto_bandwidth(np.asarray(X, dtype=np.float64), n_neighbors, check_metric(metric))
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
        ``SELECTORS``, by default "silhouette".
    max_clusters : int, optional
        Greatest k with ``y``; by default three times the number of classes, at least 10.
    n_jobs : int, optional
        Threads over the points of the grid; under ``joblib.parallel_config`` its workers.

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
    rows = check_rows(model, X)
    base = Settings.of(model)
    rows = scaled_columns(rows, base.feature_factors(rows))
    base.check_clusters(rows.shape[0])
    values = numbers(rows)
    if exponent_of(values):
        raise ValueError(
            f"X holds numbers up to {np.abs(values).max():.1g}, whose squares leave the range of "
            "double precision: scale X"
        )
    if grid is None:
        known = model.get_params()
        every = default_grid(rows, model.n_neighbors, base.metric)
        grid = {name: values for name, values in every.items() if name in known}
    unknown = sorted(set(grid) - set(model.get_params()))
    if unknown:
        raise ValueError(f"{type(model).__name__} has no parameter {unknown[0]!r} to search over")
    if "feature_weights" in grid:
        raise ValueError("feature_weights are not searched over: give them to the estimator")
    classes = None if y is None else canonical(np.asarray(y))
    judge = Judge(classes, scoring, max_clusters)
    names = list(grid)
    points = [dict(zip(names, values)) for values in product(*(list(grid[n]) for n in names))]
    shared: dict[Any, Any] = {}
    data = array_rows(rows, np.ones(rows.shape[0]))
    problems = [_prepare(replace(base, **point), data, shared) for point in points]

    jobs = [(judge, point, *problem) for point, problem in zip(points, problems)]
    found = [row for part in _search_all(jobs, n_jobs) for row in part]
    found.sort(key=lambda row: -row["score"])
    return _refit(model, X, classes, found, judge)


def _search_all(jobs: list[tuple[Any, ...]], n_jobs: int | None) -> Iterable[Any]:
    """``_search(*job)`` of every job, in threads that share the problems.

    They are our own: an interrupted ``Parallel`` may leave threads behind, which wait for ever. A
    backend of other workers that was set by ``joblib.parallel_config`` has precedence.
    """
    if effective_n_jobs(n_jobs) == 1:
        return (_search(*job) for job in jobs)
    if not isinstance(get_active_backend(prefer="threads")[0], ThreadingBackend):
        return Parallel(n_jobs=n_jobs)(delayed(_search)(*job) for job in jobs)
    with interruptible(), Workers(effective_n_jobs(n_jobs)) as workers:
        return list(workers.map(lambda job: _search(*job), jobs))


def _search(judge: Judge, point: dict[str, Any], *problem: Any) -> list[dict[str, Any]]:
    """All scores of one point of the grid."""
    return [{**point, **row} for row in judge.rows(*problem)]


Prepared = tuple[Floats, Graph, Floats, Ints, tuple[float, float], Any]

# What the points of a fit depend on, and what their graph depends on.
OF_POINTS = (
    "kernel", "bandwidth", "kernel_params", "metric", "embedding", "embedding_tol", "rank",
)  # fmt: skip
OF_GRAPH = ("metric", "weights", "n_neighbors", "weight_bandwidth", "weight_space")


def _prepare(settings: Settings, rows: Rows, shared: dict[Any, Any]) -> Prepared:
    """Embedding, graph, masses, index of the rows and γ of one point, each computed once."""

    def once(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        if key not in shared:
            shared[key] = make()
        return shared[key]

    # points differ with the graph too: equal rows are one point unless the graph is given
    depends = (settings.merges_equal_rows, settings.one_gamma, *settings.key("random_state"))
    of_points = ("points", *settings.key(*OF_POINTS), *depends)
    points = once(of_points, lambda: distinct_points(rows, settings))
    of_graph = ("graph", *settings.key(*OF_GRAPH), settings.merges_equal_rows)
    if settings.weighs_in_embedding:
        of_graph += of_points
    space = once(("space", *of_graph), lambda: measure_space(points, None, settings))
    graph = once(of_graph, lambda: build_penalty(points, None, settings, space)[0])
    where = space.n_features, space.dimension
    return points.Z, graph, points.masses, points.index, where, settings.gamma


class Judge:
    """Scores the partitions of a path against classes, or by a selector."""

    def __init__(self, classes: Ints | None, scoring: Any, max_clusters: int | None) -> None:
        self.classes, self.scoring = classes, scoring
        if classes is None:
            self.scoring = scoring or "silhouette"
        else:
            self.k_max = max_clusters or max(10, 3 * (int(classes.max()) + 1))

    def rows(
        self, Z: Floats, graph: Graph, masses: Floats, index: Ints, where: Any, gamma: Any
    ) -> Iterator[dict[str, Any]]:
        """Best k and its score for the tree of tensions (γ nan) and, with classes, for every γ."""
        problem = Problem.of(Z, graph.edges, graph.weights, 0.0, masses)
        path = path_of(problem, gamma, tol=SEARCH_TOL, refine=False)
        tree = tension(path, graph, *where)
        if self.classes is None:
            chosen = select(Z, path, tree, method=self.scoring)
            score = float(np.max(chosen.table["score"])) if chosen.table else 0.0
            yield {"gamma": np.nan, "n_clusters": chosen.n_clusters, "score": score}
            return
        yield {"gamma": np.nan, **self.best(nested_labels(tree.linkage, self.k_max), index)}
        for step in range(len(path)):
            if spread(path, step) <= LEAST_SPREAD:
                continue
            labels = nested_labels(_tree_at(path, int(step)), self.k_max)
            yield {"gamma": float(path.gammas[step]), **self.best(labels, index)}

    def best(self, candidates: Iterable[Ints], index: Ints) -> dict[str, Any]:
        """Number of clusters and score of the best of nested labels."""
        scores = [self.score(labels[index]) for labels in candidates]
        return {"n_clusters": int(np.argmax(scores)) + 1, "score": float(np.max(scores))}

    def score(self, labels: Ints) -> float:
        """Agreement with the classes."""
        assert self.classes is not None
        if callable(self.scoring):
            return float(self.scoring(self.classes, labels))
        if self.scoring == "ari":
            return float(adjusted_rand_score(self.classes, labels))
        if self.scoring not in (None, "nmi"):
            raise ValueError(f'scoring must be "nmi", "ari" or a function, got {self.scoring!r}')
        return nmi(self.classes, labels)


def nmi(first: Ints, second: Ints) -> float:
    """Normalised mutual information, I/(½(H₁ + H₂)), of two labelings 0, 1, ….

    A search scores thousands of partitions, and scikit-learn's takes 70 times as long for each.

    Examples
    --------
    >>> nmi(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    size = int(second.max()) + 1
    joint = np.bincount(first * size + second, minlength=(int(first.max()) + 1) * size)
    p = joint.reshape(-1, size) / len(first)
    a, b = (_entropy(p.sum(axis=axis)) for axis in (1, 0))
    if a + b == 0:
        return 1.0
    return float(2 * (a + b - _entropy(p.ravel())) / (a + b))


def _entropy(p: Floats) -> float:
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def _tree_at(path: ClusterPath, step: int) -> Floats:
    """Ward's tree on the centroids of one γ, over all samples (the paper's)."""
    from .numerics.ward import ward_points  # late: it loads numba

    label = path.labels(step=step)
    merges = ward_points(path.centers[step], np.bincount(label, path.masses).astype(np.float64))
    return expand(join(merges.pairs, merges.heights, len(path.centers[step])), label)


def _refit(
    model: Any, X: ArrayLike, classes: Ints | None, found: list[dict[str, Any]], judge: Judge
) -> TuneResult:
    """Fit the best few exactly and keep the one that is best then."""
    best: TuneResult | None = None
    for row in found[: FINALISTS if classes is not None else 1]:
        params = {name: value for name, value in row.items() if name != "score"}
        if np.isnan(params["gamma"]):
            params["gamma"] = model.gamma
        else:
            params["labels"] = "agglomerative"
        fitted = clone(model).set_params(**params).fit(X)
        score = row["score"] if classes is None else judge.score(canonical(fitted.labels_))
        if best is None or score > best.best_score_:
            best = TuneResult(fitted, float(score), params, _frame(found))
        if score >= row["score"] - 1e-9:
            break
    assert best is not None
    return best


def _frame(found: list[dict[str, Any]]) -> Any:
    if find_spec("pandas"):
        return need("pandas", "report").DataFrame(found)
    return {name: np.array([row[name] for row in found]) for name in found[0]}

"""The methods of the comparison, their grids, and how a partition is scored.

Every method has the same budget: ``SETTINGS`` settings for each of two preprocessings. Lengths are
multiples of the median distance between samples. A method that has a path (γ) or a tree (k) uses
all of it within one setting. Partitions are asked for by rule: ``own`` (the method finds k: the
elbow of Ward's tree on the centroids, or the longest log-γ lifetime), ``paper`` (the paper's k) and
``classes`` (the number of classes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralClustering

from ..baselines import (
    BiconvexClustering,
    CPaint,
    KernelKMeans,
    KernelPowerKMeans,
    NoiseRobustSpectralClustering,
    TreeGuidedConvexClustering,
    tree_guided,
)
from ..embedding import embed
from ..estimators import ConvexClustering, KernelConvexClustering
from ..graph import Graph
from ..kernels import resolve_kernel
from ..labels import elbow, sse_curve, ward_tree
from ..numerics.linkage import cut
from ..path.solve import path_of
from ..problem import Floats, Ints, Problem
from ..weights import build_graph

# Settings of each method and preprocessing. Twice as many double the hours of Table 1; with half as
# many a method with two parameters has two values of each.
SETTINGS = 8
# Of every method that draws random numbers.
SEED = 0
# Values of γ on one path. Twice as many changed no label of the sets that were looked at; with half
# as many a number of clusters may fall between two γ.
GAMMAS = 14
# Relative duality gap of each γ. A smaller gap changed no label of the sets that were looked at; a
# larger gap may leave centroids apart that are fused at the optimum.
PATH_TOL = 1e-4

Params = dict[str, Any]
Defaults = dict[str, Ints]


@dataclass(frozen=True)
class Partition:
    """Labels that a method gave by one rule, with what was chosen on the way (γ, elbow …)."""

    rule: str
    labels: Ints
    detail: Params


# (X, params, counts) -> partitions; counts maps the rules "paper" and "classes" to their k
Partitions = Callable[[Floats, Params, dict[str, int]], Iterator[Partition]]


@dataclass(frozen=True)
class Contender:
    """A method of the comparison."""

    grid: list[Params]  # settings tried when tuned with labels
    partitions: Partitions
    # (X, k) -> labels of the method as it comes: "found", if it finds k by itself, and "told" k
    default: Callable[[Floats, int], Defaults]
    # whether only distances matter: many features are then rotated into n coordinates first
    rotates: bool = True


def median_distance(X: Floats) -> float:
    """Median Euclidean distance between two samples, the unit of the grids."""
    median = float(np.median(pdist(X)))
    return median if median > 0 else 1.0


def elbow_of(tree: Floats) -> int:
    """The elbow's k of a Ward tree."""
    return elbow(sse_curve(tree))


def gaussian_points(X: Floats, sigma1: float) -> Floats:
    """Coordinates Z of the samples in the space of the Gaussian kernel of bandwidth σ₁."""
    return embed(X, resolve_kernel("rbf", sigma1)).Z


def paper_graph(X: Floats, params: Params, unit: float, *, normalize: bool = True) -> Graph:
    """The paper's weights exp(−‖x − y‖²/(2σ₂²)) on nearest neighbours, σ₂ in units of ``unit``."""
    sigma2 = params["sigma2"] * unit
    return build_graph(X, n_neighbors=params["neighbors"], bandwidth=sigma2, normalize=normalize)


def path_partitions(
    Z: Floats, X: Floats, params: Params, counts: dict[str, int]
) -> Iterator[Partition]:
    """Ward's tree on the centroids at every γ of one path: the elbow's k and the given ones."""
    graph = paper_graph(X, params, median_distance(X))
    path = path_of(
        Problem.of(Z, graph.edges, graph.weights, 0.0),
        [params["gamma"]] if "gamma" in params else None,
        tol=PATH_TOL,
        max_gammas=GAMMAS,
        refine=False,
    )
    for gamma in path.gammas:
        fused, C = path.labels(gamma=float(gamma)), path.centroids(float(gamma))
        if len(C) < 2:
            continue
        masses = np.bincount(fused).astype(np.float64)
        tree = ward_tree(C, masses)
        for rule, k in {"own": elbow_of(tree), **counts}.items():
            if k <= len(C):
                yield Partition(rule, cut(tree, k)[fused], {"gamma": float(gamma)})


def _kcc(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    Z = gaussian_points(X, params["sigma1"] * median_distance(X))
    yield from path_partitions(Z, X, params, counts)


def _convex(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    yield from path_partitions(np.ascontiguousarray(X), X, params, counts)


def _told(grid: list[Params], make: Callable[[Floats, int, Params], Any]) -> Contender:
    """A method that must be told k; one fit for each k that is asked."""

    def partitions(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
        fits = {k: make(X, k, params).fit_predict(X) for k in sorted(set(counts.values()))}
        for rule, k in counts.items():
            yield Partition(rule, fits[k], {})

    return Contender(grid, partitions, lambda X, k: {"told": make(X, k, {}).fit_predict(X)})


def _kmeans(X: Floats, k: int, params: Params) -> Any:
    return KMeans(k, n_init=params.get("n_init", 10), random_state=params.get("seed", SEED))


def _spectral(X: Floats, k: int, params: Params) -> Any:
    if "sigma" in params:
        gamma = 0.5 / (params["sigma"] * median_distance(X)) ** 2
        return SpectralClustering(k, affinity="rbf", gamma=gamma, random_state=SEED)
    neighbors = min(params.get("neighbors", 10), len(X))
    return SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=neighbors, random_state=SEED
    )


def _kernel_kmeans(X: Floats, k: int, params: Params) -> Any:
    sigma = params["sigma"] * median_distance(X) if "sigma" in params else "auto"
    return KernelKMeans(k, bandwidth=sigma, random_state=SEED)


def _kpkm(X: Floats, k: int, params: Params) -> Any:
    sigma = params["sigma"] * median_distance(X) if "sigma" in params else "auto"
    return KernelPowerKMeans(
        k, bandwidth=sigma, power=params.get("power", -1.0), n_init=2, random_state=SEED
    )


def _bcc(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    # γ and λ in units of their defaults, which scale with the number of features
    p = max(1, int((np.ptp(X, axis=0) > 0).sum()))
    sparsity = params.get("sparsity", 1.0) / p
    gamma = params.get("gamma", 1.0) * (1.0 / p**2 + sparsity / p)
    model = BiconvexClustering(
        2, gamma=gamma, sparsity=sparsity, n_neighbors=params.get("neighbors", 5)
    ).fit(X)
    own = elbow_of(ward_tree(model.centroids_))
    for rule, k in {"own": own, **counts}.items():
        yield Partition(rule, cut(model.linkage_, k), {})


def _tgcc(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    bandwidth = None
    if "bandwidth" in params:
        squares = tree_guided.spanning_tree(np.ascontiguousarray(X))[1]
        bandwidth = params["bandwidth"] * float(np.median(squares / squares.mean()))
        bandwidth = bandwidth if bandwidth > 0 else params["bandwidth"]
    yield from _own_and_cut(TreeGuidedConvexClustering(bandwidth=bandwidth).fit(X), counts)


def _cpaint(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    yield from _own_and_cut(CPaint().fit(X), counts)


def _own_and_cut(model: Any, counts: dict[str, int]) -> Iterator[Partition]:
    yield Partition("own", model.labels_, {})
    for rule, k in counts.items():
        yield Partition(rule, model.cut(k), {})


def _scnr(X: Floats, k: int, params: Params) -> Any:
    return NoiseRobustSpectralClustering(
        k,
        n_neighbors=params.get("neighbors", 10),
        noise_share=params.get("noise", 0.1),
        affinity=params.get("affinity", "nearest_neighbors"),
        random_state=SEED,
    )


def _default_fits(estimator: Any) -> Callable[[Floats, int], Defaults]:
    """The labels of an estimator of this package that finds k, and of one that is told k."""

    def default(X: Floats, k: int) -> Defaults:
        told = clone(estimator).set_params(n_clusters=k)
        return {"found": clone(estimator).fit_predict(X), "told": told.fit_predict(X)}

    return default


def _tree(grid: list[Params], partitions: Partitions) -> Contender:
    """A method that gives every k from one fit; rotating would change its ℓ1 or weighted metric."""
    names = {"own": "found", "classes": "told"}

    def default(X: Floats, k: int) -> Defaults:
        return {names[part.rule]: part.labels for part in partitions(X, {}, {"classes": k})}

    return Contender(grid, partitions, default, rotates=False)


def combinations(**axes: list[Any]) -> list[Params]:
    """All combinations, the last axis innermost."""
    return [dict(zip(axes, values)) for values in product(*axes.values())]


# Kernel bandwidths in units of the median distance: from nearly the identity to nearly constant.
_SIGMAS = [0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 2.0, 5.0]

METHODS: dict[str, Contender] = {
    "KCC": Contender(
        [
            {"sigma1": sigma1, "sigma2": sigma2, "neighbors": neighbors}
            for sigma1 in (0.5, 1.0, 2.0, 4.0)
            for sigma2, neighbors in ((1.0, 3), (4.0, 6))
        ],
        _kcc,
        _default_fits(KernelConvexClustering(random_state=SEED)),
    ),
    "Convex": Contender(
        combinations(sigma2=[1.0, 4.0], neighbors=[3, 6, 10, 15]),
        _convex,
        _default_fits(ConvexClustering(random_state=SEED)),
    ),
    "k-means": _told(combinations(seed=list(range(SETTINGS)), n_init=[1]), _kmeans),
    "Spectral": _told(
        combinations(sigma=[0.1, 0.35, 1.0, 5.0]) + combinations(neighbors=[3, 5, 10, 20]),
        _spectral,
    ),
    "KPKM": _told(combinations(sigma=_SIGMAS), _kpkm),
    "BCC": _tree(combinations(gamma=[0.1, 1.0], sparsity=[0.1, 1.0], neighbors=[5, 10]), _bcc),
    "TGCC": _tree(combinations(bandwidth=_SIGMAS), _tgcc),
    "C-PAINT": _tree([{}], _cpaint),
    "SC-NR": _told(
        combinations(noise=[0.05, 0.2], neighbors=[5, 10], affinity=["nearest_neighbors", "rbf"]),
        _scnr,
    ),
    "Kernel k-means": _told(combinations(sigma=_SIGMAS), _kernel_kmeans),
}

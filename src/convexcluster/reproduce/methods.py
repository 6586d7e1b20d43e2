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

from ..graph import Graph
from ..problem import Floats, Ints

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


@dataclass(frozen=True)
class Contender:
    """A method of the comparison.

    Attributes
    ----------
    grid : list of dict
        Settings tried when tuned with labels.
    partitions : callable (X, params, counts) -> iterator of Partition
        ``counts`` maps the rules "paper" and "classes" to their k.
    default : callable (X, k) -> dict of labels
        The method as it comes, without labels: "found", if it finds k by itself, and "told" k.
    rotates : bool
        Whether only distances matter; then many features are rotated into n coordinates first.
    """

    grid: list[Params]
    partitions: Callable[[Floats, Params, dict[str, int]], Iterator[Partition]]
    default: Callable[[Floats, int], Defaults]
    rotates: bool = True


def median_distance(X: Floats) -> float:
    """Median Euclidean distance between two samples, the unit of the grids."""
    median = float(np.median(pdist(X)))
    return median if median > 0 else 1.0


def elbow_of(C: Floats, masses: Floats | None = None) -> int:
    """The elbow's k of Ward's tree on weighted centroids."""
    from ..labels import elbow, sse_curve, ward_tree

    return elbow(sse_curve(ward_tree(C, masses)))


def gaussian_points(X: Floats, sigma1: float) -> Floats:
    """Coordinates Z of the samples in the space of the Gaussian kernel of bandwidth σ₁."""
    from ..embedding import embed
    from ..kernels import resolve_kernel

    return embed(X, resolve_kernel("rbf", sigma1)).Z


def paper_graph(X: Floats, params: Params, unit: float, *, normalize: bool = True) -> Graph:
    """The paper's weights exp(−‖x − y‖²/(2σ₂²)) on nearest neighbours, σ₂ in units of ``unit``."""
    from ..weights import build_graph

    sigma2 = params["sigma2"] * unit
    return build_graph(X, n_neighbors=params["neighbors"], bandwidth=sigma2, normalize=normalize)


def path_partitions(
    Z: Floats, X: Floats, params: Params, counts: dict[str, int]
) -> Iterator[Partition]:
    """Ward's tree on the centroids at every γ of one path: the elbow's k and the given ones."""
    from ..labels import ward_tree
    from ..numerics.linkage import cut
    from ..path import solve_path

    graph = paper_graph(X, params, median_distance(X))
    path = solve_path(
        Z,
        graph.edges,
        graph.weights,
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
        for rule, k in {"own": elbow_of(C, masses), **counts}.items():
            if k <= len(C):
                yield Partition(rule, cut(tree, k)[fused], {"gamma": float(gamma)})


def _kcc(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    Z = gaussian_points(X, params["sigma1"] * median_distance(X))
    yield from path_partitions(Z, X, params, counts)


def _convex(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    yield from path_partitions(np.ascontiguousarray(X), X, params, counts)


def _told(
    make: Callable[[Floats, int, Params], Any],
) -> Callable[[Floats, Params, dict[str, int]], Iterator[Partition]]:
    """Partitions of an estimator that must be told k; one fit for each k that is asked."""

    def partitions(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
        fits = {k: make(X, k, params).fit_predict(X) for k in sorted(set(counts.values()))}
        for rule, k in counts.items():
            yield Partition(rule, fits[k], {})

    return partitions


def _kmeans(X: Floats, k: int, params: Params) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=params.get("n_init", 10), random_state=params.get("seed", SEED))


def _spectral(X: Floats, k: int, params: Params) -> Any:
    from sklearn.cluster import SpectralClustering

    if "sigma" in params:
        gamma = 0.5 / (params["sigma"] * median_distance(X)) ** 2
        return SpectralClustering(k, affinity="rbf", gamma=gamma, random_state=SEED)
    neighbors = min(params.get("neighbors", 10), len(X))
    return SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=neighbors, random_state=SEED
    )


def _kernel_kmeans(X: Floats, k: int, params: Params) -> Any:
    from ..baselines import KernelKMeans

    sigma = params["sigma"] * median_distance(X) if "sigma" in params else "auto"
    return KernelKMeans(k, bandwidth=sigma, random_state=SEED)


def _kpkm(X: Floats, k: int, params: Params) -> Any:
    from ..baselines import KernelPowerKMeans

    sigma = params["sigma"] * median_distance(X) if "sigma" in params else "auto"
    return KernelPowerKMeans(
        k, bandwidth=sigma, power=params.get("power", -1.0), n_init=2, random_state=SEED
    )


def _bcc(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    from ..baselines import BiconvexClustering
    from ..numerics.linkage import cut

    # γ and λ in units of their defaults, which scale with the number of features
    p = max(1, int((np.ptp(X, axis=0) > 0).sum()))
    sparsity = params.get("sparsity", 1.0) / p
    gamma = params.get("gamma", 1.0) * (1.0 / p**2 + sparsity / p)
    model = BiconvexClustering(
        2, gamma=gamma, sparsity=sparsity, n_neighbors=params.get("neighbors", 5)
    ).fit(X)
    own = elbow_of(model.centroids_)
    for rule, k in {"own": own, **counts}.items():
        yield Partition(rule, cut(model.linkage_, k), {})


def _tgcc(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    from ..baselines import TreeGuidedConvexClustering, tree_guided

    bandwidth = None
    if "bandwidth" in params:
        squares = tree_guided.spanning_tree(np.ascontiguousarray(X))[1]
        bandwidth = params["bandwidth"] * float(np.median(squares / squares.mean()))
        bandwidth = bandwidth if bandwidth > 0 else params["bandwidth"]
    model = TreeGuidedConvexClustering(bandwidth=bandwidth).fit(X)
    yield Partition("own", model.labels_, {})
    for rule, k in counts.items():
        yield Partition(rule, model.cut(k), {})


def _cpaint(X: Floats, params: Params, counts: dict[str, int]) -> Iterator[Partition]:
    from ..baselines import CPaint

    model = CPaint().fit(X)
    yield Partition("own", model.labels_, {})
    for rule, k in counts.items():
        yield Partition(rule, model.cut(k), {})


def _scnr(X: Floats, k: int, params: Params) -> Any:
    from ..baselines import NoiseRobustSpectralClustering

    return NoiseRobustSpectralClustering(
        k,
        n_neighbors=params.get("neighbors", 10),
        noise_share=params.get("noise", 0.1),
        affinity=params.get("affinity", "nearest_neighbors"),
        random_state=SEED,
    )


def _default_kcc(X: Floats, k: int) -> Defaults:
    from ..estimators import KernelConvexClustering

    return _found_and_cut(KernelConvexClustering(random_state=SEED).fit(X), k)


def _default_convex(X: Floats, k: int) -> Defaults:
    from ..estimators import ConvexClustering

    return _found_and_cut(ConvexClustering(random_state=SEED).fit(X), k)


def _found_and_cut(model: Any, k: int) -> Defaults:
    """The k that was found, and the same tree cut at the k that is told."""
    from ..numerics.linkage import cut

    return {"found": model.labels_, "told": cut(model.linkage_, k)}


def _default_told(make: Callable[[Floats, int, Params], Any]) -> Callable[..., Defaults]:
    return lambda X, k: {"told": make(X, k, {}).fit_predict(X)}


def _default_tree(
    partitions: Callable[[Floats, Params, dict[str, int]], Iterator[Partition]],
) -> Callable[..., Defaults]:
    names = {"own": "found", "classes": "told"}
    return lambda X, k: {
        names[part.rule]: part.labels for part in partitions(X, {}, {"classes": k})
    }


def combinations(**axes: list[Any]) -> list[Params]:
    """All combinations."""
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
        _default_kcc,
    ),
    "Convex": Contender(
        combinations(sigma2=[1.0, 4.0], neighbors=[3, 6, 10, 15]), _convex, _default_convex
    ),
    "k-means": Contender(
        combinations(seed=list(range(SETTINGS)), n_init=[1]),
        _told(_kmeans),
        _default_told(_kmeans),
    ),
    "Spectral": Contender(
        combinations(sigma=[0.1, 0.35, 1.0, 5.0]) + combinations(neighbors=[3, 5, 10, 20]),
        _told(_spectral),
        _default_told(_spectral),
    ),
    "KPKM": Contender(combinations(sigma=_SIGMAS), _told(_kpkm), _default_told(_kpkm)),
    "BCC": Contender(
        combinations(gamma=[0.1, 1.0], sparsity=[0.1, 1.0], neighbors=[5, 10]),
        _bcc,
        _default_tree(_bcc),
        rotates=False,
    ),
    "TGCC": Contender(combinations(bandwidth=_SIGMAS), _tgcc, _default_tree(_tgcc), rotates=False),
    "C-PAINT": Contender([{}], _cpaint, _default_tree(_cpaint), rotates=False),
    "SC-NR": Contender(
        combinations(noise=[0.05, 0.2], neighbors=[5, 10], affinity=["nearest_neighbors", "rbf"]),
        _told(_scnr),
        _default_told(_scnr),
    ),
    "Kernel k-means": Contender(
        combinations(sigma=_SIGMAS), _told(_kernel_kmeans), _default_told(_kernel_kmeans)
    ),
}

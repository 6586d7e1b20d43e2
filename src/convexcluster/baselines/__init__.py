"""The methods that the paper compares with, as scikit-learn estimators.

k-means, spectral and agglomerative clustering are scikit-learn's own; convex clustering is this
package's :class:`~convexcluster.ConvexClustering`. The rest is here, one file each, loaded on
first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# public name -> the module that defines it
_HOMES = {
    "BiconvexClustering": "biconvex",
    "CPaint": "cpaint",
    "KernelKMeans": "kernel_kmeans",
    "KernelPowerKMeans": "kernel_power_kmeans",
    "NoiseRobustSpectralClustering": "noise_robust_spectral",
    "TreeGuidedConvexClustering": "tree_guided",
}

__all__ = [
    "BiconvexClustering",
    "CPaint",
    "KernelKMeans",
    "KernelPowerKMeans",
    "NoiseRobustSpectralClustering",
    "TreeGuidedConvexClustering",
]

if TYPE_CHECKING:
    from .biconvex import BiconvexClustering
    from .cpaint import CPaint
    from .kernel_kmeans import KernelKMeans
    from .kernel_power_kmeans import KernelPowerKMeans
    from .noise_robust_spectral import NoiseRobustSpectralClustering
    from .tree_guided import TreeGuidedConvexClustering


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

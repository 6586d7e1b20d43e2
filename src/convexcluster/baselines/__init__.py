"""The methods that the paper compares with, as scikit-learn estimators.

k-means, spectral and agglomerative clustering are scikit-learn's own; convex clustering is this
package's :class:`~convexcluster.ConvexClustering`. The rest is here, one file each.
"""

from __future__ import annotations

from .biconvex import BiconvexClustering
from .cpaint import CPaint
from .kernel_kmeans import KernelKMeans
from .kernel_power_kmeans import KernelPowerKMeans
from .noise_robust_spectral import NoiseRobustSpectralClustering
from .tree_guided import TreeGuidedConvexClustering

__all__ = [
    "BiconvexClustering",
    "CPaint",
    "KernelKMeans",
    "KernelPowerKMeans",
    "NoiseRobustSpectralClustering",
    "TreeGuidedConvexClustering",
]

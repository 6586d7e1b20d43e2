"""From a tree and an embedding to what a picture needs: order, colour rank and a plane.

Input is a SciPy linkage (n − 1, 4) or an embedding Z (n, r). Output:

- the order of the leaves in which every branch is one contiguous run;
- the rank of every sample. From the top of the tree down, the smaller side of each split takes
  the next number and the larger side keeps the one it has. A cluster has the least rank among its
  members: a cut into k clusters has the ranks 0 … k − 1, and a merged cluster keeps the rank, and
  so the colour and the number, of its larger parent;
- the first two kernel principal components, the leading eigenvectors of the centred ZᵀMZ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics.axes import principal_axes
from ..numerics.linkage import intervals
from ..partition import ranks
from ..problem import Floats, Ints


@dataclass(frozen=True, slots=True)
class Branches:
    """Leaves in ``order``; below ``node`` are order[start[node] : start[node] + size[node]]."""

    order: Ints
    start: Ints
    size: Ints

    @classmethod
    def of(cls, linkage: Floats) -> Branches:
        """Lay out ``linkage``."""
        n = len(linkage) + 1
        low, high = intervals(linkage)
        return cls(ranks(low[:n]), low, high - low)

    def members(self, node: int) -> Ints:
        """Samples below ``node``, ascending."""
        return np.sort(self.order[self.start[node] : self.start[node] + self.size[node]])


def colour_ranks(linkage: Floats) -> Ints:
    """Rank of every sample, a permutation of 0 … n − 1: see the top of this module.

    Examples
    --------
    >>> colour_ranks(np.array([[0, 1, 0.5, 2], [2, 3, 4.0, 3]]))
    array([0, 2, 1])
    """
    n = len(linkage) + 1
    pairs = linkage[:, :2].astype(np.int64).tolist()
    size = Branches.of(linkage).size.tolist()
    rank = [0] * (2 * n - 1)
    for i in range(n - 2, -1, -1):
        a, b = pairs[i]
        light, heavy = (b, a) if size[a] >= size[b] else (a, b)
        rank[heavy], rank[light] = rank[n + i], n - 1 - i
    return np.array(rank[:n], dtype=np.int64)


def cluster_ranks(labels: Ints, prominence: Ints) -> Ints:
    """Rank 0 … k − 1 of every cluster by its most prominent member."""
    return ranks(np.argsort(_least(labels, prominence), kind="stable"))


def _least(labels: Ints, prominence: Ints) -> Ints:
    """The least rank in every cluster."""
    least = np.full(int(labels.max()) + 1, len(labels), dtype=np.int64)
    np.minimum.at(least, labels, prominence)
    return least


def numbering(labels: Ints, prominence: Ints) -> Ints:
    """Number of the cluster whose most prominent member is each sample, shape (n,).

    Those of the clusters ``labels`` are the labels; all others follow by rank. A cluster of any
    other partition that has the same most prominent member is called the same.

    Examples
    --------
    >>> numbering(np.array([1, 1, 0, 0]), np.array([0, 3, 1, 2]))
    array([1, 3, 0, 2])
    """
    by_rank = np.argsort(prominence)
    stars = by_rank[_least(labels, prominence)]
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[stars] = np.arange(len(stars))
    rest = by_rank[numbers[by_rank] < 0]
    numbers[rest] = np.arange(len(stars), len(labels))
    return numbers


def estimator_ranks(estimator: Any) -> Ints:
    """Colour rank of every cluster of a fitted estimator: its label, in every picture."""
    return np.arange(int(estimator.labels_.max()) + 1)


@dataclass(frozen=True, slots=True)
class Plane:
    """The first two principal components of an embedding, and the share of variance of each.

    The columns of ``axes`` are orthonormal; the second is zero if there is one dimension only.
    """

    mean: Floats
    axes: Floats
    share: Floats

    @classmethod
    def of(cls, Z: Floats, masses: Floats | None = None) -> Plane:
        """Principal plane of the rows of ``Z``, weighted by ``masses``."""
        m = np.ones(len(Z)) if masses is None else masses
        mean, axes, variances = principal_axes(Z, m)
        more = max(0, 2 - axes.shape[1])
        vectors, values = np.pad(axes, ((0, 0), (0, more)))[:, :2], np.pad(variances, (0, more))[:2]
        # an eigenvector's sign is arbitrary: make the entry of largest modulus positive
        if len(vectors):
            largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(2)]
            vectors = vectors * np.where(largest < 0, -1.0, 1.0)
        total = float(m @ ((Z - mean) ** 2).sum(axis=1))
        share = values / total if total > 0 else np.zeros(2)
        return cls(mean, vectors, share)

    def project(self, A: Floats) -> Floats:
        """Coordinates of the rows of ``A`` in the plane, shape (len(A), 2)."""
        return (A - self.mean) @ self.axes

    def axis_names(self, kernel: bool = True) -> tuple[str, str]:
        """Names of the axes with their share of the variance."""
        noun = "kernel principal component" if kernel else "principal component"
        first, second = (f"{noun} {i + 1} ({self.share[i]:.0%} of variance)" for i in range(2))
        return first, second


def kernel_name(estimator: Any) -> str | None:
    """Name of the kernel of a fitted estimator; None if it is linear, which changes nothing."""
    embedding = getattr(estimator, "_embedding", None)
    name = "linear" if embedding is None else str(embedding.kernel.name)
    return None if name == "linear" else name


def subsample(n: int, most: int, labels: Ints | None = None, seed: int = 0) -> Ints:
    """At most ``most`` of n indices, ascending; every label keeps one if there is room."""
    if n <= most:
        return np.arange(n)
    first = np.empty(0, dtype=np.int64)
    if labels is not None:
        first = np.unique(labels, return_index=True)[1]
        first = first if len(first) <= most else first[:0]
    rest = np.setdiff1d(np.arange(n), first)
    drawn = np.random.default_rng(seed).choice(rest, most - len(first), replace=False)
    return np.sort(np.concatenate([first, drawn]))

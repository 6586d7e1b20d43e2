"""Path → distances between samples that remember every scale: the path average.

No single γ suits all data: where clusters are compact a large γ merges too much, where they are
thin curves a small one merges too little. So no γ is chosen. With the spread of the centroids

    B(γ) = Σ mᵢ‖aᵢ − ā‖² / Σ mᵢ,

the squared distance of two samples is the mean over log γ of

    1 − exp(−‖aᵢ − aⱼ‖²/(2 c B)),

the squared distance of Gaussian features of the centroids, each γ in units of its own spread. It
saturates: a sample that is slow to fuse is one unit away from everything and not further, so that
outliers do not outweigh clusters. 2B is the mean squared distance of two samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics.linkage import join
from ..partition import canonical
from ..path.clusterpath import ClusterPath
from ..points.cells import condense
from ..problem import Floats, Ints

# Spread, as a share of that of the samples, between which a γ says something. Above, little has
# fused; below, the clusters themselves have nearly met.
TELLING = (0.01, 0.5)

# Without a γ in that range the nearest to its middle (in logarithms) stands alone.
MIDDLE = 0.1

# c: where the distance saturates, in mean squared distances.
SATURATION = 2.0

# The distances cost the square of the number of points. Beyond this many, samples that are near
# each other at the first telling γ are taken as one.
ATOMS = 1_000


@dataclass(frozen=True)
class PathAverage:
    """Squared distances averaged over a path."""

    distances: Floats  # (k, k): squared distances of k groups of samples, in [0, 1]
    masses: Floats  # (k,)
    atoms: Ints  # (n,): group of every sample; most often each sample is its own
    steps: Ints  # steps of the path that take part

    def at(self, path: ClusterPath, step: int) -> PathAverage:
        """The distances of one step alone, between the same groups."""
        return _average(path, np.array([step]), self.atoms)


def check_complete(path: ClusterPath) -> None:
    """Refuse a path that was interrupted: clusters that it did not reach would not be compared."""
    if not path.complete:
        raise ValueError(
            f"the path was interrupted after {len(path)} values of γ, and nothing can be selected "
            "on a part of it: solve it to its end"
        )


def spread(path: ClusterPath, scale: float | None = None) -> Floats:
    """Spread of the centroids at every γ, as a share of that of the samples.

    ``scale`` is ½ Σ m‖z − z̄‖² over the rows, where the path runs on cells of them.
    """
    total = path.masses.sum()
    value = np.zeros(len(path))
    for step, center in enumerate(path.centers):
        mass = np.bincount(path.labels(step=step), path.masses)
        centred = center - mass @ center / total
        value[step] = float(mass @ (centred**2).sum(axis=1))
    scale = path.scale if scale is None else scale
    return value / (2 * scale) if scale > 0 else value


def telling_steps(path: ClusterPath, scale: float | None = None) -> Ints:
    """Steps of the path whose spread lies in ``TELLING``, or the one nearest to ``MIDDLE``."""
    share = spread(path, scale)
    steps = np.flatnonzero((share >= TELLING[0]) & (share <= TELLING[1]))
    if len(steps):
        return steps
    return np.array([int(np.argmin(np.abs(np.log(np.maximum(share, 1e-12) / MIDDLE))))])


def path_average(
    path: ClusterPath, steps: Ints | None = None, scale: float | None = None
) -> PathAverage:
    """Average the distances between centroids over ``steps``, by default :func:`telling_steps`.

    ``scale`` is that of :func:`spread`.
    """
    check_complete(path)
    steps = telling_steps(path, scale) if steps is None else np.asarray(steps, dtype=np.int64)
    labels = [path.labels(step=t) for t in steps]
    atoms = _atoms(labels, path.centers[steps[0]], path.masses)
    return _average(path, steps, atoms)


def _average(path: ClusterPath, steps: Ints, atoms: Ints) -> PathAverage:
    from ..loops.distances import add_saturated

    mass = np.bincount(atoms, path.masses).astype(np.float64)
    distances = np.zeros((len(mass), len(mass)))
    for share, t in zip(_log_shares(path.gammas, steps), steps):
        label = path.labels(step=t)
        A = _group_means(path.centers[t], label, atoms, path.masses)
        A = A - mass @ A / mass.sum()
        gram = A @ A.T
        variance = float(mass @ np.diagonal(gram)) / mass.sum()
        if variance > 0:
            add_saturated(gram, share, 2 * SATURATION * variance, distances)
    return PathAverage(distances, mass, atoms, steps)


def average_tree(average: PathAverage) -> Floats:
    """Ward's tree of the groups of a path average, in SciPy's format with group counts."""
    from ..numerics.ward import ward_distances  # late: it loads numba

    merges = ward_distances(average.distances, average.masses)
    return join(merges.pairs, merges.heights, len(average.masses))


def refine(average: PathAverage, labels: Ints, rounds: int = 30) -> Ints:
    """Lloyd's steps on the averaged distances, from the clusters of a cut of the tree.

    A tree never takes a merge back; this moves the groups that are nearer to another cluster's
    mean. No cluster is emptied.
    """
    n = len(labels)
    for _ in range(rounds):
        k = int(labels.max()) + 1
        share = np.zeros((n, k))
        share[np.arange(n), labels] = average.masses
        share /= share.sum(axis=0)
        to_mean = average.distances @ share
        to_mean -= 0.5 * (share * to_mean).sum(axis=0)  # ‖x − c‖² = Σ p D_x − ½ Σ Σ p p D
        nearest = to_mean.argmin(axis=1)
        if (nearest == labels).all() or len(np.unique(nearest)) < k:
            break
        labels = nearest
    return labels


def _atoms(labels: list[Ints], centers: Floats, masses: Floats) -> Ints:
    """Samples that are together at every step; coarser if these are too many."""
    atoms = labels[0]
    for label in labels[1:]:  # a split later on keeps its pieces apart
        atoms = canonical(atoms * (int(label.max()) + 1) + label)
    if atoms.max() < ATOMS:
        return canonical(atoms)
    mass = np.bincount(labels[0], masses).astype(np.float64)
    coarse, _ = condense(centers, ATOMS, mass)
    return canonical(coarse[labels[0]])


def _group_means(center: Floats, label: Ints, atoms: Ints, masses: Floats) -> Floats:
    """Mass mean over each atom of the centroids of its samples."""
    k, size = int(atoms.max()) + 1, int(label.max()) + 1
    pairs, inverse = np.unique(atoms * size + label, return_inverse=True)
    weight = np.bincount(inverse.ravel(), masses)
    group, cluster = np.divmod(pairs, size)
    if len(pairs) == k:
        return center[cluster]
    means = np.zeros((k, center.shape[1]))
    np.add.at(means, group, weight[:, None] * center[cluster])
    return means / np.bincount(group, weight, k)[:, None]


def _log_shares(gammas: Floats, steps: Ints) -> Floats:
    """Share of log γ nearest to each step, so that a finer grid changes nothing but accuracy."""
    if len(steps) == 1:
        return np.ones(1)
    width = np.gradient(np.log(gammas[steps]))
    return width / width.sum()

"""Path → boundaries: how long the path holds the two sides of each apart.

Input is a path with its graph, numbered alike, and the dimension of the samples; output is a tree
of boundaries. Tension of an edge (i, j): for how long, in log γ, the path keeps its ends apart,

    t_ij = ∫ min(1, 1 − cos(aᵢ(γ), aⱼ(γ))) d log γ,

a centred at their mean. The cosine takes out the norm of a centroid, which is the size of its
group. Neighbouring clusters are joined in the order of the mean tension h of the edges between
them: what a single fusion lacks is the mean, a bridge of two samples does not decide.

Why log γ. A group of mass m is pulled with √m against γ times its cut, and fuses at γ ≈ √m/cut.
In d dimensions a homogeneous cut grows as m^(1 − 1/d). So without clusters h + (½ − 1/d) log m does
not depend on m, and of n samples the greatest of

    h + (½ − 1/d) log(2m/n),    m the lesser side of a boundary,

depends on little but d. ``benchmarks/levels.py`` measures its law.
"""

from __future__ import annotations

import numpy as np

from ..graph import Graph, components
from ..numerics.boundaries import Boundaries
from ..numerics.centred import centred_gram, centred_pieces
from ..numerics.linkage import join
from ..partition import canonical, first, twins
from ..path.clusterpath import ClusterPath
from ..problem import Floats, Ints
from .choose import check_complete

# Samples of at most so many features are points of the plane or of space: what holds them apart is
# measured by their own tensions, and not by a law.
PLANAR = 3

# γ counts from where half of the spread of the samples is gone: before, samples shrink and few have
# fused. From .3 on the boundaries of small classes are over before they are counted.
HALF_SPREAD = 0.5

# In the plane the spread falls before anything fuses, and γ counts from where half as many groups
# as samples are left. From a quarter on, noise looks like clusters more than twice as often.
HALF_GROUPS = 0.5

# Least mass of a cluster: each sample asks seven neighbours, and a smaller group has no sample
# whose neighbours are all inside. Between 4 and 10 the answers hardly differ.
LEAST = 8.0

# Level of a boundary once there is structure: a factor of 2.2 in γ, and SMALL/m more for a side of
# mass m, whose boundary is short. At .6 clusters of real data fall into pieces, at 1.3 they are
# lost.
HOLD, SMALL = 0.8, 4.0

# Structure: some boundary is above SURE + PER_DIMENSION/d. Without clusters one draw in 60 has one;
# at .85 + 2.8/d one in 30.
SURE, PER_DIMENSION = 0.95, 2.8

# Directions beyond which the level falls no further. Without this bound a fifth of the draws of
# uniform noise with 30 to 200 samples of 100 features and more have clusters, with it one in twenty
# at most; at half of it gene expression of 85 samples has none.
MOST_DIRECTIONS = 14.0

# The plane: h > YARD q + PLANE_SMALL/m + INSIDE h_in, q the 95 % quantile of all tensions, the
# yardstick that the data bring along, and h_in the greatest height inside the side: a piece of a
# curve stands out no more than the pieces that it is made of. With YARD = 2 one draw of noise in 20
# has clusters, with 4 circles of 100 samples are lost. Beside a boundary that stands, BESIDE of the
# level is enough, as for valleys: with 1 many curves beside each other are seen as a few.
YARD, PLANE_SMALL, INSIDE, QUANTILE, BESIDE = 2.7, 14.4, 1.125, 0.95, 0.7

# Background lies between two clusters at least and is no denser than its border: the median edge
# that leaves it is less than SPARSE times as long as the median edge inside, and that FAR_SPARSER
# times as long as those of the clusters. With 3 sparse classes of real data are lost.
SPARSE, FAR_SPARSER = 1.1, 5.0

# Tension between parts of a graph that no edge joins: they are apart at every γ, which is more than
# a factor e¹⁰ of it.
FOREVER = 10.0

# Centroids of no more than this spread are at their mean: what is left is what the solver leaves,
# which parts them by chance. A hundredth of it still is a thousand times what was seen; at 100
# times, groups that are about to meet count as apart for a grid step more.
GONE = 1e-6

# Of samples that are all equal the spread is divided by this.
TINY = float(np.finfo(np.float64).tiny)


def dimension_of(X: Floats) -> float:
    """Dimension over which the variance of X is spread, (Σλ)²/Σλ², λ the principal variances.

    Of features with unlike scales it counts those that matter.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> dimension_of(X), dimension_of(X * [1.0, 1e-3])
    (2.0, 1.000002)
    """
    # fourth powers of 1e90 are no numbers
    if X.shape[1] < len(X):
        X = X - X.mean(axis=0)
        X /= max(_largest(X), TINY)
        gram = X.T @ X
    else:
        largest = max((_largest(piece) for piece in centred_pieces(X)), default=0.0)
        gram = centred_gram(X, max(largest, TINY))
    total = float((gram**2).sum())
    return round(float(np.trace(gram)) ** 2 / total, 6) if total > 0 else 1.0


def _largest(X: Floats) -> float:
    """The largest number of X without its sign."""
    return max(float(X.max(initial=0.0)), -float(X.min(initial=0.0)))


def spread(path: ClusterPath, step: int) -> float:
    """Spread of the centroids at a step, as a share of that of the samples."""
    mass = np.bincount(path.labels(step=step), path.masses)
    A = path.centers[step] - mass @ path.centers[step] / mass.sum()
    return float(mass @ (A**2).sum(axis=1)) / (2.0 * path.scale) if path.scale > 0 else 0.0


def tension(
    path: ClusterPath,
    graph: Graph,
    n_features: float,
    dimension: float | None = None,
    least: float | None = None,
    lengths: Floats | None = None,
) -> Boundaries:
    """The boundaries that a path holds apart, in units of what it takes to stand.

    Parameters
    ----------
    path : ClusterPath
    graph : Graph
        That of its penalty, with samples numbered alike.
    n_features : int
        At most three are the plane or space.
    dimension : float, optional
        Of the samples, see :func:`dimension_of`; by default as many as there are features.
    least : float, optional
        Least mass of a cluster.
    lengths : ndarray of shape (|E|,), optional
        Lengths of the edges: with them background is no cluster of its own.

    Examples
    --------
    >>> from convexcluster import solve_path
    >>> rng = np.random.default_rng(0)
    >>> Z = np.concatenate([rng.normal(size=20), rng.normal(size=20) + 20.0])[:, None]
    >>> graph = Graph(np.array([[i, i + 1] for i in range(39)]), np.ones(39))
    >>> path = solve_path(np.sort(Z, axis=0), graph.edges, graph.weights)
    >>> np.bincount(tension(path, graph, 1).labels(2))
    array([20, 20])
    """
    from ..loops.boundaries import in_levels

    check_complete(path)
    least = LEAST if least is None else float(least)
    few = n_features <= PLANAR
    dimension = n_features if dimension is None else dimension
    atoms, pairs, heights, edges = _merges(path, graph, few)
    mass = np.bincount(atoms, path.masses).astype(np.float64)
    share = np.empty(len(pairs))
    if few:
        level = YARD * float(np.quantile(edges, QUANTILE)) if len(edges) else 0.0
        in_levels(pairs, heights, mass, least, level, PLANE_SMALL, INSIDE, share)
    else:
        in_levels(pairs, heights, mass, least, HOLD, SMALL, 0.0, share)
        if _excess(pairs, heights, mass, dimension, least)[0] <= 0:
            share /= max(share.max(initial=0.0), 1.0)  # none stands
        # a short boundary is less sure to stand; of those that do not, the longest held comes next
        fail = np.flatnonzero((share > 0.0) & (share <= 1.0))
        share[fail[np.argsort(heights[fail], kind="stable")]] = np.sort(share[fail])
    if lengths is not None and not few:
        share = _joined_background(atoms, pairs, share, graph, lengths)
    order = np.argsort(share, kind="stable")
    samples, copies = first(atoms), twins(atoms)
    merges = np.vstack([copies, samples[pairs[order]]])
    joined = join(merges, np.concatenate([np.zeros(len(copies)), share[order]]), len(atoms))
    return Boundaries(joined, "tension", BESIDE if few else 1.0)


def _joined_background(
    atoms: Ints, pairs: Ints, share: Floats, graph: Graph, lengths: Floats
) -> Floats:
    """Shares with 0 for the boundaries by which background joins a cluster."""
    label = components(pairs[share <= 1.0], len(pairs) + 1)
    count = int(label.max()) + 1
    a, b = label[atoms[graph.edges]].T
    inside, border = np.full(count, np.inf), np.zeros(count)
    for c in range(count):
        own, other = (a == c) & (b == c), (a == c) ^ (b == c)
        if own.any() and other.any():
            inside[c], border[c] = np.median(lengths[own]), np.median(lengths[other])
    between = (border > 0) & (border < SPARSE * inside)
    if count - between.sum() < 2:
        return share
    between &= inside > FAR_SPARSER * np.median(inside[~between])
    share, ends = share.copy(), label[pairs]
    share[between[ends].all(axis=1)] = 0.0
    group = components(ends[between[ends].all(axis=1)], count)
    for g in np.unique(group[between]):
        rows = np.flatnonzero((group[ends] == g).any(axis=1) & (share > 1.0))
        share[rows[np.argmin(share[rows])]] = 0.0
    return share


def surest(path: ClusterPath, graph: Graph, dimension: float) -> tuple[float, float]:
    """By how much the surest boundary of many features is above the level of structure; the level.

    Examples
    --------
    >>> from convexcluster import solve_path
    >>> Z = np.concatenate([np.eye(4), np.eye(4) + 9.0]).repeat(2, axis=0)
    >>> graph = Graph(np.array([[i, i + 1] for i in range(15)]), np.ones(15))
    >>> above, level = surest(solve_path(Z, graph.edges, graph.weights), graph, 4.0)
    >>> level
    1.65
    """
    atoms, pairs, heights, _ = _merges(path, graph, few=False)
    mass = np.bincount(atoms, path.masses).astype(np.float64)
    return _excess(pairs, heights, mass, dimension, LEAST)


def _excess(
    pairs: Ints, heights: Floats, mass: Floats, dimension: float, least: float
) -> tuple[float, float]:
    """By how much the surest boundary is above what samples without clusters have; the latter."""
    from ..loops.boundaries import lesser_sides

    d = max(dimension, 2.0)  # what spreads over less is as narrow as a plane
    level = SURE + PER_DIMENSION / min(d, MOST_DIRECTIONS)
    lesser = np.empty(len(pairs))
    lesser_sides(pairs, mass, lesser)
    large = lesser >= least
    pull = heights[large] + (0.5 - 1.0 / d) * np.log(2.0 * lesser[large] / mass.sum())
    return float(pull.max(initial=-np.inf)) - level, level


def _merges(path: ClusterPath, graph: Graph, few: bool) -> tuple[Ints, Ints, Floats, Floats]:
    """Clusters fused where γ begins to count, their merges with heights, and tensions of edges."""
    from ..loops.boundaries import add_unlike, join_boundaries
    from ..loops.levels import contract_edges

    steps = _counting_steps(path, few)
    atoms = _atoms(path, steps)
    count = int(atoms.max()) + 1
    tail, head = np.ascontiguousarray(graph.edges.T)
    tail, head, w, up, _ = contract_edges(tail, head, graph.weights, atoms, count)
    width = np.gradient(np.log(path.gammas[steps])) if len(steps) > 1 else np.ones(len(steps))
    total = np.zeros(len(tail))
    for step, length in zip(steps, width):
        label = path.labels(step=int(step))
        mass = np.bincount(label, path.masses)
        A = path.centers[step] - mass @ path.centers[step] / mass.sum()
        norm = np.linalg.norm(A, axis=1)
        if mass @ norm**2 <= 2.0 * GONE * path.scale:
            A[:] = 0.0
        A /= np.where(norm > 0, norm, 1.0)[:, None]
        i, j, _, above, _ = contract_edges(tail, head, w, label[first(atoms)], len(A))
        add_unlike(i, j, above, A, float(length), total)
    pairs, heights = np.empty((count - 1, 2), dtype=np.int64), np.empty(count - 1)
    joined = join_boundaries(tail, head, w, total, pairs, heights)
    if joined < count - 1:  # parts of the graph that no edge joins never meet
        nodes = first(components(pairs[:joined], count))
        pairs[joined:] = np.column_stack([nodes[:-1], nodes[1:]])
        heights[joined:] = max(FOREVER, heights[:joined].max(initial=0.0))
    tensions = np.zeros(len(up))
    tensions[up >= 0] = total[up[up >= 0]]
    return atoms, pairs, np.maximum.accumulate(heights), tensions


def _counting_steps(path: ClusterPath, few: bool) -> Ints:
    """Steps at which γ counts and more than one cluster is left; at least one step."""
    begun = path.n_clusters <= HALF_GROUPS * path.n_samples
    if not few:  # the spread falls as γ rises; of few axes it is that of the clusters, and late
        for step in range(len(path) - 1, -1, -1):
            if spread(path, step) > HALF_SPREAD:
                break
            begun[step] = True
    steps = np.flatnonzero(begun & (path.n_clusters > 1) & (path.gammas > 0))
    return steps if len(steps) else np.array([len(path) - 1])


def _atoms(path: ClusterPath, steps: Ints) -> Ints:
    """Samples that are together at every one of the steps."""
    atoms = path.labels(step=int(steps[0]))
    for step in path.split_steps[path.split_steps > steps[0]]:
        later = path.labels(step=int(step))
        atoms = canonical(atoms * (int(later.max()) + 1) + later)
    return atoms

"""The error of coarsening on a graph of the rows: a dual of all rows, found cluster by cluster.

Input: rows z with their graph, and the solution C on cells. Output: ‖V_g‖ of
:mod:`convexcluster.points.error` for the dual

    λ_l = γ w_l u_l between clusters of C,   a flow with ‖λ_l‖ ≤ γ w_l inside them

that meets the demand b_i = m_i(z_i − c_t) − Σ γ w_ij u_ts as well as it can. A cluster in which b
is met has fused in the fine problem too. Flows are electrical, λ = κ D y with L_κ y = b: the flow
of least energy for conductances κ = w; where it exceeds γ w the conductance is lowered by as much,
and the flow runs elsewhere (Christiano et al., STOC 2011). What is still too much is cut off, and
sweeps of dual coordinate descent move what that left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..certificate import project
from ..graph import Graph, components
from ..numerics.axes import gram_axes
from ..numerics.laplacian import solve_laplacian
from ..partition import fused, means
from ..problem import Floats, Ints, Problem, Solution
from .error import CoarseningError

# Rounds of lowered conductances: on curves of 10⁵ rows the excess falls by a factor of two in each,
# and five leave what no flow can carry.
ROUNDS = 5

# Sweeps after them, in both directions: what cutting off left behind lies near the edges cut.
SWEEPS = 12

# Clusters are taken together up to this many rows: 2¹⁴ rows in 300 dimensions are 40 MB.
CHUNK = 16_384

# Share of ‖b‖² that may be left to axes in which nothing flows; it adds 1e-4·‖b‖² to ‖V‖², and a
# cluster whose rows spread over few bandwidths then has few axes.
AXES = 1e-4

# Flows are swept if they fit in this many bytes.
SWEPT_BYTES = 500_000_000


def rows_error(
    rows: Callable[[Ints], Floats],
    masses: Floats,
    labels: Ints,
    graph: Graph,
    coarse: Problem,
    solution: Solution,
    rounds: int = ROUNDS,
) -> CoarseningError:
    """‖V_g‖ for a graph on the rows themselves; ‖V‖ alone bounds the error, the gap included.

    ``rows(index)`` gives z_i for an array of row numbers, and nothing larger is ever held;
    ``labels`` are the cells of the rows. Exactly fused cells have equal centroids in ``solution``
    of the problem ``coarse`` between the cells. With no ``rounds`` nothing flows inside clusters.
    """
    clusters = fused(solution.A, coarse.edges)
    cluster = clusters[labels]
    C = means(solution.A, coarse.masses, clusters)
    inside = cluster[graph.edges[:, 0]] == cluster[graph.edges[:, 1]]
    between = Graph(graph.edges[~inside], graph.weights[~inside])
    home = cluster[graph.edges[inside, 0]]
    own = np.flatnonzero(inside)[np.argsort(home, kind="stable")]
    starts = np.searchsorted(np.sort(home), np.arange(len(C) + 1))

    place = np.empty(len(labels), dtype=np.int64)
    square = np.empty(len(labels))
    for first, last, index in _chunks(cluster, len(C)):
        place[index] = np.arange(len(index))
        m = masses[index]
        b = m[:, None] * (rows(index) - C[cluster[index]])
        b -= _pull(index, between, C, cluster, coarse.gamma)
        mine = own[starts[first] : starts[last]]
        local = Graph(np.ascontiguousarray(place[graph.edges[mine]]), graph.weights[mine])
        if rounds > 0 and len(mine):
            left, still = _routed(b, m, local, coarse.gamma, rounds)
        else:
            left, still = b, 0.0
        square[index] = (left**2).sum(axis=1) / m + still * m / m.sum()
    return CoarseningError(np.sqrt(np.bincount(labels, square, coarse.n)), "rows")


def _chunks(cluster: Ints, count: int) -> Iterator[tuple[int, int, Ints]]:
    """(first, last, rows) of clusters first … last − 1 that are taken together."""
    order = np.argsort(cluster, kind="stable")
    bounds = np.searchsorted(cluster[order], np.arange(count + 1))
    first = 0
    while first < count:
        last = int(np.searchsorted(bounds, bounds[first] + CHUNK, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last, order[bounds[first] : bounds[last]]
        first = last


def _pull(index: Ints, between: Graph, C: Floats, cluster: Ints, gamma: float) -> Floats:
    """Σ γ w_ij u_ts over the edges of each row to other clusters."""
    position = np.full(len(cluster), -1, dtype=np.int64)
    position[index] = np.arange(len(index))
    out = np.zeros((len(index), C.shape[1]))
    for near, far in ((0, 1), (1, 0)):
        rows = position[between.edges[:, near]]
        here = rows >= 0
        s, t = cluster[between.edges[here, near]], cluster[between.edges[here, far]]
        apart = C[s] - C[t]
        length = np.linalg.norm(apart, axis=1)
        # clusters that meet without an equal edge between them have no direction: any λ will do
        force = gamma * between.weights[here] / np.where(length > 0, length, np.inf)
        np.add.at(out, rows[here], force[:, None] * apart)
    return out


def _routed(
    b: Floats, masses: Floats, graph: Graph, gamma: float, rounds: int
) -> tuple[Floats, float]:
    """What of the demand no flow was found for, and ‖·‖² of it in axes that were left out."""
    from ..loops.routing import cut_off
    from ..loops.sweeps import sweep

    gram = (b / masses[:, None]).T @ b
    axes = gram_axes(gram, AXES * float(np.trace(gram)))
    still = axes.lost
    b = np.ascontiguousarray(b @ axes.Q)

    group = components(graph.edges, len(b))
    mean = means(b / masses[:, None], masses, group)[group]
    balanced = b - masses[:, None] * mean
    c, conductance = gamma * graph.weights, graph.weights.copy()
    if c.min(initial=1.0) == 0:  # γ = 0, or a product that is too small for a number: no flow
        return b, still
    ratio = np.empty(len(c))
    best, potential = balanced, np.zeros_like(b)
    kept, share = conductance, np.zeros(int(group.max()) + 1)
    for _ in range(rounds):
        Y = solve_laplacian(graph.edges, conductance, balanced, group, rough=True)
        left = balanced.copy()
        cut_off(Y, conductance, c, graph.edges, left, ratio)
        # a part of the flow may do better than all of it, component by component
        part = _best_part(balanced, left, masses, group)
        mixed = balanced + part[group][:, None] * (left - balanced)
        if _energy(mixed, masses) < _energy(best, masses):
            best, potential, kept, share = mixed, Y, conductance, part
        if ratio.max() <= 1.0:
            break
        conductance = conductance / np.maximum(ratio, 1.0)
        if conductance.min() == 0:  # the excess is beyond all numbers: no round would lower it
            break
    if _energy(best, masses) > still and 8.0 * len(c) * b.shape[1] <= SWEPT_BYTES:
        v = (best + masses[:, None] * mean) / masses[:, None]
        i, j = np.ascontiguousarray(graph.edges.T)
        flow = project(kept[:, None] * (potential[i] - potential[j]), c) * share[group[i]][:, None]
        sweep(i, j, c, 1 / masses, v, flow, np.arange(len(c)), SWEEPS, np.float64(1.0))
        return masses[:, None] * v, still
    return best + masses[:, None] * mean, still


def _energy(b: Floats, masses: Floats) -> float:
    return float(((b**2).sum(axis=1) / masses).sum())


def _best_part(b: Floats, left: Floats, masses: Floats, group: Ints) -> Floats:
    """s in [0, 1] with least ‖b + s(left − b)‖ for every component."""
    change = left - b
    down = -np.bincount(group, (b * change).sum(axis=1) / masses)
    curve = np.bincount(group, (change**2).sum(axis=1) / masses)
    return np.clip(down / np.where(curve > 0, curve, 1.0), 0.0, 1.0)

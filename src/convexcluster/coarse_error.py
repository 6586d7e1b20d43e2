"""What coarsening costs: a bound on the distance from the coarse solution to the fine one.

Rows i with z_i and masses m_i lie in cells g with masses M_g and means z̄_g. The coarse problem has
the cells as points and W_gh = Σ_{i∈g, j∈h} w_ij; (C, Λ) is any point and any feasible dual of it,
with gap G. Let U copy c_g to the rows of g, and spread Λ_gh over the edges between g and h in
proportion to w_ij. With no flow inside cells the residual z_i − c_g − (DᵀΛ)_i/m_i is

    b_i + e_g,   b_i = (z_i − z̄_g) + (ext_g/M_g − ext_i/m_i),   Σ_{i∈g} m_i b_i = 0,

where ext is what the spread duals take from a row or a cell, and e_g is the coarse residual. Flows
λ inside the cells, ‖λ_l‖ ≤ γ w_l, change b to V = b − M⁻¹DᵀΛ_inside and keep its cell means at 0.

**Theorem.** The duality gap of the fine problem at (UC, Λ) is G + ½‖V‖²_M, hence

    ‖UC − A*‖_M ≤ √(2G + ‖V‖²_M) ≤ √(2G) + ‖V‖_M,    ‖V‖_M ≤ ‖b‖_M.

Proof. The gap is ½‖A − A_Λ‖²_M + Σ_l (c_l‖(DA)_l‖ − ⟨λ_l, (DA)_l⟩). Inside a cell DA = 0. Between g
and h every edge has DA = c_g − c_h and λ_l = (w_l/W_gh)Λ_gh, so the slacks sum to the coarse slack.
A_Λ − A = V + e in row i of g; V has mass-weighted cell means 0 and e is constant on cells, so
‖V + e‖²_M = ‖V‖²_M + Σ M_g‖e_g‖². The coarse gap G is the slack plus ½ Σ M_g‖e_g‖². Strong
convexity gives ½‖UC − A*‖²_M ≤ gap. Λ_inside = 0 gives V = b, and flows are chosen to lower ‖V‖. ∎

If Z is itself a projection PΦ of feature vectors with τ² = Σ m_i‖(1 − P)φ_i‖², then for the problem
on Φ with the same duals the residual gains (1 − P)φ_i, orthogonal to all the rest: the gap is
G + ½‖V‖² + ½τ². So the three errors add as squares, and never are less than the true one.

Two fine graphs are covered:

- ``points``: a graph on the rows themselves, e.g. their kNN graph. V is found by sweeps.
- ``spread``: the graph is given between cells (W_gh), and the rows inherit it: an edge between g
  and h has w_ij = W_gh m_i m_j/(M_g M_h), and inside g all pairs have w_ij = ω m_i m_j/M_g. Then
  ext_i/m_i is the same for all rows of g, b_i = z_i − z̄_g, ‖b_g‖² is the scatter S_g, and the flow
  λ_ij = t m_i m_j (b_i − b_j)/M_g takes off t·b_i; it is feasible iff t·‖b_i − b_j‖ ≤ γω. So
  ‖V_g‖ = (1 − t_g)√S_g, t_g = min(1, γω/diam_g): from γ = max diam_g/ω on, *coarsening is exact*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .coarsen import summarise
from .graph import Graph, component_means, components, laplacian
from .problem import Floats, Ints, Problem, Solution

# Sweeps of the flow inside cells: a cell of a hundred rows is about ten edges across, and sweeps
# in both directions carry a flow across it in two; the rest is convergence near saturated edges.
SWEEPS = 12

# Rows whose residuals are held at a time: 2¹⁴ rows in 300 dimensions are 40 MB, and their edges
# four times as many.
CHUNK = 16_384


@dataclass(frozen=True, slots=True)
class CoarseningError:
    """‖V‖_M and its share per cell.

    Attributes
    ----------
    per_cell : ndarray of shape (G,)
        ‖V_g‖: refine where it is largest.
    graph : str
        ``"points"`` or ``"spread"``: whose fine problem this is about.
    """

    per_cell: Floats
    graph: str

    @property
    def total(self) -> float:
        """‖V‖_M."""
        return float(np.linalg.norm(self.per_cell))


def total_radius(gap: float, coarsening: float, embedding: float) -> float:
    """√(2G + ‖V‖² + τ²): no solution of the full problem is farther from UC than this.

    Examples
    --------
    >>> total_radius(gap=2.0, coarsening=2.0, embedding=1.0)
    3.0
    """
    return float(np.sqrt(2.0 * gap + coarsening**2 + embedding**2))


def cohesion(graph: Graph, masses: Floats) -> float:
    """ω: the mean weighted degree of the graph per unit of mass.

    The rows of a cell are joined as strongly as rows are joined to the rest on average.
    """
    return 2.0 * float(graph.weights.sum()) / float(masses.sum())


def spread_error(
    scatter: Floats, diameters: Floats, gamma: float, cohesion: float
) -> CoarseningError:
    """‖V_g‖ = (1 − min(1, γω/diam_g))√S_g, for the graph that cells pass on to their rows.

    Parameters
    ----------
    scatter : ndarray of shape (G,)
        S_g.
    diameters : ndarray of shape (G,)
        An upper bound on the distance between two rows of the cell.
    gamma, cohesion : float
        γ and ω.

    Examples
    --------
    >>> spread_error(np.array([4.0, 4.0]), np.array([1.0, 4.0]), 1.0, 2.0).per_cell
    array([0., 1.])
    """
    wide = np.where(diameters > 0, diameters, 1.0)
    carried = np.where(diameters > 0, np.minimum(1.0, gamma * cohesion / wide), 1.0)
    return CoarseningError((1.0 - carried) * np.sqrt(scatter), "spread")


def spread_graph(graph: Graph, labels: Ints, masses: Floats) -> Graph:
    """The fine graph that a graph between cells passes on to their rows, written out.

    It has an edge for every pair of rows in the same or in adjacent cells: for tests and small n.
    """
    count = int(labels.max()) + 1
    M = np.bincount(labels, masses, count).astype(np.float64)
    table = np.zeros((count, count))
    i, j = graph.edges.T
    table[i, j] = table[j, i] = graph.weights / (M[i] * M[j])
    table[np.diag_indices(count)] = cohesion(graph, M) / M
    p, q = np.triu_indices(len(labels), 1)
    w = table[labels[p], labels[q]] * masses[p] * masses[q]
    keep = w > 0
    return Graph(np.column_stack([p[keep], q[keep]]).astype(np.int64), w[keep])


@dataclass(frozen=True, slots=True)
class Contraction:
    """A fine graph seen from the cells: the coarse graph, and where each fine edge went.

    Attributes
    ----------
    graph : Graph
        Edges between cells with W_gh = Σ w_ij.
    across : ndarray of shape (m,)
        Coarse edge of each fine edge; −1 for an edge inside a cell.
    """

    graph: Graph
    across: Ints


def contract(graph: Graph, labels: Ints) -> Contraction:
    """Sum the edges between cells.

    Examples
    --------
    >>> fine = Graph(np.array([[0, 1], [0, 2], [1, 2]]), np.array([5.0, 1.0, 2.0]))
    >>> coarse = contract(fine, np.array([0, 0, 1]))
    >>> coarse.graph.edges, coarse.graph.weights, coarse.across
    (array([[0, 1]]), array([3.]), array([-1,  0,  0]))
    """
    count = int(labels.max()) + 1
    ends = np.sort(labels[graph.edges], axis=1)
    outside = ends[:, 0] != ends[:, 1]
    keys, inverse = np.unique(ends[outside, 0] * count + ends[outside, 1], return_inverse=True)
    across = np.full(len(ends), -1, dtype=np.int64)
    across[outside] = inverse
    weights = np.bincount(inverse, graph.weights[outside], len(keys)).astype(np.float64)
    return Contraction(Graph(np.column_stack(np.divmod(keys, count)), weights), across)


def points_error(
    rows: Callable[[Ints], Floats],
    masses: Floats,
    labels: Ints,
    graph: Graph,
    contraction: Contraction,
    coarse: Problem,
    solution: Solution,
    sweeps: int = SWEEPS,
) -> CoarseningError:
    """‖V_g‖ for a graph on the rows themselves.

    Parameters
    ----------
    rows : callable
        ``rows(index)`` gives z_i for an array of row numbers; nothing larger is ever held.
    masses, labels : ndarrays of shape (n,)
        Of the rows.
    graph : Graph
        On the rows.
    contraction : Contraction
        Of ``graph`` by ``labels``.
    coarse : Problem
        The problem between the cells.
    solution : Solution
        Its solution; C and Λ.
    sweeps : int
        Of the flow inside cells; 0 gives ‖b_g‖.

    Returns
    -------
    CoarseningError
    """
    from .loops.coarsen import flow_inside

    n, count = len(labels), coarse.n
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(count + 1))
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    taken = _spread_duals(labels, graph, contraction, n, len(coarse.weights))
    inside = np.flatnonzero(contraction.across < 0)
    home = labels[graph.edges[inside, 0]]
    inside = inside[np.argsort(home, kind="stable")]
    inside_bounds = np.searchsorted(np.sort(home), np.arange(count + 1))

    per_cell = np.empty(count)
    first = 0
    while first < count:
        last = int(np.searchsorted(bounds, bounds[first] + CHUNK, side="right")) - 1
        last = min(max(last, first + 1), count)
        index = order[bounds[first] : bounds[last]]
        m = masses[index]
        v = rows(index) - solution.A[labels[index]] - (taken[index] @ solution.Lam) / m[:, None]
        mine = inside[inside_bounds[first] : inside_bounds[last]]
        edges = np.ascontiguousarray(place[graph.edges[mine]] - bounds[first])
        home_here = labels[index] - first
        if sweeps == 0:
            per_cell[first:last] = _norms(v, home_here, last - first, m)
        else:
            routed = electrical(v, m, edges, graph.weights[mine], coarse.gamma)
            starts = inside_bounds[first : last + 1] - inside_bounds[first]
            flow_inside(v, m, edges, coarse.gamma * graph.weights[mine], starts, sweeps)
            # either flow is feasible, cell by cell: take the better one
            per_cell[first:last] = np.minimum(
                _norms(v, home_here, last - first, m), _norms(routed, home_here, last - first, m)
            )
        first = last
    return CoarseningError(per_cell, "points")


def _norms(v: Floats, labels: Ints, count: int, masses: Floats) -> Floats:
    """‖v_g − mean‖_M of every cell."""
    return np.sqrt(summarise(v, labels, count, masses).scatter)


def electrical(v: Floats, masses: Floats, edges: Ints, weights: Floats, gamma: float) -> Floats:
    """What is left of v when the flow of least energy takes off as much of it as fits.

    In each component of the edges, L_w Y = M(v − mean) and λ_l = w_l(y_i − y_j) takes off all of
    v − mean; the share t = min(1, γ / max‖y_i − y_j‖) of it has ‖λ_l‖ ≤ γ w_l.
    """
    n = len(v)
    group = components(edges, n)
    mean = component_means(v, masses, group)[group]
    _, ground = np.unique(group, return_index=True)
    free = np.setdiff1d(np.arange(n), ground)
    Y = np.zeros_like(v)
    if len(free):
        L = sparse.csc_array(laplacian(edges, weights, n)[free][:, free])
        Y[free] = splu(L).solve((masses[:, None] * (v - mean))[free])
    i, j = edges.T
    steepest = np.zeros(len(ground))
    np.maximum.at(steepest, group[i], np.linalg.norm(Y[i] - Y[j], axis=1))
    share = np.minimum(1.0, gamma / np.where(steepest > 0, steepest, np.inf))
    share = np.where(steepest > 0, share, 1.0)
    return mean + (1.0 - share[group])[:, None] * (v - mean)


def _spread_duals(
    labels: Ints, graph: Graph, contraction: Contraction, n: int, m: int
) -> sparse.csr_array:
    """(n × m) map from coarse duals to what they take from each row: shares w_ij/W_gh, signed."""
    outside = contraction.across >= 0
    i, j = graph.edges[outside].T
    L = contraction.across[outside]
    share = graph.weights[outside] / contraction.graph.weights[L]
    share = np.where(labels[i] < labels[j], share, -share)
    rows, columns = np.concatenate([i, j]), np.concatenate([L, L])
    return sparse.csr_array((np.concatenate([share, -share]), (rows, columns)), shape=(n, m))

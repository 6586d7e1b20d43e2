"""Flows inside clusters: route demands b over edges whose capacity is c, Dᵀ Λ = b with ‖λ_l‖ ≤ c_l.

Input is the subgraph of edges inside clusters and a demand that is balanced in every cluster.
Output is a flow within capacity, and how much further demand its slack can absorb. A corrected
flow is Λ + diag(κ)D y with L_κ y = b − DᵀΛ, conductances κ_l following the slack that is left.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..graph import incidence, spanning_tree
from ..numerics.laplacian import laplacian, solve_laplacian
from ..partition import means
from ..problem import Floats, Ints
from .gap import project
from .rounding import roundings

# The share of its capacity that a saturated edge keeps as conductance: a flow against the present
# one is welcome there and would be impossible at 0. Much less makes the system ill-conditioned, and
# the slack that a proof needs is left less even; twice as much overloads edges that are full.
LEAST_SLACK = 0.02

# Edges at a time, whose rows then stay in cache. Half or twice: no difference.
BLOCK = 1_024


def electrical(
    edges: Ints, conductance: Floats, demand: Floats, labels: Ints, masses: Floats
) -> Floats:
    """The flow κ D y, L_κ y = demand, of least Σ‖f_l‖²/κ_l; ``labels`` are the components.

    What rounding leaves unbalanced in a component is taken off in proportion to mass.
    """
    balanced = demand - masses[:, None] * means(demand / masses[:, None], masses, labels)[labels]
    Y = _dense_potentials(edges, conductance, balanced, labels)
    if Y is None:
        Y = solve_laplacian(edges, conductance, balanced, labels, rough=True)
    i, j = edges.T
    flow: Floats = Y[i]
    for start in range(0, len(i), BLOCK):
        block = slice(start, start + BLOCK)
        flow[block] -= Y[j[block]]
    flow *= conductance[:, None]
    return flow


# Samples up to which one cluster is solved by a dense factor: 200 take a fifth of the time of a
# sparse one, most of which is building it; 800 take as long.
FEW = 400


def _dense_potentials(
    edges: Ints, conductance: Floats, demand: Floats, labels: Ints
) -> Floats | None:
    """L_κ y = demand in one small component; None if it is large, or L_κ is singular in floats."""
    n, (i, j) = len(demand), edges.T
    if n > FEW or labels.any() or not len(edges):
        return None
    L = np.bincount(i * n + j, -conductance, n * n).reshape(n, n)
    L = L + L.T
    L[np.diag_indices(n)] = -L.sum(axis=1)
    try:
        factor = cho_factor(L + float(conductance.mean()) / n, check_finite=False)
        Y = cho_solve(factor, demand, check_finite=False)
    except LinAlgError:
        return None
    return Y if np.isfinite(Y).all() else None


def correction(
    edges: Ints, c: Floats, Lam: Floats, rest: Floats, labels: Ints, masses: Floats, least: float
) -> Floats:
    """The electrical flow for what Λ leaves of a demand, conductances following its slack.

    A saturated edge keeps the share ``least`` of its capacity. (A path corrects thousands of flows
    to two digits each: :mod:`convexcluster.path.route` has compiled loops for the same step.)
    """
    slack = np.maximum(c - np.linalg.norm(Lam, axis=1), least * c)
    return electrical(edges, slack, rest, labels, masses)


def route(
    edges: Ints, c: Floats, demand: Floats, labels: Ints, masses: Floats, start: Floats,
    max_iter: int = 40, enough: float = 0.0,
) -> Floats:  # fmt: skip
    """A flow strictly within capacity that meets ``demand`` as far as corrections can make it.

    Clusters whose electrical flow from scratch fits use it (it has the most even slack); the others
    start from ``start`` and are corrected until what is missing no longer falls, or is ``enough``.
    """
    D = incidence(edges, len(demand))
    ground = labels[edges[:, 0]]
    room = (1.0 - 1e-9) * c  # strictly inside, so that every edge keeps some slack
    scratch = electrical(edges, c, demand, labels, masses)
    over = np.linalg.norm(scratch, axis=1) > 0.999 * c
    bad = np.bincount(ground, over, int(labels.max()) + 1) > 0
    Lam = np.where(bad[ground][:, None], project(start, room), project(scratch, room))
    best, missing_best = Lam, np.inf
    for _ in range(max_iter):
        rest = demand - D.T @ Lam
        missing = float(np.linalg.norm(rest))
        if missing >= 0.9 * missing_best:
            break
        best, missing_best = Lam, missing
        if missing <= enough:
            break
        along = correction(edges, c, Lam, rest, labels, masses, LEAST_SLACK)
        Lam = project(Lam + along, room)
    return best


# Above this size L⁺ of a cluster (n² floats, n³ operations) gives way to a spanning tree.
DENSE_SIZE = 1_500


# The share of ‖L⁺d_l‖ that may be in doubt, given away: slacks more uneven use the spanning tree.
DOUBT = 0.01


def absorbable(edges: Ints, slack: Floats, n: int) -> float:
    """The largest ε such that every balanced demand e with ‖e‖_F ≤ ε fits into ``slack``.

    One connected cluster of n samples. The flow diag(κ)D L_κ⁺e, κ = slack, is at most
    κ_l‖L_κ⁺d_l‖·‖e‖_F on edge l, so ε = 1/max_l ‖L_κ⁺d_l‖ is safe. A large cluster uses a spanning
    tree of largest slacks: an edge carries at most ½Σ‖e_i‖ ≤ ½√n‖e‖_F. Returns 0 if the edges with
    slack do not connect the cluster.
    """
    open_ = slack > 0
    edges, slack = edges[open_], slack[open_]
    tree = _bottleneck(edges, slack, n)
    if tree == 0.0:
        return 0.0
    safe = 2.0 * tree / float(np.sqrt(n))
    if n > DENSE_SIZE:
        return safe
    top = float(slack.max())
    L = laplacian(edges, slack / top, n).toarray() + 1.0 / n
    try:
        inverse = np.linalg.inv(L)  # its rows differ by rows of L⁺d_l, since d_l is balanced
    except np.linalg.LinAlgError:
        return safe  # slacks so uneven that some vanish beside others
    # Rows x_l with |x_l L − d_l| ≤ a in every entry: a balanced demand of such entries flows along
    # a tree with at most ½na on each of its n − 1 edges, so ‖x_l − L⁺d_l‖ ≤ ½n²a·max_l‖L⁺d_l‖.
    off = np.abs(inverse @ L - np.eye(n)).max() + np.ptp(inverse.sum(axis=1)) / n
    off += roundings(2 * n + 4) * np.abs(inverse).max() * np.abs(L).sum(axis=0).max()
    share = float(n**2 * off)  # a = 2 off, for the difference of two rows
    if not share <= DOUBT:
        return safe  # slacks too uneven for L⁺ to be trusted
    i, j = edges.T
    longest = 0.0
    for start in range(0, len(edges), BLOCK):
        block = slice(start, start + BLOCK)
        X = inverse[i[block]] - inverse[j[block]]
        longest = max(longest, float(np.einsum("lk,lk->l", X, X).max()))
    return max(safe, (1.0 - share) * (1.0 - 1e-6) * top / float(np.sqrt(longest)))


def _bottleneck(edges: Ints, slack: Floats, n: int) -> float:
    """Least slack on the spanning tree of largest slacks; 0 if there is no spanning tree."""
    if len(edges) < n - 1:
        return 0.0
    tree = spanning_tree(edges, 1.0 / slack, n)  # the least lengths are the largest slacks
    return float(1.0 / tree.data.max()) if tree.nnz == n - 1 else 0.0

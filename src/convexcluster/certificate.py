"""Duality: the referee of every solution.

    dual:  max ⟨Λ, DZ⟩ − ½‖M^{-1/2}DᵀΛ‖²   subject to ‖λ_l‖ ≤ c_l = γ w_l

With A_Λ = Z − M⁻¹DᵀΛ, the gap between any A and any feasible Λ is

    G = ½‖A − A_Λ‖²_M + Σ_l (c_l‖(DA)_l‖ − ⟨λ_l, (DA)_l⟩) ≥ 0,

a sum of non-negative terms, so nothing cancels; and ½‖A − A*‖²_M + ½‖A_Λ − A*‖²_M ≤ G.

From it follow statements about clusters, each a theorem about A* and never a threshold: pairs that
are certainly apart, pairs that are certainly fused, and whether a whole partition is that of A*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .flows import absorbable, project, route
from .graph import component_means, components, incidence
from .problem import Floats, Ints, Problem, Solution
from .reduced import gradient, newton, reduce

__all__ = [
    "Certificate",
    "certified_different",
    "certified_same",
    "certify",
    "certify_partition",
    "dual_point",
    "duality_gap",
    "project",
]

# Allowance for rounding in the certified statements, relative to the numbers that are subtracted:
# 1000 units in the last place, well above the error of the sums and norms involved. It is an
# allowance, not interval arithmetic.
ROUNDING = 1000 * float(np.finfo(np.float64).eps)


# Edges per block of the gap: the differences of a block stay in cache, and a large graph in a large
# embedding needs no second array of the size of Λ.
BLOCK = 4_096


def dual_point(problem: Problem, Lam: Floats) -> Floats:
    """A_Λ = Z − M⁻¹DᵀΛ."""
    D = incidence(problem.edges, problem.n)
    return problem.Z - (D.T @ Lam) / problem.masses[:, None]


def duality_gap(problem: Problem, A: Floats, Lam: Floats, A_dual: Floats | None = None) -> float:
    """G(A, Λ) for a feasible Λ, from its definition; ``A_dual`` is A_Λ where it is at hand."""
    i, j = problem.edges.T
    rest = A - (dual_point(problem, Lam) if A_dual is None else A_dual)
    gap = 0.5 * float(problem.masses @ np.einsum("ik,ik->i", rest, rest))
    for start in range(0, len(i), BLOCK):
        block = slice(start, start + BLOCK)
        DA = A[i[block]] - A[j[block]]
        norms = np.sqrt(np.einsum("lk,lk->l", DA, DA))
        slack = problem.c[block] * norms - np.einsum("lk,lk->l", Lam[block], DA)
        gap += float(np.maximum(slack, 0.0).sum())  # a negative slack is round-off
    return gap


def certified_different(
    problem: Problem, A: Floats, radius: float, pairs: Ints | None = None
) -> NDArray[np.bool_]:
    """Which pairs are in different places in A*, given ‖A − A*‖_M ≤ ``radius``.

    a*_i = a*_j would imply ‖a_i − a_j‖ ≤ ‖a_i − a*_i‖ + ‖a_j − a*_j‖ ≤ R √(1/m_i + 1/m_j).

    Parameters
    ----------
    problem : Problem
    A : ndarray of shape (n, r)
    radius : float
    pairs : ndarray of shape (p, 2), optional
        Index pairs; the edges by default.

    Returns
    -------
    ndarray of shape (p,), bool

    Examples
    --------
    >>> pair = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], gamma=0.5)
    >>> certified_different(pair, np.array([[0.5], [3.5]]), radius=0.1)
    array([ True])
    """
    i, j = (problem.edges if pairs is None else pairs).T
    apart = np.linalg.norm(A[i] - A[j], axis=1)
    reach = radius * np.sqrt(1.0 / problem.masses[i] + 1.0 / problem.masses[j])
    return apart > reach * (1.0 + ROUNDING) + ROUNDING * np.abs(A).max(initial=0.0)


def certified_same(problem: Problem) -> NDArray[np.bool_]:
    """Which edges are fused in A* whatever the rest does, from weights and distances alone.

        γ [w_ij (1/m_i + 1/m_j) − Σ_{k≠i,j} |w_ik/m_i − w_jk/m_j|] ≥ ‖z_i − z_j‖

    Subtract the optimality conditions of i and j: were a*_i ≠ a*_j, the left side pulls them
    together by more than data and all other edges can hold them apart.

    Examples
    --------
    >>> pair = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], gamma=2.5)
    >>> certified_same(pair)
    array([ True])
    """
    n, (i, j) = problem.n, problem.edges.T
    pull = problem.weights * (1.0 / problem.masses[i] + 1.0 / problem.masses[j])
    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    P = sparse.csr_array(
        (np.tile(problem.weights, 2) / problem.masses[rows], (rows, columns)), shape=(n, n)
    )
    # Σ_k over all k counts k = i and k = j too, which together are w_ij(1/m_i + 1/m_j)
    others = np.asarray(abs(P[i] - P[j]).sum(axis=1)).ravel() - pull
    apart = np.linalg.norm(problem.Z[i] - problem.Z[j], axis=1)
    hold = problem.gamma * (pull - others)
    noise = ROUNDING * (problem.gamma * (2.0 * pull + others) + np.abs(problem.Z).max(initial=0.0))
    return np.where(apart == 0.0, hold >= 0.0, hold - noise >= apart)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proved about a solution.

    Attributes
    ----------
    gap : float
        Duality gap G of the embedded problem.
    relative_gap : float
        G over ½ Σ mᵢ‖zᵢ − z̄‖².
    radius : float
        Bound on ‖A − A*‖_M for the problem before embedding and coarsening:
        √(2G + τ²) + ``coarsening_error``, since the gap before embedding is G + τ²/2.
    embedding_error : float
        τ, the norm of what the embedding dropped.
    coarsening_error : float
        Bound on the distance that contracting samples beforehand has caused.
    clipped_share : float
        Σ|λ₋|/Σ|λ| of a kernel that was not positive semidefinite; everything else in the
        certificate is about the clipped kernel.
    partition : str
        "certified", or "not certified: " and why.
    """

    gap: float
    relative_gap: float
    radius: float
    embedding_error: float = 0.0
    coarsening_error: float = 0.0
    clipped_share: float = 0.0
    partition: str = "not certified: not asked for"


def certify(
    problem: Problem,
    solution: Solution,
    *,
    embedding_error: float = 0.0,
    coarsening_error: float = 0.0,
    clipped_share: float = 0.0,
    partition: bool = True,
) -> Certificate:
    """Gather what is proved about ``solution``; ``partition=False`` skips the exact test.

    Examples
    --------
    >>> from convexcluster import Status
    >>> pair = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], gamma=2.5)
    >>> fused = Solution(np.full((2, 1), 2.0), np.array([[-2.0]]), 0.0, 0.0, Status.CONVERGED, 1)
    >>> certify(pair, fused).partition
    'certified'
    """
    i, j = problem.edges.T
    verdict = "not certified: not asked for"
    if coarsening_error > 0:
        verdict = "not certified: samples were contracted before the solve"
    elif partition:
        fused = (solution.A[i] == solution.A[j]).all(axis=1)
        labels = components(problem.edges[fused], problem.n)
        verdict = certify_partition(problem, labels, solution.A, solution.Lam, embedding_error)
    return Certificate(
        gap=solution.gap,
        relative_gap=solution.relative_gap,
        radius=float(np.sqrt(2.0 * solution.gap + embedding_error**2)) + coarsening_error,
        embedding_error=embedding_error,
        coarsening_error=coarsening_error,
        clipped_share=clipped_share,
        partition=verdict,
    )


def certify_partition(
    problem: Problem, labels: Ints, A: Floats, Lam: Floats, embedding_error: float = 0.0
) -> str:
    """Decide whether ``labels`` is exactly the partition of A*: "certified", or why not.

    Let c* be the optimum of the reduced problem (:mod:`convexcluster.reduced`), and for i in C_t

        b*_i = m_i(z_i − c*_t) − γ Σ_{j∉C_t} w_ij u*_{t,s(j)}.

    *Theorem.* If adjacent c*_t differ and every cluster has a flow on its own edges with
    D_tᵀΛ_t = b*_t, ‖λ_l‖ ≤ c_l, then a*_i = c*_t: these flows, with λ_l = c_l u*_l between
    clusters, satisfy the optimality conditions. Neither c* nor the flows are known exactly; the
    test proves that they exist:

    1. Newton gives C̃ with ‖C̃ − c*‖_M ≤ R = ‖∇F_red(C̃)‖_{M⁻¹} (strong convexity); if the embedding
       dropped τ then R + τ, as optima are no further apart than their data. So c̃_s − c̃_t is known
       up to δ_st = R√(1/m_s + 1/m_t). The clusters differ if d̃_st > δ_st, and then
       ‖ũ_st − u*_st‖ ≤ 2δ_st/(2d̃_st − δ_st) (Dunkl and Williams).
    2. A flow Λ̃ strictly within capacity misses b*_t by some balanced e_t with

           ‖e_t‖ ≤ ‖b̃_t − D_tᵀΛ̃‖ + R√(Σm_i²/m_t) + ‖(γ Σ_j w_ij 2δ/(2d̃ − δ))_i‖ + τ√(max m_i).

    3. The slack c_l − ‖λ̃_l‖ must absorb every such e_t (:func:`convexcluster.flows.absorbable`).

    A cluster on the verge of splitting has no slack and is not certified, even if it is one.

    Parameters
    ----------
    problem : Problem
    labels : ndarray of shape (n,)
        Numbered 0, 1, …
    A : ndarray of shape (n, r)
        Centroids, the start for Newton.
    Lam : ndarray of shape (m, r)
        Dual, the start for the flows.
    embedding_error : float
        τ: the norm, weighted by masses, of what the embedding dropped.

    Examples
    --------
    >>> chain = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], gamma=1.0)
    >>> A, Lam = np.array([[1.0], [1.0], [8.0]]), np.array([[-1.0], [-1.0]])
    >>> certify_partition(chain, np.array([0, 0, 1]), A, Lam)
    'not certified: the cluster of sample 0 is on the verge of splitting: ...'
    >>> certify_partition(chain.at(1.2), np.array([0, 0, 1]), A, Lam)
    'certified'
    """
    if problem.gamma == 0:
        i, j = problem.edges.T
        equal = (problem.Z[i] == problem.Z[j]).all(axis=1)
        same = (labels == components(problem.edges[equal], problem.n)).all()
        return "certified" if same else "not certified: at gamma = 0 only equal samples are fused"
    inside = labels[problem.edges[:, 0]] == labels[problem.edges[:, 1]]
    if (components(problem.edges[inside], problem.n) != labels).any():
        return "not certified: labels must be connected clusters, numbered by first appearance"
    small = reduce(problem, labels)
    C = newton(small, component_means(A, problem.masses, labels))
    if C is None:
        return "not certified: two adjacent clusters meet in the optimum of the reduced problem"
    flow = _flow(problem, labels, C, inside, Lam)
    verdict = _verdict(problem, labels, small, C, inside, flow, 0.0)
    if embedding_error == 0.0 or verdict != "certified":
        return verdict
    verdict = _verdict(problem, labels, small, C, inside, flow, embedding_error)
    if verdict != "certified":
        verdict += f" (by the embedding error {embedding_error:.1e}; without it certified)"
    return verdict


def _flow(
    problem: Problem, labels: Ints, C: Floats, inside: NDArray[np.bool_], Lam: Floats
) -> Floats:
    """Dual of all edges: c u between clusters, a flow that meets their demand inside."""
    out = np.zeros_like(Lam)
    i, j = problem.edges[~inside].T
    d = C[labels[i]] - C[labels[j]]
    out[~inside] = (problem.c[~inside] / np.linalg.norm(d, axis=1))[:, None] * d
    if inside.any():
        demand = problem.masses[:, None] * (dual_point(problem, out) - C[labels])
        out[inside] = route(
            problem.edges[inside], problem.c[inside], demand, labels, problem.masses, Lam[inside]
        )
    return out


def _verdict(
    problem: Problem, labels: Ints, small: Problem, C: Floats, inside: NDArray[np.bool_],
    flow: Floats, tau: float,
) -> str:  # fmt: skip
    """Steps 1–3 of :func:`certify_partition` for given C̃ and Λ̃."""
    masses, c, n = problem.masses, problem.c, problem.n
    first = np.unique(labels, return_index=True)[1]  # a sample by which to name each cluster
    sizes = np.linalg.norm(problem.Z, axis=1) + np.linalg.norm(C, axis=1)[labels]
    noise = ROUNDING * (masses * sizes + np.bincount(problem.edges.ravel(), np.repeat(c, 2), n))

    g = np.linalg.norm(gradient(small, C), axis=1) + np.bincount(labels, noise)
    R = float(np.linalg.norm(g / np.sqrt(small.masses))) + tau
    s, t = labels[problem.edges[~inside]].T
    d = np.linalg.norm(C[s] - C[t], axis=1)
    delta = R * np.sqrt(1.0 / small.masses[s] + 1.0 / small.masses[t])
    if (d <= delta).any():
        worst = int(np.argmin(d - delta))
        a, b = first[s[worst]], first[t[worst]]
        return (
            f"not certified: the clusters of samples {a} and {b} are {d[worst]:.1e} apart, "
            f"known only to {delta[worst]:.1e}"
        )

    turn = c[~inside] * 2.0 * delta / (2.0 * d - delta)
    turned = np.bincount(problem.edges[~inside].ravel(), np.repeat(turn, 2), n).astype(float)
    rest = masses * np.linalg.norm(dual_point(problem, flow) - C[labels], axis=1) + noise
    e = (
        _cluster_norms(rest, labels)
        + _cluster_norms(masses, labels) * R / np.sqrt(small.masses)
        + _cluster_norms(turned, labels)
        + tau * np.sqrt(masses.max())
    )
    slack = c[inside] * (1.0 - ROUNDING) - np.linalg.norm(flow[inside], axis=1)
    for cluster, nodes, edges, own in _clusters(problem.edges[inside], slack, labels):
        room = absorbable(edges, own, nodes)
        if e[cluster] > room:
            return (
                f"not certified: the cluster of sample {first[cluster]} is on the verge of "
                f"splitting: its edges can absorb {room:.1e}, the demand is known to "
                f"{e[cluster]:.1e}"
            )
    return "certified"


def _cluster_norms(x: Floats, labels: Ints) -> Floats:
    """√Σ x_i² over every label."""
    return np.sqrt(np.bincount(labels, x * x))


def _clusters(edges: Ints, values: Floats, labels: Ints) -> Iterator[tuple[int, int, Ints, Floats]]:
    """(label, number of samples, edges renumbered within, their values) of every real cluster."""
    counts = np.bincount(labels)
    local = np.empty(len(labels), dtype=np.int64)
    order = np.argsort(labels, kind="stable")
    local[order] = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    owner = labels[edges[:, 0]]
    by_owner = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[by_owner], np.arange(len(counts) + 1))
    for label in np.flatnonzero(counts > 1):
        rows = by_owner[starts[label] : starts[label + 1]]
        yield int(label), int(counts[label]), local[edges[rows]], values[rows]

"""The exact test of a partition: reduced optimum, flows inside clusters, and what is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph import components
from ..partition import first, means
from ..problem import Floats, Ints, Problem
from .flows import DENSE_SIZE, absorbable, route
from .gap import dual_point
from .reduced import gradient, meeting, newton, reduce
from .rounding import OWN, roundings

# Unknowns of the reduced problem above which Newton, then minutes long, is left to starts so good
# that they tell nearly all clusters apart already.
LARGE = 300_000

# Corrections of the flows before a first and a second attempt: the slack of most clusters absorbs
# what a few of them leave, and each costs as much as some ten sweeps.
CORRECTIONS = 4, 40


def certify_partition(
    problem: Problem, labels: Ints, A: Floats, Lam: Floats, embedding_error: float = 0.0
) -> str:
    """Decide whether ``labels`` is exactly the partition of A*: "certified", or why not.

    Let c* be the optimum of the reduced problem (:mod:`convexcluster.certificate.reduced`), and
    for i in C_t

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

    3. The slack c_l − ‖λ̃_l‖ must absorb every such e_t
       (:func:`~convexcluster.certificate.flows.absorbable`).

    A cluster on the verge of splitting has no slack and is not certified, even if it is one.

    *Rounding.* A cluster of p samples with q edges to others has z̄_t, m_t, W_st, directions and
    sums computed by at most k = 2p + q + 2r + 16 roundings in a row, so row i of its gradient and
    of its demand is wrong by at most γ_k(m_i(‖z_i‖ + ‖c̃_t‖) + Σ_{l∋i} ‖λ̃_l‖)
    (:mod:`~convexcluster.certificate.rounding`), where only edges between clusters, with
    ‖λ̃_l‖ = c_l, enter the gradient. It is added to ∇F_red and to what Λ̃ misses.

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
        if (labels != components(problem.edges[equal], problem.n)).any():
            return "not certified: at gamma = 0 only equal samples are fused"
        if embedding_error > 0 and equal.any():
            return "not certified: equal in the embedding, which dropped something, is not equal"
        return "certified"
    inside = labels[problem.edges[:, 0]] == labels[problem.edges[:, 1]]
    if (components(problem.edges[inside], problem.n) != labels).any():
        return "not certified: labels must be connected clusters, numbered by first appearance"
    small = reduce(problem, labels)
    start = means(A, problem.masses, labels)
    if small.Z.size > LARGE and not meeting(small, start):
        test = _Test.of(problem, labels, small, start, inside)
        d, delta = test.between(0.0)
        if len(d) and np.mean(d <= delta) > 0.05:
            return f"{test.not_apart(0.0)}; solve to a smaller tol"
    C = newton(small, start)
    if C is None:
        return "not certified: two adjacent clusters meet in the optimum of the reduced problem"
    test = _Test.of(problem, labels, small, C, inside)
    refused = test.not_apart(0.0)
    if refused:
        return refused
    if embedding_error > 0.0 and problem.Z.size > LARGE:
        refused = test.not_apart(embedding_error) or test.too_tight(embedding_error)
        if refused:  # flows, minutes long, would only tell what is true without the error
            return f"{refused} (by the embedding error {embedding_error:.1e})"
    flow = Lam
    for corrections in CORRECTIONS:
        flow = test.flow(flow, corrections)
        refused = test.not_absorbed(flow, 0.0)
        if not refused:
            break
    if refused or embedding_error == 0.0:
        return refused or "certified"
    refused = test.not_apart(embedding_error) or test.not_absorbed(flow, embedding_error)
    if refused:
        return f"{refused} (by the embedding error {embedding_error:.1e}; without it certified)"
    return "certified"


@dataclass(frozen=True, slots=True)
class _Test:
    """Steps 1–3 of :func:`certify_partition` at the reduced point C̃."""

    problem: Problem
    labels: Ints
    small: Problem
    C: Floats
    inside: NDArray[np.bool_]  # edges within a cluster
    first: Ints  # a sample by which to name each cluster
    unit: Floats  # γ_k of every sample's cluster
    noise: Floats  # rounding of every sample's part of the gradient
    radius: float  # R, without the embedding

    @classmethod
    def of(
        cls, problem: Problem, labels: Ints, small: Problem, C: Floats, inside: NDArray[np.bool_]
    ) -> _Test:
        sizes = np.linalg.norm(problem.Z, axis=1) + np.linalg.norm(C, axis=1)[labels]
        outer = problem.edges[~inside].ravel()
        carried = np.bincount(outer, np.repeat(problem.c[~inside], 2), problem.n)
        crossing = np.bincount(labels[outer], minlength=len(C))
        unit = roundings(2 * np.bincount(labels) + crossing + 2 * C.shape[1] + 16)[labels]
        noise = unit * (problem.masses * sizes + carried)
        g = np.linalg.norm(gradient(small, C), axis=1) + np.bincount(labels, noise)
        radius = float(np.linalg.norm(g / np.sqrt(small.masses)))
        return cls(problem, labels, small, C, inside, first(labels), unit, noise, radius)

    def between(self, tau: float) -> tuple[Floats, Floats]:
        """d̃ and δ of every edge between clusters."""
        s, t = self.labels[self.problem.edges[~self.inside]].T
        d = np.linalg.norm(self.C[s] - self.C[t], axis=1)
        inverse = 1.0 / self.small.masses
        return d, OWN * (self.radius + tau) * np.sqrt(inverse[s] + inverse[t])

    def not_apart(self, tau: float) -> str:
        """Why some adjacent clusters may be one; empty if none may."""
        d, delta = self.between(tau)
        if (d > delta).all():
            return ""
        worst = int(np.argmin(d - delta))
        a, b = self.first[self.labels[self.problem.edges[~self.inside][worst]]]
        return (
            f"not certified: the clusters of samples {a} and {b} are {d[worst]:.1e} apart, "
            f"known only to {delta[worst]:.1e}"
        )

    def too_tight(self, tau: float) -> str:
        """Why some cluster cannot absorb τ whatever its flow is; empty if all may.

        Edges that a flow leaves empty absorb at most ``absorbable`` of their capacity, and e_t is
        at least τ√(max m).
        """
        inside, least = self.inside, tau * float(np.sqrt(self.problem.masses.max()))
        capacity = self.problem.c[inside]
        for cluster, nodes, edges, own in _clusters(
            self.problem.edges[inside], capacity, self.labels
        ):
            if nodes > DENSE_SIZE and least > absorbable(edges, own, nodes):
                return (
                    f"not certified: the cluster of sample {self.first[cluster]} may split: its "
                    f"demand is known only to {least:.1e}"
                )
        return ""

    def flow(self, Lam: Floats, corrections: int) -> Floats:
        """Dual of all edges: c ũ between clusters, inside a flow that meets their demand."""
        problem, labels, inside = self.problem, self.labels, self.inside
        out = np.zeros_like(Lam)
        i, j = problem.edges[~inside].T
        d = self.C[labels[i]] - self.C[labels[j]]
        out[~inside] = (problem.c[~inside] / np.linalg.norm(d, axis=1))[:, None] * d
        if inside.any():
            demand = problem.masses[:, None] * (dual_point(problem, out) - self.C[labels])
            edges, c = problem.edges[inside], problem.c[inside]
            given = edges, c, demand, labels, problem.masses, Lam[inside]
            out[inside] = route(*given, max_iter=corrections)
        return out

    def not_absorbed(self, flow: Floats, tau: float) -> str:
        """Why some cluster may split; empty if none may."""
        problem, labels, inside = self.problem, self.labels, self.inside
        masses, c = problem.masses, problem.c
        d, delta = self.between(tau)
        turn = np.repeat(c[~inside] * 2.0 * delta / (2.0 * d - delta), 2)
        turned = np.bincount(problem.edges[~inside].ravel(), turn, problem.n).astype(float)
        missed = masses * np.linalg.norm(dual_point(problem, flow) - self.C[labels], axis=1)
        inner = np.linalg.norm(flow[inside], axis=1)
        carried = np.bincount(problem.edges[inside].ravel(), np.repeat(inner, 2), problem.n)
        e = OWN * (
            _cluster_norms(missed + self.noise + self.unit * carried, labels)
            + _cluster_norms(masses, labels) * (self.radius + tau) / np.sqrt(self.small.masses)
            + _cluster_norms(turned, labels)
            + tau * np.sqrt(masses.max())
        )
        slack = c[inside] * (1.0 - roundings(flow.shape[1] + 8)) - inner
        for cluster, nodes, edges, own in _clusters(problem.edges[inside], slack, labels):
            room = absorbable(edges, own, nodes)
            if e[cluster] > room:
                return (
                    f"not certified: the cluster of sample {self.first[cluster]} is on the verge "
                    f"of splitting: its edges can absorb {room:.1e}, the demand is known to "
                    f"{e[cluster]:.1e}"
                )
        return ""


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

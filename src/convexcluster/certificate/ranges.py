"""For which γ are given labels exactly the clusters of the optimum: a range that can be checked.

Input are labels that anybody brings, with the inner products of their samples and a graph. Output:

- *necessary*: every cluster is connected; for every cut S ⊂ C_t
  ‖Σ_S m(φ − φ̄_t)‖ ≤ γ(w(S, C_t∖S) + Σ_s |w_S^(s) − m_S W_ts/m_t|), as the demands of S can leave it
  by no other way; γ < max_l δ_l of the reduced problem, from where on a component is one
  (:func:`~convexcluster.graph.gamma_range`). An empty range refutes the labels. Cuts are single
  samples, cells, and in clusters of moderate size both sides of the edges of a spanning tree.
- *sufficient*: Theorem 2 of :mod:`~convexcluster.certificate.proof`.
- *ends*: γ is moved from a proved one until Theorem 1 no longer holds, and the end is bisected. A
  partition may leave and come back between them, so that only the ends are claimed, unless they are
  those of the sufficient range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from ..graph import Graph, components
from ..numerics.laplacian import solve_laplacian
from ..partition import canonical, means
from ..problem import Floats, Ints, Problem, Solution
from .claims import interval, whole_at
from .proof import Proof
from .rounding import OWN
from .routing import Inside
from .space import Space, layout

# Samples of a cluster up to which the cuts of a spanning tree are looked at: n² inner products.
TREE_CUTS = 2_000

# Values of γ between the necessary ends at which labels without a sufficient range are tried. Half
# as many miss ranges of a factor of two that necessary ends three decades apart contain.
TRIED = 24

# Factor by which γ is moved away from a proved one before it is bisected.
FACTOR = 1.5


@dataclass(frozen=True, slots=True)
class Recovery:
    """For which γ labels are the clusters of the optimum.

    Attributes
    ----------
    gamma_low, gamma_high : float
        Ends at which the labels are proved (the upper one to a relative ``rel``; inf if clusters
        never meet); NaN if no γ was found.
    status : str
        "proved throughout", "certified at both ends", "refuted: …" or "not found: …".
    necessary : tuple of two floats
        No γ outside it has these clusters.
    sufficient : tuple of two floats or None
        All γ inside it, the upper end excluded, have them.
    blocking : str
        What keeps γ from being smaller, or refutes the labels: the cut, by its samples.
    """

    gamma_low: float
    gamma_high: float
    status: str
    necessary: tuple[float, float]
    sufficient: tuple[float, float] | None
    blocking: str


def recovery(
    problem: Problem,
    labels: Ints,
    *,
    near: float | None = None,
    rel: float = 1e-3,
    solve: Callable[[Problem], Solution] | None = None,
) -> Recovery:
    """For which γ the clusters of the optimum of ``problem`` are exactly ``labels``.

    Parameters
    ----------
    problem : Problem
        Its γ does not matter.
    labels : array-like of shape (n,)
        Whole numbers ≥ 0.
    near : float, optional
        A γ at which the labels are thought to be clusters.
    rel : float
        Relative width to which the ends are bisected.
    solve : callable, optional
        Solves a problem to a small gap: finds flows where corrections do not.

    Examples
    --------
    >>> chain = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0])
    >>> found = recovery(chain, [0, 0, 1])
    >>> found.status, round(found.gamma_low, 2), round(found.gamma_high, 2)
    ('proved throughout', 1.0, 5.67)
    >>> recovery(chain, [0, 1, 0]).status
    'refuted: the cluster of sample 0 is not connected in the graph'
    """
    graph = Graph(problem.edges, problem.weights)
    space = Space.of_coordinates(problem.Z)
    return recover(space, graph, problem.masses, labels, near=near, rel=rel, solve=solve)


def check_labels(labels: object, n: int) -> Ints:
    """Labels as canonical whole numbers, or a sentence about what is wrong with them."""
    found = np.asarray(labels)
    if found.shape != (n,):
        raise ValueError(f"labels must have shape ({n},), one for each sample: got {found.shape}")
    if found.dtype.kind not in "biuf" or not np.isfinite(found).all():
        raise ValueError("labels must be whole numbers ≥ 0")
    if (found < 0).any() or (found != np.floor(found)).any():
        raise ValueError("labels must be whole numbers ≥ 0")
    return canonical(found)


def recover(
    space: Space,
    graph: Graph,
    masses: Floats,
    labels: object,
    *,
    near: float | None = None,
    rel: float = 1e-3,
    solve: Callable[[Problem], Solution] | None = None,
) -> Recovery:
    """:func:`recovery` for inner products on demand."""
    found = check_labels(labels, len(masses))
    at = layout(graph.edges, found)
    if at is None:
        inside = found[graph.edges[:, 0]] == found[graph.edges[:, 1]]
        apart = components(graph.edges[inside], len(found)) != found
        lost = int(np.flatnonzero(found == found[np.flatnonzero(apart)[0]])[0])
        why = f"the cluster of sample {lost} is not connected in the graph"
        return Recovery(np.nan, np.nan, f"refuted: {why}", (np.inf, 0.0), None, why)
    proof = Proof(space, graph.edges, graph.weights, masses, found, at)
    low, blocking = _cuts(proof)
    need = low, _joined(proof)
    if need[0] >= need[1]:
        why = f"refuted: it would need γ ≥ {need[0]:.4g} and γ < {need[1]:.4g}"
        return Recovery(np.nan, np.nan, why, need, None, blocking)
    sure = interval(proof)
    enough = sure if sure[0] < sure[1] else None

    def holds(gamma: float) -> bool:
        if enough is not None and enough[0] <= gamma < enough[1]:
            return True
        state = proof.state(gamma)
        return state is not None and state[0].differ and whole_at(proof, state[0], solve)

    start = _start(near, enough, need, holds)
    if start is None:
        why = f"not found: at none of {TRIED} γ between the necessary ends"
        return Recovery(np.nan, np.nan, why, need, enough, blocking)
    if enough is not None and enough[0] == 0:
        first = 0.0
    else:
        first = _end(holds, start if enough is None else enough[0], 1.0 / FACTOR, rel)
    last = np.inf if not len(proof.pairs) else _end(holds, start, FACTOR, rel)
    if enough is not None and last < enough[1]:
        last = enough[1]
    whole = enough is not None and first >= enough[0] * (1 - rel) and last <= enough[1] * (1 + rel)
    if whole and enough is not None:
        first, last = enough
    status = "proved throughout" if whole else "certified at both ends"
    return Recovery(first, last, status, need, enough, blocking)


def _start(
    near: float | None,
    enough: tuple[float, float] | None,
    need: tuple[float, float],
    holds: Callable[[float], bool],
) -> float | None:
    """A γ at which the labels are proved."""
    if near is not None and near > 0 and holds(near):
        return near
    if enough is not None:
        low, high = enough
        return float(np.sqrt(low * min(high, 100.0 * low))) if low > 0 else 0.5 * min(high, 1.0)
    low, high = need
    high = high if np.isfinite(high) else 1e3 * max(low, 1e-300)
    tries = np.geomspace(max(low, 1e-6 * high), high, TRIED + 2)[1:-1]
    return next((float(gamma) for gamma in tries if holds(float(gamma))), None)


def _end(holds: Callable[[float], bool], start: float, factor: float, rel: float) -> float:
    """The furthest γ in the direction of ``factor`` at which the labels are proved."""
    good, bad = start, start * factor
    while holds(bad):
        good, bad = bad, bad * factor
        if not 1e-9 < bad / start < 1e9:
            return 0.0 if factor < 1 else np.inf
    while max(good, bad) / min(good, bad) > 1.0 + rel:
        middle = float(np.sqrt(good * bad))
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _cuts(proof: Proof) -> tuple[float, str]:
    """The least γ that every cut allows, from below, and the cut that asks for the most."""
    least, blocking = 0.0, "nothing"
    for flow in proof.flows:
        own = flow.inside
        if own.n == 1:
            continue
        total = float(own.masses.sum())
        E = own.pull - own.masses[:, None] / total * own.pull.sum(axis=0)
        for kind, S, square, size in _sides(proof, own):
            demand = np.sqrt(np.maximum(square - OWN * flow.noise * size**2, 0.0))
            i, j = own.edges.T
            cut = np.abs(S[:, i] - S[:, j]) @ own.w + np.abs(S @ E).sum(axis=1)
            price = demand / (cut * (1.0 + 1e-9))
            worst = int(np.argmax(price))
            if price[worst] > least:
                least = float(price[worst])
                part = own.samples[np.asarray(S[worst]).ravel() > 0]
                named = f"sample {part[0]}" if len(part) == 1 else f"{len(part)} samples"
                blocking = f"{kind}: {named} of the cluster of sample {own.samples.min()}"
    return least, blocking


def _sides(proof: Proof, own: Inside) -> list[tuple[str, Floats, Floats, Floats]]:
    """(kind, rows of cuts, ‖Σ_S b‖², Σ_S ‖b‖ at most) of one cluster.

    Cuts come a block of rows at a time; a cluster beyond TREE_CUTS has single samples and cells.
    """
    m, total = own.masses, float(own.masses.sum())
    beta = m * (own.sizes + float(m @ own.sizes) / total)
    if own.n <= TREE_CUTS:
        K = proof.space.gram(own.samples, own.samples)
        mean = K @ m / total
        G = m[:, None] * (K - mean[:, None] - mean + float(m @ mean) / total) * m
        S = np.vstack([np.eye(own.n), _subtrees(own)])
        return [("a cut", S, np.einsum("si,si->s", S @ G, S), S @ beta)]
    first = own.starts[:-1]
    mass = np.add.reduceat(m, first)
    mean = own.sums.sum(axis=1) / total
    column = np.add.reduceat(m * mean, first)
    inner = own.sums - mean[:, None] * mass - (column - column.sum() / total * mass)
    square = np.diag(np.add.reduceat(m[:, None] * inner, first, axis=0))
    S = np.zeros((len(first), own.n))
    S[own.cell, np.arange(own.n)] = 1.0
    return [("a cell", S, square, np.add.reduceat(beta, first))]


def _subtrees(own: Inside) -> Floats:
    """Samples below every edge of the spanning tree of largest weights, one row each."""
    i, j = own.edges.T
    tree = minimum_spanning_tree(csr_array((1.0 / own.w, (i, j)), shape=(own.n, own.n)))
    order, parent = breadth_first_order(tree, 0, directed=False)
    below = np.eye(own.n)
    for v in order[:0:-1]:
        below[parent[v]] += below[v]
    return below[order[1:]]


def _joined(proof: Proof) -> float:
    """A γ from which on some component of the reduced problem is one cluster; inf if none is."""
    if not len(proof.pairs):
        return np.inf
    part = components(proof.pairs, proof.k)
    b = proof.mass[:, None] * (proof.centers - means(proof.centers, proof.mass, part)[part])
    try:
        Y = solve_laplacian(proof.pairs, proof.between, b, part)
    except RuntimeError:  # weights span more decades than arithmetic has
        return np.inf
    s, t = proof.pairs.T
    d = np.linalg.norm(Y[s] - Y[t], axis=1)
    tops = [float(d[part[s] == q].max()) for q in np.unique(part[s])]
    return min(tops) * (1.0 + 1e-6)

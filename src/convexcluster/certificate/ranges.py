"""For which γ are given labels exactly the clusters of the optimum: a range that can be checked.

Input are labels that anybody brings, with the inner products of their samples and a graph. Output:

- *necessary*: every cluster is connected; for every cut S ⊂ C_t
  ‖Σ_S m(φ − φ̄_t)‖ ≤ γ(w(S, C_t∖S) + Σ_s |w_S^(s) − m_S W_ts/m_t|), as the demands of S can leave it
  by no other way; γ < max_l δ_l of the reduced problem, from where on a component is one
  (:func:`~convexcluster.graph.gamma_range`). An empty range refutes the labels. Cuts are single
  samples and what lies below each edge of a spanning tree; of very large clusters, cells.
- *sufficient*: Theorem 2 of :mod:`~convexcluster.certificate.proof`, with the best conductances.
- *ends*: bisected between a γ at which Theorem 1 holds and the necessary end. A partition may leave
  and come back between them, so that only the ends are claimed, unless they are those of the
  sufficient range.
- *inside*: states whose reach in γ (:mod:`~convexcluster.certificate.margins`) overlaps widen the
  sufficient range, from one hundredth inside one end to one hundredth inside the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import depth_first_order

from ..graph import Graph, components, spanning_tree
from ..numerics.laplacian import solve_laplacian
from ..numerics.parameters import Rules, check_parameters, is_positive
from ..partition import check_labels, means, ranks
from ..problem import Floats, Ints, Problem, Solution
from .claims import interval
from .explicit import hold
from .layout import layout
from .levels import Inside
from .margins import reach
from .proof import Proof, State
from .rounding import OWN, roundings
from .space import Space

# Samples of a cluster up to which the cuts of a spanning tree are looked at: n² inner products, ten
# seconds for so many. Without them the necessary end is a tenth of what it could be.
TREE_CUTS = 20_000

# Rows of inner products, and cuts, at a time: 256 × 20,000 numbers are 40 megabytes.
BLOCK = 256

# Values of γ between the necessary ends at which labels without a sufficient range are tried. Half
# as many miss ranges of a factor of two that necessary ends three decades apart contain.
TRIED = 24

# Factor by which γ is moved away from a proved one before it is bisected, if the necessary end is
# further away.
FACTOR = 1.5

# Corrected flows of a cluster of n samples cost n³; so much is spent on them, some fifteen seconds.
# Half: the end of moons of 2,000 is 3 % from the necessary one instead of 1 %.
WORK = 8e9

# A lower end further above the necessary one than this share is due to the proof, not to the cut.
TIGHT = 0.05

# How near to its ends, relatively, the inside is covered: reach is zero at an end.
NEAR = 0.01

# States of a cover at most on either side, and the least reach worth a state. With ten times as
# much the cover of wine ends three hundredths before the γ at which two clusters meet.
STATES, LEAST_REACH = 200, 1e-4


RULES: Rules = {
    "near": (lambda v: v is None or is_positive(v), "a number > 0, or None"),
    "rel": (lambda v: is_positive(v) and 1e-9 <= v < 1, "a number from 1e-9 to 1"),
}


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
        All γ inside it, the upper end excluded, have them; ``inside=True`` widens it.
    blocking : str
        What keeps γ from being smaller, or refutes the labels: the cut, by its samples, or the
        cluster that is not proved; and the pair of clusters, or the cluster, that keeps γ from
        being larger.
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
    inside: bool = False,
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
    inside : bool
        Whether to prove all γ between the ends as well, up to a hundredth inside each of them.
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
    m = problem.masses
    return recover(space, graph, m, labels, near=near, rel=rel, inside=inside, solve=solve)


def recover(
    space: Space,
    graph: Graph,
    masses: Floats,
    labels: object,
    *,
    near: float | None = None,
    rel: float = 1e-3,
    inside: bool = False,
    solve: Callable[[Problem], Solution] | None = None,
) -> Recovery:
    """:func:`recovery` for inner products on demand."""
    check_parameters(RULES, {"near": near, "rel": rel})
    found = check_labels(labels, len(masses))
    at = layout(graph.edges, found)
    if at is None:
        own = found[graph.edges[:, 0]] == found[graph.edges[:, 1]]
        apart = components(graph.edges[own], len(found)) != found
        lost = int(np.flatnonzero(found == found[np.flatnonzero(apart)[0]])[0])
        why = f"the cluster of sample {lost} is not connected in the graph"
        return Recovery(np.nan, np.nan, f"refuted: {why}", (np.inf, 0.0), None, why)
    proof = Proof(space, graph.edges, graph.weights, masses, found, at)
    low, blocking = _cuts(proof)
    need = low, _joined(proof)
    if need[0] >= need[1]:
        why = f"refuted: it would need γ ≥ {need[0]:.4g} and γ < {need[1]:.4g}"
        return Recovery(np.nan, np.nan, why, need, None, blocking)
    search = _Search(proof, need, solve)
    start = search.start(near)
    if start is None:
        why = f"not found: at none of {TRIED} γ between the necessary ends"
        return Recovery(np.nan, np.nan, why, need, search.enough, blocking)
    enough = search.enough
    first = 0.0 if enough is not None and enough[0] == 0 else search.end(start, 0, rel)
    if first > (1.0 + TIGHT) * need[0]:
        blocking += f", and below {first:.4g} {search.loose()}"
    last = np.inf if not len(proof.pairs) else search.end(start, 1, rel)
    blocking += search.above(last, rel)
    if inside:
        enough = search.cover(start, first * (1.0 + NEAR), last * (1.0 - NEAR))
    near_ends = NEAR * (1.0 + 1e-9) if inside else rel
    whole = (
        enough is not None
        and enough[0] <= first * (1.0 + near_ends)
        and enough[1] >= last * (1.0 - near_ends)
    )
    if whole and enough is not None:
        first, last = enough
    status = "proved throughout" if whole else "certified at both ends"
    return Recovery(first, last, status, need, enough, blocking)


class _Search:
    """The γ at which labels are the clusters of the optimum, by Theorem 1 at one after another.

    Attributes
    ----------
    enough : tuple of two floats or None
        The sufficient range.
    """

    def __init__(
        self,
        proof: Proof,
        need: tuple[float, float],
        solve: Callable[[Problem], Solution] | None,
    ) -> None:
        self.proof, self.need, self.solve = proof, need, solve
        for t in range(proof.k):
            proof.tighten(t, need[0])
        sure = interval(proof)
        self.enough = sure if sure[0] < sure[1] else None
        self.first = int(np.argmax(proof.gammas))  # the cluster to ask first
        self.work = WORK
        self.known: dict[float, Floats] = {}  # γ and the reduced optimum there

    def state(self, gamma: float) -> State | None:
        """The reduced optimum at γ, from that of the nearest γ at which it was known, or afresh."""
        near = min(self.known, key=lambda g: abs(np.log(g / gamma)), default=None)
        for start in [None] if near is None else [self.known[near], None]:
            found = self.proof.state(gamma, start)
            if found is not None and found[0].differ:
                self.known[gamma] = found[1]
                return found[0]
        return None

    def holds(self, gamma: float, corrected: bool = True) -> bool:
        """Whether the labels are proved at γ, by electrical flows or also by corrected ones."""
        if self.enough is not None and self.enough[0] <= gamma < self.enough[1]:
            return True
        if not self.need[0] <= gamma < self.need[1]:
            return False
        found = self.state(gamma)
        if found is None:
            return False
        for t in np.argsort(np.arange(self.proof.k) != self.first, kind="stable").tolist():
            if not self._whole(t, found, corrected):
                self.first = t
                return False
        return True

    def _whole(self, t: int, state: State, corrected: bool) -> bool:
        if self.proof.fits(t, state):
            return True
        cost = float(self.proof.flows[t].inside.n) ** 3
        if not corrected or cost > self.work:
            return False
        self.work -= cost
        found, turn = hold(self.proof, t, state, self.solve), self.proof.directions(t, state)[2]
        return found is not None and found.holds(self.proof, t, state.gamma, turn)

    def start(self, near: float | None) -> float | None:
        """A γ at which the labels are proved."""
        if near is not None and self.holds(near):
            return near
        if self.enough is not None:
            low, high = self.enough
            return float(np.sqrt(low * min(high, 100.0 * low))) if low > 0 else 0.5 * min(high, 1.0)
        low, high = self.need
        high = high if np.isfinite(high) else 1e3 * max(low, 1e-300)
        tries = np.geomspace(max(low, 1e-6 * high), high, TRIED + 2)[1:-1]
        return next((float(gamma) for gamma in tries if self.holds(float(gamma))), None)

    def end(self, start: float, side: int, rel: float) -> float:
        """The furthest γ below (side 0) or above ``start`` at which the labels are proved."""
        good, bad = start, self.need[side]
        if self.enough is not None and self.enough[0] <= start < self.enough[1]:
            good = self.enough[side]
        if good == np.inf:
            return good
        if bad == 0.0 or bad == np.inf:
            factor = FACTOR if side else 1.0 / FACTOR
            bad = good * factor
            while self.holds(bad):
                good, bad = bad, bad * factor
                if not 1e-9 < bad / start < 1e9:
                    return np.inf if side else 0.0
        for corrected in False, True:
            far = bad
            while max(good, far) > (1.0 + rel) * min(good, far):
                middle = float(np.sqrt(good * far))
                good, far = (middle, far) if self.holds(middle, corrected) else (good, middle)
        return good

    def cover(self, start: float, low: float, high: float) -> tuple[float, float] | None:
        """The sufficient range, widened towards ``low`` and ``high`` by states that overlap."""
        ends = list(self.enough or (start, start))
        for side, goal in enumerate((low, high)):
            for _ in range(STATES):
                gamma, far = ends[side], (ends[side] - goal) * (1 - 2 * side) <= 0
                state = None if far or not np.isfinite(gamma) else self.state(gamma)
                if state is None:
                    break
                size = reach(self.proof, state, self.solve)
                if size < LEAST_REACH:
                    break
                ends[side] = gamma * (1.0 + (2 * side - 1) * 0.999 * size)
        return (ends[0], ends[1]) if ends[0] < ends[1] else None

    def loose(self) -> str:
        """Which cluster failed last."""
        return f"the cluster of sample {self._named(self.first)} is not proved to be whole"

    def above(self, last: float, rel: float) -> str:
        """What keeps γ from being larger, as the end of a sentence."""
        if not 0 < last < np.inf:
            return ""
        if self.state(last * (1.0 + 2.0 * rel)) is not None:
            return f"; above {last:.4g} {self.loose()}"
        state = self.state(last * (1.0 - rel)) or self.state(last * (1.0 - NEAR))
        if state is None:
            return ""
        s, t = self.proof.pairs[int(np.argmin(state.apart / self.proof.pull))]
        a, b = sorted(map(self._named, (s, t)))
        return f"; above: the clusters of samples {a} and {b} meet"

    def _named(self, t: int) -> int:
        """The first sample of a cluster, which stands for it in sentences."""
        return int(self.proof.flows[t].inside.samples.min())


def _cuts(proof: Proof) -> tuple[float, str]:
    """The least γ that every cut allows, from below, and the cut that asks for the most."""
    least, blocking = 0.0, "nothing"
    for flow in proof.flows:
        own = flow.inside
        if own.n == 1:
            continue
        sides = _subtrees(proof, own) if own.n <= TREE_CUTS else _cells(own)
        demand = np.sqrt(np.maximum(sides.square - OWN * flow.noise * sides.size**2, 0.0))
        price = demand / (sides.cut * (1.0 + 1e-9))
        worst = int(np.argmax(price))
        if price[worst] > least:
            least, part = float(price[worst]), sides.members(worst)
            named = f"sample {part[0]}" if len(part) == 1 else f"{len(part)} samples"
            blocking = f"a cut: {named} of the cluster of sample {own.samples.min()}"
    return least, blocking


@dataclass(frozen=True, slots=True)
class _Sides:
    """Cuts of one cluster.

    Attributes
    ----------
    square : ndarray
        ‖Σ_S b‖².
    size : ndarray
        What rounding is relative to: Σ_i ‖b_i‖ at most over all that was summed.
    cut : ndarray
        w(S, C∖S) + Σ_s |w_S^(s) − m_S W_s/m|.
    members : callable
        Samples of a cut.
    """

    square: Floats
    size: Floats
    cut: Floats
    members: Callable[[int], Ints]


def _lengths(own: Inside) -> Floats:
    """≥ ‖b_i‖."""
    return own.masses * (own.sizes + float(own.masses @ own.sizes) / float(own.masses.sum()))


def _unbalanced(own: Inside) -> Floats:
    """w_i^(s) − m_i W_s/m, shape (n, q)."""
    return own.pull - own.masses[:, None] / float(own.masses.sum()) * own.pull.sum(axis=0)


def _cells(own: Inside) -> _Sides:
    """Cells as cuts, from sums that are there."""
    m, first, total, mean = own.masses, own.starts[:-1], float(own.masses.sum()), own.mean
    mass, column = own.by_cell(m), own.by_cell(m * mean)
    local = own.cell - np.repeat(own.bounds[:-1], np.diff(own.starts[own.bounds]))
    parts = np.split(local, own.starts[own.bounds[1:-1]])
    table = np.concatenate([Q[np.arange(len(Q)), at] for Q, at in zip(own.sums, parts)])
    inner = table - mean * mass[own.cell] - (column - column.sum() / total * mass)[own.cell]
    square = own.by_cell(m * inner)
    i, j = own.cell[own.edges].T
    across = np.bincount(np.concatenate([i, j]), np.tile(own.w * (i != j), 2), len(first))
    across = across + np.abs(np.add.reduceat(_unbalanced(own), first, axis=0)).sum(axis=1)
    size = np.add.reduceat(_lengths(own), first)
    return _Sides(square, size, across, lambda g: own.samples[own.cell == g])


def _subtrees(proof: Proof, own: Inside) -> _Sides:
    """Single samples, and what lies below each edge of the spanning tree of largest weights.

    In the order of a walk through the tree all that lies below an edge is an interval [a, b), and
    sums over it are differences of running sums.
    """
    tree = spanning_tree(own.edges, 1.0 / own.w, own.n)
    walk, parent = depth_first_order(tree, 0, directed=False)
    order = walk.astype(np.int64)
    place, count = ranks(order), np.ones(own.n, dtype=np.int64)
    for v in order[:0:-1]:
        count[parent[v]] += count[v]
    a = np.concatenate([np.arange(own.n), np.arange(1, own.n)])
    b = a + np.concatenate([np.ones(own.n, dtype=np.int64), count[order[1:]]])
    m, total, lengths = own.masses[order], float(own.masses.sum()), _lengths(own)[order]
    mean = own.mean[order]
    E = np.vstack([np.zeros(own.pull.shape[1]), np.cumsum(_unbalanced(own)[order], axis=0)])
    p, q = np.sort(place[own.edges], axis=1).T
    square, cut = np.zeros(len(a)), np.abs(E[b] - E[a]).sum(axis=1)
    at = own.samples[order]
    for r in range(0, own.n, BLOCK):
        some = slice(r, min(r + BLOCK, own.n))
        G = proof.space.gram(at[some], at) - mean - mean[some, None] + float(m @ mean) / total
        G *= m[some, None] * m
        square[some] = np.diagonal(G, r)
        sums = np.zeros((len(G) + 1, own.n + 1))
        sums[1:, 1:] = np.cumsum(np.cumsum(G, axis=0), axis=1)
        up, down = (np.clip(end[own.n :] - r, 0, len(G)) for end in (a, b))
        x, y = a[own.n :], b[own.n :]
        square[own.n :] += sums[down, y] - sums[down, x] - sums[up, y] + sums[up, x]
    for r in range(0, len(a), BLOCK):
        low, high = a[r : r + BLOCK, None], b[r : r + BLOCK, None]
        one = ((low <= p) & (p < high)) != ((low <= q) & (q < high))
        cut[r : r + BLOCK] += one @ own.w
    # a difference of running sums is as good as all of them; n of G and n² of them are added up
    whole = float(lengths.sum()) * np.sqrt(1.0 + float(roundings(4 * own.n)) / proof.noise)
    size = np.concatenate([lengths, np.full(own.n - 1, whole)])
    return _Sides(square, size, cut, lambda s: at[a[s] : b[s]])


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

"""Proofs that labels are the clusters of the optimum, in the full space of a kernel.

Input are inner products on demand, a graph, masses and labels whose clusters C_t are connected.
No embedding takes part, so that nothing is lost to its rank. With masses m_t, means φ̄_t,
W_ts = Σ w_ij between C_t and C_s, w_is = Σ_{j∈C_s} w_ij, and c the optimum of the reduced problem,
the flow inside C_t has to meet

    b_i = m_i(φ_i − c_t) − γ Σ_s w_is v_ts = m_i(φ_i − φ̄_t) + γ Σ_s e^ts_i v_ts,
    e^ts_i = (m_i/m_t) W_ts − w_is,

where v_ts = (c_t − c_s)/‖c_t − c_s‖, or some v_ts = −v_st with ‖v_ts‖ ≤ 1 if c_t = c_s: optimality
of the reduced problem is m_t(φ̄_t − c_t) = γ Σ_s W_ts v_ts. Let N_l be the length of a flow on edge
l that meets the vectors m_i(φ_i − φ̄_t), and f^ts_l a flow that meets the scalars e^ts.

*Theorem 1 (one γ).* If ‖λ_l‖ ≤ γw_l, λ_l = (flow of the vectors)_l + γ Σ_s f^ts_l v_ts, on all
edges inside clusters, and adjacent c_t differ, then the clusters of A*(γ) are the C_t: the
conditions of optimality hold.

*Theorem 2 (an interval).* With γ_t = max_l N_l/(w_l − Σ_s |f^ts_l|), ∞ if a denominator is not
positive: for every γ ≥ max_t γ_t the clusters of A*(γ) are unions of the C_t, since ‖v‖ ≤ 1; they
are the C_t as long as adjacent c_t differ. These do

- for γ < min_{s~t} ‖φ̄_s − φ̄_t‖/(W_s/m_s + W_t/m_t), W_t = Σ_s W_ts, as ‖c_t − φ̄_t‖ ≤ γW_t/m_t;
- for γ' with |γ'/γ − 1|·‖c(γ) − φ̄‖_M √(1/m_s + 1/m_t) < ‖c_s(γ) − c_t(γ)‖, since the gradient of
  the reduced problem of γ' at c(γ) is (γ'/γ − 1)M(φ̄ − c(γ)): states that overlap cover more.

*Theorem 3 (one cluster alone).* Theorem 2 for C_t and single samples around it: from that γ on
the samples of C_t have one centroid, whatever the other labels are.

*Theorem 4 (the radius of what is not proved).* Clip λ to its capacity and let o_i = Σ_{l∋i}
(‖λ_l‖ − γw_l)₊. The duality gap of A = c_t is at most ½ Σ o_i²/m_i + ½R², R = ‖∇F_red(c)‖_{M⁻¹}.

Reference for the flows: :mod:`~convexcluster.certificate.routing`. Sun, Toh and Yuan, J. Mach.
Learn. Res. 22, 2021, have Theorem 2 for complete clusters of equal weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import quotient
from ..numerics.progress import reports
from ..numerics.threads import each
from ..partition import ranks
from ..problem import Floats, Ints, Problem
from .layout import Layout
from .levels import Inside
from .reduced import dense_newton, meeting, newton
from .rounding import OWN, roundings
from .routing import Flows, bounded, route_cluster
from .space import PASS, THREADED, Space, Sums, sums

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class State:
    """The reduced optimum at one γ, as far as floats know it.

    Attributes
    ----------
    gamma : float
    beta : ndarray of shape (k, k)
        The point c_t = Σ_s β_ts φ̄_s near the optimum.
    radius : float
        R ≥ ‖c − c*‖_M.
    apart : ndarray of shape (e,)
        ‖c_s − c_t‖ of every edge of the reduced graph, from below.
    doubt : ndarray of shape (e,)
        How much of it the optimum may lack, R√(1/m_s + 1/m_t).
    blur : ndarray of shape (e,)
        How far directions of floats are from those of c.
    moved : float
        ‖c − φ̄‖_M, from above.
    """

    gamma: float
    beta: Floats
    radius: float
    apart: Floats
    doubt: Floats
    blur: Floats
    moved: float

    @property
    def differ(self) -> bool:
        """Whether adjacent clusters of the optimum differ for certain."""
        return bool((self.apart > self.doubt).all())

    def reach(self, pull: Floats) -> float:
        """ε such that adjacent clusters differ for all γ' from γ(1 − ε) to γ(1 + ε).

        ``pull`` are the √(1/m_s + 1/m_t).
        """
        if not len(self.apart):
            return np.inf
        room = float((self.apart / pull).min()) / OWN - self.radius
        moved = self.moved + self.radius
        return max(room, 0.0) / moved / OWN if moved > 0 else np.inf

    def turn(self, doubt: Floats) -> Floats:
        """How far directions of the optimum may be from those of floats, per edge; inf if unknown.

        ‖u − u*‖ ≤ 2δ/(2d − δ) (Dunkl and Williams), δ = ``doubt`` (e,).
        """
        known = self.apart > doubt
        least = np.where(known, 2.0 * self.apart - doubt, 1.0)
        return np.where(known, OWN * (2.0 * doubt / least + self.blur), np.inf)


class Proof:
    """What can be proved about labels, from sums of K that are made once.

    Parameters
    ----------
    space : Space
    edges, weights : ndarrays of shape (m, 2) and (m,)
    masses : ndarray of shape (n,)
    labels : ndarray of shape (n,)
        Numbered 0, 1, …
    at : Layout
        Of these edges and labels; there is one if the labels are connected.
    jobs : int
        Threads, for clusters side by side.

    Attributes
    ----------
    insides : list of Inside
        One for each label.
    flows : list of Flows
        One for each label, routed when they are first asked for: cores have flows of their own.
    gammas : ndarray of shape (k,)
        γ_t of Theorem 2.
    """

    def __init__(
        self,
        space: Space,
        edges: Ints,
        weights: Floats,
        masses: Floats,
        labels: Ints,
        at: Layout,
        jobs: int = 1,
    ) -> None:
        self.space, self.at, self.weights = space, at, weights
        self.jobs = jobs if len(masses) >= THREADED else 1
        self.k = len(at.cells) - 1
        self.masses, self.sizes = masses[at.order], space.sizes[at.order]
        self.sums: Sums = sums(space, self.masses, at, jobs)
        self._means()
        graph = quotient(edges, weights, labels)
        self.pairs, self.between = graph.edges, graph.weights
        s, t = self.pairs.T
        self.pull = np.sqrt(1.0 / self.mass[s] + 1.0 / self.mass[t])
        self._sort_edges()
        self.insides: list[Inside] = [self.inside(t) for t in range(self.k)]

    @cached_property
    def flows(self) -> list[Flows]:
        """The flows of every label, of conductances that are the weights at first."""
        return self.each(lambda t: self.route(self.insides[t]))

    def each(self, task: Callable[[int], Any], before: float = PASS) -> list[Any]:
        """``task(t)`` of every cluster t, the largest first, on the threads of the proof.

        ``before`` is the share of the proof that is done, about, for the bar.
        """
        sizes = np.diff(self.at.places)
        order, told = np.argsort(-sizes, kind="stable"), reports("proof")
        ends = np.cumsum(sizes[order]) / sizes.sum()

        def counted(place: int) -> Any:
            out = task(int(order[place]))
            told(before + (1.0 - before) * float(ends[place]))
            return out

        found = each(counted, range(self.k), self.jobs)
        return [found[place] for place in ranks(order)]

    @property
    def gammas(self) -> Floats:
        """γ_t of Theorem 2, shape (k,)."""
        return np.array([flow.gamma for flow in self.flows])

    def _means(self) -> None:
        """The Gram matrix of the means, right to ``noise`` · s̄_s s̄_t."""
        at, cell = self.at, self.at.starts[:-1]

        def by_label(values: Floats) -> Floats:
            return np.add.reduceat(np.add.reduceat(values, cell, axis=0), at.cells[:-1], axis=0)

        self.mass = by_label(self.masses)
        self.size = by_label(self.masses * self.sizes) / self.mass  # s̄_t ≥ ‖φ̄_t‖
        G = by_label(self.masses[:, None] * self.sums.of_label) / np.outer(self.mass, self.mass)
        self.G = (G + G.T) / 2.0
        steps = 2 * int(np.diff(at.starts).max()) + 2 * len(at.starts) + 4 * self.k + 60
        self.noise = OWN * (self.sums.noise + float(roundings(steps)))

    @cached_property
    def centers(self) -> Floats:
        """Coordinates of the means, shape (k, r), in which Newton's method starts."""
        mean = self.mass @ self.G / self.mass.sum()
        centred = self.G - mean - mean[:, None] + self.mass @ mean / self.mass.sum()
        values, axes = np.linalg.eigh(centred)
        keep = values > 1e-14 * max(float(values[-1]), 0.0)
        keep[-1] = True
        return axes[:, keep] * np.sqrt(np.maximum(values[keep], 0.0))

    def _sort_edges(self) -> None:
        """Edges inside each label, and both directions of the edges between labels, by label."""
        at = self.at
        own = np.flatnonzero(at.inside)
        home = at.label[at.edges[own, 0]]
        self._own = own[np.argsort(home, kind="stable")]
        self._own_start = np.searchsorted(np.sort(home), np.arange(self.k + 1))
        across = np.flatnonzero(~at.inside)
        i, j = at.edges[across].T
        here, there = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.argsort(at.label[here], kind="stable")
        self._here, self._there = here[order], there[order]
        self._cross = np.tile(across, 2)[order]
        self._cross_start = np.searchsorted(at.label[self._here], np.arange(self.k + 1))

    def inside(self, t: int, alone: bool = False) -> Inside:
        """The cluster t; around it are labels, or single samples if ``alone``."""
        at = self.at
        a, b = (int(x) for x in at.places[t : t + 2])
        c, d = (int(x) for x in at.cells[t : t + 2])
        p, q = (int(x) for x in at.districts[t : t + 2])
        own = self._own[self._own_start[t] : self._own_start[t + 1]]
        part = slice(self._cross_start[t], self._cross_start[t + 1])
        there = self._there[part] if alone else at.label[self._there[part]]
        near, column = np.unique(there, return_inverse=True)
        flat = (self._here[part] - a) * len(near) + column
        pull = np.bincount(flat, self.weights[self._cross[part]], (b - a) * len(near))
        return Inside(
            own=own,
            edges=at.edges[own] - a,
            w=self.weights[own],
            samples=at.order[a:b],
            masses=self.masses[a:b],
            sizes=self.sizes[a:b],
            sums=tuple(self.sums.own[p:q]),
            wide=self.sums.wide[t],
            cell=at.cell[a:b] - c,
            starts=at.starts[c : d + 1] - a,
            bounds=at.bounds[p : q + 1] - c,
            noise=self.sums.noise,
            near=near,
            pull=pull.reshape(b - a, len(near)).astype(np.float64),
            crossing=len(there),
        )

    def route(self, own: Inside, kappa: Floats | None = None) -> Flows:
        """The flows of a cluster; conductances are its weights by default."""
        if own.n == 1:
            return Flows.of_one(own)
        return route_cluster(self.space, own, own.w if kappa is None else kappa)

    def alone(self, t: int) -> float:
        """The γ from which on cluster t is one whatever the other samples do (Theorem 3)."""
        if len(self.insides[t].masses) == 1:
            return 0.0
        routed = "flows" in self.__dict__  # else conductances are the weights still
        kappa = self.flows[t].kappa if routed else None
        return self.route(self.inside(t, alone=True), kappa).gamma

    def tighten(self, t: int, goal: float) -> None:
        """Lower γ_t by lowering conductances where the flow is dearest, down to ``goal``."""
        best = now = self.flows[t]
        for _ in range(ROUNDS):
            if best.gamma <= goal:
                break
            w = now.inside.w
            dear = now.length / np.maximum(w - now.turned, LEAST_ROOM * w)
            if not np.isfinite(dear).all() or not dear.any():
                break
            kappa = now.kappa / np.maximum(dear / (DEAR * dear.max()), 1.0)
            now = self.route(now.inside, kappa)
            if now.gamma < best.gamma:
                best = now
        self.flows[t] = best

    def from_centroids(self, A: Floats, gamma: float) -> Floats | None:
        """A start for :meth:`state` from centroids (k, r) of another embedding; None if some meet.

        They tell how far clusters are apart, and so the weights q of the majorised problem.
        """
        if self.k > MOST:
            return None
        small = Problem(self.centers, self.pairs, self.between, gamma, self.mass)
        if not len(self.pairs) or meeting(small, A):
            return None
        s, t = self.pairs.T
        system = _system(small, small.c / np.linalg.norm(A[s] - A[t], axis=1))
        return np.asarray(np.linalg.solve(system, self.mass[:, None] * self.centers))

    def apart_below(self) -> float:
        """The closed form of Theorem 2: all γ below it keep adjacent clusters apart."""
        s, t = self.pairs.T
        if not len(s):
            return np.inf
        square = self.G[s, s] + self.G[t, t] - 2.0 * self.G[s, t]
        square -= OWN * self.noise * (self.size[s] + self.size[t]) ** 2
        total = np.bincount(self.pairs.ravel(), np.repeat(self.between, 2), self.k) / self.mass
        steps = roundings(self.k + len(self.weights) + 20)
        least = np.sqrt(np.maximum(square, 0.0)) / (total[s] + total[t])
        return float(least.min() * (1.0 - steps))

    def state(self, gamma: float, start: Floats | None = None) -> tuple[State, Floats] | None:
        """The reduced optimum at γ, and its coordinates; None if adjacent clusters meet.

        None, too, if there are more than ``MOST`` clusters.
        """
        if self.k > MOST:
            return None
        small = Problem(self.centers, self.pairs, self.between, gamma, self.mass)
        try:
            begin = _majorised(small, self.centers) if start is None else start
            C = (dense_newton if begin.size <= DENSE else newton)(small, begin)
        except np.linalg.LinAlgError:  # masses vanish beside weights
            return None
        if C is None:
            return None
        s, t = self.pairs.T
        d = np.linalg.norm(C[s] - C[t], axis=1)
        beta: Floats = np.linalg.inv(_system(small, gamma * self.between / d)) * self.mass
        step = beta[s] - beta[t]  # c_s − c_t in terms of the means
        size = np.abs(step) @ self.size
        square = np.einsum("lr,lr->l", step @ self.G, step)
        error = OWN * self.noise * size**2
        low = np.sqrt(np.maximum(square - error, 0.0))
        if len(low) and not (low > 0).all():
            return None
        blur = 1.0 - low / np.sqrt(bounded(square, error)) + roundings(8)
        u = step / np.sqrt(square)[:, None]
        pull = gamma * self.between
        g = self.mass[:, None] * (beta - np.eye(self.k))
        np.add.at(g, s, pull[:, None] * u)
        np.add.at(g, t, -pull[:, None] * u)
        # coefficients of the gradient are sums of so many terms, and these of masses and weights
        terms = self.mass[:, None] * (np.abs(beta) + np.eye(self.k))
        np.add.at(terms, s, pull[:, None] * np.abs(u))
        np.add.at(terms, t, pull[:, None] * np.abs(u))
        degree = np.bincount(self.pairs.ravel(), minlength=self.k)
        steps = int(np.diff(self.at.starts).max()) + len(self.at.starts) + len(self._cross) + 20
        lost = roundings(degree + steps) * (terms @ self.size)
        lost += np.bincount(self.pairs.ravel(), np.repeat(pull * blur, 2), self.k)
        grad = np.sqrt(self._squares(g)) + OWN * lost
        radius = OWN * float(np.sqrt((grad**2 / self.mass).sum()))
        moved = OWN * float(np.sqrt(self.mass @ self._squares(beta - np.eye(self.k))))
        doubt = OWN * radius * self.pull
        return State(gamma, beta, radius, low, doubt, blur, moved), C

    def _squares(self, rows: Floats) -> Floats:
        """‖Σ_t x_t φ̄_t‖² of every row x, from above."""
        square = np.einsum("lr,lr->l", rows @ self.G, rows)
        return bounded(square, self.noise * (np.abs(rows) @ self.size) ** 2)

    def apart_until(self, low: float) -> float:
        """A γ below which, from ``low`` on, adjacent clusters differ; at most ``low`` if none."""
        high = self.apart_below()
        if not np.isfinite(high) or not len(self.pairs) or self.k > COVERED:
            return high
        gamma, start = max(low, high * (1.0 - 1e-9)), None
        if self.k == 2 and low < high:
            return high  # the closed form is exact
        for _ in range(min(STATES, 1 + WORK // self.centers.size**2)):
            found = self.state(gamma, start)
            if found is None or not found[0].differ:
                break
            state, start = found
            reach = state.reach(self.pull)
            if reach < STEP:
                break
            high = gamma * (1.0 + reach)
            gamma = gamma * (1.0 + 0.999 * reach)
        return high

    def directions(self, t: int, state: State) -> tuple[Floats, Floats, Floats]:
        """Directions u_ts to the neighbours s of t in terms of the means, Σ|u|s̄, and their T_s."""
        step = state.beta[t] - state.beta[self.insides[t].near]
        u = step / np.sqrt(np.einsum("lr,lr->l", step @ self.G, step))[:, None]
        return u, np.abs(u) @ self.size, state.turn(state.doubt)[self.edges_at(t)]

    def edges_at(self, t: int) -> Ints:
        """Edges of the reduced graph at t, in the order of its neighbours."""
        s, r = self.pairs.T
        edge = np.flatnonzero((s == t) | (r == t))
        return edge[np.argsort(np.where(s[edge] == t, r[edge], s[edge]))]

    def turns(self, t: int, state: State, radius: float, masses: Floats) -> Floats:
        """T_s of the neighbours of t if c is known to ``radius``, and s is that light (k,)."""
        s, r = self.pairs.T
        other = np.where(s == t, r, s)
        doubt = OWN * radius * np.sqrt(1.0 / self.mass[t] + 1.0 / masses[other])
        return state.turn(doubt)[self.edges_at(t)]

    def along(self, t: int, u: Floats) -> Floats:
        """⟨m_i(φ_i − φ̄_t), u⟩ of the samples of t, for rows u in terms of the means."""
        a, b = self.at.places[t : t + 2]
        m = self.masses[a:b]
        x = (self.sums.of_label[a:b] / self.mass) @ u.T
        return m[:, None] * (x - m @ x / self.mass[t])

    def lengths(self, t: int, state: State) -> Floats:
        """‖λ_l‖ of cluster t at the γ of a state, from above (Theorem 1)."""
        flow, gamma = self.flows[t], state.gamma
        u, size, turn = self.directions(t, state)
        known = np.isfinite(turn)
        u, size, turn = u[known], size[known], turn[known]
        f = flow.f[:, known]
        square = flow.square + 2.0 * gamma * np.einsum("ls,ls->l", f, flow.carry(self.along(t, u)))
        square += gamma**2 * np.einsum("ls,ls->l", f @ (u @ self.G @ u.T), f)
        whole = flow.size + gamma * np.abs(f) @ size
        noise = flow.noise + self.noise + float(roundings(4 * self.k + 40))
        rest = np.abs(f) @ turn + np.abs(flow.f[:, ~known]).sum(axis=1)
        rest += flow.extra[:, 1:].sum(axis=1)
        length = np.sqrt(bounded(square, noise * whole**2 + flow.blur))
        return length + flow.extra[:, 0] + OWN * gamma * rest

    def fits(self, t: int, state: State) -> bool:
        """Whether cluster t is proved to be whole at the γ of a state; conductances are adapted."""
        if self.flows[t].gamma <= state.gamma:
            return True
        kept = best = self.flows[t]
        least = np.inf
        for _ in range(ROUNDS):
            capacity = state.gamma * self.flows[t].inside.w * (1.0 - roundings(4))
            full = self.lengths(t, state) / capacity
            worst = float(full.max()) if np.isfinite(full).all() else np.inf
            if worst <= 1.0:
                return True
            if worst < least:
                least, best = worst, self.flows[t]
            if not np.isfinite(worst) or worst > HOPELESS:
                break
            kappa = self.flows[t].kappa * np.clip(1.0 / np.maximum(full, 1e-300), 0.3, 1.0)
            self.flows[t] = self.route(kept.inside, kappa)
        self.flows[t] = best
        return False

    def energy(self, t: int, state: State) -> float:
        """Σ o_i²/m_i of cluster t at the γ of a state: twice its part of the gap (Theorem 4)."""
        flow, own = self.flows[t], self.flows[t].inside
        if flow.gamma <= state.gamma:
            return 0.0
        excess = np.maximum(self.lengths(t, state) - state.gamma * own.w, 0.0)
        over = np.bincount(own.edges.ravel(), np.repeat(excess, 2), own.n)
        return OWN * float((over**2 / own.masses).sum())

    def gap(self, state: State) -> float:
        """A bound on the duality gap of c_t at the γ of a state (Theorem 4)."""
        energy = sum(self.energy(t, state) for t in range(self.k))
        return OWN * 0.5 * (energy + state.radius**2)


# Rounds of conductances: γ_a falls by up to 40 % in the first three, by little after six.
ROUNDS = 6

# An edge whose room w − Σ|f| is below this share of w counts as having it: with less, edges beyond
# help take all conductance; with ten times as much the dearest edges do not stand out.
LEAST_ROOM = 0.05

# Conductances fall where the price of an edge is within this share of the largest. Near 1 a round
# changes one edge; at half of it the flow is pushed away from edges that could bear it.
DEAR = 0.7

# Edges that are so overfull are not relieved by conductances: 3 were never, 1.6 often.
HOPELESS = 3.0

# States of a cover at most, and the least step worth a state. Half as many: intervals of several
# decades end early. Half the step: the last percent before two clusters meet costs what the rest
# did.
STATES, STEP = 60, 2e-3

# States times the square of the unknowns: half a second. Twice: covers of 20 clusters take longer
# than the flows. Half: they end after seven states.
WORK = 2_000_000

# Unknowns of the reduced problem up to which its Hessian is a dense matrix: twice as many cost
# eight times as much, half as many go through conjugate gradients at ten times the price.
DENSE = 600

# Clusters up to which the reduced optimum is looked for: its eigenvectors and dense systems take a
# second for as many, and eight times as long for twice as many.
MOST = 1_000

# Clusters up to which a cover is made: a state of 200 takes 20 ms, and of more seconds in all.
COVERED = 200


def _system(small: Problem, q: Floats) -> Floats:
    """M + L_q, dense."""
    k, (s, t) = small.n, small.edges.T
    A = -np.bincount(s * k + t, q, k * k).reshape(k, k).astype(np.float64)
    A = A + A.T
    A[np.diag_indices(k)] = small.masses - A.sum(axis=1)
    return A


# Cubes of the clusters times rounds of a start: two seconds, for 1,000 clusters in 21 rounds. With
# half of it Newton's method sets out from further away, which costs more than the rounds do.
START_WORK = 2e10


def _majorised(small: Problem, C: Floats, rounds: int = 60) -> Floats:
    """A start for Newton: C ← (M + L_q)⁻¹ M Z, q = γW/d, which never raises F."""
    s, t = small.edges.T
    if not len(s):
        return C
    scale = float(np.abs(small.Z).max()) or 1.0
    for _ in range(min(rounds, 1 + int(START_WORK / small.n**3))):
        d = np.maximum(np.linalg.norm(C[s] - C[t], axis=1), 1e-9 * scale)
        after = np.linalg.solve(_system(small, small.c / d), small.masses[:, None] * small.Z)
        moved = float(np.abs(after - C).max())
        C = np.asarray(after, dtype=np.float64)
        if moved <= 1e-6 * scale:
            break
    return C

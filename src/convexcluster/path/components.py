"""The parts of a graph, each with its engine, advanced side by side.

The connected components decouple: large ones are solved apart, small ones together. Which are apart
does not depend on the number of threads, so results do not either.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..graph import components
from ..problem import Floats, Ints, Problem
from .engine import Engine, State
from .rotate import LOW, TRUNCATE, principal

# A component of fewer samples is solved together with other small ones. Half: engines of their own,
# at about a millisecond per γ, cost more than solving their components. Twice: components that
# could go side by side wait for one another.
APART = 1_000

# Edges of this many neighbouring samples take turns in a sweep: two edges in a row then share no
# sample, and the processor works on both at once, in a third less time. Half: edges in a row share
# samples again. Twice: no gain.
ABREAST = 4


@dataclass(slots=True)
class Components:
    """The engines of the parts of a graph, and what they share."""

    engines: list[Engine]  # one per part
    members: list[Ints]  # the samples of each
    shares: list[float]  # share of the allowed gap that each part may use; they sum to one
    scale: float  # ½ Σ m‖z − z̄‖²
    origin: Floats  # (p,): z̄
    basis: Floats | None  # (p, r): principal axes in which the engines work, or the identity
    lost: float  # the part of the gap that the axes leave out
    tol: float
    relative: bool  # whether ``tol`` is relative to a bound of F at each γ, not to the scale
    # what each engine was made from, so that a path can go back to an earlier state
    inputs: list[tuple[Floats, Floats, Ints, Floats, bool]] = field(default_factory=list)
    pool: Executor | None = None  # threads lent to the engine of a graph in one piece

    @classmethod
    def of(cls, problem: Problem, tol: float, certify: bool, relative: bool) -> Components:
        """Split the graph, truncate Z to its principal axes, and set up the engines."""
        scale, mass = problem.scale, problem.masses.sum()
        origin = problem.masses @ problem.Z / mass
        MZ = problem.masses[:, None] * (problem.Z - origin)
        basis, lost = None, 0.0
        if MZ.shape[1] > LOW:
            drop = 0.0 if relative else TRUNCATE * tol * scale
            basis, lost = principal(MZ, problem.masses, drop)
            if np.array_equal(basis, np.eye(len(basis))):
                basis = None
            else:
                MZ = np.ascontiguousarray(MZ @ basis)
        parts = cls([], [], [], scale, origin, basis, lost, tol, relative)
        part = _parts(components(problem.edges, problem.n))
        for t in range(int(part.max()) + 1):
            own = part[problem.edges[:, 0]] == t if len(problem.edges) else np.empty(0, bool)
            nodes, edges, place = _by_neighbourhood(
                np.flatnonzero(part == t), problem.edges[own], problem.n
            )
            w, masses = problem.weights[own][place], problem.masses[nodes]
            parts.inputs.append((MZ[nodes], masses, edges, w, certify))
            parts.engines.append(Engine(*parts.inputs[-1]))
            parts.members.append(nodes)
            # half by mass and half by scale: no part has to be solved to a gap of almost nothing
            own_scale = 0.5 * float((MZ[nodes] ** 2 / masses[:, None]).sum())
            by_scale = own_scale / scale if scale > 0 else 1.0
            parts.shares.append(0.5 * float(masses.sum() / mass) + 0.5 * by_scale)
        total = sum(parts.shares)
        parts.shares = [share / total for share in parts.shares]
        return parts

    def lend(self, pool: Executor | None) -> None:
        """Lend the threads to a graph in one piece; several pieces use them side by side."""
        self.pool = pool if len(self.engines) == 1 else None
        for engine in self.engines:
            engine.pool = self.pool

    def to_arrays(self) -> list[dict[str, np.ndarray]]:
        """Copies of the engines' states."""
        return [
            {name: value.copy() for name, value in engine.to_arrays().items()}
            for engine in self.engines
        ]

    def restore(self, states: list[dict[str, np.ndarray]]) -> None:
        """Go back to the states that :meth:`to_arrays` gave."""
        self.engines = [Engine(*given) for given in self.inputs]
        for engine, state in zip(self.engines, states):
            engine.restore(state)
            engine.pool = self.pool

    def allowed(self, gamma: float) -> float:
        """The absolute gap to reach at γ.

        F* is concave in γ, 0 at γ = 0 and at most ``scale``; it rises. So the dual value of the γ
        before bounds it from below, and so does the chord through what is known of its end.
        """
        if not self.relative:
            return self.tol * self.scale
        known = sum(engine.dual_value for engine in self.engines)
        last = max(engine.gamma for engine in self.engines)
        if last < gamma:
            known = max(known, sum(engine.first_bound(gamma) for engine in self.engines))
        return self.tol * known

    def advance(self, gamma: float, pool: Executor) -> State:
        """Solve all parts at γ and put them together."""
        room = max(self.allowed(gamma) - self.lost, 0.0)
        over = map if len(self.engines) == 1 else pool.map
        rooms = [share * room for share in self.shares]
        states = list(over(Engine.advance, self.engines, repeat(gamma), rooms))
        labels = np.empty(sum(len(nodes) for nodes in self.members), dtype=np.int64)
        offset, gap = 0, self.lost
        for nodes, state in zip(self.members, states):
            labels[nodes] = state.labels + offset
            offset += len(state.centers)
            gap += state.gap
        pairs = [nodes[state.pairs] for nodes, state in zip(self.members, states)]
        centers = [state.centers for state in states]
        return State(
            labels,
            centers[0] if len(centers) == 1 else np.concatenate(centers),  # no copy of the largest
            gap,
            np.concatenate(pairs),
            np.concatenate([state.values for state in states]),
        )


def _parts(component: Ints) -> Ints:
    """Number of the part of each sample: one per large component, and one for all small ones."""
    large = np.bincount(component) >= APART
    number = np.cumsum(large) - 1
    small = int(large.sum())  # the part of the small ones comes last
    return np.where(large, number, small)[component]


def _by_neighbourhood(nodes: Ints, edges: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """Number the samples so that neighbours are close, and sort the edges by it.

    Cuthill–McKee: sweeps then run along the graph and in the cache instead of jumping. Returns the
    samples in their new order, the edges in new numbers (i < j), and the order of the edges.
    """
    size, number = len(nodes), np.empty(n, dtype=np.int64)
    number[nodes] = np.arange(size)
    i, j = number[edges].reshape(-1, 2).T
    ones = np.ones(2 * len(i), dtype=np.int8)
    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    adjacency = sparse.csr_matrix((ones, (rows, columns)), shape=(size, size))
    nodes = nodes[reverse_cuthill_mckee(adjacency, symmetric_mode=True)]
    number[nodes] = np.arange(size)
    i, j = number[edges].reshape(-1, 2).T
    low, high = np.minimum(i, j), np.maximum(i, j)
    place = np.argsort(low * size + high)
    low = low[place]
    turn = np.arange(len(low)) - np.searchsorted(low, low)  # number of an edge among those of i
    order = np.argsort(
        (low // ABREAST * (turn.max(initial=0) + 1) + turn) * ABREAST + low % ABREAST
    )
    place = place[order]
    return nodes, np.stack([low[order], high[place]], axis=1), place

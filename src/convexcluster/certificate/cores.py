"""Cores: which samples of a label are proved to share a centroid of the exact optimum.

Labels need not be clusters of the optimum at any γ; most often they nearly are. At a γ let f be a
guess of its clusters, S some of them and U the others.

*Theorem 5.* Contract the clusters of S and leave the samples of U as they are. Let c̃ be the reduced
optimum of f, known to the radius R, and let flows inside the clusters of U miss e_i of their
demands. The duality gap of c̃ is then at most ½R² + ½ Σ_U ‖e_i‖²/m_i, so that the optimum of the
contracted problem is within R' = √(R² + Σ_U ‖e_i‖²/m_i) of it in ‖·‖_M; directions from a cluster
t ∈ S to others are known up to 2δ/(2d − δ), δ = R'√(1/m_t + 1/m_s), m_s the least mass of a sample
if s ∈ U. If with these directions every cluster of S is whole
(:mod:`~convexcluster.certificate.explicit`) or is so whatever the directions are (Theorem 3), then
the exact optimum fuses every cluster of S; two of them are different if d > R'√(1/m_s + 1/m_t).

*Proof.* The edges between clusters carry γw u, those in U their flows: a dual point of the
contracted problem whose terms on edges vanish, and what is left at the samples of U, balanced in
each cluster, is orthogonal to the gradient of the reduced problem. The rest is Theorem 1. ∎

The *core* of a label is the largest cluster of S inside it. Where U is not empty its clusters are
solved by themselves, each in its own coordinates; the pieces into which they fall, and clusters
that the reduced problem joins, make the next guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..partition import canonical
from ..partition import fused as fused_rows
from ..problem import Floats, Ints, Problem, Solution
from .explicit import Held, hold
from .layout import layout
from .proof import Proof, State
from .rounding import OWN
from .space import Space

Bools = NDArray[np.bool_]

# Guesses in a row: a path of low rank has fused too much, and pieces of its clusters join others.
GUESSES = 4

# Clusters up to which the contracted problem is solved again, in as many dimensions.
SOLVED = 1_000


@dataclass(frozen=True, slots=True)
class Cores:
    """What is proved of the clusters at one γ.

    Attributes
    ----------
    gamma : float
    fused : ndarray of shape (n,)
        The clusters.
    proved : ndarray of shape (k,)
        Which of them are clusters, or parts of clusters, of the exact optimum.
    whole : bool
        Whether all are, and are different: ``fused`` is the partition of the optimum.
    inside : ndarray of shape (n,)
        Which samples lie in the core of their label.
    beta : ndarray of shape (k, k)
        Centroids Σ_s β_ts φ̄_s of the clusters.
    radius : float
        How far they are at most from the exact ones, if ``whole``.
    """

    gamma: float
    fused: Ints
    proved: Bools
    whole: bool
    inside: Bools
    beta: Floats
    radius: float


def core_of(labels: Ints, fused: Ints, proved: Bools, masses: Floats) -> Bools:
    """Samples in the heaviest proved cluster of two samples or more that lies in their label.

    Examples
    --------
    >>> labels, fused = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 2])
    >>> core_of(labels, fused, np.array([True, True, True]), np.ones(5))
    array([ True,  True, False,  True,  True])
    """
    k = int(fused.max()) + 1
    low, high = np.full(k, len(labels)), np.zeros(k, dtype=np.int64)
    np.minimum.at(low, fused, labels)
    np.maximum.at(high, fused, labels)
    count = np.bincount(labels)
    several = (np.bincount(fused) > 1) | (count[low] == 1)
    mass = np.where((low == high) & proved & several, np.bincount(fused, masses), 0.0)
    best = np.zeros(len(count))
    np.maximum.at(best, low, mass)
    chosen, seen = np.zeros(k, dtype=bool), np.zeros(len(count), dtype=bool)
    for t in np.flatnonzero((mass > 0) & (mass == best[low])):
        chosen[t] = not seen[low[t]]
        seen[low[t]] = True
    return chosen[fused]


def prove_cores(
    space: Space,
    graph: Graph,
    masses: Floats,
    labels: Ints,
    gamma: float,
    fused: Ints,
    solve: Callable[[Problem], Solution] | None = None,
    jobs: int = 1,
) -> Cores | None:
    """Prove the cores of ``labels`` at γ from a guess of the clusters there; None if none are.

    ``solve`` solves a problem to a small gap; without it the guess is all there is. Clusters go
    side by side on ``jobs`` threads.
    """
    best: Cores | None = None
    for _ in range(GUESSES):
        fused = canonical(fused)
        at = layout(graph.edges, fused)
        if at is None:
            break
        proof = Proof(space, graph.edges, graph.weights, masses, fused, at, jobs)
        found = proof.state(gamma)
        if found is not None and found[0].differ:
            proved, whole, pieces = _contractible(proof, found[0], solve)
            inside = core_of(labels, fused, proved, masses)
            if inside.any() and (best is None or masses[inside].sum() > masses[best.inside].sum()):
                state = found[0]
                best = Cores(gamma, fused, proved, whole, inside, state.beta, state.radius)
            if whole or (pieces == fused).all():
                break
            fused = pieces
        elif solve is not None and proof.k <= SOLVED:
            small = Problem(proof.centers, proof.pairs, proof.between, gamma, proof.mass)
            joined = fused_rows(solve(small).A, small.edges)[fused]
            if (canonical(joined) == fused).all():
                break
            fused = joined
        else:
            break
    return best


def _contractible(
    proof: Proof, state: State, solve: Callable[[Problem], Solution] | None
) -> tuple[Bools, bool, Ints]:
    """S of Theorem 5, as large as corrected flows can make it; whether it is all, and different.

    And the next guess: clusters that a solver saw fall apart, in their pieces.
    """
    k, gamma = proof.k, state.gamma
    sizes = np.diff(proof.at.places)
    least = np.minimum.reduceat(proof.masses, proof.at.places[:-1])
    single = sizes == 1
    held = proof.each(lambda t: None if single[t] else hold(proof, t, state, solve), KNOWN)
    holding: dict[int, Held | None] = dict(enumerate(held))
    missed = np.zeros(k)
    for t, found in holding.items():
        if not single[t]:
            missed[t] = proof.energy(t, state) if found is None else found.energy
    sure = np.array([bool(single[t]) for t in range(k)])
    inside, alone = np.ones(k, dtype=bool), np.full(k, -1)
    while True:
        radius = OWN * float(np.sqrt(state.radius**2 + missed[~inside].sum()))
        lightest = np.where(inside, proof.mass, least)
        keep = sure.copy()
        for t in np.flatnonzero(inside & ~sure).tolist():
            found = holding[t]
            turn = proof.turns(t, state, radius, lightest)
            keep[t] = found is not None and found.holds(proof, t, gamma, turn)
            if not keep[t] and (found is None or found.parts is None):  # seen to fall apart
                if alone[t] < 0:
                    alone[t] = proof.alone(t) <= gamma
                keep[t] = alone[t] == 1
        if (keep == inside).all():
            break
        inside = keep
    different = bool((state.apart > OWN * radius * proof.pull).all())
    guess = proof.at.label.copy()
    for t, found in holding.items():
        if found is not None and found.parts is not None:
            a, b = proof.at.places[t : t + 2]
            guess[a:b] = np.where(found.parts > 0, len(guess) * (t + 1) + found.parts, t)
    pieces = np.empty_like(guess)
    pieces[proof.at.order] = guess
    sure = inside & _distinct(proof, state, radius, inside, sizes)
    return sure, bool(inside.all()) and different, canonical(pieces)


def _distinct(proof: Proof, state: State, radius: float, inside: Bools, sizes: Ints) -> Bools:
    """Which clusters are for certain no part of another cluster of several samples."""
    out = np.ones(proof.k, dtype=bool)
    several = np.flatnonzero(inside & (sizes > 1))
    for t in several:
        step = state.beta[t] - state.beta[several]
        square = np.einsum("lr,lr->l", step @ proof.G, step)
        square -= OWN * proof.noise * (np.abs(step) @ proof.size) ** 2
        reach = OWN * radius * np.sqrt(1.0 / proof.mass[t] + 1.0 / proof.mass[several])
        out[t] = bool((square > reach**2)[several != t].all())
    return out


# Share of a proof of cores that is done when their flows begin, about: for the bar alone.
KNOWN = 0.1

# Guesses of a path that are tried, and the share of what the best guess promises that makes one
# worth a try and a proof enough. More tries cost a second each on 2,000 samples.
TRIED, ENOUGH = 2, 0.9

# Least share of all samples that a guess must promise. With less, most samples are in no core, and
# looking for cores takes longer than all the rest of a fit; more would leave out sets of digits.
PROMISED = 0.6

# Points and clusters up to which cores are looked for: flows have as many dimensions as a cluster
# has samples, and each cluster is solved by itself.
MOST_POINTS, MOST_CLUSTERS = 2_500, 100


def best_cores(
    space: Space,
    graph: Graph,
    masses: Floats,
    labels: Ints,
    guesses: Iterable[tuple[float, Ints]],
    solve: Callable[[Problem], Solution] | None = None,
    jobs: int = 1,
) -> Cores | None:
    """The cores of ``labels`` with the most mass that are proved at one of the γ of ``guesses``.

    ``guesses`` are pairs of γ and clusters thought to be those of the optimum there.
    """
    if len(masses) > MOST_POINTS:
        return None
    ranked = []
    for gamma, fused in guesses:
        k = int(fused.max()) + 1
        if 1 < k <= MOST_CLUSTERS and gamma > 0:
            inside = core_of(labels, fused, np.ones(k, dtype=bool), masses)
            ranked.append((float(masses[inside].sum()), gamma, fused))
    most = max((row[0] for row in ranked), default=0.0)
    hope = ENOUGH * most if most >= PROMISED * float(masses.sum()) else np.inf
    # of those that promise nearly the most the largest γ first, which holds what was fused early
    ranked = sorted((row for row in ranked if row[0] >= hope), key=lambda row: -row[1])
    best, most = None, 0.0
    for promised, gamma, fused in ranked[:TRIED]:
        found = prove_cores(space, graph, masses, labels, gamma, fused, solve, jobs)
        mass = 0.0 if found is None else float(masses[found.inside].sum())
        if mass > most:
            best, most = found, mass
        if most >= ENOUGH * promised:
            break
    return best

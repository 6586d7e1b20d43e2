"""The strongest claim that holds about labels, and the sentence that says it.

Claims in falling order: the labels are the clusters of the exact optimum for every γ of an
interval; at one γ; some of them are whole there; their cores are; the centroids are known within a
radius. Theorems: :mod:`~convexcluster.certificate.proof`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..partition import means
from ..problem import Floats, Ints, Problem, Solution
from .cores import Cores
from .explicit import hold
from .layout import layout
from .proof import MOST, Proof, State
from .space import Space

if TYPE_CHECKING:
    from . import Certificate

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Claim:
    """What is proved about labels in the full space.

    Attributes
    ----------
    gamma : float
        The γ that the claim is about; in the interval if there is one.
    interval : tuple of two floats or None
        Every γ from the first up to, and without, the second has these clusters.
    whole : bool
        Whether the labels are exactly the clusters of the optimum at ``gamma``.
    clusters : ndarray of shape (k,)
        Which clusters have one centroid each in the optimum at ``gamma``.
    beta : ndarray of shape (k, k) or None
        Centroids c_t = Σ_s β_ts φ̄_s of the clusters at ``gamma``, if it is known that they differ.
    radius : float
        ‖A − A*‖_M at most, for A the centroids of ``beta``; inf if unknown.
    reason : str
        Why no more is claimed; empty if nothing more could be.
    proviso : str
        What was taken for granted.
    """

    gamma: float
    interval: tuple[float, float] | None
    whole: bool
    clusters: Bools
    beta: Floats | None = None
    radius: float = np.inf
    reason: str = ""
    proviso: str = ""

    @classmethod
    def of_nothing(cls, space: Space, labels: Ints, gamma: float, reason: str = "") -> Claim:
        """That nothing is proved of the labels as clusters."""
        none = np.zeros(int(labels.max()) + 1, dtype=bool)
        return cls(gamma, None, False, none, reason=reason, proviso=space.proviso)


@dataclass(frozen=True, slots=True)
class Centroids:
    """Centroids of groups of samples in the full space, within a radius of the exact ones.

    Attributes
    ----------
    groups : ndarray of shape (n,)
        The clusters that the centroids belong to.
    beta : ndarray of shape (g, g)
        c_t = Σ_s β_ts φ̄_s.
    radius : float
        ‖A − A*‖_M at most.
    """

    groups: Ints
    beta: Floats
    radius: float

    @classmethod
    def of(cls, claim: Claim, cores: Cores | None, labels: Ints, within: float) -> Centroids | None:
        """Those of a proved partition; else those of the labels, if their radius is ``within``."""
        if cores is not None and cores.whole:
            return cls(cores.fused, cores.beta, cores.radius)
        if claim.beta is not None and (claim.whole or (cores is None and claim.radius <= within)):
            return cls(labels, claim.beta, claim.radius)
        return None

    def rows(self, Z: Floats, masses: Floats) -> Floats:
        """The centroid of every sample, for coordinates Z of the samples."""
        return (self.beta @ means(Z, masses, self.groups))[self.groups]

    def coefficients(self, labels: Ints, masses: Floats) -> Floats:
        """β (k, n) of the means of the centroids of each label: c_t = Σ_j β_tj φ_j."""
        mass = np.bincount(self.groups, masses)
        g, k = len(mass), int(labels.max()) + 1
        share = np.bincount(labels * g + self.groups, masses, k * g).reshape(k, g)
        beta = (share / share.sum(axis=1, keepdims=True) @ self.beta)[:, self.groups]
        beta *= masses / mass[self.groups]
        return beta / beta.sum(axis=1, keepdims=True)  # rows of β lose digits where masses differ


# Values of γ at which the labels are tested one by one where there is no interval. Paths of low
# rank fuse too early, so that the larger ones are tried first; of labels that failed at four no
# fifth was ever proved.
TRIED = 4


def prove_labels(
    space: Space,
    graph: Graph,
    masses: Floats,
    labels: Ints,
    gamma: float,
    gammas: Floats | None = None,
    *,
    likely: Floats | None = None,
    movable: bool = True,
    solve: Callable[[Problem], Solution] | None = None,
    jobs: int = 1,
    near: Floats | None = None,
) -> Claim:
    """Prove as much as holds about ``labels``.

    Parameters
    ----------
    space : Space
        Inner products of the samples.
    graph : Graph
    masses : ndarray of shape (n,)
    labels : ndarray of shape (n,)
        Numbered 0 … k − 1, however they were chosen.
    gamma : float
        The γ that goes with the labels.
    gammas : ndarray, optional
        Others, ascending, of which the first inside the interval is preferred if ``gamma`` is not.
    likely : ndarray, optional
        Those at which the labels are thought to be the clusters of the optimum.
    movable : bool
        Whether γ may be another than ``gamma``.
    solve : callable, optional
        Solves a problem to a small gap: finds flows where corrections do not.
    jobs : int
        Threads.
    near : ndarray of shape (k, r), optional
        Centroids of the labels at ``gamma`` in some embedding, near the optimum's.

    Examples
    --------
    >>> line = Space.of_coordinates(np.array([[0.0], [1.0], [9.0], [10.0]]))
    >>> chain = Graph(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 0.1, 1.0]))
    >>> claim = prove_labels(line, chain, np.ones(4), np.array([0, 0, 1, 1]), gamma=1.0)
    >>> np.round(claim.interval, 3)  # Σ w of the bridge is 0.1: 9·2·2/(4·0.1)
    array([ 0.526, 90.   ])
    """
    k, nothing = int(labels.max()) + 1, Claim.of_nothing(space, labels, gamma)
    at = layout(graph.edges, labels)
    if at is None:
        return replace(nothing, reason="a cluster is not connected in the graph")
    proof = Proof(space, graph.edges, graph.weights, masses, labels, at, jobs)
    low, high = interval(proof)
    if low < high:
        gamma = pick(low, high, gamma, gammas, movable)
        claim = replace(nothing, gamma=gamma, interval=(low, high))
        if not low <= gamma < high:
            claim = replace(claim, reason="γ is given, and not in the interval")
            return _parts(proof, claim, state_near(proof, gamma, near))
        found = state_near(proof, gamma, near)
        claim = replace(claim, whole=True, clusters=np.ones(k, dtype=bool))
        if found is None:
            return claim
        return replace(claim, beta=found[0].beta, radius=found[0].radius)
    tries, seen = [gamma], {}
    if movable and likely is not None and len(likely):
        tries = [float(g) for g in likely[::-1][:TRIED]]
    for one in tries:
        found = seen[one] = state_near(proof, one, near if one == gamma else None)
        if found is not None and found[0].differ and whole_at(proof, found[0], solve):
            claim = replace(nothing, gamma=one, whole=True, clusters=np.ones(k, dtype=bool))
            return replace(claim, beta=found[0].beta, radius=found[0].radius)
    reason = (
        "flows that hold every cluster together were not found"
        if np.isfinite(low)
        else "touching clusters pull at edges near their border by more than the edges can carry"
    )
    here = seen[gamma] if gamma in seen else state_near(proof, gamma, near)
    if proof.k > MOST:
        reason = f"beyond {MOST:,} clusters their exact centroids are not looked for"
    return _parts(proof, replace(nothing, reason=reason), here)


def interval(proof: Proof) -> tuple[float, float]:
    """[low, high) of Theorem 2, with better conductances where it would be empty."""
    low = float(proof.gammas.max())
    high = proof.apart_below()
    gammas = proof.gammas
    for t in np.argsort(-gammas):  # the worst first: if it stays so there is no interval
        if gammas[t] >= high:
            proof.tighten(int(t), 0.95 * high)
            if proof.flows[t].gamma == np.inf:
                break
    low = float(proof.gammas.max())
    return low, proof.apart_until(low) if np.isfinite(low) else high


def pick(low: float, high: float, gamma: float, gammas: Floats | None, movable: bool) -> float:
    """γ if it lies in [low, high); else the first of ``gammas`` that does; else one inside."""
    if low <= gamma < high or not movable:
        return gamma
    given = np.empty(0) if gammas is None else gammas[(gammas >= low) & (gammas < high)]
    if len(given):
        return float(given[0])
    return float(np.sqrt(low * min(high, 4.0 * low))) if low > 0 else 0.5 * min(high, 1.0)


def state_near(proof: Proof, gamma: float, near: Floats | None) -> tuple[State, Floats] | None:
    """The state at γ, from centroids of another embedding where they are known."""
    if gamma <= 0:
        return None
    return proof.state(gamma, None if near is None else proof.from_centroids(near, gamma))


def whole_at(proof: Proof, state: State, solve: Callable[[Problem], Solution] | None) -> bool:
    """Theorem 1: whether all clusters are whole at the γ of a state, the largest tested first."""
    for t in np.argsort([-flow.inside.n for flow in proof.flows]):
        if proof.flows[t].gamma <= state.gamma:
            continue
        found = hold(proof, int(t), state, solve)
        if found is None:
            if not proof.fits(int(t), state):
                return False
        elif not found.holds(proof, int(t), state.gamma, proof.directions(int(t), state)[2]):
            return False
    return True


def _parts(proof: Proof, claim: Claim, found: tuple[State, Floats] | None) -> Claim:
    """Which clusters are whole by themselves at γ (Theorem 3), and the radius (Theorem 4).

    ``found`` is the state at γ.
    """
    clusters = np.array([proof.alone(t) <= claim.gamma for t in range(proof.k)])
    if found is None:
        return replace(claim, clusters=clusters)
    state = found[0]
    for t in range(proof.k):
        proof.fits(t, state)  # conductances that overfill less
    radius = float(np.sqrt(2.0 * proof.gap(state)))
    return replace(claim, clusters=clusters, beta=state.beta, radius=radius)


# A radius beyond this share of the spread of all samples says nothing about their clusters: two
# clusters a spread apart could be one.
TELLS = 0.5


def claimed(
    certificate: Certificate,
    claim: Claim | None,
    cores: Cores | None,
    labels: Ints,
    rows: Ints,
    gamma: float,
    *,
    unit: float = 1.0,
    cells: bool = False,
) -> Certificate:
    """The certificate with what is claimed, and the strongest of it as a sentence.

    ``labels`` (n,) are those of the points, ``rows`` (n,) how many samples each stands for;
    ``gamma`` is that of the certificate and ``unit`` turns it into the units of the user;
    ``cells`` says that the points are cells of rows.
    """
    k = int(labels.max()) + 1
    if claim is not None and claim.whole and not cells:
        certificate = replace(certificate, partition="certified")
    certified = certificate.partition == "certified" or (claim is not None and claim.whole)
    clusters = np.full(k, certified) if claim is None else claim.clusters | certified
    inside = np.full(len(labels), certified)
    if cores is not None and not certified:
        inside = cores.inside
    interval = None if claim is None else claim.interval
    said = _sentence(certificate, claim, cores, clusters, inside, labels, rows, gamma, unit)
    if cells:
        said = f"of the cells into which the rows were grouped, in the embedding: {said}"
    elif certificate.clipped_share > 0:
        said = f"for the kernel without its negative part: {said}"
    if claim is not None and claim.proviso and said[:7] != "nothing":
        said += f", {claim.proviso}"
    return replace(
        certificate,
        statement=said[0].upper() + said[1:] + ".",
        gamma_interval=interval,
        clusters=clusters,
        cores=None if cells else inside,
    )


def _sentence(
    certificate: Certificate,
    claim: Claim | None,
    cores: Cores | None,
    clusters: Bools,
    inside: Bools,
    labels: Ints,
    rows: Ints,
    gamma: float,
    unit: float,
) -> str:
    """The strongest claim, without its capital letter and full stop."""
    k, n = len(clusters), int(rows.sum())
    these = "is one cluster" if k == 1 else f"has exactly these {k} clusters"
    if claim is not None and claim.interval is not None:
        low, high = (end * unit for end in claim.interval)
        upto = f" up to {high:.4g}" if np.isfinite(high) else " on"
        return f"for every γ from {low:.4g}{upto} the exact optimum {these}"
    at = f"at γ = {gamma * unit:.4g}"
    certified = certificate.partition == "certified" or (claim is not None and claim.whole)
    if certified or (k == 1 and clusters[0]):  # several that are each fused may be one together
        return f"{at} the exact optimum {these}"
    several = clusters & (np.bincount(labels, rows) > 1)
    alone, core = int(rows[several[labels]].sum()), int(rows[inside].sum())
    if cores is not None and core >= alone and core:
        groups = len(np.unique(cores.fused[inside]))
        are = "group of samples is" if groups == 1 else "groups of samples are"
        found = (
            f"the exact optimum has {int(cores.fused.max()) + 1} clusters"
            if cores.whole
            else f"{groups} {are} for certain fused in the exact optimum"
        )
        return f"{at} {found}; {core} of {n} samples lie in the core of their label"
    if alone:
        if clusters.all():
            return (
                f"{at} each of the {k} clusters is fused in the exact optimum, perhaps with others"
            )
        verb = "is" if several.sum() == 1 else "are"
        return (
            f"{at} {several.sum()} of the {k} clusters {verb} proved to be fused in the exact "
            f"optimum, perhaps with others, with {alone} of {n} samples"
        )
    if certificate.relative_radius <= TELLS:
        return (
            f"no cluster is proved {at}; the exact centroids lie within "
            f"{certificate.relative_radius:.2g} of the spread of the samples from those found"
        )
    why = f": {claim.reason}" if claim is not None and claim.reason else ""
    return f"nothing is proved about these clusters{why}"
